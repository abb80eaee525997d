#!/usr/bin/env python3
"""Records a Fortran program and fails unless its calls stand where its source has them, each exactly once.

    fortran_sites.py --build BUILD --mpi mpich|openmpi -n N --source FILE.f90 -- program args

Every event must lie on a line of FILE.f90 that calls the function of that name, and every such line must have as many
events on each rank as the source says: one, or what a comment behind the call says: `! n times`, `! sometimes`, `! never`.
With --lost-lines a call may stand on the line where its program unit begins: gfortran gives that line to calls of a
generic interface without an expression among the arguments, as Open MPI's `use mpi` has them. They are counted all the
same. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import surroundings

UNIT = re.compile(r' *(program|subroutine|function)\b', re.I)
CALL = re.compile(r'\b(mpix?_\w+)\s*\(', re.I)


def expectations(path):
    """{(function, line): how often on each rank, or None for any number}."""
    expected = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code, _, comment = line.partition('!')
        said = comment.strip()
        times = re.fullmatch(r'(\d+) times', said)
        for name in (found.lower().replace('mpix_', 'mpi_') for found in CALL.findall(code)):
            if said == 'sometimes':
                expected[name.lower(), number] = None
            else:
                expected[name.lower(), number] = 0 if said == 'never' else int(times[1]) if times else 1
    return expected


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True, help='build folder of cairn')
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('-n', dest='ranks', type=int, default=2)
    parser.add_argument('--source', type=pathlib.Path, required=True)
    parser.add_argument('--lost-lines', action='store_true')
    parser.add_argument('program', nargs='+')
    options = parser.parse_args()
    mpiexec = shutil.which(f'mpiexec.{options.mpi}')
    if mpiexec is None or not pathlib.Path(options.program[0]).exists():
        print('skipped: no mpiexec or no program')
        return 77
    build = options.build.resolve()
    env = surroundings.environment(build, options.mpi)
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        cairn, trace = str(build / 'bin/cairn'), str(pathlib.Path(folder, 'out.cairn'))
        subprocess.run([cairn, 'record', '-q', '-o', trace, mpiexec, '-n', str(options.ranks), *options.program],
                       cwd=folder, env=env, timeout=180, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        text = subprocess.run([cairn, 'dump', '--json', trace], cwd=folder, env=env, timeout=60, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    expected = expectations(options.source)
    units = {n for n, line in enumerate(options.source.read_text().splitlines(), 1) if UNIT.match(line)}
    lost = collections.Counter()
    seen, problems = collections.Counter(), []
    for line in text.splitlines()[1:]:
        event = json.loads(line)
        name, site = event['function'].lower(), event.get('site', {})
        key = (name, site.get('line'))
        if pathlib.Path(site.get('file', '')).name != options.source.name:
            problems.append(f'rank {event["rank"]}: {event["function"]} is said to be called at {site}')
        elif options.lost_lines and key[1] in units:
            lost[event['rank'], name] += 1
        elif key not in expected:
            problems.append(f'rank {event["rank"]}: line {key[1]} does not call {event["function"]}')
        else:
            seen[event['rank'], *key] += 1
    for (name, number), times in expected.items():
        for rank in range(options.ranks):
            got = seen[rank, name, number]
            if times is not None and got < times:
                found = min(times - got, lost[rank, name])
                lost[rank, name] -= found
                got += found
            if times is None:
                lost[rank, name] = 0
            elif got != times:
                problems.append(f'rank {rank}: line {number} calls {name} {times} times, recorded {got} times')
    problems += [f'rank {rank}: {name} was recorded {n} times too often' for (rank, name), n in lost.items() if n]
    if not seen:
        problems.append('nothing was recorded')
    print('\n'.join(problems[:40]) or f'{sum(seen.values())} calls at {len(set(seen))} places')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
