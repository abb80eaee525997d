#!/usr/bin/env python3
"""Records classes.c, whose phases have lengths that it writes down itself, and holds what `cairn phases` says of them against
that, within 5 %: when each began and ended, what turns took and how that changed; calls and bytes of each phase.

    phases.py --build BUILD --mpi mpich|openmpi PROGRAM

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
NAMES = ['start', 'steps', 'stretch', 'exchanges', 'own', 'end']
WHATS = ['start', 'loop', 'stretch', 'loop', 'loop', 'end']
# What a phase may be off by: 5 %, and what it takes to write down a time on a machine that does other things.
SHARE, SECONDS = 0.05, 0.002


def close(told, truth):
    return abs(told - truth) <= max(SHARE * truth, SECONDS)


def read_ends(folder, rank):
    """Of phases, by name; and of steps."""
    ends, steps = {}, []
    for line in pathlib.Path(folder, f'said.{rank}').read_text().splitlines():
        name, moment = line.split()
        if name == 'step':
            steps.append(float(moment))
        else:
            ends[name] = float(moment)
    return ends, steps


def mean(numbers):
    return sum(numbers) / len(numbers)


def attempt(bench):
    problems = surroundings.Problems()

    def near(what, told, truth):
        if not close(told, truth):
            problems.of_times.append(f'{what}: {told:.6f} s told, {truth:.6f} in truth')

    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        cairn = functools.partial(bench.run_in, folder)

        def record(*words, program=()):
            done = cairn('record', '-q', '-f', *words, '-o', 'out.cairn', '--', bench.mpiexec, '-n', str(RANKS), bench.program, *program)
            if done.returncode != 0 or done.stdout != 'ok\n':
                sys.exit(f'record: {done}')

        def tell(*words):
            done = cairn('phases', '--json', *words, 'out.cairn')
            if done.returncode != 0:
                sys.exit(f'phases: {done}')
            return json.loads(done.stdout)['phases'], done.stderr

        def check_structure(phases):
            problems.expect('phases', [phase['what'] for phase in phases], WHATS)
            loops = [{on['turns'] for on in phase['on']} for phase in phases]
            problems.expect('turns', loops, [{None}, {'30'}, {None}, {'8'}, {'5', '8'}, {None}])
            problems.expect('calls', [phase['calls'] for phase in phases], [16, 132, 4, 48, 58, 8])
            problems.expect('bytes', [phase['bytes'] for phase in phases], [0, 4 * (30 * 64 + 3 * 16), 4 * 128, 48 * 32, 29 * 4, 0])
            problems.expect('who has no such phase', [phase['lacking'] for phase in phases], [[]] * 6)
            if 'each 10th turn also makes MPI_Gather at classes.c' not in phases[1]['note']:
                problems.append(f'the report of each tenth step: {phases[1]}')
            problems.expect('and of other loops', [phase['note'] for phase in phases[2:]], [''] * 4)

        record('--timing', 'lossless')
        phases, err = tell()
        problems.expect('messages', err, '')
        check_structure(phases)
        ends = [read_ends(folder, rank) for rank in range(RANKS)]
        zero = phases[0]['last_end']['seconds'] - max(own['start'] for own, steps in ends)
        for before, phase, name in zip(NAMES, phases[1:], NAMES[1:-1]):
            moments = [own[name] for own, steps in ends]
            near(f'the first end of {name}', phase['first_end']['seconds'] - zero - moments[0], min(moments) - moments[0])
            near(f'the last end of {name}', phase['last_end']['seconds'] - zero - moments[0], max(moments) - moments[0])
            near(f'the length of {name}', phase['mean_seconds'], mean([own[name] - own[before] for own, steps in ends]))
            begins = [own[before] for own, steps in ends]
            near(f'where {name} begins', phase['last_begin']['seconds'] - zero - begins[0], max(begins) - begins[0])
        if sum(phase['mean_seconds'] for phase in phases[1:-1]) < 0.25:
            problems.append('the program was too quick')
        problems.expect('functions', [phase['most_in'] for phase in phases[:4]],
               ['MPI_Barrier', 'MPI_Allreduce', 'MPI_Bcast', 'MPI_Sendrecv'])

        turns = [[end - begin for begin, end in zip([own['start'], *steps], steps)] for own, steps in ends]
        took = phases[1]['a_turn']
        problems.expect('turns of all ranks', took['turns'], 30 * RANKS)
        near('a turn', took['mean_seconds'], mean([mean(own) for own in turns]))
        near('the longest turn', took['most_seconds'], max(max(own) for own in turns))
        near('the first tenth', took['first_tenth_seconds'], mean([mean(own[:3]) for own in turns]))
        near('the last tenth', took['last_tenth_seconds'], mean([mean(own[-3:]) for own in turns]))
        if took['last_tenth_seconds'] < 1.5 * took['first_tenth_seconds']:
            problems.append(f'turns do not take longer in the end: {took}')

        text = cairn('phases', '--depth', '2', 'out.cairn').stdout
        for wanted in '30 x classes.c', '8 x classes.c', '5 turns on rank 3', '10 x MPI_Allreduce at classes.c':
            if wanted not in text:
                problems.append(f'no {wanted!r} in\n{text}')
        table = list(csv.DictReader(io.StringIO(cairn('phases', '--csv', 'out.cairn').stdout)))
        problems.expect('CSV', [(line['what'], int(line['calls'])) for line in table],
               [(phase['what'], phase['calls']) for phase in phases])
        only, err = tell('--rank', '3')
        problems.expect('turns of one rank', [phase['turns'] for phase in only], [None, '30', None, '8', '5', None])

        # Without times of single calls.
        for timing in 'stats', 'off':
            record('--timing', timing)
            phases, err = tell()
            check_structure(phases)
            problems.expect('begins', [phase['first_begin'] for phase in phases], [None] * 6)
            timed = phases[3]['mpi_seconds'] is not None
            if timed != (timing == 'stats') or ('no times of calls' in err) == timed:
                problems.append(f'{timing}: {err}')

        # Loops of one function whose turns differ are no phase of all.
        record(program=['farm'])
        phases, err = tell()
        loops = sorted((phase['turns'], len(phase['on']), phase['lacking']) for phase in phases if phase['what'] == 'loop')
        others = list(range(1, RANKS))
        problems.expect('loops of a farm', loops, sorted([('3', 1, others), ('90', 1, others), ('30', 1, [0])]))
    return problems


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.against_a_clock(lambda: attempt(bench))
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
