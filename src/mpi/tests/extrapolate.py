#!/usr/bin/env python3
"""Records a program on a few numbers of ranks, makes the trace of more, and holds that against a recording of as many:
all calls in order, with all arguments and results, must be the same. Of a program whose neighbours are drawn at random,
the trace must say that they were.

    extrapolate.py --build BUILD --mpi mpich|openmpi PROGRAM

The program is stencil2d; wavefront and tree lie beside it. Exit status: 0 passed, 1 failed, 77 not
possible here.
"""
import pathlib
import subprocess
import sys
import tempfile

import surroundings

# Program, its arguments, the ranks that are learned from, and those that are made.
EXACT = [
    ('stencil2d', ['10'], [4, 9], 16),
    ('stencil2d', ['10', 'onetag', 'plain', 'line'], [3, 4], 8),
    ('wavefront', ['3'], [4, 6, 9], 16),
    ('tree', ['3'], [3, 4, 7, 8], 15),
]


def main():
    bench = surroundings.Bench(__doc__)
    binaries = pathlib.Path(bench.program).parent
    problems = []

    def cairn(*words):
        return subprocess.run([bench.cairn, *map(str, words)], capture_output=True, text=True, timeout=120)

    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)

        def record(program, arguments, ranks):
            trace = folder / f'{program}{"-".join(arguments)}.{ranks}.cairn'
            if not trace.exists():
                done = subprocess.run([bench.cairn, 'record', '-o', trace, '--', 'timeout', '60', bench.mpiexec, '-n',
                                       str(ranks), binaries / program, *arguments], env=env, timeout=120,
                                      capture_output=True, text=True)
                if done.returncode != 0:
                    raise SystemExit(f'recording {program} on {ranks} ranks: status {done.returncode}\n{done.stderr}')
            return trace

        for program, arguments, few, many in EXACT:
            what = ' '.join([program, *arguments])
            small = [record(program, arguments, ranks) for ranks in few]
            real = record(program, arguments, many)
            made = folder / 'made.cairn'
            done = cairn('extrapolate', '-f', '-q', *small, '-n', many, '-o', made, '--check', real)
            if done.returncode != 0:
                problems.append(f'{what}: status {done.returncode}\n{done.stdout}{done.stderr}')
                continue
            # As everybody else sees it.
            if cairn('diff', made, real).returncode != 0:
                problems.append(f'{what}: cairn diff finds that it differs')
            if cairn('verify', made).returncode != 0:
                problems.append(f'{what}: it is not sound')
            said = cairn('info', made).stdout
            if 'extrapolated from runs of ' + ', '.join(map(str, few)) not in said or 'no rule' in said:
                problems.append(f'{what}: cairn info says\n{said}')

        random = [record('tree', ['3', 'irregular'], ranks) for ranks in (8, 12)]
        made = folder / 'random.cairn'
        done = cairn('extrapolate', '-q', *random, '-n', 16, '-o', made)
        if done.returncode != 0 or 'no rule, drawn from the largest run' not in cairn('info', made).stdout:
            problems.append(f'irregular: it does not say what was drawn\n{done.stderr}')
        if cairn('verify', made).returncode != 0:
            problems.append('irregular: it is not sound')
        others = [random[0], record('stencil2d', ['10'], 16)]
        other = cairn('extrapolate', '-q', *others, '-n', 64, '-o', folder / 'no.cairn')
        if other.returncode != 2 or 'are of different programs' not in other.stderr:
            problems.append(f'different programs: status {other.returncode}, {other.stderr}')

    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
