"""The whole page."""
import pathlib
import string

from zyfa.report import layer_sections, loss_section, section, speed_sections, theme
from zyfa.report.groups import Styles, by_name
from zyfa.report.text import count, escape

HERE = pathlib.Path(__file__).parent
SECTIONS = [
    (None, speed_sections.by_length),
    ("STUDY_LAYERS", layer_sections.layers),
    ("STUDY_STAGES", layer_sections.stages),
    ("STUDY_PREPARATION", layer_sections.preparation),
    ("STUDY_STATISTICS", layer_sections.statistics),
    ("STUDY_MODEL_LOSS", loss_section.model_loss),
    ("STUDY_CAPTURED_SPEED", speed_sections.captured),
]
COMPUTED_BY = {"kernel": "kernels", "model": "numeric models of kernels", "reference": "the float64 reference"}


def study(record):
    value = record.get("study", "STUDY_UNSPECIFIED")
    return None if value == "STUDY_UNSPECIFIED" else value


def render(files):
    """The page of `files`: the records of each file by its name."""
    records = [record for lot in files.values() for record in lot]
    styles = Styles()
    sections = []
    for which, make in SECTIONS:
        members = [r for r in records if study(r) == which]
        if members:
            sections.append(make(members, styles))
    body = "".join(map(section.render, sections))
    if not sections:
        body = "<p>There are no records in these files, so there is nothing to show.</p>\n"
    page = string.Template((HERE / "page.html").read_text(encoding="utf-8"))
    style = string.Template((HERE / "page.css").read_text(encoding="utf-8"))
    return page.substitute(
        style=style.substitute(light=theme.variables(dark=False), dark=theme.variables(dark=True)),
        head=_head(files, records, sections),
        sections=body,
    )


def _head(files, records, sections):
    facts = [
        ("Records", [f"{name}: {count(len(lot), 'record')}" for name, lot in files.items()]),
        ("Times", _times(records)),
        ("Speed figures", _speed(records)),
        ("Computed by", _computed(records)),
        ("Devices", _devices(records)),
        ("Versions", _versions(records)),
    ]
    listed = "".join(
        f"<dt>{escape(name)}</dt><dd>{'<br>'.join(map(escape, lines))}</dd>\n" for name, lines in facts if lines
    )
    links = "".join(f'<li><a href="#{s.name}">{escape(s.title)}</a></li>\n' for s in sections)
    navigation = f"<nav><ul>\n{links}</ul></nav>\n" if links else ""
    return f"<p>{escape(_modelled(records))}</p>\n<dl>\n{listed}</dl>\n{_code_objects(records)}{navigation}"


def _modelled(records):
    """What of the page is modelled, in a sentence or two."""
    modelled = sum(r.get("modelled") is True for r in records)
    measured = sum(r.get("modelled") is False for r in records)
    if not modelled and not measured:
        return "No record has figures of speed that are modelled, nor such that are measured."
    text = ""
    if modelled:
        text = (
            "Modelled figures are not those of a GPU: the emulator executed the code object, and "
            "times, clocks and TFLOP/s are those of a cycle model. "
        )
    if not measured:
        return text + "Nothing on this page was measured on a GPU."
    return text + "Measured figures are device times on a GPU."


def _times(records):
    times = sorted(r["start_time"] for r in records if "start_time" in r)
    return [times[0] if times[0] == times[-1] else f"{times[0]} to {times[-1]}"] if times else []


def _speed(records):
    lots = by_name(records, speed_sections.figures_are)
    return [f"{name}: {count(len(lots[name]), 'record')}" for name in ("modelled", "measured") if name in lots]


def _computed(records):
    lots = by_name([r for r in records if "computed_by" in r], lambda r: r["computed_by"])
    return [f"{COMPUTED_BY.get(who, who)}: {count(len(lot), 'record')}" for who, lot in lots.items()]


def _devices(records):
    return list(
        dict.fromkeys(
            r["device"] + (f": {r['device_description']}" if "device_description" in r else "")
            for r in records
            if "device" in r
        )
    )


def _versions(records):
    titles = {
        "kernel_toolchain": "kernels assembled by",
        "host_compiler": "host programs compiled by",
        "device_runtime": "kernels executed by",
    }
    return list(
        dict.fromkeys(
            f"{title}: {r['versions'][field]}"
            for field, title in titles.items()
            for r in records
            if field in r.get("versions", {})
        )
    )


def _code_objects(records):
    """Those that ran, with the start of their SHA-256."""
    codes = by_name([r for r in records if r.get("code_object_sha256")], lambda r: r["code_object_sha256"])
    if not codes:
        return ""
    items = "".join(
        f"<li><code>{escape(digest[:12])}</code> {escape(', '.join(dict.fromkeys(r.get('variant', '?') for r in lot)))}</li>\n"
        for digest, lot in codes.items()
    )
    return f"<details open><summary>{count(len(codes), 'code object')} ran (SHA-256, first 12 digits)</summary>\n<ul class=codes>\n{items}</ul></details>\n"
