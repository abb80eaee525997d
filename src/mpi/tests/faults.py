#!/usr/bin/env python3
"""Records faults.c, which makes faults that are marked in its source, and holds what `cairn check` finds against the marks.

    faults.py --build BUILD --mpi mpich|openmpi [--hangs KIND,…] PROGRAM

With --hangs the ranks wait for each other until they are interrupted. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import surroundings

SOURCE = pathlib.Path(__file__).resolve().parent / 'faults.c'
LINES = {name: number for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
         for name in re.findall(r'// ([\w ]+)$', line)}
RANKS = 3
PATIENCE = 60  # seconds

# Kind, where, with what, on which ranks, how often, and what is said.
ALL = [0, 1, 2]
TWICE = 'what it writes to has bytes that overlap: parts of its datatype, or for its ranks'
EXPECTED = [
    ('leaks', 'lost comm', None, ALL, 3, 'the communicator is never freed'),
    ('leaks', 'lost group', None, ALL, 3, 'the group is never freed'),
    ('leaks', 'lost groups', None, ALL, 15, 'the group is never freed'),
    ('leaks', 'lost op', None, ALL, 3, 'the operator is never freed'),
    ('leaks', 'lost info', None, ALL, 3, 'the info object is never freed'),
    ('leaks', 'lost handler', None, ALL, 3, 'the error handler is never freed'),
    ('leaks', 'lost key', None, ALL, 3, 'the keyval is never freed'),
    ('leaks', 'lost buffer', None, ALL, 3, 'the buffer is never detached'),
    ('leaks', 'lost persistent', None, ALL, 3, 'the request is never freed'),
    ('leaks', 'lost type', None, ALL, 6, 'the datatype is never freed'),
    ('leaks', 'lost request', None, ALL, 3, 'the request is never completed'),
    ('leaks', 'lost comms', None, ALL, 12, 'the communicator is never freed'),
    ('leaks', 'nobody sends', None, [1], 1, 'the request is never completed'),
    ('leaks', 'nobody at all sends', None, [2], 1, 'the request is never completed'),
    ('arguments', 'by that', None, ALL, 3, 'returned MPI_ERR_TYPE'),
    ('handles', 'by that', 'not committed', ALL, 3, 'the datatype that the other call made is not committed'),
    ('arguments', 'negative count', None, ALL, 3, 'count is -3, returned MPI_ERR_COUNT'),
    ('arguments', 'no such rank', None, ALL, 3, 'dest is 4 in a communicator of 3, returned MPI_ERR_RANK'),
    ('arguments', 'negative tag', None, ALL, 3, 'tag is -7, returned MPI_ERR_TAG'),
    ('arguments', 'no such root', None, ALL, 3, 'root is 3 in a communicator of 3, returned MPI_ERR_ROOT'),
    ('arguments', 'short room', None, ALL, 3, 'returned MPI_ERR_TRUNCATE'),
    ('truncation', 'long message', 'short room', ALL, 3, 'rank 0 sends 4 MPI_INT, rank 0 has room for 2 MPI_INT'),
    ('types', 'ints', 'floats', [0], 1, 'rank 0 sends 4 MPI_INT, rank 1 has room for 4 MPI_FLOAT'),
    ('types', 'pair', 'three', [0], 1, 'rank 0 sends {1 MPI_INT, 2 MPI_FLOAT}, rank 1 has room for 3 MPI_INT'),
    ('types', 'bytes', 'one int', [0], 1, 'rank 0 sends 4 MPI_BYTE, rank 1 has room for 1 MPI_INT'),
    ('types', 'bcast ints', 'bcast floats', [0], 1, 'rank 0 gives 4 MPI_INT, rank 1 expects 4 MPI_FLOAT'),
    ('types', 'gather floats', 'gather ints', [1], 1, 'rank 1 gives 2 MPI_FLOAT, rank 0 expects 2 MPI_INT'),
    ('messages', 'nobody receives', None, [0], 1, 'the message to rank 1 (tag 1, comm(4@0)) is never received'),
    ('messages', 'nobody sends', None, [1], 1, 'the receive from rank 2 (tag 1, comm(4@0)) gets no message'),
    ('messages', 'nobody at all sends', None, [2], 1, 'the receive from anybody (tag 6, comm(4@0)) gets no message'),
    ('messages', 'started', None, [0], 1, 'the receive from rank 1 (tag 8, comm(4@0)) gets no message'),
    ('buffers', 'another receive', 'one receive', ALL, 3, 'writes to memory that the other is still to write to: 4 bytes'),
    ('buffers', 'send of it', 'another receive', ALL, 3, 'reads memory that the other is still to write to: 4 bytes'),
    ('buffers', 'received there', 'to be sent', ALL, 3, 'writes to memory that the other is still to read: 4 bytes'),
    ('buffers', 'given by another', 'not sent yet', [0, 2], 2, 'writes to memory that the other is still to read: 4 bytes'),
    ('buffers', 'across them', 'two columns', ALL, 3, 'writes to memory that the other is still to write to: 4 bytes'),
    ('buffers', 'the last of them', 'parts of all', ALL, 3, 'writes to memory that the other is still to write to: 4 bytes'),
    ('buffers', 'places of parts', None, ALL, 3, TWICE),
    ('buffers', 'twice', None, ALL, 3, TWICE),
    ('buffers', 'both ways', None, ALL, 3, 'it reads memory that it writes to: 4 bytes'),
    ('collectives', 'bcast', 'gather', [0], 1, 'members of comm(10@0) make different calls: rank 0 this one, rank 1 the other'),
    ('collectives', 'root 0', 'other root', [0], 1, 'ranks 0 and 1 of comm(11@0) name different roots, 0 and 1'),
    ('collectives', 'sum', 'max', [0], 1, 'ranks 0 and 1 of comm(12@0) use different operators, MPI_SUM and MPI_MAX'),
    ('types', 'ints to others', 'floats of others', [0], 1, 'rank 0 gives 4 MPI_INT, rank 1 expects 4 MPI_FLOAT'),
    ('collectives', 'sum of others', 'max of others', [1], 1, 'ranks 1 and 2 of comm(between) use different operators, MPI_SUM and MPI_MAX'),
    ('collectives', 'alone', None, [0], 1, 'none of ranks 1-2 makes it on comm(13@0)'),
]
# Of windows, and what Open MPI refuses by itself.
EXPECTED += [
    ('windows', 'both put', 'both put', [1], 1, "rank 1 puts 4 bytes of rank 0's memory that rank 2 puts, too, between the same fences"),
    ('windows', 'got', 'put there', [0], 1, "rank 0 gets 4 bytes of rank 1's memory that rank 2 puts, too, between the same fences"),
    ('windows', 'once', 'once more', [2], 1, "rank 2 puts 4 bytes of rank 1's memory that rank 2 puts, too, between the same fences"),
    ('windows', 'in one exposure', 'in one exposure', [1], 1,
     "rank 1 puts 4 bytes of rank 0's memory that rank 2 puts, too, between the same MPI_Win_post and MPI_Win_wait"),
    ('windows', 'not flushed', 'got before that', [1], 1,
     "rank 1 puts 4 bytes of rank 2's memory that rank 1 gets, too, without a flush between them"),
]
TIMED = [
    ('windows', 'by shared locks', 'by shared locks', [1], 1,
     "rank 1 puts 4 bytes of rank 0's memory that rank 2 puts, too, at the same time"),
]
BEYOND = {
    'mpich': [
        ('windows', 'beyond', None, [0], 1, "rank 0 puts what ends 4 bytes behind rank 1's part of the window, which has 32 bytes"),
        ('windows', 'beyond by lock', None, ALL, 6, "rank 0 gets what ends 4 bytes behind rank 1's part of the window, which has 32 bytes"),
    ],
    'openmpi': [
        ('arguments', 'beyond', None, [0], 1, 'returned MPI_ERR_RMA_RANGE'),
        ('arguments', 'beyond by lock', None, ALL, 6, 'returned MPI_ERR_RMA_RANGE'),
    ],
}
# What a library that does not see it leaves open.
HANDLES = [
    ('handles', 'stale type', 'freed type', ALL, 3, 'the datatype was freed before, perhaps by the other call, or never made'),
    ('handles', 'stale group', 'freed group', ALL, 3, 'the group was freed before, perhaps by the other call, or never made'),
]


def at(function, mark):
    return f'MPI_{function} at faults.c:{LINES[mark]}'


def around(function, mark):
    return (f'rank 0 in {at(function, mark)} waits for rank 1, which is in {at(function, mark)} and waits for rank 2, which is '
            f'in {at(function, mark)} and waits for rank 0')


def buffered(function, mark):
    return (f'the message from rank 0 to rank 1 has to be buffered: rank 1 is in {at(function, mark)} and waits for rank 2, '
            f'which is in {at(function, mark)} and waits for rank 0')


EXPECTED += [
    ('buffering', 'ring', 'ring', ALL, 4, buffered('Send', 'ring')),
    ('buffering', 'ring of waits', 'ring of waits', ALL, 1, buffered('Wait', 'ring of waits')),
    ('buffering', 'ahead', 'meeting first', [0, 1], 1, 'the message from rank 0 to rank 1 has to be buffered: rank 1 is in '
     f'{at("Barrier", "meeting first")} and waits for rank 0'),
    ('buffering', 'to itself', None, ALL, 3, 'rank 0 sends to itself, and posts the receive later'),
]
ROOTS = [
    ('buffering', 'ahead of root', 'root first', [0, 1], 1, 'the message from rank 0 to rank 1 has to be buffered: rank 1 is in '
     f'{at("Bcast", "root first")} and waits for rank 0'),
]
# Of a run that MPI ended.
ENDED = [
    ('truncation', 'too long', 'room', [0], 1, 'rank 0 sends 4 MPI_INT, rank 1 has room for 2 MPI_INT'),
    ('truncation', 'too long as well', 'room of any', [2], 1, 'rank 2 sends 5 MPI_INT, rank 1 has room for 3 MPI_INT'),
]
# By kind: ranks and texts.
HANGS = {
    'cycle': [(ALL, around('Recv', 'cycle'))],
    'star': [([0, 1], f'rank 0 in {at("Recv", "centre")} waits for rank 1, which is in {at("Ssend", "point")} and waits for '
              'rank 0; rank 2 waits for them')],
    'barrier': [([0, 1], f'rank 0 in {at("Recv", "before barrier")} waits for rank 1, which is in {at("Barrier", "meeting")} '
                 'and waits for rank 0; rank 2 waits for them')],
    'probes': [([0, 1], f'rank 0 in {at("Probe", "probe")} waits for rank 1, which is in {at("Ssend", "of another tag")} and '
                'waits for rank 0; rank 2 waits for them')],
    'gone': [([0], f'rank 0 in {at("Recv", "left behind")} waits for rank 2, which has called {at("Finalize", "gone")}')],
    'waits': [([0, 1], f'rank 0 in {at("Waitany", "waitany")} waits for rank 1, which is in {at("Waitall", "waitall")} and '
               'waits for rank 0; rank 2 waits for them')],
    'moving': [],
}


def key_of(finding):
    where = [finding[name]['line'] if finding[name] else None for name in ('call', 'other_call')]
    # One between two groups is named by the run.
    text = re.sub(r'comm\(Intercomm_create [^)]*\)', 'comm(between)', finding['text'])
    return finding['kind'], *where, finding['ranks'], finding['count'], text


def compare(found, expected):
    problems = []
    expected = [(kind, LINES[mark], LINES[other] if other else None, *more) for kind, mark, other, *more in expected]
    found = [key_of(each) for each in found]
    problems += [f'not found: {each}' for each in expected if each not in found]
    problems += [f'found as well: {each}' for each in found if each not in expected]
    return problems


def check_all(bench, folder):
    done = bench.run_in(folder, 'record', '-q', '--timing', 'lossless', '-o', 'out.cairn', '--', bench.mpiexec, '-n', str(RANKS),
                        bench.program, 'all')
    if done.returncode != 0 or 'ok' not in done.stdout:
        return [f'record: {done}']
    done = bench.run_in(folder, 'check', '--json', 'out.cairn')
    if done.returncode != 1 or done.stderr:
        return [f'check: {done}']
    told = json.loads(done.stdout)
    problems = compare([each for each in told['findings'] if each['sure']], EXPECTED + TIMED + BEYOND[bench.mpi])
    problems += compare([each for each in told['findings'] if not each['sure']], ROOTS + (HANDLES if bench.mpi == 'mpich' else []))
    if told['not_judged'] or told['more']:
        problems.append(f'not judged: {told["not_judged"]}')
    # Without times nobody knows what was at one time.
    untimed = bench.run_in(folder, 'repack', '--timing', 'off', '-o', 'untimed.cairn', 'out.cairn')
    told_less = json.loads(bench.run_in(folder, 'check', '--json', '--kinds', 'windows', 'untimed.cairn').stdout)
    problems += compare(told_less['findings'], [each for each in EXPECTED + BEYOND[bench.mpi] if each[0] == 'windows'])
    if not told_less['not_judged'][0].endswith('accesses by shared locks have no times that can be compared: they are not judged against those of other ranks'):
        problems.append(f'{untimed}: {told_less["not_judged"]}')
    first = next(each for each in told['findings'] if each['call']['line'] == LINES['lost type'])['first']
    dump = bench.run_in(folder, 'dump', '--jsonl', '--rank', '0', 'out.cairn').stdout.splitlines()
    made = next((call for call in map(json.loads, dump) if call.get('index') == first['call']), {})
    if first['rank'] != 0 or made.get('function') != 'MPI_Type_contiguous':
        problems.append(f'the lost type is of {first}, {made}')
    # Kinds by themselves find the same; what the trace does not hold is found by none.
    kinds = {each['kind'] for each in told['findings']}
    for kind in sorted(kinds):
        alone = json.loads(bench.run_in(folder, 'check', '--json', '--kinds', kind, 'out.cairn').stdout)
        if alone['findings'] != [each for each in told['findings'] if each['kind'] == kind]:
            problems.append(f'{kind} alone: {alone["findings"]}')
    done = bench.run_in(folder, 'check', '--kinds', 'deadlock', 'out.cairn')
    if done.returncode != 0 or done.stdout != 'nothing found\n':
        problems.append(f'deadlock: {done}')
    done = bench.run_in(folder, 'check', '--kinds', 'leaks', '--rank', '2', '--limit', '1', 'out.cairn')
    if done.returncode != 1 or done.stdout.count('leaks: ') != 1 or not done.stdout.endswith('13 faults\n'):
        problems.append(f'leaks of rank 2: {done}')
    return problems


def check_ended(bench, folder):
    done = bench.run_in(folder, 'record', '-q', '-o', 'ended.cairn', '--', bench.mpiexec, '-n', str(RANKS), bench.program,
                        'truncation')
    if done.returncode == 0:
        return [f'nothing was truncated: {done}']
    done = bench.run_in(folder, 'check', '--json', 'ended.cairn')
    if done.returncode != 1:
        return [f'check of a run that ended by truncation: {done}']
    return compare(json.loads(done.stdout)['findings'], ENDED)


def hang(bench, folder, kind):
    """Records until all that wait are seen to, then interrupts; gives the trace's findings."""
    waiting = 2 if kind == 'moving' else RANKS
    command = [bench.cairn, 'record', '-q', '-o', f'{kind}.cairn', '--', bench.mpiexec, '-n', str(RANKS), bench.program, kind]
    process = subprocess.Popen(command, cwd=folder, env=dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    begin = time.monotonic()
    inside = 0
    while inside < waiting and time.monotonic() - begin < PATIENCE:
        time.sleep(0.1)
        peek = bench.run_in(folder, 'peek', '--json', f'{kind}.cairn')
        jobs = json.loads(peek.stdout)['jobs'] if peek.returncode == 0 else []
        inside = len({rank for job in jobs for each in job['pending'] for rank in each['ranks']
                      if each['inside'] and each['function'] != 'MPI_Init'})
    os.killpg(process.pid, signal.SIGINT)
    try:
        said = process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return [f'{kind}: no end']
    if inside < waiting:
        return [f'{kind}: {inside} ranks waited']
    done = bench.run_in(folder, 'check', '--json', f'{kind}.cairn')
    if done.returncode not in (0, 1):
        return [f'{kind}: {done}; {said}']
    told = json.loads(done.stdout)
    found = [(each['ranks'], each['text']) for each in told['findings'] if each['kind'] == 'deadlock']
    problems = [] if found == HANGS[kind] else [f'{kind}: found {found}, not {HANGS[kind]}']
    others = [each for each in told['findings'] if each['kind'] != 'deadlock']
    if others or done.returncode != (1 if found else 0):
        problems.append(f'{kind}: found as well: {others}, exit status {done.returncode}')
    if len(told['not_judged']) != 1 or 'did not reach the end of MPI_Finalize' not in told['not_judged'][0]:
        problems.append(f'{kind}: not judged: {told["not_judged"]}')
    return problems


def main():
    hangs = []
    if '--hangs' in sys.argv:
        place = sys.argv.index('--hangs')
        hangs = sys.argv[place + 1].split(',')
        del sys.argv[place:place + 2]
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        if not hangs:
            problems += check_all(bench, folder)
            problems += check_ended(bench, folder)
        for kind in hangs:
            problems += hang(bench, folder, kind)
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
