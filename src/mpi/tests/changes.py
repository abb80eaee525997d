#!/usr/bin/env python3
"""Records changes.c as it is and with changes, and holds `cairn diff` against what was changed: calls that one run makes
alone, again and again, are told as that, and all else as the same.

    changes.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import json
import sys
import tempfile

import surroundings

RANKS = 2
STEPS = 200


def calls_of(how):
    """How many calls of each function a rank makes in steps, by changes.c."""
    more = 20 if 's' in how else 0
    calls = collections.Counter({'MPI_Sendrecv': STEPS + more, 'MPI_Allreduce': STEPS + more})
    calls['MPI_Bcast'] = 0 if 'c' in how else STEPS + more
    calls['MPI_Barrier'] = 1 + more + (STEPS + more if 'b' in how else 0)
    return calls


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        for how in ('plain', 'b', 'c', 'bc', 's', 'bcs', 'x'):
            done = bench.run_in(folder, 'record', '-q', '-o', f'{how}.cairn', '--', 'timeout', '60',
                                bench.mpiexec, '-n', str(RANKS), bench.program, how)
            if done.returncode != 0:
                sys.exit(f'record: {done}')

        def diff(one, other, *words):
            return bench.run_in(folder, 'diff', *words, f'{one}.cairn', f'{other}.cairn').stdout

        pairs = [('plain', 'b'), ('b', 'plain'), ('plain', 'c'), ('plain', 'bc'), ('b', 'c'), ('plain', 's'),
                 ('s', 'plain'), ('bc', 'bcs')]
        for one, other in pairs:
            name = f'{one} and {other}'
            told = json.loads(diff(one, other, '--json'))['mpi']
            alone = {True: collections.Counter(), False: collections.Counter()}
            for each in told['differences']:
                if each['in'] != 'order':
                    continue
                call = each['first'] or each['second']
                if not each['goes_on'] or (each['first'] and each['second']):
                    problems.append(f'{name}: the comparison ends at {each}')
                alone[each['first'] is not None][call['function']] += each['calls']
            before, after = calls_of(one), calls_of(other)
            wanted = {True: (before - after), False: (after - before)}
            for first in (True, False):
                scaled = {function: RANKS * calls for function, calls in wanted[first].items()}
                if dict(alone[first]) != scaled:
                    which = 'first' if first else 'second'
                    problems.append(f'{name}: {dict(alone[first])} in the {which} run alone, and not {scaled}')
            if told['ranks_with_other_order'] != RANKS or told['equal']:
                problems.append(f'{name}: {told["ranks_with_other_order"]} ranks in another order')
        said = diff('plain', 'b').splitlines()[-1]
        if said != f'nothing changed but {RANKS * STEPS} calls of MPI_Barrier more, and argv of MPI_Init':
            problems.append(f'plain and b: {said}')
        # What has nothing in common is not made to.
        other = json.loads(diff('plain', 'x', '--json'))['mpi']
        if not any(each['in'] == 'order' and not each['goes_on'] for each in other['differences']):
            problems.append(f'plain and x: {other["differences"]}')
        same = json.loads(diff('s', 's', '--json'))['mpi']
        if not same['equal']:
            problems.append(f's and s: {same["differences"]}')
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
