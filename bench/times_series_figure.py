#!/usr/bin/env python3
"""Draws docs/figures/times-series.svg, why times are grouped by call site, from docs/times-series.json.

  bench/times_series_figure.py [--check] [--of FOLDER [--cairn PROGRAM]]

The first 150 calls of the call site where rank 1 spent most time, and as many calls of the rank from there on, whatever
their site. --of takes them anew from the recordings that bench/timing/run.py left in FOLDER, with `cairn dump`, and
writes the JSON. --check writes nothing and fails unless the picture is what the JSON gives.
"""
import collections
import json
import math
import pathlib
import subprocess

from drawing import BLUE, GREY, LIGHT, ROOT, LogAxis, dots, line, picture, put, text, words_of

SERIES = ROOT / "docs/times-series.json"
PROGRAMS = {"stencil2d": "stencil, 4 ranks", "lammps": "LAMMPS, 4 ranks"}
RANK, CALLS, WITHIN = 1, 150, 0.1
KINDS = ("durations", "gaps")

WIDTH, LEFT, PANEL, BETWEEN, TOP, HIGH, ROW = 860, 68, 350, 62, 96, 100, 134
LEAST, GREATEST = 5, 20_000_000  # ns; what is beyond lies on the edge
TICKS = {10: "10 ns", 1_000: "1 µs", 100_000: "100 µs", 10_000_000: "10 ms"}


def bits(values):
    """The entropy of the values in bins as wide as the bound, in bits a value."""
    bins = collections.Counter(math.floor(math.log(value) / math.log1p(WITHIN)) if value else -1 for value in values)
    return sum(count * math.log2(len(values) / count) for count in bins.values()) / len(values)


def series_of(cairn, trace):
    """What the picture shows of a trace."""
    said = subprocess.run([cairn, "dump", "--json", "--rank", str(RANK), trace], check=True, capture_output=True, text=True)
    sites, names, end = collections.defaultdict(list), {}, 0
    times = {kind: [] for kind in KINDS}
    for number, call in enumerate(map(json.loads, said.stdout.splitlines()[1:])):
        site = call["function"], call["site"]["module"], call["site"]["offset"]
        sites[site].append(number)
        names[site] = f'{call["function"]} in {call["site"].get("function", "?")}'
        times["durations"].append(call["duration_ns"])
        times["gaps"].append(call["begin_ns"] - end)
        end = call["begin_ns"] + call["duration_ns"]
    waited = {site: sum(times["durations"][number] for number in numbers) for site, numbers in sites.items()
              if site[0] not in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize") and len(numbers) >= CALLS}
    site = max(waited, key=waited.get)
    first, chosen = sites[site][0], sites[site][:CALLS]
    series = {"site": names[site], "calls": len(times["gaps"]), "sites": len(sites), "first": first,
              "places": [number - first for number in chosen if number < first + CALLS]}
    for kind, values in times.items():
        grouped = sum(len(numbers) * bits([values[number] for number in numbers]) for numbers in sites.values())
        series[kind] = {"site": [values[number] for number in chosen], "all": values[first:first + CALLS],
                        "bits_all": round(bits(values), 2), "bits_site": round(grouped / len(values), 2)}
    return series


def panel(left, top, heading, values, marked):
    """One series as points, those at `marked` places dark and on top of the others."""
    along = LogAxis(LEAST, GREATEST, top + HIGH, top)
    out = [text(left, top - 7, heading, "small")]
    for tick, name in TICKS.items():
        y = f"{along.place(tick):.1f}"
        out += [line(f"M{left},{y} h{PANEL}", LIGHT), text(left - 6, f"{along.place(tick) + 4:.1f}", name, "small", "end")]
    out.append(line(f"M{left},{top + HIGH} h{PANEL}", GREY))
    for colour, shown in ((GREY, lambda place: place not in marked), (BLUE, lambda place: place in marked)):
        points = [f"{left + PANEL * (place + 0.5) / CALLS:.1f},{along.place(min(max(value, LEAST), GREATEST)):.1f}"
                  for place, value in enumerate(values) if shown(place)]
        out += [dots(points, 4, colour)] if points else []
    return out


def draw(programs):
    out = []
    for column, (name, series) in enumerate(programs.items()):
        left = LEFT + column * (PANEL + BETWEEN)
        site = series["site"].replace("LAMMPS_NS::", "")
        out += [text(left, 54, PROGRAMS[name], "times"), text(left, 70, f"call site: {site}", "small")]
        for number, kind in enumerate(KINDS):
            top = TOP + 2 * number * ROW
            bits_of = "{bits_all:.1f} bits each, {bits_site:.1f} by call site".format(**series[kind])
            out += panel(left, top, f"{kind} of this call site", series[kind]["site"], range(CALLS))
            out += panel(left, top + ROW, f"{kind} of all call sites: {bits_of}", series[kind]["all"], set(series["places"]))
        bottom = TOP + 4 * ROW - 20
        out += [text(left + x, bottom, words, "small", anchor) for x, words, anchor in (
            (0, "call 1", ""), (PANEL, str(CALLS), "end"))]
    height = TOP + 4 * ROW + 20
    out.append(text(20, height - 12, "Dark blue: the call site of the panel above. Bits: entropy of the bins within 10 %, "
                    f"over all calls of rank {RANK}. Up to 5 ns: on the lower edge.", "small"))
    return picture(WIDTH, height, "Durations and gaps of one call site and of all, call by call",
                   f"Times of {CALLS} calls of a rank, one after the other, recorded exactly", out)


def main():
    words = words_of(__doc__)
    words.add_argument("--of", type=pathlib.Path)
    words.add_argument("--cairn", type=pathlib.Path, default=ROOT / "build/bin/cairn")
    options = words.parse_args()
    if options.of:
        taken = {name: series_of(options.cairn, options.of / f"{name}.cairn") for name in PROGRAMS}
        SERIES.write_text(json.dumps({"schema": "cairn-times-series-1", "rank": RANK, "programs": taken}) + "\n")
    put("times-series.svg", draw(json.loads(SERIES.read_text())["programs"]), "docs/times-series.json", options.check)


if __name__ == "__main__":
    main()
