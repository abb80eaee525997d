#!/usr/bin/env python3
"""Records a program on a few numbers of ranks, makes the trace of more, and holds that against a recording of as many:
all calls in order, with all arguments and results, must be the same. Of one of them a replay, and a proxy application,
must make the calls of that recording, too. Of a program whose neighbours are drawn at random, the trace must say that
they were; and where the amounts that ranks exchange are drawn, what each receives must be what the others send.

    extrapolate.py --build BUILD --mpi mpich|openmpi PROGRAM

The program is stencil2d; the others lie beside it. Exit status: 0 passed, 1 failed, 77 not
possible here.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import surroundings

# Is replayed, and made a proxy of.
RUN = ('stencil2d', ['10'])
# Program, its arguments, the ranks that are learned from, and those that are made.
EXACT = [
    ('stencil2d', ['10'], [4, 9], 16),
    ('stencil2d', ['10', 'onetag', 'plain', 'line'], [3, 4], 8),
    ('wavefront', ['3'], [4, 6, 9], 16),
    ('tree', ['3'], [3, 4, 7, 8], 15),
    ('multigrid', ['3', 'line'], [2, 4, 8], 16),
]


def main():
    bench = surroundings.Bench(__doc__)
    binaries = pathlib.Path(bench.program).parent
    problems = []

    def cairn(*words):
        return subprocess.run([bench.cairn, *map(str, words)], capture_output=True, text=True, timeout=120)

    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)

        def record(program, arguments, ranks):
            trace = folder / f'{program}{"-".join(arguments)}.{ranks}.cairn'
            if not trace.exists():
                done = subprocess.run([bench.cairn, 'record', '-o', trace, '--', 'timeout', '60', bench.mpiexec, '-n',
                                       str(ranks), binaries / program, *arguments], env=env, timeout=120,
                                      capture_output=True, text=True)
                if done.returncode != 0:
                    raise SystemExit(f'recording {program} on {ranks} ranks: status {done.returncode}\n{done.stderr}')
            return trace

        for program, arguments, few, many in EXACT:
            what = ' '.join([program, *arguments])
            small = [record(program, arguments, ranks) for ranks in few]
            real = record(program, arguments, many)
            made = folder / 'made.cairn'
            done = cairn('extrapolate', '-f', '-q', *small, '-n', many, '-o', made, '--check', real)
            if done.returncode != 0:
                problems.append(f'{what}: status {done.returncode}\n{done.stdout}{done.stderr}')
                continue
            # As everybody else sees it.
            if cairn('diff', made, real).returncode != 0:
                problems.append(f'{what}: cairn diff finds that it differs')
            if cairn('verify', made).returncode != 0:
                problems.append(f'{what}: it is not sound')
            said = cairn('info', made).stdout
            if 'extrapolated from runs of ' + ', '.join(map(str, few)) not in said or 'no rule' in said:
                problems.append(f'{what}: cairn info says\n{said}')

        def runs(what, real, *command):
            """Whether that makes the calls of the recording."""
            again = folder / 'again.cairn'
            done = subprocess.run([bench.cairn, 'record', '-f', '-q', '-o', again, '--', *map(str, command)], env=env,
                                  timeout=120, capture_output=True, text=True)
            if done.returncode != 0:
                problems.append(f'{what}: status {done.returncode}\n{done.stdout}{done.stderr}')
                return
            done = cairn('diff', '--replay', real, again)
            if done.returncode != 0:
                problems.append(f'{what} makes other calls\n{done.stdout}{done.stderr}')

        def replays(what, trace, ranks, real):
            runs(f'the replay of {what}', real, bench.cairn, 'replay', '-q', trace, '--', 'timeout', '60', bench.mpiexec,
                 '-n', ranks)

        # What a rank does on average in runs of two sizes, against sums over all calls of both.
        def place(site):
            return site['file'], site['line']

        def sums(trace):
            found = {}
            for line in cairn('dump', '--jsonl', trace).stdout.splitlines():
                call = json.loads(line)
                if 'function' not in call:
                    continue
                use = found.setdefault((call['function'], place(call['site'])), {'ranks': set(), 'calls': 0, 'bytes': 0})
                use['ranks'].add(call['rank'])
                use['calls'] += 1
                use['bytes'] += call.get('bytes') or 0
            return {key: (len(use['ranks']), use['calls'], use['bytes']) for key, use in found.items()}

        program, arguments, few, many = EXACT[-1]
        pair = [record(program, arguments, ranks) for ranks in (few[-1], many)]
        told = json.loads(cairn('diff', '--json', *pair).stdout)['sizes']
        for run, trace in zip(('first', 'second'), pair):
            here = {(site['function'], place(site[run]['site'])): (site[run]['ranks'], site[run]['calls'], site[run]['bytes'] or 0)
                    for site in told['sites'] if site[run]}
            wanted = sums(trace)
            if here != wanted:
                problems.append(f'cairn diff says of {trace.name}:\n{sorted(here.items())}\nbut it is\n'
                                f'{sorted(wanted.items())}')
        for site in told['sites']:
            first, second = site['first'], site['second']
            same = first and second and first['calls'] * second['ranks'] == second['calls'] * first['ranks'] and \
                (first['bytes'] or 0) * second['calls'] == (second['bytes'] or 0) * first['calls']
            if site['same'] != bool(same):
                problems.append(f'cairn diff says wrongly whether this is the same: {site}')
        if all(site['same'] for site in told['sites']) or not any(site['same'] for site in told['sites']):
            problems.append('cairn diff: of these some sites are the same, and some are not')

        program, arguments, few, many = next(each for each in EXACT if each[:2] == RUN)
        made = folder / 'run.cairn'
        done = cairn('extrapolate', '-q', *(record(program, arguments, ranks) for ranks in few), '-n', many, '-o', made)
        real = record(program, arguments, many)
        replays(program, made, many, real)
        proxy = folder / 'proxy'
        done = cairn('proxy', '-q', '-o', proxy, made)
        if done.returncode == 0:
            done = subprocess.run(['make', '-s', '-C', proxy, f'MPICC=mpicc.{bench.mpi}', 'CFLAGS=-O1'], timeout=120,
                                  capture_output=True, text=True)
        if done.returncode != 0:
            problems.append(f'proxy of {program}: status {done.returncode}\n{done.stderr}')
        else:
            runs(f'the proxy of {program}', real, 'timeout', '60', bench.mpiexec, '-n', many, proxy / 'proxy')

        # Amounts without a law: what is received must be what is sent, or this would fail.
        made = folder / 'exchanges.cairn'
        done = cairn('extrapolate', '-q', *(record('amounts', [], ranks) for ranks in (3, 4)), '-n', 6, '-o', made)
        if 'recvcounts of MPI_Alltoallv' not in cairn('info', made).stdout:
            problems.append(f'amounts: what was drawn?\n{done.stderr}')
        replays('amounts', made, 6, made)

        random = [record('tree', ['3', 'irregular'], ranks) for ranks in (8, 12)]
        made = folder / 'random.cairn'
        done = cairn('extrapolate', '-q', *random, '-n', 16, '-o', made)
        if done.returncode != 0 or 'no rule, drawn from the largest run' not in cairn('info', made).stdout:
            problems.append(f'irregular: it does not say what was drawn\n{done.stderr}')
        if cairn('verify', made).returncode != 0:
            problems.append('irregular: it is not sound')
        others = [random[0], record('stencil2d', ['10'], 16)]
        other = cairn('extrapolate', '-q', *others, '-n', 64, '-o', folder / 'no.cairn')
        if other.returncode != 2 or 'are of different programs' not in other.stderr:
            problems.append(f'different programs: status {other.returncode}, {other.stderr}')

    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
