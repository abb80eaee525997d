#!/usr/bin/env python3
"""Records a program under several limits of the stack's size, and fails unless the traces say the same.

    stack_limits.py --build BUILD --mpi mpich|openmpi program

Without a limit (`ulimit -s unlimited`, as on many clusters) the kernel puts mappings where it doesn't otherwise, and
the main thread's stack may grow down to any of them. Each trace must also agree with the oracle. Exit status: 0 passed,
1 failed, 77 not possible here.
"""
import argparse
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from surroundings import environment


def run(options, folder, limit, *command):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_STACK, (limit, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    env = dict(environment(options.build, options.mpi), OMPI_MCA_orte_tmpdir_base=folder)
    done = subprocess.run([str(c) for c in command], cwd=folder, env=env, timeout=150, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, preexec_fn=set_limit)
    if done.returncode != 0:
        sys.exit(f'FAILED: {" ".join(map(str, command))}: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-2000:]}')
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True, help='build folder of cairn')
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('program', nargs=1)
    options = parser.parse_args()
    options.build = options.build.resolve()
    cairn = options.build / 'bin/cairn'
    if shutil.which(f'mpiexec.{options.mpi}') is None:
        print(f'skipped: no mpiexec.{options.mpi}')
        return 77
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        print('skipped: the stack has a hard limit')
        return 77
    dumps = {}
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        for name, limit in (('8M', 8 << 20), ('2G', 2 << 30), ('unlimited', resource.RLIM_INFINITY)):
            trace = f'{name}.cairn'
            run(options, folder, limit, cairn, 'record', '-q', '-o', trace, '--oracle', name,
                f'mpiexec.{options.mpi}', '-n', 2, options.program[0])
            run(options, folder, limit, cairn, 'verify', trace, '--against', name)
            dumps[name] = run(options, folder, limit, cairn, 'dump', trace)
    for name, dump in dumps.items():
        for expected, found in zip(dumps['8M'].splitlines(), dump.splitlines(), strict=True):
            if expected != found:
                print(f'FAILED: with a stack of 8M\n  {expected}\nand with {name}\n  {found}')
                return 1
    print(f'{len(dumps)} traces of {len(dumps["8M"].splitlines())} lines')
    return 0


if __name__ == '__main__':
    sys.exit(main())
