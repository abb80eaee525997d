#!/usr/bin/env python3
"""Records programs and holds what `cairn export` writes of some ranks and of some time, going past most of what is before,
against that part of what it writes of all.

    parts.py --build BUILD --mpi mpich|openmpi FOLDER

FOLDER has the compiled programs. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import exports
import surroundings

# The loops of the first two have equal turns.
PROGRAMS = [('shared_loops', 4, 'lossless'), ('stencil2d 2000 linear plain', 4, 'context'), ('drains', 2, 'lossless'),
            ('matching', 5, 'lossless'), ('comm_manage', 3, 'lossless'), ('threads', 2, 'lossless')]
REGULAR = {'shared_loops': 0.4, 'stencil2d 2000 linear plain': 0.95}  # what is left out, at least, of the calls of three quarters
SHARES = 0.0, 0.31, 0.5, 0.77, 0.99  # of the run, where a window begins
RANKS = None, '1', '0,2-3'


class Whole:
    """The tables of a run."""

    def __init__(self, tables):
        self.tables = tables
        self.times = {}
        for row in tables['calls'][1]:
            if row[5]:
                self.times[row[0], row[1]] = int(row[5]), int(row[6])
        self.end = max(end for _, end in self.times.values())

    def part(self, ranks, begin, end):
        """What a part of them has: calls, with their places spelt out, messages, requests, objects."""
        sites = {row[0]: row[1:] for row in self.tables['sites'][1]}

        def among(rank):
            return ranks is None or int(rank) in ranks

        def within(since, until):
            return begin is None or (since is not None and since <= end and (until is None or until >= begin))

        def was_there(rank, since, until):
            began = self.times.get((rank, since), (None, None))[0]
            ended = self.times.get((rank, until), (None, -1))[1] if until else None
            return among(rank) and within(began, ended)

        calls = [(*row[:4], *sites[row[4]], *row[5:]) for row in self.tables['calls'][1]
                 if among(row[0]) and within(*self.times.get((row[0], row[1]), (None, None)))]
        messages = sorted(row for row in self.tables['messages'][1] if among(row[0]) and among(row[2]) and
                          (begin is None or (row[7] and int(row[7]) <= end and int(row[8]) >= begin)))
        requests = [row for row in self.tables['requests'][1] if was_there(row[0], row[2], row[3])]
        objects = [row for row in self.tables['objects'][1] if was_there(row[0], row[2], row[3])]
        return {'calls': calls, 'messages': messages, 'requests': requests, 'objects': objects}


def difference(found, wanted):
    at = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
    return f'{len(found)} rows, and not {len(wanted)}; the first that differs is {found[at:at + 1]}, and not {wanted[at:at + 1]}'


def numbers_of(ranks):
    if ranks is None:
        return None
    found = set()
    for part in ranks.split(','):
        first, _, last = part.partition('-')
        found.update(range(int(first), int(last or first) + 1))
    return found


def interrupted(bench, folder, problems):
    """What was not written to its end is not there under its name: after an interrupt not at all, after a kill as NAME.partial."""
    for form in ('chrome', 'csv', 'sqlite'):
        for sign in (signal.SIGINT, signal.SIGKILL):
            name = pathlib.Path(folder, f'{form}.{sign.name}')
            partial = name.with_name(name.name + '.partial')
            running = subprocess.Popen([bench.cairn, 'export', '--to', form, '-o', name, 'out.cairn'], cwd=folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while not partial.exists() and running.poll() is None:
                time.sleep(0.001)
            running.send_signal(sign)
            error = running.communicate()[1]
            if 'built without' in error:
                continue
            problems.expect(f'{form}, {sign.name}: exit status', running.returncode, -sign)
            problems.expect(f'{form}, {sign.name}: there is', (name.exists(), partial.exists()), (False, sign == signal.SIGKILL))
            if sign == signal.SIGKILL:
                again = bench.run_in(folder, 'export', '--to', form, '-o', str(name), 'out.cairn')
                problems.expect(f'{form}: again', (again.returncode, f'{name.name}.partial: is there already' in again.stderr), (2, True))


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()
    compared = 0
    for program, ranks, timing in PROGRAMS:
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
            done = bench.run_in(folder, 'record', '-q', '--timing', timing, '-o', 'out.cairn', '--', 'timeout', '60', bench.mpiexec,
                                '-n', str(ranks), *f'{bench.program}/{program}'.split())
            if done.returncode != 0:
                sys.exit(f'record {program}: {done}')

            def export(to, name, *words, program=program, folder=folder):
                told = bench.run_in(folder, 'export', '--to', to, '-o', name, *words, 'out.cairn')
                if told.returncode != 0:
                    sys.exit(f'{program}: export {words}: {told}')
                return pathlib.Path(folder, name)

            whole = Whole(exports.tables_of_csv(export('csv', 'all')))
            if program.startswith('stencil2d'):
                interrupted(bench, folder, problems)
            if program in REGULAR:
                told = subprocess.run([bench.left_out, f'{folder}/out.cairn', str(whole.end * 3 // 4)], check=True, capture_output=True, text=True)
                gone, rest = map(int, told.stdout.split())
                if gone < REGULAR[program] * (gone + rest):
                    problems.append(f'{program}: of {gone + rest} calls only {gone} are left out')
            number = 0
            for share in (None, *SHARES):
                begin, end, window = None, None, []
                if share is not None:
                    begin, length = int(whole.end * share), max(1, whole.end // 150)
                    end, window = begin + length, ['--time', f'{begin}ns+{length}ns']
                for wanted_ranks in RANKS:
                    if wanted_ranks is not None and max(numbers_of(wanted_ranks)) >= ranks or (share, wanted_ranks) == (None, None):
                        continue
                    words = [*window, *(['--rank', wanted_ranks] if wanted_ranks else [])]
                    what = f'{program} {" ".join(words)}'
                    number += 1
                    found = Whole.part(whole, numbers_of(wanted_ranks), begin, end)
                    part = exports.tables_of_csv(export('csv', f'part{number}', *words))
                    sites = {row[0]: row[1:] for row in part['sites'][1]}
                    told = {'calls': [(*row[:4], *sites[row[4]], *row[5:]) for row in part['calls'][1]],
                            'messages': sorted(part['messages'][1]), 'requests': part['requests'][1], 'objects': part['objects'][1]}
                    for table, rows in told.items():
                        compared += len(rows)
                        if rows != found[table]:
                            problems.append(f'{what}: {table}: {difference(rows, found[table])}')
                    # Timelines have an arrow for each message of which both calls are there.
                    slices, arrows = exports.slices_of_chrome(export('chrome', f'part{number}.json', *words).read_text())
                    problems.expect(f'{what}: slices', sum(map(len, slices.values())), len(found['calls']))
                    there = {(row[0], row[1]) for row in found['calls']}
                    both = [row for row in found['messages'] if (row[0], row[1]) in there and (row[2], row[3]) in there]
                    problems.expect(f'{what}: arrows without a begin', [each for each in arrows.values() if each[0][1] == 'ends' and len(each) == 1], [])
                    drawn = [sorted(each, key=lambda end: end[1]) for each in arrows.values() if len(each) == 2]
                    problems.expect(f'{what}: arrows', sorted((a[2], b[2]) for a, b in drawn), sorted((int(row[0]), int(row[2])) for row in both))
    if compared < 10000:
        problems.append(f'only {compared} rows were compared')
    for problem in problems[:20]:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
