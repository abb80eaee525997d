#!/usr/bin/env python3
"""Records turns.c in several ways, and fails unless `cairn diff` tells just what was done otherwise: order, arguments, what
MPI gave; and nothing where the source was only edited, so that lines and static addresses moved,

    turns.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import surroundings

HERE = pathlib.Path(__file__).resolve().parent


def main():
    bench = surroundings.Bench(__doc__)
    compiler = shutil.which(f'mpicc.{bench.mpi}')
    if compiler is None:
        return 77
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)
        edited = folder / 'turns.c'
        edited.write_text('char more[12345] = {1};\n\n\n' + (HERE / 'turns.c').read_text())
        subprocess.run([compiler, '-g', '-I', HERE, '-o', folder / 'turns', edited], check=True)

        def record(name, program, *words):
            # The program's own name and words are arguments of MPI_Init, as in any run: the same in all of them here.
            launcher = folder / f'{name}.sh'
            launcher.write_text(f'#!/bin/bash\nexec -a turns "{program}" "$@"\n')
            launcher.chmod(0o755)
            command = [bench.cairn, 'record', '--force', '-o', folder / f'{name}.cairn', '--', bench.mpiexec, '-n', '3', launcher,
                       *words, folder / name]
            done = subprocess.run(command, cwd=folder, env=env, timeout=120, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True)
            if done.returncode != 0 or done.stdout != 'ok\n':
                sys.exit(f'{name}: status {done.returncode}: {done.stdout}{done.stderr}')

        def differs(one, other, *words):
            done = subprocess.run([bench.cairn, 'diff', '--json', *words, f'{one}.cairn', f'{other}.cairn'], cwd=folder,
                                  capture_output=True, text=True)
            if done.returncode not in (0, 1):
                sys.exit(f'diff {one} {other}: status {done.returncode}: {done.stderr}')
            told = json.loads(done.stdout)
            if told['equal'] != (done.returncode == 0):
                problems.append(f'diff {one} {other}: exit code {done.returncode}')
            # What it was started with differs by design.
            return [(each['in'], each['calls'], each['ranks'], each['arguments'],
                     [side and side['function'] for side in (each['first'], each['second'])])
                    for each in told['mpi']['differences'] if each['arguments'] != ['argv']]

        def expect(what, got, wanted):
            if got != wanted:
                problems.append(f'{what}: {got}, and not {wanted}')

        record('plain', bench.program, '1', '4', '0')
        record('again', bench.program, '1', '4', '0')
        record('edited', folder / 'turns', '1', '4', '0')
        record('other', bench.program, '2', '4', '0')
        record('longer', bench.program, '1', '5', '0')
        record('more', bench.program, '1', '4', '1')
        expect('again', differs('plain', 'again'), [])
        expect('edited', differs('plain', 'edited'), [])
        results = [('results', 10, [0], ['status'], ['MPI_Recv', 'MPI_Recv'])]
        expect('other', differs('plain', 'other'), results)
        expect('other, results ignored', differs('plain', 'other', '--ignore-results'), [])
        found = differs('plain', 'longer')
        expect('longer', found, [('arguments', 1, [2], ['count'], ['MPI_Issend', 'MPI_Issend']),
                                 ('results', 1, [0], ['status'], ['MPI_Recv', 'MPI_Recv'])])
        expect('more', differs('plain', 'more'), [('order', 1, [1], [], [None, 'MPI_Comm_rank'])])
        expect('more, other ranks', differs('plain', 'more', '--rank', '0,2'), [])
    for problem in problems:
        print('FAILED:', problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
