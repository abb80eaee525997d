#!/usr/bin/env python3
"""Records turns.c, whose ranks launch kernels and call MPI in turn, and looks where the launches stand among the calls.

turns_test.py --cairn CAIRN --library libcairn-gpu.so --mpi mpich|openmpi --program turns_MPI
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SECOND_READER = pathlib.Path(__file__).resolve().parents[2] / "trace" / "testing" / "read_gpu.py"
SLACK = 50_000  # ns: between the clocks of calls and of launches
INIT, ALLREDUCE, BARRIER = "MPI_Init_thread", "MPI_Allreduce", "MPI_Barrier"
ORDER = ["odd", INIT, "MPI_Comm_rank", "spin", ALLREDUCE, "spin", ALLREDUCE, "spin", ALLREDUCE]


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}:\n{got!r}, not\n{wanted!r}")


class Bench:
    def __init__(self, arguments, folder):
        self.cairn, self.library, self.mpi, self.program = arguments.cairn, arguments.library, arguments.mpi, arguments.program
        self.folder = folder

    def run(self, *words, check=True, **more):
        settings = {**more, "CAIRN_GPU_LIBRARY": self.library, "CAIRN_QUIET": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, **settings}, capture_output=True, text=True, timeout=100)
        if check and done.returncode != 0:
            sys.exit(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def recorded(self, name, *options, **more):
        self.run(self.cairn, "record", "-q", "-o", name, *options, "--", "timeout", "60", f"mpiexec.{self.mpi}", "-n", "2", self.program, **more)
        return name

    def dumped(self, trace, rank, *options):
        return [json.loads(line) for line in self.run(self.cairn, "dump", trace, "--json", "--rank", str(rank), *options).stdout.splitlines()[1:]]


def name_of(line):
    return line["kernel"] if "launch" in line else line["function"]


def places(bench, trace, behind):
    """Launches stand between the calls where they were made, on each rank; only with all calls of a rank."""
    for rank in range(2):
        lines = bench.dumped(trace, rank)
        expect(f"rank {rank} of {trace}", [name_of(line) for line in lines], ORDER + behind + ["odd", "MPI_Finalize"])
        spins = [line["grid"][0] for line in lines if line.get("kernel") == "spin"]
        expect("grids", spins, [1, 2, 3])
        threads = [line.get("thread") for line in lines if "launch" in line]
        expect("threads", threads, [0, 0, 0, 0, None, 0])
        calls = [name_of(line) for line in bench.dumped(trace, rank, "--no-launches")]
        expect("--no-launches", [name for name in calls if not name.startswith("MPI_")], [])
        some = [name_of(line) for line in bench.dumped(trace, rank, "--function", ALLREDUCE)]
        expect("--function", some, 3 * [ALLREDUCE])


def times(bench, trace, ranks=2):
    """Kernels begin behind their launch and have ended before the rank's next call, since the emulator waits for them."""
    for rank in range(ranks):
        before, launch = None, None
        for line in bench.dumped(trace, rank):
            if line.get("launch") is not None and "begin_ns" not in line:
                continue  # it was in flight
            if "launch" in line:
                if not line["made_ns"] <= line["begin_ns"] or line["duration_ns"] <= 0:
                    sys.exit(f"a kernel out of its time: {line}")
                if before is not None and line["made_ns"] < before["begin_ns"] + before["duration_ns"] - SLACK:
                    sys.exit(f"{line} was made before the end of {before}")
                launch = line
                continue
            if launch is not None and line["begin_ns"] + SLACK < launch["begin_ns"]:
                sys.exit(f"{line} began before {launch}")
            before, launch = line, None


def blocks(bench, trace):
    """In a timeline each block is drawn once, within the time of its kernel; not those that had ended at the first call."""
    events = json.loads(bench.run(bench.cairn, "export", "--to", "chrome", trace).stdout)["traceEvents"]
    ranks = {event["pid"]: int(event["args"]["name"].split(",")[0].split()[1]) for event in events
             if event.get("name") == "process_name" and event["args"]["name"].endswith("GPU 0: blocks on its multiprocessors")}
    expect("processes", sorted(ranks.values()), [0, 1])
    kernels = {event["args"]["launch"]: (event["ts"], event["ts"] + event["dur"]) for event in events if event.get("cat") == "GPU"}
    drawn = [event for event in events if event.get("cat") == "block"]
    launches = json.loads(bench.run(bench.cairn, "gpu", "launches", "--json", trace).stdout)["launches"]
    some = sorted((ranks[event["pid"]], event["args"]["launch"], event["args"]["block"]) for event in drawn)
    # The first kernel of a rank may have run when the other one made its first call.
    began = {launch["launch"]: launch["begin_ns"] >= 0 for launch in launches}
    ended = {launch["launch"]: launch["begin_ns"] + launch["duration_ns"] < 0 for launch in launches}
    told = sorted((launch["rank"], launch["launch"], block) for launch in launches for block in range(int(launch["grid"])))
    expect("blocks", [each for each in some if began[each[1]]], [each for each in told if began[each[1]]])
    expect("blocks once", len(set(some)), len(some))
    expect("blocks of kernels that had ended", [each for each in some if ended[each[1]]], [])
    for event in drawn:
        begin, end = kernels[event["args"]["launch"]]
        if not begin - 0.01 <= event["ts"] <= event["ts"] + event["dur"] <= end + 0.01:
            sys.exit(f"{event} is not within its kernel, {begin} to {end}")


def killed(bench):
    """Launches stand in their places in the trace of a process that was killed; only the last may not have been fetched yet."""
    done = bench.run(bench.cairn, "record", "-q", "-o", "killed.cairn", "--timing", "lossless", "--", "timeout", "60", f"mpiexec.{bench.mpi}",
                     "-n", "1", bench.program, "killed", check=False)
    said = [line for line in done.stderr.splitlines() if "that launched GPU kernels was killed, or ended at once, with" in line]
    expect(f"killed: {done.stderr}", (len(said), done.returncode != 0), (1, True))
    lines = bench.dumped("killed.cairn", 0)
    expect("killed", [name_of(line) for line in lines], ORDER)
    expect("grids", [line["grid"][0] for line in lines if line.get("kernel") == "spin"], [1, 2, 3])
    gpu = json.loads(bench.run(bench.cairn, "info", "--json", "killed.cairn").stdout)["gpu"]
    expect("launches", (gpu["launches"], gpu["untraced_because"].get("killed", 0)), (4, gpu["untraced"]))
    times(bench, "killed.cairn", 1)
    bench.run(sys.executable, str(SECOND_READER), bench.cairn, "killed.cairn")
    # The same where nobody waits for the job.
    bench.run("timeout", "60", f"mpiexec.{bench.mpi}", "-n", "1", bench.cairn, "exec", "-o", "merged.cairn", "--", bench.program, "killed",
              check=False)
    merged = bench.run(bench.cairn, "merge", "-q", "merged.cairn.spool")
    expect("merge", merged.stderr.startswith("cairn: a process that launched GPU kernels was killed"), True)
    expect("merged", [name_of(line) for line in bench.dumped("merged.cairn", 0)], ORDER)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--cairn", "--library", "--mpi", "--program"):
        parser.add_argument(name, required=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(parser.parse_args(), pathlib.Path(folder))
        counted = bench.recorded("counted.cairn")
        timed = bench.recorded("timed.cairn", "--timing", "lossless")
        # Without times of calls, the launch of the thread that makes none is known to be before that which was made next.
        places(bench, counted, [BARRIER, "odd"])
        places(bench, timed, ["odd", BARRIER])
        times(bench, timed)
        clocked = bench.recorded("clocked.cairn", "--timing", "lossless", CAIRN_GPU_CLOCKS="1", CAIRN_EMULATOR_PROCESSORS="2")
        blocks(bench, clocked)
        bench.run(sys.executable, str(SECOND_READER), bench.cairn, counted, timed, clocked)
        killed(bench)


if __name__ == "__main__":
    main()
