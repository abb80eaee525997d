"""Holds what every verb prints with --json against its schema (schemas/), over made-up traces and those of src/*/testdata.

  schemas_test.py --cairn CAIRN --make-traces PROGRAM --make-arrays PROGRAM --programs FOLDER [--every]

With --every each question is put to each trace; without, only to those of MANIFOLD, others are asked what verbs tell
without options.

A verb without a schema fails, and so does a member that no schema describes, a schema that describes a member which none of
these outputs has (but for UNSEEN), and a member without a description. Exit status: 0 passed, 1 failed, 77 not possible
here.
"""

import argparse
import json
import pathlib
import re
import shutil
import sys
import tempfile
import time

from cli_test import ROOT, add_arguments, bench_in, options_of_help, place_of_section

try:
    from schemas import Schemas
except ModuleNotFoundError as error:
    print(f"skipped: there is no Python module {error.name}; Debian has it in python3-jsonschema")
    sys.exit(77)

# Members that no output here has, and why. Each is "schema: path", or how that begins.
UNSEEN = {
    "cairn-peek: ": "of a program that runs under MPI: src/mpi/tests/hangs.py holds it against the schema",
    "cairn-verify: against": "compares with logs of a program under MPI: src/mpi/tests/hangs.py holds it against the schema",
}

CHOICES = (("--rank", "0"), ("--function", "MPI_*send,MPI_Recv"), ("--peer", "any"), ("--errors",), ("--thread", "0"))
# Of each verb that reads one trace: what it is asked besides what it tells without options.
QUESTIONS = {
    "info": (("--communicators",), ("--communicators", "--rank", "0")),
    "summary": (("--callsites",), ("--per-rank",), ("--sort", "bytes", "--limit", "2"), *CHOICES),
    "loops": (("--limit", "1"), ("--rank", "0")),
    "ranks": (("--top", "1", "--sort", "calls"), *CHOICES),
    "phases": (("--depth", "3"), ("--rank", "0")),
    "matrix": (("--by", "comm"), ("--by", "site", "--messages"), ("--collectives", "expanded"), *CHOICES),
    "sizes": (("--by", "comm", "--times"), ("--by", "site", "--exact"), *CHOICES),
    "timeline": (("--columns", "3", "--by", "function"), ("--columns", "3", "--by", "site", "--classes"),
                 ("--columns", "2", "--time", "0s+100us", "--lines", "1")),
    "waits": (("--rank", "0"), ("--function", "MPI_Recv")),
    "path": (),
    "efficiency": (),
    "check": (("--every-call",), ("--kinds", "types,leaks", "--rank", "0")),
    "verify": (),
    "dump": (("--order", "time", "--limit", "9"), ("--order", "duration"), ("--stack", "--objects"), ("--world",),
             ("--memory", "--threads"), ("--step", "1"), ("--no-launches",), ("--warp", "0", "--limit", "99"),
             ("--launch", "0", "--join", "--limit", "99"), *CHOICES),
}
# Those that do not read one trace, or a question about it: asked in ways of their own.
OTHERS = {"peek", "doctor", "diff", "estimate", "gpu", "arrays info", "arrays verify", "arrays bench"}
# Six million events: asked for its sizes alone.
TOO_LONG = "biggpu.cairn"


# Those that have all members which are told of traces, but for some that are told without options.
MANIFOLD = {f"{name}.cairn" for name in ("badgpu", "bare", "both", "touches", "spawned", "values", "left", "lossless", "v1-heap",
                                         "v1-threads")}


class Asking:
    """Runs `cairn`, holds what it prints against the schemas, and prints what is wrong."""

    def __init__(self, bench):
        self.bench = bench
        self.schemas = Schemas()
        self.asked = self.answered = self.faults = 0
        self.told = set()

    def fault(self, line, like=None):
        """`like`: what is told once, of whichever output it is."""
        self.faults += 1
        if like is None or like not in self.told:
            print(f"FAIL  {line}", flush=True)
        self.told.add(like)

    def ask(self, *words):
        """It may also be refused, which is said on standard error and nowhere else."""
        verb = 2 if words[0] == "arrays" else 1
        words = (*words[:verb], "--json", *words[verb:])
        done = self.bench.run(*words)
        shown = "cairn " + " ".join(words)
        self.asked += 1
        if not done.stdout:
            # Of a launch without clocks that is told on standard error, too.
            refused = done.returncode in (2, 3, 4) or words[:1] + words[2:3] == ("gpu", "blocks")
            if not refused or not done.stderr:
                self.fault(f"{shown}: exit status {done.returncode}, and it prints nothing: {done.stderr}")
            return
        self.answered += 1
        try:
            if words[0] == "dump":
                faults = list(self.schemas.faults_of_lines(done.stdout))
            else:
                faults = [self.schemas.fault_of(json.loads(done.stdout))]
        except json.JSONDecodeError as error:
            faults = [f"this is no JSON: {error}"]
        for fault in filter(None, faults[:3]):
            self.fault(f"{shown}: {fault}", (words[0], re.sub("[0-9]+", "N", fault)))

    def every_verb_has_a_schema(self):
        for of in ((), ("arrays",)):
            for verb in self.bench.verbs(*of):
                words = " ".join((*of, verb))
                if words == "arrays" or "--json" not in options_of_help(self.bench, *of, verb):
                    continue
                if f"cairn-{words.replace(' ', '-')}" not in self.schemas.files:
                    self.fault(f"cairn {words} --json has no schemas/cairn-{words.replace(' ', '-')}.schema.json")
                if words not in QUESTIONS and words not in OTHERS:
                    self.fault(f"cairn {words} --json is not asked for anything in this test")

    def traces(self):
        """Those that are made, those of other tests, and some that come of these."""
        folder = self.bench.folder
        for path in (*ROOT.glob("src/trace/testing/testdata/*.cairn"), *ROOT.glob("src/gpu/tests/testdata/*.cairn")):
            shutil.copy(path, folder / path.name)
        for name, options, of in (("bounded", ("--timing", "context"), "lossless"), ("off", ("--timing", "off"), "lossless"),
                                  ("corrected", ("--clocks",), "lossless"), ("bounded_both", ("--timing", "context"), "both"),
                                  ("bounded_stats", ("--timing", "stats"), "bounded")):
            self.bench.check("repack", "-q", *options, f"{of}.cairn", "-o", f"{name}.cairn")
        damaged = bytearray((folder / "lossless.cairn").read_bytes())
        timing = place_of_section(damaged, 7)
        damaged[timing[len(timing) // 4]] ^= 4
        (folder / "damaged.cairn").write_bytes(damaged)
        return [name for name in self.bench.sees("*.cairn") if name != TOO_LONG]

    def ask_verbs(self, traces, every):
        for trace in traces:
            asks_all = every or trace in MANIFOLD
            for verb, questions in QUESTIONS.items():
                for options in ((), *(questions if asks_all else ())):
                    self.ask(verb, *options, trace)
        for trace in traces:
            if not every and trace not in MANIFOLD and "gpu" not in trace:
                self.ask("gpu", trace)
                continue
            for question in self.bench.offers("gpu", ""):
                if not question.startswith((":", "-")):
                    self.ask("gpu", question, trace)
            self.ask("gpu", "blocks", "--launch", "0", trace)
        self.ask("gpu", "source", "--sources", "sources", "gpu.cairn")
        self.ask("gpu", "folded", "--weigh", "visits", "gpu.cairn")
        self.ask("gpu", "sizes", TOO_LONG)
        self.ask("estimate", "ring3.cairn", "ring.cairn", "-n", "64")
        self.ask("estimate", "ring3.cairn", "ring.cairn", "ring6.cairn", "-n", "64", "--steps", "1000")
        self.ask("doctor")
        self.ask("doctor", "--", str(self.bench.programs / "cli_mpi"))
        self.ask("doctor", "--", "./nowhere")

    def ask_for_differences(self):
        for first, second, *options in (
                ("ring", "lossless"), ("ring", "failing"), ("failing", "failing_lossless"), ("ring3", "ring"),
                ("ring3", "ring", "--rank", "0"), ("lossless", "bounded"), ("lossless", "off"), ("threads", "left"),
                ("gpu", "gpu2"), ("gpu2", "gpu", "--join"), ("both", "both_untimed"), ("both", "gpu"), ("v1-nested", "v1-polls"),
                ("v1-heap", "v1-threads"), ("v1-waits", "v1-drains"), ("malformed", "ring"), ("touches", "touches2"),
                ("touches", "values"), ("hung", "left"), ("hung", "spawned"), ("cut", "ring")):
            words = ("diff", f"{first}.cairn", f"{second}.cairn", *options)
            self.ask(*words)
            self.ask(*words, "--replay")
            self.ask(*words, "--ignore-results")

    def ask_for_arrays(self):
        bench, folder = self.bench, self.bench.folder
        bench.check("arrays", "import", "-q", "plain.nc", "chained.nc", "--split", "1K", "--chain", "2")
        whole = (folder / "rewritten.nc").read_bytes()
        block = json.loads(bench.run("arrays", "info", "--json", "--blocks", "rewritten.nc").stdout)["blocks"][0]
        for name, place in (("title", whole.index(b"made up")), ("block", block["offset"])):
            other = bytearray(whole)
            other[place] ^= 1
            (folder / f"{name}.nc").write_bytes(other)
        for file in ("plain.nc", "rewritten.nc", "chained.nc", "title.nc", "block.nc", "ring.cairn", "nowhere.nc"):
            for words in (("info",), ("info", "--blocks"), ("verify",), ("bench",), ("bench", "--var", "T")):
                self.ask("arrays", *words, file)

    def every_member_is_seen(self):
        if self.faults:
            return  # what does not fit is not seen
        used = set()
        for member in self.schemas.unseen():
            known = [begin for begin in UNSEEN if member.startswith(begin)]
            used.update(known)
            if not known:
                self.fault(f"{member}: no output has it; take it out, ask for it here, or say in UNSEEN why that cannot be")
        for begin in UNSEEN.keys() - used:
            self.fault(f"{begin}: all of it was seen; take it out of UNSEEN")


def main():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    parser.add_argument("--every", action="store_true")
    arguments = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cairn-schemas-") as name:
        asking = Asking(bench_in(pathlib.Path(name).resolve(), arguments))
        for fault in asking.schemas.faults_of_files():
            asking.fault(fault)
        asking.every_verb_has_a_schema()
        asking.ask_verbs(asking.traces(), arguments.every)
        asking.ask_for_differences()
        asking.ask_for_arrays()
        asking.every_member_is_seen()
    print(f"{asking.asked} questions, {asking.answered} answers, {len(asking.schemas.files)} schemas, {asking.faults} faults "
          f"({time.monotonic() - begin:.0f} s)")
    return 1 if asking.faults else 0


if __name__ == "__main__":
    sys.exit(main())
