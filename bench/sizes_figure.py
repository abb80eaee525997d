#!/usr/bin/env python3
"""Draws docs/figures/sizes.svg, the picture of the README, from docs/compression.json: sizes_figure.py [--check]

Bytes of a trace by Cairn and by Pilgrim of the same program on as many ranks, where Pilgrim's figure is known, each
program once, with the most ranks. The axis is logarithmic, so sizes are points and not bars. --check writes nothing and
fails unless the picture is what the measurements give.
"""
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIGURE = ROOT / "docs/figures/sizes.svg"
WIDTH, LEFT, RIGHT, TOP, ROW = 860, 232, 700, 74, 25
LEAST, GREATEST = 300, 30_000_000
CAIRN, PILGRIM = "#1f6fb4", "#b35c1e"

STYLE = """text { font-family: "DejaVu Sans", "Liberation Sans", Arial, sans-serif; font-size: 12px; fill: #1f2937 }
    .small { font-size: 11px; fill: #52606d } .title { font-size: 14px; font-weight: bold } .times { font-weight: bold }"""


def place(size):
    return LEFT + (RIGHT - LEFT) * math.log(size / LEAST) / math.log(GREATEST / LEAST)


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
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img"',
           '     aria-label="Bytes of traces by Cairn and by Pilgrim">', f"  <style>\n    {STYLE}\n  </style>",
           f'  <rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="#fafbfc" stroke="#d5dbe1"/>',
           '  <text class="title" x="20" y="28">Bytes of a trace of the same program, every call with all its arguments</text>',
           f'  <circle cx="26" cy="48" r="5" fill="{CAIRN}"/><text x="37" y="52">Cairn</text>',
           f'  <circle cx="92" cy="48" r="5" fill="{PILGRIM}"/><text x="103" y="52">Pilgrim</text>',
           f'  <text class="small" x="{WIDTH - 20}" y="52" text-anchor="end">times smaller</text>']
    for power in range(3, 8):
        x = place(10 ** power)
        out.append(f'  <path d="M{x:.1f},{TOP - 8} V{bottom}" stroke="#dfe4e9"/>')
        out.append(f'  <text class="small" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{label(10 ** power)}</text>')
    for number, row in enumerate(chosen):
        y = TOP + ROW * number + 8
        ours, theirs = place(row["size"]), place(row["pilgrim"])
        out += [f'  <text x="20" y="{y + 4}">{name(row)}</text>',
                f'  <text class="small" x="{LEFT - 24}" y="{y + 4}" text-anchor="end">{row["ranks"]} ranks</text>',
                f'  <path d="M{ours:.1f},{y} H{theirs:.1f}" stroke="#9aa5b1" stroke-width="2"/>',
                f'  <circle cx="{ours:.1f}" cy="{y}" r="5" fill="{CAIRN}"/>',
                f'  <circle cx="{theirs:.1f}" cy="{y}" r="5" fill="{PILGRIM}"/>',
                f'  <text class="small" x="{theirs + 10:.1f}" y="{y + 4}">{label(row["size"])} : {label(row["pilgrim"])}</text>',
                f'  <text class="times" x="{WIDTH - 20}" y="{y + 4}" text-anchor="end">{row["pilgrim"] / row["size"]:.1f}</text>']
    out.append(f'  <text class="small" x="20" y="{height - 10}">Without the sections timing and meta of Cairn; '
               "with its call sites and source lines. Commands: docs/compression.md.</text>")
    return "\n".join([*out, "</svg>", ""])


def main():
    text = draw(json.loads((ROOT / "docs/compression.json").read_text())["rows"])
    if "--check" not in sys.argv[1:]:
        FIGURE.write_text(text)
    elif FIGURE.read_text() != text:
        sys.exit("docs/figures/sizes.svg is not what docs/compression.json gives: run bench/sizes_figure.py")


if __name__ == "__main__":
    main()
