#!/usr/bin/env python3
"""Measures what programs cost that follow what completes first: bench/patterns' sweep, search and overlap, on 4 ranks.

  bench/completion.py [--build DIR]... [--pairs N] [--only WORD]... [--part N]

CPU is the user and system time of the whole job, untraced and recorded in turn; with --build several times each of these
builds records in turn, so that two versions are compared under one load. --part: an N-th of the steps. Prints a table:
medians, in brackets the least and the greatest ratio; bytes, classes and the merge are those of the last recording. Nothing
here passes or fails. Standard library only.
"""

import argparse
import resource
import shutil
import statistics
import subprocess
import time

from run import ROOT, Bench, talk

RANKS = 4
CASES = (("sweep", "1000", "1"), ("sweep", "1000", "20"), ("search", "400", "256"), ("overlap", "10000", "4"))


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(command, environment):
    cpu, wall = cpu_of_children(), time.monotonic()
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True, timeout=600)
    return cpu_of_children() - cpu, time.monotonic() - wall


def compare(benches, library, program, words, pairs):
    """A line for each build."""
    first = benches[0]
    environment = dict(first.environment)
    if library == "mpich":
        environment |= first.yielding()
    bare = [f"mpiexec.{library}", "-n", str(RANKS), first.program(f"patterns/{program}", library), *words]
    trace = first.work / "completion.cairn"
    rows = []
    told = {}
    for _ in range(pairs):
        row = [measured(bare, environment)]
        for bench in benches:
            row.append(measured([bench.cairn, "record", "-q", "--force", "-o", str(trace), "--", *bare], environment))
            told[bench.build] = bench.info(trace)
        rows.append(row)
    untraced = statistics.median(row[0][0] for row in rows)
    for k, bench in enumerate(benches, 1):
        ratios = sorted(row[k][0] / row[0][0] for row in rows)
        walls = statistics.median(row[k][1] / row[0][1] for row in rows)
        info = told[bench.build]
        merge = info.get("merge_cpu_seconds") or {}
        cells = [" ".join([program, *words]), library, bench.build.name, f"{info['calls'] / RANKS:,.0f}", f"{untraced:.2f}",
                 f"{statistics.median(row[k][0] for row in rows):.2f}",
                 f"**{statistics.median(ratios):.2f}** ({ratios[0]:.2f} to {ratios[-1]:.2f})", f"{walls:.2f}",
                 f"{info['bytes']['total']:,}", str(info["classes"]),
                 f"{1000 * merge.get('mean', 0):.1f} ({1000 * merge.get('maximum', 0):.1f})"]
        print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="append", default=[], help="build folder (default: build-release); may be repeated")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", action="append", default=[], help="a program or MPI; may be repeated")
    parser.add_argument("--part", type=int, default=1, help="an N-th of the steps")
    options = parser.parse_args()
    benches = [Bench(argparse.Namespace(quick=False, build=build)) for build in options.build or [str(ROOT / "build-release")]]
    print("| program | MPI | build | calls a rank | untraced, s | recorded, s | CPU ratio | wall ratio | bytes | classes "
          "| merge, ms a rank, mean (most) |")
    print("|---" * 11 + "|")
    try:
        for library in benches[0].libraries:
            for program, steps, *others in CASES:
                words = [str(int(steps) // options.part), *others]
                if options.only and not {program, library} & set(options.only):
                    continue
                talk(f"completion: {program} {' '.join(words)}, {library}")
                compare(benches, library, program, words, options.pairs)
    finally:
        for bench in benches:
            shutil.rmtree(bench.work, ignore_errors=True)


if __name__ == "__main__":
    main()
