#!/usr/bin/env python3
"""Draws docs/figures/sizes.svg, the picture of the README, from docs/compression.json: sizes_figure.py [--check]

Bytes of a trace by Cairn and by Pilgrim of the same program on as many ranks, where Pilgrim's figure is known, each
program once, with the most ranks. The axis is logarithmic, so sizes are points and not bars. --check writes nothing and
fails unless the picture is what the measurements give.
"""
import json

from drawing import BLUE, BROWN, GREY, LIGHT, ROOT, LogAxis, circle, line, picture, put, text, words_of

WIDTH, TOP, ROW, LEFT = 860, 74, 25, 232
SIZES = LogAxis(300, 30_000_000, LEFT, 700)
CAIRN, PILGRIM = BLUE, BROWN


def label(size):
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} B"


def programs(rows):
    """The rows that can be compared, each program with its most ranks, the largest factor first.

    Of the two patterns with random neighbours only one was Pilgrim's, and it is not known which.
    """
    most = {}
    for row in rows:
        if row.get("pilgrim") and "size" in row and row["table"] != "patterns":
            if row["name"] not in most or row["ranks"] > most[row["name"]]["ranks"]:
                most[row["name"]] = row
    return sorted(most.values(), key=lambda row: -row["pilgrim"] / row["size"])


def name(row):
    kind = {"stencils": "stencil ", "nas": "NAS ", "scalapack": "ScaLAPACK "}.get(row["table"], "")
    return kind + row["name"]


def draw(rows):
    chosen = programs(rows)
    height = TOP + ROW * len(chosen) + 46
    bottom = TOP + ROW * len(chosen)
    out = [circle(26, 48, 5, CAIRN) + text(37, 52, "Cairn").lstrip(),
           circle(92, 48, 5, PILGRIM) + text(103, 52, "Pilgrim").lstrip(),
           text(WIDTH - 20, 52, "times smaller", "small", "end")]
    for power in range(3, 8):
        x = f"{SIZES.place(10 ** power):.1f}"
        out += [line(f"M{x},{TOP - 8} V{bottom}", LIGHT), text(x, bottom + 16, label(10 ** power), "small", "middle")]
    for number, row in enumerate(chosen):
        y = TOP + ROW * number + 8
        ours, theirs = SIZES.place(row["size"]), SIZES.place(row["pilgrim"])
        out += [text(20, y + 4, name(row)), text(LEFT - 24, y + 4, f'{row["ranks"]} ranks', "small", "end"),
                line(f"M{ours:.1f},{y} H{theirs:.1f}", GREY, 2),
                circle(f"{ours:.1f}", y, 5, CAIRN), circle(f"{theirs:.1f}", y, 5, PILGRIM),
                text(f"{theirs + 10:.1f}", y + 4, f'{label(row["size"])} : {label(row["pilgrim"])}', "small"),
                text(WIDTH - 20, y + 4, f'{row["pilgrim"] / row["size"]:.1f}', "times", "end")]
    out.append(text(20, height - 10, "Without the sections timing and meta of Cairn; with its call sites and source lines. "
                    "Commands: docs/compression.md.", "small"))
    return picture(WIDTH, height, "Bytes of traces by Cairn and by Pilgrim",
                   "Bytes of a trace of the same program, every call with all its arguments", out)


def main():
    options = words_of(__doc__).parse_args()
    put("sizes.svg", draw(json.loads((ROOT / "docs/compression.json").read_text())["rows"]), "docs/compression.json",
        options.check)


if __name__ == "__main__":
    main()
