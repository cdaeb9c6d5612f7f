"""Sections on speed: kernels by length, and on captured inputs."""
from zyfa.report import groups
from zyfa.report.groups import Names, Sources, by_name
from zyfa.report.plot import Plot, Point, Series
from zyfa.report.section import Element, Section, Table
from zyfa.report.text import percent


def figures_are(record):
    """'modelled', 'measured' or None."""
    if "modelled" not in record:
        return None
    return "modelled" if record["modelled"] else "measured"


def pair(record, first, second, separator):
    """'8/2', or one number if both are equal."""
    if first not in record:
        return None
    a, b = record[first], record.get(second, record[first])
    return str(a) if a == b else f"{a}{separator}{b}"


def _pair_cell(*what):
    text = pair(*what)
    return None if text is None else Element(text)


def _share(field):
    return lambda r: Element(percent(r[field])) if field in r else None


def _field(field):
    return lambda r: r.get(field)


OUTCOMES = {"OUTCOME_REFUSED": "refused", "OUTCOME_FAILED": "FAILED"}
COLUMNS = {
    "variant": lambda r: r.get("variant", "no variant"),
    "batch": _field("batch"),
    "heads": lambda r: _pair_cell(r, "heads_q", "heads_kv", "/"),
    "seqlen": lambda r: _pair_cell(r, "seqlen_q", "seqlen_kv", " x "),
    "device": _field("device"),
    "figures": figures_are,
    "outcome": lambda r: OUTCOMES.get(r.get("outcome")),
    "rel RMSE": _field("rel_rmse"),
    "max error": _field("max_abs_error"),
    "ms": _field("gpu_time_ms"),
    "clocks": _field("clocks"),
    "busy": _share("busy"),
    "useful": _share("useful_busy"),
    "in groups": _share("useful_occupied"),
    "GHz": _field("clock_ghz"),
    "TFLOP/s": _field("tflops"),
    "of peak": _share("peak_share"),
    "A+B flips/clk": _field("operand_flips_per_clock"),
    "C flips/clk": _field("addend_flips_per_clock"),
    "message": _field("message"),
    "inputs": lambda r: r.get("source", r.get("input_distribution")),
    "prepared": _field("quantisation"),
}


def table(records, caption):
    return Table(caption, list(COLUMNS), [[cell(r) for cell in COLUMNS.values()] for r in records])


def length_text(tokens):
    return f"{tokens // 1024}K" if tokens % 1024 == 0 else str(tokens)


def _shape(record):
    dims = pair(record, "head_dim_qk", "head_dim_v", "/") or "not named"
    mask = {"MASK_CAUSAL": "causal", "MASK_FULL": "full"}.get(record.get("mask"), "mask not named")
    return f"head dim {dims}, {mask}"


def by_length(records, styles):
    """Throughput by length: a line for each variant, device, batch and heads, modelled or measured."""
    timed = [r for r in records if "tflops" in r and "seqlen_q" in r]
    name = Names(timed)
    sizes = {(r.get("batch"), r.get("heads_q"), r.get("heads_kv")) for r in timed}

    def line(record):
        text = f"{name(record)}, {figures_are(record) or 'not said whether modelled or measured'}"
        if len(sizes) > 1:
            text += f", batch {record.get('batch')}, heads {pair(record, 'heads_q', 'heads_kv', '/')}"
        return text

    plots = []
    for shape, members in by_name(timed, _shape).items():
        lengths = sorted({r["seqlen_q"] for r in members if r["seqlen_q"] > 0})
        series = []
        for label, lot in by_name(members, line).items():
            points = sorted((Point(r["seqlen_q"], r["tflops"]) for r in lot), key=lambda p: p.x)
            series.append(Series(label, points, styles(name(lot[0])), modelled=lot[0].get("modelled")))
        ticks = [(n, length_text(n)) for n in lengths[:: max(1, -(-len(lengths) // 8))]]
        plots.append(
            Plot(f"Throughput, {shape}", "queries (tokens)", "TFLOP/s", series, x_log=True, x_ticks=ticks or None)
        )
    notes = [
        "Throughput counts visible query-key pairs only. Hollow marks and dashed lines are modelled, "
        "full marks and whole lines measured on a GPU."
    ]
    return Section("speed", "Kernels by length", notes, plots, [table(records, "Kernels by length")])


CAPTURED_FIGURES = [
    ("tflops", "Throughput", "TFLOP/s, modelled"),
    ("clock_ghz", "Shader clock", "GHz, modelled"),
    ("operand_flips_per_clock", "Toggling of the operands", "flips of A and B a clock"),
]


GAUSSIAN = -1  # its place on the axis of layers


def _points(records, position, field):
    points = (Point(position.get(r.get("source"), GAUSSIAN), r[field]) for r in records)
    return sorted(points, key=lambda p: p.x)


def captured(records, styles):
    """Clock and speed by layer, with Gaussian inputs as the first place of each axis."""
    name = Names(records, with_preparation=False)
    made = [r for r in records if "source" not in r]
    taken = [r for r in records if "source" in r]
    sources = Sources(taken)
    plots = {field: [] for field, _, _ in CAPTURED_FIGURES}
    for group in sources.groups:
        members = [r for r in taken if r["source"] in sources.groups[group]]
        shapes = {(r.get("variant"), r.get("seqlen_q")) for r in members}
        beside = [r for r in made if (r.get("variant"), r.get("seqlen_q")) in shapes]
        ticks = sources.ticks(group)
        if beside:
            ticks.insert(0, (GAUSSIAN, "Gaussian"))
        for field, title, label in CAPTURED_FIGURES:
            series = []
            for variant, lot in by_name([r for r in members if field in r], name).items():
                style, modelled = styles(variant), lot[0].get("modelled")
                points = _points(lot, sources.position(group), field)
                series.append(Series(variant, points, style, modelled=modelled))
                alone = _points([r for r in beside if name(r) == variant and field in r], {}, field)
                series.append(Series("", alone, style, line=False, modelled=modelled))
            if series:
                title = f"{title}, {sources.title(group)}"
                plots[field].append(Plot(title, sources.axis(group), label, series, x_ticks=ticks))
    # All clocks are near one another.
    groups.same_range(plots["clock_ghz"])
    notes = [
        "Clocks, toggling and shader clock of launches whose inputs are one head of a captured layer, "
        "beside Gaussian inputs of the same shape."
    ]
    return Section("captured", "Speed on captured inputs", notes, sum(plots.values(), []), [table(records, "Speed on captured inputs")])
