#!/usr/bin/env python3
"""Records clocks.c and holds what `cairn dump` says of its barriers against what a barrier does: no rank's ends before
every rank's has begun, but for what the clocks are uncertain. Once with one clock, once with a clock for each rank, thousands of seconds apart (time namespaces,
where this user may make them), and once with ranks that are merged afterwards and compare nothing.

    clocks.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import surroundings

RANKS = 4


def main():
    bench = surroundings.Bench(__doc__)
    cairn, problems = bench.cairn, []

    def check(name, record, before, said, slack):
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
            trace = pathlib.Path(folder, 'out.cairn')
            command = [cairn, 'record', '--timing', 'lossless', *record, '-o', trace, '--', bench.mpiexec, '-n', str(RANKS),
                       *bench.apart(folder, before), bench.program]
            env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder)
            done = subprocess.run(command, cwd=folder, env=env, timeout=120, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)
            if done.returncode != 0 or done.stdout != 'ok\n':
                problems.append(f'{name}: status {done.returncode}: {done.stdout}{done.stderr}')
                return

            def cairn_says(*words):
                return subprocess.run([cairn, *words, trace], check=True, capture_output=True, text=True).stdout
            clocks = json.loads(cairn_says('info', '--json'))['clocks']
            events = [json.loads(line) for line in cairn_says('dump', '--jsonl', '--order', 'time').splitlines()[1:]]
        if not said(clocks):
            problems.append(f'{name}: clocks: {clocks}')
        begins = [event['begin_ns'] for event in events]
        if begins != sorted(begins) or begins[0] > 1000000:
            problems.append(f'{name}: not in order of time, or not from 0 on: {begins}')
        barriers = {rank: [event for event in events if event['function'] == 'MPI_Barrier' and event['rank'] == rank]
                    for rank in range(RANKS)}
        if any(len(found) != 5 for found in barriers.values()):
            problems.append(f'{name}: the barriers are not all there')
            return
        uncertain = int(2e9 * clocks['uncertainty_seconds']) + slack
        for number, calls in enumerate(zip(*barriers.values())):
            last = max(call['begin_ns'] for call in calls)
            first = min(call['begin_ns'] + call['duration_ns'] for call in calls)
            if first + uncertain < last:
                problems.append(f'{name}: barrier {number} is left {last - first} ns before all have come; {clocks}')

    # Each process reads it with the processor's counter, where that is invariant, and knows it only so well.
    counts = ' nonstop_tsc ' in pathlib.Path('/proc/cpuinfo').read_text()
    check('one clock', [], False,
          lambda told: told['compared'] and counts == (told['uncertainty_seconds'] != 0) and told['uncertainty_seconds'] < 1e-5, 0)
    check('merged afterwards', ['--merge', 'after'], False, lambda told: not told['compared'], 1000000)
    if bench.may_set_apart():
        check('clocks apart', [], True, lambda told: told['compared'] and 0 < told['uncertainty_seconds'] < 0.01, 0)
    else:
        print('no time namespaces here: clocks that are apart are not tested')
    for problem in problems:
        print('FAILED:', problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
