#!/usr/bin/env python3
"""Lets things happen to a program under the emulator that a GPU may do to any, traced and not: it must say and give the same, and
the trace must say what is missing.

faults_test.py --cairn CAIRN --library libcairn-gpu.so --programs FOLDER
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

SECOND_READER = pathlib.Path(__file__).resolve().parents[2] / "trace" / "testing" / "read_gpu.py"
SAID = "cairn: some kernels are not traced: "


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}:\n{got!r}, not\n{wanted!r}")


class Bench:
    def __init__(self, arguments, folder):
        self.cairn, self.library, self.programs, self.folder = arguments.cairn, arguments.library, arguments.programs, folder

    def run(self, *words, **environment):
        return subprocess.run(words, cwd=self.folder, env={**os.environ, "CAIRN_GPU_LIBRARY": self.library, "CAIRN_QUIET": "1", **environment},
                              capture_output=True, text=True, timeout=100)

    def both(self, what, said="", **environment):
        """The trace and the output of a traced run that went as one untraced goes."""
        path = self.folder / f"{what}-{len(environment)}.cairn"
        path.unlink(missing_ok=True)
        plain = self.run(str(self.programs / "faults_plain"), what, **{name: value for name, value in environment.items() if "GPU" not in name})
        traced = self.run(str(self.programs / "faults"), what, CAIRN_GPU_OUTPUT=str(path), **environment)
        expect(f"output of {what}", traced.stdout, plain.stdout)
        expect(f"exit code of {what}", (traced.returncode, plain.returncode), (0, 0))
        expect(f"stderr of {what}", (traced.stderr, plain.stderr), (said, ""))
        for verb in ("verify", "dump"):
            done = self.run(self.cairn, verb, str(path))
            expect(f"{verb} of {what}", (done.returncode, done.stderr), (0, ""))
        reader = self.run(sys.executable, str(SECOND_READER), self.cairn, str(path))
        expect(f"the second reader of {what}", (reader.returncode, reader.stderr), (0, ""))
        return path, plain.stdout

    def info(self, path):
        """What `info` has of the GPU, and its notes."""
        gpu = json.loads(self.run(self.cairn, "info", str(path), "--json").stdout)["gpu"]
        notes = [line.split(maxsplit=1)[1] for line in self.run(self.cairn, "info", str(path)).stdout.splitlines() if line.startswith("note ")]
        return gpu, notes


def reset(bench):
    for devices in "1", "3":
        path, _ = bench.both("reset", CAIRN_EMULATOR_DEVICES=devices)
        gpu, notes = bench.info(path)
        launches = 9 + int(devices) + 1
        expect("launches", (gpu["launches"], gpu["untraced"], gpu["untraced_because"], gpu["lost"], notes), (launches, 0, {}, 0, []))
    for policy in "ring", "drain":
        path, _ = bench.both("reset", CAIRN_GPU_POLICY=policy, CAIRN_EMULATOR_DEVICES="2")
        gpu, _ = bench.info(path)
        expect(f"launches, {policy}", (gpu["launches"], gpu["untraced"], gpu["lost"]), (12, 0, 0))


def trap(bench):
    path, out = bench.both("trap", SAID + "their device failed, and what was traced and not fetched yet is lost\n")
    if out.count("cudaErrorLaunchFailure") != 3:
        sys.exit(f"the device did not fail:\n{out}")
    gpu, notes = bench.info(path)
    lost = gpu["untraced"]
    if lost not in (2, 3):  # the one before may not have been fetched yet
        sys.exit(f"{lost} of the launches until the reset are not traced")
    expect("launches", (gpu["launches"], gpu["untraced_because"]), (4, {"failed": lost}))
    expect("note", notes, [f"{lost} launches of GPU kernels not traced: their device failed, or was reset, before their trace was fetched"])
    last = json.loads(bench.run(bench.cairn, "gpu", "coverage", str(path), "--json").stdout)["points"]
    expect("the launch after the reset", {point["function"] for point in last if point["visits"] != 0}, {"count"})


def memory(bench):
    """The program gets all the memory that it gets untraced; while there is too little, launches are not traced, and afterwards again."""
    for more in ({"CAIRN_EMULATOR_MEMORY": "8M", "CAIRN_GPU_MEMORY": "4M"}, {"CAIRN_EMULATOR_MEMORY": "64M"},
                 {"CAIRN_EMULATOR_MEMORY": "64M", "CAIRN_GPU_POLICY": "drain"}):
        path, out = bench.both("memory", SAID + "the device has no memory for it; give less with CAIRN_GPU_MEMORY\n", **more)
        pieces = int(more["CAIRN_EMULATOR_MEMORY"][:-1]) - 1
        expect("pieces of 1 MiB", f"\n{pieces} pieces\n" in out, True)
        gpu, notes = bench.info(path)
        untraced = gpu["untraced"]
        if gpu["launches"] != 6 or not 1 <= untraced <= 4:
            sys.exit(f"of {gpu['launches']} launches {untraced} were not traced")
        expect("why", gpu["untraced_because"], {"memory": untraced})
        expect("note", notes[0].endswith("of GPU kernels not traced: give CAIRN_GPU_MEMORY more") or notes, True)


def graph(bench):
    path, _ = bench.both("graph", SAID + "they are captured into graphs\n")
    gpu, notes = bench.info(path)
    expect("launches", (gpu["launches"], gpu["untraced_because"]), (3, {"graph": 1}))
    expect("note", notes, ["1 launch of GPU kernels not traced: they were captured into graphs, and ran whenever these were launched"])
    path, _ = bench.both("threads", SAID + "they are captured into graphs\n")
    gpu, _ = bench.info(path)
    expect("launches beside a capture", (gpu["launches"], gpu["untraced_because"]), (61, {"graph": 1}))


def full(bench):
    """A buffer that is full keeps the beginning of each warp, or its end, and counts the rest."""
    path, _ = bench.both("full", CAIRN_GPU_MEMORY="64M")
    whole, notes = bench.info(path)
    expect("all is there", (whole["lost"], notes), (0, []))
    for settings in {"CAIRN_GPU_MEMORY": "64K"}, {"CAIRN_GPU_POLICY": "ring", "CAIRN_GPU_RING": "2x64"}:
        path, _ = bench.both("full", **settings)
        some, notes = bench.info(path)
        if some["lost"] == 0 or some["events"] == 0 or some["events"] + some["lost"] != whole["events"]:
            sys.exit(f"{settings}: of {whole['events']} events {some['events']} were kept and {some['lost']} lost")
        expect("notes", notes, [f"{some['lost']:,} events of GPU warps not kept: give CAIRN_GPU_MEMORY more"])


def killed(bench):
    """A process that is killed in a launch dies of that, and leaves nothing half written."""
    folder = bench.folder / "killed"
    folder.mkdir()
    for program in "faults_plain", "faults":
        process = subprocess.Popen([str(bench.programs / program), "wait"], cwd=folder, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "CAIRN_GPU_LIBRARY": bench.library, "CAIRN_QUIET": "1"})
        while process.stdout.readline() not in ("waits\n", ""):
            pass
        process.kill()
        expect(f"{program} killed", (process.stdout.read(), process.wait()), ("", -signal.SIGKILL))
    expect("files", list(folder.iterdir()), [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.programs = arguments.programs.resolve()
    with tempfile.TemporaryDirectory(prefix="cairn-gpu-") as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        for each in (reset, trap, memory, graph, full, killed):
            each(bench)
    print("compiled for the emulator only; no GPU was used")


main()
