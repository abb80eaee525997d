#!/usr/bin/env python3
"""Records programs and holds what the reader of pages, reader-verbs.wasm, says of the traces against what cairn says.

    page_reader.py --build BUILD --mpi mpich|openmpi FOLDER

FOLDER has the compiled programs. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import pathlib
import subprocess
import sys
import tempfile

import surroundings

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / 'reader/told_alike.mjs'
# With several threads, with receives from any source, with communicators that come and go, with arrays that drain.
PROGRAMS = [('stencil2d 20 linear line', 4), ('stencil2d 1000 linear plain', 4), ('matching', 5), ('threads', 2), ('waitany', 4), ('comm_manage', 2), ('drains', 2), ('rma', 2)]
TIMINGS = ['stats', 'lossless']


def main():
    bench = surroundings.Bench(__doc__)
    folder = pathlib.Path(bench.program)
    build = pathlib.Path(bench.cairn).parents[1]
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as traces:
        made = []
        for program, ranks in PROGRAMS:
            words = program.split()
            words[0] = str(folder / words[0])
            for timing in TIMINGS:
                made.append(f'{program.replace(" ", "-")}-{timing}.cairn')
                done = bench.run_in(traces, 'record', '-q', '--timing', timing, '-o', made[-1], '--', 'timeout', '60', bench.mpiexec,
                                    '-n', str(ranks), *words)
                if done.returncode != 0:
                    sys.exit(f'record {program}: {done}')
        words = ['node', SCRIPT, build / 'src/reader/reader.mjs', build / 'share/cairn/report/reader-verbs.wasm', bench.cairn, *made]
        return subprocess.run(words, cwd=traces, check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
