"""Runs `cairn` over made-up traces and compares output, error lines and exit codes exactly.

  cli_test.py --cairn CAIRN --make-traces PROGRAM --make-arrays PROGRAM --programs FOLDER [--update] [name ...]

Long outputs stand in expected/NAME.txt; --update writes them anew (read the diff before committing it).
"""

import argparse
import collections
import csv
import fcntl
import gzip
import http.client
import io
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from cases import CASES, Failure, case, expect  # noqa: E402

ROOT = HERE.parent.parent

class Bench:
    """A folder with the made-up traces in it, and `cairn` to be run there."""

    def __init__(self, arguments, folder):
        self.cairn = str(pathlib.Path(arguments.cairn).resolve())
        self.programs = pathlib.Path(arguments.programs).resolve()
        self.update = False
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "CAIRN_LIB": str(self.programs / "libno_recorder.so"),
        }

    def run(self, *words, environment=None, **options):
        return subprocess.run(
            [self.cairn, *words],
            cwd=self.folder,
            env={**self.environment, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            **options,
        )

    def at_terminal(self, *words, columns=80, lines=24, environment=None, program=None):
        """What stands on a terminal of that size, colours aside, once `cairn` has ended."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        child = subprocess.Popen([program or self.cairn, *words], cwd=self.folder, stdin=its, stdout=its, stderr=its,
                                 env={**self.environment, "TERM": "dumb", **(environment or {})}, start_new_session=True)
        os.close(its)
        text = b""
        try:
            while more := os.read(ours, 1 << 16):
                text += more
        except OSError:  # it has ended
            pass
        child.wait(timeout=60)
        os.close(ours)
        return text.decode().replace("\r\n", "\n")

    def check(self, *words, code=0, out="", err="", environment=None):
        """Runs and compares; `out` or `err` None: not looked at."""
        done = self.run(*words, environment=environment)
        shown = "cairn " + " ".join(words)
        if err is not None:
            expect(f"stderr of {shown}", done.stderr, err)
        if out is not None:
            expect(f"stdout of {shown}", done.stdout, out)
        expect(f"exit code of {shown}", done.returncode, code)
        return done

    def golden(self, name, *words, err="", code=0):
        done = self.check(*words, out=None, err=err, code=code)
        path = HERE / "expected" / f"{name}.txt"
        if self.update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(done.stdout)
        expect(f"stdout of cairn {' '.join(words)}", done.stdout, path.read_text())

    def offers(self, *words):
        """What is offered for the last word: {word: what it is}, or {":files": ""} and the like."""
        done = self.run("--complete", *words)
        expect(f"stderr and exit code for {words}", (done.stderr, done.returncode), ("", 0))
        return dict(line.partition("\t")[::2] for line in done.stdout.splitlines())

    def verbs(self, *of):
        """The verbs and their descriptions, as the program's table has them."""
        return self.offers(*of, "")

    def sees(self, pattern):
        return sorted(path.name for path in self.folder.glob(pattern))


MISSING_CALLS = "cairn: calls of rank 0 are not all in the trace, as cairn info tells\n"
NO_TIMES = (
    "cairn: no times: this trace has statistics only (cairn summary shows them); "
    "record with --timing context for each call's time\n"
)


# --- reading ---------------------------------------------------------------------------------------------------------


@case
def info_text(bench):
    bench.golden("info", "info", "ring.cairn")
    bench.golden("info_threads", "info", "threads.cairn")
    bench.golden("info_hung", "info", "hung.cairn")
    bench.golden("info_left", "info", "left.cairn")


@case
def repack_changes_the_timing_mode(bench):
    here = fresh(bench, "retime")
    here.check("repack", "--timing", "context", "--timing", "MPI_Wait*=exact", "../lossless.cairn", "-o", "new.cairn",
               err="cairn: new.cairn: context:rel=10%,MPI_Wait*=exact: times in 441 B instead of 788 B, a call's begin off "
                   "by 367 us at most\n")
    told = json.loads(here.check("info", "--json", "new.cairn", out=None).stdout)
    expect("timing", told["timing"], "context:rel=10%,MPI_Wait*=exact")
    exact = json.loads(here.check("info", "--json", "../lossless.cairn", out=None).stdout)
    expect("calls", told["times"]["calls"], exact["calls"])
    note = "cairn: gaps and durations are within 10% (MPI_Wait* exact) of what they were\n"
    of_begins = note.replace("were\n", "were, and begins off by 367 us at most\n")
    lines = here.check("dump", "--json", "new.cairn", out=None, err=of_begins).stdout.splitlines()
    before = here.check("dump", "--json", "../lossless.cairn", out=None).stdout.splitlines()
    expect("header", json.loads(lines[0])["timing"], "context:rel=10%,MPI_Wait*=exact")
    begins_off = json.loads(lines[0])["begins_off_ns"]
    expect("begins", begins_off, round(1e9 * told["times"]["clock_error_seconds"]))
    different = 0
    for new, old in zip(lines[1:], before[1:], strict=True):
        new, old = json.loads(new), json.loads(old)
        for what in ("duration_ns", "gap_ns"):
            off = abs(new[what] - old[what])
            if abs(new["begin_ns"] - old["begin_ns"]) > begins_off:
                raise Failure(f"begin {old['begin_ns']} is told as {new['begin_ns']}")
            if off > 0.1 * old[what] or (off and old["function"].startswith("MPI_Wait")):
                raise Failure(f"{what} {old[what]} is told as {new[what]}")
            different += off != 0
    text = here.check("dump", "new.cairn", "--rank", "0", "--limit", "1", out=None, err=of_begins).stdout
    expect("mark", (" ~0.00" in text, " +0.00" in text), (True, False))
    if not different:
        raise Failure("no duration is told within a bound")
    text = here.check("summary", "new.cairn", out=None).stdout
    expect("note", "\ntimes of calls are within 10% (MPI_Wait* exact) of what they were\n" in text, True)
    told = json.loads(here.check("summary", "--json", "new.cairn", out=None).stdout)
    expect("times", told["times_are"], "within 10% (MPI_Wait* exact)")
    expect("shares", sum(line["share_of_mpi"] or 0 for line in told["lines"]) <= 1.0000001, True)
    here.check("loops", "new.cairn", out=None, err=note)
    of_loops = json.loads(here.check("loops", "--json", "new.cairn", out=None, err=note).stdout)
    expect("times of loops", of_loops["times_are"], "within 10% (MPI_Wait* exact)")
    text = here.check("diff", "new.cairn", "../lossless.cairn", out=None).stdout
    expect("note of diff", text.splitlines()[-2],
           "times of calls in the first run are within 10% (MPI_Wait* exact) of what they were")
    text = here.check("diff", "new.cairn", "new.cairn", out=None).stdout
    expect("note of diff", text.splitlines()[-2], "times of calls are within 10% (MPI_Wait* exact) of what they were")
    told = json.loads(here.check("diff", "--json", "../lossless.cairn", "new.cairn", out=None).stdout)["mpi"]
    expect("times of diff", [told[run]["times_are"] for run in ("first", "second")],
           ["exact", "within 10% (MPI_Wait* exact)"])
    here.check("repack", "-q", "--timing", "stats", "new.cairn", "-o", "bounded_stats.cairn")
    told = json.loads(here.check("summary", "--json", "bounded_stats.cairn", out=None).stdout)
    expect("times of statistics", told["times_are"], "within 10% (MPI_Wait* exact)")
    here.check("loops", "bounded_stats.cairn", out=None,
               err="cairn: statistics are of times within 10% (MPI_Wait* exact) of what they were\n")
    here.check("repack", "--timing", "lossless", "new.cairn", "-o", "back.cairn", code=2,
               err="cairn: new.cairn: the times of this trace are within a bound already "
                   "(context:rel=10%,MPI_Wait*=exact); they can become stats or off; record with --timing lossless for "
                   "any other\n")
    here.check("repack", "-q", "--timing", "stats", "../lossless.cairn", "-o", "stats.cairn")
    of_times = json.loads(here.check("summary", "--json", "../lossless.cairn", out=None).stdout)
    of_stats = json.loads(here.check("summary", "--json", "stats.cairn", out=None).stdout)
    for line in of_times["lines"] + of_stats["lines"]:
        for estimate in ("median_seconds", "p95_seconds", "p99_seconds", "percentile_error", "imbalance", "least", "most",
                         "share_of_mpi"):
            line.pop(estimate, None)
    expect("lines", of_stats["lines"], of_times["lines"])
    here.check("repack", "-q", "--timing", "off", "../lossless.cairn", "-o", "off.cairn")
    here.check("dump", "--rank", "0", "--limit", "1", "off.cairn", out=None,
               err="cairn: no times of calls: this trace was recorded with --timing off\n")
    # What MPI_Init took is not known there: no time without it is held against one with it.
    told = here.check("diff", "off.cairn", "../lossless.cairn", out=None).stdout.splitlines()
    expect("the same time in MPI", [line for line in told if line.startswith("in MPI")][0].count("->"), 0)
    expect("with what", told[-3].split(":")[0], "in MPI, MPI_Init and MPI_Finalize")


@case
def bounds_are_given_by_call_site(bench):
    here = fresh(bench, "sites")
    before = [json.loads(line) for line in here.check("dump", "--json", "../lossless.cairn", out=None).stdout.splitlines()]
    sites = [call["site"] for call in before[1:] if call["function"] == "MPI_Isend"]
    place = f"{sites[0]['file']}:{sites[0]['line']}"
    done = here.check("repack", "-q", "--timing", "context:rel=50%", "--timing", f"{place}=exact", "--timing",
                      "nowhere.c:3=1%", "../lossless.cairn", "-o", "new.cairn",
                      err="cairn: --timing: no call site is called nowhere.c:3\n")
    expect("nothing more", done.stdout, "")
    after = [json.loads(line) for line in here.check("dump", "--json", "new.cairn", out=None, err=None).stdout.splitlines()]
    different = 0
    for new, old in zip(after[1:], before[1:], strict=True):
        if old.get("site") == sites[0]:
            expect("an exact duration", new["duration_ns"], old["duration_ns"])
        different += new["duration_ns"] != old["duration_ns"]
    if not different:
        raise Failure("no duration is told within a bound")
    for verb in ("exec", "env"):
        done = here.run(verb, "--timing", "a.c:1=1%", "--", "true")
        expect(f"stderr of {verb}", done.stderr.splitlines()[-1],
               "cairn: --timing context:rel=10%,a.c:1=1%: that is made once the run has ended; record with --timing lossless, "
               "then give it to cairn repack")


@case
def repack_corrects_clocks(bench):
    here = fresh(bench, "repack")
    here.check("repack", "../lossless.cairn", code=2,
               err="cairn: repack needs to know what to change; --timing keeps times in another mode, --clocks corrects "
                   "the ranks' clocks\n")
    here.check("repack", "--clocks", "../lossless.cairn", code=2,
               err="cairn: repack needs to know which trace to write; name it with -o\n")
    here.check("repack", "--clocks", "../ring.cairn", "-o", "new.cairn", code=2,
               err="cairn: ../ring.cairn: --clocks: this trace has no times of single calls; record with --timing "
                   "lossless\n")
    here.check("repack", "--clocks", "nowhere.cairn", "-o", "new.cairn", code=3, err=None)
    expect("written so far", here.sees("*"), [])
    here.check("repack", "--clocks", "../lossless.cairn", "-o", "new.cairn",
               err="cairn: new.cairn: 100 messages and 2 ends of collective calls: 1 reversed, 102 "
                   "moved, by 983 us at most\n")
    here.check("repack", "--clocks", "../lossless.cairn", "-o", "new.cairn", code=4,
               err="cairn: new.cairn: it exists already; choose another name with -o, or --force\n")
    first = (here.folder / "new.cairn").read_bytes()
    here.check("repack", "-f", "-q", "--clocks", "new.cairn", "-o", "new.cairn")
    expect("corrected again", (here.folder / "new.cairn").read_bytes() == first, True)
    (here.folder / "thesis.tex").write_text("all of it")
    here.check("repack", "-f", "--clocks", "new.cairn", "-o", "thesis.tex", code=4, err=None)
    bench.golden("info_corrected", "info", "repack/new.cairn")
    bench.golden("dump_corrected", "dump", "repack/new.cairn", "--order", "time", "--time", "4ms+1005us")


@case
def extrapolate_makes_a_trace_of_more_ranks(bench):
    here = fresh(bench, "extrapolate")
    here.check("extrapolate", "../ring3.cairn", "../ring.cairn", "-o", "6.cairn", code=2,
               err="cairn: extrapolate needs to know how far; say it with -n, as in -n 1024\n")
    here.check("extrapolate", "../ring3.cairn", "../ring.cairn", "-n", "6", code=2,
               err="cairn: extrapolate needs to know which trace to write; name it with -o\n")
    here.check("extrapolate", "../ring.cairn", "-n", "6", "-o", "6.cairn", code=2,
               err="cairn: one trace is not enough: what differs with the number of ranks cannot be seen in it; give traces "
                   "of the same program on two numbers of ranks or more; three tell far more\n")
    here.check("extrapolate", "../ring.cairn", "../ring.cairn", "-n", "6", "-o", "6.cairn", code=2,
               err="cairn: ../ring.cairn and ../ring.cairn both have 4 ranks; give traces of different numbers of ranks, or "
                   "say with --of what else they differ in\n")
    here.check("extrapolate", "../ring3.cairn", "../ring.cairn", "-n", "2", "-o", "6.cairn", code=2,
               err="cairn: 2 ranks are fewer than the 3 of ../ring3.cairn, the smallest trace; name more ranks with -n\n")
    here.check("extrapolate", "../ring3.cairn", "../ring.cairn", "--of", "3", "-n", "6", "-o", "6.cairn", code=2,
               err="cairn: --of 3: there must be a number above 0 for each of the 2 traces; as in --of 100,200,400\n")
    here.check("extrapolate", "../ring3.cairn", "../threads.cairn", "-n", "6", "-o", "6.cairn", code=2, err=None)
    expect("written so far", here.sees("*"), [])
    here.check("extrapolate", "-q", "../ring3.cairn", "../ring.cairn", "-n", "6", "-o", "6.cairn")
    here.check("extrapolate", "-q", "../ring3.cairn", "../ring.cairn", "-n", "6", "-o", "6.cairn", code=4,
               err="cairn: 6.cairn: it exists already; choose another name with -o, or --force\n")
    bench.golden("extrapolate_laws", "extrapolate", "-q", "--laws", "ring3.cairn", "ring.cairn", "-n", "6")
    bench.golden("extrapolate_check", "extrapolate", "-q", "ring3.cairn", "ring.cairn", "-n", "6", "--check", "ring6.cairn")
    told = json.loads(here.check("info", "--json", "6.cairn", out=None).stdout)
    expect("status and ranks", (told["status"], told["ranks"]), ("extrapolated", 6))
    expect("note", "extrapolated from runs of 3, 4 ranks" in [note["reason"] for note in told["degraded"]], True)


@case
def info_json(bench):
    done = bench.check("info", "--json", "ring.cairn", out=None)
    got = json.loads(done.stdout)
    size = (bench.folder / "ring.cairn").stat().st_size
    expect("total", got["bytes"]["total"], size)
    expect("sum of sections", sum(got["bytes"].values()), 2 * size)
    expect("peak_memory", got.pop("peak_memory"), 123456)
    expect("merge_cpu_seconds", got.pop("merge_cpu_seconds"), {"mean": 0.002, "maximum": 0.005})
    del got["bytes"], got["signatures"], got["classes"]
    expect(
        "info --json",
        got,
        {
            "schema": "cairn.info/1",
            "file": "ring.cairn",
            "command": "mpiexec -n 4 ./stencil 100",
            "start": "2023-11-14T22:13:20Z",
            "wall_seconds": 1.0,
            "hosts": ["node1", "node2"],
            "clocks": {"compared": True, "uncertainty_seconds": 3e-06, "drift_seconds": 3e-06, "starts_apart_seconds": 9e-06, "corrected": None},
            "mpi": "MPICH Version: 4.0.2",
            "recorder": "cairn 0.1.0 libmpich.so.12",
            "ranks": 4,
            "world_size": 4,
            "threads": 4,
            "calls": 4 * 306,
            "functions": 9,
            "failed_calls": 0,
            "failures": [],
            "communicators": 1,
            "timing": "stats",
            "times": None,
            "status": "complete",
            "incomplete_ranks": [],
            "degraded": [],
            "pending": [],
        },
    )
    got = json.loads(bench.check("info", "--json", "threads.cairn", out=None).stdout)
    expect("status", got["status"], "aborted")
    expect("threads", (got["ranks"], got["threads"]), (1, 2))
    expect("incomplete", got["incomplete_ranks"], [0])
    expect("degraded", got["degraded"],
           [{"reason": "a call stands without arguments", "count": 1200, "missing": True, "ranks": [0]},
            {"reason": "a call was left out on request: --exclude", "count": 1600, "missing": False, "ranks": [0]},
            {"reason": "memory ran out after 4 calls", "count": 0, "missing": False, "ranks": [0]}])
    got = json.loads(bench.check("info", "--json", "hung.cairn", out=None).stdout)["pending"]
    expect("groups", len(got), 4 + 19)
    expect("seconds", [round(got[3]["seconds"][which], 3) for which in ("least", "most")], [12.0, 32.0])
    expect("call", (got[0]["ranks"], got[0]["call"]["args"]["source"], got[0]["call"]["returned"]), ([0], 1, False))
    expect("outside", (got[2]["inside"], got[2]["function"], got[2]["call"] if "call" in got[2] else None),
           (False, "MPI_Barrier", None))
    bench.check("verify", "hung.cairn", out=None)
    got = json.loads(bench.check("info", "--json", "left.cairn", out=None).stdout)["pending"]
    expect("ended", [each["ranks"] for each in got if each.get("ended")], [[1]])
    # Nobody saw the process of two threads end: that one of them began to wait later does not tell.
    expect("not known", [each["seconds"] for each in got if each["ranks"] == [0]], [None, None])


@case
def peek_needs_a_recording(bench):
    here = fresh(bench, "peek")
    hint = ("go to the folder of the trace, or name the spool, as run.cairn.spool, or the number of a rank's process, of its "
            "launcher or of cairn record\n")
    here.check("peek", code=3, err=f"cairn: .: no recording is under way there; {hint}")
    here.check("peek", "../ring.cairn", code=3, err=f"cairn: ../ring.cairn: no recording is under way there; {hint}")
    none = f"no process recorded by this user is there, or began there; {hint}"
    here.check("peek", "2000000000", code=3, err=f"cairn: 2000000000: {none}")


@case
def timeline_text(bench):
    """What stands in lines is held against all calls by src/mpi/tests/timelines.py."""
    bench.golden("timeline", "timeline", "--columns", "40", "ring.cairn")
    bench.golden("timeline_measured", "timeline", "--columns", "40", "lossless.cairn")
    bench.golden("timeline_sites", "timeline", "--columns", "40", "--by", "site", "--classes", "lossless.cairn", err=None)
    bench.golden("timeline_json", "timeline", "--json", "--columns", "3", "--lines", "2", "--by", "function", "ring.cairn")
    bench.golden("timeline_window", "timeline", "--columns", "10", "--rank", "1", "--time", "1us+3us", "ring.cairn")
    bench.check("timeline", "--by", "rank", "ring.cairn", code=2, err=None)
    bench.check("timeline", "cut.cairn", code=3, err=None)


@case
def summary_text(bench):
    bench.golden("summary", "summary", "ring.cairn")
    bench.golden("summary_callsites", "summary", "--callsites", "ring.cairn", "--limit", "3")
    bench.golden("summary_per_rank", "summary", "--per-rank", "ring.cairn")
    bench.golden("summary_calls", "summary", "--sort", "calls", "--function", "MPI_I*,mpi_waitall", "ring.cairn")
    bench.golden("summary_lossless", "summary", "lossless.cairn", "--rank", "1")


@case
def matrix(bench):
    bench.golden("matrix", "matrix", "ring.cairn")
    bench.golden("matrix_expanded", "matrix", "--collectives", "expanded", "--by", "site", "--limit", "3", "ring.cairn")
    bench.golden("matrix_csv", "matrix", "--csv", "--by", "comm", "ring.cairn")
    bench.golden("matrix_json", "matrix", "--json", "ring.cairn", "--rank", "1-2")
    json.loads(bench.check("matrix", "--json", "ring.cairn", out=None).stdout)
    bench.check("matrix", "--csv", "--peer", "3", "ring.cairn",
                out="from,to,kind,messages,bytes,unsized\n2,3,message,100,80000,0\n")
    wide = bench.at_terminal("matrix", "--collectives", "expanded", "ring.cairn")
    expect("lines wider than a terminal", [line for line in wide.splitlines() if len(line) > 80], [])
    bench.check("matrix", "--csv", "--json", "ring.cairn", code=2, err=None)
    bench.check("matrix", "ring.cairn", "-o", "ring.gif", code=2, err="cairn: ring.gif: a picture is .svg or .png; name it so with -o\n")
    bench.check("matrix", "cut.cairn", code=3, err=None)
    bench.check("matrix", "ring.cairn", "-o", "no/ring.png", code=4,
                err="cairn: no/ring.png: cannot be written: No such file or directory; choose another place with -o\n")
    for kind, first in (("svg", b"<svg "), ("png", b"\x89PNG")):
        bench.check("matrix", "ring.cairn", "-o", f"ring.{kind}", err=f"cairn: wrote ring.{kind}: 4 ranks, 1 a block\n")
        expect(f"a picture in {kind}", (bench.folder / f"ring.{kind}").read_bytes().startswith(first), True)


@case
def sizes(bench):
    bench.golden("sizes", "sizes", "ring.cairn")
    bench.golden("sizes_exact", "sizes", "--exact", "--by", "site", "--times", "lossless.cairn")
    bench.golden("sizes_json", "sizes", "--json", "--times", "ring.cairn", err=None)
    bench.golden("sizes_csv", "sizes", "--csv", "--by", "comm", "ring.cairn")
    bench.check("sizes", "--csv", "--json", "ring.cairn", code=2, err=None)
    bench.check("sizes", "cut.cairn", code=3, err=None)


@case
def ranks(bench):
    bench.golden("ranks", "ranks", "ring.cairn")
    bench.golden("ranks_threads", "ranks", "threads.cairn", err=MISSING_CALLS)
    bench.golden("ranks_json", "ranks", "--json", "--top", "1", "threads.cairn", err=MISSING_CALLS)
    bench.golden("ranks_csv", "ranks", "--csv", "--sort", "rank", "ring.cairn")
    bench.check("ranks", "--csv", "--json", "ring.cairn", code=2, err="cairn: --csv and --json cannot go together; choose one\n")
    bench.check("ranks", "cut.cairn", code=3, err=None)


@case
def phases(bench):
    bench.golden("phases", "phases", "ring.cairn", err=None)
    bench.golden("phases_lossless", "phases", "--depth", "2", "lossless.cairn")
    bench.golden("phases_threads", "phases", "--csv", "threads.cairn", err=None)
    # Ranks that stopped at different places share what they did before.
    calls = [json.loads(bench.check(verb, "--json", "hung.cairn", out=None, err=None).stdout) for verb in ("summary", "phases")]
    expect("calls of phases", sum(phase["calls"] for phase in calls[1]["phases"]), calls[0]["calls"])
    bench.check("phases", "--csv", "--json", "ring.cairn", code=2, err="cairn: --csv and --json cannot go together; choose one\n")
    bench.check("phases", "cut.cairn", code=3, err=None)


def flat(value, before=""):
    """An object's members as a row of CSV has them."""
    cells = {}
    for name, one in value.items():
        if isinstance(one, dict):
            cells.update(flat(one, f"{before}{name}."))
        else:
            cells[before + name] = " ".join(map(str, one)) if isinstance(one, list) else one
    return cells


def expect_rows(what, rows, objects):
    """The rows are these objects: texts as they are, numbers by their value, null and what is not there as nothing."""
    expect(f"rows of {what}", len(rows), len(objects))
    for row, one in zip(rows, objects):
        cells = flat(one)
        for name, cell in row.items():
            wanted = cells.pop(name, None)
            if isinstance(wanted, bool) or not isinstance(wanted, (int, float)):
                expect(f"{name} of {what}", cell, {True: "true", False: "false", None: ""}.get(wanted, wanted))
            else:
                expect(f"{name} of {what}", float(cell), float(wanted))
        expect(f"{what}: what no column has", {name: cell for name, cell in cells.items() if cell is not None}, {})


@case
def csv_says_what_json_says(bench):
    def rows_of(*words):
        text = bench.run(*words, "--csv").stdout
        return list(csv.DictReader(io.StringIO(text)))

    def json_of(*words):
        return json.loads(bench.run(*words, "--json").stdout)

    for words, member in (
        (("waits", "lossless.cairn"), "lines"), (("path", "lossless.cairn"), "activities"),
        (("summary", "lossless.cairn"), "lines"), (("summary", "--per-rank", "ring.cairn"), "lines"),
        (("summary", "--callsites", "--site", "stencil.cc:40", "ring.cairn"), "lines"),
        (("check", "failing.cairn"), "findings"), (("check", "ring.cairn"), "findings"),
    ):
        expect_rows(words, rows_of(*words), json_of(*words)[member])
    for verb in ("waits", "path"):
        expect_rows(verb, rows_of(verb, "--per-rank", "lossless.cairn"), json_of(verb, "lossless.cairn")["ranks"])
    factors = {row["factor"]: row["value"] for row in rows_of("efficiency", "lossless.cairn")}
    told = json_of("efficiency", "lossless.cairn")
    expect("factors", {name: float(value) for name, value in factors.items()}, {name: told[name] for name in factors})
    expect("how many factors", len(factors), 5)

    def items_of(items, depth=0):
        for item in items:
            yield {"depth": depth, **{name: value for name, value in item.items() if name not in ("body", "body_further")}}
            yield from items_of(item.get("body", []), depth + 1)

    loops = [item for kind in json_of("loops", "ring.cairn")["kinds"] for item in items_of(kind["items"])]
    rows = rows_of("loops", "ring.cairn")
    if not all(row.pop("ranks") and row.pop("thread") for row in rows):
        raise Failure("a loop of no ranks")
    expect_rows("loops", rows, loops)
    strip = json_of("timeline", "--columns", "7", "lossless.cairn")
    times = [(strip["edges_ns"][column], strip["edges_ns"][column + 1], kind, ns) for line in strip["lines"]
             for column in range(7) for kind, all_ns in line["ns"].items() if (ns := all_ns[column]) != 0]
    rows = rows_of("timeline", "--columns", "7", "lossless.cairn")
    expect("columns of the timeline", [(int(row["begin_ns"]), int(row["end_ns"]), row["kind"], int(row["ns"])) for row in rows],
           times)
    differences = json_of("diff", "ring.cairn", "failing.cairn")["mpi"]["differences"]
    rows = rows_of("diff", "ring.cairn", "failing.cairn")
    expect("differences", [(row["in"], row["calls"], row["call"]) for row in rows],
           [(each["in"], str(each["calls"]), str(each["call"])) for each in differences])
    bench.check("diff", "--csv", "gpu.cairn", "gpu.cairn", code=2,
                err="cairn: --csv prints differences of MPI calls, which these runs do not both have; leave it out\n")
    for verb in ("waits", "path", "efficiency", "summary", "loops", "timeline", "check"):
        bench.check(verb, "--csv", "--json", "ring.cairn", code=2, err="cairn: --csv and --json cannot go together; choose one\n")


@case
def joined(bench):
    bench.golden("info_joined", "info", "--communicators", "joined.cairn")
    bench.golden("summary_joined", "summary", "--comm", "2:MPI_COMM_WORLD", "joined.cairn")
    bench.golden("matrix_joined", "matrix", "joined.cairn")
    bench.check("join", "ring.cairn", code=2, err="cairn: join needs to know which trace to write; name it with -o, as in -o joined.cairn\n")
    bench.check("join", "ring.cairn", "-o", "of_both.cairn", code=2, err="cairn: ring.cairn: the run spawned no job; there is nothing to join\n")
    bench.check("join", "joined.cairn", "-o", "of_both.cairn", code=2,
                err="cairn: joined.cairn: the trace is of several jobs already; use it as it is\n")
    bench.check("join", "nowhere.cairn", "-o", "of_both.cairn", code=3, err=None)
    bench.check("join", "ring.cairn", "-o", "ring.cairn", code=4, err=None)
    bench.check("proxy", "joined.cairn", "-o", "program", code=2, err=None)


@case
def estimate(bench):
    bench.check("estimate", "ring.cairn", "-n", "8", code=2, err="cairn: an estimate needs two recordings at least; of different numbers of ranks\n")
    bench.check("estimate", "ring.cairn", "lossless.cairn", "-n", "8", code=2, err=None)
    bench.check("estimate", "ring.cairn", "ring.cairn", code=2, err="cairn: estimate needs to know of how many ranks or steps; say it with -n, as in -n 1024, or --steps, as in --steps 1000\n")
    bench.check("estimate", "ring.cairn", "cut.cairn", "-n", "8", code=3, err=None)
    bench.check("estimate", "ring.cairn", "failing.cairn", "-n", "8", code=2,
                err="cairn: failing.cairn: it is of another program than ring.cairn: MPI_Alltoallv at stencil.cc:70 is only in ring.cairn; give recordings of one program\n")


@case
def loops_text(bench):
    bench.golden("loops", "loops", "ring.cairn")
    bench.golden("loops_calls", "loops", "--calls", "ring.cairn", "--rank", "1")
    bench.golden("loops_lossless", "loops", "--calls", "lossless.cairn")
    note = "cairn: 1 further kind of ranks, with other calls: see them with --all, or that of one rank with --rank\n"
    bench.golden("loops_threads", "loops", "threads.cairn", err=MISSING_CALLS + note)
    bench.golden("loops_all", "loops", "threads.cairn", "--all", err=MISSING_CALLS)
    bench.golden("loops_thread", "loops", "threads.cairn", "--thread", "1", err=MISSING_CALLS)
    bench.golden("loops_limit", "loops", "--calls", "ring.cairn", "--rank", "1", "--limit", "2")
    bench.check("loops", "ring.cairn", "--limit", "0", code=2, err=None)
    bench.check("loops", "bare.cairn", out=None)
    bench.check("loops", "ring.cairn", "--rank", "9", code=2, err=None)


@case
def loops_json(bench):
    got = json.loads(bench.check("loops", "--json", "ring.cairn", out=None).stdout)
    expect("schema", got["schema"], "cairn.loops/1")
    few = json.loads(bench.check("loops", "--json", "ring.cairn", "--limit", "1", out=None).stdout)
    for kind, all_of in zip(few["kinds"], got["kinds"], strict=True):
        most = max(all_of["items"], key=lambda item: item["calls_a_turn"] * item["turns"])
        expect("the one with most calls", kind["items"][0]["place"], most["place"])
        expect("further", kind["items_further"], len(all_of["items"]) - 1)
    (kind,) = got["kinds"]
    expect("ranks", kind["ranks"], [0, 1, 2, 3])
    (step,) = [item for item in kind["items"] if item.get("is_time_step")]
    expect("turns", (step["turns"], step["least_turns"], step["most_turns"], step["times"]), (100, 100, 100, 1))
    expect("body", [call["function"] for call in step["body"]], ["MPI_Irecv", "MPI_Isend", "MPI_Waitall"])
    summary = json.loads(bench.check("summary", "--json", "ring.cairn", out=None).stdout)
    calls = sum(item["calls_a_turn"] * item["turns"] for item in kind["items"])
    expect("calls", round(calls * len(kind["ranks"])), summary["calls"])
    of_summary = {line["function"]: line["seconds"] for line in summary["lines"]}
    for call in step["body"]:
        ours = call["seconds_a_turn"] * call["turns"] * len(kind["ranks"])
        expect(f"seconds of {call['function']}", round(ours, 9), round(of_summary[call["function"]], 9))


@case
def summary_of_single_ranks_under_stats(bench):
    bench.golden("summary_one_rank", "summary", "ring.cairn", "--rank", "1", "--function", "MPI_Isend")
    bench.golden("summary_threads", "summary", "threads.cairn", "--per-rank", err=MISSING_CALLS)
    bench.golden("summary_per_rank_of_one", "summary", "ring.cairn", "--per-rank", "--function", "MPI_Waitall")
    note = (
        "cairn: not all times of single ranks are in this trace: of call sites they are kept for all ranks of a class "
        "together; record with --timing context to see them\n"
    )
    bench.golden("summary_site_of_one_rank", "summary", "ring.cairn", "--rank", "1", "--callsites", "--limit", "2", err=note)


@case
def summary_json(bench):
    got = json.loads(bench.check("summary", "--json", "ring.cairn", out=None).stdout)
    expect("schema", got["schema"], "cairn.summary/1")
    lines = {line["function"]: line for line in got["lines"]}
    expect("calls", lines["MPI_Waitall"]["calls"], 400)
    expect("seconds", lines["MPI_Waitall"]["seconds"], 0.01)
    expect("no share of MPI", lines["MPI_Init"]["share_of_mpi"], None)
    expect("slowest", (got["slowest_rank"]["rank"], round(got["slowest_rank"]["outside_seconds"], 6)), (0, 0.992924))
    parts = got["outside_seconds"] + got["mpi_seconds"] + got["init_finalize_seconds"]
    expect("the parts are all", round(parts, 6), round(got["run_seconds"], 6))
    expect("imbalance", lines["MPI_Waitall"]["imbalance"], 1.6)
    # 100 calls of 10 us more on each rank than on the one before.
    expect("least", lines["MPI_Waitall"]["least"], {"rank": 0, "seconds": 0.001, "is_estimate": False})
    expect("most", lines["MPI_Waitall"]["most"], {"rank": 3, "seconds": 0.004, "is_estimate": False})
    percentiles = ("median_seconds", "p95_seconds", "p99_seconds")
    error = lines["MPI_Waitall"]["percentile_error"]
    expect("a promise", 0 < error < 0.5, True)
    for name, truth in zip(percentiles, (20e-6, 40e-6, 40e-6)):
        expect(name, abs(lines["MPI_Waitall"][name] - truth) <= error * truth, True)
    same = [round(lines["MPI_Isend"][name], 12) for name in (*percentiles, "percentile_error")]
    expect("all the same", same, [300e-9] * 3 + [0])
    # From each call's time they are exact, whichever way calls are found.
    def exact(trace, function, *words):
        lines = json.loads(bench.check("summary", "--json", trace, *words, out=None).stdout)["lines"]
        line = next(each for each in lines if each["function"] == function)
        return [round(line[name], 12) for name in (*percentiles, "percentile_error")]

    expect("lossless", exact("lossless.cairn", "MPI_Waitall"), [10e-6, 20e-6, 20e-6, 0])
    expect("by communicator", exact("failing_lossless.cairn", "MPI_Recv", "--comm", "MPI_COMM_WORLD"), [3e-6, 7e-6, 7e-6, 0])
    expect("by result", exact("failing_lossless.cairn", "MPI_Recv", "--result", "MPI_SUCCESS"), [3e-6, 3e-6, 3e-6, 0])
    # 10 elements of a type of 10 doubles; the last rank sends to nobody, the first receives from nobody.
    expect("sent", lines["MPI_Isend"]["bytes"], 3 * 100 * 10 * 80)
    expect("received", lines["MPI_Irecv"]["bytes"], 3 * 100 * 100 * 8)
    expect("collective", lines["MPI_Alltoallv"]["bytes"], 4 * 4 * 5 * 8)
    expect("no bytes", lines["MPI_Comm_rank"]["bytes"], None)
    flags = {flag["parameter"]: flag for flag in got["grows_with_ranks"]}
    expect("flags", sorted(flags), ["rdispls", "recvcounts", "sdispls", "sendcounts"])
    expect("flag", (flags["sendcounts"]["elements"], flags["sendcounts"]["by_definition"]), (4, True))


@case
def dump_text(bench):
    bench.golden("dump", "dump", "ring.cairn", "--rank", "0,3", "--limit", "310", err=NO_TIMES)
    bench.golden("dump_offsets", "dump", "bare.cairn", "--rank", "1", "--limit", "6", err=NO_TIMES)
    bench.golden("dump_threads", "dump", "threads.cairn", err=NO_TIMES)
    bench.golden("dump_times", "dump", "lossless.cairn", "--rank", "1", "--time", "5ms+20us")
    bench.golden("dump_by_time", "dump", "lossless.cairn", "--order", "time", "--time", "4ms+1005us")
    bench.golden("dump_step", "dump", "ring.cairn", "--rank", "3", "--step", "17,^3", err=NO_TIMES)
    bench.golden("dump_step_at", "dump", "ring.cairn", "--rank", "2-3", "--step", "99", "--step-at", "MPI_Waitall", err=NO_TIMES)
    bench.check("dump", "ring.cairn", "--step-at", "MPI_Waitall", code=2,
                err="cairn: --step-at says where steps begin, not which; give --step as well, as in --step 17 --step-at main.c:42\n")
    stepped = bench.run("dump", "--jsonl", "ring.cairn", "--rank", "3", "--step", "17-18").stdout.splitlines()[1:]
    expect("steps", [json.loads(line)["step"] for line in stepped], [17, 17, 17, 18, 18, 18])
    bench.check("info", "ring.cairn", "--rank", "3", code=2,
                err="cairn: --rank chooses communicators, and --communicators asks for them; cairn summary --per-rank tells "
                    "of ranks\n")
    expect("no stacks", bench.run("dump", "--stack", "ring.cairn").stderr.splitlines()[-1],
           "cairn: --stack: this trace has no call stacks; record with --callsites stack")
    bench.golden("dump_world_step", "dump", "ring.cairn", "--rank", "3", "--step", "0", "--world", err=NO_TIMES)
    bench.golden("dump_longest", "dump", "lossless.cairn", "--order", "duration", "--limit", "5", "--function", "^MPI_Init")
    # The longest of all are the ones that come first when all are sorted.
    times = [json.loads(line) for line in bench.run("dump", "--jsonl", "lossless.cairn").stdout.splitlines()[1:]]
    longest = sorted(times, key=lambda call: (-call["duration_ns"], call["rank"], call["index"]))[:20]
    by_duration = bench.run("dump", "--jsonl", "--order", "duration", "lossless.cairn").stdout.splitlines()[1:]
    expect("longest", [json.loads(line) for line in by_duration], longest)
    bench.golden("dump_function", "dump", "ring.cairn", "--function", "MPI_Comm_*", err=NO_TIMES)


@case
def calls_are_chosen(bench):
    """src/mpi/tests/choices.py holds what is chosen against all calls; here is how it looks."""
    def dump(name, *words):
        bench.golden(f"dump_{name}", "dump", "failing_lossless.cairn", *words)
    dump("errors", "--errors", "--stack")
    dump("peer", "--peer", "0", "--tag", "^10-20")
    dump("comm", "--comm", "comm(*", "--function", "MPI_*,^MPI_Comm_*", "--rank", "^0-1")
    dump("site", "--site", "stencil.cc:20", "--from", "7", "--limit", "5")
    bench.golden("dump_thread", "dump", "threads.cairn", "--thread", "1", err=NO_TIMES)
    bench.golden("dump_hung_errors", "dump", "hung.cairn", "--errors", "--rank", "0-4", err=NO_TIMES)
    bench.check("dump", "failing_lossless.cairn", "--tag", "99", err="cairn: no call matches\n")
    for step in ("100000", "70000000000"):
        expect("no such step", bench.run("dump", "ring.cairn", "--rank", "3", "--step", step).stderr.splitlines()[-1],
               "cairn: no call matches; there are 100 steps, counted from 0; --step-at WHERE says with which call each begins")
    bench.check("dump", "failing_lossless.cairn", "--tag", "99", "--order", "time", err="cairn: no call matches\n")
    by_time = bench.run("dump", "failing_lossless.cairn", "--errors", "--order", "time").stdout.splitlines()
    expect("by time", [line.split()[0] for line in by_time], ["r0", "r0"])
    unknown = (
        "cairn: times of some calls among others of one place are not in this trace; record with --timing context to "
        "see them\n"
    )
    bench.golden("summary_peer", "summary", "failing.cairn", "--peer", "0", err=unknown)
    bench.golden("summary_peer_lossless", "summary", "failing_lossless.cairn", "--peer", "0")
    bench.golden("summary_site", "summary", "failing.cairn", "--site", "stencil.cc:30")
    printed = [bench.run("summary", "failing.cairn", "--site", f"stencil.cc:50 in {function}").stdout
               for function in ("exchange()", "exchange(int)")]
    expect("as tables and dump print a site", (len(printed[0].splitlines()) > 5, printed[0]), (True, printed[1]))
    bench.golden("summary_per_rank_errors", "summary", "--per-rank", "failing.cairn", "--errors", err=unknown)
    for words in (("ring.cairn", "--errors"), ("failing.cairn", "--tag", "99", "--per-rank"),
                  ("failing.cairn", "--tag", "99", "--callsites")):
        bench.check("summary", *words, err="cairn: no call matches\n")
        done = bench.check("summary", "--json", *words, out=None, err="cairn: no call matches\n")
        expect(f"calls of {words}", json.loads(done.stdout)["calls"], 0)
    by_class = bench.run("dump", "failing_lossless.cairn", "--result", "MPI_ERR_TRUNCATE").stdout
    expect("failed", len(by_class.splitlines()) > 1, True)
    bench.check("dump", "failing_lossless.cairn", "--result", "MPI_ERR_TRUNCATE(738871814)", out=by_class)


@case
def what_took_most_is_known_of_chosen_calls_too(bench):
    """Where each call's time is, whatever chooses them."""
    for words in (("--function", "MPI_Recv"), ("--tag", "0-99"), ("--thread", "0"), ("--site", "stencil.cc")):
        done = bench.check("summary", "--per-rank", "--json", "failing_lossless.cairn", *words, out=None)
        for line in json.loads(done.stdout)["lines"]:
            chosen = bench.run("dump", "--jsonl", "failing_lossless.cairn", *words, "--rank", str(line["rank"])).stdout
            spent = {}
            for call in map(json.loads, chosen.splitlines()[1:]):
                if call["function"] not in ("MPI_Init", "MPI_Finalize"):
                    spent[call["function"]] = spent.get(call["function"], 0) + call["duration_ns"]
            most = max(spent, key=spent.get)
            expect(f"{words} on rank {line['rank']}", (line["most_in"], round(1e9 * line["most_in_seconds"])),
                   (most, spent[most]))


@case
def faults_are_found(bench):
    nameless = "cairn: 10 receives of which nobody knows whose message they got are not judged\n"
    bench.golden("check_failing", "check", "failing.cairn", code=1, err=nameless)
    bench.golden("check_json", "check", "--json", "--kinds", "arguments", "failing.cairn", code=1)
    killed = ("cairn: ranks 0-23 did not reach the end of MPI_Finalize: leaks and unmatched messages of them are not judged\n")
    bench.golden("check_hung", "check", "hung.cairn", code=1, err=killed)
    bench.check("check", "--kinds", "types,^types", "ring.cairn", out="nothing found\n")
    bench.check("check", "--kinds", "^arguments,^leaks,^buffering", "failing.cairn", out="nothing found\n", err=nameless)
    bench.check("check", "--kinds", "arguments", "--rank", "3", "failing.cairn", out="nothing found\n")
    for words, hint in (("tpyes", "did you mean 'types'?"),
                        ("", "name one, or leave it out"),
                        ("x", "kinds are arguments, leaks, handles, types, truncation, messages, collectives, buffers, deadlock, "
                              "buffering, windows")):
        done = bench.run("check", "--kinds", words, "ring.cairn")
        expect(f"--kinds {words}", (done.returncode, done.stderr.count("\n")), (2, 1))
        if words:
            expect(f"--kinds {words}", done.stderr, f"cairn: there is no kind '{words}'; {hint}\n")
    # Lines fit a terminal.
    shown = bench.at_terminal("check", "hung.cairn", columns=80, lines=99)
    expect("width", max(len(line) for line in shown.splitlines() if not line.startswith("cairn: ")) <= 80, True)


@case
def failures_are_told(bench):
    bench.golden("info_failing", "info", "failing.cairn")
    bench.golden("summary_failing", "summary", "failing.cairn")
    bench.golden("summary_per_rank_failing", "summary", "--per-rank", "failing.cairn")
    failed = [{"function": "MPI_Recv", "error": "MPI_ERR_TRUNCATE", "calls": 2}]
    got = json.loads(bench.check("info", "--json", "failing.cairn", out=None).stdout)
    expect("failed", (got["failed_calls"], got["failures"]), (2, failed))
    got = json.loads(bench.check("summary", "--json", "failing.cairn", out=None).stdout)
    expect("failed", (got["failed_calls"], got["failures"]), (2, {"MPI_ERR_TRUNCATE": 2}))
    expect("lines", {line["function"]: line["failed"] for line in got["lines"] if line["failed"]}, {"MPI_Recv": 2})


@case
def callers_stand_apart(bench):
    bench.golden("summary_callers", "summary", "--callsites", "failing.cairn")
    got = json.loads(bench.check("summary", "--callsites", "--json", "failing.cairn", out=None).stdout)["lines"]
    expect("lines", sorted((line["site"]["line"], [each["line"] for each in line["callers"]], line["calls"])
                           for line in got if line["function"] == "MPI_Send"), [(40, [20], 16), (40, [30], 8)])
    shown = bench.at_terminal("summary", "--callsites", "failing.cairn", columns=36, lines=99).splitlines()
    expect("shortened", "    called at stencil.cc:30" in shown, True)


@case
def dump_json(bench):
    done = bench.check("dump", "--jsonl", "lossless.cairn", out=None)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    expect("header", lines[0], {"schema": "cairn.dump/3", "timing": "lossless", "ranks": [0, 1]})
    expect("lines", len(lines), 1 + 2 * 306)
    expect("alias", bench.check("dump", "--json", "lossless.cairn", out=None).stdout, done.stdout)
    isend = next(line for line in lines if line.get("function") == "MPI_Isend")
    expect(
        "a call",
        isend,
        {
            "rank": 0,
            "thread": 0,
            "index": 4,
            "begin_ns": 5_005_750,
            "gap_ns": 1_000,
            "duration_ns": 300,
            "function": "MPI_Isend",
            "args": {
                "buf": "heap#0+128",
                "count": 10,
                "datatype": "type(stencil.cc:30 #0)",
                "dest": 1,
                "tag": 7,
                "comm": "MPI_COMM_WORLD",
                "request": "req(stencil.cc:50 #0)",
            },
            "return": "MPI_SUCCESS",
            "bytes": 10 * 80,
            "site": {
                "module": "stencil",
                "offset": 0x1050,
                "function": "exchange(int)",
                "file": "/home/me/src/stencil.cc",
                "line": 50,
            },
        },
    )
    name = next(line for line in lines if line.get("function") == "MPI_Comm_set_name")
    expect("a string", name["args"]["comm_name"], 'a "ring"\n')


@case
def dump_grammar(bench):
    bench.golden("dump_grammar", "dump", "--grammar", "ring.cairn")


@case
def verify_sound(bench):
    bench.golden("verify", "verify", "ring.cairn")
    got = json.loads(bench.check("verify", "--json", "ring.cairn", out=None).stdout)
    expect("verify --json", (got["schema"], got["ok"], got["integrity"]["calls"]), ("cairn.verify/1", True, 1224))


@case
def verify_malformed(bench):
    bench.golden("verify_malformed", "verify", "malformed.cairn", code=1)


@case
def gpu_kernels(bench):
    bench.golden("info_gpu", "info", "gpu.cairn")
    bench.golden("gpu_divergence", "gpu", "divergence", "gpu.cairn")
    bench.golden("gpu_divergence_limit", "gpu", "divergence", "gpu.cairn", "--limit", "1")
    bench.golden("gpu_sizes", "gpu", "sizes", "gpu.cairn")
    bench.golden("gpu_coverage", "gpu", "coverage", "gpu.cairn")
    bench.golden("dump_warp", "dump", "gpu.cairn", "--warp", "1", "--launch", "0")
    bench.golden("dump_launch_json", "dump", "gpu.cairn", "--launch", "1", "--json", "--limit", "3")
    bench.golden("dump_join", "dump", "gpu.cairn", "--launch", "1", "--join")
    # Sources beside the trace, elsewhere, and nowhere.
    missing = "cairn: not found, so without text: {}; --sources DIR says where they are\n"
    bench.golden("gpu_source_without", "gpu", "source", "gpu.cairn", err=missing.format("fire.cu, fire.h"))
    (bench.folder / "sources").mkdir()
    (bench.folder / "sources" / "fire.cu").write_text("".join(f"\tline {i};{' long' * 30 * (i == 7)}\n" for i in range(1, 40)))
    bench.golden("gpu_source", "gpu", "source", "gpu.cairn", "--sources", "sources", err=missing.format("fire.h"))
    bench.golden("gpu_source_limit", "gpu", "source", "gpu.cairn", "--sources", "sources", "--limit", "1",
                 err=missing.format("fire.h"))
    bench.golden("gpu_source_json", "gpu", "source", "gpu.cairn", "--sources", "sources", "--json")
    bench.golden("gpu_loops", "gpu", "loops", "gpu.cairn")
    bench.golden("gpu_loops_json", "gpu", "loops", "gpu.cairn", "--json")
    for weight in ("lanes", "lost", "visits"):
        bench.golden(f"gpu_folded_{weight}", "gpu", "folded", "gpu.cairn", "--weigh", weight)
    raw = subprocess.run([bench.cairn, "dump", "gpu.cairn", "--raw5", "--launch", "1"], cwd=bench.folder, capture_output=True)
    expect("raw5", raw.stdout[:15].hex(), "01ffffffff" "020f0f0f0f" "02f0f0f0f0")
    points = json.loads(bench.run("gpu", "divergence", "gpu.cairn", "--json").stdout)["points"]
    expect("points", [(each["location"], each["visits"]) for each in points], [(1, 6), (2, 64), (3, 4), (4, 0)])
    bench.check("verify", "gpu.cairn", out=None)
    no_kernels = "cairn: ring.cairn: this trace holds no GPU kernels; "
    bench.check("gpu", "coverage", "ring.cairn", code=2, err=no_kernels + "trace some with cairn instrument\n")
    bench.check("dump", "--warp", "3", "ring.cairn", code=2, err=no_kernels + "leave out --warp and --launch\n")
    bench.check("dump", "--launch", "7", "gpu.cairn", code=2,
                err="cairn: gpu.cairn: there is no launch 7; choose one of 0 to 1\n")
    bench.check("dump", "--warp", "70", "gpu.cairn", code=2,
                err="cairn: gpu.cairn: no warp 70 was traced; cairn gpu divergence names some\n")
    bench.check("gpu", "gpu.cairn", code=2, err=None)
    bench.check("verify", "badgpu.cairn", code=1, err=None,
                out="badgpu.cairn: a stream is damaged at event 0 of warp 0 in launch 0\n")
    bench.check("verify", "nogpu.cairn", code=1,
                out="nogpu.cairn: section 'gpu' is damaged at byte 1: a launch that cannot be\n")


@case
def gpu_launches(bench):
    bench.golden("gpu_launches", "gpu", "launches", "launches.cairn")
    bench.golden("gpu_launches_csv", "gpu", "launches", "launches.cairn", "--csv")
    bench.golden("dump_launches", "dump", "launches.cairn", "--rank", "0", "--limit", "3")
    bench.golden("dump_launches_json", "dump", "launches.cairn", "--rank", "1", "--json", "--limit", "2")
    bench.golden("summary_gpu", "summary", "launches.cairn")
    without = bench.run("dump", "launches.cairn", "--no-launches").stdout
    expect("--no-launches", without, bench.run("dump", "both.cairn").stdout)
    got = json.loads(bench.run("summary", "launches.cairn", "--rank", "0", "--json").stdout)
    expect("kernels of rank 0", [(each["kernel"], each["launches"], each["ran_ns"]) for each in got["kernels"]], [("burn", 1, 65000)])
    chosen = json.loads(bench.run("summary", "launches.cairn", "--function", "MPI_Init", "--json").stdout)
    expect("kernels beside chosen calls", "kernels" in chosen, False)
    old = json.loads(bench.check("gpu", "launches", "gpu.cairn", "--json", out=None,
                                 err="cairn: this trace does not tell when its launches were made; compile the program with this "
                                     "Cairn's headers and record it again\n").stdout)
    expect("launches of an old trace", [(each["kernel"], each["made_ns"]) for each in old["launches"]], [("burn", None), ("quench<4>", None)])
    bench.check("gpu", "sizes", "gpu.cairn", "--csv", code=2, err="cairn: --csv prints launches, not sizes; cairn gpu launches --csv\n")


@case
def gpu_launches_are_exported(bench):
    events = json.loads(bench.run("export", "--to", "chrome", "launches.cairn").stdout)["traceEvents"]
    track = next(event for event in events if event.get("args", {}).get("name") == "rank 0, GPU 0, stream 0")
    found = [event for event in events if event.get("cat") == "GPU"]
    expect("kernels", [(event["name"], event["pid"], event["tid"], event["ts"], event["dur"]) for event in found],
           [("burn", track["pid"], track["tid"], 4, 65)])  # of the other it is not known when it ran
    expect("details", found[0]["args"], {"launch": 0, "grid": "2", "block": "64", "queued ns": 2500})
    for words in (("--rank", "1"), ("--time", "1s"), ("--function", "MPI_Init")):
        some = json.loads(bench.run("export", "--to", "chrome", *words, "launches.cairn").stdout)["traceEvents"]
        expect(f"kernels with {words}", [event for event in some if event.get("cat") == "GPU"], [])
    where = fresh(bench, "kernels").folder
    bench.run("export", "--to", "csv", "-o", str(where / "tables"), "launches.cairn")
    with open(where / "tables" / "kernels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    expect("table of kernels", [(row["launch"], row["rank"], row["kernel"], row["grid"], row["block"], row["begin_ns"], row["end_ns"])
                                for row in rows],
           [("0", "0", "burn", "2", "64", "4000", "69000"), ("1", "1", "quench<4>", "2", "64", "", "")])
    done = bench.run("export", "--to", "sqlite", "-o", str(where / "run.db"), "launches.cairn", check=False)
    if done.returncode != 4:  # built without the library
        base = sqlite3.connect(where / "run.db")
        expect("time by kernel", base.execute("SELECT * FROM time_by_kernel").fetchall(),
               [("burn", 1, 65000, 65000, 2500, 1), ("quench<4>", 1, None, None, None, 1)])
    done = bench.run("export", "--to", "otf2", "-o", str(where / "otf2"), "launches.cairn", check=False)
    if done.returncode == 4:
        return
    expect("said of kernels", ", 1 kernel, " in done.stdout, True)
    printed = subprocess.run(["otf2-print", "-A", str(where / "otf2" / "traces.otf2")], capture_output=True, text=True, check=True).stdout
    expect("GPU of an archive", re.findall(r"^LOCATION_GROUP .*Name: \"(MPI Rank 0, GPU 0)\".*Type: (\w+)", printed, re.M),
           [("MPI Rank 0, GPU 0", "ACCELERATOR")])
    expect("stream of an archive", re.findall(r"^LOCATION .*Name: \"(stream 0)\".*Type: (\w+).*# Events: (\d+)", printed, re.M),
           [("stream 0", "ACCELERATOR_STREAM", "2")])
    expect("kernel of an archive", re.findall(r"^(ENTER|LEAVE) +\d+ +(\d+) +Region: \"burn\"", printed, re.M),
           [("ENTER", "4000"), ("LEAVE", "69000")])


@case
def gpu_streams_have_rows_in_timelines(bench):
    bench.golden("timeline_gpu", "timeline", "launches.cairn", "--columns", "50", "--time", "0s+100us")
    bench.golden("timeline_gpu_functions", "timeline", "launches.cairn", "--columns", "50", "--time", "0s+100us", "--by", "function")
    got = json.loads(bench.run("timeline", "launches.cairn", "--columns", "2", "--time", "0s+100us", "--json").stdout)
    expect("gpu", got["gpu"], [{"rank": 0, "device": 0, "stream": 0, "ns": {"burn": [46000, 19000]}}])
    for words in (("both.cairn",), ("launches.cairn", "--rank", "1")):
        expect(f"no streams of {words}", "gpu" in json.loads(bench.run("timeline", *words, "--json").stdout), False)


@case
def gpu_values(bench):
    bench.golden("dump_values", "dump", "values.cairn", "--warp", "0")
    bench.golden("dump_values_join", "dump", "values.cairn", "--warp", "0", "--join")
    bench.golden("dump_values_json", "dump", "values.cairn", "--warp", "0", "--jsonl")
    bench.golden("gpu_values", "gpu", "values", "values.cairn")
    got = json.loads(bench.run("gpu", "values", "values.cairn", "--json").stdout)
    expect("values --json", (got["schema"], [point["values"] for point in got["points"]]), ("cairn.gpu.values/1", [6, 4]))
    bench.check("gpu", "values", "gpu.cairn",
                err="cairn: no point of this trace has values; cairn_value(x) in device code makes one\n")
    bench.golden("gpu_sizes_values", "gpu", "sizes", "values.cairn")
    bench.check("dump", "values.cairn", "--raw5", code=2,
                err="cairn: values.cairn: --raw5 has no room for values; use --jsonl\n")
    bench.check("verify", "values.cairn", out=None)


@case
def diff_of_kernels(bench):
    bench.golden("diff", "diff", "gpu.cairn", "gpu2.cairn", code=1)
    bench.golden("diff_limit", "diff", "gpu.cairn", "gpu2.cairn", "--limit", "2", code=1)
    bench.golden("diff_json", "diff", "gpu2.cairn", "gpu.cairn", "--json", code=1)
    bench.check("diff", "gpu.cairn", "gpu.cairn", out="0 of 2 launches and 0 of 6 warps: nothing differs\n"
                "1 warp compared only as far as both runs kept them\n")
    got = json.loads(bench.check("diff", "--join", "--json", "gpu.cairn", "gpu.cairn", out=None).stdout)
    expect("equal", (got["schema"], got["equal"], len(got["launches"])), ("cairn.diff.gpu/1", True, 2))
    bench.check("diff", "gpu.cairn", code=2, err="cairn: two traces are compared; name the earlier one first\n")
    bench.check("diff", "gpu.cairn", "ring.cairn", code=2,
                err="cairn: one of these traces has MPI calls only and the other GPU kernels only; name two of one kind\n")
    bench.check("diff", "badgpu.cairn", "gpu.cairn", code=3, err="cairn: badgpu.cairn: a stream is damaged at event 0 of warp 0 in launch 0\n")
    for name in ("cut", "flipped", "newer", "foreign", "empty", "none"):
        expect(f"exit code of diff {name}", bench.run("diff", "gpu.cairn", f"{name}.cairn").returncode, 3)


@case
def diff_of_calls(bench):
    bench.golden("diff_calls", "diff", "ring.cairn", "lossless.cairn", "--rank", "0,1", code=1)
    bench.golden("diff_sizes", "diff", "ring.cairn", "lossless.cairn", code=1)
    bench.golden("diff_sizes_limit", "diff", "threads.cairn", "failing.cairn", "--limit", "1", code=1)
    bench.golden("diff_calls_order", "diff", "ring.cairn", "failing.cairn", "--limit", "1", code=1)
    bench.golden("diff_calls_equal", "diff", "failing.cairn", "failing_lossless.cairn")
    bench.golden("diff_calls_threads", "diff", "threads.cairn", "failing.cairn", "--rank", "0", code=1)
    got = json.loads(bench.check("diff", "--json", "ring.cairn", "lossless.cairn", code=1, out=None).stdout)
    expect("schema", (got["schema"], got["equal"], got["gpu"]), ("cairn.diff/1", False, None))
    mpi = got["mpi"]
    expect("ranks", (mpi["ranks"], mpi["only_first"], mpi["only_second"]), (2, [2, 3], []))
    expect("counts", (mpi["calls"], mpi["ranks_with_other_order"], mpi["calls_with_other_arguments"],
                      mpi["calls_with_other_results"]), (612, 0, 102, 0))
    found = [(each["in"], each["calls"], each["ranks"], each["arguments"]) for each in mpi["differences"]]
    expect("differences", found, [("arguments", 100, [1], ["dest"]),
                                  ("arguments", 2, [0, 1], ["rdispls", "recvcounts", "sdispls", "sendcounts"])])
    expect("sides", [mpi["differences"][0][run]["args"]["dest"] for run in ("first", "second")], [2, "MPI_PROC_NULL"])
    bench.check("diff", "ring.cairn", "ring.cairn", "--rank", "9", code=2, err=None)


def read_timeline(text):
    """An independent reader of the Trace Event Format, as its description says: tracks by (pid, tid), slices that nest.
    Gives slices as {(pid, tid): [(begin, end, depth, category, name, arguments)]}, names and counters."""
    events = json.loads(text)["traceEvents"]
    names, counters, slices, open_slices, last = {}, {}, {}, {}, {}
    for event in events:
        key = (event["pid"], event.get("tid"))
        if event["ph"] == "M":
            names[(event["name"], *key)] = event["args"]["name"]
            continue
        expect("a time that goes on", event["ts"] >= last.get(key, 0), True)
        if event["ph"] != "C":
            last[key] = event["ts"]
        stack = open_slices.setdefault(key, [])
        if event["ph"] == "C":
            counters.setdefault((event["pid"], event["name"]), []).append((event["ts"], event["args"]["lanes"]))
        elif event["ph"] == "B":
            stack.append(event)
        elif event["ph"] == "E":
            begin = stack.pop()
            slices.setdefault(key, []).append((begin["ts"], event["ts"], len(stack), begin["cat"], begin["name"], event.get("args", {})))
        elif event["ph"] == "X":
            last[key] = event["ts"] + event["dur"]
            slices.setdefault(key, []).append((event["ts"], event["ts"] + event["dur"], len(stack), event["cat"], event["name"], event["args"]))
        else:
            raise Failure(f"an event of another kind: {event}")
    expect("slices that do not end", [key for key, stack in open_slices.items() if stack], [])
    return slices, names, counters


@case
def export_of_kernels(bench):
    bench.golden("export", "export", "--to", "chrome", "gpu.cairn", "--warp", "1", "--launch", "0")
    slices, names, counters = read_timeline(bench.run("export", "--to", "chrome", "gpu.cairn").stdout)
    expect("tracks", sorted(slices), [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2)])
    expect("name", names[("process_name", 2, None)],
           "launch 1 quench<4>, grid 2x1x1, block 64x1x1, rank 0, device 0, stream 0; no times: 1 us is 1 event of a warp")
    expect("lost", names[("thread_name", 1, 4)], "warp 3 (block 1, 2 events not kept)")
    for (launch, warp), track in slices.items():
        dumped = [json.loads(line) for line in
                  bench.run("dump", "gpu.cairn", "--json", "--launch", str(launch - 1), "--warp", str(warp - 1)).stdout.splitlines()[1:]]
        points = [(begin, name, arguments["mask"], arguments["at"]) for begin, _, _, what, name, arguments in track if what == "point"]
        expect("points", points, [(i, each["kind"], each["mask"], f"{each['file']}:{each['line']}") for i, each in enumerate(dumped)])
        shown = dict(counters[(launch, f"lanes of warp {warp - 1}")])
        lanes = 0
        for i, each in enumerate(dumped):
            lanes = shown.get(i, lanes)
            expect("lanes", lanes, bin(int(each["mask"], 16)).count("1"))
    expect("loop", [each for each in slices[(1, 1)] if each[3] == "loop"], [(1, 15, 1, "loop", "loop fire.cu:12", {"iterations": 14})])
    expect("functions", [each[:5] for each in slices[(1, 1)] if each[3] == "function"],
           [(0, 15, 0, "function", "burn"), (15, 16, 0, "function", "spark")])
    slices, _, _ = read_timeline(bench.run("export", "--to", "chrome", "gpu.cairn", "--no-points", "--limit", "3", "--warp", "1-2,9").stdout)
    expect("cut", {key: [each[:5] for each in track] for key, track in slices.items()},
           {key: [(1, 3, 1, "loop", "loop fire.cu:12"), (0, 3, 0, "function", "burn")] for key in ((1, 2), (1, 3), (2, 2))})
    bench.check("export", "ring.cairn", "--warp", "0", code=2, err="cairn: ring.cairn: this trace holds no GPU kernels; "
                "trace some with cairn instrument\n")
    bench.check("export", "gpu.cairn", "--launch", "2", code=2, err="cairn: gpu.cairn: there is no launch 2; choose one of 0 to 1\n")
    bench.check("export", "gpu.cairn", "--warp", "9", code=2, err="cairn: gpu.cairn: no such warp was traced; cairn gpu divergence names some\n")
    bench.check("export", "gpu.cairn", "--warp", "x", code=2, err="cairn: 'x' is no list of numbers; write it as in 0-7,12\n")
    bench.check("export", "--to", "chrome", "badgpu.cairn", code=3, out=None, err="cairn: badgpu.cairn: a stream is damaged at event 0 of warp 0 in launch 0\n")
    bench.check("export", "biggpu.cairn", code=2, err="cairn: biggpu.cairn: these are 6,000,001 events of 1 warp, more than viewers show; "
                "choose some with --launch, --warp and --limit\n")
    expect("events of many", len(bench.run("export", "--to", "chrome", "biggpu.cairn", "--limit", "5").stdout.splitlines()), 14)


@case
def exports_of_calls(bench):
    """What tools make of them is asked by src/mpi/tests/exports.py."""
    done = bench.run("export", "--to", "chrome", "lossless.cairn")
    expect("timeline", (done.returncode, done.stderr), (0, ""))
    events = json.loads(done.stdout)["traceEvents"]
    expect("slices", [sum(each["ph"] == phase for each in events) for phase in "BEsf"], [612, 612, 100, 100])
    bench.check("export", "-o", "a.pftrace", "lossless.cairn", out="", err=None)
    bench.check("export", "-o", "a.pftrace", "lossless.cairn", code=2, out="",
                err="cairn: a.pftrace: is there already; name another file with --output\n")
    bench.check("export", "-o", "none/a.pftrace", "lossless.cairn", code=4, out="",
                err="cairn: none/a.pftrace: cannot be made: No such file or directory; name another file with --output\n")
    for form in ("perfetto", "chrome", "otf2"):
        bench.check("export", "--to", form, "-o", "x", "ring.cairn", code=2, out="",
                    err=f"cairn: ring.cairn: --to {form}: this trace has no times of single calls; record with --timing context, "
                    "or take the order of each rank's calls alone with --logical\n")
    bench.check("export", "--logical", "lossless.cairn", code=2, out="",
                err="cairn: lossless.cairn: this trace has times: --logical is for those that have none; leave it out\n")
    for form, what in (("csv", "a folder"), ("sqlite", "a file"), ("otf2", "a folder")):
        bench.check("export", "--to", form, "lossless.cairn", code=2, out="",
                    err=f"cairn: lossless.cairn: --to {form} needs {what} to write; name one that is not there with --output\n")
    # Calls and kernels: those of ranks 0 and 1 are processes 1 and 2, launches 3 and 4.
    done = bench.run("export", "--to", "chrome", "both.cairn")
    expect("both", (done.returncode, done.stderr), (0, ""))
    alone = json.loads(bench.run("export", "--to", "chrome", "gpu.cairn").stdout)["traceEvents"]
    together = json.loads(done.stdout)["traceEvents"]
    expect("calls", [each for each in together if each["pid"] <= 2], events)
    expect("kernels", [{**each, "pid": each["pid"] - 2} for each in together if each["pid"] > 2], alone)
    done = bench.run("export", "--to", "chrome", "both_untimed.cairn")
    expect("kernels of calls without times", (done.returncode, done.stderr, json.loads(done.stdout)["traceEvents"]),
           (0, "cairn: this trace has no times of single calls: its GPU kernels alone are written\n", alone))
    expect("warps alone", json.loads(bench.run("export", "--to", "chrome", "--launch", "0-1", "both.cairn").stdout)["traceEvents"], alone)
    bench.check("export", "--to", "otf2", "-o", "x", "gpu.cairn", code=2, out="",
                err="cairn: gpu.cairn: this trace holds no MPI calls; --to perfetto and --to chrome write its GPU kernels\n")
    bench.check("export", "--to", "dot", "--graph", "grammar", "--time", "0s+1ms", "lossless.cairn", code=2, out="",
                err="cairn: --graph grammar is of whole rules, of all calls and times; leave --time out\n")
    bench.check("export", "--to", "csv", "--speed", "1e9", "lossless.cairn", code=2, out="",
                err="cairn: --speed says nothing to --to csv; it is for simgrid\n")
    done = bench.run("export", "--to", "goal", "lossless.cairn")
    expect("operations", (done.returncode, done.stdout.split("\n")[:3]), (0, ["num_ranks 2", "", "rank 0 {"]))
    bench.check("export", "--to", "goal", "--rank", "0", "lossless.cairn", code=2, out="",
                err="cairn: --rank says nothing to --to goal; it is for perfetto, chrome, otf2, csv, sqlite, folded, dot\n")
    bench.check("export", "--to", "csv", "-o", "tables", "ring.cairn", out="tables: 1,224 calls, 300 messages\n", err=None)
    expect("tables", sorted(path.name for path in (bench.folder / "tables").iterdir()),
           ["calls.csv", "communicators.csv", "kernels.csv", "messages.csv", "objects.csv", "ranks.csv", "requests.csv", "run.csv",
            "sites.csv"])
    bench.check("export", "--to", "csv", "-o", "tables", "ring.cairn", code=2, out="",
                err="cairn: tables: is not empty; name a folder that is not there with --output\n")
    if os.path.exists("/dev/full"):
        bench.check("export", "--to", "csv", "-o", "/dev/full", "ring.cairn", code=4, out="",
                    err="cairn: /dev/full: is no folder; name another with --output\n")
        with open("/dev/full", "w") as full:
            done = subprocess.run([bench.cairn, "export", "--to", "chrome", "lossless.cairn"], cwd=bench.folder, env=bench.environment,
                                  stdout=full, stderr=subprocess.PIPE, text=True)
        expect("a full disk", (done.returncode, done.stderr),
               (4, "cairn: standard output: cannot be written: No space left on device; make room, or name another file with --output\n"))
    shown = bench.at_terminal("export", "lossless.cairn")
    if "perfetto is no text for a terminal" not in shown:
        raise Failure(f"a terminal got {shown[:200]!r}")
    # One call of each rank, and what it does.
    done = bench.run("export", "--to", "chrome", "--function", "MPI_Isend", "--rank", "0", "lossless.cairn")
    expect("a part", {each["name"] for each in json.loads(done.stdout)["traceEvents"] if each["ph"] == "B"}, {"MPI_Isend"})
    stacks = bench.run("export", "--to", "folded", "ring.cairn").stdout.splitlines()
    expect("stacks", all(re.fullmatch(r".+ \d+", stack) for stack in stacks) and len(stacks) > 4, True)
    graph = bench.run("export", "--to", "dot", "ring.cairn").stdout
    expect("edges", len(re.findall(r"r\d+ -> r\d+ .*messages=100,", graph)), 3)


@case
def names_that_are_not_utf8(bench):
    """Others refuse whole files over one byte: it is replaced in all forms, and what misses calls is told in JSON, too."""
    tables = bench.folder / "latin.csv"
    bench.run("export", "--to", "csv", "-o", str(tables), "latin.cairn")
    with open(tables / "sites.csv", encoding="utf-8", newline="") as file:
        files = {row["file"] for row in csv.DictReader(file)}
    expect("files of sites.csv", "/home/me/d\ufffd/caf\ufffd.cc" in files, True)
    bench.run("export", "--to", "sqlite", "-o", "latin.db", "latin.cairn")
    base = sqlite3.connect(bench.folder / "latin.db")
    expect("sqlite", base.execute("select value from run where name = 'command'").fetchall(), [("mpiexec -n 2 ./caf\ufffd",)])
    expect("and its sites", {row[0] for row in base.execute("select file from sites")} & {"/home/me/d\ufffd/caf\ufffd.cc"} != set(), True)
    base.close()
    for words in (("folded",), ("dot",), ("dot", "--graph", "grammar"), ("chrome",)):
        done = subprocess.run([bench.cairn, "export", "--to", *words, "latin.cairn"], cwd=bench.folder, env=bench.environment,
                              capture_output=True, check=True)
        done.stdout.decode("utf-8")
    bench.run("export", "--to", "otf2", "-o", "latin.otf2", "latin.cairn", check=False)
    for path in (bench.folder / "latin.otf2").glob("traces.*"):
        expect(f"{path.name} has raw bytes", b"caf\xe9" in path.read_bytes(), False)
    for verb in ("summary", "matrix", "sizes", "loops", "ranks", "phases", "timeline", "waits", "path", "efficiency"):
        expect(f"{verb} tells who misses calls", json.loads(bench.run(verb, "--json", "latin.cairn").stdout)["ranks_missing_calls"], [1])


@case
def export_for_simgrid(bench):
    def actions(name, rank):
        lines = (bench.folder / name / f"rank-{rank}.txt").read_text().splitlines()
        return [line.split(maxsplit=1)[1].rstrip() for line in lines if not line.startswith("#")]
    bench.check("export", "--to", "simgrid", "--output", "timed", "lossless.cairn", err="",
                out="timed/ranks.txt: 810 actions of 2 ranks: 100 sends with 78.1 KiB, 100 receives, 2 parts in collective calls "
                "(of which 0 as messages)\n")
    expect("list", (bench.folder / "timed/ranks.txt").read_text().splitlines(),
           [str((bench.folder / f"timed/rank-{rank}.txt").resolve()) for rank in range(2)])
    expect("begin", actions("timed", 1)[:5], ["init", "compute 3500", "irecv 0 7 800", "compute 2000", "wait 0 1 7"])
    expect("end", actions("timed", 1)[-1], "finalize")
    bench.check("export", "--to", "simgrid", "-o", "twice", "--speed", "2e9", "lossless.cairn", err="", out=None)
    expect("twice as fast", actions("twice", 1)[1], "compute 7000")
    # Statistics say how long a rank computed, not where; and nothing is also an answer.
    bench.check("export", "--to", "simgrid", "-o", "shared", "ring.cairn", out=None,
                err="cairn: the trace has no times of single calls: what a rank computed stands before its calls in equal parts\n")
    bench.check("export", "--to", "simgrid", "-o", "bare", "--no-gaps", "ring.cairn", out=None, err="")
    expect("without gaps", actions("bare", 1), [line for line in actions("shared", 1) if not line.startswith("compute")])
    expect("all at once", collections.Counter(line.split()[0] for line in actions("bare", 1)),
           {"init": 1, "irecv": 100, "isend": 100, "waitall": 100, "alltoallv": 1, "finalize": 1})

    bench.check("export", "--to", "simgrid", "-o", "timed", "lossless.cairn", code=2, out="",
                err="cairn: timed: is not empty; name a folder that is not there with --output\n")
    bench.check("export", "--to", "simgrid", "lossless.cairn", code=2, out="",
                err="cairn: lossless.cairn: there is no folder for the ranks' files; name one that is not there with --output\n")
    bench.check("export", "--to", "simgrid", "-o", "ring.cairn", "ring.cairn", "--no-gaps", code=4, out="",
                err="cairn: ring.cairn: is no folder; name another with --output\n")
    bench.check("export", "--to", "simgrid", "-o", "x", "--speed", "0", "ring.cairn", code=2, out="",
                err="cairn: a host's speed is a number of flops a second above 0; write it as in --speed 1e9\n")
    bench.check("export", "--to", "simgrid", "-o", "x", "threads.cairn", code=2, out="",
                err="cairn: threads.cairn: calls of rank 0 are not in the trace: a call stands without arguments; "
                "a simulation needs all calls of all ranks\n")
    expect("nothing was made", (bench.folder / "x").exists(), False)


@case
def simulations_need_simgrid(bench):
    done = bench.run("replay", "--simulate", "cluster", "ring.cairn", environment={"PATH": "/nowhere"})
    expect("without it", (done.returncode, done.stdout, done.stderr), (4, "", "cairn: there is no smpirun: SimGrid simulates, and is not "
           "installed; install it (Debian: libsimgrid-dev), or write the actions with cairn export --to simgrid\n"))
    tools = bench.folder / "simulating"
    tools.mkdir()
    smpirun = tools / "smpirun"

    def say(text, code=0):
        """A stand-in that says so; what it was given must be there."""
        smpirun.write_text(f"#!/bin/sh\ncat platform.xml $(cat actions/ranks.txt) > /dev/null || exit 9\necho '{text}' >&2\nexit {code}\n")
        smpirun.chmod(0o755)
        return bench.run("replay", "--simulate", "ideal", "-q", "lossless.cairn", environment={"PATH": f"{tools}:{os.environ['PATH']}"})
    done = say("[n0:0:(1) 0.25] [smpi_replay/INFO] Simulation time 0.250000")
    expect("its time", (done.returncode, done.stderr, done.stdout.splitlines()[0].split(maxsplit=1)),
           (0, "", ["simulated", "250 ms  2 ranks on a made-up platform (ideal)"]))
    expect("no fault", done.stdout.splitlines()[-1], "100 messages, 78.1 KiB, 2 parts in collective calls; SimGrid found no fault")
    done = say("[1.5] ./src/EngineImpl.cpp:718: [ker_engine/CRITICAL] Oops! Deadlock detected.\n[1.5] [ker_engine/INFO] 2 actors are still running.")
    expect("a fault", (done.returncode, done.stdout), (1, "SimGrid found a fault: Oops! Deadlock detected.\n2 actors are still running.\n"))
    done = say("", 134)
    expect("an end", (done.returncode, done.stdout), (1, "SimGrid found a fault: smpirun ended with code 134\n"))
    expect("nothing stays", list(bench.folder.glob("cairn-simulate-*")), [])
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    done = bench.run("replay", "--simulate", "none.xml", "ring.cairn", environment=path)
    expect("no platform", (done.returncode, done.stderr), (2, "cairn: there is no platform file none.xml; write one as "
           "docs/simgrid.md says, or name cluster or ideal\n"))
    done = bench.run("replay", "--simulate", "cluster", "ring.cairn", "--", "mpiexec", environment=path)
    expect("a launcher", (done.returncode, done.stderr), (2, "cairn: a simulation starts no ranks; leave out the command behind --\n"))


@case
def traces_come_from_standard_input(bench):
    for name in ("ring.cairn", "lossless.cairn", "gpu.cairn"):
        for words in (("info",), ("summary",), ("dump", "--limit", "30"), ("verify",)):
            with open(bench.folder / name) as trace:
                got = subprocess.run([bench.cairn, *words, "-"], cwd=bench.folder, env=bench.environment, stdin=trace,
                                     capture_output=True, text=True, timeout=60)
            wanted = bench.run(*words, name)
            expect(f"{words[0]} of {name}", got.stdout, wanted.stdout.replace(name, "standard input"))
            expect(f"exit code of {words[0]}", got.returncode, wanted.returncode)
    bench.check("info", "-", code=3, err="cairn: standard input: it is empty; give it a trace\n")
    bench.check("info", "empty.cairn", code=3, err="cairn: empty.cairn: the file is empty; record it again\n")


@case
def newest_trace_is_the_default(bench):
    with tempfile.TemporaryDirectory() as other:
        here = Bench.__new__(Bench)
        here.__dict__.update(bench.__dict__, folder=pathlib.Path(other))
        here.check(
            "info",
            code=2,
            err="cairn: no trace named, and none in this folder; record one with: cairn record -- mpiexec -n 4 ./app\n",
        )
        shutil.copy(bench.folder / "ring.cairn", other)
        shutil.copy(bench.folder / "threads.cairn", other)
        os.utime(here.folder / "ring.cairn", (1, 1))
        expect("file", json.loads(here.check("info", "--json", out=None).stdout)["file"], "threads.cairn")
        os.utime(here.folder / "threads.cairn", (0, 0))
        expect("file", json.loads(here.check("info", "--json", out=None).stdout)["file"], "ring.cairn")
        taken = "cairn: ring.cairn, the newest trace in this folder\n"
        here.check("dump", "--limit", "1", out=None, err=taken + NO_TIMES)
        here.check("dump", "--limit", "1", "ring.cairn", out=None, err=NO_TIMES)


def place_of_section(file, kind):
    """Where a section lies in a trace: docs/format.md, "The container"."""
    size = int.from_bytes(file[-16:-12], "little")
    directory = file[-16 - size:-16]
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            at += 1
            value |= (directory[at - 1] & 0x7f) << shift
            shift += 7
            if directory[at - 1] < 0x80:
                return value

    offset = 12
    for _ in range(varint()):
        its_kind, codec = directory[at], directory[at + 1]
        at += 2
        stored = varint()
        if codec not in (0, 3):
            varint()
        at += 0 if codec == 3 else 4
        if its_kind == kind:
            return range(offset, offset + stored)
        offset += stored
    raise Failure(f"no section of kind {kind}")


@case
def damaged_times_cost_their_block(bench):
    here = fresh(bench, "damaged_times")
    file = bytearray((bench.folder / "lossless.cairn").read_bytes())
    timing = place_of_section(file, 7)
    file[timing[len(timing) // 4]] ^= 4
    (here.folder / "bad.cairn").write_bytes(file)
    block = "block 0 of 1"
    fault = "section 'timing' holds times that are damaged, or of other calls: of calls 0 to "
    told = here.run("verify", "bad.cairn").stdout.splitlines()
    expect("the section", told[0], "bad.cairn: section 'timing' has a wrong checksum")
    found = re.fullmatch(rf"bad.cairn: rank (\d+), thread 0: {re.escape(fault)}(\d+) of rank \1, {block}", told[1])
    if not found or len(told) != 2:
        raise Failure(f"verify said: {told}")
    rank, last = found.groups()
    line = (f"cairn: bad.cairn: {fault}{last} of rank {rank}, {block} at byte {timing[0]}; "
            "other calls and times can be read; cairn verify names all that is damaged\n")
    good = [json.loads(text) for text in here.check("dump", "--json", "../lossless.cairn", out=None).stdout.splitlines()]
    bad = [json.loads(text) for text in here.check("dump", "--json", "bad.cairn", code=3, out=None, err=line).stdout.splitlines()]
    for call in good:
        if call.get("rank") == int(rank) and call["index"] <= int(last):
            del call["begin_ns"], call["duration_ns"], call["gap_ns"]
    expect("calls", bad, good)
    expect("lines", len(here.check("dump", "--order", "time", "bad.cairn", code=3, out=None, err=line).stdout.splitlines()),
           len(good) - 1)
    summary = here.check("summary", "--json", "bad.cairn", code=3, out=None,
                         err=f"cairn: no sum has the times of {int(last) + 1} calls, which are damaged\n{line}")
    expect("calls", json.loads(summary.stdout)["calls"], len(good) - 1)
    here.check("info", "bad.cairn", out=None,
               err="cairn: section 'timing' has a wrong checksum; cairn verify names the times that are damaged\n")
    here.check("repack", "--timing", "stats", "bad.cairn", "-o", "new.cairn", code=3, out=None, err=line)
    # Whether a run is correct does not hang on its times.
    whole = here.run("check", "--every-call", "../lossless.cairn")
    here.check("check", "--every-call", "bad.cairn", code=whole.returncode, out=whole.stdout, err=whole.stderr)


@case
def unreadable_traces(bench):
    for words in (("info",), ("summary",), ("dump",), ("gpu", "coverage"), ("verify",)):
        verb = " ".join(words)
        for name in ("cut", "flipped", "newer", "foreign", "empty"):
            done = bench.run(*words, f"{name}.cairn")
            expect(f"exit code of {verb} {name}", done.returncode, 3)
            expect(f"stdout of {verb} {name}", done.stdout, "")
            if not re.fullmatch(rf"cairn: {name}\.cairn: [^\n]+\n", done.stderr):
                raise Failure(f"{verb} {name} said: {done.stderr}")
        bench.check(*words, "none.cairn", code=3, err="cairn: none.cairn: there is no such file; cairn record makes one\n")
        bench.check(*words, ".", code=3, err="cairn: .: this is a folder, not a trace; name a .cairn file\n")
    newer = bench.run("info", "newer.cairn").stderr
    if "version" not in newer:
        raise Failure(f"no word of the version: {newer}")


@case
def a_closed_pipe_is_quiet(bench):
    words = f"'{bench.cairn}' dump lossless.cairn | head -n 1 | wc -l"
    done = subprocess.run(["sh", "-c", words], cwd=bench.folder, env=bench.environment, capture_output=True, text=True)
    expect("a closed pipe", (done.stdout.strip(), done.stderr), ("1", ""))


@case
def a_full_disk_is_not(bench):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [bench.cairn, "info", "ring.cairn"], cwd=bench.folder, env=bench.environment, stdout=full,
            stderr=subprocess.PIPE, text=True,
        )
    expect("a full disk", done.stderr, "cairn: cannot write the output: No space left on device\n")
    expect("exit code", done.returncode, 4)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    for words in (("repack", "-q", "--timing", "off", "ring.cairn", "-o", "short.cairn"), ("export", "--to", "csv", "ring.cairn", "-o", "short")):
        done = bench.run(*words, preexec_fn=limit)
        expect(f"{words[0]} to files that may not be as long", (done.returncode, done.stderr.count("\n"), "File too large" in done.stderr),
               (4, 1, True))
    left = sorted(path.name for path in bench.folder.glob("short*"))
    expect("what is left of files that may not be as long", left, [])


# --- pages -----------------------------------------------------------------------------------------------------------


def blocks_of(page):
    """What lies in a page of `cairn report`, by id: src/report/seven_bits.h says how."""
    unsafe = (0x00, 0x0a, 0x0d, 0x1a, 0x26, 0x3c)
    blocks = {}
    for name, size, text in re.findall(r'<script type="application/x-cairn" id="(\w+)" data-bytes="(\d+)">([^<]*)</script>',
                                       page):
        sevens = []
        for character in map(ord, text):
            sevens += [character] if character < 0x80 else [unsafe[(character >> 7) - 1], character & 0x7f]
        bits = "".join(f"{seven:07b}" for seven in sevens)
        blocks[name] = bytes(int(bits[i:i + 8], 2) for i in range(0, 8 * int(size), 8))
    return blocks


def as_in_a_page(json_of_verb):
    """Without what all have, lists of ranks as text, and numbers of twelve digits."""
    def short(value):
        if isinstance(value, float):
            return float(f"{value:.12g}")
        if isinstance(value, dict):
            return {name: ranks_as_text(inner) if name in ("ranks", "lacking", "incomplete_ranks", "only_first", "only_second")
                    else short(inner)
                    for name, inner in value.items()}
        return [short(inner) for inner in value] if isinstance(value, list) else value

    def ranks_as_text(value):
        if not isinstance(value, list) or not all(isinstance(each, int) for each in value):
            return short(value)
        parts = []
        for rank in value:
            if parts and parts[-1][1] + 1 == rank:
                parts[-1][1] = rank
            else:
                parts.append([rank, rank])
        return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)

    return {name: value for name, value in short(json_of_verb).items() if name not in ("schema", "file")}


def has_pages(bench):
    return (pathlib.Path(bench.cairn).parent / "../share/cairn/report/reader.wasm.gz").exists()


@case
def a_pipe_that_nobody_writes_to_is_not_waited_for(bench):
    here = fresh(bench, "pipe")
    os.mkfifo(here.folder / "pipe.cairn")
    here.check("info", "pipe.cairn", code=3, err="cairn: pipe.cairn: this is not a Cairn trace at byte 0; give a .cairn file that "
               "'cairn record' wrote\n")
    read = subprocess.run(["sh", "-c", 'cat ../ring.cairn | "$0" info /dev/stdin', bench.cairn], cwd=here.folder, capture_output=True,
                          text=True)
    expect("info of a pipe", "2 ranks" in read.stdout or "calls " in read.stdout, True)


@case
def report_makes_a_page(bench):
    here = fresh(bench, "report")
    if not has_pages(bench):
        here.check("report", "../ring.cairn", code=4, err=None)
        return
    here.check("report", "nowhere.cairn", code=3, err=None)
    here.check("report", "-q", "../ring.cairn")
    expect("written", here.sees("*"), ["ring.html"])
    page = (here.folder / "ring.html").read_bytes().decode()
    blocks = blocks_of(page)
    expect("the trace", blocks["trace0"], (bench.folder / "ring.cairn").read_bytes())
    facts = json.loads(gzip.decompress(blocks["facts"]))
    expect("schema", (facts["schema"], len(facts["traces"]), facts["diff"]), ("cairn.report/1", 1, None))
    for verb in ("info", "summary", "loops", "ranks", "phases", "sizes", "check"):
        done = here.run(verb, "--json", "../ring.cairn")
        # With it goes what it said of its answer.
        wanted = as_in_a_page(json.loads(done.stdout))
        if done.stderr:
            wanted["said"] = [line.removeprefix("cairn: ").removeprefix("../ring.cairn: ") for line in done.stderr.splitlines()]
        expect(verb, facts["traces"][0][verb], wanted)
    refused = here.run("waits", "--json", "../ring.cairn").stderr
    if refused:
        expect("waits", refused.endswith(facts["traces"][0]["waits"]["refused"] + "\n"), True)
    # Nothing but the blocks may be large, and nothing is loaded.
    expect("addresses", re.findall(r"https?://[^\"' ]*", re.sub(r'<script type="application/x-cairn".*?</script>', "", page,
                                                                flags=re.DOTALL)), [])
    expect("policy", "default-src 'none'" in page and "connect-src 'none'" in page, True)
    # An earlier page is replaced, nothing else is.
    here.check("report", "-q", "../ring.cairn")
    (here.folder / "mine.html").write_text("<!doctype html>mine")
    here.check("report", "-q", "-o", "mine.html", "../ring.cairn", code=2,
               err="cairn: mine.html: this is there already, and no page that cairn report wrote; name another file with -o\n")
    expect("mine", (here.folder / "mine.html").read_text(), "<!doctype html>mine")
    here.check("report", "-q", "-o", "nowhere/ring.html", "../ring.cairn", code=4,
               err="cairn: nowhere/ring.html: cannot write it: No such file or directory\n")
    done = here.run("report", "-o", "both.html", "../ring3.cairn", "../ring.cairn")
    expect("of two", (done.returncode, done.stderr.startswith("cairn: both.html: ")), (0, True))
    blocks = blocks_of((here.folder / "both.html").read_bytes().decode())
    facts = json.loads(gzip.decompress(blocks["facts"]))
    facts["diff"].pop("said", None)
    expect("diff", facts["diff"], as_in_a_page(json.loads(here.run("diff", "--json", "../ring3.cairn", "../ring.cairn").stdout)))
    expect("second trace", blocks["trace1"], (bench.folder / "ring.cairn").read_bytes())
    expect("left over", here.sees("*"), ["both.html", "mine.html", "ring.html"])


@case
def serve_shows_a_folder_to_who_knows_the_address(bench):
    here = fresh(bench, "serve")
    here.check("serve", "nowhere", code=4, err="cairn: nowhere: this is no folder; name the folder that the traces are in\n")
    program = pathlib.Path(bench.cairn).parent / "../libexec/cairn/cairn-serve"
    if not program.exists() or not has_pages(bench):
        return
    shutil.copy(bench.folder / "ring.cairn", here.folder / "a <b>&'.cairn")
    (here.folder / "secret.txt").write_text("secret")
    (here.folder / "empty.cairn").touch()
    (here.folder / "secret.cairn").symlink_to("secret.txt")
    (here.folder / "linked.cairn").symlink_to(bench.folder / "ring.cairn")
    server = subprocess.Popen([bench.cairn, "serve", "."], cwd=here.folder, env=bench.environment, stdout=subprocess.PIPE,
                              text=True)
    try:
        address = server.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", address)
        if not match:
            raise Failure(f"the address is {address!r}")
        port, root = int(match[1]), match[2]

        def get(path, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

        name = "a%20%3Cb%3E%26%27.cairn"
        status, listed = get(root)
        expect("list", (status, f'href="view/{name}">a &lt;b&gt;&amp;&#39;.cairn<' in listed.decode()), (200, True))
        trace = (bench.folder / "ring.cairn").read_bytes()
        expect("trace", get(f"{root}trace/{name}"), (200, trace))
        size = len(trace)
        for asked, wanted in (("10-19", (206, trace[10:20])), ("10-", (206, trace[10:])), ("-10", (206, trace[-10:])),
                              (f"{size - 1}-{size + 100}", (206, trace[-1:])), (f"-{size + 9}", (206, trace)),
                              (f"{size}-", (416, b"")), ("99999999-", (416, b"")), ("-0", (416, b""))):
            expect(f"a part: {asked}", get(f"{root}trace/{name}", Range=f"bytes={asked}"), wanted)
        expect("what is empty", get(f"{root}trace/empty.cairn"), (200, b""))
        expect("a link to a trace", get(f"{root}trace/linked.cairn"), (200, trace))
        expect("a link to something else", get(f"{root}trace/secret.cairn")[0], 404)
        status, page = get(f"{root}view/{name}")
        version = re.search(f'data-address="../trace/{name}([?]of=[0-9-]*)"', page.decode())
        expect("page", (status, b"connect-src 'self'" in page, version is not None), (200, True, True))
        expect("the trace of the page", get(f"{root}trace/{name}{version[1]}", Range="bytes=0-7"), (206, trace[:8]))
        expect("another one", get(f"{root}trace/{name}{version[1]}1", Range="bytes=0-7")[0], 410)
        status, facts = get(f"{root}facts/{name}")
        told = json.loads(gzip.decompress(facts))["traces"][0]
        expect("facts", (status, told["info"]), (200, as_in_a_page(json.loads(bench.run("info", "--json", "ring.cairn").stdout))))
        for path in ("/", "/view/" + name, root[:-2] + "/", root + "trace/secret.txt", root + "trace/..%2fring.cairn",
                     root + "trace/../secret.txt", root + "nothing"):
            expect(path, get(path)[0], 404)
        expect("another host", get(root, Host="example.org")[0], 404)
        expect("this host", get(root, Host=f"localhost:{port}")[0], 200)
        taken = bench.run("serve", ".", "--port", str(port))
        expect("a port that is taken", (taken.returncode, taken.stderr),
               (4, f"cairn: port {port} of 127.0.0.1 cannot be had; name another with --port, or none\n"))
    finally:
        server.terminate()
        server.wait(timeout=30)
    expect("left", here.sees("*"), ["a <b>&'.cairn", "empty.cairn", "linked.cairn", "secret.cairn", "secret.txt"])


# --- terminals -------------------------------------------------------------------------------------------------------


def looks(bench):
    """Every verb that prints text for people, over traces that have something to print."""
    for words in (("info", "ring.cairn"), ("info", "gpu.cairn"), ("summary", "ring.cairn"), ("summary", "--callsites", "ring.cairn"),
                  ("summary", "--per-rank", "ring.cairn"), ("dump", "ring.cairn"), ("dump", "lossless.cairn"),
                  ("dump", "--grammar", "ring.cairn"), ("dump", "gpu.cairn", "--warp", "1"), ("gpu", "divergence", "gpu.cairn"),
                  ("gpu", "coverage", "gpu.cairn"), ("gpu", "values", "values.cairn"), ("gpu", "sizes", "gpu.cairn"),
                  ("diff", "gpu.cairn", "gpu2.cairn"), ("arrays", "info", "--blocks", "rewritten.nc"), ("verify", "ring.cairn")):
        yield words, bench.run(*words).stdout


@case
def text_fits_the_terminal(bench):
    for words, whole in looks(bench):
        for columns in (120, 80, 60):
            shown = bench.at_terminal(*words, columns=columns, lines=9999)
            wide = [line for line in shown.splitlines() if len(line) > columns and not line.startswith("cairn: ")]
            expect(f"lines of {words} that are wider than {columns}", wide, [])
        wide = bench.at_terminal(*words, columns=999, lines=9999)
        expect(f"{words} in a wide terminal", wide.replace(NO_TIMES, ""), whole)
    # What is folded is all there.
    for words in (("info", "ring.cairn"), ("dump", "--grammar", "ring.cairn")):
        shown = bench.at_terminal(*words, columns=60, lines=9999)
        expect(f"words of {words}", shown.split(), bench.run(*words).stdout.split())
    # JSON, and what a shell is to read, stay as they are.
    for words in (("info", "--json", "ring.cairn"), ("summary", "--json", "ring.cairn"), ("dump", "--jsonl", "gpu.cairn", "--warp", "1")):
        expect(f"{words}", bench.at_terminal(*words, columns=60, lines=9999), bench.run(*words).stdout)


@case
def narrow_tables_leave_out_what_says_least(bench):
    """Texts are shortened in the middle first, then columns go."""
    head, *rows = bench.at_terminal("summary", "--callsites", "ring.cairn", "--limit", "3", lines=99).splitlines()[6:]
    for word in ("function", "calls", "time", "%MPI", "call site"):
        expect(f"the column {word}", word in head, True)
    expect("a path", rows[1].endswith(" stencil.cc:60 in exchange()"), True)
    expect("what went", rows[3:5],
           ["(the terminal has no room for: bytes, %run, mean, p95, p99, max, ranks, least", "    on, most on)"])
    rows = bench.at_terminal("summary", "--callsites", "ring.cairn", "--limit", "3", columns=36, lines=99).splitlines()
    expect("a path", "MPI_Waitall  stencil.cc:60" in rows, True)
    # As wide as it is said to be by default, a table without long names says where the time went, how long calls took,
    # and whom the others may have waited for.
    words = ("summary", "ring.cairn", "--function", "MPI_Waitall,MPI_Isend")
    shown = bench.at_terminal(*words, lines=99).splitlines()[6:]
    expect("columns", shown[0].split(), "function calls bytes time %MPI median p99 imbalance least on".split())
    expect("what went", shown[3], "(the terminal has no room for: %run, mean, p95, max, ranks, most on)")
    # And one that is wide enough has all, as a file has.
    wide = bench.at_terminal("summary", "ring.cairn", columns=150, lines=99).splitlines()[6:]
    expect("all columns", wide[0], bench.run("summary", "ring.cairn").stdout.splitlines()[6])


@case
def lines_of_call_sites_stay_whole(bench):
    """However long the names of C++ functions are, which have no parameters there."""
    place = "stencil-communication.cc:50"
    name = "mesh::Domain<double>::exchange()"
    words = ("summary", "--callsites", "long_names.cairn", "--function", "MPI_Recv")
    whole = bench.run(*words).stdout.splitlines()
    expect("a pipe", [line.split("  ")[-1] for line in whole[8::2]], [f"{place} in {name}"] * 2)
    for columns in (60, 80, 100, 120):
        rows = bench.at_terminal(*words, columns=columns, lines=99).splitlines()
        expect(f"lines wider than {columns}", [row for row in rows if len(row) > columns], [])
        sites = [row.split(place)[1] for row in rows if row.startswith("MPI_Recv") and place in row]
        expect(f"whole places at {columns}", len(sites), 2)
        for site in sites:
            expect(f"a name at {columns}", site == "" or site.startswith(" in m") and site.endswith("()"), True)
        expect(f"callers at {columns}", "    called at stencil-communication.cc:20 in main()" in rows, True)
    rows = bench.at_terminal(*words, columns=34, lines=99).splitlines()
    expect("where there is no room at all", [row for row in rows if "cc:" in row],
           ["MPI_Recv …ncil-communication.cc:50", "…ed at stencil-communication.cc:20",
            "MPI_Recv …ncil-communication.cc:50", "…ed at stencil-communication.cc:30"])


@case
def progress_of_scripts_stays_on_its_line(bench):
    """It is written over and over again, which a line that wraps is not."""
    here = fresh(bench, "progress")
    (here.folder / "log").mkdir()
    step = 'echo "a long line of a log, longer than many terminals are wide, with what is being compiled"; sleep 1.2'
    script = f"""cd '{ROOT}'; . scripts/steps.bash; steps_total=1 log_dir='{here.folder}/log'
                 compile_all() {{ {step}; }}; run_step compile 'a step with a title of its own' compile_all"""
    for columns in (30, 60, 200):
        shown = here.at_terminal("-c", script, columns=columns, program="bash")
        lines = [line for line in re.split("\r\033\\[K", shown.split("\n")[0])[:-1] if line]
        expect(f"lines wider than {columns}", [line for line in lines if len(line) >= columns], [])
        expect(f"the step in {columns} columns", {line[:20] for line in lines}, {"[1/1] a step with a "})
        expect(f"the log in {columns} columns", any("compiled" in line for line in lines), columns == 200)


@case
def long_text_goes_to_a_pager(bench):
    here = fresh(bench, "pager")
    words = ("summary", "../ring.cairn")
    text = here.run(*words).stdout
    shown = here.folder / "shown"

    def paged(*words, lines=10, **environment):
        shown.unlink(missing_ok=True)
        printed = here.at_terminal(*words, columns=999, lines=lines,
                                   environment={"TERM": "xterm", "NO_COLOR": "1", **environment})
        return printed, shown.read_text() if shown.exists() else None

    mine = "cat > shown"
    expect("CAIRN_PAGER", paged(*words, CAIRN_PAGER=mine, PAGER="false"), ("", text))
    expect("PAGER", paged(*words, PAGER=mine), ("", text))
    expect("a short text", paged(*words, lines=50, CAIRN_PAGER=mine), (text, None))
    for none in ("", "cat", "no-such-pager -x"):
        expect(f"CAIRN_PAGER={none}", paged(*words, CAIRN_PAGER=none, PAGER=mine), (text, None))
    expect("a dumb terminal", paged(*words, CAIRN_PAGER=mine, TERM="dumb"), (text, None))
    for option in (("--no-pager", *words), (words[0], "--no-pager", words[1]), (*words, "--no-pager")):
        expect(f"{option}", paged(*option, CAIRN_PAGER=mine), (text, None))
    arrays = ("arrays", "info", "--blocks", "../rewritten.nc")
    expect("of arrays", paged(*arrays, CAIRN_PAGER=mine, lines=5), ("", here.run(*arrays).stdout))
    expect("of arrays", paged("--no-pager", *arrays, CAIRN_PAGER=mine, lines=5), (here.run(*arrays).stdout, None))
    expect("LESS", paged(*words, CAIRN_PAGER='echo "$LESS" > shown'), ("", "FRX\n"))
    expect("LESS of the user", paged(*words, CAIRN_PAGER='echo "$LESS" > shown', LESS="M"), ("", "M\n"))
    # Much text, and a reader who has seen enough.
    dump = ("dump", "../lossless.cairn", "../lossless.cairn")[:2]
    expect("much", paged(*dump, CAIRN_PAGER=mine), ("", here.run(*dump).stdout))
    expect("enough", paged(*dump, CAIRN_PAGER="head -n 1 > shown"), ("", here.run(*dump).stdout.split("\n")[0] + "\n"))
    here.check(*words, out=text, environment={"CAIRN_PAGER": mine})


# --- wrong words -------------------------------------------------------------------------------------------------------


@case
def wrong_words(bench):
    def wrong(*words, code=2, err):
        bench.check(*words, code=code, err=f"cairn: {err}\n")

    wrong("inof", err="there is no verb 'inof'; did you mean cairn info?")
    wrong("smmry", err="there is no verb 'smmry'; did you mean cairn summary?")
    wrong("hlep", err="there is no verb 'hlep'; did you mean cairn help?")
    wrong("--hlep", err="unknown option --hlep; did you mean --help?")
    wrong("-x", err="unknown option -x; see cairn --help")
    wrong("info", "--hlep", err="unknown option --hlep; did you mean --help?")
    wrong("frobnicate", err="there is no verb 'frobnicate'; see cairn --help")
    wrong("info", "--jsn", err="unknown option --jsn; did you mean --json?")
    wrong("info", "--frobnicate", err="unknown option --frobnicate; see cairn info --help")
    wrong("info", "ring.cairn", "bare.cairn", err="unexpected argument 'bare.cairn'; see cairn info --help")
    wrong(
        "dump", "ring.cairn", "--function", "MPI_Isned",
        err="unknown function 'MPI_Isned'; did you mean MPI_Isend?",
    )
    wrong("dump", "ring.cairn", "--order", "time",
          err="ring.cairn: --order time: this trace has no times of single calls; record with --timing context")
    wrong("dump", "ring.cairn", "--function", "send", err="unknown function 'send'; did you mean MPI_Send?")
    wrong(
        "dump", "ring.cairn", "--function", "qwertzuiop",
        err="unknown function 'qwertzuiop'; names are those of the MPI standard, as in MPI_Send",
    )
    wrong(
        "summary", "ring.cairn", "--function", "foo*",
        err="no MPI function matches 'foo*'; quote patterns, as in --function 'MPI_*send'",
    )
    wrong("dump", "ring.cairn", "--rank", "4", err="there is no rank 4 in this trace; it holds 0-3")
    wrong("dump", "ring.cairn", "--rank", "0", "--rank", "1", err="--rank is given 2 times; give it one list, as in --rank 0,1")
    wrong("dump", "ring.cairn", "--order", "rank", "--order", "rank", err="--order is given 2 times; give it once")
    wrong("dump", "ring.cairn", "--result", "MPI_ERR_TRUNCATE(x)",
          err="no call returns 'MPI_ERR_TRUNCATE(x)'; did you mean MPI_ERR_TRUNCATE?")
    wrong("dump", "ring.cairn", "--rank", "0-9", err="there is no rank 4 in this trace; it holds 0-3")
    for text in ("x", "-5", "1.5", "1x", "99999999999999999999"):
        wrong("dump", "ring.cairn", f"--limit={text}", err=f"--limit: '{text}' is no number from 0 on; see cairn dump --help")
    wrong("dump", "ring.cairn", "--limit", "-5", err="--limit: '-5' is no number from 0 on; see cairn dump --help")
    for option in ("--rank", "--function", "--time", "--site", "--peer", "--tag", "--comm", "--thread", "--result"):
        wrong("dump", "ring.cairn", option, "", err=f"{option} is given an empty word; leave it out, or say what")
    for text in ("x", "3-1", "1,,2", "-1", "0x3", "99999999999"):
        wrong("dump", "ring.cairn", f"--rank={text}", err=f"'{text}' is no list of ranks; write ranks as in --rank 0-7,12")
    wrong(
        "dump", "ring.cairn", "--rank", "0-4294967295",
        err="'0-4294967295' names too many ranks; leave --rank out for all ranks",
    )
    wrong("dump", "ring.cairn", "--rank", "^4", err="there is no rank 4 in this trace; it holds 0-3")
    wrong("dump", "ring.cairn", "--from", "-1", err="--from: '-1' is no number from 0 on; see cairn dump --help")
    wrong("summary", "ring.cairn", "--site", "stencil.cc:45",
          err="no call of this trace was made at 'stencil.cc:45'; did you mean stencil.cc:40?")
    wrong("summary", "bare.cairn", "--site", "qwertzuiop",
          err="no call of this trace was made at 'qwertzuiop'; places are named as in main.c:42, main.c, exchange or app+0x1234")
    wrong("dump", "ring.cairn", "--peer", "x", err="--peer: 'x' is no list of ranks; write numbers as in --peer 0-7,12,any")
    wrong("dump", "ring.cairn", "--tag", "!7", err="--tag '!7': what is to be left out has ^ before it; write --tag '^7'")
    wrong("dump", "ring.cairn", "--comm", "MPI_COMM_WRLD",
          err="there is no communicator 'MPI_COMM_WRLD' in this trace; did you mean MPI_COMM_WORLD?")
    wrong("dump", "threads.cairn", "--thread", "2", err="there is no thread 2 in this trace; it holds 0-1")
    wrong("dump", "ring.cairn", "--result", "MPI_ERR_TRUNKATE",
          err="no call returns 'MPI_ERR_TRUNKATE'; did you mean MPI_ERR_TRUNCATE?")
    wrong("summary", "ring.cairn", "--from", "3", err="unknown option --from; see cairn summary --help")
    wrong(
        "dump", "ring.cairn", "--time", "1s+20ms",
        err="--time needs the time of every call, and this trace has statistics only; record with --timing context",
    )
    for text in ("x", "1h", "1s+", "-1s", "1e99", ""):
        if text:
            bad = text.split("+")[-1] if text != "1s+" else ""
            wrong(
                "dump", "lossless.cairn", f"--time={text}",
                err=f"'{bad}' is no time; write times as in --time 1s+20ms",
            )
    wrong("dump", "lossless.cairn", "--time", "5000s+1s",
          err="--time 5000s+1s begins behind the run; it ends 1.000004 s after the first call of any rank")
    wrong("summary", "--callsites", "--per-rank", err="--callsites and --per-rank cannot go together; choose one")
    wrong("dump", "--grammar", "--json", err="--grammar is text, without JSON; choose one")
    for option in ("--function", "--site", "--peer", "--tag", "--comm", "--thread", "--result", "--time", "--from"):
        wrong("dump", "--grammar", option, "1", "ring.cairn",
              err="--grammar prints whole rules, of all calls and times; choose one")
        wrong("dump", "--warp", "1", option, "1", "gpu.cairn",
              err="--warp prints events of GPU warps, which are no calls; choose one")
    wrong("dump", "--grammar", "--stack", err="--grammar prints rows, without call stacks; choose one")
    done = bench.check(code=2, err=None)
    if not done.stderr.startswith("Records what a parallel program does"):
        raise Failure(f"no help: {done.stderr}")


@case
def help_and_version(bench):
    bench.check("--version", out="cairn 0.1.0\n")
    for of in ((), ("arrays",)):
        general = bench.check(*of, "--help", out=None).stdout
        listed = dict(re.findall(r"^  ([a-z]+) +([A-Z].*)$", general, re.M))
        expect(f"verbs in the help of {of}", list(listed.items()), list(bench.verbs(*of).items()))
        for verb in listed:
            text = bench.check(*of, verb, "--help", out=None).stdout
            for needed in (f"cairn {' '.join((*of, verb))} ", "-h,--help"):
                if needed not in text:
                    raise Failure(f"no {needed} in the help of {verb}: {text}")


@case
def help_is_a_verb_too(bench):
    for words in ((), ("record",), ("arrays",), ("arrays", "info")):
        bench.check("help", *words, out=bench.run(*words, "--help").stdout)
    bench.check("help", "inof", code=2, err="cairn: there is no verb 'inof'; did you mean cairn info?\n")
    expect("offered", set(bench.offers("help", "")), set(bench.verbs()))


@case
def short_options_go_together(bench):
    here = fresh(bench, "together")
    copy = ("sh", "-c", 'cp ../ring.cairn "$CAIRN_OUTPUT"')
    for words in (("-qo", "x.cairn"), ("-qfo", "x.cairn"), ("-qfox.cairn",), ("-fqo", "x.cairn", "--")):
        here.check("record", *words, *copy)
        expect("files", here.sees("*"), ["x.cairn"])
    expect("offered", here.offers("record", "-qfo", ""), {":files": ""})
    expect("offered", "-q" in here.offers("record", "-qf", "-"), False)
    expect("offered", here.offers("record", "-qfox", ""), {":command 1": ""})


def options_of_help(bench, *verb):
    text = bench.run(*verb, "--help").stdout
    found = set()
    for line in text.splitlines():
        if re.match(r"  -", line):
            found.update(re.findall(r"(?<![\w-])--?[A-Za-z][a-z0-9-]*", line.split("  ")[1].split(" ")[0].replace(",", " ")))
    return found


def man_page(verb):
    return (ROOT / "man" / (f"cairn-{verb}.1" if verb else "cairn.1")).read_text().replace("\\-", "-")


def section_of(page, name):
    return page.split(f"\n.SH {name}\n", 1)[1].split("\n.SH ", 1)[0]


@case
def every_verb_has_a_man_page(bench):
    """The pages are those of the table: a new verb needs one, and the list in cairn(1)."""
    verbs = bench.verbs()
    pages = sorted(path.name for path in (ROOT / "man").glob("*.1"))
    expect("man pages", pages, sorted(["cairn.1", *(f"cairn-{verb}.1" for verb in verbs)]))
    listed = re.findall(r"\.TP\n\.BR cairn-([a-z]+) \(1\)\n(.*)\.", section_of(man_page(""), "VERBS") + "\n")
    expect("verbs in cairn(1)", listed, list(verbs.items()))
    for verb, help_line in verbs.items():
        page = man_page(verb)
        expect(f"name of cairn-{verb}(1)", section_of(page, "NAME"), f"cairn-{verb} - {help_line[0].lower()}{help_line[1:]}")
        said = re.search(r"\nExit status: (.*)\n", bench.run(verb, "--help").stdout)
        if said:  # what `cairn arrays` becomes has a page for all of its verbs
            codes = set(re.findall(r"\b\d+\b", section_of(page, "EXIT STATUS")))
            expect(f"exit codes in cairn-{verb}(1)", codes - {"128"}, set(re.findall(r"\b\d+\b", said.group(1))))


@case
def man_pages_name_the_options(bench):
    for verb in ("", *bench.verbs()):
        heads = re.findall(r"^\.TP\n(.*)$", section_of(man_page(verb), "OPTIONS"), re.M)
        found = set(re.findall(r"\\fB(-[A-Za-z0-9-]+)\\fR", "\n".join(heads)))
        expect(f"options in the man page of {verb or 'cairn'}", sorted(found), sorted(options_of_help(bench, *verb.split())))
    for verb in bench.verbs("arrays"):
        section = man_page("arrays").split(f"\n.SS cairn arrays {verb} ", 1)[1].split("\n.S", 1)[0]
        heads = "\n".join(re.findall(r"^\.TP\n(.*)$", section, re.M))
        options = sorted(options_of_help(bench, "arrays", verb))
        expect(f"man page of arrays {verb}", sorted(re.findall(r"\\fB(-[A-Za-z0-9-]+)\\fR", heads)), options)


@case
def man_pages_have_examples(bench):
    """Of the verb itself, and with options that it has."""
    for verb in ("", *bench.verbs()):
        lines = [line.strip() for line in section_of(man_page(verb), "EXAMPLES").split("\n")]
        named = [line.split() for line in lines if "cairn " in line and not line.endswith(":") and not line.endswith("?")]
        expect(f"examples of {verb or 'cairn'}", any(f"cairn {verb}".strip() in " ".join(words) for words in named), True)
        for words in named:
            own = words[words.index("cairn") + 1:] if "cairn" in words else []
            if not own or own[0] not in bench.verbs() or own[0] == "arrays":
                continue
            end = next((at for at, word in enumerate(own) if word in ("--", "|") or word.startswith("./")), len(own))
            options = {word for word in own[1:end] if word.startswith("-") and word != "-"}
            expect(f"unknown options of cairn {own[0]}", options - options_of_help(bench, own[0]), set())


# --- completion ----------------------------------------------------------------------------------------------------------


@case
def options_are_completed(bench):
    for of in ((), ("arrays",)):
        expect(f"options of {of}", set(bench.offers(*of, "-")), options_of_help(bench, *of))
        for verb in bench.verbs(*of):
            if verb != "arrays":
                expect(f"options of {verb}", set(bench.offers(*of, verb, "-")), options_of_help(bench, *of, verb))
    expect("what an option is", bench.offers("info", "--j")["--json"], "Print JSON, with the name of its schema")
    # What is there already, and what it excludes, is not offered again; what may be repeated is.
    gone = {"--per-rank", "--callsites"}
    expect("after --per-rank", set(bench.offers("summary", "--per-rank", "-")), options_of_help(bench, "summary") - gone)
    gone = {"-q", "--quiet"}
    expect("after -q", set(bench.offers("merge", "-q", "spool", "-")), options_of_help(bench, "merge") - gone)
    expect("after -I x", "-I" in bench.offers("instrument", "-I", "x", "-"), True)


@case
def values_and_words_are_completed(bench):
    def offered(*words):
        return list(bench.offers(*words))

    modes = ["stats", "stats-gaps", "context", "lossless", "hist", "cfg", "sz", "sz-clustered", "zfp", "zfp-clustered", "bins", "off"]
    expect("timing", offered("record", "--timing", ""), modes)
    expect("--timing=", offered("record", "--timing=l"), [f"--timing={mode}" for mode in modes])
    expect("call sites", offered("exec", "--callsites", ""), ["site", "stack", "none"])
    expect("output", offered("record", "-o", "r"), [":files"])
    expect("oracle", offered("env", "--oracle", ""), [":folders"])
    expect("memory", offered("record", "--memory", ""), [])
    expect("first word of a command", offered("record", "-q", "mpi"), [":command 1"])
    expect("first word behind --", offered("record", "--", "mpi"), [":command 1"])
    expect("words of a command", offered("exec", "-o", "x", "mpiexec", "-n", ""), [":command 3"])
    expect("words behind --", offered("env", "--openmpi", "--", "-x", "y"), [":command 2"])
    for verb in ("info", "summary", "dump", "verify", "export"):
        expect(f"trace of {verb}", offered(verb, ""), [":files .cairn"])
        expect(f"second trace of {verb}", offered(verb, "a.cairn", ""), [])
    expect("second trace of diff", offered("diff", "a.cairn", ""), [":files .cairn"])
    expect("third trace of diff", offered("diff", "a.cairn", "b.cairn", ""), [])
    expect("question", offered("gpu", ""), ["divergence", "source", "loops", "folded", "coverage", "accesses", "blocks", "values", "launches", "sizes"])
    expect("trace of gpu", offered("gpu", "sizes", ""), [":files .cairn"])
    expect("third part", offered("merge", "a", "b", ""), [":files"])
    expect("language", offered("instrument", "-x", ""), ["cuda", "hip"])
    expect("parser's words", offered("instrument", "a.cu", "--", "-"), [])
    expect("what is no verb", offered("inof", ""), [])
    expect("layout", offered("arrays", "run", "--layout", ""), ["dense", "sparse", "hybrid"])
    expect("command of arrays run", offered("arrays", "run", "--", "mpiexec", ""), [":command 2"])
    expect("file", offered("arrays", "export", "a.nc", ""), [":files"])
    codecs = offered("arrays", "import", "--codec", "")
    expect("codecs", [name for name in ("auto", "auto:speed", "store", "zstd", "delta") if name not in codecs], [])


SHELLS = {
    "bash": r"""source '{root}/cairn.bash'
        COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _cairn; printf '%s\n' "${{COMPREPLY[@]}}" """,
    "fish": r"""source '{root}/cairn.fish'; complete -C "{line}" """,
    # In place of what works in the line editor only.
    "zsh": r"""_files() {{ case $1 in -g) print -rl -- *.cairn;; -/) print -rl -- *(/);; *) print -rl -- *;; esac }}
        _describe() {{ print -rl -- "${{(@)${{(@P)2}}%%:*}}" }}
        compset() {{ words=("${{(@)words[$2 + 1,-1]}}"); (( CURRENT -= $2 )) }}
        _normal() {{ print -r -- "$CURRENT ${{words}}" }}
        words=({words}); CURRENT=$#words; source '{root}/_cairn'""",
}


@case
def shells_ask_cairn(bench):
    """The scripts pass on what is offered. Those of fish and zsh only where there is such a shell."""
    folder = bench.folder / "shells"
    (folder / "sub").mkdir(parents=True)
    for name in ("a.cairn", "b.nc"):
        (folder / name).touch()
    environment = {**bench.environment, "PATH": f"{pathlib.Path(bench.cairn).parent}:{os.environ['PATH']}", "HOME": str(folder)}

    def completed(shell, line):
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        script = SHELLS[shell].format(root=ROOT / "completions", words=quoted, line=line)
        plain = {"bash": ["--norc"], "fish": ["--no-config"], "zsh": ["-f"]}[shell]
        done = subprocess.run([shell, *plain, "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=60)
        expect(f"stderr of {shell}", done.stderr, "")
        return {each.partition("\t")[0].rstrip("/") for each in done.stdout.splitlines() if each}

    for shell in SHELLS:
        if shell != "bash" and not shutil.which(shell):
            continue
        expect(f"verbs in {shell}", completed(shell, "cairn "), set(bench.verbs()))
        expect(f"verbs of arrays in {shell}", completed(shell, "cairn arrays "), set(bench.verbs("arrays")))
        begun = {option for option in options_of_help(bench, "dump") if option.startswith("--l") or shell == "zsh"}
        expect(f"options in {shell}", completed(shell, "cairn dump --l"), begun)
        expect(f"values in {shell}", completed(shell, "cairn record --timing "), {"stats", "stats-gaps", "context", "lossless", "hist", "cfg", "sz", "sz-clustered", "zfp", "zfp-clustered", "bins", "off"})
        expect(f"traces in {shell}", "a.cairn" in completed(shell, "cairn dump "), True)
        expect(f"folders in {shell}", completed(shell, "cairn verify --against "), {"sub"})
        expect(f"files in {shell}", completed(shell, "cairn merge ") >= {"a.cairn", "b.nc"}, True)
        inner = completed(shell, "cairn record -q -- cat b")
        expect(f"the command's words in {shell}", inner, {"2 cat b"} if shell == "zsh" else {"b.nc"})


# --- recording -----------------------------------------------------------------------------------------------------------


def fresh(bench, name):
    """A folder of its own for a recording."""
    folder = bench.folder / name
    folder.mkdir()
    here = Bench.__new__(Bench)
    here.__dict__.update(bench.__dict__, folder=folder)
    return here


@case
def record_passes_on_the_exit_status(bench):
    here = fresh(bench, "status")
    nothing = ("cairn: nothing was recorded: no process called MPI; is it an MPI program, and did it start? If what starts "
               "it drops or replaces LD_PRELOAD, write LAUNCHER cairn exec PROGRAM, or set there what cairn env prints\n")
    here.check("record", "--", "sh", "-c", "exit 0", code=125, err=nothing)
    here.check("record", "--", "sh", "-c", "exit 7", code=7, err=nothing)
    here.check("record", "sh", "-c", "exit 7", code=7, err=nothing)
    here.check("record", "-o", "x.cairn", "sh", "-c", "kill -KILL $$", code=137, err=nothing)
    here.check("record", "--", "sh", "-c", "echo out; echo err >&2; exit 3", code=3, out="out\n", err="err\n" + nothing)
    expect("left over", here.sees("*"), [])


@case
def record_writes_the_trace(bench):
    here = fresh(bench, "writes")
    line = "cairn: run.cairn: 4 ranks, 1,224 calls of 9 functions, {} B\n"
    size = (bench.folder / "ring.cairn").stat().st_size
    here.check("record", "sh", "-c", 'cp ../ring.cairn "$CAIRN_OUTPUT"', err=line.format(size))
    expect("files", here.sees("*"), ["run.cairn"])
    here.check("verify", "run.cairn", out=None)
    here.check("record", "-o", "run.cairn", "true", code=125,
               err="cairn: run.cairn: it exists already; choose another name with -o, or --force\n")
    here.check("record", "-q", "-f", "sh", "-c", 'cp ../threads.cairn "$CAIRN_OUTPUT"; exit 9', code=9)
    expect("replaced", json.loads(here.run("info", "--json", "run.cairn").stdout)["ranks"], 1)


@case
def earlier_traces_are_kept_aside(bench):
    """Under the name that a trace has when none is given. A long command never fails for one that is there."""
    here = fresh(bench, "aside")

    def recorded(name, said, *options):
        size = (bench.folder / name).stat().st_size
        done = here.check("record", *options, "sh", "-c", f'cp ../{name} "$CAIRN_OUTPUT"', err=None)
        lines = done.stderr.splitlines()
        expect("said", [line for line in lines if f"{size:,} B" not in line and "KiB" not in line], said)

    def ranks(name):
        return json.loads(here.run("info", "--json", name).stdout)["ranks"]

    recorded("ring.cairn", [])
    aside = "cairn: run.cairn of an earlier recording is now run.cairn.old"
    recorded("lossless.cairn", [aside])
    expect("ranks", (ranks("run.cairn"), ranks("run.cairn.old")), (2, 4))
    # A recording of nothing moves nothing; one that is quiet says nothing of it.
    here.check("record", "false", code=1, err=None)
    expect("kept", here.sees("*"), ["run.cairn", "run.cairn.old"])
    here.check("record", "-q", "sh", "-c", 'cp ../ring.cairn "$CAIRN_OUTPUT"')
    expect("ranks", (ranks("run.cairn"), ranks("run.cairn.old")), (4, 2))
    # What is no trace is nobody's to move: then the trace gets the next name.
    (here.folder / "run.cairn.old").write_text("a letter")
    done = here.check("record", "sh", "-c", 'cp ../lossless.cairn "$CAIRN_OUTPUT"', err=None)
    if not done.stderr.startswith("cairn: run-2.cairn: 2 ranks"):
        raise Failure(done.stderr)
    expect("ranks", (ranks("run.cairn"), ranks("run-2.cairn")), (4, 2))
    expect("kept", (here.folder / "run.cairn.old").read_text(), "a letter")
    (here.folder / "run.cairn").write_text("a letter")
    here.check("record", "true", code=125, err="cairn: run.cairn: it exists already, and is no trace; choose another name "
               "with -o: --force overwrites traces alone\n")
    # With a name: as that says, and -f overwrites without keeping.
    here.check("record", "-q", "-o", "mine.cairn", "sh", "-c", 'cp ../ring.cairn "$CAIRN_OUTPUT"')
    here.check("record", "-o", "mine.cairn", "true", code=125,
               err="cairn: mine.cairn: it exists already; choose another name with -o, or --force\n")
    here.check("record", "-qf", "-o", "mine.cairn", "sh", "-c", 'cp ../lossless.cairn "$CAIRN_OUTPUT"')
    expect("files", here.sees("mine*"), ["mine.cairn"])


@case
def what_comes_next_is_said_at_a_terminal(bench):
    here = fresh(bench, "next")
    script = 'cp ../ring.cairn "$CAIRN_OUTPUT"'
    size = (bench.folder / "ring.cairn").stat().st_size
    line = f"4 ranks, 1,224 calls of 9 functions, {size} B"
    expect("said", here.at_terminal("record", "-o", "a b.cairn", "sh", "-c", script),
           f"cairn: a b.cairn: {line}\ncairn: next: cairn summary 'a b.cairn'\n")
    expect("said", here.at_terminal("record", "-q", "-o", "c.cairn", "sh", "-c", script), "")


@case
def record_under_a_launcher(bench):
    """mpiexec -n 4 cairn record ./app: refused before anything runs, in one line."""
    here = fresh(bench, "under")

    def refused(told, command):
        rank, size, started = told
        err = (f"cairn: cairn record is to start the launcher, and here {started} started it; write cairn record -- {started} "
               f"sh -c {command}, or {started} cairn exec sh -c {command}\n")
        here.check("record", "sh", "-c", "touch ran", code=125, err=err, environment={rank: "0", **size})
        here.check("record", "sh", "-c", "touch ran", code=125, environment={rank: "1", **size})
        expect("left over", here.sees("*"), [])

    for rank, size, started in (
        ("PMI_RANK", {"PMI_SIZE": "4"}, "mpiexec -n 4"),
        ("OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE": "2", "PMIX_RANK": "0"}, "mpiexec -n 2"),
        ("SLURM_PROCID", {"SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_ID": "0", "PMI_SIZE": "8", "PMI_RANK": "0"}, "srun -n 8"),
        ("PMIX_RANK", {}, "mpiexec"),
    ):
        refused((rank, size, started), "'touch ran'")
    copy = ("-q", "-f", "sh", "-c", 'cp ../ring.cairn "$CAIRN_OUTPUT"')
    # The shell of a batch script, the only process of a launcher, and a job within a job.
    here.check("record", *copy, environment={"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_JOB_ID": "17"})
    for step in ("4294967290", "4294967291"):
        here.check("record", *copy, environment={"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_ID": step})
    here.check("record", *copy, environment={"SLURM_PROCID": "0", "SLURM_STEP_ID": "3", "SLURM_STEP_NUM_TASKS": "1", "PMI_RANK": "0", "PMI_SIZE": "1"})
    here.check("record", *copy, environment={"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"})
    launcher = here.folder / "mpiexec"
    launcher.write_text('#!/bin/sh\ncp ../ring.cairn "$CAIRN_OUTPUT"\n')
    launcher.chmod(0o755)
    here.check("record", "-q", "-f", "./mpiexec", "-n", "4", "./app", environment={"PMI_RANK": "2", "PMI_SIZE": "4"})


@case
def launchers_that_drop_the_recorder(bench):
    """What starts the program keeps LD_PRELOAD from it: that is said, not that the program is to blame."""
    here = fresh(bench, "dropped")
    launcher = here.folder / "mpiexec"
    launcher.write_text("#!/bin/sh\nexit 0\n")
    launcher.chmod(0o755)
    app = str(here.programs / "cli_mpi")

    def said(command, why):
        here.check("record", "--", *command, code=125, err=f"cairn: nothing was recorded: {why}, or set there what cairn env "
                   "prints\n")

    far = ", so that the recorder did not reach the program; write "
    said(["env", "-i", app], f"env -i drops LD_PRELOAD{far}env -i cairn exec {app}")
    said(["env", "-u", "LD_PRELOAD", app], f"env drops LD_PRELOAD{far}env -u LD_PRELOAD cairn exec {app}")
    said(["env", "A=b", "LD_PRELOAD=", app], f"LD_PRELOAD= replaces LD_PRELOAD{far}env A=b LD_PRELOAD= cairn exec {app}")
    static = str(here.programs / "cli_static")
    options = ["-n", "4", "-genv", "LD_PRELOAD", static]
    said(["./mpiexec", *options, app],
         f"-genv LD_PRELOAD replaces LD_PRELOAD{far}./mpiexec -n 4 -genv LD_PRELOAD {static} cairn exec {app}")
    said(["./mpiexec", "-genvnone", "-n", "2", app],
         f"-genvnone drops LD_PRELOAD{far}./mpiexec -genvnone -n 2 cairn exec {app}")
    said(["./mpiexec", "--export=PATH", app], f"--export=PATH leaves LD_PRELOAD out{far}./mpiexec --export=PATH cairn exec {app}")
    said(["./mpiexec", "-x", "LD_PRELOAD=x.so", app],
         f"LD_PRELOAD=x.so replaces LD_PRELOAD{far}./mpiexec -x LD_PRELOAD=x.so cairn exec {app}")
    wrapper = here.folder / "wrap.sh"
    generic = "LAUNCHER cairn exec PROGRAM"
    for text, what in (("LD_PRELOAD= exec", "replaces LD_PRELOAD"), ("unset LD_PRELOAD;", "unsets LD_PRELOAD"),
                       ("env -i", "has env -i")):
        wrapper.write_text(f'#!/bin/sh\n{text} true "$@"\n')
        wrapper.chmod(0o755)
        said(["./mpiexec", "-n", "4", "./wrap.sh", "x"], f"./wrap.sh {what}{far}{generic}")
        said(["sh", "-c", f"{text} true"], f"what the shell runs {what}{far}{generic}")
    # What keeps LD_PRELOAD is not suspected; an MPI program that was not seen to call MPI is named.
    seen = (f"{app} is an MPI program, but no MPI call of it was seen; if what starts it drops or replaces LD_PRELOAD, write "
            f"./mpiexec -n 4 cairn exec {app}")
    said(["./mpiexec", "-n", "4", app], seen)
    wrapper.write_text('#!/bin/sh\nLD_PRELOAD=$LD_PRELOAD:/opt/malloc.so true "$@"\n')
    said(["./mpiexec", "-n", "4", "./wrap.sh", app], seen.replace("-n 4", "-n 4 ./wrap.sh"))
    # The value of a launcher's option is not the program.
    unknown = "no process called MPI; is it an MPI program, and did it start? If what starts it drops or replaces LD_PRELOAD, write "
    said(["./mpiexec", "--tool", static, "-env", "TOOL", static, "true"], unknown + generic)
    here.check("record", "--", "./mpiexec", "-n", "2", static, code=125,
               err=f"cairn: nothing was recorded: {static} is statically linked, so nothing can be loaded into it; link it dynamically\n")


@case
def programs_of_another_mpi_than_the_launcher(bench):
    here = fresh(bench, "singletons")
    launcher = here.folder / "mpiexec"
    launcher.write_text('#!/bin/sh\ncp ../threads.cairn "$CAIRN_OUTPUT"; cp ../threads.cairn "$CAIRN_SPOOL/run-2.cairn"\n')
    launcher.chmod(0o755)
    done = here.check("record", "./mpiexec", "-n", "2", "./app", err=None, code=125)
    expect("hint", done.stderr.splitlines()[-1], "cairn: each process was an MPI job of its own: ./mpiexec belongs to another "
           "MPI than the program, which uses MPICH Version: 4.0.2")
    done = here.check("record", "-o", "b.cairn", "sh", "-c", "./mpiexec", err=None, code=125)
    expect("no launcher", "job of its own" in done.stderr, False)


@case
def record_sets_the_environment(bench):
    here = fresh(bench, "environment")
    show = "env | grep -E '^(CAIRN|LD_PRELOAD)' | sort; cp ../ring.cairn \"$CAIRN_OUTPUT\""
    done = here.check(
        "record", "-q", "-o", "a b.cairn", "--timing", "lossless", "--callsites", "none", "--memory", "8M", "--merge",
        "after", "--oracle", "logs", "--", "sh", "-c", show,
        out=None, environment={"LD_PRELOAD": here.environment["CAIRN_LIB"]},
    )
    folder, library = str(here.folder), here.environment["CAIRN_LIB"]
    own = own_spool(done.stdout)
    expect(
        "environment",
        done.stdout.replace(own, "OWN").splitlines(),
        [
            "CAIRN_CALLSITES=none",
            f"CAIRN_COMMAND=sh -c '" + show.replace("'", "'\\''") + "'",
            f"CAIRN_LIB={library}",
            f"CAIRN_MEMORY={8 << 20}",
            "CAIRN_MERGE=after",
            f"CAIRN_ORACLE={folder}/logs",
            f"CAIRN_OUTPUT={folder}/a b.cairn.spool/OWN/a b.cairn",
            "CAIRN_QUIET=1",
            f"CAIRN_SPOOL={folder}/a b.cairn.spool/OWN",
            "CAIRN_TIMING=lossless",
            f"LD_PRELOAD={library}:{library}",
        ],
    )
    expect("files", here.sees("*"), ["a b.cairn", "logs"])
    done = here.check("record", "-q", "-f", "-o", "a b.cairn", "--no-command", "--start", "off", "--exclude", "MPI_*probe",
                      "--exclude", "comm:halo*", "--", "sh", "-c", show, out=None)
    lines = done.stdout.splitlines()
    expect("asked for", [line for line in lines if re.match("CAIRN_(COMMAND|NO_COMMAND|START|EXCLUDE)", line)],
           ["CAIRN_EXCLUDE=MPI_*probe,comm:halo*", "CAIRN_NO_COMMAND=1", "CAIRN_START=off"])


def own_spool(text):
    """What Cairn calls the folder that it makes for a recording: that name is another each time."""
    return re.search(r"cairn-spool-\w{6}", text)[0]


@case
def several_jobs_make_several_traces(bench):
    here = fresh(bench, "jobs")
    script = 'cp ../ring.cairn "$CAIRN_OUTPUT"; cp ../bare.cairn "$CAIRN_SPOOL/run-2.cairn"'
    done = here.check("record", "sh", "-c", script, err=None)
    expect("lines", [line.split(":")[1] for line in done.stderr.splitlines()], [" run.cairn", " run-2.cairn"])
    expect("files", here.sees("*"), ["run-2.cairn", "run.cairn"])


@case
def parts_are_joined(bench):
    here = fresh(bench, "parts")
    here.check("record", "-q", "sh", "-c", 'cp ../spool/*.part "$CAIRN_SPOOL"')
    expect("files", here.sees("*"), ["run.cairn"])
    got = json.loads(here.run("info", "--json", "run.cairn").stdout)
    expect("joined", (got["ranks"], got["calls"], got["status"], got["wall_seconds"]), (4, 1224, "complete", 1.0))
    expect("command", (got["command"], got["mpi"]), ("./stencil", "MPICH Version: 4.0.2"))
    here.check("record", "-q", "-o", "late.cairn", "sh", "-c", 'cp ../spool/* "$CAIRN_SPOOL"')
    late = here.run("dump", "--jsonl", "late.cairn", "--rank", "2").stdout.splitlines()
    expect("calls", len(late), 1 + 307)
    last = json.loads(late[-1])
    expect("epilogue", (last["function"], last["after_finalize"], last["args"]), ("MPI_Finalized", True, {"flag": True}))
    here.check("verify", "late.cairn", out=None)
    expect("one call", "after MPI_Finalize, 1 call each\n" in here.run("dump", "--grammar", "late.cairn").stdout, True)
    here.check("record", "-q", "-o", "some.cairn", "sh", "-c", 'cp ../spool/[12].part "$CAIRN_SPOOL"')
    got = json.loads(here.run("info", "--json", "some.cairn").stdout)
    expect("joined", (got["ranks"], got["world_size"], got["status"]), (2, 4, "incomplete"))


@case
def proxy_writes_a_program(bench):
    here = fresh(bench, "proxy")
    done = here.check("proxy", "-o", "out", "../ring.cairn", err=None)
    if not re.fullmatch(r"cairn: out: 4 ranks in 1 part, [\d,]+ lines of C and [\d,]+ bytes for this trace\n", done.stderr):
        raise Failure(done.stderr)
    out = here.folder / "out"
    expect("files", {"Makefile", "CMakeLists.txt", "README.md", "main.c", "part_0.c", "program.c", "program.h", "proxy.h"}
           - {path.name for path in out.iterdir()}, set())
    part = (out / "part_0.c").read_text()
    expect("a law of the rank", "rank == 0 ? MPI_PROC_NULL : rank - 1" in part, True)
    expect("a loop", "for (long long i = 0; i < " in part, True)
    # Made again, but never over what is somebody else's.
    here.check("proxy", "-q", "-o", "out", "../ring.cairn")
    done = here.check("proxy", "--language", "c++", "-o", "out", "../ring.cairn", err=None)
    expect("C++", ("lines of C++" in done.stderr, (out / "part_0.cc").exists(), (out / "part_0.c").exists()),
           (True, True, False))
    (here.folder / "mine").mkdir()
    (here.folder / "mine/notes").write_text("mine")
    here.check("proxy", "-o", "mine", "../ring.cairn", code=4, err="cairn: mine holds files that cairn proxy did not make; "
               "name another folder with -o\n")
    done = here.check("proxy", "-o", "some", "--leave-out", "1-2", "../ring.cairn", err=None)
    expect("what is lost", done.stderr.splitlines()[0].split(";")[0],
           "cairn: without ranks 1-2: 200 messages to or from them of MPI_PROC_NULL now")
    here.check("proxy", "-o", "none", "--leave-out", "4", "../ring.cairn", code=2, err="cairn: ../ring.cairn: --leave-out: "
               "there is no rank 4; the trace has ranks 0-3\n")
    here.check("proxy", "-o", "none", "--leave-out", "0-3", "../ring.cairn", code=2, err="cairn: ../ring.cairn: --leave-out: "
               "no rank stays; leave some in\n")
    here.check("proxy", "-o", "aborted", "../threads.cairn", code=2, err="cairn: ../threads.cairn: the run was aborted: its "
               "ranks ended in the middle of their calls; record one that ends\n")
    here.check("proxy", "-o", "gpu", "../gpu.cairn", code=2, err="cairn: ../gpu.cairn: the trace has no MPI calls; record a "
               "program that makes some\n")
    expect("nothing written", (here.folder / "aborted").exists() or (here.folder / "gpu").exists(), False)
    here.check("proxy", "-o", "bad", "../malformed.cairn", code=3, err="cairn: ../malformed.cairn: a call of function 60000 "
               "that this version does not know\n")


@case
def merge_joins_parts(bench):
    here = fresh(bench, "merge")
    done = here.check("merge", "../spool", "-o", "all.cairn", err=None)
    if not re.fullmatch(r"cairn: all\.cairn: 4 ranks of 4, \d+ B\n", done.stderr):
        raise Failure(done.stderr)
    by_part = here.run("dump", "all.cairn", "--rank", "3", "--jsonl").stdout.splitlines()[1:]
    expect("calls", len(by_part), 306)
    expect("with an epilogue", len(here.run("dump", "all.cairn", "--rank", "2", "--jsonl").stdout.splitlines()), 1 + 307)
    here.check("merge", "../spool", "-o", "all.cairn", code=4,
               err="cairn: all.cairn: it exists already; choose another name with -o, or --force\n")
    here.check("merge", "-q", "-f", "../spool/3.part", "../spool/0.part", "-o", "all.cairn")
    expect("ranks", json.loads(here.run("info", "--json", "all.cairn").stdout)["ranks"], 2)
    here.check("merge", "nowhere", code=3, err="cairn: nowhere: there is no such file or folder; name a spool, as in "
               "run.cairn.spool, or its .part files\n")
    here.check("merge", ".", code=3, err="cairn: .: there are no parts to merge; processes leave them with --merge "
               "after, or when they can't merge in MPI_Finalize\n")
    (here.folder / "bad.part").write_bytes(b"rubbish")
    here.check("merge", "bad.part", code=3, err="cairn: bad.part: not a Cairn spool file\n")
    whole = (bench.folder / "spool" / "0.part").read_bytes()
    (here.folder / "cut.part").write_bytes(whole[: len(whole) - 9])
    done = here.check("merge", "cut.part", "-o", "cut.cairn", code=3, err=None)
    if not done.stderr.startswith("cairn: cut.part: "):
        raise Failure(done.stderr)
    expect("files", here.sees("*.cairn"), ["all.cairn"])


@case
def merge_can_be_repeated(bench):
    """The trace is called as the spool is, and one of an earlier merge is kept aside."""
    here = fresh(bench, "again")
    own = here.folder / "sub" / "fire.cairn.spool" / "cairn-spool-abcdef"
    shutil.copytree(bench.folder / "spool", own)

    def said(*words):
        return re.sub(r", \d+ B", "", here.check("merge", *words, err=None).stderr)

    expect("said", said("sub/fire.cairn.spool"), "cairn: sub/fire.cairn: 4 ranks of 4\n")
    again = "cairn: sub/fire.cairn of an earlier merge is now sub/fire.cairn.old\n"
    expect("said", said(str(own)), f"{again}cairn: sub/fire.cairn: 4 ranks of 4\n")
    expect("said", said(*(str(own / f"{rank}.part") for rank in range(3))), f"{again}cairn: sub/fire.cairn: 3 ranks of 4\n")
    here.check("merge", "-q", "sub/fire.cairn.spool")
    expect("files", here.sees("sub/*"), ["fire.cairn", "fire.cairn.old", "fire.cairn.spool"])
    expect("said", said("../spool"), "cairn: run.cairn: 4 ranks of 4\n")


@case
def merge_takes_what_is_sound(bench):
    here = fresh(bench, "merge_sound")
    own = here.folder / "run.cairn.spool" / "cairn-spool-abcdef"
    shutil.copytree(bench.folder / "spool", own)
    (own / "7.part").write_bytes(b"rubbish")
    whole = (own / "1.part").read_bytes()
    (own / "1.part").write_bytes(whole[: len(whole) - 9])
    shutil.copy(bench.folder / "ring.cairn", own / "finished.cairn")
    # What a merge that was killed has left is in nobody's way.
    (here.folder / "all.cairn.4711.tmp").write_bytes(b"half")
    done = here.check("merge", "run.cairn.spool", "-o", "all.cairn", code=3, err=None)
    lines = done.stderr.splitlines()
    if not any("7.part: not a Cairn spool file" in line for line in lines) or not any("1.part: " in line for line in lines):
        raise Failure(done.stderr)
    said = [line for line in lines if line.startswith("cairn: all")]
    expect("traces", [re.sub(r"\d+ B", "", line) for line in said], ["cairn: all.cairn: 4 ranks, ",
                                                                    "cairn: all-2.cairn: 3 ranks of 4, "])
    expect("ranks", json.loads(here.run("info", "--json", "all-2.cairn").stdout)["ranks"], 3)
    here.check("verify", "all.cairn", out=None)
    expect("kept", sorted(path.name for path in own.iterdir()),
           ["0.part", "1.part", "2.epilogue", "2.part", "3.part", "7.part", "finished.cairn"])


@case
def only_what_cairn_made_is_deleted(bench):
    here = fresh(bench, "deleted")
    (here.folder / "src").mkdir()
    (here.folder / "src" / "main.c").write_text("int main;")
    (here.folder / "src" / "my.part").write_text("mine")
    (here.folder / "src" / "my.cairn").write_text("mine")
    copy = "cp ../ring.cairn \"$CAIRN_OUTPUT\""
    for spool in (".", "src", str(here.folder)):
        here.check("record", "-f", "-q", "--spool", spool, "--", "sh", "-c", copy)
        here.check("record", "-f", "--spool", spool, "--", "false", code=1, err=None)
    expect("source", sorted(path.name for path in (here.folder / "src").iterdir()), ["main.c", "my.cairn", "my.part"])
    # A link to a folder leads there, and nothing there is touched.
    (here.folder / "link").symlink_to("src")
    here.check("record", "-f", "-q", "--spool", "link", "--", "sh", "-c", copy)
    expect("source", sorted(path.name for path in (here.folder / "src").iterdir()), ["main.c", "my.cairn", "my.part"])
    # A file in Cairn's own folder that it does not know stays, and with it the folder; so does a link.
    script = copy + '; echo mine > "$CAIRN_SPOOL/mine.part.txt"; ln -s /etc/passwd "$CAIRN_SPOOL/h.1.gpu"'
    here.check("record", "-f", "-q", "--", "sh", "-c", script)
    expect("kept", here.sees("*.spool/*/*"), ["h.1.gpu", "mine.part.txt"])
    # The next recording neither takes nor removes it.
    done = here.check("record", "-f", "-q", "--", "sh", "-c", copy, err=None)
    expect("told", done.stderr.replace(own_spool(done.stderr), "OWN"),
           f"cairn: {here.folder}/run.cairn.spool/OWN holds what an earlier recording left; join it with cairn merge, or "
           "remove it\n")
    expect("kept", here.sees("*.spool/*/*"), ["h.1.gpu", "mine.part.txt"])
    # Nobody else may enter, and a folder that was there stays.
    script = 'stat -c %a "$CAIRN_SPOOL"'
    expect("mode", here.check("record", "-f", "--spool", "src", "sh", "-c", script, code=125, err=None, out=None).stdout, "700\n")
    expect("source", here.sees("src/*"), ["main.c", "my.cairn", "my.part"])


@case
def force_overwrites_traces_alone(bench):
    here = fresh(bench, "force")
    precious = here.folder / "thesis.tex"
    precious.write_text("\\documentclass{article}")
    why = ("cairn: thesis.tex: it exists already, and is no trace; choose another name with -o: --force overwrites traces "
           "alone\n")
    for verb in ("record", "exec"):
        here.check(verb, "-f", "-o", "thesis.tex", "--", "true", code=125, err=why)
    here.check("merge", "-f", "../spool", "-o", "thesis.tex", code=4, err=why)
    expect("kept", precious.read_text(), "\\documentclass{article}")
    shutil.copy(bench.folder / "cut.cairn", here.folder / "old.cairn")
    here.check("merge", "-q", "-f", "../spool", "-o", "old.cairn")
    here.check("verify", "old.cairn", out=None)


@case
def commands_that_cannot_run(bench):
    here = fresh(bench, "cannot")
    (here.folder / "plain.txt").write_text("no program\n")
    for verb in ("record", "exec"):
        here.check(verb, "--", "no-such-launcher", "-n", "4", code=127,
                   err="cairn: no-such-launcher: command not found; check its spelling and PATH\n")
        here.check(verb, "--", "./nowhere", code=127,
                   err="cairn: ./nowhere: there is no such file, or its interpreter is missing; check the path\n")
        here.check(verb, "--", "./plain.txt", code=126, err="cairn: ./plain.txt: cannot be executed: Permission denied; "
                   "check its permissions and format\n")
        here.check(verb, "--", "/", code=126,
                   err="cairn: /: cannot be executed: Permission denied; check its permissions and format\n")
        expect("left over", here.sees("*"), ["plain.txt"])


@case
def recordings_that_cannot_be(bench):
    here = fresh(bench, "cannot_be")

    def wrong(*words, err, code=125, **options):
        here.check(*words, code=code, err=f"cairn: {err}\n", **options)

    wrong("record", err="there is no command to run; write it at the end, as in cairn record -- mpiexec -n 4 ./app")
    wrong("record", "-o", "x.cairn", "--",
          err="there is no command to run; write it at the end, as in cairn record -- mpiexec -n 4 ./app")
    wrong("exec", err="there is no program to run; write it at the end, as in mpiexec -n 4 cairn exec -- ./app")
    for option in ("-n", "-np", "-N4", "--hostfile"):
        wrong("record", option, "4", "./app",
              err=f"unknown option {option}; options of a launcher come behind --, as in cairn record -- mpiexec -n 4 ./app")
    wrong("exec", "-n", "4", "./app",
          err="unknown option -n; options of a launcher come behind --, as in mpiexec -n 4 cairn exec -- ./app")
    wrong("record", "-o", "", "true", err="--output is given an empty word; leave it out, or say what")
    wrong("record", "--timming", "stats", "true", err="unknown option --timming; did you mean --timing?")
    wrong("record", "--timing", "lossy", "true",
          err="--timing: there is no mode 'lossy'; the modes are stats, stats-gaps, context, lossless, hist, cfg, sz, sz-clustered, zfp, zfp-clustered, bins, off")
    for bound in ("0%", "-1%", "101%"):
        wrong("record", "--timing", f"context:rel={bound}", "true",
              err=f"--timing: '{bound}' is out of range; write a percentage from 0.01% to 100%, as in 10%, or exact")
    wrong("record", "--timing", "context:rel=0.1", "true",
          err="--timing: '0.1' is no relative bound; write a percentage from 0.01% to 100%, as in 10%, or exact")
    wrong("record", "--timing", "MPI_Sleep=1%", "true",
          err="--timing: no MPI function is called MPI_Sleep; write patterns of their names, as in 'MPI_Wait*=1%'")
    wrong("record", "--timing", "context", "--timing", "lossless", "true",
          err="--timing: context and lossless are two modes; give one")
    wrong("record", "--timing", "stats", "--timing", "MPI_Wait=1%", "true",
          err="--timing: '1%' is a bound, and stats has none")
    wrong("record", "--exclude", "MPI_Sned*", "true", err="--exclude MPI_Sned*: no MPI function is called so; write patterns "
          "of their names, as in 'MPI_*probe', or comm:NAME")
    wrong("record", "--exclude", "MPI_Send,MPI_Recv", "true", err="--exclude MPI_Send,MPI_Recv: a comma; give --exclude "
          "several times")
    wrong("record", "--memory", "8Q", "true", err="'8Q' is no size; write sizes as in --memory 64M")
    wrong("record", "--memory", "1K", "true", err="1K is too little memory to record anything; give at least 1M")
    wrong("record", "-o", "no/where.cairn", "true",
          err=f"no/where.cairn: there is no folder {here.folder}/no; make it first")
    wrong("record", "-o", ".", "true", err=".: this is a folder; name a file with -o")
    wrong("record", "true", environment={"CAIRN_LIB": "/no/libcairn.so"},
          err="CAIRN_LIB names /no/libcairn.so, which is no file; point it at libcairn.so, or unset it")
    (here.folder / "logs").mkdir()
    (here.folder / "logs" / "old").write_text("")
    wrong("record", "--oracle", "logs", "true", err=f"{here.folder}/logs: it is not empty; give --oracle a new folder")
    (here.folder / "file").write_text("")
    for verb in ("record", "exec"):
        wrong(verb, "--oracle", "file", "true", err=f"{here.folder}/file: cannot make the folder for the oracle: Not a "
              "directory; choose a place that can be written")
    (here.folder / "file").unlink()
    wrong("record", "-o", "/proc/x.cairn", "true",
          err="/proc/x.cairn.spool: cannot make the spool: No such file or directory; choose a place that can be written")
    expect("left over", here.sees("*"), ["logs"])


@case
def why_nothing_was_recorded(bench):
    here = fresh(bench, "why")
    programs = bench.programs

    def nothing(program, why, code=125):
        here.check("record", "--", *program, code=code, err=f"cairn: nothing was recorded: {why}\n")

    static = str(programs / "cli_static")
    nothing([static], f"{static} is statically linked, so nothing can be loaded into it; link it dynamically")
    nothing(["sh", "-c", f"exec {static} 1", static], f"{static} is statically linked, so nothing can be loaded into it; "
            "link it dynamically", code=1)
    own = str(programs / "cli_own_mpi")
    nothing([own], f"{own} has MPI linked into it statically, where no call can be seen; link it with the shared MPI library")
    fortran = str(programs / "cli_own_fortran")
    nothing([fortran], f"{fortran} has MPI's Fortran library linked into it statically, where no call can be seen; link it "
            "with the shared one")
    strange = str(programs / "cli_strange")
    nothing([strange], f"{strange} uses libmpi.so.99, for which there is no recorder; build one with "
            "cmake -DCAIRN_MPICC=/path/to/mpicc")
    nothing(["sh", "-c", 'echo "cairn: the reason" > "$CAIRN_SPOOL/unrecorded.17"; echo "cairn: the reason" > "$CAIRN_SPOOL/h.18.unrecorded"'],
            "the reason")
    expect("left over", here.sees("*"), [])
    done = here.check("record", "sh", "-c", 'rmdir "$CAIRN_SPOOL"', code=125, err=None)
    expect("deleted", done.stderr.replace(own_spool(done.stderr), "OWN"), "cairn: nothing was recorded: somebody removed the "
           f"spool {here.folder}/run.cairn.spool/OWN while the program ran\n")
    if os.geteuid() == 0:
        foreign = here.folder / "foreign"
        shutil.copy("/bin/true", foreign)
        os.chown(foreign, 65534, 65534)
        foreign.chmod(0o4755)
        nothing(["./foreign"], "./foreign runs with another user's rights or with capabilities, so that the loader ignores "
                "what is preloaded; take these from it")
        foreign.unlink()
    script = 'echo x > "$CAIRN_SPOOL/node1.17.arena"'
    done = here.check("record", "sh", "-c", script, code=125, err=None)
    expect("arena", done.stderr.replace(own_spool(done.stderr), "OWN"),
           f"cairn: {here.folder}/run.cairn.spool/OWN/node1.17.arena: not the memory of a recording "
           "process of this version; it stays there\n")
    expect("kept", here.sees("*/*/*"), ["node1.17.arena"])
    script = 'cp ../spool/0.part "$CAIRN_SPOOL/h.1.part"; : > "$CAIRN_SPOOL/h.1.arena"; exit 7'
    here.check("record", "-q", "-o", "aborted.cairn", "sh", "-c", script, code=7)
    expect("gone", here.sees("aborted*"), ["aborted.cairn"])


@case
def damaged_leavings_are_told(bench):
    here = fresh(bench, "damaged")
    done = here.check("record", "sh", "-c", 'echo rubbish > "$CAIRN_SPOOL/node1.17.part"; cp ../cut.cairn "$CAIRN_OUTPUT"',
                      code=125, err=None)
    lines = done.stderr.splitlines()
    expect("first line", lines[0].replace(own_spool(lines[0]), "OWN"),
           f"cairn: {here.folder}/run.cairn.spool/OWN/node1.17.part: not a Cairn spool file")
    if not lines[1].startswith(f"cairn: {here.folder}/run.cairn: "):
        raise Failure(done.stderr)
    expect("kept", here.sees("*/*/*.part"), ["node1.17.part"])


@case
def nobody_listens(bench):
    here = fresh(bench, "deaf")
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([here.cairn, "record", "--", "sh", "-c", 'cp ../ring.cairn "$CAIRN_OUTPUT"; sleep 0.1'],
                          cwd=here.folder, env=here.environment, stdin=subprocess.DEVNULL, stderr=write_end, timeout=60)
    os.close(write_end)
    expect("exit code and files", (done.returncode, here.sees("*")), (0, ["run.cairn"]))


@case
def programs_of_other_worlds(bench):
    here = fresh(bench, "worlds")
    programs = bench.programs
    # musl's loader would not start a program for a library that was linked to glibc.
    done = here.check("record", "sh", "-c", "env | grep -c ^LD_PRELOAD; true", str(programs / "cli_musl"), code=125, out="0\n",
                      err=f"cairn: nothing was recorded: {programs}/cli_musl uses the C library musl, into which nothing of "
                      "ours can be loaded; link it with glibc\n")
    # AddressSanitizer wants to be first.
    show = ["sh", "-c", 'echo "$ASAN_OPTIONS"; cp ../ring.cairn "$CAIRN_OUTPUT"']
    here.check("record", "-q", *show, str(programs / "cli_asan"), out="verify_asan_link_order=0\n")
    here.check("record", "-q", "-f", *show, str(programs / "cli_asan"), out="a=b:verify_asan_link_order=0\n",
               environment={"ASAN_OPTIONS": "a=b"})
    here.check("record", "-q", "-f", *show, out="\n")


@case
def signals_are_passed_on(bench):
    here = fresh(bench, "signals")
    script = 'trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.05; done'
    child = subprocess.Popen(
        [here.cairn, "record", "-q", "--", "sh", "-c", script], cwd=here.folder, env=here.environment,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    expect("start", child.stdout.readline(), "ready\n")
    child.send_signal(signal.SIGTERM)
    expect("output", child.stdout.read(), "caught\n")
    expect("exit code", child.wait(timeout=20), 5)


@case
def interrupted_as_it_begins(bench):
    """Ctrl-C at any moment of the start: the program is not begun, or gets it too; no spool stays behind."""
    here = fresh(bench, "begins")
    for instant in range(30):
        child = subprocess.Popen([here.cairn, "record", "-q", "--", "sleep", "20"], cwd=here.folder, env=here.environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(instant / 500)
        os.killpg(child.pid, signal.SIGINT)
        status = child.wait(timeout=20)
        if status not in (-signal.SIGINT, 128 + signal.SIGINT):
            raise Failure(f"after {2 * instant} ms: exit code {status}")
        expect(f"left after {2 * instant} ms", [each.name for each in here.folder.iterdir()], [])


# --- arrays --------------------------------------------------------------------------------------------------------------


def some_arrays(bench, name):
    here = fresh(bench, name)
    for each in ("plain.nc", "rewritten.nc"):
        shutil.copy(bench.folder / each, here.folder / each)
    return here


@case
def arrays_info(bench):
    bench.golden("arrays_info", "arrays", "info", "rewritten.nc")
    bench.golden("arrays_info_blocks", "arrays", "info", "--blocks", "rewritten.nc")
    got = json.loads(bench.check("arrays", "info", "--json", "--blocks", "rewritten.nc", out=None).stdout)
    size = (bench.folder / "rewritten.nc").stat().st_size
    usage = got["usage"]
    expect("all bytes", usage["header"] + usage["header_room"] + usage["index"] + usage["blocks"] + usage["replaced"]
           + usage["holes"], size)
    expect("schema", (got["schema"], got["file_bytes"], got["layout"], got["records"]),
           ("cairn.arrays.info/1", size, "dense", 3))
    expect("variables", [(each["name"], each["type"], each["bytes"], each["blocks"]) for each in got["variables"]],
           [("relief", "short", 800, 1), ("empty", "double", 200, 0), ("T", "float", 4800, 4), ("flag", "byte", 3, 3)])
    expect("T", got["variables"][2]["dimensions"],
           [{"name": "time", "length": 3}, {"name": "lat", "length": 16}, {"name": "lon", "length": 25}])
    expect("covered", (usage["covered_blocks"], usage["replaced"] > 0), (1, True))
    expect("a block", {key: got["blocks"][0][key] for key in ("variable", "codec", "shape", "begin", "end", "at_home")},
           {"variable": "relief", "codec": "zstd", "shape": [16, 25], "begin": 1024, "end": 1824, "at_home": False})
    bench.check("arrays", "info", "plain.nc", code=2, err="cairn: plain.nc: this NetCDF file is not compressed by Cairn\n")
    bench.check("arrays", "info", "ring.cairn", code=3,
                err="cairn: ring.cairn: this is no NetCDF file of the classic formats\n")
    bench.check("arrays", "info", "no.nc", code=4, err="cairn: no.nc: cannot be opened: No such file or directory\n")


@case
def arrays_are_imported_and_exported(bench):
    here = some_arrays(bench, "arrays")
    plain = (here.folder / "plain.nc").read_bytes()
    for codec in ("auto", "zstd:3", "store", "auto:speed"):
        here.check("arrays", "import", "-q", "-f", "plain.nc", "a.nc", "--codec", codec)
        here.check("arrays", "verify", "a.nc", out=None)
        here.check("arrays", "export", "-f", "a.nc", "b.nc")
        expect(f"bytes under {codec}", (here.folder / "b.nc").read_bytes() == plain, True)
    done = here.check("arrays", "import", "plain.nc", "c.nc", "--split", "1K", err=None)
    if not re.fullmatch(r"cairn: c\.nc: 6\.7 KiB in \d\.\d KiB: \d\.\d\d times smaller\n", done.stderr):
        raise Failure(done.stderr)
    parts = json.loads(here.run("arrays", "info", "--json", "c.nc").stdout)["variables"]
    expect("blocks", [each["blocks"] for each in parts], [1, 1, 6, 1])
    here.check("arrays", "import", "-q", "-f", "plain.nc", "d.nc", "--codec", "T=store,relief=zstd,shuffle+zstd")
    parts = json.loads(here.run("arrays", "info", "--json", "d.nc").stdout)["variables"]
    expect("codecs by name", [each["codecs"] for each in parts][:3], [["zstd"], ["shuffle+zstd"], ["store"]])
    (here.folder / "d.nc").unlink()
    here.check("arrays", "import", "plain.nc", "d.nc", "--codec", "off", code=2,
               err="cairn: with codec 'off' there is nothing to import; name another\n")
    for name in ("b.nc", "rewritten.nc"):
        here.check("arrays", "export", "a.nc", name, code=4,
                   err=f"cairn: {name}: it exists already; choose another name, or --force\n")
    here.check("arrays", "import", "plain.nc", "a.nc", code=4,
               err="cairn: a.nc: it exists already; choose another name, or --force\n")
    here.check("arrays", "import", "a.nc", "d.nc", code=2, err="cairn: a.nc: this file is compressed already; "
               "rewrite it with cairn arrays compact, or export it first\n")
    here.check("arrays", "import", "plain.nc", "no/a.nc", code=4,
               err="cairn: no/a.nc: cannot be written: No such file or directory\n")
    here.check("arrays", "export", "a.nc", "e.nc", "--deflate", "3", code=2,
               err="cairn: --deflate is for --netcdf4; write as in --netcdf4 --deflate 4\n")
    here.check("arrays", "export", "a.nc", "e.nc", "--netcdf4", "--deflate", "10", code=2,
               err="cairn: deflate has levels 0 to 9; write as in --netcdf4 --deflate 4\n")
    here.check("arrays", "import", "plain.nc", "e.nc", "--split", "3", code=2,
               err="cairn: blocks of 3 cannot be; give 1K to 256M\n")
    expect("files", here.sees("*"), ["a.nc", "b.nc", "c.nc", "plain.nc", "rewritten.nc"])
    # Cut files import as far as they go.
    for size in (len(plain) - 3, 4000, 1500, 1100):
        (here.folder / "cut.nc").write_bytes(plain[:size])
        here.check("arrays", "import", "-q", "-f", "cut.nc", "a.nc")
        here.check("arrays", "export", "-f", "a.nc", "b.nc")
        expect(f"the first {size} bytes", (here.folder / "b.nc").read_bytes() == plain[:size], True)


@case
def arrays_become_netcdf4(bench):
    here = some_arrays(bench, "netcdf4")
    done = here.run("arrays", "export", "--netcdf4", "--deflate", "4", "rewritten.nc", "a.nc")
    if "without libnetcdf" in done.stderr:
        expect("without libnetcdf", (done.returncode, done.stderr, here.sees("*")),
               (4, "cairn: this cairn was built without libnetcdf, which --netcdf4 needs; install libnetcdf-dev and build it "
                "again, or leave --netcdf4 out\n", ["plain.nc", "rewritten.nc"]))
        return
    expect("done", (done.returncode, done.stderr), (0, ""))
    expect("HDF5", (here.folder / "a.nc").read_bytes()[:4], b"\x89HDF")
    if shutil.which("ncdump") is None:
        return
    here.check("arrays", "import", "-q", "plain.nc", "b.nc")
    here.check("arrays", "export", "--netcdf4", "b.nc", "c.nc")

    def dump(name):
        return subprocess.run(["ncdump", name], cwd=here.folder, capture_output=True, text=True, check=True).stdout.split("\n", 1)[1]

    expect("ncdump of what was imported", dump("c.nc"), dump("plain.nc"))
    # `empty` was never written there.
    expect("ncdump of what was rewritten", dump("a.nc").split("\n T =")[1], dump("plain.nc").split("\n T =")[1])


@case
def arrays_are_compacted(bench):
    here = some_arrays(bench, "compact")
    before = json.loads(here.run("arrays", "info", "--json", "rewritten.nc").stdout)
    here.check("arrays", "export", "rewritten.nc", "a.nc")
    done = here.check("arrays", "compact", "rewritten.nc", "small.nc", err=None)
    if not re.fullmatch(r"cairn: small\.nc: \d\.\d KiB instead of \d\.\d KiB\n", done.stderr):
        raise Failure(done.stderr)
    (here.folder / "rewritten.nc").chmod(0o640)
    here.check("arrays", "compact", "-q", "rewritten.nc")
    expect("mode", (here.folder / "rewritten.nc").stat().st_mode & 0o777, 0o640)
    for name in ("small.nc", "rewritten.nc"):
        here.check("arrays", "verify", name, out=None)
        after = json.loads(here.run("arrays", "info", "--json", name).stdout)
        expect("wasted", after["usage"]["wasted"], 0)
        expect("blocks", after["usage"]["blocks"], before["usage"]["blocks"] - before["usage"]["covered"])
        here.check("arrays", "export", "-f", name, "b.nc")
        expect(f"values of {name}", (here.folder / "b.nc").read_bytes() == (here.folder / "a.nc").read_bytes(), True)
    here.check("arrays", "compact", "rewritten.nc", "small.nc", code=4,
               err="cairn: small.nc: it exists already; choose another name, or --force\n")
    expect("files", here.sees("*"), ["a.nc", "b.nc", "plain.nc", "rewritten.nc", "small.nc"])


@case
def damaged_arrays_are_named(bench):
    here = some_arrays(bench, "damaged_arrays")
    bench.golden("arrays_verify", "arrays", "verify", "rewritten.nc")
    got = json.loads(here.check("arrays", "verify", "--json", "rewritten.nc", out=None).stdout)
    expect("sound", (got["schema"], got["ok"], got["blocks"], got["faults"]), ("cairn.arrays.verify/1", True, 8, []))
    good = (here.folder / "rewritten.nc").read_bytes()
    blocks = json.loads(here.run("arrays", "info", "--json", "--blocks", "rewritten.nc").stdout)["blocks"]
    block = blocks[4]
    bad = bytearray(good)
    bad[block["offset"] + 3] ^= 4
    bad[blocks[0]["offset"]] ^= 4
    (here.folder / "bad.nc").write_bytes(bad)

    def fault(number):
        each = blocks[number]
        return (f"variable '{each['variable']}', block {number} (bytes {each['offset']} to "
                f"{each['offset'] + each['compressed']}): its checksum is wrong")

    here.check("arrays", "verify", "bad.nc", code=1, out=f"bad.nc: {fault(0)}\nbad.nc: {fault(4)}\n")
    got = json.loads(here.check("arrays", "verify", "--json", "bad.nc", code=1, out=None).stdout)
    expect("faults", (got["ok"], got["faults"]), (False, [fault(0), fault(4)]))
    here.check("arrays", "export", "bad.nc", "a.nc", code=3, err=f"cairn: bad.nc: {fault(0)}\n")
    here.check("arrays", "compact", "bad.nc", code=3, err=f"cairn: bad.nc: {fault(0)}; the file stays as it is\n")
    bad = bytearray(good)
    bad[good.index(b"made up")] ^= 1
    (here.folder / "bad.nc").write_bytes(bad)
    here.check("arrays", "verify", "bad.nc",
               out="bad.nc: the header has changed since Cairn wrote it, as by another tool: attribute 'title' was "
                   "changed; values and the header that programs see under Cairn are as they were\n"
                   "bad.nc: sound: 8 blocks of 5.9 KiB decoded\n")
    # Of no attribute: what a variable shows to who reads it without Cairn.
    bad = bytearray(good)
    bad[good.index(bytes.fromhex("7cf00000"))] ^= 1
    (here.folder / "bad.nc").write_bytes(bad)
    here.check("arrays", "verify", "bad.nc", code=1,
               out="bad.nc: the header at the front is not the one that belongs to the index\n")
    bad = bytearray(good)
    bad[good.index(b"_Cairn_arrays")] ^= 1
    (here.folder / "bad.nc").write_bytes(bad)
    here.check("arrays", "verify", "bad.nc", code=3,
               err="cairn: bad.nc: the mark in its header is damaged, was changed by a tool, or is of a newer Cairn\n")
    (here.folder / "bad.nc").write_bytes(good[:-1])
    here.check("arrays", "info", "bad.nc", code=3,
               err="cairn: bad.nc: the file is cut short: its index of blocks lies behind its end\n")
    bad = bytearray(good)
    bad[-1] ^= 1
    (here.folder / "bad.nc").write_bytes(bad)
    here.check("arrays", "bench", "bad.nc", code=3, err="cairn: bad.nc: the checksum of its index of blocks is wrong\n")
    expect("files", here.sees("*"), ["bad.nc", "plain.nc", "rewritten.nc"])


@case
def arrays_need_little_memory(bench):
    """A file of 256 MiB goes through less than that."""
    here = some_arrays(bench, "memory")
    plain = bytearray((here.folder / "plain.nc").read_bytes()[:1024])
    # Longer rows, so that variables lie over each other: nobody minds.
    length = plain.index(b"\0\0\0\x03lon\0") + 8
    plain[length:length + 8] = (1 << 20).to_bytes(8, "big")
    (here.folder / "large.nc").write_bytes(plain)
    os.truncate(here.folder / "large.nc", 256 << 20)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (192 << 20, 192 << 20))

    for words in (("import", "-q", "large.nc", "a.nc"), ("verify", "a.nc"), ("export", "a.nc", "b.nc"), ("compact", "-q", "a.nc")):
        done = here.run("arrays", *words, preexec_fn=limit)
        expect(f"arrays {words[0]}", (done.returncode, done.stderr), (0, ""))
    expect("size", (here.folder / "b.nc").stat().st_size, 256 << 20)


@case
def codecs_are_tried(bench):
    for name in ("plain.nc", "rewritten.nc"):
        got = json.loads(bench.check("arrays", "bench", name, "--var", "T", "--json", out=None).stdout)
        expect("schema", (got["schema"], len(got["variables"])), ("cairn.arrays.bench/1", 1))
        found = got["variables"][0]
        expect("T", (found["name"], found["type"], found["bytes"], found["sampled"]), ("T", "float", 4800, 4800))
        sizes = {each["name"]: each["compressed"] for each in found["codecs"]}
        expect("stored", sizes["store"], 4800)
        expect("chosen", (found["auto"] in sizes, found["auto_speed"] in sizes), (True, True))
    text = bench.check("arrays", "bench", "plain.nc", out=None).stdout
    expect("variables", re.findall(r"^(\w+) \(", text, re.M), ["relief", "empty", "T", "flag"])
    # A variable that is no whole number of pieces long: none of it is taken twice.
    size = (1 << 20) + 1
    name = lambda text: struct.pack(">q", len(text)) + text + bytes(-len(text) % 4)
    front = b"CDF\5" + struct.pack(">qiq", 0, 10, 1) + name(b"x") + struct.pack(">qiq", size, 0, 0)
    front += struct.pack(">iq", 11, 1) + name(b"v") + struct.pack(">qqiqiq", 1, 0, 0, 0, 1, size + -size % 4)
    odd = bench.folder / "odd.nc"
    odd.write_bytes(front + struct.pack(">q", len(front) + 8) + bytes(size + -size % 4))
    got = json.loads(bench.check("arrays", "bench", "odd.nc", "--json", out=None).stdout)["variables"][0]
    expect("sampled", (got["bytes"], got["sampled"]), (size, size))
    odd.unlink()
    bench.check("arrays", "bench", "plain.nc", "--var", "U", code=2,
                err="cairn: plain.nc: there is no variable 'U' with values; ncdump -h lists them\n")
    bench.check("arrays", "bench", "--var", "U", code=2, err="cairn: --var needs a file\n")


@case
def arrays_run_becomes_the_program(bench):
    here = some_arrays(bench, "arrays_run")
    layer = str(here.programs / "libno_recorder.so")
    show = "env | grep -E '^(CAIRN_ARRAYS|LD_PRELOAD)' | sort; exit 7"
    done = here.check("arrays", "run", "-q", "--codec", "auto:bandwidth=2e7", "--layout", "hybrid", "--split", "2M", "--ratio",
                      "2.5", "--error", "0.5", "--library", layer, "--", "sh", "-c", show, code=7, out=None,
                      environment={"LD_PRELOAD": layer})
    expect("environment", done.stdout.splitlines(), [
        "CAIRN_ARRAYS_CODEC=auto:bandwidth=2e7", "CAIRN_ARRAYS_ERROR=0.5", "CAIRN_ARRAYS_LAYOUT=hybrid",
        "CAIRN_ARRAYS_RATIO=2.5", f"CAIRN_ARRAYS_SPLIT={2 << 20}", f"LD_PRELOAD={layer}:{layer}"])
    done = here.check("arrays", "run", "--library", layer, "sh", "-c", show, code=7, out=None, err=None)
    expect("environment", done.stdout.splitlines(),
           ["CAIRN_ARRAYS_CODEC=auto", "CAIRN_ARRAYS_LAYOUT=dense", f"LD_PRELOAD={layer}"])
    if not re.fullmatch(r"cairn: arrays written through PnetCDF (on libmpi\S* )?are compressed\n", done.stderr):
        raise Failure(done.stderr)

    program = here.folder / "bring"
    program.write_bytes(pathlib.Path(shutil.which("true")).read_bytes() + b"x" * (1 << 20) + b"ncmpi_def_dim")
    program.chmod(0o755)
    here.check("arrays", "run", "-q", "--library", layer, "--", str(program),
               err=f"cairn: {program} is linked with a static PnetCDF: it reads compressed files, but those that it creates "
                   "are not compressed; link it with libpnetcdf.so\n")

    def wrong(*words, err, code=125):
        which = () if "--library" in words else ("--library", layer)
        here.check("arrays", "run", *which, *words, code=code, err=f"cairn: {err}\n")

    wrong(err="there is no command to run; write it at the end, as in cairn arrays run -- mpiexec -n 4 ./app")
    wrong("--codec", "zip", "true", err="unknown codec 'zip'; " + here.run("arrays", "run", "--library", layer, "--codec",
          "zip", "true").stderr.split("; ", 1)[1].rstrip("\n"))
    for words in ("off", "T=zstd:3,mask=store,auto:speed"):
        here.check("arrays", "run", "-q", "--library", layer, "--codec", words, "true")
    wrong("--codec", "T=zstd:fast,auto", "true",
          err="'fast' is no level of codec 'zstd'; levels are integers from -100 to 22")
    wrong("--codec", "zstd:fast", "true", err="'fast' is no level of codec 'zstd'; levels are integers from -100 to 22")
    wrong("--layout", "thin", "true", err="--layout: thin not in {dense,sparse,hybrid}; see cairn arrays run --help")
    wrong("--split", "1Q", "true", err="'1Q' is no size; write sizes as in --split 1M")
    wrong("--split", "512M", "true", err="blocks of 512M cannot be; give 1K to 256M")
    wrong("--ratio", "2", "true", err="--ratio and --error are for --layout hybrid; choose that, or leave them out")
    wrong("--layout", "hybrid", "--ratio", "1", "--error", "1", "true",
          err="a ratio less its error has to be above 0; write as in --ratio 2 --error 0.5")
    wrong("--library", "/no/lib.so", "true",
          err="--library names /no/lib.so, which is no file; point it at libcairn-arrays.so, or leave it out")
    wrong("-q", "no-such-launcher", code=127, err="no-such-launcher: command not found; check its spelling and PATH")
    here.check("arrays", "runn", code=2, err="cairn: there is no verb 'runn'; did you mean cairn arrays run?\n")
    here.check("arrays", "info", "--bloks", "x", code=2, err="cairn: unknown option --bloks; did you mean --blocks?\n")
    done = here.check("arrays", code=2, err=None)
    if not done.stderr.startswith("Compresses what programs write through PnetCDF"):
        raise Failure(f"no help: {done.stderr}")


@case
def exec_becomes_the_program(bench):
    here = fresh(bench, "exec")
    done = here.check("exec", "-o", "x.cairn", "sh", "-c", "env | grep ^CAIRN_OUTPUT; exit 6", code=6, out=None)
    expect("environment", done.stdout, f"CAIRN_OUTPUT={here.folder}/x.cairn\n")
    expect("spool", here.sees("*"), ["x.cairn.spool"])
    (here.folder / "x.cairn").write_text("")
    here.check("exec", "-o", "x.cairn", "true", code=125,
               err="cairn: x.cairn: it exists already; choose another name with -o, or --force\n")
    here.check("exec", "-f", "-o", "x.cairn", "true")
    expect("removed", here.sees("*"), ["x.cairn.spool"])
    # Without a name the earlier trace is kept aside, by one process of the job.
    shutil.copy(bench.folder / "ring.cairn", here.folder / "run.cairn")
    here.check("exec", "true", environment={"PMI_RANK": "3", "PMI_SIZE": "4"})
    here.check("exec", "./nowhere", code=127, err=None)
    expect("still there", here.sees("run.cairn*"), ["run.cairn"])
    here.check("exec", "true", environment={"PMI_RANK": "0", "PMI_SIZE": "4"},
               err="cairn: run.cairn of an earlier recording is now run.cairn.old\n")
    expect("aside", here.sees("run.cairn*"), ["run.cairn.old", "run.cairn.spool"])
    shutil.copy(bench.folder / "ring.cairn", here.folder / "run.cairn")
    here.check("exec", "-q", "true")
    expect("aside", here.sees("run.cairn*"), ["run.cairn.old", "run.cairn.spool"])
    (here.folder / "run.cairn").write_text("a letter")
    here.check("exec", "true", code=125, err="cairn: run.cairn: it exists already, and is no trace; choose another name "
               "with -o: --force overwrites traces alone\n")


@case
def env_prints_the_environment(bench):
    here = fresh(bench, "env")
    library = here.environment["CAIRN_LIB"]
    folder = str(here.folder)
    done = here.check("env", "-o", "a b.cairn", "--", "./app", "it's", out=None)
    expect("environment", done.stdout.replace(own_spool(done.stdout), "OWN"), f"""export CAIRN_OUTPUT='{folder}/a b.cairn'
export CAIRN_SPOOL='{folder}/a b.cairn.spool/OWN'
export CAIRN_TIMING=stats
export CAIRN_CALLSITES=site
export CAIRN_MEMORY=67108864
export CAIRN_MERGE=tree
export CAIRN_COMMAND='./app '\\''it'\\''\\'\\'''\\''s'\\'''
export LD_PRELOAD={library}
""")
    done = here.check("env", "--openmpi", "-q", out=None)
    expect("-x list", done.stdout.replace(own_spool(done.stdout), "OWN"), " ".join(
        f"-x {pair}" for pair in (f"CAIRN_OUTPUT={folder}/run.cairn", f"CAIRN_SPOOL={folder}/run.cairn.spool/OWN",
                                  "CAIRN_TIMING=stats", "CAIRN_CALLSITES=site", "CAIRN_MEMORY=67108864", "CAIRN_MERGE=tree",
                                  "CAIRN_QUIET=1", f"LD_PRELOAD={library}")) + "\n")
    expect("spools", here.sees("*"), ["a b.cairn.spool", "run.cairn.spool"])


@case
def doctor_looks_around(bench):
    here = fresh(bench, "doctor")
    got = json.loads(here.run("doctor", "--json").stdout)
    expect("schema", got["schema"], "cairn.doctor/1")
    verdicts = {check["name"]: check for check in got["checks"]}
    expect("self test", verdicts["self test"], {"name": "self test", "verdict": "ok",
                                                "text": "1,000 calls written and read back",
                                                "free_bytes": None})
    expect("room", verdicts["folder"]["free_bytes"] > 0, True)
    expect("folder", verdicts["folder"]["verdict"] in ("ok", "note"), True)
    expect("preload", verdicts["preload"]["verdict"], "ok")
    # No recorders lie beside the library that stands in.
    expect("recorder", verdicts["recorder"]["verdict"], "bad")
    expect("verdict", (got["ok"], here.run("doctor").returncode), (False, 4))
    expect("left over", here.sees("*"), [])
    programs = here.programs

    def told(*command):
        checks = json.loads(here.run("doctor", "--json", *command).stdout)["checks"]
        return [(each["verdict"], each["text"]) for each in checks if each["name"] == "program"]

    mpi = str(programs / "cli_mpi")
    expect("behind a launcher", told("env", "A=b", mpi), [("ok", f"{mpi} uses libmpi_known.so")])
    expect("an MPI program", told(mpi), [("ok", f"{mpi} uses libmpi_known.so")])
    strange, static = str(programs / "cli_strange"), str(programs / "cli_static")
    expect("one without a recorder", told("--", strange), [("bad", f"{strange} uses libmpi.so.99, for which there is no "
           "recorder; build one with cmake -DCAIRN_MPICC=/path/to/mpicc")])
    expect("a static one", told(static),
           [("bad", f"{static} is statically linked, so nothing can be loaded into it; link it dynamically")])
    expect("none", told("./nowhere"), [("bad", "./nowhere cannot be executed, or is not there; check its path")])
    expect("no MPI", told("sh", "-c", "x y"), [("note", "sh -c 'x y' is not linked to an MPI library; if it loads one, as "
           "Python does with mpi4py, that is found when it is recorded")])
    text = here.run("doctor", environment={"CAIRN_LIB": "/no/lib.so"}).stdout
    if "bad  preload      CAIRN_LIB names /no/lib.so, which is no file" not in text:
        raise Failure(text)


def add_arguments(parser):
    """What a bench needs."""
    for name in ("--cairn", "--make-traces", "--make-arrays", "--programs"):
        parser.add_argument(name, required=True)


def bench_in(folder, arguments):
    """A bench in an empty folder, where traces and arrays are made."""
    (folder / "spool").mkdir()
    subprocess.run([arguments.make_traces, str(folder)], check=True)
    subprocess.run([arguments.make_arrays, str(folder)], check=True)
    return Bench(arguments, folder)


def main():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="cairn-cli-") as name:
        bench = bench_in(pathlib.Path(name).resolve(), arguments)
        bench.update = arguments.update
        for function in CASES:
            if arguments.names and function.__name__ not in arguments.names:
                continue
            begin = time.monotonic()
            try:
                function(bench)
                print(f"ok    {function.__name__} ({time.monotonic() - begin:.2f} s)")
            except (Failure, AssertionError, subprocess.SubprocessError, ValueError, KeyError, OSError) as failure:
                failed += 1
                print(f"FAIL  {function.__name__}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
