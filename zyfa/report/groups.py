"""How records are told apart and put together: sources, names of series, their styles."""
import math
import re

from zyfa.report.plot import Point, Plot, Series, share_range
from zyfa.report.section import Element, Table
from zyfa.report.text import number, shortened

LAYER = re.compile(r"(.*?)\s*\blayer (\d{1,6})\b\s*(.*)")
KERNEL = re.compile(r"_d\d+(x\d+)?_(causal|full)\b")
STEP = re.compile(r"mean key|rotat")


class Sources:
    """Where inputs are from, in groups of what one plot shows: the layers of a model, or else all others."""

    def __init__(self, records):
        self.groups = {}  # name: {source: label}
        for source in dict.fromkeys(r.get("source", "") for r in records):
            layer = LAYER.fullmatch(source)
            if layer is None:
                self.groups.setdefault("", {})[source] = source or "not named"
            else:
                group = " ".join(filter(None, (layer[1], layer[3]))) or "layers"
                self.groups.setdefault(group, {})[source] = int(layer[2])
        for name, labels in self.groups.items():
            if name:
                self.groups[name] = dict(sorted(labels.items(), key=lambda item: item[1]))

    def title(self, group):
        return group or "Other inputs"

    def axis(self, group):
        return "layer" if group else "inputs"

    def ticks(self, group):
        """Positions 0, 1, ... with what stands below them."""
        return [(i, shortened(str(label), 14)) for i, label in enumerate(self.groups[group].values())]

    def position(self, group):
        """Position of a source on that axis."""
        return {source: i for i, source in enumerate(self.groups[group])}

    def columns(self, group):
        return [f"layer {label}" if group else label for label in self.groups[group].values()]


def parts(record):
    """How the inputs were prepared, in its parts."""
    return record.get("quantisation", "").split("; ")


def steps(record):
    """(what was done before quantising, how it was quantised): two texts, either may be empty."""
    first, *rest = parts(record)
    if STEP.search(first):
        return first, "; ".join(rest)
    return "", "; ".join([first, *rest])


class Names:
    """Names of the series of some records: the variant, and what else sets it apart from others of them."""

    def __init__(self, records, with_preparation=True):
        self.preparations = {}
        self.computed_by = {r.get("computed_by", "") for r in records}
        if not with_preparation:
            return
        for record in records:
            self.preparations.setdefault(record.get("variant"), {})[record.get("quantisation", "")] = set(parts(record))

    def kernel(self, record):
        """The name without how its inputs were prepared."""
        name = record.get("variant", "no variant")
        if len(self.computed_by) > 1 and record.get("computed_by") == "kernel":
            name += " (kernel)"
        return name

    def __call__(self, record):
        name = self.kernel(record)
        others = self.preparations.get(record.get("variant"), {})
        if len(others) > 1:
            shared = set.intersection(*others.values())
            name += ", " + ("; ".join(p for p in parts(record) if p not in shared) or "not prepared")
        return name


class Styles:
    """The same style for the same thing all over the page."""

    def __init__(self):
        self.numbers = {}

    def __call__(self, name):
        """A kernel has one style for all head dims and masks."""
        return self.numbers.setdefault(KERNEL.sub("", name), len(self.numbers))


def geometric_mean(values):
    """None if that is no number."""
    if not values or not all(math.isfinite(v) and v > 0 for v in values):
        return None
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def by_name(records, name):
    """Records by name(record), in the order of their first."""
    groups = {}
    for record in records:
        groups.setdefault(name(record), []).append(record)
    return groups


def error(record):
    """The error that the record is about: in all if it has that, else the kernel's alone."""
    return record.get("total_rel_rmse", record.get("rel_rmse"))


def series_by_source(records, group, sources, name, figure, styles):
    """A Series for each name, over the sources of a group."""
    position = sources.position(group)
    result = []
    for label, members in by_name(records, name).items():
        points = [Point(position[r.get("source", "")], figure(r)) for r in members if figure(r) is not None]
        if points:
            result.append(Series(label, sorted(points, key=lambda p: p.x), styles(label), line=bool(group)))
    return result


def plot_by_source(records, group, sources, title, y_label, name, figure, styles, y_log=True):
    """A Plot of that; None if no record has the figure."""
    series = series_by_source(records, group, sources, name, figure, styles)
    if not series:
        return None
    return Plot(title, sources.axis(group), y_label, series, x_ticks=sources.ticks(group), y_log=y_log)


def table_by_source(records, group, sources, caption, name, figure, mean=True):
    """Lines by name, columns by source, and the geometric mean; None if no record has the figure."""
    rows = []
    for label, members in by_name(records, name).items():
        cells = [label]
        everything = []
        for source in sources.groups[group]:
            values = [figure(r) for r in members if r.get("source", "") == source and figure(r) is not None]
            everything += values
            cells.append(Element(" / ".join(map(number, values))) if values else None)
        if everything:
            rows.append([*cells, geometric_mean(everything) if mean else None])
    if not rows:
        return None
    return Table(caption, ["", *sources.columns(group), "geometric mean"], rows)


def present(things):
    return [thing for thing in things if thing is not None]


def same_range(plots):
    """Those that are there, on the same range of values."""
    plots = present(plots)
    share_range(plots)
    return plots
