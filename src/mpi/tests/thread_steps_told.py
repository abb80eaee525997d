#!/usr/bin/env python3
"""Records thread_steps, which makes and joins threads in each step, with few steps and with many, and fails unless `cairn dump
--threads` tells where each of them began and ended, and all but the order of calls takes as many bytes. The latter not under
MPICH 4.0.2: without polls it now and then never ends the program, whether that is recorded or not.

    thread_steps_told.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import json
import subprocess
import sys
import tempfile

import surroundings

FEW, MANY = 30, 300
# The order of calls of several threads, and how long calls took, is chance, and grows.
BY_CHANCE = {'order', 'timing', 'sums', 'clocks', 'cost', 'meta', 'total'}
# Lengths of loops take a byte more.
MARGIN = 60


def problems_of(cairn, trace, steps):
    done = subprocess.run([cairn, 'dump', '--threads', '--json', '--rank', '0', trace], capture_output=True, text=True,
                          timeout=120)
    if done.returncode != 0:
        return [done.stderr]
    met = collections.Counter()
    alive = collections.Counter()
    problems = []
    for line in map(json.loads, done.stdout.splitlines()[1:]):
        thread = line['thread']
        if 'function' in line:
            if thread != 0 and alive[thread] != 1:
                problems.append(f'a call of thread {thread}, of which {alive[thread]} have begun and not ended')
            continue
        for what in ('made', 'joined', 'begins', 'ends'):
            if what in line:
                met[what, line[what] if what in ('made', 'joined') else thread] += 1
                alive[thread] += (what == 'begins') - (what == 'ends')
    # Thread 1 is the one that lasts, 2 to 4 those that call MPI, 5 the one that does not.
    wanted = collections.Counter({('made', 1): 1, ('begins', 1): 1, ('ends', 1): 1, ('made', 5): steps})
    for thread in (2, 3, 4):
        wanted.update({(what, thread): steps for what in ('made', 'joined', 'begins', 'ends')})
    if met != wanted:
        problems.append(f'threads are told as {dict(met - wanted)} too often, {dict(wanted - met)} too seldom')
    return problems[:5]


def bytes_of(bench, folder, trace):
    told = json.loads(bench.run_in(folder, 'info', '--json', trace).stdout)
    return sum(count for name, count in told['bytes'].items() if name not in BY_CHANCE)


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()
    sizes = {}
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        for steps in (FEW, MANY):
            for words in ([],) if bench.mpi == 'mpich' else ([], ['plain']):
                trace = f'{steps}{"".join(words)}.cairn'
                done = bench.run_in(folder, 'record', '-q', '-o', trace, '--', 'timeout', '60', bench.mpiexec, '-n', '2',
                                    bench.program, str(steps), *words)
                if done.returncode != 0:
                    sys.exit(f'record: {done}')
                problems += [f'{trace}: {each}' for each in problems_of(bench.cairn, f'{folder}/{trace}', steps)]
                if words:
                    sizes[steps] = bytes_of(bench, folder, trace)
    if sizes and sizes[MANY] > sizes[FEW] + MARGIN:
        problems.append(f'{sizes[MANY]} bytes of {MANY} steps, and {sizes[FEW]} of {FEW}')
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
