"""What a plot shows, apart from how it is drawn."""
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float | None = None  # ends of an error bar along the axis of values
    high: float | None = None
    note: str = ""  # beside the point


@dataclasses.dataclass
class Series:
    name: str  # in the legend; "": it is not in there
    points: list
    style: int = 0  # which colour, mark and dashes
    line: bool = True  # whether the points are joined
    modelled: bool | None = None  # None: neither modelled nor measured


@dataclasses.dataclass
class Plot:
    title: str
    x_label: str
    y_label: str
    series: list
    x_log: bool = False
    y_log: bool = False
    x_ticks: list | None = None  # (value, text); None: as the values fall
    rows: list | None = None  # texts of rows 0, 1, ...; then a point's y is its row
    y_range: tuple | None = None  # of values that plots beside it have
    legend_title: str = ""

    def drawable(self, point):
        """Whether the point has a place: finite, and positive on a logarithmic axis."""
        return all(
            math.isfinite(value) and (value > 0 or not log)
            for value, log in ((point.x, self.x_log), (point.y, self.y_log))
        )

    def left_out(self):
        """How many points have none."""
        return sum(not self.drawable(p) for s in self.series for p in s.points)


def share_range(plots):
    """Gives plots the range of y that all of them need."""
    values = []
    for plot in plots:
        for point in (p for s in plot.series for p in s.points if plot.drawable(p)):
            ends = [end for end in (point.low, point.high) if end is not None]
            values += [v for v in [point.y, *ends] if plot.drawable(Point(point.x, v))]
    if not values:
        return
    for plot in plots:
        plot.y_range = (min(values), max(values))


def set_apart(series, colours, marks):
    """Gives named series of one plot that share a colour other styles, the first of them keeping its own."""
    kept, others = [], []
    for one in (s for s in series if s.name):
        taken = any(one.style % colours == other.style % colours for other in kept)
        (others if taken else kept).append(one)
    used = [one.style for one in kept]
    for one in others:
        # By how alike the nearest is that has it: in colour, in mark or not at all.
        def alike(style):
            return (
                any(style % colours == u % colours for u in used),
                any(style % marks == u % marks for u in used),
            )

        one.style = min((n for n in range(colours * marks) if n not in used), key=alike, default=one.style)
        used.append(one.style)
