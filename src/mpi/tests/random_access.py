#!/usr/bin/env python3
"""Records programs and holds what `cairn dump` prints from the middle of a run, where it goes without reading what is
before, against the lines that it prints of all calls.

    random_access.py --build BUILD --mpi mpich|openmpi FOLDER

FOLDER has the compiled programs. Among them are ones with threads, with communicators that come and go, and
with arrays of requests that drain, whose calls depend on those before. Exit status: 0 passed, 1 failed, 77 not possible
here.
"""
import json
import sys
import tempfile

import surroundings

PROGRAMS = [('comm_manage', 2), ('threads', 2), ('drains', 2), ('stencil2d 20 linear line', 4)]
PLACES = 3


def places_of(count):
    """All calls, or of many the first and the last, and some between them."""
    if count <= 100:
        return range(count + 1)
    return sorted({0, 1, count - 1, count, *(count * i // PLACES + 1 for i in range(1, PLACES))})


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()
    compared = 0
    for program, ranks in PROGRAMS:
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
            done = bench.run_in(folder, 'record', '-q', '--timing', 'lossless', '-o', 'out.cairn', '--', 'timeout', '60', bench.mpiexec,
                                '-n', str(ranks), *f'{bench.program}/{program}'.split())
            if done.returncode != 0:
                sys.exit(f'record {program}: {done}')

            def lines(*words, program=program, folder=folder):
                told = bench.run_in(folder, 'dump', '--json', '--rank', '1', *words, 'out.cairn')
                if told.returncode != 0:
                    sys.exit(f'{program}: dump {words}: {told}')
                return told.stdout.splitlines()[1:]

            def expect(found, wanted, *words, program=program):
                nonlocal compared
                compared += len(wanted)
                if found != wanted:
                    at = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
                    problems.append(f'{program}: dump {" ".join(words)}: {len(found)} lines, and not {len(wanted)}; the first that '
                                    f'differs is {found[at:at + 1]}, and not {wanted[at:at + 1]}')

            every = lines()
            calls = [json.loads(line) for line in every]
            for place in places_of(len(every)):
                expect(lines('--from', str(place)), every[place:], '--from', str(place))
                expect(lines('--from', str(place), '--limit', '3'), every[place:place + 3], '--from', str(place), '--limit', '3')
            end = max(call['begin_ns'] + call['duration_ns'] for call in calls)
            for part in range(PLACES):
                begin, length = end * part // PLACES, end // PLACES
                wanted = [line for line, call in zip(every, calls)
                          if call['begin_ns'] <= begin + length and call['begin_ns'] + call['duration_ns'] >= begin]
                window = f'{begin}ns+{length}ns'
                expect(lines('--time', window), wanted, '--time', window)
            stepped = lines('--step', '0-1000000')
            if stepped:
                last = json.loads(stepped[-1])['step']
                for step in {1, last // 2, last}:
                    expect(lines('--step', str(step)), [line for line in stepped if json.loads(line)['step'] == step],
                           '--step', str(step))
    if compared < 1000:
        problems.append(f'only {compared} lines were compared')
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
