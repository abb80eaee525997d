#!/usr/bin/env python3
"""Records matching.c, whose messages say which call sent them, and holds what the program says against what the trace
does: each receive's send, and whom collective calls waited for.

    matching.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import pathlib
import subprocess
import sys
import tempfile

import surroundings

RANKS = 5


def main():
    bench = surroundings.Bench(__doc__)
    problems = []

    def record(folder, words, options, program=bench.program, ranks=RANKS):
        trace = pathlib.Path(folder, 'out.cairn')
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder)
        done = subprocess.run([bench.cairn, 'record', '--timing', 'lossless', *options, '-o', trace, '--', bench.mpiexec,
                               '-n', str(ranks), program, *words], cwd=folder, env=env, timeout=200,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0 or done.stdout != 'ok\n':
            sys.exit(f'status {done.returncode}: {done.stdout}{done.stderr}')
        said = collections.Counter()
        for file in pathlib.Path(folder).glob('said.*'):
            said.update(file.read_text().splitlines())
        lines = subprocess.run([bench.messages, trace], check=True, capture_output=True, text=True).stdout.splitlines()
        return said, lines

    def of(word, lines):
        return collections.Counter(line for line in lines if line.startswith(word + ' '))

    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        said, lines = record(folder, [], [])
        for word in 'message', 'met':
            expected, told = of(word, said.elements()), of(word, lines)
            if expected != told or sum(told.values()) < 300:
                problems.append(f'{word}: {sum(expected.values())} in truth, {sum(told.values())} told; missing '
                                f'{list((expected - told).elements())[:5]}, wrong {list((told - expected).elements())[:5]}')
        rest = [line for line in lines if line.split()[0] not in ('message', 'met', 'probed')]
        around = sum(1 for line in said.elements() if line.startswith('message'))
        if len(rest) != 1 or not rest[0].startswith('cancelled ') or around < 1000:
            problems.append(f'left out: {rest} beside {around}')
        if not of('probed', lines):
            problems.append('nothing was probed')

    # Whom a message was of is known where the program ignores its status, too.
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        said, lines = record(folder, ['nameless'], [])
        expected, told = of('message', said.elements()), of('message', lines)
        if expected != told or sum(told.values()) < 300:
            problems.append(f'ignored: {sum(expected.values())} in truth, {sum(told.values())} told; missing '
                            f'{list((expected - told).elements())[:5]}, wrong {list((told - expected).elements())[:5]}')
        if any(line.startswith('nameless ') or line.endswith(' unsure') for line in lines):
            problems.append('a message of an ignored status is not told')

    # Calls that were left out are not guessed.
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        said, lines = record(folder, [], ['--exclude', 'MPI_Isend'])
        if of('message', lines) or not any(line.startswith('lost ') for line in lines):
            problems.append(f'left out: {lines[:3]}, {lines[-3:]}')

    # Threads of a rank that are in two communicators' barriers at once, on each rank in another order.
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        program = pathlib.Path(bench.program).parent / 'thread_handles'
        lines = record(folder, [], [], program, 3)[1]
        rest = [line for line in lines if line.split()[0] not in ('message', 'met')]
        if rest or len(lines) < 1900:
            problems.append(f'threads: {rest} beside {len(lines)}')
    for problem in problems:
        print('FAILED:', problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
