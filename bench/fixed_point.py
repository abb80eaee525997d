#!/usr/bin/env python3
"""Holds replays, and proxy applications, against what they were made of, for a list of MPI programs.

  bench/fixed_point.py [--build DIR] --mpi mpich|openmpi [--proxy | --proxy-only] [--jobs N] [--out FILE] [--folder DIR]
                       [--inputs PATTERN] [--traces DIR] LIST

Each line of LIST is a program (in DIR), how many ranks it takes, and its arguments. It runs bare, then recorded, in an
empty folder with links to the files of DIR that match PATTERN (`*.dat`); then
its trace is replayed, which is recorded, and `cairn diff --replay` compares the two traces, and those of the jobs that it
spawned. With --proxy the same for a program made by `cairn proxy`: it is compiled without a warning, runs recorded, and is
compared. What comes of a line is one of: bare (it does not run, or not twice alike, without Cairn), record, refused (told
beforehand that it cannot be made again), replay, differs, equal; of proxies: refused, write, compile, run, differs, equal.
With --traces recordings are kept there, and a line whose recording is there already is not run and recorded again.

Prints a line for each program and the sums; FILE gets all of it as JSON. Nothing here passes or fails. Standard library.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src/mpi/tests"))
import surroundings  # noqa: E402


def run(command, folder, env, seconds):
    """Its status (None: it did not end) and what it said last."""
    process = subprocess.Popen([str(c) for c in command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said, _ = process.communicate(timeout=seconds)
        return process.returncode, said.decode(errors="replace")
    except subprocess.TimeoutExpired:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                pass
            try:
                process.communicate(timeout=3)
                break
            except subprocess.TimeoutExpired:
                pass
        return None, "no end"


class Bench:
    def __init__(self, options):
        self.options = options
        build = pathlib.Path(options.build).resolve()
        self.cairn = next(str(p) for p in (build / "bin/cairn", build / "src/cli/cairn") if p.exists())
        self.environment = surroundings.environment(build, options.mpi)
        self.environment.update(MPITEST_VERBOSE="0")
        self.mpiexec = shutil.which(f"mpiexec.{options.mpi}")
        self.mpicc = shutil.which(f"mpicc.{options.mpi}")

    def line(self, words):
        program, ranks, arguments = words[0], words[1], words[2:]
        top = pathlib.Path(tempfile.mkdtemp(prefix="cairn-fixed-"))
        found = {"program": program, "ranks": int(ranks), "arguments": arguments}
        try:
            env = dict(self.environment, OMPI_MCA_orte_tmpdir_base=str(top))
            self.judge(found, top, env, pathlib.Path(self.options.folder, program).resolve())
        finally:
            shutil.rmtree(top, ignore_errors=True)
        return found

    def judge(self, found, top, env, program):
        seconds = self.options.seconds
        command = [self.mpiexec, "-n", found["ranks"], program, *found["arguments"]]
        trace = top / "run.cairn"
        if self.options.traces:
            name = "-".join([found["program"].replace("/", "-"), str(found["ranks"]), *found["arguments"]])
            trace = pathlib.Path(self.options.traces).resolve() / (re.sub(r"[^\w.=-]", "_", name) + ".cairn")
        if not (self.options.traces and trace.exists()):
            failed, said = self.recorded(command, program, trace, top, env)
            if failed:
                return found.update(replay=failed, said=said[-300:])
        found["bytes"] = trace.stat().st_size
        if not self.options.proxy_only:
            again = top / "again.cairn"
            replay = [self.cairn, "replay", "--stall", "20", "--scratch", top, trace, "--", *command[:3]]
            found["replay"], found["said"] = self.hold(trace, again, replay, top, env)
        if self.options.proxy or self.options.proxy_only:
            found["proxy"], found["proxy_said"] = self.proxy(trace, top, env, command[:3], found)

    def recorded(self, command, program, trace, top, env):
        """What of it failed, and how; nothing: it is recorded."""
        bare, recorded = top / "bare", top / "recorded"
        for folder in (bare, recorded):
            folder.mkdir()
            (folder / program.name).symlink_to(program)  # what it may spawn
            for path in pathlib.Path(self.options.folder).resolve().glob(self.options.inputs) if self.options.inputs else ():
                (folder / path.name).symlink_to(path)
        status, said = run(command, bare, env, self.options.seconds)
        if status != 0:
            return "bare", said
        status, said = run([self.cairn, "record", "-q", "-o", trace, "--", *command], recorded, env, 3 * self.options.seconds)
        return ("", "") if status in (0, 125) and trace.exists() else ("record", said)

    def hold(self, trace, again, command, folder, env):
        status, said = run([self.cairn, "record", "-q", "-o", again, "--", *command], folder, env, 4 * self.options.seconds)
        if status == 2:
            return "refused", said[-400:]
        if status != 0 or not again.exists():
            return "replay", said[-800:]
        before, after = self.family(trace, folder, env), self.family(again, folder, env)
        if before.keys() != after.keys():
            return "differs", f"spawned jobs: {sorted(before)}, {sorted(after)}"
        for path, first in before.items():
            status, said = run([self.cairn, "diff", "--replay", "--limit", "4", first, after[path]], folder, env,
                               2 * self.options.seconds)
            if status != 0:
                return "differs", f"job {path}: " * bool(path) + said[-1500:]
        return "equal", ""

    def family(self, trace, folder, env):
        """The traces of a run and of the jobs that it spawned."""
        return surroundings.family(trace, lambda one: json.loads(run([self.cairn, "info", "--json", one], folder, env, 60)[1]))

    def proxy(self, trace, top, env, launch, found):
        folder = top / "proxy"
        status, said = run([self.cairn, "proxy", trace, "-o", folder], top, env, self.options.seconds)
        if status == 2:
            return "refused", said[-400:]
        if status != 0:
            return "write", said[-400:]
        found["source_bytes"] = sum(path.stat().st_size for path in folder.rglob("*.[ch]"))
        plain = {name: value for name, value in env.items() if name != "LD_PRELOAD"}
        status, said = run(["make", "-C", folder, f"MPICC={self.mpicc}", "CFLAGS=-O1 -Wall -Wextra -Werror"], top, plain,
                           10 * self.options.seconds)
        if status != 0:
            return "compile", said[-800:]
        ran, said = self.hold(trace, top / "proxy.cairn", [*launch, folder / "proxy"], top, env)
        return ("run" if ran == "replay" else ran), said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), required=True)
    parser.add_argument("--folder", default=".", help="where the programs are")
    parser.add_argument("--inputs", help="what programs read, as a pattern in that folder")
    parser.add_argument("--proxy", action="store_true", help="also by a proxy application")
    parser.add_argument("--proxy-only", action="store_true", help="by a proxy application, not by a replay")
    parser.add_argument("--traces", help="where recordings are kept, and taken from")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=30, help="limit of the bare run; more for the others")
    parser.add_argument("--out", help="all of it as JSON")
    parser.add_argument("list")
    options = parser.parse_args()
    bench = Bench(options)
    lines = [line.split() for line in pathlib.Path(options.list).read_text().splitlines() if line.strip()]
    all_found = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(bench.line, lines):
            all_found.append(found)
            print(found["program"], found["ranks"], *found["arguments"], found.get("replay", ""), found.get("proxy", ""), flush=True)
            if options.out:
                pathlib.Path(options.out).write_text(json.dumps(all_found, indent=1))
    for what in ("replay", "proxy"):
        sums = collections.Counter(found[what] for found in all_found if what in found)
        if sums:
            print(f"{what}:", ", ".join(f"{count} {name}" for name, count in sums.most_common()))


if __name__ == "__main__":
    main()
