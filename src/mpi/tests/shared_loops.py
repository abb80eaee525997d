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


def look_at_chosen(bench, folder, trace):
    """Stretches without a call that is asked for are passed over; the calls are those of the whole."""
    problems = surroundings.Problems()

    def dumped(*words):
        return bench.run_in(folder, 'dump', '--json', *words, trace).stdout.splitlines()[1:]

    whole = [(json.loads(line), line) for line in dumped()]
    functions = sorted({call['function'] for call, _ in whole})
    for function in functions:
        problems.expect(function, dumped('--function', function), [line for call, line in whole if call['function'] == function])
    some = ('MPI_Comm_free', 'MPI_Iprobe')
    problems.expect(f'{some} of ranks 1 and 2', dumped('--rank', '1-2', '--function', ','.join(some), '--from', '3000'),
                    [line for call, line in whole if call['function'] in some and call['rank'] in (1, 2) and call['index'] >= 3000])
    problems.expect('a function that nobody calls', dumped('--function', 'MPI_Alltoallw'), [])
    # By values: each call is in one of two dumps.
    for option, words in (('--peer', ('0', '3', 'any')), ('--tag', ('1', '7', '3000', 'any')), ('--result', ('MPI_SUCCESS',))):
        for word in words:
            both = dumped(option, word), dumped(option, f'^{word}')
            problems.expect(f'{option} {word} and ^{word}', sorted(both[0] + both[1]), sorted(line for _, line in whole))
    return problems


def main():
    bench = surroundings.Bench(__doc__)
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        problems = [*look_at(bench, folder), *look_at(bench, folder, '--timing', 'lossless'),
                    *look_at_chosen(bench, folder, 'off.cairn'), *look_at_chosen(bench, folder, 'lossless.cairn')]
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
