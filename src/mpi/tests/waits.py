#!/usr/bin/env python3
"""Records waits.c, whose ranks wait for each other for times that they write down, and holds what `cairn waits`, `path` and
`efficiency` say against what follows from those by the definitions: the kind, the lines of both calls, the time.

    waits.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import functools
import json
import pathlib
import sys
import tempfile

import surroundings

RANKS = 4
Call = collections.namedtuple('Call', 'line begin end')
# What scripts may be off by: 5 %, and what it takes to write down a time on a machine that does other things.
SHARE, SECONDS = 0.05, 0.0015


def read_calls(folder):
    """By phase and rank, in order."""
    calls = collections.defaultdict(lambda: collections.defaultdict(list))
    for rank in range(RANKS):
        for line in pathlib.Path(folder, f'said.{rank}').read_text().splitlines():
            phase, number, begin, end = line.split()
            calls[phase][rank].append(Call(int(number), float(begin), float(end)))
    return calls


def clamp(amount, call):
    return max(0.0, min(amount, call.end - call.begin))


def expected_waits(calls):
    """By kind and the lines of who waited and for what: the seconds."""
    sums = collections.Counter()

    def one(kind, victim, culprit):
        amount = clamp(culprit.begin - victim.begin, victim)
        if amount > 0:
            sums[kind, victim.line, culprit.line] += amount

    def last_of(phase, ranks):
        return max((calls[phase][rank][0] for rank in ranks), key=lambda call: call.begin)

    for phase in 'sender', 'sender_wait', 'started', 'probed', 'behind_alone':
        one('late sender', calls[phase][1][0], calls[phase][0][0])
    if 'partitions' in calls:
        one('late sender', calls['partitions'][1][0], calls['partitions'][0][0])
    for phase in 'order', 'behind':
        one('late sender, wrong order', calls[phase][1][0], calls[phase][0][0])
    for phase in 'receiver', 'receiver_wait', 'found':
        one('late receiver', calls[phase][0][0], calls[phase][1][0])
    one('late receiver', calls['receivers'][0][0], last_of('receivers', (1, 2, 3)))
    for rank in 1, 2, 3:
        one('late sender', calls['chain'][rank][0], calls['chain'][rank - 1][0 if rank == 1 else 1])
    one('late sender', calls['several'][0][0], last_of('several', (1, 2, 3)))
    for rank in range(RANKS):
        others = [other for other in range(RANKS) if other != rank]
        if rank != 2:
            one('late broadcast', calls['bcast'][rank][0], calls['bcast'][2][0])
        for phase in 'allreduce', 'dup', 'join', 'of_group', 'create', 'free':
            one('wait at N x N', calls[phase][rank][0], last_of(phase, others))
        for phase in 'fence', 'other_fence':
            one('wait at fence', calls[phase][rank][0], last_of(phase, others))
        for phase in 'barrier', 'after_alone':
            one('wait at barrier', calls[phase][rank][0], last_of(phase, others))
        one('wait at N x N', calls['nonblocking_wait'][rank][0], last_of('nonblocking', others))
        beside = (rank + 1) % RANKS, (rank - 1) % RANKS
        one('wait at neighbours', calls['neighbors'][rank][0], last_of('neighbors', beside))
        one('wait at neighbours', calls['later_neighbors_wait'][rank][0], last_of('later_neighbors', beside))
        one('wait at N x N', calls['between'][rank][0], last_of('between', (2, 3) if rank < 2 else (0, 1)))
        if rank > 1:
            one('late broadcast', calls['to_others'][rank][0], calls['to_others'][1][0])
        for turn in 'first', 'second':
            if f'{turn}_start' in calls:
                one('wait at barrier', calls[f'{turn}_wait'][rank][0], last_of(f'{turn}_start', others))
        if rank > 0:
            one('early scan', calls['scan'][rank][0], last_of('scan', range(rank)))
    for rank in 0, 2:
        # One of the two waits until it is let in.
        post = calls['post'][1][0]
        for phase in 'start', 'complete':
            call = calls[phase][rank][0]
            if call.end > post.begin:
                one('late post', call, post)
    # Who gave back what, and whether it was exclusive.
    unlocks = [(0, calls['give_back'][0][0], True), (1, calls['lock'][1][1], True), (2, calls['lock'][2][1], False)]
    for rank, exclusive in (1, True), (2, False):
        call = calls['lock'][rank][0]
        others = [unlock for other, unlock, alone in unlocks
                  if other != rank and (exclusive or alone) and call.begin < unlock.begin < call.end]
        if others:
            one('lock contention', call, max(others, key=lambda unlock: unlock.begin))
    one('early wait', calls['wait'][1][0], last_of('done', (0, 2)))
    one('early reduce', calls['reduce'][1][0], last_of('reduce', (0, 2, 3)))
    one('early reduce', calls['gather'][2][0], last_of('gather', (0, 1, 3)))
    return sums


def close(told, truth):
    return abs(told - truth) <= max(SHARE * truth, SECONDS)


def attempt(bench):
    problems = surroundings.Problems()
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        cairn = functools.partial(bench.run_in, folder)

        def tell(verb, *words):
            done = cairn(verb, '--json', *words, 'out.cairn')
            if done.returncode != 0 or done.stderr:
                sys.exit(f'{verb}: {done}')
            return json.loads(done.stdout)

        done = cairn('record', '-q', '--timing', 'lossless', '-o', 'out.cairn', '--', bench.mpiexec, '-n', str(RANKS),
                     bench.program)
        if done.returncode != 0 or done.stdout != 'ok\n':
            sys.exit(f'record: {done}')
        calls = read_calls(folder)
        truth = expected_waits(calls)
        if len(truth) < 30 or sum(truth.values()) < 1:
            problems.append(f'the program waited too little: {truth}')

        waits = tell('waits')
        told = {(line['kind'], line['in']['line'], (line['for'] or {}).get('line')): line['seconds'] for line in waits['lines']}
        lines = {call.line for phase in calls.values() for ranks in phase.values() for call in ranks}
        for key, seconds in truth.items():
            if seconds > SECONDS and not close(told.get(key, 0), seconds):
                problems.of_times.append(f'{key}: {seconds:.6f} s in truth, {told.get(key, 0):.6f} told')
        for key, seconds in told.items():
            if key[1] in lines and key[0].find('completion') < 0 and not close(seconds, truth.get(key, 0)):
                problems.of_times.append(f'{key}: {seconds:.6f} s told, {truth.get(key, 0):.6f} in truth')
        if waits['left_out'] != 0 or waits['reversed'] != 0:
            problems.append(f'left out: {waits["left_out"]}, reversed: {waits["reversed"]}')
        if not close(sum(line['seconds'] for line in waits['kinds'] if 'completion' not in line['kind']), waits['waited_seconds']):
            problems.append('the kinds do not add up')
        if not close(sum(rank['waited_seconds'] for rank in waits['ranks']), waits['waited_seconds']):
            problems.append('the ranks do not add up')
        if not close(sum(line['seconds'] for line in waits['causes']), waits['waited_seconds']):
            problems.append('the causes do not add up')

        # What is asked of some is what they have in the whole.
        of_ranks = [tell('waits', '--rank', str(rank)) for rank in range(RANKS)]
        for rank, told_of in enumerate(of_ranks):
            if told_of['ranks'][0]['waited_seconds'] != waits['ranks'][rank]['waited_seconds'] or len(told_of['ranks']) != 1:
                problems.append(f'of rank {rank} alone: {told_of["ranks"]}')
            if {line['longest_rank'] for line in told_of['lines']} - {rank}:
                problems.append(f'of rank {rank} alone: {told_of["lines"]}')
        for what in 'lines', 'causes':
            parts = sum(line['seconds'] for told_of in of_ranks for line in told_of[what])
            if abs(parts - sum(line['seconds'] for line in waits[what])) > 1e-6:
                problems.append(f'{what} of single ranks do not add up: {parts}')
        lines_of = {'--function': ('MPI_Recv', lambda line: line['in']['function'] == 'MPI_Recv'),
                    '--site': ('waits.c:%d' % calls['chain'][1][0].line, lambda line: line['in']['line'] == calls['chain'][1][0].line)}
        for option, (word, is_one) in lines_of.items():
            wanted = [line for line in waits['lines'] if is_one(line)]
            found = tell('waits', option, word)['lines']
            without_share = [{name: value for name, value in line.items() if name != 'share_of_run'} for line in found]
            if not wanted or without_share != [{name: value for name, value in line.items() if name != 'share_of_run'} for line in wanted]:
                problems.append(f'{option} {word}: {found}, and not {wanted}')
        end = waits['run_seconds'] / RANKS
        halves = [tell('waits', '--time', f'{begin:.9f}s+{end / 2:.9f}s')['lines'] for begin in (0, end / 2)]
        if not all(halves) or not all(sum(line['count'] for line in half) < sum(line['count'] for line in waits['lines']) for half in halves):
            problems.append(f'halves of the run: {halves}')
        done = cairn('waits', '--time', '5000s+1s', 'out.cairn')
        if done.returncode != 2 or 'begins behind the run; it ends' not in done.stderr or done.stderr.count('\n') != 1:
            problems.append(f'beyond the run: {done}')

        # All who wait along the chain wait for what rank 0 does before its call, once those between them wait as well.
        first = calls['chain'][0][0]
        came = [max(calls['chain'][lower][0].begin for lower in range(1, rank + 1)) for rank in (1, 2, 3)]
        truth_of_chain = sum(max(0.0, first.begin - moment) for moment in came)
        of_chain = [line for line in waits['causes'] if line['activity']['doing'] == 'outside' and
                    line['activity']['place']['line'] == first.line and line['rank'] == 0]
        if len(of_chain) != 1 or not close(of_chain[0]['seconds'], truth_of_chain):
            problems.of_times.append(f'the chain: {truth_of_chain:.6f} s in truth, told {of_chain}')

        # What has to do with no other rank is named, too.
        alone = calls['alone'][0][0]
        waiting = [calls['behind_alone'][1][0], calls['after_alone'][2][0], calls['after_alone'][3][0]]
        truth_of_alone = sum(alone.end - max(alone.begin, call.begin) for call in waiting)
        in_alone = [line for line in waits['causes'] if line['activity']['doing'] == 'inside' and line['rank'] == 0 and
                    line['activity']['place']['line'] == alone.line and line['activity']['place']['function'] == 'MPI_Reduce_local']
        if truth_of_alone < 0.12 or len(in_alone) != 1 or not close(in_alone[0]['seconds'], truth_of_alone):
            problems.of_times.append(f'MPI_Reduce_local: {truth_of_alone:.6f} s in truth, told {in_alone}')

        path = tell('path')
        if not any(line['activity']['doing'] == 'inside' and line['activity']['place']['line'] == alone.line and
                   close(line['seconds'], alone.end - alone.begin) for line in path['activities']):
            problems.of_times.append(f'MPI_Reduce_local is not on the path with {alone.end - alone.begin:.6f} s')
        if not close(path['path_seconds'], path['run_seconds']):
            problems.append(f'the path takes {path["path_seconds"]} of {path["run_seconds"]} s')
        outside = {line['activity']['place']['line']: line for line in path['activities'] if line['activity']['doing'] == 'outside'}
        for phase, rank, seconds in ('sender', 0, 0.06), ('chain', 0, 0.07), ('several', 2, 0.06), ('bcast', 2, 0.05):
            line = outside.get(calls[phase][rank][0].line)
            if line is None or line['rank'] != rank or line['seconds'] < seconds:
                problems.append(f'{phase} is on the path with {line}')

        efficiency = tell('efficiency')
        busy = [rank['outside_seconds'] for rank in waits['ranks']]
        for name, value in (('load_balance', sum(busy) / RANKS / max(busy)), ('parallel', sum(busy) / RANKS / path['run_seconds']),
                            ('communication', efficiency['serialisation'] * efficiency['transfer'])):
            if abs(efficiency[name] - value) > 0.001:
                problems.append(f'{name} is {efficiency[name]}, not {value}')
        # Ranks that take turns depend on each other; messages of a few bytes cost nothing beside that.
        slept = 0.06 + 0.08 + 0.05 + 0.07 + 0.06 + 0.04 + 9 * 0.045 + 7 * 0.04
        if not slept < efficiency['ideal_seconds'] <= efficiency['run_seconds'] or efficiency['serialisation'] > 0.8:
            problems.append(f'without messages it would take {efficiency["ideal_seconds"]} of {efficiency["run_seconds"]} s')

        # Without times of single calls.
        done = cairn('record', '-q', '-f', '-o', 'out.cairn', '--', bench.mpiexec, '-n', str(RANKS), bench.program)
        for verb in 'waits', 'path':
            done = cairn(verb, 'out.cairn')
            if done.returncode != 2 or 'no times of single calls' not in done.stderr or done.stderr.count('\n') != 1:
                problems.append(f'{verb} of statistics: {done}')
        done = cairn('efficiency', '--json', 'out.cairn')
        sums = json.loads(done.stdout)
        if sums['serialisation'] is not None or abs(sums['parallel'] - efficiency['parallel']) > 0.1:
            problems.of_times.append(f'efficiency of statistics: {sums}, of all times: {efficiency}')
    return problems


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.against_a_clock(lambda: attempt(bench))
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
