#!/usr/bin/env python3
"""Measures how large traces are, and what recording costs, for well-known patterns and real programs.

  bench/compression.py [--build DIR] [--npb FOLDER] [--scalapack FOLDER] [--long] [--cost] [--only WORDS]
  bench/compression.py --overhead
  bench/compression.py --tables

Every case of compression_cases.py is recorded once, under MPICH: programs of bench/ and bench/patterns, NAS 3.4 binaries
(cg.S.x, …; with --npb), ScaLAPACK's testers (where Debian puts them; the slow one with --long). A size is the whole file
without times (sections `timing`, `clocks`, `sums`) and `meta`, call sites and sources included. --cost also measures, for
some cases on 4 ranks, CPU (user and system of the whole job, with the launcher, `cairn record` and the resolving of sources), traced and untraced
in alternating pairs, and reports the median of the ratios. --overhead measures only the time of the 3-D stencil against
ranks and steps.

Results are written into docs/compression.json, where a case replaces its earlier result and others stay, and into the
tables of docs/compression.md. --only measures the cases whose name (table/name/ranks/steps) or program holds a word;
--tables only writes the tables. Figures of different machines do not compare. Standard library only.
"""

import argparse
import glob
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import compression_cases as cases
import compression_tables as tables
from run import ROOT, Bench, commit, machine, talk

PAIRS = 5


class Failed(Exception):
    """A case that gave no result, and why."""


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Compression(Bench):
    """Runs the cases; a case that fails does not end the others."""

    def job(self, case, trace=None):
        """Runs a case, recorded if `trace` names a file: (CPU seconds of all its processes, wall seconds)."""
        program = case.program if os.path.isabs(case.program) else self.program(case.program, "mpich")
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        for name in case.inputs:
            shutil.copy(name, folder)
        command = ["mpiexec.mpich", "-n", str(case.ranks), program, *case.arguments]
        if trace:
            command = [self.cairn, "record", "--force", "-o", str(trace), "--", *command]
        cpu, wall = cpu_of_children(), time.monotonic()
        process = subprocess.Popen(command, cwd=folder, env={**self.environment, **self.yielding()}, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            said, _ = process.communicate(timeout=case.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failed(f"no end after {case.seconds} s") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if process.returncode != 0:
            raise Failed(f"exit status {process.returncode}")
        if case.success and not re.search(case.success, said, re.IGNORECASE):
            raise Failed("the program refuses this number of ranks")
        return cpu_of_children() - cpu, time.monotonic() - wall

    def measure(self, case, cost):
        row = {"table": case.table, "name": case.name, "ranks": case.ranks, "steps": case.steps,
               "command": " ".join([pathlib.Path(case.program).name, *case.arguments]), "pilgrim": case.pilgrim,
               "goal": case.goal, "note": case.note}
        trace = self.work / "case.cairn"
        try:
            _, seconds = self.job(case, trace)
            try:
                info = self.info(trace)
            except subprocess.CalledProcessError:
                raise Failed("the trace cannot be read") from None
            size = info["bytes"]
            row |= {key: info[key] for key in ("calls", "signatures", "classes", "peak_memory", "status")}
            time_and_meta = sum(size.get(name, 0) for name in ("timing", "clocks", "sums", "meta"))
            row |= {"bytes": size, "size": size["total"] - time_and_meta,
                    "seconds": round(seconds, 2), "merge_cpu_seconds": info.get("merge_cpu_seconds")}
            if cost and case.timed:
                row["cost"] = self.pairs(case) | {"commit": commit()}
        except Failed as failure:
            row["failed"] = str(failure)
        return row

    def pairs(self, case, pairs=PAIRS):
        """Traced and untraced runs in turn."""
        trace = self.work / "pair.cairn"
        measured = [(self.job(case), self.job(case, trace)) for _ in range(pairs)]
        ratios = [traced[0] / bare[0] for bare, traced in measured]
        return {
            "pairs": pairs,
            "untraced_cpu_seconds": round(statistics.median(bare[0] for bare, _ in measured), 3),
            "traced_cpu_seconds": round(statistics.median(traced[0] for _, traced in measured), 3),
            "cpu_ratio": round(statistics.median(ratios), 3),
            "cpu_ratio_least": round(min(ratios), 3),
            "cpu_ratio_greatest": round(max(ratios), 3),
            "wall_ratio": round(statistics.median(traced[1] / bare[1] for bare, traced in measured), 3),
        }

    def overhead(self):
        rows = []
        for axis, block, ranks, steps in cases.overhead():
            talk(f"overhead: block {block}, {ranks} ranks, {steps} steps")
            case = cases.Case("overhead", "", ranks, "patterns/stencil3d", (str(steps), str(block)), steps)
            rows.append({"axis": axis, "block": block, "ranks": ranks, "steps": steps} | self.pairs(case))
        return rows


def write_json(path, result):
    """A result a line, so that a change of one changes one."""
    lists = {name: ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in result[name])
             for name in ("rows", "overhead")}
    head = json.dumps({name: value for name, value in result.items() if name not in lists}, indent=1, ensure_ascii=False)
    body = ",\n".join(f' "{name}": [\n{text}\n ]' for name, text in lists.items())
    path.write_text(f"{head[:-2]},\n{body}\n}}\n")


def chosen(options):
    everything = [*cases.stencils(), *cases.patterns(), *cases.osu()]
    if options.npb:
        everything += cases.nas(options.npb)
    everything += [case for folder in options.scalapack for case in cases.scalapack(folder)]
    return [case for case in everything
            if (options.long or not case.long) and (not options.only or any(word in f"{case.key} {pathlib.Path(case.program).name}" for word in options.only))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build-release"), help="build folder (default: build-release)")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "docs/compression.json")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/compression.md")
    parser.add_argument("--npb", help="folder of NAS 3.4 MPI binaries: cg.S.x and so on")
    parser.add_argument("--scalapack", action="append", help="folder of xdsep and xdllt",
                        default=glob.glob("/usr/lib/*/scalapack/mpich-tests"))
    parser.add_argument("--long", action="store_true", help="also what takes minutes")
    parser.add_argument("--cost", action="store_true", help="also CPU, traced and untraced")
    parser.add_argument("--only", action="append", default=[], help="a word; may be repeated")
    parser.add_argument("--overhead", action="store_true", help="only time against ranks and steps")
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    parser.add_argument("--quick", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()

    result = {"schema": "cairn-compression-1", "rows": [], "overhead": []}
    if options.json.exists():
        result |= json.loads(options.json.read_text())
    if not options.tables:
        bench = Compression(options)
        measured = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "commit": commit()}
        result["machine"] = machine()
        try:
            if options.overhead:
                result["overhead"] = bench.overhead()
                result["overhead_measured"] = measured
            else:
                rows = {tables.key(row): row for row in result["rows"]}
                for case in chosen(options):
                    row = bench.measure(case, options.cost) | measured
                    talk(f"{case.key}: {row.get('failed') or row['size']}")
                    before = rows.get(case.key, {})
                    if "cost" in before and "cost" not in row:
                        row["cost"] = before["cost"]
                    rows[case.key] = row
                    # At once: a long series that is interrupted keeps what it has.
                    result |= {"rows": list(rows.values()), "measured": measured}
                    write_json(options.json, result)
        finally:
            shutil.rmtree(bench.work, ignore_errors=True)
        write_json(options.json, result)
    tables.write(options.page, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
