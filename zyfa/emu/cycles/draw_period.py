#!/usr/bin/python3
"""Draws one pass of a loop on a SIMD from the file that model --period_csv writes.

    bazel run //zyfa/emu/cycles:draw_period -- period.csv period.svg

Time runs from left to right and goes on in the line below. The format follows
from the picture's name (.svg, .png, ...). Status 0 if it was drawn, 2 if not.
"""
import argparse
import csv
import io
import os
import re
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("draw_period: matplotlib is missing; on Debian: sudo apt-get install python3-matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path

COLUMNS = ["track", "start", "clocks", "what", "phase", "name", "address"]

# Classes of instructions, in the order of the legend.
COLOURS = {
    "matrix": "#1f5fa8",
    "auxiliary": "#8fbce6",
    "vector": "#f08c2e",
    "transcendental": "#c8321e",
    "packed": "#8a5a2b",
    "LDS": "#2e9e4f",
    "memory": "#8e4fb5",
    "scalar": "#555555",
    "control": "#a0a0a0",
}
# Reasons for waiting: hatch and ground.
WAITS = {
    "matrix pipe": ("////", "#dce9f7"),
    "matrix hold": ("xxxx", "#dce9f7"),
    "matrix result": ("++++", "#dce9f7"),
    "vector pipe": ("\\\\\\\\", "#fdeadb"),
    "issue port": ("....", "#f2f2f2"),
    "wait lds": ("||||", "#ddf3e3"),
    "lds queue": ("oo", "#ddf3e3"),
    "wait memory": ("||||", "#eee3f6"),
    "memory queue": ("oo", "#eee3f6"),
    "barrier": ("----", "#fbf3c4"),
    "nop": ("**", "#f2f2f2"),
    "branch": ("OO", "#f2f2f2"),
    "fetch": ("..", "#fbdede"),
}
UNKNOWN_WAIT = ("/", "#ffffff")
PHASES = ["#cfd8dc", "#b2dfdb", "#ffe0b2", "#d1c4e9", "#f8bbd0", "#dcedc8", "#b3e5fc", "#fff9c4"]


BAR = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]


class BadFile(Exception):
    pass


def read(path):
    """The '# key: value' lines, and the rows with numbers as such."""
    facts, lines = {}, []
    with open(path, newline="") as stream:
        for line in stream:
            if line.startswith("# "):
                key, _, value = line[2:].strip().partition(": ")
                facts[key] = value
            else:
                lines.append(line)
    reader = csv.DictReader(lines)
    if reader.fieldnames != COLUMNS or not {"kernel", "simd", "clocks"} <= facts.keys():
        raise BadFile(f"{path} is no file of --period_csv")
    rows = []
    for row in reader:
        row["start"], row["clocks"] = int(row["start"]), int(row["clocks"])
        rows.append(row)
    if not rows:
        raise BadFile(f"{path} has no rows: nothing happens on that SIMD in that window")
    facts["clocks"] = int(facts["clocks"])
    return facts, rows


def merged(rows, key):
    """[start, clocks, key(row)] with neighbours of one key joined."""
    bars = []
    for row in rows:
        if bars and bars[-1][2] == key(row) and bars[-1][0] + bars[-1][1] == row["start"]:
            bars[-1][1] += row["clocks"]
        else:
            bars.append([row["start"], row["clocks"], key(row)])
    return bars


def clipped(bars, low, high):
    for start, clocks, key in bars:
        begin, end = max(start, low), min(start + clocks, high)
        if end > begin:
            yield begin, end - begin, key


def bars_of(axes, bars, y, height, style):
    """One patch for all bars of a key: `style` gives its properties."""
    by_key = {}
    for start, clocks, key in bars:
        by_key.setdefault(key, []).append((start, start + clocks))
    for key, spans in by_key.items():
        vertices = [v for a, b in spans for v in ((a, y), (b, y), (b, y + height), (a, y + height), (a, y))]
        axes.add_patch(PathPatch(Path(vertices, BAR * len(spans)), **style(key)))


def of_class(edge):
    def style(what):
        return {"facecolor": COLOURS.get(what, "#000000"), "edgecolor": "white" if edge else "none", "linewidth": 0.6 if edge else 0}

    return style


def of_wait(reason):
    hatch, ground = WAITS.get(reason, UNKNOWN_WAIT)
    return {"facecolor": ground, "hatch": hatch, "edgecolor": "#909090", "linewidth": 0}


def draw_phases(axes, bars, y, colours, low, high):
    for start, clocks, phase in clipped(bars, low, high):
        bars_of(axes, [(start, clocks, phase)], y, 0.24, lambda key: {"facecolor": colours[key], "edgecolor": "white"})
        # About what a letter takes at this size.
        if clocks > (high - low) * 0.008 * (len(phase) + 1):
            axes.text(start + clocks / 2, y + 0.11, phase, ha="center", va="center", fontsize=7)


def draw(facts, rows, clocks_per_line):
    clocks = facts["clocks"]
    lines = max(1, -(-clocks // clocks_per_line))
    per_line = -(-clocks // lines)
    tracks = {}
    for row in rows:
        tracks.setdefault(row["track"], []).append(row)
    names = [t for t in ("matrix pipe", "vector pipe") if t in tracks] + [t for t in tracks if "pipe" not in t]
    phases = list(dict.fromkeys(row["phase"] for row in rows if row["phase"]))
    colours = {phase: PHASES[i % len(PHASES)] for i, phase in enumerate(phases)}

    track_inches = 0.46 if len(phases) > 1 else 0.36
    size = (17, lines * (track_inches * len(names) + 0.55) + 1.0)
    figure, all_axes = pyplot.subplots(lines, 1, figsize=size, squeeze=False)
    for line, axes in enumerate(all_axes[:, 0]):
        low, high = line * per_line, (line + 1) * per_line
        for i, name in enumerate(names):
            y = len(names) - 1 - i
            track = tracks[name]
            if name.endswith("pipe"):
                whole = name == "matrix pipe"
                bars = [[r["start"], r["clocks"], r["what"]] for r in track] if whole else merged(track, lambda r: r["what"])
                bars_of(axes, clipped(bars, low, min(high, clocks)), y + 0.08, 0.84, of_class(whole))
                continue
            waits = merged([r for r in track if r["what"] == "wait"], lambda r: r["name"])
            issues = merged([r for r in track if r["what"] != "wait"], lambda r: r["what"])
            bars_of(axes, clipped(waits, low, min(high, clocks)), y + 0.08, 0.62, of_wait)
            bars_of(axes, clipped(issues, low, min(high, clocks)), y + 0.08, 0.62, of_class(False))
            if len(phases) > 1:
                where = [[b[0], b[1], b[2]] for b in merged(track, lambda r: r["phase"])]
                draw_phases(axes, where, y + 0.7, colours, low, min(high, clocks))
        axes.set_xlim(low, high)
        axes.set_ylim(0, len(names))
        axes.set_yticks([len(names) - 0.5 - i for i in range(len(names))])
        axes.set_yticklabels(names, fontsize=9)
        axes.tick_params(axis="x", labelsize=8)
        axes.tick_params(axis="y", length=0)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    all_axes[-1, 0].set_xlabel("clocks", fontsize=9)

    busy = sum(c for _, c, _ in clipped([[r["start"], r["clocks"], 0] for r in tracks.get("matrix pipe", [])], 0, clocks))
    figure.suptitle(f"{facts['kernel']}, SIMD {facts['simd']}, {clocks} clocks, matrix pipe busy {100 * busy / clocks:.1f} % (modelled)", fontsize=11, y=0.995)
    what = {row["what"] for row in rows}
    reasons = {row["name"] for row in rows if row["what"] == "wait"}
    handles = [Patch(facecolor=c, label=w) for w, c in COLOURS.items() if w in what]
    handles += [Patch(**of_wait(r), label="waits: " + r) for r in WAITS if r in reasons]
    handles += [Patch(**of_wait(r), label="waits: " + r) for r in sorted(reasons - WAITS.keys())]
    figure.legend(handles=handles, loc="lower center", ncol=9, fontsize=8, frameon=False, handlelength=2.5, handleheight=1.3)
    height = figure.get_figheight()
    figure.tight_layout(rect=(0, 0.55 / height, 1, 1 - 0.05 / height))
    return figure


def save(figure, path):
    if not path.endswith(".svg"):
        figure.savefig(path, dpi=110)
        return
    # No date: the same input gives the same bytes.
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    # A hundredth of a point is enough, and half the file.
    with open(path, "w") as out:
        out.write(re.sub(r"(\d\.\d\d)\d+", r"\1", text.getvalue()).replace(" \n", "\n"))


def main():
    parser = argparse.ArgumentParser(prog="draw_period", description="Draws a file of model --period_csv.")
    parser.add_argument("csv")
    parser.add_argument("picture")
    parser.add_argument("--clocks_per_line", type=int, default=1400, help="how many clocks at most go into a line")
    arguments = parser.parse_args()
    if arguments.clocks_per_line < 1:
        parser.error(f"--clocks_per_line is {arguments.clocks_per_line}, at least 1 is needed")
    # 'bazel run' starts elsewhere.
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    try:
        facts, rows = read(arguments.csv)
        matplotlib.rcParams.update({"svg.hashsalt": "zyfa", "svg.fonttype": "none", "hatch.linewidth": 0.5})
        figure = draw(facts, rows, arguments.clocks_per_line)
        save(figure, arguments.picture)
    except (OSError, BadFile, ValueError) as error:
        print(f"draw_period: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
