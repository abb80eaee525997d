"""What `bench/run.py scale` runs: cairn-scale on a fixed list of programs and numbers of ranks, one process each, so that
one that runs out of time or memory leaves the others alone. Writes docs/scale.json and the table in docs/scale.md."""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

SMALL, MIDDLE, LARGE, WHOLE = 64, 4096, 65536, 1 << 20
# Name, ranks or grids, time steps. The last of a list is left out by --quick.
CASES = (
    ("stencil1d5", (SMALL, MIDDLE, LARGE, WHOLE), 100),
    ("stencil2d5", (SMALL, "61x67", MIDDLE, LARGE, "1000x1000", "997x1051", WHOLE), 100),
    ("stencil2d5-onetag", (SMALL, "61x67", MIDDLE, LARGE, "1000x1000", "997x1051", WHOLE), 100),
    ("stencil2d5-skip", (SMALL, MIDDLE, LARGE, WHOLE), 100),
    ("stencil2d9", (SMALL, MIDDLE, LARGE, WHOLE), 100),
    ("stencil2d9-onetag", (SMALL, MIDDLE, LARGE, WHOLE), 100),
    ("stencil3d7-periodic", (SMALL, MIDDLE, LARGE, "100x100x100", WHOLE), 100),
    ("stencil3d7-onetag-periodic", (SMALL, MIDDLE, LARGE, "100x100x100", WHOLE), 100),
    ("stencil3d27", (SMALL, "7x7x7", MIDDLE, LARGE), 100),
    ("stencil3d27-onetag", (SMALL, "7x7x7", MIDDLE, LARGE), 100),
    ("recursion", (SMALL, MIDDLE, LARGE), 100),
    ("cg", (SMALL, "61x67", MIDDLE, LARGE, WHOLE), 75),
    ("cg-skip-transpose", (SMALL, "61x67", MIDDLE, LARGE, WHOLE), 75),
    ("cg-skip-all", (SMALL, "61x67", MIDDLE, LARGE, WHOLE), 75),
    ("butterfly", (SMALL, 4087, MIDDLE, LARGE, WHOLE), 100),
    ("vcycle", (SMALL, "13x17x19", MIDDLE, LARGE, WHOLE), 20),
    ("vcycle-periodic", (SMALL, MIDDLE, LARGE, WHOLE), 20),
    ("bt", (SMALL, 1024, MIDDLE), 20),
    ("bt-onetag", (SMALL, 1024, MIDDLE, 16384), 20),
    ("sp", (SMALL, 256, 1024, MIDDLE), 20),
    ("wavefront", (SMALL, MIDDLE, LARGE, WHOLE), 50),
    ("gather-flat", (SMALL, MIDDLE, LARGE, WHOLE), 1),
    ("gather-binomial", (SMALL, 4087, MIDDLE, LARGE, WHOLE), 10),
    ("fdlf-tree", (SMALL, MIDDLE, LARGE, WHOLE), 10),
    ("fdlf", (128, 256, 512, MIDDLE), 10),
    ("collectives", (SMALL, MIDDLE, LARGE, WHOLE), 20),
    ("is", (SMALL, 256, 1024), 10),
    ("alltoallv", (SMALL, 256), 5),
    ("masterworker", (SMALL, 1024, MIDDLE), 10),
    ("amr", (SMALL, 1024, MIDDLE), 30),
    ("random", (SMALL, 256, 1024), 20),
)


def talk(text):
    print(text, file=sys.stderr, flush=True)


def find_program(build):
    program = build / "bench/scale/cairn-scale"
    if not program.exists():
        sys.exit(f"bench: no cairn-scale in {build}; build it with: cmake --preset bench && cmake --build build-release")
    return program


def one(program, pattern, where, steps, limit):
    size = ["--grid", where] if isinstance(where, str) else ["--ranks", str(where)]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.json"
        command = [str(program), "--pattern", pattern, *size, "--steps", str(steps), "--quiet", "--json", str(out)]
        try:
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"pattern": pattern, "where": str(where), "failed": f"not done after {limit} s"}
        if done.returncode != 0:
            why = done.stderr.strip() or f"exit status {done.returncode}"
            return {"pattern": pattern, "where": str(where), "failed": why}
        return json.loads(out.read_text())["runs"][0]


def cases(quick):
    for pattern, places, steps in CASES:
        for where in places[:-1] if quick else places:
            ranks = 1
            for side in str(where).split("x"):
                ranks *= int(side)
            if not quick or ranks <= MIDDLE:
                yield pattern, where, steps


def measure(build, quick, limit, only=()):
    program = find_program(pathlib.Path(build).resolve())
    runs = []
    for pattern, where, steps in cases(quick):
        if only and pattern not in only:
            continue
        talk(f"scale: {pattern}, {where}")
        runs.append(one(program, pattern, where, steps, limit))
        if "failed" in runs[-1]:
            talk(f"scale: {runs[-1]['failed']}")
    return runs


def time_text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns} ns"


def size_text(size):
    for unit, each in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= each:
            return f"{size / each:.3g} {unit}"
    return f"{size} B"


def table(runs):
    lines = [
        "| program | ranks | file, bytes | classes | rows of a rank | a merge, mean | a hop, mean | longest path | heap of a rank: "
        "least, mean, greatest | root |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        if "failed" in run:
            lines.append(f"| {run['pattern']} | {run['where']} | {run['failed']} | | | | | | | |")
            continue
        reduction, ranks = run["reduction"], run["ranks"]
        spent, merges = reduction["all_ranks_ns"], max(1, run["ranks"] - 1)
        heap, rows = reduction["rank_memory"], run["rows_of_a_rank"]
        grid = " × ".join(str(side) for side in run["grid"]) if len(run["grid"]) > 1 else ""
        cells = [
            run["pattern"],
            f"{ranks:,}" + (f" ({grid})" if grid else ""),
            f"{run['file']['bytes_without_timing_and_meta']:,}",
            f"{run['classes']:,}",
            f"{rows['least']}" if rows["least"] == rows["greatest"] else f"{rows['least']} to {rows['greatest']:,}",
            time_text(spent["merge"] / merges),
            time_text((spent["serialise"] + spent["parse"] + spent["merge"]) / merges),
            time_text(reduction["longest_path_ns"]),
            ", ".join(size_text(heap[key]) for key in ("least", "mean", "greatest")),
            size_text(heap["root"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write(result, out, page=None):
    """`result["scale"]` holds the runs. One run a line, so that changes can be compared."""
    runs = result.pop("scale")
    head = json.dumps(result, indent=2)[:-2]
    body = ",\n".join("    " + json.dumps(run, separators=(",", ":")) for run in runs)
    pathlib.Path(out).write_text(f'{head},\n  "scale": [\n{body}\n  ]\n}}\n')
    if page:
        text = pathlib.Path(page).read_text()
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        when = f"Measured on {result['date'][:10]}, commit {result['commit']}, {result['machine']['cpu']}."
        pathlib.Path(page).write_text(f"{before}{BEGIN}\n{when}\n\n{table(runs)}\n{END}{after}")
