"""Reads a page back: its tables, and where the marks of its plots are on their axes."""
import html.parser
import math
import re

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children = []  # Nodes and texts

    def all(self, tag, **attributes):
        """Nodes below this one, in order."""
        for child in self.children:
            if isinstance(child, Node):
                if tag in ("*", child.tag) and all(child.attributes.get(k) == v for k, v in attributes.items()):
                    yield child
                yield from child.all(tag, **attributes)

    def one(self, tag, **attributes):
        return next(self.all(tag, **attributes))

    def text(self):
        return "".join(c if isinstance(c, str) else c.text() for c in self.children)


class _Parser(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.node = Node("", {}, None)

    def handle_starttag(self, tag, attrs):
        if len(dict(attrs)) != len(attrs):
            raise ValueError(f"{tag} has an attribute twice")
        node = Node(tag, dict(attrs), self.node)
        self.node.children.append(node)
        if tag not in VOID:
            self.node = node

    def handle_startendtag(self, tag, attrs):
        self.node.children.append(Node(tag, dict(attrs), self.node))

    def handle_endtag(self, tag):
        if tag != self.node.tag:
            raise ValueError(f"</{tag}> closes <{self.node.tag}>")
        self.node = self.node.parent

    def handle_data(self, data):
        self.node.children.append(data)


def parse(text):
    """The page as a tree. ValueError if its tags do not match."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    if parser.node is not parser.root:
        raise ValueError(f"<{parser.node.tag}> is not closed")
    return parser.root


def table(root, caption):
    """{name of the row: {title of the column: its numbers, or its text}} of the table below that heading.

    A name that rows share has what the last of them has.
    """
    for region in root.all("div", role="region"):
        if region.attributes["aria-label"] == caption:
            break
    else:
        raise KeyError(caption)
    titles = [th.text() for th in region.one("thead").all("th")]
    rows = {}
    for tr in region.one("tbody").all("tr"):
        cells = [c for c in tr.children if isinstance(c, Node)]
        rows[cells[0].text()] = {
            title: [float(d.attributes["value"]) for d in cell.all("data")] or cell.text()
            for title, cell in zip(titles, cells, strict=True)
        }
    return rows


def figure(root, title):
    for node in root.all("figure"):
        if node.one("figcaption").text() == title:
            return node
    raise KeyError(title)


def _number(text):
    text = text.replace("\u2212", "-")
    kilo = re.fullmatch(r"(\d+)K", text)
    return float(kilo[1]) * 1024 if kilo else float(text)


def _map(node, axis, logarithmic, names):
    """What turns a coordinate into a value: the line through the axis' ticks of which the text is a number."""
    along = "xy"[axis - 1]
    ticks = []
    for group in node.one("svg").all("g"):
        if re.search(rf"{along}tick_\d+$", group.attributes.get("id", "")) and (texts := list(group.all("text"))):
            value = names[texts[0].text()] if names else _number(texts[0].text())
            ticks.append((float(group.one("use").attributes[along]), math.log(value) if logarithmic else value))
    (p, v), (q, w) = ticks[0], ticks[-1]
    for at, value in ticks:
        # The ticks themselves are where they should be.
        if abs(v + (at - p) * (w - v) / (q - p) - value) > 0.01 * abs(w - v):
            raise ValueError(f"a tick of {along} at {at} is out of place")
    to_value = lambda at: v + (at - p) * (w - v) / (q - p)
    return (lambda at: math.exp(to_value(at))) if logarithmic else to_value


def marks(node, series, x_log=False, y_log=False, x_names=None, rows=False):
    """Points (x, y) of a figure's series by its number, in values of the axes.

    `x_names`: values of ticks that have a name. `rows`: y is the coordinate itself.
    """
    x = _map(node, 1, x_log, x_names)
    y = (lambda at: at) if rows else _map(node, 2, y_log, None)
    for group in node.one("svg").all("g"):
        if group.attributes.get("id", "").endswith(f"-series-{series}"):
            return [(x(float(u.attributes["x"])), y(float(u.attributes["y"]))) for u in group.all("use")]
    raise KeyError(f"series {series}")


def legend(node):
    """Names of the series in the legend."""
    return [li.one("span").text() for li in node.all("li") if "class" not in li.attributes]
