"""Instruments the programs in src/gpu/instrument/testdata and compares what comes out.

  instrument_test.py --tool CAIRN-INSTRUMENT [--nvcc NVCC [--sample] | --hipcc HIPCC] [--update] [name ...]

Whole outputs, with the warnings, stand in testdata/expected; --update writes them anew (read the diff before committing
it). Each output is also parsed again, and the original must come back when what was put in is taken out.
With --nvcc or --hipcc, outputs are compiled instead, for all that the compiler is asked for; 77 says that there is none.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests"))
import emulator_cases  # noqa: E402, F401  (puts its cases beside these)
from cases import CASES, Failure, case, expect  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "instrument" / "testdata"
PROGRAMS = ("statements.cu", "expressions.cu", "functions.cu", "launches.cu", "macros.cu", "line_ends.cu", "values.cu", "wave.hip")
STUB = str(DATA / "include")


class Bench:
    def __init__(self, arguments, folder):
        self.tool = str(pathlib.Path(arguments.tool).resolve())
        self.update = arguments.update
        self.folder = pathlib.Path(folder)
        shutil.copytree(DATA, self.folder, dirs_exist_ok=True)

    def run(self, *words, code=0):
        done = subprocess.run([self.tool, "--cuda-path", "none", *words], cwd=self.folder, capture_output=True, timeout=120)
        said = done.stderr.decode().replace(str(self.folder.resolve()), "FOLDER")
        if code is not None:
            expect(f"exit code of {words}\n{said}", done.returncode, code)
        return said

    def read(self, name):
        return (self.folder / name).read_bytes()

    def golden(self, name, got):
        path = DATA / "expected" / f"{name}.txt"
        got = got.replace(str(self.folder.resolve()).encode(), b"FOLDER")
        if self.update:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(got)
        expect(name, got.decode(), path.read_bytes().decode())


def body(text):
    """What stands between the head and the table."""
    start = re.search(rb'#line 1 "[^"]*"\n', text).end()
    end = re.search(rb'#line [0-9]+ "[^"]*"\nstatic const cairn::gpu::Program &cairn_program\(\) \{', text).start()
    return text[start:end]


PUT_IN = re.compile(
    rb" \{ CAIRN_POINT\(\d+\);| CAIRN_POINT\(\d+\);| CAIRN_KERNEL\((cairn_trace|cairn::gpu::Trace\(\))\);|\(CAIRN_AT\(\d+\), |"
    rb"CAIRN_(?:VALUE|ACCESS|THROUGH)\(\d+, \(| \}|\(\(\(|\) && \(CAIRN_AT\(\d+\), true\)\)| \|\| \(CAIRN_AT\(\d+\), false\)\)|\)|/\*|\*/ cairn::gpu::Trace cairn_trace|"
    rb"cairn_(?:grid|block|stream) = \(|, nullptr(?=, CAIRN_LAUNCH)|"
    rb"(, )?cairn::gpu::Trace cairn_trace( = cairn::gpu::Trace\(\))?|(, )?cairn::gpu::Trace(\(\))?|"
    rb"CAIRN_LAUNCH_ARRAY\(\d+, cairn_program\(\), \d+, |(, )?CAIRN_LAUNCH\(cairn_program\(\), \d+, (\([^\n]*?\)), (\([^\n]*?\)), (\((?:0|stream|streams\[1\])\))\)")


def comes_back(original, output):
    """Whether `original` is left of `output` when some of what may have been put in is taken out."""
    reachable = {0: {0}}  # bytes of output: bytes of original
    for at in range(len(output) + 1):
        for done in reachable.pop(at, ()):
            if at == len(output):
                if done == len(original):
                    return True
                continue
            if done < len(original) and output[at] == original[done]:
                reachable.setdefault(at + 1, set()).add(done + 1)
            found = PUT_IN.match(output, at)
            if found:
                reachable.setdefault(found.end(), set()).add(done)
                if found.group() == b" }" or found.group().startswith(b" { "):
                    continue
                brief = re.compile(rb" CAIRN_POINT\(\d+\);|\)").match(output, at)
                if brief:
                    reachable.setdefault(brief.end(), set()).add(done)
    return False


@case
def outputs_and_warnings(bench):
    for name in PROGRAMS:
        said = bench.run(name, "-o", "out.cu", "--force", "--include", "/include")
        bench.golden(name, bench.read("out.cu") + b"=== warnings\n" + said.encode())


@case
def what_was_there_stays(bench):
    for name in PROGRAMS:
        bench.run(name, "-o", "out.cu", "--force")
        original, output = bench.read(name), body(bench.read("out.cu"))
        if not original.endswith(b"\n"):
            output = output.removesuffix(b"\n")
        if not comes_back(original, output):
            raise Failure(f"{name} does not come back")
        if comes_back(original[:-9] + original[-8:], output) or comes_back(original + b" ", output):
            raise Failure(f"{name}: another text comes back")


@case
def outputs_parse(bench):
    for name in PROGRAMS:
        language = ["-x", "hip"] if name.endswith(".hip") else []
        bench.run(name, "-o", "out.cu", "--force", "--include", STUB)
        bench.run("out.cu", "-o", "again.cu", "--force", "--include", STUB, "--emulator", "--no-points", *language)


@case
def accesses(bench):
    said = bench.run("accesses.cu", "--accesses", "-o", "out.cu", "--include", "/include")
    bench.golden("accesses.cu", bench.read("out.cu") + b"=== warnings\n" + said.encode())
    if not comes_back(bench.read("accesses.cu"), body(bench.read("out.cu"))):
        raise Failure("accesses.cu does not come back")
    for name in ("accesses.cu", *PROGRAMS):
        language = ["-x", "hip"] if name.endswith(".hip") else []
        bench.run(name, "--accesses", "-o", "out.cu", "--force", "--include", STUB)
        bench.run("out.cu", "-o", "again.cu", "--force", "--include", STUB, "--emulator", "--no-points", *language)
    bench.run("accesses.cu", "-o", "out.cu", "--force", "--include", STUB)
    if b"CAIRN_ACCESS(" in bench.read("out.cu"):
        raise Failure("accesses are traced though nobody asked for it")
    expect("talk", bench.run("accesses.cu", "--accesses", "--no-points", "--emulator", code=2),
           "cairn: --accesses and --no-points cannot go together; see cairn instrument --help\n")


@case
def several_files(bench):
    for name in ("two_files_main.cu", "two_files_part.cu"):
        shutil.copy(ROOT / "tests" / name, bench.folder)
    expect("talk", bench.run("two_files_main.cu", "two_files_part.cu", "-o", "both", "--include", STUB), "")
    main, part = bench.read("both/two_files_main.cu").decode(), bench.read("both/two_files_part.cu").decode()
    table = re.compile(r"static const cairn::gpu::Program &cairn_program\(\) \{\n(.*)", re.S)
    expect("the tables", table.search(main)[1], table.search(part)[1])
    ids = [re.findall(r"CAIRN_(?:POINT|AT)\((\d+)\)", re.sub(r"static const cairn::gpu::Program &cairn_program\(\) \{.*", "", text, flags=re.S))
           for text in (main, part)]
    expect("numbers", sorted(int(number) for each in ids for number in each), list(range(1, len(ids[0]) + len(ids[1]) + 1)))
    if "CAIRN_LAUNCH(cairn_program(), 0," not in main or "CAIRN_LAUNCH(cairn_program(), 1," not in main:
        raise Failure("a kernel is not traced:\n" + main)
    # Alone, each is told what it would miss.
    expect("talk", bench.run("two_files_part.cu", "--include", STUB),
           "two_files_part.cu:15: warning: device function 'twice' is defined in another file: instrument both at once, "
           "or its points are taken for these\n")
    (bench.folder / "other").mkdir()
    shutil.copy(bench.folder / "two_files_part.cu", bench.folder / "other")
    expect("talk", bench.run("two_files_part.cu", "other/two_files_part.cu", "-o", "same", code=2),
           "cairn: two files would become same/two_files_part.cu; see cairn instrument --help\n")
    expect("talk", bench.run("two_files_main.cu", "two_files_part.cu", "-o", ".", code=2),
           "cairn: ./two_files_main.cu: that is the source itself; choose another name with -o\n")


@case
def headers_of_several_files(bench):
    """A header that both include is copied once; what one of them alone sees of it is instrumented too."""
    (bench.folder / "common.cuh").write_text("""#pragma once
#include "below.cuh"
template <class T> __global__ void both(T *p) { if (p[0]) p[1] = below(1); }
#ifdef SECOND
__device__ inline int second(int x) { return x ? 2 : 3; }
#endif
""")
    (bench.folder / "below.cuh").write_text("__device__ inline int below(int x) { while (x < 9) x += 2; return x; }\n")
    (bench.folder / "a.cu").write_text('#include "common.cuh"\nvoid a(int *p) { both<<<1, 1>>>(p); }\n')
    (bench.folder / "b.cu").write_text('#define SECOND\n#include "common.cuh"\n__global__ void b(int *p) { p[0] = second(p[1]); }\n')
    expect("talk", bench.run("a.cu", "b.cu", "-o", "out", "--headers", "out/headers", "--include", STUB), "")
    made = sorted(str(path.relative_to(bench.folder)) for path in (bench.folder / "out").rglob("*") if path.is_file())
    expect("files", made, ["out/a.cu", "out/b.cu", "out/headers/below.cuh", "out/headers/common.cuh"])
    texts = {name: bench.read(name).decode() for name in made}
    expect("points", sorted(int(number) for name in made for number in re.findall(r"CAIRN_(?:POINT|AT)\((\d+)\)", texts[name])), list(range(1, 9)))
    for text, lead in ((texts["out/a.cu"], "out/headers/common.cuh"), (texts["out/b.cu"], "out/headers/common.cuh"),
                       (texts["out/headers/common.cuh"], "out/headers/below.cuh")):
        if f'/{lead}"' not in text:
            raise Failure(f"an include does not lead to the copy:\n{text}")
    if "both<<<1, 1>>>(p, CAIRN_LAUNCH(cairn_program(), 0," not in texts["out/a.cu"]:
        raise Failure(f"a launch is not traced:\n{texts['out/a.cu']}")
    bench.run("out/a.cu", "out/b.cu", "-o", "again", "--emulator", "--no-points")
    # Two headers of one name need a folder above both.
    for part in ("x", "y"):
        (bench.folder / part).mkdir()
        (bench.folder / part / "h.cuh").write_text(f"__device__ inline int {part}(int n) {{ return n ? 1 : 2; }}\n")
        (bench.folder / part / f"{part}.cu").write_text(f'#include "h.cuh"\n__global__ void k{part}(int *p) {{ p[0] = {part}(p[1]); }}\n')
    expect("talk", bench.run("x/x.cu", "y/y.cu", "-o", "xy", "--headers", "xy/h", "--include", STUB, code=2),
           "cairn: FOLDER/xy/h/h.cuh: two files would become it; name a folder that both lie below with --project\n")
    expect("talk", bench.run("x/x.cu", "y/y.cu", "-o", "xy", "--headers", "xy/h", "--project", ".", "--include", STUB), "")
    expect("files", sorted(str(path.relative_to(bench.folder / "xy/h")) for path in (bench.folder / "xy/h").rglob("*.cuh")), ["x/h.cuh", "y/h.cuh"])


@case
def missing_header(bench):
    (bench.folder / "lacks.cu").write_text('#include <stdio.h>\n#include "far/away.h"\n__global__ void k() {}\n')
    expect("talk", bench.run("lacks.cu", code=2),
           "cairn: lacks.cu:2: 'far/away.h' file not found; nothing is written, name the folder that has it with -I\n")
    (bench.folder / "there/far").mkdir(parents=True)
    (bench.folder / "there/far/away.h").write_text("")
    expect("talk", bench.run("lacks.cu", "-I", "there"), "")


@case
def other_models(bench):
    refused = "{}:{}: this is {}, which is not traced: cairn instrument reads CUDA and HIP"
    for name, line, model, text in (("a.cpp", 2, "SYCL", "// SYCL\n#include <sycl/sycl.hpp>\nint main() {}\n"),
                                    ("b.cpp", 1, "SYCL", "#include <CL/sycl.hpp>\n"),
                                    ("c.c", 3, "OpenMP offload", "int n;\n#pragma omp parallel for\n  # pragma omp target teams map(to: n)\nfor (;;);\n"),
                                    ("d.c", 1, "OpenACC", "#pragma acc kernels\n")):
        (bench.folder / name).write_text(text)
        expect("talk", bench.run(name, "-o", "out.cu", code=2), f"cairn: {refused.format(name, line, model)}\n")
    # Beside CUDA it is code of the host.
    (bench.folder / "e.cu").write_text("__global__ void k() {}\nvoid f() {\n#pragma omp target\n  k<<<1, 1>>>();\n}\n")
    expect("talk", bench.run("e.cu", "-o", "out.cu", "--include", STUB),
           "e.cu:3: warning: what is OpenMP offload here is not traced, CUDA and HIP are\n")


@case
def host_beside_device(bench):
    """What nvcc gives to host functions as well, and functions that Clang has not: with our stand-in, and with CUDA's headers where they are."""
    (bench.folder / "host.cu").write_text("""__global__ void k(int *p, float4 *v, unsigned *u) {
  v[0] = __ldcs(v + 1);
  __stcs(v, __ldca(v + 2));
  __stcg(p, __ldcv(p) + __ldlu(p));
  u[0] = __reduce_add_sync(~0u, u[1]) + __reduce_or_sync(~0u, u[2]);
  if (max(p[0], 3) > min(p[1], 4)) p[0] = __reduce_max_sync(~0u, p[2]);
}
int host(int c, float x, size_t n) {
  assert(c);
  k<<<max(c, 3), 32>>>(nullptr, nullptr, nullptr);
  return min(c, 5) + (isfinite(x) && !isnan(x) ? 1 : 0) + (int)max(n, n) + (int)max(x, 2.0f) + (int)max(1u, 2u);
}
""")
    expect("talk", bench.run("host.cu", "--include", STUB), "")
    if pathlib.Path("/usr/local/cuda/include/cuda.h").exists():
        (bench.folder / "host.cu").write_text((bench.folder / "host.cu").read_text() + """
__global__ void textured(float *p, cudaTextureObject_t t) { p[0] = tex2D<float>(t, 1.0f, 2.0f); }
double more(int c, unsigned u) { return max(c, u) + max(2.0f, 3.0) + rsqrt(2.0) + umin(u, 1u); }
""")
        expect("talk", bench.run("host.cu", "--include", STUB, "--cuda-path", "/usr/local/cuda", "--force"), "")


@case
def another_architecture(bench):
    (bench.folder / "arch.cu").write_text("__global__ void k(int *p) {\n#if __CUDA_ARCH__ == 860\n  if (p[0]) p[1] = 1;\n#endif\n}\n")
    for words, points in (((), 1), (("--", "--no-cuda-gpu-arch=sm_80", "--cuda-gpu-arch=sm_86"), 2)):
        bench.run("arch.cu", "-o", "out.cu", "--force", "--include", STUB, *words)
        expect("points", bench.read("out.cu").count(b"CAIRN_POINT("), points)


@case
def defaults_of_launches(bench):
    """What a launch leaves out is said, so that the trace can be last."""
    (bench.folder / "default.cu").write_text("""__device__ int count;
__global__ void k(int *p, int n = 1 << 4, int *q = NULL);
__global__ void k(int *p, int n, int *q) { p[0] = n; }
__global__ void other(int n = count) {}
void host(int *p) {
  k<<<1, 2>>>(p);
  k<<<1, 2>>>(p, 3);
  other<<<1, 2>>>();
}
""")
    expect("talk", bench.run("default.cu", "-o", "out.cu", "--include", STUB),
           "default.cu:8: warning: the launch of 'other' is not traced: it leaves arguments to defaults that are no constants\n")
    expect("launches", [line.strip() for line in bench.read("out.cu").decode().splitlines() if "<<<" in line], [
        "k<<<1, 2>>>(p, 1 << 4, nullptr, CAIRN_LAUNCH(cairn_program(), 0, (1), (2), (0)));",
        "k<<<1, 2>>>(p, 3, nullptr, CAIRN_LAUNCH(cairn_program(), 0, (1), (2), (0)));", "other<<<1, 2>>>();"])


@case
def cooperative_groups(bench):
    (bench.folder / "groups.cu").write_text("""#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *p) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::tiled_partition<32>(block));
  if (tile.any(p[block.thread_rank()])) p[0] = cg::reduce(tile, tile.shfl(1, 2), cg::plus<int>());
  cg::coalesced_threads().sync();
  cg::this_grid().sync();
}
""")
    expect("talk", bench.run("groups.cu", "--include", STUB), "")


@case
def headers(bench):
    bench.run("headers/main.cu", "-o", "out/main.cu", "--headers", "out/copies", "--include", STUB)
    made = sorted(str(path.relative_to(bench.folder)) for path in (bench.folder / "out").rglob("*") if path.is_file())
    expect("files", made, ["out/copies/middle.h", "out/copies/parts/leaf.h", "out/main.cu"])
    text = b"".join(b"=== " + name.encode() + b"\n" + bench.read(name) for name in made)
    bench.golden("headers", text.replace(STUB.encode(), b"STUB"))
    bench.run("out/main.cu", "-o", "again.cu", "--emulator", "--no-points")
    # Without --headers nothing but the file itself changes, and its neighbours are still found.
    bench.run("headers/main.cu", "-o", "alone/main.cu", "--include", STUB)
    expect("files", [path.name for path in (bench.folder / "alone").iterdir()], ["main.cu"])
    if b"leaf.h" in bench.read("alone/main.cu"):
        raise Failure("a header's points are listed")
    bench.run("alone/main.cu", "-o", "again.cu", "--emulator", "--no-points", "--force")


@case
def many_points(bench):
    arms = "".join(f"  if (p[{i}]) p[{i}] = {i};\n" for i in range(255))
    (bench.folder / "many.cu").write_text("__global__ void k(int *p) {\n" + arms + "}\n")
    bench.run("many.cu", "--include", STUB)
    expect("head", bench.read("many.traced.cu").splitlines()[0], b"#define CAIRN_GPU_LOCATION_BITS 16")
    (bench.folder / "less.cu").write_text("__global__ void k(int *p) {\n" + arms.split("\n", 1)[1] + "}\n")
    bench.run("less.cu", "--include", STUB)
    expect("head", bench.read("less.traced.cu").splitlines()[0].split()[0], b"#include")


@case
def marks_of_utf8_stay_first(bench):
    (bench.folder / "mark.cu").write_bytes(b"\xef\xbb\xbf__global__ void k() {}\n")
    bench.run("mark.cu", "--include", STUB)
    expect("begin", bench.read("mark.traced.cu")[:11], b"\xef\xbb\xbf#include")


@case
def words_for_the_parser(bench):
    (bench.folder / "words.cu").write_text('#include "there.h"\n__global__ void k() {\n#if A == 2 && B == 3\n  there();\n#else\n#error\n#endif\n}\n')
    (bench.folder / "where").mkdir()
    (bench.folder / "where" / "there.h").write_text("template <class T> concept Any = true;\n__device__ inline void there() {}\n")
    bench.run("words.cu", "-I", "where", "-DA=2", "-std=c++20", "--", "-DB=3")
    bench.run("words.cu", "-Iwhere", "-D", "A=2", "--std", "c++20", "--force", "--", "-DB=3")


@case
def the_stand_in_for_cuda_bears_the_library(bench):
    (bench.folder / "library.cu").write_text("""#include <cmath>
#include <map>
#include <random>
#include <tuple>
#include <vector>
enum { kOne, kTwo };
__global__ void k(int *p, float *q) {
  atomicAdd(p, kTwo);
  q[0] = std::sqrt(q[1]) + sqrtf(q[2]) + fmaxf(q[3], 1.0f) + min(p[0], 3);
  printf("%d", p[0]);
}
int main() {
  std::vector<bool> bits(3);
  int *p = nullptr;
  cudaMemset(p, kOne, sizeof *p);
  return bits[0] + std::get<0>(std::make_tuple(1));
}
""")
    bench.run("library.cu")


@case
def refusals(bench):
    bench.run("wave.hip", "-o", "out.cu")
    first = bench.read("out.cu")
    expect("talk", bench.run("statements.cu", "-o", "out.cu", code=4),
           "cairn: out.cu: it exists already; choose another name, or --force\n")
    expect("out.cu", bench.read("out.cu"), first)
    expect("talk", bench.run("wave.hip", "-o", "wave.hip", "--force", code=2),
           "cairn: wave.hip: that is the source itself; choose another name with -o\n")
    expect("talk", bench.run("none.cu", code=4), "cairn: none.cu: there is no such file\n")
    (bench.folder / "wrong.cu").write_text("__global__ void k(int *p) {\n  p[0] = missing;\n  other();\n}\n")
    expect("talk", bench.run("wrong.cu", code=2),
           "wrong.cu:2: use of undeclared identifier 'missing'\nwrong.cu:3: use of undeclared identifier 'other'\n"
           "cairn: wrong.cu: 2 errors, nothing is written; arguments after -- go to the parser\n")
    left = sorted(path.name for path in bench.folder.iterdir() if "wrong" in path.name or "part" in path.name)
    expect("files", left, ["wrong.cu"])
    expect("talk", bench.run("statements.cu", "--no-points", code=2),
           "cairn: without --emulator, --no-points leaves nothing to do; see cairn instrument --help\n")


def compile_sample(bench, nvcc):
    """One program for one GPU: that device code compiles at all."""
    for name, *words in (("statements.cu",), ("values.cu",), ("accesses.cu", "--accesses")):
        bench.run(name, *words, "-o", "out.cu", "--force", "--include", str(ROOT / "include"))
        done = subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-c", "out.cu", "-o", "out.o"], cwd=bench.folder, capture_output=True, text=True)
        expect(f"nvcc on {name}: {done.stdout}{done.stderr}", done.returncode, 0)


def compile_all(bench, nvcc):
    targets = [word for arch in ("75", "80", "90") for word in ("-gencode", f"arch=compute_{arch},code=sm_{arch}")]
    for name in PROGRAMS:
        if name.endswith(".hip"):
            continue
        subprocess.run([bench.tool, name, "-o", "out.cu", "--force", "--include", STUB], cwd=bench.folder, check=True,
                       capture_output=True)
        done = subprocess.run([nvcc, "-std=c++20", "--extended-lambda", *targets, "-c", "out.cu", "-o", "out.o"], cwd=bench.folder,
                              capture_output=True, text=True)
        expect(f"nvcc on {name}: {done.stdout}{done.stderr}", done.returncode, 0)
    # With CUDA's own headers, and ours: this one has cooperative groups, whose headers need more of the parser.
    done = subprocess.run([bench.tool, str(ROOT / "examples" / "reduce.cu"), "-o", "out.cu", "--force", "--include", str(ROOT / "include")],
                          cwd=bench.folder, capture_output=True, text=True)
    expect(f"reduce.cu: {done.stderr}", done.returncode, 0)
    done = subprocess.run([nvcc, "-std=c++17", *targets, "-c", "out.cu", "-o", "out.o"], cwd=bench.folder, capture_output=True, text=True)
    expect(f"nvcc on reduce.cu: {done.stdout}{done.stderr}", done.returncode, 0)
    # All ways to name a call that becomes ours, some of which per-thread streams make macros.
    done = subprocess.run([bench.tool, str(ROOT / "tests" / "names.cu"), "-o", "out.cu", "--force", "--include", str(ROOT / "include")],
                          cwd=bench.folder, capture_output=True, text=True)
    expect(f"names.cu: {done.stderr}", done.returncode, 0)
    for words in ((), ("--default-stream", "per-thread"), ("-rdc=true",)):
        done = subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", *words, "-c", "out.cu", "-o", "out.o"], cwd=bench.folder, capture_output=True, text=True)
        expect(f"nvcc {words} on names.cu: {done.stdout}{done.stderr}", done.returncode, 0)
    # Several files, linked: the places of a block's warps must be one object.
    files = [str(ROOT / "tests" / name) for name in ("two_files_main.cu", "two_files_part.cu")]
    subprocess.run([bench.tool, *files, "-o", "both", "--include", str(ROOT / "include")], cwd=bench.folder, check=True)
    done = subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-rdc=true", "both/two_files_main.cu", "both/two_files_part.cu", "-o", "app"],
                          cwd=bench.folder, capture_output=True, text=True)
    expect(f"nvcc -rdc=true: {done.stdout}{done.stderr}", done.returncode, 0)
    subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-rdc=true", "-ptx", "both/two_files_part.cu", "-o", "part.ptx"], cwd=bench.folder, check=True)
    if not re.search(r"\.weak \.shared [^;]*block_warps", (bench.folder / "part.ptx").read_text()):
        raise Failure("each file has a block's warps of its own")


def compile_hip(bench, hipcc):
    """The HIP program here, and examples with the names that HIP has for CUDA's; with our headers, for wavefronts of 64 lanes."""
    for name in ("nbody", "mst", "names"):
        text = (ROOT / ("tests" if name == "names" else "examples") / f"{name}.cu").read_text()
        (bench.folder / f"{name}.hip").write_text(text.replace("cuda_runtime.h", "hip/hip_runtime.h").replace("cuda", "hip"))
    shutil.copy(ROOT / "examples" / "graph.h", bench.folder)
    compile_one = [hipcc, "-std=c++17", "-O1", "-Wno-unused-result", "-I", ".", "-x", "hip", "-c", "out.hip", "-o", "out.o"]
    for name in ("wave.hip", "nbody.hip", "mst.hip", "names.hip"):
        bench.run(name, "-o", "out.hip", "--force", "--include", str(ROOT / "include"))
        done = subprocess.run([*compile_one, "--offload-arch=gfx90a"], cwd=bench.folder, capture_output=True, text=True)
        expect(f"hipcc on {name}: {done.stdout}{done.stderr}", done.returncode, 0)
    done = subprocess.run([*compile_one, "--offload-arch=gfx1030"], cwd=bench.folder, capture_output=True, text=True)
    if done.returncode == 0 or "Cairn traces wavefronts of 64 lanes" not in done.stderr:
        raise Failure(f"wavefronts of 32 lanes: {done.returncode} {done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--nvcc")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--hipcc")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for name, check in ((arguments.nvcc, compile_sample if arguments.sample else compile_all), (arguments.hipcc, compile_hip)):
        if name is None:
            continue
        compiler = shutil.which(name)
        if compiler is None:
            print(f"SKIPPED: there is no {name}")
            return 77
        with tempfile.TemporaryDirectory() as folder:
            check(Bench(arguments, folder), compiler)
        return 0
    failed = 0
    for each in CASES:
        if arguments.names and each.__name__ not in arguments.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                each(Bench(arguments, folder))
            except Failure as failure:
                failed += 1
                print(f"FAILED {each.__name__}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
