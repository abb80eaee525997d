#!/usr/bin/env python3
"""Runs the GPU examples under the emulator, traced and not, and looks at what was traced.

examples_test.py --cairn CAIRN --library libcairn-gpu.so --examples FOLDER [--table | --largest]
Every example checks its own result. --table prints the sizes as docs/gpu.md has them, for the words of --large too.
"""
import argparse
import bz2
import gzip
import hashlib
import json
import lzma
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

SMALL = [("fractal", "64", "256"), ("nbody", "600", "2"), ("mis", "road:40"), ("mis", "power:1500:4"), ("mst", "rmat:8:6"),
         ("reduce", "5000"), ("refine", "24", "6")]
LARGE = [("fractal", "512", "1024"), ("nbody", "5000", "2"), ("mis", "road:150"), ("mis", "power:20000:6"), ("mst", "rmat:12:15"),
         ("mst", "road:80"), ("refine", "100", "15")]
REGULAR = ("fractal", "nbody")
SECOND_READER = pathlib.Path(__file__).resolve().parents[2] / "trace" / "testing" / "read_gpu.py"


class Bench:
    def __init__(self, arguments, folder):
        self.cairn, self.library, self.examples, self.folder = arguments.cairn, arguments.library, arguments.examples, folder

    def run(self, words, check=True, **environment):
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, "CAIRN_GPU_LIBRARY": self.library, "CAIRN_QUIET": "1", **environment},
                              capture_output=True, timeout=3000)
        if check and done.returncode != 0:
            sys.exit(f"{words}: exit code {done.returncode}\n{done.stderr.decode()}")
        return done

    def trace(self, program, words, name, **environment):
        """Runs a traced program; gives its output and the path of its trace."""
        path = self.folder / f"{name}.cairn"
        path.unlink(missing_ok=True)
        done = self.run([str(self.examples / program), *words], CAIRN_GPU_OUTPUT=str(path), **environment)
        expect(f"stderr of {program}", done.stderr.decode(), "")
        return done.stdout, path

    def raw5(self, path):
        return self.run([self.cairn, "dump", str(path), "--raw5"]).stdout

    def sizes(self, path):
        return json.loads(self.run([self.cairn, "gpu", "sizes", str(path), "--json"]).stdout)


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}, not {wanted!r}")


def agree(bench, path):
    """Points, lines, loops and stacks tell the same visits and lanes."""
    def ask(*words):
        return json.loads(bench.run([bench.cairn, "gpu", *words, str(path), "--json"]).stdout)

    points = {point["location"]: point for point in ask("divergence")["points"]}
    lanes = {location: round(point["visits"] * point["mean_lanes"]) for location, point in points.items()}
    lost = sum(point["lost_lanes"] for point in points.values())
    files = ask("source")["files"]
    expect("lost lanes by line", sum(line["lost_lanes"] for file in files for line in file["lines"]), lost)
    expect("lanes by line", sum(line["lanes"] for file in files for line in file["lines"]), sum(lanes.values()))
    expect("all sources are there", {file["found"] for file in files}, {True})
    turns = {loop["location"]: (loop["turns"], loop["lane_turns"]) for loop in ask("loops")["loops"]}
    expect("turns of loops", turns, {location: (point["visits"], lanes[location]) for location, point in points.items()
                                     if point["kind"] == "loop" and point["visits"] != 0})
    for loop in ask("loops")["loops"]:
        expect("lanes by their turns", sum(part["lanes"] for part in loop["lanes_by_turns"]), loop["lanes"])
    for weight, wanted in (("lanes", sum(lanes.values())), ("lost", lost), ("visits", sum(p["visits"] for p in points.values()))):
        expect(f"stacks by {weight}", sum(s["weight"] for s in ask("folded", "--weigh", weight)["stacks"]), wanted)


def measured(bench, name, words):
    out, path = bench.trace(name, words, "traced")
    plain = bench.run([str(bench.examples / f"{name}_plain"), *words]).stdout
    # How many rounds these need depends on who comes first, and points are where warps take turns; they check themselves.
    if name not in ("mis", "refine"):
        expect(f"output of {name} {words}", out, plain)
    bench.run([bench.cairn, "verify", str(path)])
    agree(bench, path)
    sizes = bench.sizes(path)
    sizes["thesis"] = int(bench.run([str(bench.examples / "thesis_size"), str(path)]).stdout)
    raw = bench.raw5(path)
    expect("bytes of --raw5", len(raw), 5 * sizes["events"])
    if sizes["events"] == 0:
        sys.exit(f"{name}: nothing was traced")
    sizes["gzip"], sizes["bzip2"], sizes["xz"] = (len(gzip.compress(raw, 9)), len(bz2.compress(raw, 9)), len(lzma.compress(raw, preset=6)))
    return sizes


def quick(bench):
    for name, *words in SMALL:
        sizes = measured(bench, name, words)
        times = sizes["thesis"] / sizes["coded"]["predict"]
        if times < 1.5:
            sys.exit(f"{name} {words}: predict is only {times:.2f} times smaller than the thesis's coder")
    # What the device wrote does not depend on the coder.
    for name, words in (("fractal", ["64", "256"]), ("mis", ["road:40"])):
        raws = {coder: bench.raw5(bench.trace(name + coder, words, "coder")[1]) for coder in ("", "_raw")}
        if len(set(raws.values())) != 1:
            sys.exit(f"{name}: the coders recorded different events")
    # Warps that split at any time do the same work in more pieces.
    for name, words in (("nbody", ["200", "1"]), ("mst", ["rmat:6:4"])):
        calm = bench.trace(name, words, "calm")
        wild = bench.trace(name, words, "wild", CAIRN_EMULATOR_SCHEDULE="random:7")
        expect(f"output of {name} under another schedule", wild[0], calm[0])
        bench.run([bench.cairn, "verify", str(wild[1])])
        if bench.sizes(wild[1])["events"] <= bench.sizes(calm[1])["events"]:
            sys.exit(f"{name}: the random schedule split no warp")
    settings(bench)
    values(bench)
    accesses(bench)
    clocks(bench)
    widths = bench.trace("two_widths", [], "widths")[1]
    bench.run([bench.cairn, "verify", str(widths)])
    lines = bench.run([bench.cairn, "dump", str(widths), "--join", "--jsonl"]).stdout.decode().splitlines()[1:]
    expect("locations of two files", [(json.loads(line)["location"], json.loads(line)["file"]) for line in lines],
           [(7, "narrow.cc"), (300, "wide.cc")])
    streams_and_devices(bench)
    several_files(bench)
    second_reader(bench)
    golden(bench)


def values(bench):
    """What lanes told of each row and of each entry is what the matrix has."""
    out, path = bench.trace("spmv", ["power:500:3"], "values")
    expect("output of spmv", out, bench.run([str(bench.examples / "spmv_plain"), "power:500:3"]).stdout)
    rows, entries = (int(out.split()[i]) for i in (1, 3))
    bench.run([bench.cairn, "verify", str(path)])
    lines = bench.run([bench.cairn, "dump", str(path), "--launch", "0", "--jsonl"]).stdout.decode().splitlines()
    events = [json.loads(line) for line in lines[1:]]
    told = [[event for event in events if event["kind"] == "value" and (event["line"] == line)]
            for line in sorted({event["line"] for event in events if event["kind"] == "value"})]
    expect("points with values", len(told), 2)
    expect("types", {event["type"] for each in told for event in each}, {"i32"})
    expect("lanes", all(len(event["values"]) == bin(int(event["mask"], 16)).count("1") for each in told for event in each), True)
    expect("rows", sum(len(event["values"]) for event in told[0]), rows)
    expect("entries by row", sum(sum(event["values"]) for event in told[0]), entries)
    columns = [value for event in told[1] for value in event["values"]]
    expect("columns", (len(columns), min(columns) >= 0, max(columns) < rows), (entries, True, True))
    # In a graph without directions every node is as often a column as it has entries.
    degrees = [0] * rows
    for column in columns:
        degrees[column] += 1
    expect("degrees", sorted(degrees), sorted(value for event in told[0] for value in event["values"]))


def accesses(bench):
    """What the ways to transpose a matrix take is known; and of each other access it is what its addresses say."""
    out, path = bench.trace("transpose_accesses", ["64"], "transpose")
    expect("output of transpose", out, b"transpose: 64 x 64\n")
    told = {(use["kernel"], use["kind"], use["memory"]): (use["requests"], use.get("sectors", use.get("wavefronts")), use["least"], use["steps"])
            for use in ask_accesses(bench, path)}
    n = 64 * 64 // 32  # requests of a warp for all elements

    def near(count, step):
        return [{"bytes": step, "pairs": 31 * count}]

    expect("accesses of transpose", told, {
        ("straight", "load", "global"): (n, 4 * n, 4 * n, near(n, 4)), ("straight", "store", "global"): (n, 32 * n, 4 * n, near(n, 256)),
        ("tiled", "load", "global"): (n, 4 * n, 4 * n, near(n, 4)), ("tiled", "store", "shared"): (n, n, n, near(n, 4)),
        ("tiled", "load", "shared"): (n, 32 * n, n, near(n, 128)), ("tiled", "store", "global"): (n, 4 * n, 4 * n, near(n, 4)),
        ("padded", "load", "global"): (n, 4 * n, 4 * n, near(n, 4)), ("padded", "store", "shared"): (n, n, n, near(n, 4)),
        ("padded", "load", "shared"): (n, n, n, near(n, 132)), ("padded", "store", "global"): (n, 4 * n, 4 * n, near(n, 4))})
    text = bench.run([bench.cairn, "gpu", "accesses", str(path), "--limit", "1"]).stdout.decode()
    expect("text", (text.startswith("global memory: 6,656 sectors of 32 bytes, 3,072 would do: 46.2 %\n") or text, text.count(" in straight ")), (True, 1))
    plain = bench.trace("transpose", ["64"], "transpose-plain")[1]
    expect("points", json.loads(bench.run([bench.cairn, "gpu", "coverage", str(path), "--json"]).stdout)["points"][0]["visits"],
           json.loads(bench.run([bench.cairn, "gpu", "coverage", str(plain), "--json"]).stdout)["points"][0]["visits"])
    expect("said of none", bench.run([bench.cairn, "gpu", "accesses", str(plain)]).stderr,
           b"cairn: this trace has no accesses to memory; cairn instrument --accesses puts points at them\n")
    for name, words in (("spmv", ["power:500:3"]), ("reduce", ["3000"]), ("refine", ["12", "3"])):
        out, path = bench.trace(f"{name}_accesses", words, f"{name}-accesses")
        if name != "refine":  # how many rounds that needs depends on who comes first
            expect(f"output of {name}", out, bench.run([str(bench.examples / f"{name}_plain"), *words]).stdout)
        bench.run([bench.cairn, "verify", str(path)])
        agree(bench, path)
        uses = {(use["kernel"], use["location"]): use for use in ask_accesses(bench, path) if use["memory"] == "global"}
        own = {}
        launches = json.loads(bench.run([bench.cairn, "info", str(path), "--json"]).stdout)["gpu"]["launches"]
        lines = [line for launch in range(launches) for line in
                 bench.run([bench.cairn, "dump", str(path), "--launch", str(launch), "--jsonl"]).stdout.decode().splitlines()[1:]]
        for event in map(json.loads, lines):
            touched = [access for access in event.get("accesses", []) if access["memory"] == "global"]
            if touched:
                sectors = {byte // 32 for access in touched for byte in range(access["address"], access["address"] + access["bytes"])}
                sums = own.setdefault((event["location"]), [0, 0, 0])
                for i, more in enumerate((1, len(touched), len(sectors))):
                    sums[i] += more
        got = {}
        for (_, location), use in uses.items():
            sums = got.setdefault(location, [0, 0, 0])
            for i, more in enumerate((use["requests"], use["lanes"], use["sectors"])):
                sums[i] += more
        expect(f"accesses of {name}", got, own)


def clocks(bench):
    """When and where each block ran: every block once, on the multiprocessor that the emulator gives it, as long as it has work."""
    def ask(path, *words):
        return json.loads(bench.run([bench.cairn, "gpu", "blocks", str(path), "--json", *words]).stdout)

    words, plain = ["96", "512"], bench.run([str(bench.examples / "fractal_plain"), "96", "512"]).stdout
    paths = {}
    for name, environment in (("1", {}), ("only", {}), ("1", {"CAIRN_GPU_POLICY": "ring"}), ("1", {"CAIRN_GPU_POLICY": "drain"}),
                              ("only", {"CAIRN_GPU_POLICY": "drain"})):
        out, path = bench.trace("fractal", words, f"clocks-{name}-{len(environment)}", CAIRN_GPU_CLOCKS=name, CAIRN_EMULATOR_PROCESSORS="4",
                                **environment)
        expect("output with clocks", out, plain)
        bench.run([bench.cairn, "verify", str(path)])
        if not environment:
            paths[name] = path
        gpu = json.loads(bench.run([bench.cairn, "info", str(path), "--json"]).stdout)["gpu"]
        expect("events", (gpu["with_clocks"], gpu["lost"], gpu["events"] != 0), (1, 0, name == "1"))
        launch = ask(path, "--launch", "0")
        blocks = launch["blocks"]
        expect("blocks", [(block["block"], block["multiprocessor"]) for block in blocks], [(i, i % 4) for i in range(36)])
        expect("multiprocessors", [(each["number"], each["blocks"]) for each in launch["multiprocessors"]], [(i, 9) for i in range(4)])
        expect("none ends before it begins", all(block["end_cycle"] > block["begin_cycle"] for block in blocks), True)
        expect("cycles", launch["cycles"], max(block["end_cycle"] for block in blocks))
        expect("busy", [each["busy_cycles"] for each in launch["multiprocessors"]],
               [sum(b["end_cycle"] - b["begin_cycle"] for b in blocks if b["multiprocessor"] == i) for i in range(4)])  # one after another here
        kernel, = ask(path)["kernels"]
        expect("kernel", (kernel["kernel"], kernel["blocks"], kernel["multiprocessors"], kernel["unended_warps"]),
               ("fractal", 36, {"used": 4, "available": 4}, 0))
        for one, other in (("busy", "busy"), ("balance", "balance"), ("idle_at_end", "idle_at_end"), ("mean_cycles", "cycles")):
            expect(one, round(kernel[one], 9), round(launch[other], 9))
    # Those that did most, by their events, took longest. Medians, since the emulator's clock goes on while another process has the core.
    events = [0] * 36
    for line in bench.run([bench.cairn, "dump", str(paths["1"]), "--launch", "0", "--jsonl"]).stdout.decode().splitlines()[1:]:
        events[json.loads(line)["warp"] // 8] += 1
    by_events = sorted(range(36), key=events.__getitem__)
    took = [block["end_cycle"] - block["begin_cycle"] for block in ask(paths["1"], "--launch", "0")["blocks"]]
    if not statistics.median(took[i] for i in by_events[-9:]) > 1.2 * statistics.median(took[i] for i in by_events[:9]):
        sys.exit(f"blocks with more events did not take longer: {events} {took}")
    # As a timeline: each block on a track of its multiprocessor, within the time for which the kernel ran.
    events = json.loads(bench.run([bench.cairn, "export", "--to", "chrome", str(paths["only"])]).stdout)["traceEvents"]
    names = {(event["pid"], event.get("tid")): event["args"]["name"] for event in events if event["ph"] == "M"}
    drawn = [event for event in events if event.get("cat") == "block"]
    expect("blocks drawn", sorted((event["args"]["block"], names[event["pid"], event["tid"]]) for event in drawn),
           [(i, f"multiprocessor {i % 4}") for i in range(36)])
    ran = json.loads(bench.run([bench.cairn, "gpu", "launches", str(paths["only"]), "--json"]).stdout)["launches"][0]
    first, last = min(event["ts"] for event in drawn), max(event["ts"] + event["dur"] for event in drawn)
    if abs(first - ran["begin_ns"] / 1e3) > 1 or abs(last - first - ran["duration_ns"] / 1e3) > 1:
        sys.exit(f"blocks from {first} to {last}, the kernel from {ran['begin_ns']} for {ran['duration_ns']}")
    some = bench.trace("fractal", words, "some", CAIRN_GPU_CLOCKS="1", CAIRN_GPU_BLOCKS="5-8", CAIRN_GPU_WARPS="3")[1]
    expect("some blocks", [block["block"] for block in ask(some, "--launch", "0")["blocks"]], [5, 6, 7, 8])
    text = bench.run([bench.cairn, "gpu", "blocks", str(paths["only"]), "--launch", "0", "--limit", "2"]).stdout.decode().splitlines()
    expect("lines", (len(text), text[0].startswith("launch 0, fractal: "), "4 of 4 multiprocessors had a block" in text[0]), (4, True, True))
    for question in "divergence", "source", "loops", "folded", "coverage", "accesses", "values":
        done = bench.run([bench.cairn, "gpu", question, str(paths["only"])])
        expect(f"{question} without events", (done.stdout, done.stderr), (b"", b"cairn: this trace has the clocks of warps and no "
               b"events, as CAIRN_GPU_CLOCKS=only asks for; see cairn gpu blocks\n"))
    none = bench.trace("fractal", ["32", "64"], "no-clocks")[1]
    expect("none", bench.run([bench.cairn, "gpu", "blocks", str(none)]).stderr, b"cairn: this trace has no clocks of warps; run the program with "
           b"CAIRN_GPU_CLOCKS=1, or with =only where that is all that is wanted\n")
    beyond = bench.run([bench.cairn, "gpu", "blocks", str(none), "--launch", "7"], check=False)
    expect("no such launch", (beyond.returncode, b"there is no launch 7: the trace has 1 launch" in beyond.stderr), (2, True))
    wrong = bench.run([str(bench.examples / "fractal"), "32", "64"], CAIRN_GPU_CLOCKS="yes", CAIRN_GPU_OUTPUT="yes.cairn").stderr
    expect("a wrong word for clocks", wrong, b"cairn: CAIRN_GPU_CLOCKS=yes is not understood; write it as in CAIRN_GPU_CLOCKS=1\n")


def ask_accesses(bench, path):
    return json.loads(bench.run([bench.cairn, "gpu", "accesses", str(path), "--json"]).stdout)["accesses"]


def second_reader(bench):
    """docs/format.md is true if somebody who read only that reads the same events: every coder, rings, split warps, all kinds of points."""
    paths = [bench.trace(name, words, f"read-{number}", **environment)[1] for number, (name, words, environment) in enumerate((
        ("fractal", ["32", "64"], {}), ("fractal_raw", ["32", "64"], {}),
        ("mis", ["road:20"], {}), ("mis_raw", ["road:20"], {}), ("reduce", ["3000"], {"CAIRN_EMULATOR_DEVICES": "2"}),
        ("nbody", ["100", "1"], {}), ("mst", ["rmat:5:4"], {"CAIRN_EMULATOR_SCHEDULE": "random:3"}), ("refine", ["12", "3"], {}),
        ("refine", ["12", "3"], {"CAIRN_GPU_POLICY": "ring", "CAIRN_GPU_RING": "2x64"}), ("spmv", ["road:30"], {}),
        ("spmv", ["power:300:4"], {"CAIRN_EMULATOR_SCHEDULE": "random:5"}), ("spmv_raw", ["road:10"], {}),
        ("transpose_accesses", ["32"], {}), ("refine_accesses", ["12", "2"], {}),
        ("mst", ["rmat:6:4"], {"CAIRN_GPU_CLOCKS": "1", "CAIRN_EMULATOR_PROCESSORS": "3"}),
        ("nbody", ["100", "1"], {"CAIRN_GPU_CLOCKS": "only", "CAIRN_EMULATOR_PROCESSORS": "2"})))]
    done = bench.run([sys.executable, str(SECOND_READER), bench.cairn, *map(str, paths)], check=False)
    if done.returncode != 0 or len(done.stdout.splitlines()) != len(paths):
        sys.exit(f"the second reader:\n{done.stdout.decode()}{done.stderr.decode()}")


def golden(bench):
    """A trace of version 1 of the format, made by refine with the words 6 2: it must be read the same for ever."""
    path = pathlib.Path(__file__).resolve().parent / "testdata" / "v1-gpu.cairn"
    expect("coverage of v1-gpu", bench.run([bench.cairn, "gpu", "coverage", str(path), "--json"]).stdout,
           path.with_suffix(".json").read_bytes())
    expect("SHA-256 of v1-gpu --raw5", hashlib.sha256(bench.raw5(path)).hexdigest(),
           "536d45786a66c12a17acd74e9bdb969397dfaccc2e15d590b8fa5e22409dc78c")
    bench.run([sys.executable, str(SECOND_READER), bench.cairn, str(path)])
    # It has no calls, so none whose time is missing.
    expect("stderr of dump", bench.run([bench.cairn, "dump", str(path)]).stderr, b"")


def several_files(bench):
    """Device code of two files has one table of points, and each can launch the other's kernels."""
    out, path = bench.trace("two_files", [], "files")
    expect("result", out, b"1752\n")
    points = json.loads(bench.run([bench.cairn, "gpu", "coverage", str(path), "--json"]).stdout)["points"]
    seen = {(pathlib.Path(point["file"]).name[10:], point["function"], point["kind"]): point["visits"] for point in points}
    expect("numbers", len({(point["program"], point["location"]) for point in points}), len(points))
    expect("points", {key: visits for key, visits in seen.items() if key[2] == "entry"},
           {("main.cu", "twice", "entry"): 2, ("main.cu", "steps_of", "entry"): 2, ("part.cu", "collatz", "entry"): 2,
            ("part.cu", "sum", "entry"): 2})
    loops = seen[("part.cu", "collatz", "loop")]
    if loops < 111 + 112:  # the longest ways of 27 and of 54
        sys.exit(f"collatz went {loops} times around")


def launches_of(bench, path):
    """Of each its kernel, device and stream."""
    timeline = json.loads(bench.run([bench.cairn, "export", "--to", "chrome", str(path), "--no-points"]).stdout)["traceEvents"]
    names = [event["args"]["name"] for event in timeline if event.get("name") == "process_name"]
    return [(re.search(r" (\w+)[<,]", name)[1], re.search(r"device (\d+), stream (\d+)", name).groups()) for name in names]


def streams_and_devices(bench):
    """Launches that take turns on two streams of two devices: each says where it ran, and equal ones are equal."""
    path = bench.trace("reduce", ["3000"], "devices", CAIRN_EMULATOR_DEVICES="2")[1]
    where = [(kernel, (str(device), str(2 * device + stream))) for device in (0, 1)
             for kernel, stream in (("halving", 1), ("halving", 2), ("tiles", 2), ("whole_grid", 1))]
    expect("launches", launches_of(bench, path), where)
    # `tiles` has too many warps for so little memory: its launches are not traced, and say where they ran all the same.
    little = bench.folder / "little.cairn"
    bench.run([str(bench.examples / "reduce"), "3000"], CAIRN_EMULATOR_DEVICES="2", CAIRN_GPU_MEMORY="64K", CAIRN_GPU_OUTPUT=str(little))
    expect("untraced", json.loads(bench.run([bench.cairn, "info", str(little), "--json"]).stdout)["gpu"]["untraced"], 2)
    expect("launches in little memory", sorted(launches_of(bench, little)), sorted(where))
    calm = bench.trace("reduce", ["3000"], "calm")[1]
    done = bench.run([bench.cairn, "diff", str(calm), str(path)], check=False)
    expect("one device and two", (done.returncode, [line for line in done.stdout.decode().splitlines() if "differ" in line or "only" in line]),
           (1, [f"launch {number} {kernel}: only in {path}" for number, kernel in ((4, "halving"), (5, "halving"), (6, "tiles"), (7, "whole_grid"))]
            + ["4 of 8 launches and 0 of 144 warps: differ"]))
    done = bench.run([bench.cairn, "diff", str(calm), str(bench.trace("reduce", ["3001"], "more")[1])], check=False)
    expect("a number more", done.returncode, 1)


def settings(bench):
    """What the environment asks for, and what is lost is told."""
    words = ["300", "1"]
    whole = bench.sizes(bench.trace("nbody", words, "whole")[1])
    one = bench.trace("nbody", words, "one", CAIRN_GPU_KERNELS="move")[1]
    expect("kernels", json.loads(bench.run([bench.cairn, "info", str(one), "--json"]).stdout)["gpu"]["launches"], 1)
    few = bench.sizes(bench.trace("nbody", words, "few", CAIRN_GPU_WARPS="5")[1])
    if not 0 < few["warps"] < whole["warps"] / 3:
        sys.exit(f"one warp in 5: {few['warps']} of {whole['warps']}")
    expect("blocks", bench.sizes(bench.trace("nbody", words, "block", CAIRN_GPU_BLOCKS="1")[1])["warps"], 16)
    ring = bench.trace("refine", ["24", "3"], "ring", CAIRN_GPU_POLICY="ring", CAIRN_GPU_RING="2x64")[1]
    bench.run([bench.cairn, "verify", str(ring)])
    lost = json.loads(bench.run([bench.cairn, "info", str(ring), "--json"]).stdout)["gpu"]
    all_events = bench.sizes(bench.trace("refine", ["24", "3"], "all")[1])["events"]
    expect("events kept and lost in a ring", lost["events"] + lost["lost"], all_events)
    # Launches that wait for each other's memory record what they do with plenty; one that can never have enough says so.
    plenty, waited = (bench.trace("mst", ["rmat:8:6"], f"memory{memory}", CAIRN_GPU_MEMORY=memory)[1] for memory in ("256M", "64K"))
    expect("events in little memory", bench.raw5(waited) == bench.raw5(plenty), True)
    none = bench.folder / "none.cairn"
    done = bench.run([str(bench.examples / "fractal"), "64", "256"], CAIRN_GPU_MEMORY="64K", CAIRN_GPU_OUTPUT=str(none))
    expect("output untraced", done.stdout, bench.run([str(bench.examples / "fractal_plain"), "64", "256"]).stdout)
    expect("said", done.stderr.decode(), "cairn: some kernels are not traced: they need more of the device's memory than they may have: give more with "
           "CAIRN_GPU_MEMORY, or trace one warp in 4 with CAIRN_GPU_WARPS=4\n")
    gpu = json.loads(bench.run([bench.cairn, "info", str(none), "--json"]).stdout)["gpu"]
    expect("untraced", (gpu["launches"], gpu["untraced"], gpu["warps"]), (1, 1, 0))
    expect("note", bench.run([bench.cairn, "info", str(none)]).stdout.decode().splitlines()[-1].split(maxsplit=1)[1],
           "1 launch of GPU kernels not traced: give CAIRN_GPU_MEMORY more")
    none.unlink()
    # Through 64 KiB of the host comes what needs some megabytes of the device.
    plain, drained = (bench.trace("refine", ["24", "6"], policy, CAIRN_GPU_POLICY=policy, CAIRN_GPU_MEMORY=memory)[1]
                      for policy, memory in (("stop", "256M"), ("drain", "64K")))
    expect("what was lost", json.loads(bench.run([bench.cairn, "info", str(drained), "--json"]).stdout)["gpu"]["lost"], 0)
    expect("drained events", bench.raw5(drained) == bench.raw5(plain), True)
    expect("no trace", bench.run([str(bench.examples / "nbody"), *words], CAIRN_GPU="off").stderr, b"")
    wrong = bench.run([str(bench.examples / "nbody"), *words], CAIRN_GPU_POLICY="heap", CAIRN_GPU_OUTPUT="heap.cairn").stderr
    expect("a wrong word", wrong.decode().splitlines()[0],
           "cairn: CAIRN_GPU_POLICY=heap is not understood; write it as in CAIRN_GPU_POLICY=ring")
    missing = bench.run([str(bench.examples / "nbody"), *words], CAIRN_GPU_LIBRARY="/nowhere.so", CAIRN_GPU_OUTPUT="none.cairn")
    if (bench.folder / "none.cairn").exists() and b"was not found" in missing.stderr:
        sys.exit("a trace without the library")
    # Programs that were compiled with older headers go on; what is newer than the library is refused.
    asked = bench.run([sys.executable, "-c", "import ctypes, sys; library = ctypes.CDLL(sys.argv[1])\nprint(*map(library.cairn_gpu_open, (1, 2, 99)))",
                       bench.library])
    expect("versions", (asked.stdout, asked.stderr.count(b"newer version of Cairn")), (b"0 0 -1\n", 1))
    recorded = bench.folder / "recorded.cairn"
    bench.run([bench.cairn, "record", "-o", str(recorded), "--", str(bench.examples / "nbody"), *words])
    expect("events under cairn record", bench.sizes(recorded)["events"], whole["events"])


def largest(bench):
    """The thesis's N-Body input: stored, it took 1,306 bytes for each warp there."""
    out, path = bench.trace("nbody", ["50000", "2"], "largest")
    sizes = json.loads(bench.run([bench.cairn, "info", str(path), "--json"]).stdout)
    print(out.decode().strip(), sizes["gpu"], path.stat().st_size)
    expect("warps", sizes["gpu"]["warps"], 6272)
    expect("events", (sizes["gpu"]["events"], sizes["gpu"]["lost"]), (156309410, 0))
    if path.stat().st_size >= 2000:
        sys.exit(f"the trace has {path.stat().st_size} bytes")


def table(bench, more):
    print("| program | events | raw | thesis | predict | thesis / predict | trace | gzip -9 | bzip2 -9 | xz -6 |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, *words in LARGE + more:
        s = measured(bench, name, words)
        shown = " ".join(pathlib.Path(word).name for word in words)
        print(f"| {name} {shown} | {s['events']:,} | {s['plain']:,} | {s['thesis']:,} | {s['coded']['predict']:,} | "
              f"{s['thesis'] / s['coded']['predict']:.2f} | **{s['file']:,}** | {s['gzip']:,} | {s['bzip2']:,} | {s['xz']:,} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--examples", required=True, type=pathlib.Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--largest", action="store_true", help="50,000 bodies: takes minutes")
    parser.add_argument("--large", action="append", default=[], help='one more line of the table: "mis graph.egr"')
    arguments = parser.parse_args()
    arguments.examples = arguments.examples.resolve()
    with tempfile.TemporaryDirectory(prefix="cairn-gpu-") as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        if arguments.table:
            table(bench, [tuple(line.split()) for line in arguments.large])
        elif arguments.largest:
            largest(bench)
        else:
            quick(bench)
            print("compiled for the emulator only; no GPU was used")


main()
