"""Colours of the page: contrast by WCAG 2, and how far apart they are for the colour-blind."""
import itertools
import math
import unittest

from zyfa.report import theme

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
VISIONS = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    encoded = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in encoded]


def luminance(rgb):
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(a, b):
    low, high = sorted((luminance(linear(a)), luminance(linear(b))))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    r, g, b = (min(1, max(0, c)) for c in rgb)
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
        luminance((r, g, b)),
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


class ThemeTest(unittest.TestCase):
    def test_contrast_with_the_page(self):
        for dark in (0, 1):
            page = theme.PAGE["page"][dark]
            self.assertGreaterEqual(contrast(theme.PAGE["ink"][dark], page), 7)
            self.assertGreaterEqual(contrast(theme.PAGE["muted"][dark], page), 4.5)
            for name, pair in theme.SERIES.items():
                self.assertGreaterEqual(contrast(pair[dark], page), 3, (name, dark))

    def test_series_differ_in_every_vision(self):
        for dark, (vision, matrix) in itertools.product((0, 1), VISIONS.items()):
            seen = {
                name: lab([sum(m * c for m, c in zip(row, linear(pair[dark]))) for row in matrix])
                for name, pair in theme.SERIES.items()
            }
            for a, b in itertools.combinations(seen, 2):
                self.assertGreater(math.dist(seen[a], seen[b]), 20, (vision, dark, a, b))

    def test_styles_differ_in_mark_too(self):
        styles = {(theme.colour(n), theme.mark(n)) for n in range(56)}
        self.assertEqual(len(styles), 56)
        self.assertEqual(len({theme.mark(n) for n in range(7)}), 7)

    def test_only_colours_of_the_theme_are_variables(self):
        self.assertEqual(theme.variable_of(theme.PAGE["ink"][0]), "var(--ink)")
        with self.assertRaisesRegex(KeyError, "#123456"):
            theme.variable_of("#123456")


if __name__ == "__main__":
    unittest.main()
