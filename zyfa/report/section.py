"""Sections of the page and what they are made of, as HTML."""
import dataclasses

from zyfa.report import draw, theme
from zyfa.report.plot import set_apart
from zyfa.report.text import count, escape, number

LONG = 28  # characters of a cell that is broken into lines


@dataclasses.dataclass
class Table:
    caption: str
    columns: list  # texts
    # Cells: None, a text, a number, or an Element. The first one of a row names it.
    rows: list


@dataclasses.dataclass(frozen=True)
class Element:
    """A cell that is HTML already."""

    html: str
    numeric: bool = True


@dataclasses.dataclass
class Section:
    name: str  # of its anchor
    title: str
    notes: list  # paragraphs of text
    plots: list
    tables: list


def estimate(value, error):
    """A cell: a value and its standard error."""
    if value is None:
        return None
    if error is None:
        return value
    return Element(f"{number(value)} ± {number(error)}")


def _content(cell):
    """(HTML, whether it is a number) of a cell."""
    if cell is None:
        return "", False
    if isinstance(cell, Element):
        return cell.html, cell.numeric
    if isinstance(cell, (int, float)):
        return number(cell), True
    return escape(cell), False


def _cell(cell, tag, attributes=""):
    html, numeric = _content(cell)
    kind = "number" if numeric else "long" if len(html) > LONG else ""
    return f"<{tag}{attributes}{f' class={kind}' if kind else ''}>{html}</{tag}>"


def _row(cells):
    return f"<tr>{_cell(cells[0], 'th', ' scope=row')}{''.join(_cell(c, 'td') for c in cells[1:])}</tr>\n"


def render_table(table):
    """Columns that no row fills are left out. Wider than the page, it scrolls by itself."""
    head = ""
    filled = []
    for i, title in enumerate(table.columns):
        cells = [_content(row[i]) for row in table.rows]
        if i > 0 and not any(html for html, _ in cells):
            continue
        filled.append(i)
        numeric = any(numeric for _, numeric in cells)
        head += f"<th scope=col{' class=number' if numeric else ''}>{escape(title)}</th>"
    body = "".join(_row([row[i] for i in filled]) for row in table.rows)
    caption = escape(table.caption)
    return (
        f'<h3>{caption}</h3>\n<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def render_plot(plot, name):
    """A figure: title, drawing, legend below it."""
    set_apart(plot.series, len(theme.SERIES), len(theme.MARKS))
    legend = "".join(f"<li>{draw.swatch(s)}<span>{escape(s.name)}</span></li>" for s in plot.series if s.name)
    if plot.legend_title:
        legend = f"<li class=legend-title>{escape(plot.legend_title)}</li>" + legend
    missing = plot.left_out()
    note = ""
    if missing:
        reason = "not finite" + (", or not positive on a logarithmic axis" if plot.x_log or plot.y_log else "")
        note = f"<p>Not drawn: {count(missing, 'point')} ({reason}); see the table.</p>"
    return (
        f'<figure id="{name}"><figcaption>{escape(plot.title)}</figcaption>\n{draw.svg(plot, name + "-")}\n'
        f"<ul class=legend>{legend}</ul>{note}</figure>\n"
    )


def render(section):
    """The section as HTML; its heading has the anchor section.name."""
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in section.notes)
    plots = "".join(render_plot(plot, f"{section.name}-{i}") for i, plot in enumerate(section.plots))
    tables = "".join(map(render_table, section.tables))
    if plots:
        plots = f"<div class=plots>\n{plots}</div>\n"
    return f'<section aria-labelledby="{section.name}">\n<h2 id="{section.name}">{escape(section.title)}</h2>\n{notes}{plots}{tables}</section>\n'
