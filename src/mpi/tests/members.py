#!/usr/bin/env python3
"""Records members.c, whose ranks say who is in each communicator and from whom each message came, and holds that against
what `cairn info --communicators` and `cairn dump --world` say.

    members.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import surroundings

RANKS = 6


def sources(calls):
    """The sources that the statuses of one rank's calls name, in order; what a call asked for where a status says so."""
    for call in calls:
        arguments = call['args']
        for name in ('status', 'array_of_statuses'):
            statuses = arguments.get(name)
            if call['function'] == 'MPI_Mprobe':  # the message is received by the next call
                continue
            for status in statuses if isinstance(statuses, list) else [statuses]:
                if isinstance(status, dict) and isinstance(status.get('source'), (int, str)):
                    if status['source'] != 'implied':
                        yield status['source']


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        trace = pathlib.Path(folder, 'out.cairn')
        log = pathlib.Path(folder, 'log')
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder)
        done = subprocess.run([bench.cairn, 'record', '--oracle', log, '-o', trace, '--', bench.mpiexec, '-n', str(RANKS),
                               bench.program], cwd=folder, env=env, timeout=120, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f'status {done.returncode}: {done.stdout}{done.stderr}')

        said = ''.join(pathlib.Path(folder, f'said.{rank}').read_text() for rank in range(RANKS))

        def cairn_says(*words):
            return subprocess.run([bench.cairn, *words, trace], check=True, capture_output=True, text=True).stdout
        cairn_says('verify', '--against', log)
        told = json.loads(cairn_says('info', '--communicators', '--json'))['communicators']
        if (count := json.loads(cairn_says('info', '--json'))['communicators']) != len(told):
            problems.append(f'info counts {count} communicators, and lists {len(told)}')
        of_rank = {rank: json.loads(cairn_says('info', '--communicators', '--json', '--rank', str(rank)))['communicators']
                   for rank in range(RANKS)}
        # Of each communicator, as many calls as there are with its name, although another had its number before.
        named = collections.Counter()
        for line in cairn_says('dump', '--jsonl').splitlines()[1:]:
            values = [json.loads(line)['args'].get(key) for key in ('comm', 'newcomm', 'local_comm', 'newintercomm', 'intercomm',
                                                                     'newintracomm', 'comm_old', 'comm_cart', 'peer_comm')]
            named.update({value['comm'] if isinstance(value, dict) else value for value in values} - {None})
        for each in told:
            counted = json.loads(cairn_says('summary', '--json', '--comm', each['name'].removeprefix('comm(').removesuffix(')')))
            if counted['calls'] != named[each['name']] or not counted['calls']:
                problems.append(f'{each["name"]}: summary counts {counted["calls"]} calls, dump {named[each["name"]]}')
        (moved,) = json.loads(cairn_says('summary', '--json', '--function', 'MPI_Alltoall'))['lines']
        if moved['bytes'] != 4 * (2 * 2 + (RANKS - 2) ** 2) or moved['calls_of_unknown_size']:
            problems.append(f'an int to each of a communicator, told {moved}')
        calls = collections.defaultdict(list)
        for line in cairn_says('dump', '--world', '--jsonl').splitlines()[1:]:
            call = json.loads(line)
            calls[call['rank']].append(call)

    wanted = collections.defaultdict(collections.Counter)
    got = collections.defaultdict(list)
    for line in said.splitlines():
        if found := re.fullmatch(r'comm (\d+): (.*)', line):
            groups = [[int(rank) for rank in group.split()] for group in found[2].split('|')]
            groups.sort(key=min)  # that of the smallest rank comes first
            wanted[int(found[1])][json.dumps(groups)] += 1
        elif found := re.fullmatch(r'got (\d+): (\d+)', line):
            got[int(found[1])].append(int(found[2]))
    if len(wanted) != RANKS or not all(got.values()):
        problems.append(f'the program did not say all: {said}')

    names = [each['name'] for each in told]
    if len(names) != len(set(names)):
        problems.append(f'several communicators of one name: {names}')
    if not all(each['complete'] for each in told):
        problems.append(f'not complete: {told}')
    for rank in range(RANKS):
        found = collections.Counter(json.dumps(each['groups']) for each in of_rank[rank] if each['function'])
        if found != wanted[rank]:
            problems.append(f'rank {rank} is in {sorted(wanted[rank].items())}, told {sorted(found.items())}')
        seen = list(sources(calls[rank]))
        # Of a source that the call asked for there is no status; all of the program's ask for any.
        if seen != got[rank]:
            problems.append(f'rank {rank} got messages from {got[rank]}, told {seen}')
        here = [name for name in (call['args'].get('comm') for call in calls[rank]) if name and name.startswith('comm(')]
        unknown = set(here) - set(names)
        if unknown or not here:
            problems.append(f'rank {rank} calls with {unknown}, which info does not list')
        posted = [[call['args']['request'] for call in calls[rank] if call['function'] == name and call['args']['tag'] == 1]
                  for name in ('MPI_Irecv', 'MPI_Isend')]
        if not posted[0] or set(posted[0]) & set(posted[1]):
            problems.append(f'rank {rank}: requests of two call sites on one line are called {posted}')
        sent = [call['args']['dest'] for call in calls[rank] if call['function'] in ('MPI_Send', 'MPI_Isend', 'MPI_Sendrecv')]
        if not all(isinstance(to, int) for to in sent):
            problems.append(f'rank {rank} sends to {sent}')
    received = collections.Counter(source for ranks in got.values() for source in ranks)
    sent = {rank: sum(call['function'] in ('MPI_Send', 'MPI_Isend', 'MPI_Sendrecv') for call in calls[rank])
            for rank in range(RANKS)}
    if dict(received) != sent:
        problems.append(f'messages received by sender {received}, sent {sent}')
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
