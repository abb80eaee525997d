#!/usr/bin/env python3
"""Records received.c, whose receives have far more room than their messages need, and holds the bytes that `cairn
summary` says of each line against what was sent.

    received.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import sys
import tempfile

import surroundings

SOURCE = pathlib.Path(__file__).resolve().with_suffix('.c')
LINES = SOURCE.read_text().splitlines()
TURNS = 20
LENGTHS = [4 * (3 + turn % 4) for turn in range(TURNS)]
IN_TURNS = sum(LENGTHS)
RECEIVED = {'at once': IN_TURNS, 'waited for': IN_TURNS, 'duplicate': IN_TURNS, 'anybody': IN_TURNS, 'exact': IN_TURNS,
            'started': IN_TURNS, 'cancelled': 0, 'both': 2 * 2 * 4 * 5}


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()

    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        done = bench.run_in(folder, 'record', '-q', '-o', 'out.cairn', '--', bench.mpiexec, '-n', '2', bench.program)
        if done.returncode != 0 or done.stdout != 'ok\n':
            sys.exit(f'record: {done}')

        def lines(*words):
            told = bench.run_in(folder, 'summary', '--json', *words, 'out.cairn')
            if told.returncode != 0:
                sys.exit(f'summary: {told}')
            return json.loads(told.stdout)['lines']

        def by_mark(*words):
            found = {}
            for line in lines('--callsites', *words):
                if pathlib.Path(line['site']['file']).name != SOURCE.name:
                    continue
                text = LINES[line['site']['line'] - 1]
                if '// ' in text:
                    found[text.split('// ')[1]] = line['bytes']
                problems.expect(f'unsized calls at {text.strip()}', line['calls_of_unknown_size'], 0)
            return found

        def bytes_of(function, *words):
            return sum(line['bytes'] for line in lines(*words) if line['function'] == function)

        found = by_mark()
        drained = found.pop('filled', 0) + found.pop('refilled', 0)
        problems.expect('bytes by line', found, RECEIVED)
        problems.expect('bytes of a drained array', drained, IN_TURNS)
        problems.expect('MPI_Irecv', bytes_of('MPI_Irecv'), 3 * IN_TURNS)
        problems.expect('MPI_Send', bytes_of('MPI_Send'), 7 * IN_TURNS)
        # All calls of a rank are gone through for the names of communicators.
        problems.expect('the duplicate', by_mark('--comm', 'comm(0@0)'), {'duplicate': IN_TURNS})
        problems.expect('some tags', by_mark('--tag', '2,3'), {'waited for': IN_TURNS, 'duplicate': IN_TURNS})
        ranks = [line['bytes'] for line in lines('--per-rank', '--function', 'MPI_Irecv,MPI_Start')]
        problems.expect('by rank', ranks, [None, 4 * IN_TURNS])
    print('\n'.join(problems) or 'passed')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
