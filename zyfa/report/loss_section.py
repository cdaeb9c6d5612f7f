"""The section on whole models: KL divergence by variant, and against time."""
from zyfa.report.groups import Names, by_name
from zyfa.report.plot import Plot, Point, Series
from zyfa.report.section import Element, Section, Table, estimate
from zyfa.report.text import percent

NATS = "nats a token"


def loss_of(record):
    return record.get("model_loss", {})


def is_mix(record):
    """Whether some heads run in bf16 instead."""
    return loss_of(record).get("bf16_head_share", 0) != 0


def _point(x, y, error, along_x):
    value = x if along_x else y
    return Point(x, y, None if error is None else value - error, None if error is None else value + error)


def _by_variant(model, records, name, field, title):
    """A row for each variant."""
    lot = [r for r in records if field in loss_of(r) and not is_mix(r)]
    if not lot:
        return None
    points = [
        _point(loss_of(r)[field], row, loss_of(r).get(field + "_standard_error"), True) for row, r in enumerate(lot)
    ]
    # From others of its kind only the row tells one apart.
    return Plot(
        f"{title}, {model}", f"KL divergence, {NATS}", "", [Series("", points, line=False)],
        x_log=True, rows=[name(r) for r in lot],
    )  # fmt: skip


def _against_time(model, records, name, styles):
    """Lines over modelled clocks for what has mixes, and single points for what has none."""
    timed = [r for r in records if "kl" in loss_of(r) and "attention_clocks" in loss_of(r)]
    lines = by_name(timed, name)
    if not any(is_mix(r) for r in timed):
        return None
    series = []
    for label, lot in lines.items():
        lot.sort(key=lambda r: loss_of(r).get("bf16_head_share", 0))
        points = []
        for i, record in enumerate(lot):
            loss = loss_of(record)
            at = _point(loss["attention_clocks"] / 1e6, loss["kl"], loss.get("kl_standard_error"), False)
            share = f"{100 * loss.get('bf16_head_share', 0):.3g} %" if len(lot) > 1 and i in (0, len(lot) - 1) else ""
            points.append(Point(at.x, at.y, at.low, at.high, share))
        series.append(Series(label, points, styles(label), modelled=None))
    return Plot(
        f"KL against time, {model}", "attention of one pass, million clocks (modelled)",
        f"KL divergence, {NATS}", series, y_log=True, legend_title="Share of heads in bf16 at the ends of a line",
    )  # fmt: skip


def model_loss(records, styles):
    name = Names(records)
    plots = []
    rows = []
    for model, members in by_name(records, lambda r: loss_of(r).get("model", "model not named")).items():
        plots.append(_by_variant(model, members, name, "kl", "KL from exact attention"))
        plots.append(_by_variant(model, members, name, "kl_to_bf16", "KL from bf16 attention"))
        plots.append(_against_time(model, members, name, styles))
        rows += [_row(model, r, name) for r in members]
    columns = [
        "variant", "model", "computed by", "heads in bf16", "segments", "tokens a segment", "KL",
        "KL to bf16", "bits/byte", "added bits/byte", "compared to", "difference of KL", "attention clocks (modelled)",
        "prepared",
    ]  # fmt: skip
    notes = [
        "The whole model with this attention in each of its layers, against the same model with exact attention. "
        "Each estimate is a mean over segments of text; ± and bars are one standard error."
    ]
    tables = [Table(f"Whole models; KL in {NATS}", columns, rows)]
    return Section("model-loss", "Whole models", notes, [p for p in plots if p is not None], tables)


def _row(model, record, name):
    loss = loss_of(record)

    def cell(field):
        return estimate(loss.get(field), loss.get(field + "_standard_error"))

    share = loss.get("bf16_head_share")
    return [
        name(record), model, record.get("computed_by"),
        None if share is None else Element(percent(share)),
        loss.get("segments"), loss.get("tokens_per_segment"), cell("kl"), cell("kl_to_bf16"),
        loss.get("bits_per_byte"), cell("added_bits_per_byte"), loss.get("compared_to"),
        cell("kl_difference"), loss.get("attention_clocks"), record.get("quantisation"),
    ]  # fmt: skip
