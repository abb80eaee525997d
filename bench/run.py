#!/usr/bin/env python3
"""Measures what recording costs and how small traces are, and writes it as JSON.

  bench/run.py [--build DIR] [--out FILE] [--quick] [cost] [memory] [size]
  bench/run.py [--build DIR] [--out FILE] [--quick] scale

cost    CPU that recording adds to an MPI call (bench/loop_self.c), warm and with caches emptied between iterations, for each
        MPI library; traced and untraced runs alternate, the result is the median of the differences of the pairs. With
        valgrind, also the instructions that recording adds to a call, which do not depend on the machine's mood.
memory  what the recorder allocated at its peak, by its own account, and what the ranks' peak resident memory grew by.
size    the 2-D five-point stencil (bench/stencil2d.c) at several numbers of ranks and iterations: bytes of the trace
        without the sections timing and meta, and bytes of timing a signature.
scale   the merge on up to a million ranks, simulated (bench/scale/suite.py); hours without --quick. Writes docs/scale.json and
        the table in docs/scale.md, or FILE alone.

Figures of other machines do not compare with each other; nothing here passes or fails. Standard library only.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVICT = 4 << 20


def talk(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, options):
        self.quick = options.quick
        self.build = pathlib.Path(options.build).resolve()
        self.cairn = self.find_cairn()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-"))
        self.environment = dict(
            os.environ,
            CAIRN_QUIET="1",
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1",
        )
        self.libraries = [m for m in ("mpich", "openmpi") if shutil.which(f"mpicc.{m}") and shutil.which(f"mpiexec.{m}")]
        if not self.libraries:
            sys.exit("bench: neither mpicc.mpich nor mpicc.openmpi is installed; run scripts/setup mpi")
        self.programs = {}

    def find_cairn(self):
        for place in ("bin/cairn", "src/cli/cairn"):
            if (self.build / place).exists():
                return str(self.build / place)
        sys.exit(f"bench: no cairn in {self.build}; build it with: cmake --preset bench && cmake --build build-release")

    def program(self, name, library):
        """bench/NAME.c compiled for that MPI library."""
        key = (name, library)
        if key not in self.programs:
            target = self.work / f"{pathlib.Path(name).name}.{library}"
            source = ROOT / "bench" / f"{name}.c"
            # GCC does not know that MPI_STATUSES_IGNORE is no array.
            subprocess.run([f"mpicc.{library}", "-O2", "-g", "-Wno-stringop-overflow", str(source), "-o", str(target), "-lm"],
                           check=True)
            self.programs[key] = str(target)
        return self.programs[key]

    def run(self, library, ranks, command, trace=None, environment=None):
        """Runs the command on some ranks, recorded if `trace` names a file; its standard output."""
        full = [f"mpiexec.{library}", "-n", str(ranks), *command]
        if trace:
            full = [self.cairn, "record", "--force", "-o", str(trace), "--", *full]
        done = subprocess.run(full, env={**self.environment, **(environment or {})}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=900)
        if done.returncode != 0:
            sys.exit(f"bench: exit status {done.returncode} of: {' '.join(full)}\n{done.stderr[-2000:]}")
        return done.stdout, done.stderr

    def info(self, trace):
        return json.loads(subprocess.run([self.cairn, "info", "--json", str(trace)], check=True, stdout=subprocess.PIPE,
                                         text=True).stdout)

    # -- cost ---------------------------------------------------------------------------------------------------------

    def loop(self, library, iterations, evict, trace=None):
        pin = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
        out, _ = self.run(library, 1, [*pin, self.program("loop_self", library), str(iterations), str(evict)], trace)
        return json.loads(next(line for line in out.splitlines() if line.startswith("{")))

    def cost(self):
        result = {}
        pairs = 5 if self.quick else 15
        for library in self.libraries:
            rows = {}
            for name, iterations, evict, key in (
                ("warm", 300_000, 0, "cpu_ns_per_call"),
                ("evicted_4MiB", 4_000, EVICT, "median_wall_ns_per_call"),
            ):
                plain, traced = [], []
                for pair in range(pairs):
                    talk(f"cost: {library}, {name}, pair {pair + 1} of {pairs}")
                    plain.append(self.loop(library, iterations, evict)[key])
                    traced.append(self.loop(library, iterations, evict, self.work / "loop.cairn")[key])
                added = [t - p for t, p in zip(traced, plain)]
                rows[name] = {
                    "figure": key,
                    "calls": 3 * iterations,
                    "pairs": pairs,
                    "untraced_ns": statistics.median(plain),
                    "traced_ns": statistics.median(traced),
                    "added_ns": round(statistics.median(added), 2),
                    "added_ns_least": round(min(added), 2),
                    "added_ns_greatest": round(max(added), 2),
                }
            instructions = self.instructions(library)
            if instructions is not None:
                rows["added_instructions_per_call"] = instructions
            result[library] = rows
        return result

    def instructions(self, library):
        """Instructions that recording adds to a call: the slope between two lengths of the loop, traced minus untraced."""
        if not shutil.which("valgrind"):
            return None
        talk(f"cost: {library}, instructions under valgrind")
        lengths = (2_000, 12_000)
        slopes = []
        for trace in (None, self.work / "loop.cairn"):
            counts = []
            for iterations in lengths:
                log = self.work / "valgrind.log"
                try:
                    self.run(library, 1, ["valgrind", "--tool=cachegrind", "--cache-sim=no",
                                          "--cachegrind-out-file=/dev/null", f"--log-file={log}",
                                          self.program("loop_self", library), str(iterations), "0"], trace)
                    line = next(line for line in log.read_text().splitlines() if "refs:" in line)
                except (SystemExit, StopIteration, OSError) as problem:
                    talk(f"cost: no instruction count for {library}: {problem}")
                    return None
                counts.append(int(line.split("refs:")[1].replace(",", "")))
            slopes.append((counts[1] - counts[0]) / (3 * (lengths[1] - lengths[0])))
        return round(slopes[1] - slopes[0], 1)

    # -- memory -------------------------------------------------------------------------------------------------------

    def memory(self):
        result = {}
        for library in self.libraries:
            rows = []
            for ranks, iterations in ((4, 1000), (16, 100)):
                talk(f"memory: {library}, stencil on {ranks} ranks")
                trace = self.work / "memory.cairn"
                plain = self.stencil(library, ranks, iterations)
                traced = self.stencil(library, ranks, iterations, trace)
                info = self.info(trace)
                rows.append({
                    "ranks": ranks,
                    "iterations": iterations,
                    "recorder_peak_bytes": info["peak_memory"],
                    "resident_peak_kib_untraced": plain,
                    "resident_peak_kib_traced": traced,
                    "added_kib": traced - plain,
                })
            result[library] = rows
        return result

    # -- size ---------------------------------------------------------------------------------------------------------

    def stencil(self, library, ranks, iterations, trace=None):
        """Runs the stencil; the greatest peak of resident memory over the ranks, in KiB."""
        environment = {"OMPI_MCA_mpi_yield_when_idle": "1"}
        if library == "mpich":
            environment |= self.yielding()
        out, _ = self.run(library, ranks, [self.program("stencil2d", library), str(iterations), "memory"], trace, environment)
        return max(json.loads(line)["peak_kib"] for line in out.splitlines() if line.startswith("{"))

    def yielding(self):
        """Environment that lets MPICH run more ranks than there are cores: its progress loop would spin."""
        library = self.work / "libyield.so"
        if not library.exists():
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(ROOT / "src/mpi/tests/yield.c"), "-o", str(library), "-ldl"],
                           check=True)
        return {"LD_PRELOAD": str(library)}

    def size(self):
        library = self.libraries[0]
        rows = []
        shapes = [(r, i) for r in ((4, 16) if self.quick else (4, 16, 36, 64)) for i in (10, 100, 1000)]
        for ranks, iterations in shapes:
            talk(f"size: {library}, stencil on {ranks} ranks, {iterations} iterations")
            trace = self.work / "size.cairn"
            start = time.monotonic()
            self.stencil(library, ranks, iterations, trace)
            seconds = time.monotonic() - start
            info = self.info(trace)
            bytes_of = info["bytes"]
            rows.append({
                "ranks": ranks,
                "iterations": iterations,
                "calls": info["calls"],
                "signatures": info["signatures"],
                "classes": info["classes"],
                "bytes": bytes_of,
                "bytes_without_timing_and_meta": bytes_of["total"] - sum(
                    bytes_of.get(name, 0) for name in ("timing", "clocks", "sums", "meta")),
                "timing_bytes_per_signature": round(bytes_of.get("timing", 0) / max(1, info["signatures"]), 1),
                "seconds": round(seconds, 1),
            })
        sizes = [row["bytes_without_timing_and_meta"] for row in rows]
        return {
            "mpi": library,
            "program": "2-D five-point stencil, a tag for each direction, no periods",
            "least": min(sizes),
            "greatest": max(sizes),
            "spread": round(max(sizes) / min(sizes) - 1, 4),
            "runs": rows,
        }


def machine():
    model = ""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform(terse=True)}


def commit():
    try:
        text = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout.strip()
    except OSError:
        text = ""
    return text or "unknown"


def scale(options, result):
    sys.path.insert(0, str(ROOT / "bench/scale"))
    import suite

    result["scale"] = suite.measure(options.build, options.quick, limit=300 if options.quick else 3600)
    suite.write(result, options.out or ROOT / "docs/scale.json", None if options.out else ROOT / "docs/scale.md")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build-release"), help="build folder (default: build-release)")
    parser.add_argument("--out", help="where to write (default: bench/results/DATE-TIME.json)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and ranks")
    parser.add_argument("what", nargs="*", choices=[[], "cost", "memory", "size", "scale"], help="default: all but scale")
    options = parser.parse_args()

    result = {
        "schema": "cairn-bench-1",
        "command": " ".join(["bench/run.py", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit(),
        "machine": machine(),
    }
    if "scale" in options.what:
        if options.what != ["scale"]:
            parser.error("scale is run alone")
        return scale(options, result)
    bench = Bench(options)
    try:
        for name in options.what or ("cost", "memory", "size"):
            result[name] = getattr(bench, name)()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    out = pathlib.Path(options.out) if options.out else ROOT / "bench/results" / time.strftime("%Y%m%d-%H%M%S.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    talk(f"bench: wrote {out}")


if __name__ == "__main__":
    main()
