"""Colours and marks, for light and dark pages.

A plot is drawn once; its colours become variables of the page's style sheet, which
has two sets of them. Series differ in colour, mark and dashes, so that none of the
three alone has to be seen.
"""
# Variable: light, dark. The values in the drawing are the light ones.
PAGE = {
    "page": ("#fdfdfc", "#16181b"),
    "ink": ("#1d1f21", "#e7e8ea"),
    "muted": ("#5b6066", "#a7adb4"),
    "grid": ("#dcdfe3", "#363b41"),
}
# Far apart under each of the common colour blindnesses too, and with a contrast of 3
# or more to the page.
SERIES = {
    "s0": ("#070086", "#58b3fb"),
    "s1": ("#d37519", "#e25053"),
    "s2": ("#1b9e69", "#40ff82"),
    "s3": ("#852779", "#c76087"),
    "s4": ("#504900", "#c5a817"),
    "s5": ("#340000", "#ffe6d3"),
    "s6": ("#004cff", "#b2c9e2"),
    "s7": ("#a271de", "#7d6aff"),
}
VARIABLES = PAGE | SERIES
MARKS = ["o", "s", "^", "D", "v", "P", "X"]
DASHES = [(), (6, 2), (2, 2), (8, 2, 2, 2), (10, 3), (4, 1, 1, 1, 1, 1)]


def colour(style):
    return list(SERIES.values())[style % len(SERIES)][0]


def mark(style):
    return MARKS[style % len(MARKS)]


def dashes(style):
    return DASHES[style % len(DASHES)]


def variables(dark):
    """The variables as declarations of a style sheet."""
    return " ".join(f"--{name}: {pair[dark]};" for name, pair in VARIABLES.items())


def variable_of(value):
    """The variable that stands for a colour of a drawing. KeyError: it is none of ours."""
    for name, (light, _) in VARIABLES.items():
        if light == value:
            return f"var(--{name})"
    raise KeyError(f"colour {value} is not of the theme")
