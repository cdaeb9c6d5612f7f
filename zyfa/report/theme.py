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
# In this order they stay apart under the common colour blindnesses, and each has a
# contrast of 3 or more with the page.
SERIES = {
    "s0": ("#0064a4", "#5cb3f0"),
    "s1": ("#c54d05", "#ff8f52"),
    "s2": ("#007a58", "#2ecf9c"),
    "s3": ("#a63d7b", "#ee93c9"),
    "s4": ("#8a6a00", "#e6c229"),
    "s5": ("#44484c", "#d3d6da"),
    "s6": ("#1c8fc9", "#a3dcff"),
    "s7": ("#6548c7", "#b8a6ff"),
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
