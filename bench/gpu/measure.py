#!/usr/bin/env python3
"""What tracing costs on a real GPU, and whether it records there what the emulator records.

  measure.py build KIT      compiles everything (nvcc and a build of Cairn; no GPU)
  measure.py run KIT OUT    runs it on a machine with a GPU, which needs neither nvcc nor Cairn
  measure.py table OUT      tables as docs/gpu.md has them; compares with the emulator (a build of Cairn)

`run` stops starting things after --limit seconds, and writes what it has.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ["fractal", "nbody", "mis", "mst", "refine", "spmv", "reduce"]
TIMED = {"fractal": ["2048", "1024"], "nbody": ["50000", "2"], "mis": ["power:50000:6"], "mst": ["rmat:12:15"], "refine": ["100", "15"],
         "spmv": ["power:50000:6"]}
SAME = {"fractal": ["64", "256"], "nbody": ["600", "2"], "mis": ["road:40"], "mst": ["rmat:8:6"], "refine": ["24", "6"], "spmv": ["power:500:3"],
        "reduce": ["5000"]}
# Name, program of the kit, environment.
WAYS = [("untraced", "plain", {}), ("off", "predict", {"CAIRN_GPU": "off"}), ("raw", "raw", {}), ("predict", "predict", {}),
        ("drain", "predict", {"CAIRN_GPU_POLICY": "drain"})]


def run_steps(steps):
    """None, or what went wrong."""
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            return f"{' '.join(map(str, step))}\n{done.stderr}"
        if "-Xptxas" in step:
            pathlib.Path(step[step.index("-o") + 1]).with_suffix(".ptxas").write_text(done.stderr)
    return None


def build(arguments):
    kit, made = arguments.kit, arguments.build
    kit.mkdir(parents=True, exist_ok=True)
    shutil.copy(made / "lib" / "libcairn-gpu.so", kit)
    shutil.copy(__file__, kit / "measure.py")
    nvcc = [arguments.nvcc, "-O3", "-std=c++17", f"-arch={arguments.arch}", "-I", ROOT / "src/gpu/include", "-I", ROOT / "src/gpu/examples"]
    jobs = []
    for coder, words in (("off", ["-DCAIRN_GPU_OFF"]), ("raw", ["-DCAIRN_GPU_CODER_RAW"]), ("predict", [])):
        jobs.append([[*nvcc, *words, HERE / "points.cu", "-o", kit / f"points.{coder}"]])
    for name in EXAMPLES:
        source, traced = ROOT / "src/gpu/examples" / f"{name}.cu", kit / f"{name}.traced.cu"
        subprocess.run([made / "bin/cairn", "instrument", source, "-o", traced, "--force", "--include", ROOT / "src/gpu/include"], check=True)
        jobs.append([[*nvcc, "--fmad=false", traced, "-o", kit / f"{name}.same"]])
        if name not in TIMED:
            continue
        for way, of, words in (("plain", source, []), ("raw", traced, ["-DCAIRN_GPU_CODER_RAW"]), ("predict", traced, [])):
            # The wrapper's own main must not be renamed, so the program is an object first.
            program = kit / f"{name}.{way}.o"
            jobs.append([[*nvcc, *words, "-Dmain=program_main", "-c", of, "-o", program, "-Xptxas", "-v"],
                         [*nvcc, program, kit / "timed.o", "-Xlinker", "--wrap=__cudaLaunchKernel", "-o", kit / f"{name}.{way}"]])
    subprocess.run([*nvcc, "-c", HERE / "timed.cu", "-o", kit / "timed.o"], check=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for failure in pool.map(run_steps, jobs):
            if failure:
                sys.exit(failure)
    for name in EXAMPLES:
        environment = {**os.environ, "CAIRN_QUIET": "1", "CAIRN_GPU_LIBRARY": str(kit / "libcairn-gpu.so"),
                       "CAIRN_GPU_OUTPUT": str(kit / f"{name}.emulated.cairn")}
        (kit / f"{name}.emulated.cairn").unlink(missing_ok=True)
        done = subprocess.run([made / "src/gpu/examples" / name, *SAME[name]], env=environment, capture_output=True, check=True)
        (kit / f"{name}.emulated.out").write_bytes(done.stdout)
    for rest in list(kit.glob("*.o")) + list(kit.glob("*.traced.cu")):
        rest.unlink()
    print(f"{sum(p.stat().st_size for p in kit.iterdir()) >> 20} MiB in {kit}")


def run(arguments):
    kit, out = arguments.kit.resolve(), arguments.out
    out.mkdir(parents=True, exist_ok=True)
    traces = out / "traces"
    traces.mkdir(exist_ok=True)
    begin = time.monotonic()
    environment = {**os.environ, "CAIRN_QUIET": "1", "CAIRN_GPU_LIBRARY": str(kit / "libcairn-gpu.so")}
    results = {"same": {}, "points": {}, "timed": {}, "checked": {}}

    def program(name, words, timeout=90, **more):
        if time.monotonic() - begin > arguments.limit:
            return None
        path = kit / name
        path.chmod(0o755)
        try:
            return subprocess.run([path, *words], env={**environment, **more}, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess([name], 124, "", "timed out")

    def keep():
        (out / "results.json").write_text(json.dumps(results, indent=1))

    if shutil.which("cuobjdump"):
        for name in ("points.predict", "fractal.predict"):
            (out / f"{name}.sass").write_bytes(subprocess.run(["cuobjdump", "-sass", kit / name], capture_output=True).stdout)
    results["gpu"] = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.max.sm", "--format=csv,noheader"],
                                    capture_output=True, text=True).stdout.strip()
    for name in EXAMPLES:
        trace = traces / f"{name}.cairn"
        done = program(f"{name}.same", SAME[name], CAIRN_GPU_OUTPUT=str(trace))
        if done is not None:
            results["same"][name] = {"code": done.returncode, "stderr": done.stderr, "result": done.stdout == (kit / f"{name}.emulated.out").read_text()}
    keep()
    for coder in ("off", "raw", "predict"):
        done = program(f"points.{coder}", [], CAIRN_GPU_OUTPUT=str(out / "x.cairn"))
        if done is not None:
            results["points"][coder] = {"code": done.returncode, "stderr": done.stderr, **{line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}}
        (out / "x.cairn").unlink(missing_ok=True)
    done = program("points.predict", [], CAIRN_GPU="off")
    if done is not None:
        results["points"]["not traced"] = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    keep()
    for name, words in TIMED.items():
        for way, binary, more in WAYS:
            done = program(f"{name}.{binary}", words, REPEAT=str(arguments.repeat + 1), CAIRN_GPU_OUTPUT=str(out / "x.cairn"), **more)
            if done is None:
                continue
            lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
            each = [line for line in lines if "wall_ms" in line][1:]  # the first time warms up
            results["timed"].setdefault(name, {})[way] = {
                "code": done.returncode, "out": done.stdout.splitlines()[-1:], "stderr": [line for line in done.stderr.splitlines() if not line.startswith("{")],
                "device": [line for line in lines if "device_mb" in line], "each": each,
                "trace": (out / "x.cairn").stat().st_size if (out / "x.cairn").exists() else 0}
            (out / "x.cairn").unlink(missing_ok=True)
            keep()
    if shutil.which("compute-sanitizer"):
        for tool in ("memcheck", "racecheck"):
            for name in ("fractal", "mis"):
                if time.monotonic() - begin < arguments.limit:
                    try:
                        done = subprocess.run(["compute-sanitizer", "--tool", tool, kit / f"{name}.same", *({"fractal": ["32", "64"], "mis": ["road:12"]}[name])],
                                              env={**environment, "CAIRN_GPU_MEMORY": "4M", "CAIRN_GPU_OUTPUT": str(out / "x.cairn")}, capture_output=True, text=True,
                                              timeout=40)
                        results["checked"][f"{name} {tool}"] = done.stdout.splitlines()[-3:]
                    except subprocess.TimeoutExpired:
                        results["checked"][f"{name} {tool}"] = ["timed out"]
                    (out / "x.cairn").unlink(missing_ok=True)
    results["seconds"] = time.monotonic() - begin
    keep()
    shutil.copytree(kit, out / "kit", ignore=lambda _, names: [n for n in names if ".emulated." not in n], dirs_exist_ok=True)
    subprocess.run(["tar", "czf", out / "traces.tgz", "-C", out, "traces", "kit"], check=True)
    shutil.rmtree(traces)
    shutil.rmtree(out / "kit")
    table(arguments, results, compare=False)


def table(arguments, results=None, compare=True):
    out = arguments.out
    results = results or json.loads((out / "results.json").read_text())
    print(results["gpu"], f"{results.get('seconds', 0):.0f} s")
    for name, said in results["same"].items():
        print("same", name, said)
    keys = [key for key in results["points"].get("off", {}) if key not in ("code", "stderr")]
    print("\n| points by hand | " + " | ".join(results["points"]) + " |")
    for key in keys:
        print(f"| {key} | " + " | ".join(f"{of.get(key, float('nan')):.4f}" for of in results["points"].values()) + " |")
    for coder, of in results["points"].items():
        if of.get("code") or of.get("stderr"):
            print(coder, of.get("code"), of.get("stderr"))
    print("\n| program | untraced, ms | " + " | ".join(way for way, *_ in WAYS[1:]) + " | Cairn's, ms | wall, ms: untraced | predict | device MB | trace |")
    for name, ways in results["timed"].items():
        def middle(way, key):
            each = ways.get(way, {}).get("each", [])
            return statistics.median(e[key] for e in each) if each else float("nan")
        plain = middle("untraced", "kernel_ms")
        device = (ways.get("predict", {}).get("device") or [{}])[0]
        print(f"| {name} {' '.join(TIMED[name])} | {plain:.3f} | " + " | ".join(f"{middle(way, 'kernel_ms') / (plain or 1):.2f}" for way, *_ in WAYS[1:]) +
              f" | {middle('predict', 'gather_ms'):.2f} | {middle('untraced', 'wall_ms'):.1f} | {middle('predict', 'wall_ms'):.1f} | {device.get('device_mb')} | "
              f"{ways.get('predict', {}).get('trace')} |")
        for way, of in ways.items():
            if of["code"] or of["stderr"] or any(d["error"] != "no error" for d in of["device"]):
                print(name, way, of["code"], of["stderr"][:3], of["device"])
    for what, lines in results["checked"].items():
        print(what, lines)
    if not compare:
        return
    folder = out / "unpacked"
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "xzf", out / "traces.tgz", "-C", folder], check=True)
    cairn = arguments.build / "bin/cairn"
    for name in EXAMPLES:
        gpu, emulated = folder / "traces" / f"{name}.cairn", folder / "kit" / f"{name}.emulated.cairn"
        if not gpu.exists():
            print(name, "no trace")
            continue
        sizes = [json.loads(subprocess.run([cairn, "gpu", "sizes", p, "--json"], capture_output=True, check=True).stdout) for p in (gpu, emulated)]
        events = [subprocess.run([cairn, "dump", p, "--jsonl"], capture_output=True, check=True).stdout for p in (gpu, emulated)]
        diff = subprocess.run([cairn, "diff", emulated, gpu], capture_output=True, text=True)
        print(name, "events", "same" if events[0] == events[1] else "differ", [s["events"] for s in sizes], "bytes", [s["coded"]["predict"] for s in sizes], "diff",
              diff.returncode, diff.stdout.splitlines()[-1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "nvcc")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--limit", type=float, default=480)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("verb", choices=["build", "run", "table"])
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    arguments.kit, arguments.out = arguments.folders[0], arguments.folders[-1]
    {"build": build, "run": run, "table": table}[arguments.verb](arguments)


if __name__ == "__main__":
    main()
