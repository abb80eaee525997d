#!/usr/bin/env python3
"""Replays recordings of replays.c in several ways, and fails unless each does what it says: another number of ranks is
refused, a deadlock is told with the calls that the ranks stand in, gaps are waited for, buffers are shared; and what
completes first may decide.

    replays.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import surroundings


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)

        def run(command, more=()):
            return subprocess.run([str(word) for word in command], cwd=folder, env={**env, **dict(more)}, timeout=120,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)

        def record(trace, command, *options):
            done = run([bench.cairn, 'record', '-q', *options, '-o', trace, '--', *command])
            if done.returncode != 0:
                sys.exit(f'{trace}: status {done.returncode}: {done.stdout}{done.stderr}')
            return trace

        def launch(ranks=2):
            return [bench.mpiexec, '-n', ranks]

        def replay(trace, *options):
            return [bench.cairn, 'replay', *options, trace, '--', *launch()]

        def expect(what, holds, said=''):
            if not holds:
                problems.append(f'{what}: {said}')

        sends = record('sends.cairn', [*launch(), bench.program, 'sends'])
        done = run([bench.cairn, 'replay', sends, '--', *launch(3)])
        expect('three ranks', done.returncode == 2 and 'the trace has 2 ranks, and 3 were started' in done.stderr,
               done.stderr)
        bottom = record('bottom.cairn', [*launch(), bench.program, 'bottom'])
        for done in (run(replay(bottom)), run([bench.cairn, 'proxy', '-o', 'bottom', bottom])):
            expect('addresses', done.returncode == 2 and 'with MPI_BOTTOM, cannot be made again: '
                   'MPI_Neighbor_alltoallw (2)' in done.stderr, done.stderr)
        done = run(replay(sends))
        expect('sums', re.search(r'^2 ranks made \d+ calls in .*; recorded: ', done.stdout, re.M), done.stdout)
        expect('by function', re.search(r'^MPI_Send +2 +\d', done.stdout, re.M), done.stdout)
        if bench.mpi == 'mpich':  # whose library can be told not to buffer
            done = run(replay(sends, '--stall', '2'), {'UCX_RNDV_THRESH': '0'}.items())
            expect('deadlock', done.returncode == 1, f'status {done.returncode}')
            for rank in (0, 1):
                told = re.search(rf'no rank has made a call for 2 s; rank {rank} stands in call (\d+), (.*)', done.stderr)
                dumped = told and run([bench.cairn, 'dump', '--rank', str(rank), '--from', told.group(1), '--limit', '1',
                                       sends]).stdout
                expect('deadlock', told and told.group(2).startswith('MPI_Send(') and 'replays.c:' in told.group(2)
                       and told.group(2).strip() in dumped, done.stderr)

        # From exact times and from their mean, which a gap before each call but MPI_Init has: 0.3 s are computed.
        for timing, part in (('lossless', 1), ('stats', 0.7)):
            pauses = record(f'pauses-{timing}.cairn', [*launch(), bench.program, 'pauses'], '--timing', timing)
            for gaps, at_least in ((('--gaps', 'sleep'), 0.28), (('--gaps', 'spin', '--scale', '2'), 0.56)):
                done = run(replay(pauses, *gaps))
                found = re.search(r'calls in ([0-9.]+) s', done.stdout)
                expect(f'{timing} {gaps}', found and float(found.group(1)) >= part * at_least, done.stdout + done.stderr)
        done = run([bench.cairn, 'replay', '--gaps', 'spin',
                    record('timeless.cairn', [*launch(), bench.program, 'pauses'], '--timing', 'off'), '--', *launch()])
        expect('no times', done.returncode == 2 and 'has no times' in done.stderr, done.stderr)

        # Both paces, out of histograms. Whatever else the machine is busy with can only make gaps longer.
        paces = record('paces.cairn', [*launch(), bench.program, 'paces'], '--timing', 'stats-gaps')
        record('paced.cairn', replay(paces, '--gaps', 'sleep'), '--timing', 'lossless')
        out = run([bench.cairn, 'dump', '--json', '--rank', '1', 'paced.cairn']).stdout
        calls = [json.loads(line) for line in out.splitlines()]
        gaps = [call['gap_ns'] / 1e6 for call in calls if call.get('function') == 'MPI_Barrier']
        longer = sum(gap >= 12 for gap in gaps)
        shorter = sum(gap < 8 for gap in gaps)
        expect('paces', len(gaps) == 100 and 8 <= longer <= 50 and shorter >= 50, sorted(gaps))

        # Where a rank's buffers lie, as the recording of a replay names them.
        buffers = record('buffers.cairn', [*launch(), bench.program, 'buffers'])

        def places(trace):
            out = run([bench.cairn, 'dump', '--json', '--rank', '0', trace]).stdout
            calls = [json.loads(line) for line in out.splitlines()]
            calls = [call for call in calls if call.get('function') == 'MPI_Sendrecv']
            return {call['args'][which].split('+')[0] for call in calls for which in ('sendbuf', 'recvbuf')}

        own = places(record('own.cairn', replay(buffers)))
        shared = places(record('shared.cairn', replay(buffers, '--buffers', 'shared')))
        expect('buffers', len(own) > 1 and len(shared) == 1, f'{own} {shared}')
        for trace in ('own.cairn', 'shared.cairn'):
            done = run([bench.cairn, 'diff', '--replay', buffers, trace])
            expect(f'diff {trace}', done.returncode == 0, done.stdout)
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
