#!/usr/bin/env python3
"""Records relatives.c, whose jobs talk to those that they spawned, joins the traces, and holds what is told of them together
against what the processes themselves say that they received, and against each job's own trace.

    joined.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import csv
import json
import pathlib
import shutil
import sys
import tempfile

import surroundings

JOBS = [(0, 2, None), (2, 2, 0), (4, 2, 0), (6, 1, 3)]  # first rank, ranks, spawned by
LATE_S = 0.2  # rank 2 computes, before both of its parents hear of it
# Of which no process of another job is a member.
WORLDS = {'MPI_COMM_WORLD': [[0, 1]], '2:MPI_COMM_WORLD': [[2, 3]], '3:MPI_COMM_WORLD': [[4, 5]], '4:MPI_COMM_WORLD': [[6]]}
SHARED = {'comm(0@0)': [[0, 1], [2, 3]], 'comm(0@0.1)': [[0, 1, 2, 3]], 'comm(0@0.1.0 color 1)': [[3, 1]],
          'comm(1@0)': [[0, 1], [4, 5]], 'comm(1@0.1.0 color 0)': [[4, 0]], 'comm(2:self.0@1)': [[3], [6]],
          'comm(2:self.0@1.1)': [[3, 6]], 'comm(2:self.0@1.1.0 color 1)': [[6]]}


def main():
    bench = surroundings.Bench(__doc__)
    if bench.mpi != 'openmpi':
        sys.exit(77)  # MPICH cannot spawn under every launcher
    problems = surroundings.Problems()
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)

        def run(*words, fine=True):
            done = surroundings.launch([bench.cairn, *words], 100, cwd=folder, env=env)
            if fine and done.returncode != 0:
                sys.exit(f'{words}: status {done.returncode}: {done.stdout}{done.stderr}')
            return done

        def told(*words):
            return json.loads(run(*words).stdout)

        def refused(what, status, said, *words):
            done = run(*words, fine=False)
            problems.expect(what, (done.returncode, said in done.stderr, len(done.stderr.splitlines())), (status, True, 1))

        def check(timing):
            here = folder / timing
            shutil.rmtree(here, ignore_errors=True)
            here.mkdir()
            done = run('record', '-q', '--timing', timing, '-o', f'{timing}/run.cairn', '--', bench.mpiexec, '-n', '2', bench.program)
            received = collections.Counter(
                tuple(int(word) for word in line.split()[1:]) for line in done.stdout.splitlines() if line.startswith('got '))
            run('join', '-q', f'{timing}/run.cairn', '-o', f'{timing}/all.cairn')
            all_jobs = f'{timing}/all.cairn'

            info = told('info', '--json', all_jobs)
            jobs = [(job['first_rank'], job['ranks'], job['spawned_by_rank']) for job in info['jobs']]
            problems.expect(f'{timing}: jobs', jobs, JOBS)
            alone = [told('info', '--json', str(trace)) for trace in sorted(here.glob('run*.cairn'))]
            problems.expect(f'{timing}: calls', info['calls'], sum(each['calls'] for each in alone))
            members = {each['name']: (each['groups'], each['complete'])
                       for each in told('info', '--communicators', '--json', all_jobs)['communicators']}
            for communicator, ranks in {**WORLDS, **SHARED}.items():
                problems.expect(f'{timing}: {communicator}', members.get(communicator), (ranks, True))

            matrix = told('matrix', '--json', all_jobs)
            pairs = {(cell['from'], cell['to']): (cell['messages'], cell['bytes']) for cell in matrix['groups'][0]['cells']}
            wanted = {}
            for (sender, receiver, _, size), count in received.items():
                messages, size_of_all = wanted.get((sender, receiver), (0, 0))
                wanted[sender, receiver] = (messages + count, size_of_all + count * size)
            problems.expect(f'{timing}: matrix', pairs, wanted)
            findings = told('check', '--json', all_jobs)['findings']
            problems.expect(f'{timing}: check', findings, [])
            return received

        received = surroundings.again_where_launcher_waits(lambda: check('lossless'))
        surroundings.again_where_launcher_waits(lambda: check('stats'))

        # With the time of each call, every message.
        run('export', '--to', 'csv', 'lossless/all.cairn', '-o', 'tables')
        with open(folder / 'tables/messages.csv', encoding='utf-8') as table:
            messages = collections.Counter((int(row['sender']), int(row['receiver']), int(row['tag']), int(row['bytes']))
                                           for row in csv.DictReader(table))
        problems.expect('messages', messages, received)
        waits = told('waits', '--json', 'lossless/all.cairn')
        # On each of three intercommunicators that no call tells the members of, one each way.
        problems.expect('messages left out of waits', waits['left_out'], 6)
        late = [line for line in waits['lines'] if line['kind'] == 'late sender' and line['in']['function'] == 'MPI_Waitall']
        problems.expect('late', len(late), 1)
        # Both parents wait for rank 2, which is late; less what they were late themselves on a busy machine.
        seconds = late[0]['seconds'] if late else 0
        if not LATE_S < seconds < 2.5 * LATE_S:
            problems.append(f'late: {seconds} s')

        # The parents have nothing else to do than to wait for jobs: for the end of what rank 3 spawned, as well.
        ends = [line['seconds'] for line in waits['lines'] if line['in']['function'] == 'MPI_Comm_disconnect']
        problems.expect('waits for the ends of jobs', bool(ends) and max(ends) > 0.02, True)
        # What led to a job led to its ranks.
        path = told('path', '--json', 'lossless/all.cairn')
        if not 0.98 * path['run_seconds'] < path['path_seconds'] < 1.02 * path['run_seconds']:
            problems.append(f'the path takes {path["path_seconds"]} of {path["run_seconds"]} s')
        if not any(line['activity']['place']['function'] == 'MPI_Comm_spawn' and line['activity']['doing'] == 'inside'
                   for line in path['activities'] if line['activity']['place']):
            problems.append(f'MPI_Comm_spawn is not on the path: {path["activities"]}')

        # Each rank's calls are those of its own trace.
        own = run('dump', '--rank', '1', 'lossless/run.cairn').stdout.splitlines()
        again = run('dump', '--rank', '1', 'lossless/all.cairn').stdout.splitlines()
        problems.expect('calls of rank 1', len(again), len(own))
        worlds = run('dump', '--world', '--rank', '2', '--function', 'MPI_Send', '--comm', 'comm(0@0)', 'lossless/all.cairn').stdout
        problems.expect('ranks of all jobs', ('dest=0' in worlds, 'dest=1' in worlds), (True, True))

        refused('joined again', 2, 'several jobs already', 'join', 'lossless/all.cairn', '-o', 'x.cairn')
        refused('a child first', 2, 'was spawned by another job', 'join', 'lossless/run-2.cairn', '-o', 'x.cairn')
        refused('no output', 2, 'which trace to write', 'join', 'lossless/run.cairn')
        refused('is there', 4, 'lossless/all.cairn', 'join', 'lossless/run.cairn', '-o', 'lossless/all.cairn')
        refused('over one of them', 2, 'one of the traces', 'join', '-f', 'lossless/run.cairn', '-o', 'lossless/run-2.cairn')
        refused('replayed', 2, 'several jobs', 'replay', 'lossless/all.cairn', '--', bench.mpiexec, '-n', '7')
        refused('made larger', 2, 'several jobs', 'extrapolate', 'lossless/run.cairn', 'lossless/all.cairn', '-n', '20', '-o', 'x.cairn')
        refused('a proxy', 2, 'several jobs', 'proxy', 'lossless/all.cairn', '-o', 'proxy')
        shutil.copy(folder / 'lossless/run.cairn', folder / 'alone.cairn')
        refused('children elsewhere', 2, '--spawned', 'join', 'alone.cairn', '-o', 'x.cairn')
        spawned = [word for number in (2, 3, 4) for word in ('--spawned', f'lossless/run-{number}.cairn')]
        run('join', '-q', 'alone.cairn', *spawned, '-o', 'x.cairn')
        problems.expect('named', told('info', '--json', 'x.cairn')['ranks'], 7)
        refused('of another run', 2, 'stats/run-2.cairn: no call that is recorded', 'join', 'alone.cairn', *spawned, '--spawned',
                'stats/run-2.cairn', '-o', 'y.cairn')
        refused('twice', 2, 'of the same job', 'join', 'alone.cairn', *spawned, '--spawned', 'lossless/run-2.cairn', '-o', 'y.cairn')

    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
