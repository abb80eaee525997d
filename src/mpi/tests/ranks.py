#!/usr/bin/env python3
"""Records classes.c, whose ranks are of known classes, and holds what `cairn ranks` says against what the program does:
which ranks make a class, what sets it apart, at which lines; calls, bytes and imbalances against every call, one by one.

    ranks.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import csv
import functools
import io
import json
import pathlib
import sys
import tempfile

import surroundings

RANKS = 4
SOURCE = pathlib.Path(__file__).resolve().with_name('classes.c')


def line_of(mark):
    """Where the statement begins that ends with that comment."""
    lines = SOURCE.read_text().splitlines()
    numbers = [number for number, line in enumerate(lines, 1) if line.endswith(f'// {mark}')]
    return numbers[0] if 'MPI(' in lines[numbers[0] - 1] else numbers[0] - 1


def given(call):
    """Bytes that a call of this program puts in, by its arguments."""
    arguments = call['args']
    count = {'MPI_Sendrecv': 'sendcount', 'MPI_Gather': 'sendcount', 'MPI_Bcast': 'count', 'MPI_Allreduce': 'count'}
    return 4 * arguments[count[call['function']]] if call['function'] in count else 0


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()

    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        cairn = functools.partial(bench.run_in, folder)

        def tell(verb, *words):
            done = cairn(verb, '--json', *words, 'out.cairn')
            if done.returncode != 0:
                sys.exit(f'{verb}: {done}')
            return json.loads(done.stdout)

        def record(*words):
            done = cairn('record', '-q', '-f', *words, '-o', 'out.cairn', '--', bench.mpiexec, '-n', str(RANKS), bench.program)
            if done.returncode != 0 or done.stdout != 'ok\n':
                sys.exit(f'record: {done}')

        record()
        told = tell('ranks')
        problems.expect('classes', [one['ranks'] for one in told['classes']], [[1, 2], [0], [3]])
        lower, upper, own = line_of('lower'), line_of('upper'), line_of('own')
        inner, first, last = told['classes']
        problems.expect('what sets the first rank apart', first['differences'],
               [f'does not make the 1 MPI_Sendrecv a turn at classes.c:{lower} that class 0 makes'])
        problems.expect('what sets the last rank apart', sorted(last['differences']),
               sorted([f'does not make the 1 MPI_Sendrecv a turn at classes.c:{upper} that class 0 makes',
                       f'loop at classes.c:{own}-{own + 1} in main() turns 5 times instead of 8']))
        problems.expect('whom the inner ones are told from', (inner['similar'], inner['differences']),
               (1, [f'makes 1 MPI_Sendrecv a turn at classes.c:{lower} that class 1 does not']))

        # Every call of every rank.
        calls, sent = [0] * RANKS, [0] * RANKS
        for line in cairn('dump', '--jsonl', 'out.cairn').stdout.splitlines():
            call = json.loads(line)
            if 'rank' not in call:  # the first line tells what the others are
                continue
            calls[call['rank']] += 1
            sent[call['rank']] += given(call)
        by_rank = sorted(told['ranks'], key=lambda line: line['rank'])
        problems.expect('calls', [line['calls'] for line in by_rank], calls)
        problems.expect('bytes', [line['bytes'] for line in by_rank], sent)
        problems.expect('classes of ranks', [line['class'] for line in by_rank], [1, 0, 0, 2])
        most, mean = max(sent), sum(sent) / RANKS
        share = 100 * (most - mean) / most * RANKS / (RANKS - 1)
        if min(sent) == most or abs(told['all']['bytes']['percent_imbalance'] - share) > 1e-9:
            problems.append(f'imbalance of bytes {sent}: {told["all"]["bytes"]}, and not {share}')
        problems.expect('order of ranks by bytes', [line['bytes'] for line in tell('ranks', '--sort', 'bytes')['ranks']],
               sorted(sent, reverse=True))

        # Rank 2 is the slow one, and times are those of the summary.
        problems.expect('the slowest rank', told['ranks'][0]['rank'], 2)
        problems.expect('and the same over all', told['all']['outside_seconds']['most_on'], 2)
        for line in tell('summary', '--per-rank')['lines']:
            mine = by_rank[line['rank']]
            if abs(mine['outside_seconds'] - line['outside_seconds']) > 1e-9 or abs(mine['mpi_seconds'] - line['seconds']) > 1e-9:
                problems.append(f'times: {mine}, and not {line}')

        # Only some calls, and what is not JSON.
        only = tell('ranks', '--function', 'MPI_Sendrecv', '--rank', '0-1')
        problems.expect('calls of some', [(line['rank'], line['calls']) for line in sorted(only['ranks'], key=lambda line: line['rank'])],
               [(0, 8), (1, 16)])
        table = list(csv.DictReader(io.StringIO(cairn('ranks', '--csv', '--sort', 'rank', 'out.cairn').stdout)))
        problems.expect('CSV', [(int(line['rank']), int(line['bytes']), int(line['calls'])) for line in table],
               list(zip(range(RANKS), sent, calls)))
        text = cairn('ranks', '--top', '1', 'out.cairn').stdout
        if f'({RANKS - 1} more; --top tells them)' not in text or '(2 more; --top tells them)' not in text:
            problems.append(f'text of one rank and class:\n{text}')

        record('--timing', 'off')
        done = cairn('ranks', '--json', 'out.cairn')
        bare = json.loads(done.stdout)
        # Of single calls there are no times, of ranks there are.
        if 'no times of calls' not in done.stderr or bare['all']['outside_seconds']['most_on'] != 2:
            problems.append(f'without times: {done.stderr}, {bare["all"]}')
        problems.expect('bytes without times', [line['bytes'] for line in sorted(bare['ranks'], key=lambda line: line['rank'])], sent)
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
