#!/usr/bin/env python3
"""Records loops.c in each of its shapes, and fails unless `cairn loops` finds the time step of each: how many turns it
has, what a turn takes, and, where callers are known, the lines that it stands on.

    loops.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import surroundings

RANKS = 3
SOURCE = pathlib.Path(__file__).resolve().with_name('loops.c')
# Of each shape: whether callers are recorded; turns, those that stand behind the loop, calls and bytes of a turn.
SHAPES = [('rotated', 'site', (12, 0, 3, 84)),
          ('alternating', 'site', (10, 0, 4, 140)),
          ('alternating', 'stack', (10, 0, 4, 140)),
          ('last_differs', 'site', (29, 1, 6, 176)),
          ('last_differs', 'stack', (29, 1, 6, 176)),
          ('cycles', 'stack', (4, 0, 13, 1396)),
          ('reported', 'stack', (60, 0, 4, 52)),
          ('none', 'stack', None)]
PUT_IN = ('last_differs', 'stack', (29, 1, 6, 176))  # with a function that the compiler puts into the loop's


def lines_of(shape, put_in):
    """Where its time step stands in the source, as `cairn loops` says it."""
    lines = [number for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
             if line.endswith(f'// step {shape}')]
    return f'loops.c:{lines[0]} in {shape}() and share()' if put_in else f'loops.c:{lines[0]}-{lines[-1]} in {shape}()'


def steps(items):
    for item in items:
        if item['is_time_step']:
            yield item
        yield from steps(item.get('body', []))


def seconds(items):
    return sum(item['seconds_a_turn'] * item['turns'] for item in items)


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        trace = pathlib.Path(folder, 'out.cairn')

        def says(*words):
            return subprocess.run([bench.cairn, *words, trace], check=True, capture_output=True, text=True).stdout

        def check(program, shape, callers, wanted):
            command = [bench.cairn, 'record', '--force', '--callsites', callers, '-o', trace, '--', bench.mpiexec, '-n',
                       str(RANKS), program, shape]
            done = subprocess.run(command, cwd=folder, env=dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder),
                                  timeout=120, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0 or done.stdout != 'ok\n':
                sys.exit(f'{shape}: status {done.returncode}: {done.stdout}{done.stderr}')
            (kind,) = json.loads(says('loops', '--json'))['kinds']
            found = list(steps(kind['items']))
            told = [(step['turns'], step['further_turns'], step['calls_a_turn'], step['bytes_a_turn']) for step in found]
            if told != ([wanted] if wanted else []):
                problems.append(f'{shape}, {callers}: {told}, and not {wanted}')
            if told == [wanted] and callers == 'stack':
                place = lines_of(shape, program != bench.program)
                if found[0]['place'] != place:
                    problems.append(f'{shape}: at {found[0]["place"]}, and not {place}')
            text = says('loops', '--rank', '0')
            named = re.search(r'(?:(\d+) \+ )?(\d+) x time step', text)
            if (named is None) != (wanted is None) or (wanted is None and 'nothing repeats' not in text):
                problems.append(f'{shape}: the text is\n{text}')
            # What all loops and calls take is what the calls took.
            taken = RANKS * seconds(kind['items'])
            all_taken = sum(line['seconds'] for line in json.loads(says('summary', '--json'))['lines'])
            if abs(taken - all_taken) > 1e-6 * all_taken:
                problems.append(f'{shape}: {taken} s in all loops, {all_taken} s in all calls')

        for each in SHAPES:
            check(bench.program, *each)
        if compiler := shutil.which(f'mpicc.{bench.mpi}'):
            program = pathlib.Path(folder, 'loops')
            subprocess.run([compiler, '-g', '-O1', '-DPUT_IN', '-o', program, SOURCE], check=True)
            check(program, *PUT_IN)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
