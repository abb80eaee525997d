#!/usr/bin/env python3
"""Records ends.c, in which three ranks wait in MPI_Finalize for one that works, and holds what verbs say of the ranks' work:
what a rank waits there is no work of the program.

    ends.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import sys
import tempfile

import surroundings

WORK = 0.1  # seconds of each rank, and so many of rank 0 beside them
MORE = 0.9


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()
    for timing in ('stats', 'lossless'):
        for merge in ('', '--merge=after'):
            with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
                done = bench.run_in(folder, 'record', '-q', '--timing', timing, *filter(None, [merge]), '-o', 'out.cairn', '--',
                                    'timeout', '60', bench.mpiexec, '-n', '4', bench.program)
                if done.returncode != 0:
                    sys.exit(f'record: {done}')

                def told(verb, *words, folder=folder):
                    return json.loads(bench.run_in(folder, verb, '--json', *words, 'out.cairn').stdout)

                name = f'{timing} {merge}'
                outside = {line['rank']: line['outside_seconds'] for line in told('summary', '--per-rank')['lines']}
                for rank, seconds in outside.items():
                    least = WORK + (MORE if rank == 0 else 0)
                    if not least <= seconds < least + 0.4:
                        problems.append(f'{name}: rank {rank} worked {seconds} s, and not some {least}')
                factors = told('efficiency')
                if not 0.2 < factors['load_balance'] < 0.6:
                    problems.append(f'{name}: load balance {factors["load_balance"]}')
                wall = told('info')['wall_seconds']
                if wall < WORK + MORE:
                    problems.append(f'{name}: the run took {wall} s')
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
