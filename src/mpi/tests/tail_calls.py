#!/usr/bin/env python3
"""Compiles tail_calls.c with GCC and Clang, records it, and fails unless each call is shown on the line of the wrapper that
jumped to MPI, where that is certain, and else on the line that called the wrapper; also when the program is gone.

    tail_calls.py --build BUILD --mpi mpich|openmpi tail_calls.c

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import surroundings

# The call, the line on which it is shown, and the one that called the function there; "" where stacks alone tell that.
CALLS = [('MPI_Send', 'send', 'first')] + 3 * [('MPI_Send', 'send', 'loop')] + [
    ('MPI_Rsend', 'ready', 'even'), ('MPI_Send', 'send', 'odd'), ('MPI_Bcast', 'bcast', 'another'), ('MPI_Ssend', 'two', None),
    ('MPI_Comm_rank', 'rank', ''), ('MPI_Bsend', 'buffered', 'asks')]
FUNCTIONS = {'send': 'send_it', 'ready': 'either', 'bcast': 'hidden', 'two': 'main', 'rank': 'asks_first', 'buffered': 'asks_first'}


def lines_of(source):
    named = {}
    for number, line in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
        found = re.search(r';\s+// (\w+)$', line)
        if found:
            named[found[1]] = number
    return named


def compile_with(bench, compiler, folder, *flags):
    """False where that compiler is missing."""
    if shutil.which(compiler) is None:
        return False
    env = dict(os.environ, MPICH_CC=compiler, OMPI_CC=compiler)
    parts = []
    for part, define in ('main', []), ('wrappers', ['-DWRAPPERS']):
        parts.append(f'{part}.o')
        subprocess.run([f'mpicc.{bench.mpi}', *flags, *define, '-c', bench.program, '-o', parts[-1]], cwd=folder, env=env, check=True)
    subprocess.run([f'mpicc.{bench.mpi}', *parts, '-o', 'program'], cwd=folder, env=env, check=True)
    return True


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()
    line = lines_of(bench.program)
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        cairn = functools.partial(bench.run_in, folder)

        def calls(what):
            """(function, the function and line where it is called, the line that called that function)"""
            done = cairn('dump', '--json', '--stack', '--rank', '0', 'out.cairn')
            found = []
            for event in map(json.loads, done.stdout.splitlines()[1:]):
                site, callers = event['site'], [caller['line'] for caller in event.get('callers', [])]
                found.append((event['function'], site.get('function'), site.get('line'), callers[0] if callers else None))
            problems.expect(f'{what}: first and last', [found[0][0], found[-1][0]], ['MPI_Init', 'MPI_Finalize'])
            return found[1:-1]

        for compiler, *flags in (('gcc', '-O2', '-g'), ('gcc', '-O2', '-gdwarf-4'), ('clang-14', '-O2', '-g')):
            if not compile_with(bench, compiler, folder, *flags):
                print(f'{compiler} is not installed')
                continue
            for sites in 'site', 'stack':
                what = ' '.join([compiler, *flags, sites])
                done = cairn('record', '-q', '-f', '--callsites', sites, '-o', 'out.cairn', '--', bench.mpiexec, '-n', '2',
                             './program')
                problems.expect(f'{what}: record', (done.returncode, done.stderr), (0, ''))
                found = calls(what)
                problems.expect(what, found, [
                    (function, FUNCTIONS[at], line[at], line[caller or 'asks'] if caller or (caller == '' and sites == 'stack') else None)
                    for function, at, caller in CALLS])
                for place, count in (f'tail_calls.c:{line["send"]}', 10), (f'tail_calls.c:{line["loop"]}', 6):
                    told = cairn('dump', '--json', '--site', place, 'out.cairn').stdout.splitlines()[1:]
                    problems.expect(f'{what}: calls at {place}', len(told), count)
                by_site = cairn('summary', '--callsites', '--csv', 'out.cairn').stdout.splitlines()
                # A loop may have been unrolled.
                of_send = [row for row in by_site if row.startswith('"MPI_Send"')]
                problems.expect(f'{what}: call sites of MPI_Send', (len(of_send) >= 3, all('send_it' in row for row in of_send)), (True, True))
            # What record has found out is in the trace.
            os.unlink(pathlib.Path(folder, 'program'))
            problems.expect(f'{what}, the program gone', calls(what), found)
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
