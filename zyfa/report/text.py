"""Texts and numbers of records as a page shows them."""
import html
import math
import unicodedata

# Control, surrogate, format (which turn the direction of text), line and paragraph.
NOT_SHOWN = {"Cc", "Cs", "Cf", "Zl", "Zp", "Cn"}


def plain(text):
    """The text with what is not a visible character made one."""
    return "".join("\ufffd" if unicodedata.category(c) in NOT_SHOWN else c for c in text)


def escape(text):
    return html.escape(plain(text))


def shortened(text, length):
    """The text for a place of so many characters."""
    text = plain(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def rounded(value):
    """A number to four digits."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value)}"
    if abs(value) >= 1e5 or abs(value) < 1e-3:
        return f"{value:.3e}"
    return f"{value:#.4g}".rstrip(".")


def number(value):
    """A number as an element: four digits to read, all of them in its value."""
    return f'<data value="{value!r}">{rounded(value)}</data>'


def percent(value):
    """A share of 1 as an element, as `number`."""
    shown = f"{100 * value:.3g}" if math.isfinite(value) else rounded(value)
    return f'<data value="{value!r}">{shown} %</data>'


def count(n, one, many=None):
    """'1 record', '2 records'."""
    return f"{n} {one if n == 1 else many or one + 's'}"
