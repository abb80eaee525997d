#!/usr/bin/env python3
"""Records a Python program and fails unless its calls stand at the lines, and in the functions, that its comments say.

    python_lines.py --build BUILD --mpi mpich|openmpi python_calls.py

With call sites, and with whole call stacks; both traces must equal what the oracle logged. Exit status: 0 passed, 1 failed,
77 not possible here.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import surroundings

RANKS = 2
PYTHON = '/usr/bin/python3'  # which Debian's mpi4py is for
SAID = re.compile(r'  # (\d+|some) (MPI_\w+): (.*)')


def expectations(folder):
    """{(function of MPI, file, line): (how often, or None; Python's functions)}, of all calls of those functions."""
    expected = {}
    for path in (folder / 'python_calls.py', folder / 'python_calls_module.py'):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if said := SAID.search(line):
                times = None if said[1] == 'some' else int(said[1])
                expected[said[2], path.name, number] = (times, said[3].split(' < '))
            elif line.strip() == 'return comm.Barrier(':
                expected['MPI_Barrier', path.name, number] = (1, ['très_long', '<module>'])
    for cell in range(9):
        expected['MPI_Barrier', f'<cell {cell}>', cell % 3 + 1] = (1, ['<module>', '<module>'])
    return expected


def functions_of(event):
    """Outwards, to the program; Python's threads begin in a module of Python's."""
    frames = [event.get('site', {}), *event.get('callers', [])]
    return [frame.get('function') for frame in frames if pathlib.Path(frame.get('file', '')).name != 'threading.py']


def check(events, expected, stacks):
    functions = {function for function, _, _ in expected}
    seen, problems, through_c = collections.Counter(), [], 0
    for event in events:
        site, function = event.get('site', {}), event['function']
        key = (function, pathlib.Path(site.get('file', '')).name, site.get('line'))
        names = functions_of(event)
        if function not in functions:
            continue
        if site.get('module', '').startswith('libffi'):
            through_c += 1
            if stacks and names[-2:] != ['through_c', '<module>']:
                problems.append(f'called from C: {names}')
        elif key not in expected:
            problems.append(f'rank {event["rank"]}: {function} is said to be called at {site}')
        else:
            seen[event['rank'], *key] += 1
            wanted = expected[key][1]
            if names != (wanted if stacks else wanted[:1]):
                problems.append(f'{function} at {key[1]}:{key[2]} in {names} instead of {wanted}')
    for key, (times, _) in expected.items():
        for rank in range(RANKS):
            if seen[rank, *key] != times and (times is not None or seen[rank, *key] == 0):
                problems.append(f'rank {rank}: {key} {seen[rank, *key]} times instead of {times}')
    if through_c != RANKS:
        problems.append(f'{through_c} calls from C instead of {RANKS}')
    return problems


def main():
    bench = surroundings.Bench(__doc__)
    program = pathlib.Path(bench.program)
    if not pathlib.Path(PYTHON).exists() or subprocess.run([PYTHON, '-c', 'import mpi4py'], stderr=subprocess.DEVNULL).returncode:
        return 77
    version = subprocess.run([PYTHON, '-c', 'import sys; print(sys.version_info[:2])'], capture_output=True, text=True).stdout
    if version.strip() != '(3, 11)':
        print(f'skipped: Python is {version}')
        return 77
    expected, problems = expectations(program.parent), []
    for what in ('site', 'stack'):
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
            def run(*command):
                done = subprocess.run([str(c) for c in command], cwd=folder, env=bench.environment, timeout=180,
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL)
                if done.returncode != 0:
                    sys.exit(f'{" ".join(map(str, command))}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}')
                return done.stdout

            run(bench.cairn, 'record', '-q', '-o', 'out.cairn', '--oracle', 'logs', '--callsites', what, bench.mpiexec, '-n',
                RANKS, PYTHON, program)
            run(bench.cairn, 'verify', 'out.cairn', '--against', 'logs')
            stack = ['--stack'] if what == 'stack' else []
            events = map(json.loads, run(bench.cairn, 'dump', '--json', *stack, 'out.cairn').splitlines()[1:])
            problems += [f'{what}: {problem}' for problem in check(events, expected, stacks=bool(stack))]
            line = next(line for function, _, line in expected if function == 'MPI_Isend')
            if f'req(python_calls.py:{line} #0)' not in run(bench.cairn, 'dump', '--function', 'MPI_Isend', 'out.cairn'):
                problems.append(f'{what}: requests are not named by their lines')
            if f'python_calls.py:{line} in exchange()' not in run(bench.cairn, 'summary', '--callsites', 'out.cairn'):
                problems.append(f'{what}: the summary does not have the lines')
    print('\n'.join(problems[:40]) or f'calls at {len(expected)} places')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
