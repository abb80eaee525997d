#!/usr/bin/env python3
"""Records a program, makes a proxy application of the trace, and fails unless that makes the same calls again.

    fixed_point.py --build BUILD --mpi mpich|openmpi [-n N] [options] -- program args

The source of the proxy must compile without a warning, and when its run is recorded `cairn diff --replay` must find no
difference between the two traces. --under names the MPI that the proxy is compiled and run with, if not --mpi. --trace
takes a trace in place of a program. With --leave-out the proxy does without these ranks, and each other one must make
its calls but questions about topologies and collective calls whose root is left out. --lines and --bytes are the most that may be made for this trace. Work is done in a
new folder that is removed unless something failed (or --keep). Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import json
import pathlib
import re
import shutil
import sys
import tempfile

import run
import surroundings

def compiled(options, folder, env):
    """As its Makefile does it, but for what is no warning there."""
    cpp = (folder / 'main.cc').exists()
    compiler, flags = (f'MPICXX=mpicxx.{options.under}', 'CXXFLAGS') if cpp else (f'MPICC=mpicc.{options.under}', 'CFLAGS')
    command = ['make', '-s', '-C', folder, compiler, f'{flags}=-O1 -Wall -Wextra -Werror']
    status, out, err = run.run(command, folder, env, options.seconds, 'make')
    if status != 0:
        raise run.Failed(f'the proxy does not compile\n{run.tail(out)}\n{run.tail(err)}')


def recorded(options, top, env):
    trace = top / 'out.cairn'
    folder = top / 'recorded'
    folder.mkdir()
    for name in options.file:
        (folder / pathlib.Path(name).name).symlink_to(pathlib.Path(name).resolve())
    launch = [shutil.which(f'mpiexec.{options.mpi}'), '-n', str(options.ranks)]
    command = [options.build / 'bin/cairn', 'record', '-q', *options.record, '-o', trace, '--', *launch, *options.program]
    status, out, err = run.run(command, folder, env, options.seconds, 'recording')
    if status != 0 or not trace.exists():
        raise run.Failed(f'recording: status {status}\n{run.tail(out)}\n{run.tail(err)}')
    return trace


def functions(cairn, trace, rank, env, top):
    status, out, err = run.run([cairn, 'dump', '--json', '--rank', str(rank), trace], top, env, 60, 'dump')
    if status != 0:
        raise run.Failed(f'dump: status {status}\n{run.tail(err)}')
    calls = [json.loads(line) for line in out.splitlines()]
    return [(call['function'], call['args'].get('root')) for call in calls if 'function' in call]


def check_subset(options, top, env, trace, again):
    """Each rank that stays makes its calls, in their order."""
    cairn = options.build / 'bin/cairn'
    out = {int(rank) for rank in options.leave_out.split(',')}
    for now, rank in enumerate(rank for rank in range(options.ranks) if rank not in out):
        before = [(name, root) for name, root in functions(cairn, trace, rank, env, top)
                  if name == 'MPI_Cart_create' or not name.startswith('MPI_Cart')]
        wanted = ['MPI_Comm_split' if name == 'MPI_Cart_create' else name for name, root in before if root not in out]
        made = [name for name, _ in functions(cairn, again, now, env, top)]
        if made != wanted:
            raise run.Failed(f'rank {rank} made {len(made)} calls, not {len(wanted)}:\n{made}\n{wanted}')
    print('the ranks that stay make their calls')


def check(options, top):
    env = surroundings.environment(options.build, options.mpi)
    if not shutil.which(f'mpiexec.{options.mpi}') or not shutil.which(f'mpicc.{options.under}'):
        print(f'skipped: no {options.mpi} or no {options.under}')
        return run.SKIPPED
    trace = options.trace or recorded(options, top, env)
    env = surroundings.environment(options.build, options.under)
    cairn = options.build / 'bin/cairn'
    folder = top / 'proxy'
    leave_out = ['--leave-out', options.leave_out] if options.leave_out else []
    status, out, err = run.run([cairn, 'proxy', *leave_out, *options.proxy, '-o', folder, trace], top, env, options.seconds, 'cairn proxy')
    if status != 0:
        raise run.Failed(f'cairn proxy: status {status}\n{run.tail(err)}')
    made = re.search(r'([\d,]+) lines of C(?:\+\+)? and ([\d,]+) bytes', err)
    lines, size = (int(number.replace(',', '')) for number in made.groups())
    print(f'{lines} lines, {size} bytes; trace {trace.stat().st_size} bytes')
    if lines > options.lines or size > options.bytes:
        raise run.Failed(f'the proxy has {lines} lines and {size} bytes')
    compiled(options, folder, env)
    again = top / 'again.cairn'
    env['PROXY_FILES'] = str(top)
    ranks = options.ranks - len(options.leave_out.split(',')) if options.leave_out else options.ranks
    launch = [shutil.which(f'mpiexec.{options.under}'), '-n', str(ranks)]
    command = [cairn, 'record', '-q', '-o', again, '--', *launch, folder / 'proxy']
    status, out, err = run.run(command, top, env, options.seconds, 'proxy')
    if status != 0:
        raise run.Failed(f'proxy: status {status}\n{run.tail(out)}\n{run.tail(err)}')
    if options.leave_out:
        check_subset(options, top, env, trace, again)
        return 0
    status, out, err = run.run([cairn, 'diff', '--replay', trace, again], top, env, options.seconds, 'diff --replay')
    if status != 0:
        raise run.Failed(f'diff --replay: status {status}\n{run.tail(out)}\n{run.tail(err)}')
    print(out.strip())
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', required=True, type=pathlib.Path)
    parser.add_argument('--mpi', required=True, choices=['mpich', 'openmpi'])
    parser.add_argument('--under', choices=['mpich', 'openmpi'])
    parser.add_argument('-n', dest='ranks', type=int, default=2)
    parser.add_argument('--trace', type=pathlib.Path)
    parser.add_argument('--record', action='append', default=[], help='a word for cairn record')
    parser.add_argument('--proxy', action='append', default=[], help='a word for cairn proxy')
    parser.add_argument('--leave-out', default='', help='ranks, as in 0,3')
    parser.add_argument('--file', action='append', default=[], help='to be there in the folder of the recorded run')
    parser.add_argument('--lines', type=int, default=sys.maxsize)
    parser.add_argument('--bytes', type=int, default=sys.maxsize)
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--keep', type=pathlib.Path, help='the folder to work in, which stays')
    parser.add_argument('program', nargs='*')
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.under = options.under or options.mpi
    if options.trace:
        options.trace = options.trace.resolve()
    if options.keep:
        shutil.rmtree(options.keep, ignore_errors=True)
        options.keep.mkdir(parents=True)
    top = options.keep.resolve() if options.keep else pathlib.Path(tempfile.mkdtemp(prefix='cairn-fixed-point-'))
    try:
        status = check(options, top)
    except run.Failed as failed:
        print(f'FAILED: {failed}\n  see {top}')
        return 1
    if not options.keep:
        shutil.rmtree(top)
    return status


if __name__ == '__main__':
    sys.exit(main())
