#!/usr/bin/env python3
"""Records disorder.c, no two of whose calls are alike, with --memory 16M, and fails if the recorder takes more than that of a
process, by the peak of its resident memory with a recorder and without; or if `cairn info` says otherwise.

    memory.py --build BUILD --mpi mpich|openmpi [--rest] PROGRAM

--rest: ten times as many calls. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import subprocess
import sys
import tempfile

import surroundings

MIB = 1 << 20
MEMORY = 16 * MIB
# The recorder itself, with what it is linked to, and what the program's malloc keeps between blocks of ours: some 6 MiB together.
BESIDE = 9 * MIB
RANKS = 4


def peak_of(output):
    """Of the rank that took most, in bytes."""
    peaks = [json.loads(line)['peak_kib'] for line in output.splitlines() if line.startswith('{')]
    if len(peaks) != RANKS:
        sys.exit(f'not a line from each rank: {output}')
    return max(peaks) * 1024


def main():
    bench = surroundings.Bench(__doc__, rest=True)
    calls = 1_000_000 if bench.rest else 100_000
    command = [bench.mpiexec, '-n', str(RANKS), bench.program, str(calls), 'memory']
    problems = surroundings.Problems()
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder)

        def run(*words):
            done = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1500)
            if done.returncode != 0:
                sys.exit(f'{words}: status {done.returncode}: {done.stdout}{done.stderr}')
            return done.stdout

        bare = peak_of(run(*command))
        recorded = peak_of(run(bench.cairn, 'record', '-q', '--memory', '16M', '-o', 'run.cairn', '--', *command))
        info = json.loads(run(bench.cairn, 'info', '--json', 'run.cairn'))
    added = recorded - bare
    told = info['memory']
    print(f'{calls} calls a rank: {added / MIB:.1f} MiB added, told:', {name: f'{value / MIB:.1f}' for name, value in told.items()})
    problems.expect('status', info['status'], 'complete')
    if info['calls'] < RANKS * calls:
        problems.append(f'{info["calls"]} calls of {RANKS} ranks that make {calls} each')
    if added > MEMORY + BESIDE:
        problems.append(f'{added} bytes more than without a recorder')
    if not added - BESIDE <= told['together'] <= MEMORY + BESIDE:
        problems.append(f'cairn info says {told} where {added} bytes were added')
    if min(told['recorded'], told['making'], told['merging']) < MIB // 2:
        problems.append(f'a part of {told} that takes nothing')
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
