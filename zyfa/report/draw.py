"""Draws plots as SVG for a page that is light or dark and wide or narrow."""
import io
import logging
import math
import re
import warnings

# No word on where it keeps its cache.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
import matplotlib

matplotlib.use("Agg")
from matplotlib import markers, pyplot, ticker

from zyfa.report import theme
from zyfa.report.text import escape, shortened

# In units of the page's pixels at full size; a phone shows six sevenths of it.
WIDTH, HEIGHT = 420, 300
ROW_HEIGHT = 42
POINTS = 72 / 96  # of a pixel
LONGEST_ROW = 52  # characters

INK = theme.PAGE["ink"][0]
MUTED = theme.PAGE["muted"][0]
GRID = theme.PAGE["grid"][0]
PAPER = theme.PAGE["page"][0]

SETTINGS = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "zyfa",  # the same names each time
    "text.parse_math": False,  # a '$' of a record is one
    "font.family": "DejaVu Sans",
    "font.size": 13 * POINTS,
    "axes.titlesize": 13 * POINTS,
    "axes.labelsize": 13 * POINTS,
    "xtick.labelsize": 12 * POINTS,
    "ytick.labelsize": 12 * POINTS,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "lines.markersize": 5.5,
}


def number_text(value, _=None):
    """A number of an axis: 0.001, 2e-4, 1200."""
    if value == 0 or 0.999e-3 <= abs(value) < 1e6:
        return f"{value:.6g}"
    digits, exponent = f"{value:.5e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def svg(plot, prefix):
    """The drawing of a Plot as an <svg> element, its names starting with `prefix`.

    Points that have no place (Plot.drawable) are left out.
    """
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # Characters that the font lacks, the browser has.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        height = HEIGHT if plot.rows is None else 90 + ROW_HEIGHT * len(plot.rows)
        figure, axes = pyplot.subplots(figsize=(WIDTH / 96, height / 96), constrained_layout=True)
        _axes(plot, axes)
        for i, series in enumerate(plot.series):
            _series(plot, series, f"series-{i}", axes)
        if plot.rows is not None:
            _rows(plot, axes)
        else:
            _limit(plot, axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
        pyplot.close(figure)
    return _embedded(out.getvalue(), prefix, plot.title)


def _axes(plot, axes):
    axes.set_xlabel(plot.x_label, gid="x-label")
    axes.set_ylabel(plot.y_label, gid="y-label")
    placed = [p for s in plot.series for p in s.points if plot.drawable(p)]
    if plot.x_log:
        _logarithmic(axes.xaxis, axes.set_xscale, [v for p in placed for v in _span(plot, p, 0)])
    else:
        axes.xaxis.set_major_formatter(number_text)
    if plot.y_log:
        _logarithmic(axes.yaxis, axes.set_yscale, plot.y_range or [v for p in placed for v in _span(plot, p, 1)])
    else:
        axes.yaxis.set_major_formatter(number_text)
    if plot.x_ticks is not None:
        axes.set_xticks([value for value, _ in plot.x_ticks], [text for _, text in plot.x_ticks])
        axes.minorticks_off()
        if not plot.x_log:
            values = [value for value, _ in plot.x_ticks]
            axes.set_xlim(min(values) - 0.5, max(values) + 0.5)


def _span(plot, point, axis):
    """What the point covers of an axis."""
    along = 0 if plot.rows is not None else 1
    ends = [point.x, point.y][axis : axis + 1]
    if axis == along:
        ends += [end for end in (point.low, point.high) if end is not None and end > 0 and math.isfinite(end)]
    return ends


def _logarithmic(axis, set_scale, values):
    set_scale("log", nonpositive="mask")
    ratio = max(values) / min(values) if values else 1
    if ratio < 3:
        axis.set_major_locator(ticker.MaxNLocator(5, steps=(1, 2, 5, 10)))
    else:
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if ratio < 200 else (1,), numticks=8))
    axis.set_major_formatter(number_text)
    axis.set_minor_formatter(ticker.NullFormatter())


def _series(plot, series, name, axes):
    points = [p for p in series.points if plot.drawable(p)]
    if not points:
        return
    colour = theme.colour(series.style)
    x, y = [p.x for p in points], [p.y for p in points]
    values = x if plot.rows is not None else y
    log = plot.x_log if plot.rows is not None else plot.y_log
    bars = [
        # An end on the wrong side is none.
        [max(0, v - _end(p.low, v, log)) for p, v in zip(points, values)],
        [max(0, _end(p.high, v, log) - v) for p, v in zip(points, values)],
    ]
    if any(bars[0]) or any(bars[1]):
        axes.errorbar(
            x, y, **{"xerr" if plot.rows is not None else "yerr": bars},
            fmt="none", ecolor=colour, elinewidth=1.2, capsize=3, zorder=2,
        )  # fmt: skip
    style = {"linestyle": "none"}
    if series.line:
        style = {"dashes": _dashes(series)} if _dashes(series) else {"linestyle": "-"}
    axes.plot(
        x, y, color=colour, marker=theme.mark(series.style), gid=name, zorder=3,
        markeredgecolor=colour, markerfacecolor=PAPER if series.modelled else colour, **style,
    )  # fmt: skip
    for point in points:
        if point.note:
            axes.annotate(
                point.note, (point.x, point.y), xytext=(5, 5), textcoords="offset points", fontsize=11 * POINTS, color=MUTED
            )


def _dashes(series):
    """Lengths of dashes and gaps; none for a line that is whole."""
    if series.modelled is None:
        return theme.dashes(series.style)
    return (4, 2) if series.modelled else ()


def _end(end, value, log):
    """An error bar's end, or the value if it has none that the axis can show."""
    if end is None or not math.isfinite(end):
        return value
    # On a logarithmic axis a bar to 0 or below runs out of the picture.
    return max(end, value * 1e-3) if log else end


def _limit(plot, axes):
    """What the axis of values spans: its range, or from zero unless it is logarithmic."""
    if plot.y_range is None:
        high = axes.dataLim.y1
        if not plot.y_log and axes.dataLim.y0 >= 0:
            axes.set_ylim(0, 1.06 * high if high > 0 else 1)
        return
    low, high = plot.y_range
    if plot.y_log:
        margin = (high / low) ** 0.06 if high > low else 1.2
        axes.set_ylim(low / margin, high * margin)
    else:
        margin = 0.06 * (high - low) or 1
        axes.set_ylim(low - margin, high + margin)


def _rows(plot, axes):
    """A text above each row, so that it can be as long as the picture is wide."""
    axes.set_ylim(len(plot.rows) - 0.6, -0.9)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    for i, text in enumerate(plot.rows):
        text = shortened(text, LONGEST_ROW)
        axes.text(0, i - 0.45, text, transform=axes.get_yaxis_transform(), fontsize=12 * POINTS, va="center")
        axes.axhline(i, color=GRID, linewidth=0.7, zorder=1)


def _embedded(text, prefix, title):
    """An SVG file as part of a page: no prologue, names of its own, colours by name."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<style.*?</style>\s*", "", text, flags=re.DOTALL)
    size = re.search(r'viewBox="([^"]*)"', text).group(1)
    # Only in tags: a text of a record may read like an attribute.
    body = re.sub(r"<[^>]*>", lambda tag: _tag(tag.group(0), prefix), text[text.index(">") + 1 :])
    return f'<svg class="plot" viewBox="{size}" role="img" aria-label="{escape(title)}">{body.strip()}'


def _tag(tag, prefix):
    tag = re.sub(r'\b(id|xlink:href)="(#?)', rf'\1="\2{prefix}', tag).replace("xlink:href", "href")
    tag = tag.replace("url(#", f"url(#{prefix}").replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")
    tag = re.sub(r"#[0-9a-f]{6}\b", lambda c: theme.variable_of(c.group(0)), tag)
    return re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n.group(0)):.2f}", tag)


def swatch(series):
    """A piece of a series' line with its mark, as an <svg> element for a legend."""
    number = list(theme.SERIES)[series.style % len(theme.SERIES)]
    shape = markers.MarkerStyle(theme.mark(series.style))
    path = shape.get_path().transformed(shape.get_transform())
    commands = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}
    steps = []
    for vertices, code in path.iter_segments(simplify=False):
        numbers = " ".join(f"{v * sign:.2f}" for v, sign in zip(vertices, (8, -8) * 3)) if code != 79 else ""
        steps.append(commands[code] + numbers)
    line = ""
    if series.line:
        dashes = " ".join(f"{1.9 * length:g}" for length in _dashes(series))
        dashes = f' stroke-dasharray="{dashes}"' if dashes else ""
        line = f'<path d="M-17 0H17" fill="none" stroke="var(--{number})" stroke-width="1.9"{dashes}/>'
    fill = "page" if series.modelled else number
    return (
        f'<svg class="swatch" viewBox="-18 -8 36 16" aria-hidden="true">{line}'
        f'<path d="{"".join(steps)}" fill="var(--{fill})" stroke="var(--{number})" stroke-width="1.3"/></svg>'
    )
