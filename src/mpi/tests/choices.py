#!/usr/bin/env python3
"""Records choices.c, whose calls differ in all that cairn can choose by, and holds what `dump` and `summary` choose
against what is chosen here from the JSON of all calls.

    choices.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import surroundings

FAILED = {'MPI_Send': {'MPI_ERR_RANK': 4}, 'MPI_Recv': {'MPI_ERR_TRUNCATE': 2}, 'MPI_Bcast': {'MPI_ERR_ROOT': 1}}


def named(call, names, member):
    """What the arguments of these names are, and what statuses say."""
    values = [call['args'][name] for name in names if name in call['args']]
    statuses = call['args'].get('array_of_statuses', [call['args'].get('status')])
    statuses = [each for each in statuses if isinstance(each, dict)] if isinstance(statuses, list) else []
    return values + [each[member] for each in statuses if each[member] != 'implied']


def peers(call):
    names = ['dest', 'source', 'target_rank'] + (['rank'] if 'win' in call['args'] else [])
    return named(call, names, 'source')


def tags(call):
    return named(call, ['tag', 'sendtag', 'recvtag'], 'tag')


def comms(call):
    found = [call['args'][name] for name in ('comm', 'newcomm') if name in call['args']]
    return [each['comm'] if isinstance(each, dict) else each for each in found]


def error(call):
    return call['return'].split('(')[0]


def places(call):
    return [f"{pathlib.Path(each['file']).name}:{each['line']}" for each in [call['site'], *call['callers']]]


def functions(call):
    return [each['function'] for each in [call['site'], *call['callers']]]


def choices(split):
    """Words of a command line, and the same as a question. `split`: how a communicator is printed."""
    return [
        (['--peer', '2'], lambda c: 2 in peers(c)),
        (['--peer', '1-2,^3'], lambda c: {1, 2} & set(peers(c)) and 3 not in peers(c)),
        (['--peer', '3', '--function', 'MPI_Wait*'], lambda c: c['function'] == 'MPI_Waitall' and 3 in peers(c)),
        (['--peer', 'any'], lambda c: 'MPI_ANY_SOURCE' in peers(c)),
        (['--peer', '^0-3'], lambda c: not {0, 1, 2, 3} & set(peers(c))),
        (['--tag', '3,100-101'], lambda c: {3, 100, 101} & set(tags(c))),
        (['--tag', '^any', '--tag', '7'], lambda c: 7 in tags(c) and 'MPI_ANY_TAG' not in tags(c)),
        (['--comm', 'MPI_COMM_WORLD'], lambda c: 'MPI_COMM_WORLD' in comms(c)),
        (['--comm', '^MPI_COMM_WORLD'], lambda c: 'MPI_COMM_WORLD' not in comms(c)),
        (['--comm', split], lambda c: split in comms(c)),
        (['--errors'], lambda c: error(c) != 'MPI_SUCCESS'),
        (['--result', 'MPI_ERR_TRUNCATE,MPI_ERR_ROOT'], lambda c: error(c) in ('MPI_ERR_TRUNCATE', 'MPI_ERR_ROOT')),
        (['--result', '^MPI_SUCCESS', '--rank', '^0'], lambda c: error(c) != 'MPI_SUCCESS' and c['rank'] != 0),
        (['--site', 'gather()'], lambda c: 'gather' in functions(c)),
        (['--site', 'near()'], lambda c: 'near' in functions(c)),
        (['--site', '^choices.c:13'], lambda c: 'choices.c:13' not in places(c)),
        (['--site', 'check.h'], lambda c: any(place.startswith('check.h:') for place in places(c))),
        (['--site', 'shift(),^far()', '--function', '^MPI_Comm_*'],
         lambda c: 'shift' in functions(c) and 'far' not in functions(c) and not c['function'].startswith('MPI_Comm_')),
        (['--function', 'MPI_*end*,^MPI_Sendrecv', '--peer', '^0'], lambda c: c['function'] == 'MPI_Send' and 0 not in peers(c)),
        (['--thread', '0'], lambda c: True),
    ]


def main():
    bench = surroundings.Bench(__doc__)
    problems = []

    def differ(what, found, wanted):
        if found != wanted:
            problems.append(f'{what}: {found}, not {wanted}')

    def check(folder, timing):
        trace = pathlib.Path(folder, f'{timing}.cairn')
        command = [bench.cairn, 'record', '-q', '--callsites', 'stack', '--timing', timing, '-o', trace, '--',
                   bench.mpiexec, '-n', '4', bench.program]
        done = subprocess.run(command, cwd=folder, env=dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder),
                              timeout=120, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0 or done.stdout != 'ok\n':
            problems.append(f'status {done.returncode}: {done.stdout}{done.stderr}')
            return

        def says(*words):
            return subprocess.run([bench.cairn, *words, trace], check=True, capture_output=True, text=True).stdout

        def dump(*words):
            return [json.loads(line) for line in says('dump', '--jsonl', '--stack', *words).splitlines()[1:]]
        calls = dump()
        split = next(c['args']['newcomm']['comm'] for c in calls if c['function'] == 'MPI_Comm_split')
        for words, wanted in choices(split):
            what = f"{timing} {' '.join(words)}"
            chosen = [call for call in calls if wanted(call)]
            if not chosen:
                problems.append(f'{what}: nothing to choose')
            if dump(*words) != chosen:
                problems.append(f'{what}: dump gives {len(dump(*words))} calls, not these {len(chosen)}')
            failed = collections.Counter(error(c) for c in chosen if error(c) != 'MPI_SUCCESS')
            for by in ([], ['--callsites'], ['--per-rank']):
                summary = json.loads(says('summary', '--json', *by, *words))
                name = f'{what} summary {by}'
                differ(f'{name}: calls', summary['calls'], len(chosen))
                differ(f'{name}: calls of lines', sum(line['calls'] for line in summary['lines']), len(chosen))
                differ(f'{name}: failed', summary['failures'], dict(failed))
                differ(f'{name}: failed of lines', sum(line['failed'] for line in summary['lines']), failed.total())
                if timing == 'lossless':
                    ns = round(1e9 * sum(line['seconds'] for line in summary['lines']))
                    differ(f'{name}: ns', ns, sum(c['duration_ns'] for c in chosen))
                if by == []:
                    differ(f'{name}: functions', {line['function']: line['calls'] for line in summary['lines']},
                           dict(collections.Counter(c['function'] for c in chosen)))
                if by == ['--callsites']:
                    differ(f'{name}: stacks', collections.Counter(
                        (line['function'], *places(line)) for line in summary['lines'] for _ in range(line['calls'])),
                        collections.Counter((c['function'], *places(c)) for c in chosen))
        differ('--from 100 --limit 3', dump('--from', '100', '--limit', '3', '--rank', '1'),
               [c for c in calls if c['rank'] == 1][100:103])
        info = json.loads(says('info', '--json'))
        found = collections.defaultdict(dict)
        for each in info['failures']:
            found[each['function']][each['error']] = each['calls']
        differ('info', (info['failed_calls'], found), (7, FAILED))

    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        for timing in ('stats', 'lossless'):
            check(folder, timing)
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
