#!/usr/bin/env python3
"""Records a program and holds what `cairn timeline` says of it against sums over all calls that `cairn dump` prints: whole,
in windows, in one column and in many, ranks taken together; where there are no times, against `cairn summary`.

    timelines.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import functools
import json
import pathlib
import re
import sys
import tempfile

import surroundings

RANKS = 4
SORTS = (('init', r'Init(_thread)?|Finalize'), ('files', r'File_\w+'), ('completion', r'(Wait|Test)(all|any|some)?'),
         ('one-sided', r'Win_\w+|R?([Pp]ut|[Gg]et|[Aa]ccumulate|[Gg]et_accumulate)|Fetch_and_op|Compare_and_swap'),
         ('messages', r'[IBSR]?(send|recv|Send|Recv)\w*|I[bsr]send\w*|Sendrecv\w*|I?m?(p|P)robe|Mprobe|I?m?recv|Start(all)?|'
                      r'Cancel|Request_free|P(send|recv)_init'),
         ('collective', r'I?(Barrier|Bcast|Reduce\w*|Allreduce|Gatherv?|Allgatherv?|Scatterv?|Alltoall[vw]?|Scan|Exscan|'
                        r'barrier|bcast|allreduce|reduce\w*)(_init)?|Comm_(dup\w*|split\w*|free|create|disconnect)'))


def sort_of(function):
    name = function.removeprefix('MPI_')
    return next((sort for sort, pattern in SORTS if re.fullmatch(pattern, name)), 'other')


def totals(strip):
    """Nanoseconds by kind, all lines and columns together."""
    sums = collections.Counter()
    for line in strip['lines']:
        sums.update({kind: sum(ns) for kind, ns in line['ns'].items()})
    return sums


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        cairn = functools.partial(bench.run_in, folder)

        done = cairn('record', '-q', '--timing', 'lossless', '-o', 'out.cairn', '--', bench.mpiexec, '-n', str(RANKS),
                     bench.program)
        if done.returncode != 0:
            sys.exit(f'record: {done}')
        # What each rank did, in order: its calls and what lies between them on each thread.
        spans = collections.defaultdict(list)
        for rank in range(RANKS):
            last = {}
            for line in cairn('dump', '--jsonl', '--rank', str(rank), 'out.cairn').stdout.splitlines()[1:]:
                call = json.loads(line)
                if call.get('depth', 0):
                    continue
                thread, begin = call.get('thread', 0), call['begin_ns']
                end = begin + call['duration_ns']
                before = last.get(thread, begin)
                if begin > before:
                    spans[rank].append((before, begin, 'outside MPI'))
                spans[rank].append((max(begin, before), end, sort_of(call['function'])))
                last[thread] = max(before, end)
        whole = json.loads(cairn('timeline', '--json', 'out.cairn').stdout)
        length = whole['end_ns'] - whole['begin_ns']
        if len({sort for rank in spans.values() for _, _, sort in rank}) < 4:
            problems.append('the program does too little')

        for words in ((), ('--columns', '1'), ('--columns', '1000'), ('--lines', '2'), ('--rank', '1,3', '--columns', '7'),
                      ('--time', f'{whole["begin_ns"] + length // 3}ns+{length // 3}ns', '--columns', '33'),
                      ('--time', f'{whole["begin_ns"] + length // 2}ns+5us', '--columns', '11')):
            strip = json.loads(cairn('timeline', '--json', *words, 'out.cairn').stdout)
            edges = strip['edges_ns']
            if edges[0] != strip['begin_ns'] or edges[-1] != strip['end_ns'] or edges != sorted(edges):
                problems.append(f'{words}: edges {edges[:3]} … {edges[-3:]}')
            told = [rank for line in strip['lines'] for rank in line['ranks']]
            if told != ([1, 3] if '--rank' in words else list(range(RANKS))):
                problems.append(f'{words}: ranks {told}')
            if '--lines' in words and len(strip['lines']) != 2:
                problems.append(f'{words}: {len(strip["lines"])} lines')
            for line in strip['lines']:
                expected = collections.defaultdict(lambda: [0] * (len(edges) - 1))
                for begin, end, sort in (span for rank in line['ranks'] for span in spans[rank]):
                    for column in range(len(edges) - 1):
                        within = min(end, edges[column + 1]) - max(begin, edges[column])
                        if within > 0:
                            expected[sort][column] += within
                if dict(expected) != line.get('ns', {}):
                    wrong = [(sort, column, expected[sort][column], line.get('ns', {}).get(sort, [0] * len(edges))[column])
                             for sort in set(expected) | set(line.get('ns', {})) for column in range(len(edges) - 1)
                             if expected[sort][column] != line.get('ns', {}).get(sort, [0] * len(edges))[column]]
                    problems.append(f'{words}: ranks {line["ranks"]}: (sort, column, truth, told) {wrong[:4]}')

        def whole_by(by, name_of):
            strip = json.loads(cairn('timeline', '--json', '--by', by, 'out.cairn').stdout)
            if strip['by'] != by or strip['axis'] != 'measured':
                problems.append(f'by {by}: {strip["by"]}, {strip["axis"]}')
            sums = collections.Counter()
            for kind, ns in totals(strip).items():
                sums[name_of(kind)] += ns
            return sums

        text = cairn('timeline', '--columns', '60', 'out.cairn').stdout.splitlines()
        rows = [line for line in text if re.match(r' *\d+  ', line)]
        if len(rows) != RANKS or any(not set(row[6:]) <= set('.mwcofi- ') for row in rows):
            problems.append(f'the text is {text}')
        done = cairn('timeline', '--time', f'{whole["end_ns"] + 10**9}ns+1s', 'out.cairn')
        if done.returncode != 2 or done.stdout or 'begins behind the run; it ends ' not in done.stderr or done.stderr.count('\n') != 1:
            problems.append(f'behind the end: {done}')
        sites = whole_by('site', lambda kind: kind.split(' at ')[0])
        functions = whole_by('function', lambda kind: kind)
        sorts = whole_by('function', lambda kind: kind if kind == 'outside MPI' else sort_of(kind))
        if sites != functions or sorts != whole_by('sort', lambda kind: kind) or len(functions) <= len(sorts):
            problems.append(f'sites, functions and sorts do not add up: {sites}, {functions}, {sorts}')

        # Without times of calls the whole run is what the summary says.
        for timing, axis in (('stats', 'estimated'), ('stats-gaps', 'estimated'), ('off', 'calls')):
            cairn('record', '-q', '-f', '--timing', timing, '-o', 'out.cairn', '--', bench.mpiexec, '-n', str(RANKS),
                  bench.program)
            summary = json.loads(cairn('summary', '--json', 'out.cairn').stdout)['lines']
            for words in ((), ('--lines', '1'), ('--classes',), ('--columns', '1')):
                done = cairn('timeline', '--json', '--by', 'function', *words, 'out.cairn')
                strip = json.loads(done.stdout)
                if strip['axis'] != axis or done.stderr:
                    problems.append(f'{timing}: {strip["axis"]}, {done.stderr}')
                told = totals(strip)
                for line in summary:
                    truth = line['calls'] * 1000 if axis == 'calls' else round(line['seconds'] * 1e9)
                    if abs(told.get(line['function'], 0) - truth) > RANKS * RANKS + 1e-9 * truth:
                        problems.append(f'{timing} {words}: {line["function"]}: {told.get(line["function"])} for {truth}')
            done = cairn('timeline', 'out.cairn')
            text = done.stdout.splitlines()[1]
            if done.returncode != 0 or done.stderr or ('estimated' if axis == 'estimated' else 'has no times') not in text:
                problems.append(f'{timing}: {done}')
            middle = strip['end_ns'] // 2
            half = json.loads(cairn('timeline', '--json', '--time', f'0s+{middle}ns', '--columns', '1', 'out.cairn').stdout)
            if half['edges_ns'] != [0, middle] or sum(totals(half).values()) < RANKS * middle * 0.9:
                problems.append(f'{timing}: half of it: {half}')
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
