#!/usr/bin/env python3
"""Lets things happen to a program under the emulator that a GPU may do to any, traced and not: it must say and give the same, and
the trace must say what is missing.

faults_test.py --cairn CAIRN --library libcairn-gpu.so --programs FOLDER
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

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

    def both(self, what, said="", program="faults", **environment):
        """The trace and the output of a traced run that went as one untraced goes."""
        path = self.folder / f"{what}-{len(environment)}.cairn"
        path.unlink(missing_ok=True)
        plain = self.run(str(self.programs / f"{program}_plain"), what, **{name: value for name, value in environment.items() if "GPU" not in name})
        traced = self.run(str(self.programs / program), what, CAIRN_GPU_OUTPUT=str(path), **environment)
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


def names(bench):
    """However a call that asks for memory or resets the device is named, it is ours."""
    path, out = bench.both("names", program="names", CAIRN_EMULATOR_MEMORY="64M")
    gpu, notes = bench.info(path)
    expect("names", (out, gpu["launches"], gpu["untraced"], notes), ("", 1, 0, []))


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


KILLED = "a process that launched GPU kernels was killed, or ended at once, with {} in flight"


class Waiting:
    """A program that has launched kernels which have ended, and perhaps one that does not."""

    def __init__(self, bench, folder, *before, program="faults"):
        folder.mkdir()
        self.bench, self.folder = bench, folder
        self.process = subprocess.Popen([*before, str(bench.programs / program), "wait"], cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, "CAIRN_GPU_LIBRARY": bench.library, "CAIRN_QUIET": "1"})
        self.out = "".join(iter(self.process.stdout.readline, "waits\n"))

    def left(self):
        return sorted(path for path in self.folder.rglob("*.gpu"))

    def until(self, launches, in_flight):
        """Waits until all that there is to keep is kept: what has ended is fetched by a thread."""
        copy = self.folder.parent / "copy.gpu"
        for _ in range(2000):
            if self.left():
                shutil.copyfile(self.left()[0], copy)
                self.bench.run(self.bench.cairn, "merge", "-f", "-o", "copy.cairn", str(copy))
                gpu, _ = self.bench.info(self.bench.folder / "copy.cairn")
                if (gpu["launches"], gpu["untraced"]) == (launches, in_flight):
                    return
            time.sleep(0.05)
        sys.exit(f"{launches} launches, of them {in_flight} in flight, were never kept")

    def launch_and_kill(self, pid):
        """What it wrote to stderr, and how it ended."""
        self.until(3, 0)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.until(4, 1)
        os.kill(pid, signal.SIGKILL)
        _, error = self.process.communicate(timeout=100)
        return error, self.process.returncode


def merged(bench, what, path, said, code=0):
    trace = bench.folder / f"{what}.cairn"
    done = bench.run(bench.cairn, "merge", "-q", "-o", str(trace), str(path))
    expect(f"merge of {what}", (done.returncode, done.stderr), (code, "".join(f"cairn: {line}\n" for line in said)))
    return trace


def events_of(bench, trace, launches):
    return [bench.run(bench.cairn, "dump", "--json", "--launch", str(launch), str(trace)).stdout for launch in range(launches)]


def is_whole(bench, trace, launches, in_flight, unkilled):
    """Those that had ended are as in a process that was not killed; the others are told."""
    gpu, notes = bench.info(trace)
    expect("launches", (gpu["launches"], gpu["untraced_because"], gpu["lost"]), (launches, {"killed": in_flight} if in_flight else {}, 0))
    expect("notes", notes, in_flight * ["1 launch of GPU kernels not traced: they were in flight when their process was killed, or ended"])
    ended = launches - in_flight
    expect("events", events_of(bench, trace, ended), events_of(bench, unkilled, ended))
    expect("verify", bench.run(bench.cairn, "verify", str(trace)).returncode, 0)
    reader = bench.run(sys.executable, str(SECOND_READER), bench.cairn, str(trace))
    expect("the second reader", (reader.returncode, reader.stderr), (0, ""))


def killed(bench):
    """A process that is killed in a launch dies of that; what its launches that had ended did is there, and which had not."""
    unkilled, out = bench.both("some")
    plain = Waiting(bench, bench.folder / "plain", program="faults_plain")
    plain.process.kill()
    plain.process.communicate()
    expect("untraced", (plain.out, plain.process.returncode, list(plain.folder.iterdir())), (out, -signal.SIGKILL, []))
    waiting = Waiting(bench, bench.folder / "killed")
    expect("output", waiting.out, out)
    refused = bench.run(bench.cairn, "merge", str(waiting.left()[0]))
    expect("merge of what runs", (refused.returncode, "a process is still recording" in refused.stderr), (4, True))
    expect("killed", waiting.launch_and_kill(waiting.process.pid), ("", -signal.SIGKILL))
    left = waiting.left()
    expect("files", (list(waiting.folder.iterdir()), left[0].name.startswith("faults.")), (left, True))
    is_whole(bench, merged(bench, "killed-whole", left[0], [KILLED.format("1 launch")]), 4, 1, unkilled)
    whole = left[0].read_bytes()
    cut = bench.folder / "cut.gpu"
    cut.write_bytes(whole[:-1])
    lost = "1 GPU launch is not in the trace: there was no room to write them"
    is_whole(bench, merged(bench, "killed-cut", cut, [KILLED.format("none"), lost]), 3, 0, unkilled)
    damaged = bench.folder / "damaged.gpu"
    damaged.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    trace = bench.folder / "killed-damaged.cairn"
    done = bench.run(bench.cairn, "merge", "-q", "-o", str(trace), str(damaged))
    expect("merge of what is damaged", (done.returncode, "the GPU trace of a process is damaged" in done.stderr), (3, True))
    is_whole(bench, trace, 3, 0, unkilled)
    foreign = bench.folder / "foreign.gpu"
    foreign.write_text("a letter")
    expect("merge of a letter", bench.run(bench.cairn, "merge", str(foreign)).returncode, 3)
    expect("a letter", foreign.read_text(), "a letter")


def killed_under_record(bench):
    unkilled, _ = bench.both("some")
    folder = bench.folder / "recorded"
    waiting = Waiting(bench, folder, bench.cairn, "record", "-q", "-o", "run.cairn", "--")
    while len(children := child_of(waiting.process.pid)) != 1:
        time.sleep(0.05)
    error, code = waiting.launch_and_kill(children[0])
    expect("record", (error, code), (f"cairn: {KILLED.format('1 launch')}\n", 128 + signal.SIGKILL))
    expect("files", [path.name for path in folder.iterdir()], ["run.cairn"])
    is_whole(bench, folder / "run.cairn", 4, 1, unkilled)
    status = json.loads(bench.run(bench.cairn, "info", "--json", str(folder / "run.cairn")).stdout)["status"]
    expect("status", status, "incomplete")
    # One that was killed when its file was there and nothing in it yet; a letter that is called so stays.
    script = ': > "$CAIRN_SPOOL/h.17.1.gpu"; exec "$0" some'
    done = bench.run(bench.cairn, "record", "-q", "-o", "empty.cairn", "--", "sh", "-c", script, str(bench.programs / "faults"))
    expect("beside an empty file", (done.returncode, done.stderr, (bench.folder / "empty.cairn.spool").exists()), (0, "", False))
    is_whole(bench, bench.folder / "empty.cairn", 3, 0, unkilled)
    script = 'echo a letter > "$CAIRN_SPOOL/h.17.1.gpu"; exec "$0" some'
    done = bench.run(bench.cairn, "record", "-q", "-o", "letter.cairn", "--", "sh", "-c", script, str(bench.programs / "faults"))
    letters = [path.read_text() for path in (bench.folder / "letter.cairn.spool").rglob("h.17.1.gpu")]
    expect("beside a letter", (done.returncode, letters), (0, ["a letter\n"]))


def child_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def no_room(bench):
    """Where there is no room the program goes on, and it is told how many launches are lost; where there is some at the end, none."""
    plain = bench.run(str(bench.programs / "faults_plain"), "many").stdout
    limits = ["prlimit", "--fsize=2048"]
    done = bench.run(bench.cairn, "record", "-q", "-o", "no-room.cairn", "--", *limits, str(bench.programs / "faults"), "many")
    gpu, _ = bench.info(bench.folder / "no-room.cairn")
    expect("output", (done.stdout, done.returncode), (plain, 125))
    if not 1 < gpu["launches"] < 59:
        sys.exit(f"{gpu['launches']} of 60 launches are there")
    lines = done.stderr.splitlines()
    expect("lines", len(lines), 3)
    expect("begin", "File too large; for as long as that is so, GPU launches are lost if the process is killed" in lines[0], True)
    expect("end", lines[1].endswith(f"File too large; {60 - gpu['launches']} of its GPU launches are lost"), True)
    expect("record", lines[2], f"cairn: {60 - gpu['launches']} GPU launches are not in the trace: there was no room to write them")
    # A disk that is full: the trace lies on another one.
    full = bench.folder / "full"
    full.mkdir()
    script = 'mount -t tmpfs -o size=4k none full && CAIRN_SPOOL=$PWD/full "$@"'
    done = bench.run("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(bench.programs / "faults"), "many")
    if "mount" in done.stderr or "unshare" in done.stderr:
        print("no disk could be made that is full")
        return
    expect("output on a full disk", (done.stdout, done.returncode), (plain, 0))
    expect("lines", ["No space left on device" in line for line in done.stderr.splitlines()[:2]], [True, True])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.programs = arguments.programs.resolve()
    with tempfile.TemporaryDirectory(prefix="cairn-gpu-") as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        for each in (reset, trap, memory, names, graph, full, killed, killed_under_record, no_room):
            each(bench)
    print("compiled for the emulator only; no GPU was used")


main()
