#!/usr/bin/env python3
"""Draws docs/figures/times-ratios.svg, how small each mode keeps times, from docs/timing.json.

  bench/times_ratios_figure.py [--check]

A line for each stream through all modes that keep a relative bound, and one for the geometric mean, which orders the
modes within 10 %; within 1 % they stand as there. Durations and gaps are together, as they are there. --check writes
nothing and fails unless the picture is what the measurements give.
"""
import json
import statistics

from drawing import GREY, LIGHT, ROOT, LogAxis, dots, line, picture, put, text, words_of

BOUNDS = {100_000: "within 10 %", 10_000: "within 1 %"}
WIDTH, LEFT, PANEL, BETWEEN, TOP, HIGH, STEP = 860, 44, 282, 130, 92, 330, 14
RATIOS = LogAxis(4, 80, TOP + HIGH, TOP)
DARK = "#1f2937"


def ratios_of(lines, bound):
    """Mode to ratio of each stream."""
    ratios = {}
    for each in lines:
        if each.get("bound_millionths") == bound:
            ratios.setdefault(each["mode"], {})[each["stream"]] = each["ratio"]
    return ratios


def mean(ratios):
    return statistics.geometric_mean(ratios.values())


def apart(wanted):
    """Heights for labels, from above to below: what is wanted, but STEP below the last, and within the panel."""
    placed = list(wanted)
    for number in range(1, len(placed)):
        placed[number] = max(placed[number], placed[number - 1] + STEP)
    return [min(y, TOP + HIGH - STEP * above) for y, above in zip(placed, reversed(range(len(placed))))]


def panel(left, heading, modes, ratios):
    across = [left + PANEL * (number + 0.5) / len(modes) for number in range(len(modes))]
    out = [text(left, TOP - 12, heading, "times")]
    for ratio in (5, 10, 20, 40, 80):
        y = RATIOS.place(ratio)
        out += [line(f"M{left},{y:.1f} h{PANEL}", LIGHT), text(left - 6, f"{y + 4:.1f}", str(ratio), "small", "end")]

    last = ratios[modes[-1]]
    names = sorted(last, key=last.get, reverse=True)
    for name, y in zip(names, apart([RATIOS.place(last[name]) for name in names])):
        points = [f"{x:.1f},{RATIOS.place(ratios[mode][name]):.1f}" for x, mode in zip(across, modes)]
        out += [f'  <path d="M{" L".join(points)} L{left + PANEL:.1f},{y:.1f}" fill="none" stroke="{GREY}"/>',
                dots(points, 4, GREY), text(f"{left + PANEL + 5:.1f}", f"{y + 4:.1f}", f"{name} {last[name]:.1f}", "small")]

    points = [f"{x:.1f},{RATIOS.place(mean(ratios[mode])):.1f}" for x, mode in zip(across, modes)]
    out += [f'  <path d="M{" L".join(points)}" fill="none" stroke="{DARK}" stroke-width="2.5"/>', dots(points, 8, DARK)]
    for number, (x, mode) in enumerate(zip(across, modes)):
        lower = TOP + HIGH + 18 + 34 * (number % 2)
        out += [line(f"M{x:.1f},{TOP + HIGH} V{lower - 11}", LIGHT), text(f"{x:.1f}", lower, mode, "", "middle"),
                text(f"{x:.1f}", lower + 14, f"{mean(ratios[mode]):.1f}", "times", "middle")]
    return out


def draw(lines):
    out = [text(20, 52, "A grey line is a stream, with its name and its ratio with the last mode; the black one and "
                "the bold numbers are the geometric mean.", "small")]
    first = ratios_of(lines, max(BOUNDS))
    modes = sorted(first, key=lambda mode: mean(first[mode]))
    for number, (bound, heading) in enumerate(BOUNDS.items()):
        out += panel(LEFT + number * (PANEL + BETWEEN), heading, modes, ratios_of(lines, bound))
    height = TOP + HIGH + 104
    out.append(text(20, height - 12, "Durations and gaps together, against 16 bytes a call. zfp is not here: it keeps no "
                    "relative bound. Commands: docs/benchmarks.md.", "small"))
    return picture(WIDTH, height, "Compression ratio of each mode on each stream",
                   "Compression ratio of times by mode and stream", out)


def main():
    options = words_of(__doc__).parse_args()
    put("times-ratios.svg", draw(json.loads((ROOT / "docs/timing.json").read_text())["lines"]), "docs/timing.json",
        options.check)


if __name__ == "__main__":
    main()
