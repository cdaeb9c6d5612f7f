"""Sections on single attention calls: errors by layer, stage and preparation; what inputs are like."""
import math

from zyfa.report import groups
from zyfa.report.groups import Names, Sources, by_name, plot_by_source, table_by_source
from zyfa.report.plot import Plot, Point, Series
from zyfa.report.section import Section

RMSE = "relative RMSE"
COMPUTED = (
    "Computed by the kernels' numeric models on the CPU, unless a name says kernel: "
    "then the code object ran on the emulator. Errors are against float64 attention."
)
LAYER_FIGURES = [
    ("rel_rmse", "Error of the kernel alone", "against float64 attention on the same rounded inputs"),
    ("p99_row_rel_rmse", "99th percentile of row errors", "of the kernel alone, by output row"),
    ("total_rel_rmse", "Total error", "against float64 attention on the inputs before their rounding"),
]


def layers(records, styles):
    name = Names(records)
    sources = Sources(records)
    plots, tables = [], []
    for field, title, what in LAYER_FIGURES:

        def figure(record, field=field):
            return record.get(field)

        facets = []
        for group in sources.groups:
            members = of_group(records, group, sources)
            where = sources.title(group)
            for facet, which in preparations(members, name).items():
                plot = plot_by_source(
                    which, group, sources, f"{title}, {where}: {facet}", RMSE, name.kernel, figure, styles
                )
                facets.append(plot)
            tables.append(table_by_source(members, group, sources, f"{title}, {where}: {RMSE} {what}", name, figure))
        if field != "p99_row_rel_rmse":
            plots += groups.same_range(facets)
    return Section("layers", "Error by layer", [COMPUTED], plots, groups.present(tables))


def of_group(records, group, sources):
    return [r for r in records if r.get("source", "") in sources.groups[group]]


def preparations(records, name):
    """Records by how inputs were prepared, and in one lot those series that nothing else shares theirs with."""
    lots = {}
    for members in by_name(records, lambda r: r.get("quantisation", "")).values():
        done, _ = groups.steps(members[0])
        shared = len(by_name(members, name)) > 1
        title = ((done or "inputs not prepared") if shared else "each its own inputs")
        lots.setdefault(title, []).extend(members)
    return lots


STAGES = {
    "query": "Q alone",
    "key": "K alone",
    "value": "V alone",
    "inputs": "inputs: Q, K and V",
    "p": "P, on rounded inputs",
    "rest": "rest: rounding the output",
    "total": "total",
}


def stages(records, styles):
    name = Names(records)
    sources = Sources(records)
    order = list(STAGES)

    def stage(record):
        return STAGES.get(record.get("stage"), record.get("stage", "no stage"))

    def style(label):
        return [*STAGES.values(), label].index(label)

    def rank(record):
        return order.index(record["stage"]) if record.get("stage") in order else len(order)

    plots, tables = [], []
    for group in sources.groups:
        for kernel, members in by_name(of_group(records, group, sources), name).items():
            members = sorted(members, key=rank)
            title = f"{sources.title(group)}, {kernel}"
            plots.append(plot_by_source(members, group, sources, title, RMSE, stage, groups.error, style))
            tables.append(table_by_source(members, group, sources, f"{title}: {RMSE} by stage", stage, groups.error))
    note = (
        "What is rounded, all else being float64: Q, K and V apart and together. P: what the kernel's "
        "arithmetic adds on rounded inputs; rest: what rounding the output adds to that. "
        "Computed by numeric models and the float64 reference."
    )
    return Section("stages", "Error by stage", [note], groups.same_range(plots), groups.present(tables))


STEP_ORDER = ["nothing", "rotation", "mean key", "both"]


def step_of(record):
    done, _ = groups.steps(record)
    mean, rotated = "mean key" in done, "rotat" in done
    return STEP_ORDER[rotated + 2 * mean]


def preparation(records, styles):
    sources = Sources(records)

    def scales(record):
        return groups.steps(record)[1] or "not named"

    def line(record):
        return f"{scales(record)}, {step_of(record)}"

    def kind(record):
        if record.get("stage") == "inputs":
            return "inputs alone"
        return record.get("variant", "no variant")

    plots, tables = [], []
    for group in sources.groups:
        for what, members in by_name(of_group(records, group, sources), kind).items():
            title = f"{sources.title(group)}, {what}"
            series = [
                _spread(label, lot, i, styles) for i, (label, lot) in enumerate(by_name(members, scales).items())
            ]
            for i, one in enumerate(series):
                # Side by side.
                shift = 0.16 * (i - (len(series) - 1) / 2)
                one.points = [Point(p.x + shift, p.y, p.low, p.high) for p in one.points]
            ticks = list(enumerate(STEP_ORDER))
            plots.append(Plot(title, "done to K, or Q and K", RMSE, series, x_ticks=ticks, y_log=True))
            tables.append(
                table_by_source(members, group, sources, f"{title}: total {RMSE} by scales and steps", line, groups.error)
            )
    note = (
        "Total error, by what is done before rounding and what shares a scale. Marks are geometric means over "
        "the layers, bars reach from the least to the greatest layer. Inputs alone: FP8 inputs, all else float64."
    )
    return Section("preparation", "Preparation of the inputs", [note], groups.same_range(plots), groups.present(tables))


def _spread(label, records, index, styles):
    """Mean, least and greatest error for each step."""
    points = []
    for step, members in by_name(records, step_of).items():
        values = [groups.error(r) for r in members if groups.error(r) is not None]
        mean = groups.geometric_mean(values)
        if mean is not None:
            points.append(Point(STEP_ORDER.index(step), mean, min(values), max(values)))
        elif values:
            points.append(Point(STEP_ORDER.index(step), math.nan))
    return Series(label, points, index, line=False)


SHARES = {
    "low_block_share": "blocks 8 binades under the row's maximum, share",
    "low_block_mass": "their probability",
    "sink_mass": "probability on key 0, mean",
    "largest_sink_mass": "the same, of the head with the most",
}
RATIOS = {
    "query_outlier_ratio": "Q, largest channel / median",
    "key_outlier_ratio": "K, largest channel / median",
    "value_outlier_ratio": "V, largest channel / median",
    "key_mean_ratio": "mean key / keys without it, RMS",
}


def statistics(records, styles):
    sources = Sources(records)
    flat = [
        {"source": r.get("source", ""), "name": title, "value": r["input_statistics"][field]}
        for field, title in (SHARES | RATIOS).items()
        for r in records
        if field in r.get("input_statistics", {})
    ]
    plots, tables = [], []
    order = [*SHARES.values(), *RATIOS.values()]
    for group in sources.groups:
        where = sources.title(group)
        members = of_group(flat, group, sources)
        for fields, title, label, log in (
            (SHARES, "Shares and probabilities", "share, 0 to 1", False),
            (RATIOS, "Outlier channels and the mean key", "ratio", True),
        ):
            lot = [r for r in members if r["name"] in fields.values()]
            plots.append(
                plot_by_source(
                    lot, group, sources, f"{title}, {where}", label,
                    _name, _value, lambda n, fields=fields: list(fields.values()).index(n), log,
                )  # fmt: skip
            )
        members.sort(key=lambda r: order.index(r["name"]))
        tables.append(table_by_source(members, group, sources, f"Inputs, {where}", _name, _value, mean=False))
    note = "What the captured Q, K and V are like, computed in float64."
    return Section("statistics", "The inputs", [note], groups.present(plots), groups.present(tables))


def _name(record):
    return record["name"]


def _value(record):
    return record["value"]
