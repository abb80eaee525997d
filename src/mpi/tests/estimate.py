#!/usr/bin/env python3
"""Records a stencil on 4 and 8 ranks and holds what `cairn estimate` says of 16 against a recording of those, as bytes of the
file and of its sections; with the time of each call, and more steps, too. And what does not fit together is refused.

    estimate.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import functools
import json
import pathlib
import sys
import tempfile

import surroundings

# Some bytes of each file are times and names of the machine; how many a call's time takes is what the machine makes of it.
SHARE, SHARE_OF_TIMES = 0.1, 0.6


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        cairn = functools.partial(bench.run_in, folder)

        def record(ranks, steps, timing):
            name = f'{timing}.{ranks}.{steps}.cairn'
            done = cairn('record', '-q', '--timing', timing, '-o', name, '--', bench.mpiexec, '-n', str(ranks), bench.program,
                         str(steps))
            if done.returncode != 0:
                sys.exit(f'record: {done}')
            return name

        def estimate(*words):
            done = cairn('estimate', '--json', *words)
            if done.returncode != 0:
                sys.exit(f'estimate: {done}')
            return json.loads(done.stdout)

        def size(name):
            return pathlib.Path(folder, name).stat().st_size

        def near(what, told, real, share):
            if abs(told - real) > share * real:
                problems.append(f'{what}: {told} bytes told, {real} in truth')

        few = [record(4, 40, 'stats'), record(8, 40, 'stats')]
        real = record(16, 40, 'stats')
        told = estimate(*few, '-n', '16')
        near('16 ranks', told['file']['bytes'], size(real), SHARE)
        file = told['file']
        if not file['least'] <= file['bytes'] <= file['most'] or abs(sum(each['bytes'] for each in told['sections']) - file['bytes']) > 20:
            problems.append(f'the sections do not add up: {told}')
        laws = {each['name']: each['law'] for each in told['sections']}
        if (laws['clocks'], laws['sums'], laws['sites']) != ('linear', 'linear', 'constant'):
            problems.append(f'laws: {laws}')
        if told['largest_off'] is not None or told['memory']['bytes'] == 0:
            problems.append(f'memory, and what is missed: {told["memory"]}, {told["largest_off"]}')
        three = estimate(*few, real, '-n', '16')
        near('a recording of three', three['file']['bytes'], size(real), SHARE)
        if abs(three['largest_off']) > 0.15:
            problems.append(f'the largest, from the others: {three["largest_off"]}')

        timed = [record(2, 100, 'lossless'), record(4, 100, 'lossless')]
        near('the time of each call', estimate(*timed, '-n', '8', '--steps', '200')['file']['bytes'],
             size(record(8, 200, 'lossless')), SHARE_OF_TIMES)
        longer = estimate(timed[1], record(4, 150, 'lossless'), '-n', '4', '--steps', '250')
        if longer['of'] != 'steps':
            problems.append(f'of {longer["of"]}')
        near('steps', longer['file']['bytes'], size(record(4, 250, 'lossless')), SHARE_OF_TIMES)

        for words, wanted in (([few[0], few[0], '-n', '9'], 'several recordings are of the same size'),
                              ([few[0], timed[0], '-n', '9'], 'record all with the same --timing'),
                              ([few[0], '-n', '9'], 'needs two recordings'),
                              ([*few], 'say it with -n'),
                              ([timed[0], 'lossless.4.150.cairn', '-n', '9'], 'differ in ranks and in the turns')):
            done = cairn('estimate', *words)
            if done.returncode != 2 or wanted not in done.stderr or done.stderr.count('\n') != 1:
                problems.append(f'{words}: {done}')
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
