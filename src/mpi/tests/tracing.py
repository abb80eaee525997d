#!/usr/bin/env python3
"""Records tracing.c with tracing turned off and on, and with functions and communicators left out: the trace must hold
the calls that its source says, each as often, with handles as they are named in a run with everything.

    tracing.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import surroundings

SOURCE = pathlib.Path(__file__).with_name('tracing.c')
RANKS = 2


def marked(wanted):
    """{line: how often}, of lines whose marks `wanted` accepts."""
    lines = {}
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        found = re.search(r'// kept((?: \w+)*)$', line)
        if found and wanted(found[1].split(), line):
            times = re.search(r'x(\d+)', found[1])
            lines[number] = int(times[1]) if times else 1
    return lines


def main():
    bench = surroundings.Bench(__doc__)
    cairn, problems = bench.cairn, []

    def record(name, words, wanted, said):
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
            trace = pathlib.Path(folder, 'out.cairn')
            done = subprocess.run([cairn, 'record', '-o', trace, *words, '--', bench.mpiexec, '-n', str(RANKS), bench.program],
                                  cwd=folder, env=dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder), timeout=120,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0 or done.stdout != 'ok\n':
                problems.append(f'{name}: status {done.returncode}: {done.stdout}{done.stderr}')
                return []
            subprocess.run([cairn, 'verify', trace], check=True,
                           stdout=subprocess.DEVNULL)
            info = subprocess.run([cairn, 'info', trace], check=True, capture_output=True, text=True).stdout
            text = subprocess.run([cairn, 'dump', '--jsonl', trace], check=True, capture_output=True, text=True).stdout
        for part in said:
            if not re.search(part, info) or not ('command' in part or re.search(part, done.stderr)):
                problems.append(f'{name}: neither record nor info said "{part}": {done.stderr}{info}')
        if not said and 'left out' in info:
            problems.append(f'{name}: {info}')
        events = [json.loads(line) for line in text.splitlines()[1:]]
        for rank in range(RANKS):
            got = collections.Counter()
            for event in events:
                if event['rank'] == rank:
                    got[event['site']['line']] += event.get('repeat', 1)
            if got != marked(wanted):
                problems.append(f'{name}: rank {rank}: lines and how often: {dict(sorted(got.items()))}, not {marked(wanted)}')
        return [(event['rank'], event['site']['line'], event['args']) for event in events]

    kept = record('off and on', [], lambda marks, line: True, ['tracing was off'])
    # Named as in a run in which nothing is left out: requests and communicators made while tracing was off.
    lines = SOURCE.read_text().splitlines()
    made = 1 + next(i for i, line in enumerate(lines) if 'MPI_Isend' in line)
    waits = [arguments for rank, line, arguments in kept if 'MPI_Wait(&made' in lines[line - 1]]
    if not waits or any(f'tracing.c:{made}' not in json.dumps(arguments) for arguments in waits):
        problems.append(f'the request made while tracing was off: {waits}')
    unknown = [call for call in kept if 'unknown' in json.dumps(call)]
    if unknown:
        problems.append(f'unknown names: {unknown[:3]}')
    record('off from the start', ['--start', 'off'], lambda marks, line: 'always' in marks, ['tracing was off'])
    record('without some functions', ['--exclude', 'MPI_Wait*', '--exclude', 'MPI_Irecv'],
           lambda marks, line: not re.search(r'MPI_Wait|MPI_Irecv', line), [r'--exclude MPI_Wait\*,MPI_Irecv'])
    record('without a communicator', ['--exclude', 'comm:a n*'], lambda marks, line: 'named' not in marks,
           ['--exclude comm:a n'])
    words = record('without the command', ['--no-command'], lambda marks, line: True, ['command +not kept', 'tracing was off'])
    if any('argv' in json.dumps(call) and 'tracing' in json.dumps(call[2].get('argv', '')) for call in words):
        problems.append("--no-command: MPI_Init's arguments are there")
    record('without the world', ['--exclude', 'comm:MPI_COMM_WORLD'],
           lambda marks, line: 'MPI_COMM_WORLD' not in line, ['--exclude comm:MPI_COMM_WORLD'])
    print('\n'.join(problems) or 'ok')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
