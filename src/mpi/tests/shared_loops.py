#!/usr/bin/env python3
"""Records shared_loops.c and holds what `cairn check` finds, going past the turns of loops that are equal, against the marks
in its source, and against what it finds going through every call.

    shared_loops.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import re
import sys
import tempfile

import surroundings

SOURCE = pathlib.Path(__file__).resolve().parent / 'shared_loops.c'
MARKS = [(found[1], number, int(found[2])) for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
         if (found := re.search(r'// fault (\w+) (\d+)$', line))]
RANKS = 4


def look_at(bench, folder, *timing):
    problems = surroundings.Problems()
    trace = f'{timing[-1] if timing else "off"}.cairn'
    done = bench.run_in(folder, 'record', '-q', *timing, '-o', trace, '--', 'timeout', '60', bench.mpiexec, '-n', str(RANKS), bench.program)
    if done.returncode != 0:
        return [f'record: {done}']
    told, all_told = (json.loads(bench.run_in(folder, 'check', '--json', *words, trace).stdout) for words in ([], ['--every-call']))
    problems.expect('calls that others stand for, of every call', all_told.pop('repeated_calls'), 0)
    repeated = told.pop('repeated_calls')
    if not told['calls'] // 2 < repeated < told['calls']:
        problems.append(f'{repeated} of {told["calls"]} calls are left out')
    problems.expect('findings', told, all_told)
    found = [(each['kind'], each['call']['line'], each['count']) for each in told['findings'] if each['sure']]
    problems += [f'not found: {mark}' for mark in MARKS if mark not in found]
    # Sends are buffered wherever all send first.
    problems += [f'found as well: {each}' for each in found if each not in MARKS and each[0] != 'buffering']
    return problems


def main():
    bench = surroundings.Bench(__doc__)
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        problems = [*look_at(bench, folder), *look_at(bench, folder, '--timing', 'lossless')]
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
