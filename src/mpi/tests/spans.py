#!/usr/bin/env python3
"""Records spans.c, which makes datatypes at random and asks MPI for their sizes and bounds, and holds what `cairn dump
--objects` says of each, from the call that made it, against what MPI said.

    spans.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import json
import subprocess
import sys
import tempfile

import surroundings

# By function: what it tells, by the names that the dump has.
ASKED = {'MPI_Type_size_x': {'size': 'size'}, 'MPI_Type_get_extent_x': {'lb': 'lower_bound', 'extent': 'extent'},
         'MPI_Type_get_true_extent_x': {'true_lb': 'true_lower_bound', 'true_extent': 'true_extent'}}


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()
    asked = collections.Counter()
    for seed in range(1, 4):
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as here:
            done = bench.run_in(here, 'record', '-q', '-o', 'run.cairn', '--', bench.mpiexec, '-n', '2', bench.program,
                                str(seed))
            if done.returncode != 0:
                sys.exit(f'record: {done}')
            dumped = subprocess.run([bench.cairn, 'dump', '--objects', '--json', 'run.cairn'], cwd=here, capture_output=True,
                                    text=True, timeout=120, check=True).stdout
        made = {}  # by rank and number of the call that made it
        for call in map(json.loads, dumped.splitlines()[1:]):
            objects = call.get('objects', {})
            if 'newtype' in objects:
                made[call['rank'], objects['newtype']['made']] = call, objects['newtype']
            for name, value in ASKED.get(call['function'], {}).items():
                maker, layout = made[call['rank'], objects['datatype']['made']]
                told, says = layout.get(value, 'not known'), call['args'][name]
                # Where no byte lies MPICH and Open MPI disagree; and MPICH 4.0 lets arrays that are dealt out begin too early.
                dealt = 'MPI_DISTRIBUTE_CYCLIC' in maker['args'].get('array_of_distribs', [])
                if layout.get('size') == 0 or (dealt and bench.mpi == 'mpich' and value.startswith('true_')):
                    continue
                asked[maker['function']] += 1
                if told != says:
                    problems.append(f'seed {seed}, rank {call["rank"]}, call {maker["index"]}: {value} {told}, and MPI says {says}: '
                                    f'{maker["function"]} {maker["args"]}')
    problems.expect('constructors', len(asked), 12)
    for problem in problems[:20]:
        print(f'FAILED: {problem}')
    print(f'{sum(asked.values())} answers of MPI: {dict(asked)}; {len(problems)} differ')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
