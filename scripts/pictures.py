#!/usr/bin/env python3
"""Makes the pictures of pages that README.md and docs/report.md show: records programs, writes their pages, and takes pictures
of these in a browser.

    scripts/pictures.py [BUILD]

BUILD: a build with tests, the programs of which are recorded under Open MPI; `build` if left out. Writes docs/figures/page-*.png.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIGURES = ROOT / 'docs/figures'
ENVIRONMENT = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_mpi_yield_when_idle='1', OMPI_ALLOW_RUN_AS_ROOT='1',
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=ENVIRONMENT, **options)
    if done.returncode != 0:
        sys.exit(f'{" ".join(map(str, words))}: {done.stdout}{done.stderr}')
    return done.stdout


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build').resolve()
    programs, cairn, page = build / 'src/mpi/tests/openmpi', build / 'bin/cairn', build / 'src/report/page'
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def record(program, ranks, *words):
            shutil.copy(programs / program, folder)  # for a command line without folders
            run(cairn, 'record', '-q', '--timing', 'lossless', '-o', f'{program}.cairn', '--', 'mpiexec.openmpi', '-n', ranks,
                f'./{program}', *words, cwd=folder)

        def picture(kept, trace, fragment, height, *more):
            run(cairn, 'report', '-q', f'{trace}.cairn', cwd=folder)
            run('node', page / 'look.mjs', '--out', folder, '--width', '1200', '--height', height, '--fragment', fragment, *more,
                folder / f'{trace}.html')
            # 64 colours are more than the page has, and a fifth of the bytes.
            run('convert', folder / f'{trace}.png', '-colors', '64', f'PNG8:{FIGURES / kept}')

        record('search', 8)
        picture('page-overview.png', 'search', '#overview', 700)
        record('wavefront', 12, '40')
        turns = next(phase for phase in json.loads(run(cairn, 'phases', '--json', folder / 'wavefront.cairn'))['phases'] if phase['turns'])
        begin, end = (int(turns[moment]['seconds'] * 1e9) for moment in ('first_begin', 'last_end'))
        middle = (begin + end) // 2
        picture('page-timeline.png', 'wavefront', f'#timeline?by=function&from={middle}&to={middle + (end - begin) // 32}', 700)
        picture('page-loops.png', 'wavefront', '#loops', 420, '--dark')
        run(build / 'bench/scale/cairn-scale', '--pattern', 'sp', '--ranks', '16384', '--steps', '20', '--verify', '0', '--keep',
            folder / 'sp.cairn', '--quiet')
        picture('page-matrix.png', 'sp', '#matrix', 860)


if __name__ == '__main__':
    sys.exit(main())
