#!/usr/bin/env python3
"""Records programs with exact times and measures what every way of keeping times makes of them.

  bench/timing/run.py [--build DIR] [--nas DIR] [--out DIR] [--only NAME...] [--json FILE] [--tables]

Recordings go into --out, and stay there: one that is there is not made again. --nas is where lu.S.4 and the like are.
Programs that are not installed are left out, and said. Writes docs/timing.json, or FILE, and prints the tables of
docs/benchmarks.md, "Times"; with --tables only these, of FILE. Figures of other machines do not compare.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "bench/timing"
SECONDS = 150
BOUNDS = {100_000: "10 %", 10_000: "1 %"}
SIX = ("hist", "hist-10000", "cfg", "sz", "sz-clustered", "zfp", "zfp-clustered")  # hist with two choices of M

LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 16 0 16 0 16
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
run 600
"""
HPCC = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")


def talk(text):
    print(text, file=sys.stderr, flush=True)


class Recorder:
    def __init__(self, options):
        self.out = options.out.resolve()
        self.cairn = (options.cairn or options.build / "bin/cairn").resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.environment = dict(
            os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1",
            OPENBLAS_NUM_THREADS="1")

    def compiled(self, source):
        program = self.out / source.stem
        subprocess.run(["mpicc.mpich", "-O2", "-w", f"-I{ROOT / 'bench/patterns'}", "-o", program, source, "-lm"], check=True)
        return [str(program)]

    def record(self, name, ranks, command, folder=None):
        """The trace; None where the program did not run."""
        trace = self.out / f"{name}.cairn"
        if trace.exists():
            return trace
        libraries = subprocess.run(["ldd", shutil.which(command[0]) or command[0]], capture_output=True, text=True).stdout
        mpi = "mpich" if "libmpich" in libraries else "openmpi"
        environment = dict(self.environment)
        yields = pathlib.Path(self.cairn).parents[1] / "src/mpi/tests/libyield.so"
        if mpi == "mpich" and yields.exists():  # waiting ranks of MPICH keep the cores from those that work
            environment["LD_PRELOAD"] = str(yields)
        with open(self.out / f"{name}.out", "w") as said:
            try:
                done = subprocess.run([self.cairn, "record", "-q", "--timing", "lossless", "-o", trace, "--",
                                       f"mpiexec.{mpi}", "-n", str(ranks), *command],
                                      cwd=folder or self.out, env=environment, stdout=said, stderr=said,
                                      stdin=subprocess.DEVNULL, timeout=SECONDS)
                failed = done.returncode != 0 and f"exit code {done.returncode}"
            except subprocess.TimeoutExpired:
                failed = f"longer than {SECONDS} s"
        if failed:
            talk(f"{name}: left out: {failed}; see {said.name}")
            trace.unlink(missing_ok=True)
            return None
        return trace


def streams(recorder, nas):
    """Name, ranks, and what makes the command; the folder to run in."""
    def ours(source, *words):
        return lambda: recorder.compiled(source) + [str(word) for word in words] if shutil.which("mpicc.mpich") else None

    def there(path, *words):
        return lambda: [str(path), *words] if pathlib.Path(path).exists() else None

    def lammps():
        (recorder.out / "in.lj").write_text(LAMMPS)
        return ["lmp", "-in", "in.lj"] if shutil.which("lmp") else None

    def hpcc():
        if not shutil.which("hpcc") or not HPCC.exists():
            return None
        (recorder.out / "hpccinf.txt").write_text(HPCC.read_text().replace("1000         Ns", "500          Ns"))
        return ["hpcc"]

    def python():
        found = subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], stderr=subprocess.DEVNULL).returncode == 0
        return ["/usr/bin/python3", str(HERE / "neighbours.py"), "2500"] if found else None

    patterns = ROOT / "bench/patterns"
    yield "stencil2d", 4, ours(ROOT / "bench/stencil2d.c", 8000, "onetag"), None
    yield "stencil3d", 8, ours(patterns / "stencil3d.c", 1500), None
    yield "workers", 4, ours(patterns / "workers.c", 20000), None
    yield "waitany", 4, ours(patterns / "waitany.c", 3000), None
    yield "neighbours", 16, ours(HERE / "neighbours.c", 600), None
    for name, ranks in (("lu.S", 4), ("cg.S", 4), ("bt.S", 9), ("mg.S", 4)):
        yield name, ranks, (there(nas / f"{name}.{ranks}") if nas else lambda: None), None
    testers = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests")
    yield "xdlu", 4, there(testers / "xdlu"), testers
    yield "hpcc", 4, hpcc, None
    yield "mpi4py", 4, python, None
    yield "lammps", 4, lammps, None


def measure(options):
    recorder = Recorder(options)
    tool = options.build / "bench/timing/cairn-timing-bench"
    lines = []
    for name, ranks, command, folder in streams(recorder, options.nas):
        if options.only and name not in options.only:
            continue
        words = command()
        if words is None:
            talk(f"{name}: left out: it is not installed" + ("; --nas says where" if ".S" in name else ""))
            continue
        talk(f"{name} on {ranks} ranks")
        trace = recorder.record(name, ranks, words, folder)
        if trace is None:
            continue
        out = subprocess.run([tool, trace], check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in out.splitlines():
            line = {key: round(value, 4) if isinstance(value, float) else value for key, value in json.loads(line).items()}
            del line["trace"]
            lines.append({"stream": name, "ranks": ranks, **line})
    commit = subprocess.run(["git", "log", "-1", "--format=%h", "--", "src"], cwd=ROOT, capture_output=True, text=True).stdout
    return {"schema": "cairn-timing-1", "date": datetime.datetime.now(datetime.timezone.utc).strftime("%FT%TZ"),
            "commit": commit.strip(), "cores": os.cpu_count(), "system": platform.platform(), "lines": lines}


def mean(factors):
    factors = list(factors)
    return math.exp(statistics.fmean(math.log(factor) for factor in factors))


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def bound_of(line):
    return line.get("bound_millionths", line.get("bound_ns", 0))


def tables(lines):
    found = {}
    for line in lines:
        found.setdefault(line["stream"], {})[line["mode"], bound_of(line)] = line
    for bound, text in BOUNDS.items():
        ratios_within(found, bound, text)
    print("### Exact: times smaller than 16 bytes a call\n")
    rows, factors = [], []
    for stream, modes in found.items():
        ours, chunks = modes["lossless", 0], modes["chunks", 0]
        plain = min((modes[name, 0] for name in ("zstd64", "zstd64-series")), key=lambda line: line["bytes"])
        factors.append((chunks["bytes"] / ours["bytes"], plain["bytes"] / ours["bytes"]))
        rows.append([stream, *(f"{line['ratio']:.2f}" for line in (plain, chunks, ours)),
                     *(f"{factor:.2f}" for factor in reversed(factors[-1]))])
    rows.append(["geometric mean", "", "", "", *(f"{mean(column):.2f}" for column in list(zip(*factors))[::-1])])
    table(["stream", "64-bit, zstd -3", "chunks", "lossless", "/ 64-bit", "/ chunks"], rows)
    by_mode(found)


def ratios_within(found, bound, text):
    """Shape of Table 8: ratio and PSNR (durations) of each mode on each stream."""
    names = ("hist", "hist-10000", "cfg", "sz", "sz-clustered", "bins", "context")
    print(f"### Within {text}: times smaller than 16 bytes a call\n")
    rows, factors, compared = [], [], []
    for stream, modes in found.items():
        ours = modes["context", bound]
        rivals = [line for (name, _), line in modes.items() if name in SIX and line["relative_error"] <= bound / 1e6]
        compared += [(stream, line["mode"]) for line in rivals if line["mode"].startswith("zfp")]
        best = min(rivals, key=lambda line: line["bytes"])
        factors.append((best["bytes"] / ours["bytes"], modes["bins", bound]["bytes"] / ours["bytes"]))
        psnr = [ours[name] for name in ("psnr_durations", "psnr_gaps")]
        rows.append([stream, ours["ranks"], f"{ours['calls']:,}", *(f"{modes[name, bound]['ratio']:.1f}" for name in names),
                     best["mode"], *(f"{factor:.2f}" for factor in factors[-1]),
                     *("" if value is None else f"{value:.0f}" for value in psnr)])
    rows.append(["geometric mean", "", "", *(f"{mean(modes[name, bound]['ratio'] for modes in found.values()):.1f}"
                                             for name in names), "",
                 *(f"{mean(column):.2f}" for column in zip(*factors)), "", ""])
    table(["stream", "ranks", "calls", *names, "best other", "/ best", "/ bins", "PSNR durations", "PSNR gaps"], rows)
    print(f"zfp within {text}: {compared or 'on no stream'}\n")


def by_mode(found):
    """Shape of Table 9, with errors: each mode over all streams."""
    print("### By mode, over all streams\n")
    rows = []
    for mode in dict.fromkeys(key for modes in found.values() for key in modes):
        lines = [modes[mode] for modes in found.values()]
        if "encode_ns" not in lines[0]:
            continue
        calls = sum(line["calls"] for line in lines)
        code, decode = (sum(line[key] * line["calls"] for line in lines) / calls for key in ("encode_ns", "decode_ns"))
        psnr = [[line[key] for line in lines if line[key] is not None] for key in ("psnr_durations", "psnr_gaps")]
        absolute = {10_000: "10 µs", 1_000_000: "1 ms"}
        bound = absolute[mode[1]] if "bound_ns" in lines[0] else BOUNDS.get(mode[1], "exact")
        rows.append([mode[0], bound, f"{mean(line['ratio'] for line in lines):.1f}",
                     *(f"{statistics.median(values):.0f}" if values else "" for values in psnr),
                     f"{100 * max(line['relative_error'] for line in lines):.4g} %",
                     f"{max(line['absolute_error_ns'] for line in lines) / 1e6:.3g} ms",
                     f"{max(line['clock_error_ns'] for line in lines) / 1e6:.3g} ms",
                     f"{code:.0f}", f"{decode:.0f}", f"{16e3 / code:.0f}", f"{16e3 / decode:.0f}"])
    table(["mode", "bound", "ratio", "PSNR durations", "PSNR gaps", "relative error", "absolute error", "clock",
           "code, ns a call", "decode", "code, MB/s", "decode"], rows)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    words.add_argument("--cairn", type=pathlib.Path, help="records with it, not with that of --build")
    words.add_argument("--nas", type=pathlib.Path)
    words.add_argument("--out", type=pathlib.Path, default=ROOT / "build/timing-bench")
    words.add_argument("--only", nargs="+", default=[])
    words.add_argument("--json", type=pathlib.Path, default=ROOT / "docs/timing.json")
    words.add_argument("--tables", action="store_true")
    options = words.parse_args()
    if not options.tables:
        measured = measure(options)
        if not measured["lines"]:
            sys.exit("bench/timing/run.py: nothing was measured")
        head = json.dumps({key: value for key, value in measured.items() if key != "lines"}, indent=1)
        lines = ",\n".join("  " + json.dumps(line) for line in measured["lines"])
        options.json.write_text(head.removesuffix("\n}") + ',\n "lines": [\n' + lines + "\n ]\n}\n")
    tables(json.loads(options.json.read_text())["lines"])


if __name__ == "__main__":
    main()
