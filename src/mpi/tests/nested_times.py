#!/usr/bin/env python3
"""Records callbacks.c, whose calls have others nested in them, and fails unless each is told to lie within the one that it
is nested in, and calls of one depth one after the other: with exact times, after `cairn repack --timing context`, with
bounded ones as far as what `info` says the clock is off by,

    nested_times.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import surroundings

RANKS = 2


def problem_of(events, off):
    """What is wrong with the places of one rank's calls, in the order in which they ended, each at most `off` ns from where
    it was."""
    nested, inside, deepest = 0, [], 0
    for event in events:
        depth, begin = event.get('depth', 0), event['begin_ns']
        end, deepest = begin + event['duration_ns'], max(deepest, depth)
        while inside and inside[-1][0] > depth:
            _, first, last, within = inside.pop()
            nested += 1
            if first + 2 * off < begin or last > end + 2 * off:
                return f'{within} lies at {first} to {last}, and not within {event["function"]}, {begin} to {end}'
        if inside and inside[-1][0] == depth and begin + 2 * off < inside[-1][2]:
            return f'{event["function"]} begins at {begin}, before {inside[-1][3]} ends at {inside[-1][2]}'
        inside.append((depth, begin, end, event['function']))
    return None if nested > 0 and deepest == 2 else f'{nested} nested calls, the deepest {deepest} deep'


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        trace, again = pathlib.Path(folder, 'out.cairn'), pathlib.Path(folder, 'again.cairn')

        def says(*words):
            return subprocess.run([bench.cairn, *words], check=True, cwd=folder, capture_output=True, text=True).stdout

        def check(name, path, exact):
            off = round(1e9 * json.loads(says('info', '--json', path))['times']['clock_error_seconds'])
            if (off == 0) != exact:
                problems.append(f'{name}: the clock is off by {off}')
            for rank in range(RANKS):
                told = says('dump', '--jsonl', '--rank', str(rank), path).splitlines()[1:]
                problem = problem_of([json.loads(line) for line in told], off)
                if problem:
                    problems.append(f'{name}, rank {rank}: {problem}')

        def record(timing):
            command = [bench.cairn, 'record', '--force', '--timing', timing, '-o', trace, '--', bench.mpiexec, '-n', str(RANKS),
                       bench.program]
            env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder)
            done = subprocess.run(command, cwd=folder, env=env, timeout=120, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True)
            if done.returncode != 0 or done.stdout != 'ok\n':
                sys.exit(f'{timing}: status {done.returncode}: {done.stdout}{done.stderr}')

        record('lossless')
        check('lossless', trace, True)
        says('repack', '--timing', 'context:rel=10%', '-o', again, trace)
        check('repacked', again, False)
        record('context:rel=10%')
        check('context', trace, False)
    for problem in problems:
        print('FAILED:', problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
