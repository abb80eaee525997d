#!/usr/bin/env python3
"""Records programs of this folder and holds what the Python package `cairn` gives against what `cairn`'s verbs say of the same trace:
calls against `cairn dump --json`, tables against `summary`, `matrix`, `sizes`, `loops`, `waits`, `path`, `efficiency`.
Then it runs the examples of docs/python.md.

    python_module.py --build BUILD --mpi mpich|openmpi FOLDER

FOLDER has the compiled programs. Needs NumPy, pandas and matplotlib. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import csv
import json
import os
import pathlib
import re
import sys
import tempfile
import threading

import surroundings

PAGE = pathlib.Path(__file__).resolve().parents[3] / 'docs/python.md'


class Compared:
    """What the package says of a trace, and what verbs do."""

    def __init__(self, cairn, bench, problems, folder):
        self.cairn, self.bench, self.folder, self.expect = cairn, bench, folder, problems.expect
        self.problems = problems
        self.run = cairn.open(os.path.join(folder, 'run.cairn'))

    def told(self, *words):
        done = self.bench.run_in(self.folder, *words, 'run.cairn')
        if done.returncode not in (0, 1):
            sys.exit(f'{words}: {done}')
        return done.stdout

    def json(self, *words):
        return json.loads(self.told(*words, '--json'))

    def dumped(self, *words):
        return [json.loads(line) for line in self.told('dump', '--json', *words).splitlines()[1:]]

    def fails(self, kind, line, asked):
        """`asked` raises that, with the text that `cairn` prints."""
        try:
            asked()
        except kind as error:
            if line is not None:
                self.expect('text of an error', str(error), line)
            return
        self.problems.append(f'nothing was raised, and not {kind.__name__}: {line}')

    def all_of(self, call):
        """As a line of JSON has it."""
        found = {'rank': call.rank, 'thread': call.thread, 'index': call.index}
        if call.step is not None:
            found['step'] = call.step
        found.update(begin_ns=call.begin_ns, duration_ns=call.duration_ns, gap_ns=call.gap_ns, function=call.function,
                     args=dict(call.arguments))
        found['return'] = call.result
        found['site'] = None if call.site is None else {'file': call.site.file, 'line': call.site.line,
                                                        'function': call.site.function}
        return found

    def wanted_of(self, line):
        found = {name: line.get(name) for name in ('rank', 'thread', 'index', 'begin_ns', 'duration_ns', 'gap_ns', 'function', 'args',
                                                   'return')}
        if 'step' in line:
            found['step'] = line['step']
        site = line.get('site')
        found['site'] = site and {name: site.get(name) for name in ('file', 'line', 'function')}
        return found

    def calls(self):
        every = self.dumped()
        wanted = [self.wanted_of(line) for line in every]
        self.expect('calls', [self.all_of(call) for call in self.run.calls()], wanted)
        texts = [str(call) for call in self.run.calls(rank=2)]
        lines = [line.split('  ', 2)[-1] for line in self.told('dump', '--rank', '2').splitlines() if not line.startswith('#')]
        self.expect('texts', all(line.strip().endswith(text.strip()) for text, line in zip(texts, lines)), True)
        for rank in self.run.ranks:
            of = [each for each in wanted if each['rank'] == rank]
            calls = self.run.rank(rank).calls
            self.expect('len', len(calls), len(of))
            backwards = [self.all_of(calls[i]) for i in reversed(range(len(of)))]
            self.expect('calls from the last to the first', backwards[::-1], of)
            self.expect('a slice', [self.all_of(call) for call in calls[3:-2:5]], of[3:-2:5])
            self.expect('backwards', [self.all_of(call) for call in calls[10:2:-3]], of[10:2:-3])
            self.expect('the last', self.all_of(calls[-1]), of[-1])
            self.expect('of a slice', self.all_of(calls[4:][2]), of[6])
            for call in (of[5], of[len(of) // 2], of[-1]):
                end = call['begin_ns'] + call['duration_ns']
                first = next(each for each in of if each['begin_ns'] + each['duration_ns'] >= end)
                self.expect('at', calls.at(end).index, first['index'])
            self.fails(IndexError, None, lambda calls=calls: calls[len(calls)])
            self.fails(IndexError, None, lambda calls=calls: calls[-len(calls) - 1])
            self.fails(IndexError, None, lambda calls=calls: calls[2:4][2])
            self.fails(IndexError, None, lambda calls=calls: calls.at(10**18))
        for words, chosen in ((('--rank', '1,2', '--function', 'MPI_*send', '--tag', '7'), dict(rank=[1, 2], function='MPI_*send', tag=7)),
                              (('--rank', '0', '--from', '10', '--limit', '4'), dict(rank=0, start=10, limit=4)),
                              (('--time', '0.05s+50ms'), dict(time='0.05s+50ms')), (('--peer', '1'), dict(peer='1')),
                              (('--site', 'waits.c'), dict(site='waits.c', errors=False))):
            self.expect(f'chosen by {chosen}', [self.all_of(call) for call in self.run.calls(**chosen)],
                        [self.wanted_of(line) for line in self.dumped(*words)])
        self.frames(every)

    def frames(self, every):
        frame = self.run.calls().frame(bytes=True)
        for name in ('rank', 'thread', 'index', 'begin_ns', 'duration_ns', 'gap_ns'):
            self.expect(f'column {name}', frame[name].tolist(), [line[name] for line in every])
        self.expect('column function', frame['function'].tolist(), [line['function'] for line in every])
        self.expect('column bytes', [None if value is self.pandas.NA else value for value in frame['bytes'].tolist()],
                    [line.get('bytes') for line in every])
        self.expect('column site', frame['site'].tolist(), [str(call.site) for call in self.run.calls()])
        parts = list(self.run.calls().frames(rows=37))
        self.expect('parts', [len(part) for part in parts[:-1]], [37] * (len(every) // 37))
        self.expect('all parts', [name for part in parts for name in part['function'].tolist()],
                    [line['function'] for line in every])
        empty = self.run.calls(function='MPI_Abort').frame()
        self.expect('no calls', (len(empty), list(empty.columns)), (0, list(frame.columns)[:-1]))

    @property
    def pandas(self):
        import pandas

        return pandas

    def tables(self):
        run = self.run
        for word, by in (([], 'function'), (['--callsites'], 'site'), (['--per-rank'], 'rank')):
            wanted, found = self.json('summary', *word), run.summary(by=by)
            for mine, theirs in (('calls', 'calls'), ('bytes', 'bytes'), ('calls_of_unknown_size', 'calls_of_unknown_size')):
                self.expect(f'{mine} by {by}', [line[mine] for line in found['lines']],
                            [line.get(theirs) for line in wanted['lines']])
            if by != 'rank':
                self.expect('functions', [line['function'] for line in found['lines']],
                            [line['function'] for line in wanted['lines']])
        frame = run.matrix(by='comm').frame()
        wanted = list(csv.DictReader(self.told('matrix', '--by', 'comm', '--csv').splitlines()))
        mine = [{name: str(value) for name, value in line.items()} for line in frame.rename(columns={'group': 'comm'}).to_dict('records')]
        self.expect('matrix', mine, wanted)
        self.expect('whole matrix', int(run.matrix().array().sum()), sum(int(line['bytes']) for line in wanted))
        self.expect('messages of the matrix', int(run.matrix().array(messages=True).sum()),
                    sum(int(line['messages']) for line in wanted))
        self.expect('matrix opened', run.matrix(expanded=True).frame()['bytes'].sum() > frame['bytes'].sum(), True)
        self.expect('collectives', [(line['operation'], line['calls'], line['bytes']) for line in run.matrix().collectives],
                    [(line['operation'], line['calls'], line['bytes']) for line in self.json('matrix')['collectives']])
        wanted = list(csv.DictReader(self.told('sizes', '--exact', '--csv').splitlines()))
        self.expect('sizes', [[line['name'], *(str(line[name]) for name in ('least', 'most', 'count', 'bytes'))]
                              for line in run.sizes(exact=True)],
                    [[line['op'], *(line[name] for name in ('least', 'most', 'count', 'bytes'))] for line in wanted])
        messages = run.messages()
        exported = self.exported_messages()
        self.expect('columns of messages', list(messages.columns), list(exported[0]))
        self.expect('messages', [[('' if value is self.pandas.NA or value != value else str(value)) for value in line]
                                 for line in messages.itertuples(index=False)], [list(line.values()) for line in exported])
        names = ('function', 'place', 'times', 'turns', 'least_turns', 'most_turns', 'calls_a_turn', 'bytes_a_turn')

        def nest(item):
            return [item.get(name) for name in names] + [nest(inner) for inner in item.get('body', [])]

        def nests(kinds):
            return [(kind['ranks'], kind['thread'], kind['calls'], *map(nest, kind['items'])) for kind in kinds]

        self.expect('loops', nests(run.loops()), nests(self.json('loops')['kinds']))
        rows = list(csv.DictReader(self.told('loops', '--csv').splitlines()))
        frame = run.loops().frame()
        self.expect('rows of loops', [(str(row.depth), row.function or '', row.place, str(row.turns)) for row in frame.itertuples()],
                    [(row['depth'], row['function'], row['place'], row['turns']) for row in rows])
        waits, wanted = run.waits(), self.json('waits')

        def ns(seconds):
            return round(seconds * 1e9)

        self.expect('waiting', sorted((line['kind'], line['count'], line['in']['function'], line['time_ns']) for line in waits['lines']),
                    sorted((line['kind'], line['count'], line['in']['function'], ns(line['seconds'])) for line in wanted['lines']))
        for words, chosen in ((('--rank', '1-2'), dict(rank='1-2')), (('--function', 'MPI_Recv,MPI_Wait*', '--rank', '0'),
                              dict(function=['MPI_Recv', 'MPI_Wait*'], rank=0)), (('--time', '500ms+1s'), dict(time='500ms+1s'))):
            some, told = run.waits(**chosen), self.json('waits', *words)
            self.expect(f'waiting of {words}', (sorted(line['time_ns'] for line in some['lines']), [line['rank'] for line in some['ranks']]),
                        (sorted(ns(line['seconds']) for line in told['lines']), [line['rank'] for line in told['ranks']]))
            self.expect(f'{words} is a part', 0 < len(some['lines']) < len(waits['lines']), True)
        self.expect('causes', sorted(line['time_ns'] for line in waits['causes']), sorted(ns(line['seconds']) for line in wanted['causes']))
        self.expect('ranks', [(line['rank'], line['waited_ns'], line['outside_ns']) for line in waits['ranks']],
                    [(line['rank'], ns(line['waited_seconds']), ns(line['outside_seconds'])) for line in wanted['ranks']])
        self.expect('path', sorted(line['time_ns'] for line in waits['path']),
                    sorted(ns(line['seconds']) for line in self.json('path')['activities']))
        wanted = self.json('efficiency')
        found = run.efficiency()
        for factor in ('parallel', 'load_balance', 'communication', 'serialisation', 'transfer'):
            self.expect(factor, found[factor], wanted[factor])
        info = self.json('info')
        self.expect('calls of all', run.info['calls'], info['calls'])
        self.expect('classes', len(run.classes), info['classes'])
        line = run.timeline(columns=20, lines=2)
        self.expect('shape of a timeline', line.times.shape, (2, 20, len(line.doings)))
        self.expect('time in a timeline', line.times.sum() > 0, True)

    def exported_messages(self):
        done = self.bench.run_in(self.folder, 'export', '--to', 'csv', '-o', 'tables', 'run.cairn')
        if done.returncode != 0:
            sys.exit(f'export: {done}')
        with open(os.path.join(self.folder, 'tables', 'messages.csv'), newline='') as file:
            return list(csv.DictReader(file))

    def errors(self):
        cairn, run = self.cairn, self.run

        def line_of(*words):
            return self.bench.run_in(self.folder, *words).stderr.rstrip('\n').removeprefix('cairn: ')

        for name in ('missing.cairn', '.', 'text', 'cut.cairn', 'empty'):
            pathlib.Path(self.folder, 'text').write_text('no trace')
            pathlib.Path(self.folder, 'empty').touch()
            whole = pathlib.Path(self.folder, 'run.cairn').read_bytes()
            pathlib.Path(self.folder, 'cut.cairn').write_bytes(whole[:len(whole) // 2])
            self.fails(cairn.UnreadableError, line_of('dump', name), lambda name=name: cairn.open(name))
        self.fails(cairn.UsageError, line_of('dump', '--rank', '9', 'run.cairn'), lambda: list(run.calls(rank=9)))
        self.fails(cairn.UsageError, line_of('dump', '--time', 'soon', 'run.cairn'), lambda: list(run.calls(time='soon')))
        self.fails(TypeError, None, lambda: run.calls(fuction='MPI_Send'))
        self.fails(TypeError, None, lambda: run.summary(by='colour'))
        self.fails(IndexError, None, lambda: run.rank(9))
        self.fails(TypeError, None, lambda: run.rank(1.0))
        self.fails(cairn.UsageError, "rank='': it is empty", lambda: run.calls(rank=''))
        self.fails(cairn.UsageError, 'at(-1): it is no number from 0 on', lambda: run.rank(0).calls.at(-1))
        self.fails(IndexError, None, lambda: run.rank(0).calls.at(10**30))
        self.fails(cairn.UsageError, f'start={2**64}: it is beyond 2^64 - 1, the greatest there is',
                   lambda: run.calls(start=2**64).frame())
        self.fails(TypeError, None, lambda: run.rank(0).calls.at(0.5))
        untimed = cairn.open('untimed.cairn')
        self.fails(cairn.UsageError, line_of('waits', 'untimed.cairn'), untimed.waits)
        self.expect('no times', next(iter(untimed.calls())).begin_ns, None)
        self.expect('NA', bool(untimed.calls().frame()['begin_ns'].isna().all()), True)
        self.fails(IndexError, None, lambda: untimed.rank(0).calls.at(0))

    def at_once(self):
        """Several threads ask one run, and one sequence of calls."""
        calls = self.run.rank(0).calls
        alone = [str(call) for call in calls]
        wrong = []

        def ask(start):
            for i in range(start, 3 * len(alone), 7):
                if str(calls[i % len(alone)]) != alone[i % len(alone)]:
                    wrong.append(i)
            if self.run.summary()['calls'] != self.run.info['calls']:
                wrong.append('summary')

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.expect('what threads got wrong', wrong, [])

    def shown(self):
        table = self.run.summary()['lines']
        html = table._repr_html_()
        self.expect('lines shown', html.count('<tr>'), min(len(table), 50) + 1)  # with the heads
        self.expect('lines not shown', f'<p>and {len(table) - 50} more</p>' in html, len(table) > 50)
        for each in (self.run, self.run.summary(), self.run.matrix()):
            self.expect('shown', each._repr_html_().lstrip()[:1], '<')

    def examples(self):
        blocks = re.findall(r'```python\n(.*?)```', PAGE.read_text(), re.S)
        self.expect('there are examples', len(blocks) > 8, True)
        names = {'cairn': self.cairn, 'run': self.run}
        for block in blocks:
            exec(compile(block, str(PAGE), 'exec'), names)


def ranks_in(text):
    if not isinstance(text, str):
        return text
    ranges = [part.split('-') for part in text.split(',')]
    return [rank for part in ranges for rank in range(int(part[0]), int(part[-1]) + 1)]


def main():
    bench = surroundings.Bench(__doc__)
    problems = surroundings.Problems()
    os.environ['MPLBACKEND'] = 'agg'
    try:
        import numpy
        import pandas
        import matplotlib
    except ImportError as missing:
        print(missing, file=sys.stderr)
        return 77
    import cairn

    del numpy, pandas, matplotlib
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        os.chdir(folder)
        for trace, timing, program, ranks in (('run.cairn', 'lossless', 'waits', 4), ('untimed.cairn', 'off', 'exchange', 2)):
            done = bench.run_in(folder, 'record', '-q', '--timing', timing, '-o', trace, '--', 'timeout', '60', bench.mpiexec, '-n',
                                str(ranks), f'{bench.program}/{program}')
            if done.returncode != 0:
                sys.exit(f'record: {done}')
        compared = Compared(cairn, bench, problems, folder)
        for part in (compared.calls, compared.tables, compared.errors, compared.at_once, compared.shown, compared.examples):
            part()
        os.chdir('/')
    for problem in problems:
        print(problem[:2000], file=sys.stderr)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
