#!/usr/bin/env python3
"""Records programs, writes them as actions for SimGrid, and holds these against the calls that were recorded; where
SimGrid is installed, it replays them, and must find the faults that are made on purpose.

    simgrid.py --build BUILD --mpi mpich|openmpi FOLDER

It also runs programs of bench/patterns under SimGrid itself, which simulates MPI for living programs, too: what was
recorded under another MPI must take as long there as the program does.

FOLDER has the compiled programs of this folder and of bench/patterns. Exit status: 0 passed, 1 failed, 77 not possible
here.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import surroundings

RANKS = 3
# Each program's words; whether its messages are held against its calls, which is not done where requests are persistent
# or partitioned.
PROGRAMS = [
    ('p2p_modes', [], True), ('p2p_probe', [], False), ('p2p_persistent', [], False), ('completion', [], False),
    ('coll_blocking', [], True), ('coll_nonblocking', [], True), ('coll_persistent', [], True), ('coll_inter', [], True),
    ('comm_manage', [], True), ('topologies', [], True), ('partitioned', [], False), ('waitany', ['10', '1'], True),
    ('wavefront', ['10'], True), ('workers', ['40'], True), ('fan', ['10'], True), ('tree', ['5', 'irregular'], True),
]
# What takes the same time each time, and what messages collective operations become is not asked.
ALIVE = [('latency', ['4', '65536']), ('bandwidth', ['pairs', '2', '65536']), ('tags', ['40']), ('fan', ['10']), ('tree', ['5']),
         ('rebalance', ['10'])]
ANY_TAG = -444  # SMPI's
UNITS = {None: 1, '27': 32}


def actions_of(folder):
    """The actions of each rank, as lists of words."""
    ranks = {}
    for file in pathlib.Path(folder, 'ranks.txt').read_text().splitlines():
        lines = [line.split() for line in pathlib.Path(file).read_text().splitlines() if not line.startswith('#')]
        ranks[int(lines[0][0])] = [words[1:] for words in lines]
    return ranks


def unmatched(ranks):
    """What is wrong with the messages: sent and not received, the other way round, or larger than the room for them."""
    queues = collections.defaultdict(lambda: ([], []))
    wild = collections.Counter()  # receives that stay so, by rank: the program ignored what they heard
    for rank, actions in ranks.items():
        for words in actions:
            kind = words[0].removeprefix('i')
            if kind not in ('send', 'recv'):
                continue
            peer, tag = int(words[1]), int(words[2])
            if kind == 'recv' and (peer < 0 or tag == ANY_TAG):
                wild[rank] += 1
                continue
            size = int(words[3]) * UNITS[words[4] if len(words) > 4 else None]
            ends = (rank, peer) if kind == 'send' else (peer, rank)
            queues[*ends, tag][kind == 'recv'].append(size)
    for channel, (sent, room) in queues.items():
        left = len(sent) - len(room)
        if left > 0 and wild[channel[1]] >= left:
            wild[channel[1]] -= left
        elif left != 0:
            yield f'{channel}: {len(sent)} sent, {len(room)} received'
        for size, most in zip(sent, room):
            if size > most:
                yield f'{channel}: {size} bytes for {most}'
    yield from (f'rank {rank}: {count} receives of nothing' for rank, count in wild.items() if count)


def sent_by_calls(cairn, trace):
    """Messages of the program, by sender and receiver, and their bytes, from the calls themselves."""
    dumped = subprocess.run([cairn, 'dump', '--world', '--jsonl', trace], check=True, capture_output=True, text=True).stdout
    counts, size = collections.Counter(), 0
    for line in dumped.splitlines()[1:]:
        call = json.loads(line)
        to = call['args'].get('dest')
        if isinstance(to, int) and '_init' not in call['function'] and call['return'] == 'MPI_SUCCESS':
            counts[call['rank'], to] += 1
            if not call['function'].startswith('MPI_Sendrecv'):  # whose bytes are those of both
                size += call['bytes']
    return counts, size


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    simulates = shutil.which('smpirun') is not None

    def cairn_says(*words):
        return subprocess.run([bench.cairn, *words], capture_output=True, text=True, env=bench.environment, timeout=100,
                              stdin=subprocess.DEVNULL)

    def record(folder, program, words, ranks=RANKS, timing='lossless'):
        trace = pathlib.Path(folder, f'{program}.{ranks}.{timing}.cairn')
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder)
        done = subprocess.run([bench.cairn, 'record', '--timing', timing, '-o', trace, '--', 'timeout', '60', bench.mpiexec,
                               '-n', str(ranks), pathlib.Path(bench.program, program), *words], cwd=folder, env=env,
                              timeout=100, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f'{program}: status {done.returncode}: {done.stdout}{done.stderr}')
        return trace

    def written(trace, name, *options):
        made = trace.with_name(name)
        done = cairn_says('export', '--to', 'simgrid', '-o', made, *options, trace)
        if done.returncode != 0:
            sys.exit(f'{name}: {done.stderr}')
        return made, done

    def replayed(folder, ranks, *options):
        """What smpirun gives for an exported folder."""
        platform = pathlib.Path(folder, 'platform.xml')
        platform.write_text("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                            '<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-15" speed="1Gf" '
                            'bw="1GBps" lat="1us"/></platform>\n')
        done = subprocess.run(['smpirun', '-no-privatize', '-np', str(ranks), '-platform', platform, *options, '-replay',
                               pathlib.Path(folder, 'ranks.txt')], cwd=folder, capture_output=True, text=True, timeout=100,
                              stdin=subprocess.DEVNULL)
        said = done.stdout + done.stderr
        return done.returncode == 0 and 'Simulation time' in said and 'CRITICAL' not in said, said

    def takes(folder, said, *words):
        done = subprocess.run(['smpirun', '-np', '4', '-platform', pathlib.Path(folder, 'platform.xml'), *words], cwd=folder,
                              capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
        found = re.search(said + r' ([0-9.e-]+)', done.stdout + done.stderr)
        return float(found[1]) if found else done.stderr

    def compare_with_the_living(folder):
        source = pathlib.Path(__file__).resolve().parents[3] / 'bench/patterns'
        for program, words in ALIVE:
            subprocess.run(['smpicc', '-O1', '-w', '-o', program, source / f'{program}.c'], cwd=folder, check=True)
            made, _ = written(record(folder, program, words, ranks=4, timing='stats'), f'{program}.lines', '--no-gaps')
            replayed(made, 4)  # which writes the platform
            (made / 'platform.xml').rename(pathlib.Path(folder, 'platform.xml'))
            alive = takes(folder, 'Simulated time:', '--cfg=smpi/simulate-computation:no', '--cfg=smpi/display-timing:yes',
                          f'./{program}', *words)
            again = takes(folder, 'Simulation time', '-no-privatize', '-replay', made / 'ranks.txt')
            if not isinstance(alive, float) or not isinstance(again, float) or abs(alive - again) > alive / 500 + 2e-6:
                problems.append(f'{program}: {alive} s under SimGrid, {again} s as a trace')

    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        if simulates and shutil.which('smpicc'):
            compare_with_the_living(folder)
        for program, words, held in PROGRAMS:
            trace = record(folder, program, words)
            made, done = written(trace, f'{program}.actions')
            ranks = actions_of(made)
            if len(ranks) != RANKS or any(each[0] != ['init'] or each[-1] != ['finalize'] for each in ranks.values()):
                problems.append(f'{program}: not {RANKS} ranks from init to finalize')
            problems += [f'{program}: {each}' for each in list(unmatched(ranks))[:5]]
            if 'does not know' in done.stderr or 'does not tell' in done.stderr:
                problems.append(f'{program}: {done.stderr}')
            if held:
                told = collections.Counter((rank, int(words[1])) for rank, actions in ranks.items() for words in actions
                                           if words[0] in ('send', 'isend') and int(words[2]) >= 0)
                wanted, size = sent_by_calls(bench.cairn, trace)
                if told != wanted:
                    problems.append(f'{program}: {sum(told.values())} messages instead of {sum(wanted.values())}')
                if size > sum(int(words[3]) for actions in ranks.values() for words in actions
                              if words[0] in ('send', 'isend') and int(words[2]) >= 0):
                    problems.append(f'{program}: fewer bytes than {size}')
            if not simulates:
                continue
            done = cairn_says('replay', '--simulate', 'ideal', '--scratch', folder, trace)
            if done.returncode != 0 or 'SimGrid found no fault' not in done.stdout:
                problems.append(f'{program}: {done.stdout}{done.stderr}')
            if list(pathlib.Path(folder).glob('cairn-simulate-*')):
                problems.append(f'{program}: the folder of the simulation is still there')

        # The checkers can fail.
        trace = record(folder, 'exchange', [], ranks=2)
        for what, kind, options in (('a send', 'isend', []), ('a receive', 'recv', ['--cfg=smpi/send-is-detached-thresh:0'])):
            made, _ = written(trace, f'without_{kind}', '--no-gaps')
            if any(words[0] == 'compute' for actions in actions_of(made).values() for words in actions):
                problems.append('there is computing without gaps')
            if simulates and not replayed(made, 2, *options)[0]:
                problems.append(f'SimGrid does not take the exchange: {replayed(made, 2, *options)[1]}')
            file = made / 'rank-1.txt'
            lines = file.read_text().splitlines(keepends=True)
            gone = [i for i, line in enumerate(lines) if line.split()[1] == kind][50]
            file.write_text(''.join(lines[:gone] + lines[gone + 1:]))
            if not list(unmatched(actions_of(made))):
                problems.append(f'nobody finds that {what} is missing')
            if simulates and replayed(made, 2, *options)[0]:
                problems.append(f'SimGrid does not find that {what} is missing')
        made, _ = written(trace, 'truncated')
        file = made / 'rank-0.txt'
        file.write_text(file.read_text().replace(' 40\n', ' 3\n'))
        if not list(unmatched(actions_of(made))):
            problems.append('nobody finds that a receive has no room')
        if simulates and replayed(made, 2)[0]:
            problems.append('SimGrid does not find that a receive has no room')

        # Nothing is overwritten.
        done = cairn_says('export', '--to', 'simgrid', '-o', made, trace)
        if done.returncode != 2 or 'is not empty' not in done.stderr:
            problems.append(f'a folder that was there: {done.returncode} {done.stderr}')

        # What was computed is there, in flops of the host.
        for speed in '1e9', '2e9':
            made, _ = written(trace, f'at_{speed}', '--speed', speed)
            flops = {rank: sum(float(words[1]) for words in actions if words[0] == 'compute')
                     for rank, actions in actions_of(made).items()}
            if speed == '1e9':
                first = flops
        if not all(first.values()) or any(abs(flops[rank] / first[rank] - 2) > 0.01 for rank in flops):
            problems.append(f'computed {first} flops, and {flops} on hosts that are twice as fast')
        trace = record(folder, 'wavefront', ['10'], timing='stats')
        made, done = written(trace, 'of_statistics')
        if 'equal parts' not in done.stderr or not any(words[0] == 'compute' for words in actions_of(made)[0]):
            problems.append(f'of statistics: {done.stderr}')

        # Who else is in a communicator of several runs is not known, although it looks as if it were.
        if bench.mpi == 'openmpi':
            trace = record(folder, 'spawn', [], ranks=2)
            made, done = written(trace, 'spawning')
            if 'left out: messages in communicators whose members the trace does not know: ' not in done.stderr:
                problems.append(f'spawn: {done.stderr}')
            problems += [f'spawn: {each}' for each in unmatched(actions_of(made))]

        # A truncation that the program made on purpose.
        trace = record(folder, 'drains', [], ranks=2)
        if simulates:
            done = cairn_says('replay', '--simulate', 'cluster', '--scratch', folder, trace)
            if done.returncode != 1 or 'MPI_ERR_TRUNCATE' not in done.stdout:
                problems.append(f'drains: {done.returncode} {done.stdout}')

    for problem in problems[:20]:
        print(problem)
    if not simulates:
        print('smpirun is not installed (libsimgrid-dev): nothing was simulated')
    print('failed' if problems else 'ok')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
