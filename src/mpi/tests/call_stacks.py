#!/usr/bin/env python3
"""Records a recursive time-step loop with `--callsites stack` and fails unless its depth leaves no trace.

    call_stacks.py --build BUILD --mpi mpich|openmpi -- program

The program runs with 10 and with 1000 steps. Both traces must have equally many signatures, and be of about one size; each
must agree with the oracle; the stacks shown must lead from `exchange` by way of `step` to `main`, and no further. With
`--callsites site` and `none` there must be no stacks. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from surroundings import environment


class Bench:
    def __init__(self, options, folder):
        self.build, self.folder, self.options = options.build.resolve(), pathlib.Path(folder), options
        self.cairn = str(self.build / 'bin/cairn')
        self.env = dict(environment(self.build, options.mpi), OMPI_MCA_orte_tmpdir_base=folder)

    def run(self, *command):
        done = subprocess.run([str(c) for c in command], cwd=self.folder, env=self.env, timeout=150,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f'{" ".join(map(str, command))}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}')
        return done.stdout

    def record(self, steps, what):
        name = f'{what}-{steps}.cairn'
        self.run(self.cairn, 'record', '-q', '-o', name, '--callsites', what, '--oracle', name + '.oracle',
                 f'mpiexec.{self.options.mpi}', '-n', 3, self.options.program[0], steps)
        self.run(self.cairn, 'verify', name, '--against', name + '.oracle')
        return name

    def signatures(self, trace):
        return json.loads(self.run(self.cairn, 'info', '--json', trace))['signatures']

    def stacks(self, trace):
        """{(function, names of the functions from the call outwards)}"""
        lines = self.run(self.cairn, 'dump', '--json', '--stack', '--rank', 0, trace).splitlines()[1:]
        found = set()
        for event in map(json.loads, lines):
            frames = [event.get('site', {}), *event.get('callers', [])]
            found.add((event['function'], tuple(frame.get('function') for frame in frames)))
        return found


def check(bench):
    few, many = (bench.record(steps, 'stack') for steps in (10, 1000))
    counts = [bench.signatures(trace) for trace in (few, many)]
    if counts[0] != counts[1]:
        return f'10 steps have {counts[0]} signatures, 1000 have {counts[1]}'
    sizes = [(bench.folder / trace).stat().st_size for trace in (few, many)]
    if sizes[1] > 1.5 * sizes[0]:
        return f'10 steps take {sizes[0]} bytes, 1000 take {sizes[1]}'
    for trace in (few, many):
        stacks = bench.stacks(trace)
        for wanted in (('MPI_Sendrecv', ('exchange', 'main')), ('MPI_Sendrecv', ('exchange', 'step', 'main')),
                       ('MPI_Sendrecv', ('exchange', 'step', 'step', 'main'))):
            if wanted not in stacks:
                return f'{trace}: no call with the stack {wanted}, but {sorted(stacks, key=str)}'
        if not any('by_way_of' in frames for _, frames in stacks):
            return f'{trace}: no stack goes by way of by_way_of'
        inlined = ('start', 'who', 'finish')  # into main
        if any(frames[-1] not in ('main', *inlined) for _, frames in stacks):
            return f'{trace}: stacks go beyond main: {sorted(stacks, key=str)}'
    text = bench.run(bench.cairn, 'dump', '--stack', '--rank', 0, '--function', 'MPI_Allreduce', few)
    if 'called at recursion.c:' not in text:
        return f'the text shows no stack:\n{text}'
    for what, frames in (('site', 1), ('none', 1)):
        lengths = {len(stack) for _, stack in bench.stacks(bench.record(10, what))}
        if lengths != {frames}:
            return f'--callsites {what}: stacks of {lengths} frames'
    print(f'{counts[0]} signatures, {sizes[0]} and {sizes[1]} bytes')
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True, help='build folder of cairn')
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('program', nargs=1)
    options = parser.parse_args()
    if shutil.which(f'mpiexec.{options.mpi}') is None:
        print(f'skipped: no mpiexec.{options.mpi}')
        return 77
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        problem = check(Bench(options, folder))
    if problem:
        print(f'FAILED: {problem}')
    return 1 if problem else 0


if __name__ == '__main__':
    sys.exit(main())
