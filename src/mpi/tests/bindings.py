#!/usr/bin/env python3
"""Records one program in C and through Fortran bindings and fails unless their traces differ in call sites only.

    bindings.py --build BUILD --mpi mpich|openmpi [-n N] -- C_PROGRAM PROGRAM...

The programs are compiled without debug information: a call site is a place in the program, and its number, in the order
in which they come, stands for it here. Polls that found nothing may differ, and what says which functions of Fortran an
attribute has. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import difflib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import surroundings

OF_FORTRAN = ('comm_copy_attr_fn', 'comm_delete_attr_fn', 'extra_state')


def calls_of(cairn, trace, program, env):
    """Every call as a line of text, without its rank's count of calls."""
    text = subprocess.run([cairn, 'dump', '--json', trace], env=env, timeout=60, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    numbers, lines = {}, []
    for event in map(json.loads, text.splitlines()[1:]):
        del event['index']
        site, arguments = event.pop('site'), event['args']
        if arguments.get('outcount') == 0:
            continue
        if site['module'] != program:
            event['site'] = site  # in a binding: no program has this
        if event['function'] == 'MPI_Comm_create_keyval':
            event['args'] = {name: value for name, value in arguments.items() if name not in OF_FORTRAN}
        line = json.dumps(event)
        line = re.sub(re.escape(program) + r'\+0x[0-9a-f]+', lambda at: f'site {numbers.setdefault(at[0], len(numbers))}', line)
        # Of an error code MPICH says no more than the class twice.
        lines.append(re.sub(r'(MPI_ERR_RANK)\(\d+\)', r'\1', line))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True, help='build folder of cairn')
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('-n', dest='ranks', type=int, default=2)
    parser.add_argument('programs', nargs='+')
    options = parser.parse_args()
    mpiexec = shutil.which(f'mpiexec.{options.mpi}')
    if mpiexec is None:
        print('skipped: no mpiexec')
        return 77
    build = options.build.resolve()
    env, cairn = surroundings.environment(build, options.mpi), str(build / 'bin/cairn')
    wanted, failed = None, False
    for program in options.programs:
        name = pathlib.Path(program).name
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
            trace = str(pathlib.Path(folder, 'out.cairn'))
            done = subprocess.run([cairn, 'record', '-q', '-o', trace, mpiexec, '-n', str(options.ranks), program],
                                  cwd=folder, env=env, timeout=180, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0 or 'missing' in done.stdout:
                print(f'{name}: status {done.returncode}\n{done.stdout}')
                return 1
            calls = calls_of(cairn, trace, name, env)
        wanted = wanted or calls
        differences = [line for line in difflib.unified_diff(wanted, calls, options.programs[0], name, lineterm='', n=0)]
        failed = failed or bool(differences) or not calls
        print('\n'.join([f'{name}: {len(calls)} calls'] + differences[:20]))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
