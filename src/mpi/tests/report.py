#!/usr/bin/env python3
"""Records programs, writes their pages, opens these in a real browser, and holds what each view gives as CSV against what the
verbs print as JSON. The browser must complain of nothing, and the page must load nothing.

    report.py --build BUILD --mpi mpich|openmpi FOLDER_OF_PROGRAMS [--rest]

--rest: more programs than one. Pictures of all views are left in BUILD/report. Exit status: 0 passed, 1 failed, 77 not
possible here (no npm or compiler of WebAssembly when this was built, or no browser).
"""
import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

import surroundings

HERE = pathlib.Path(__file__).resolve().parent


class Program:
    """What is recorded: its words (the first: a program of this folder, or a path), ranks, words of record, and a file that
    it reads in the folder it runs in."""

    def __init__(self, words, ranks, how=(), file=None):
        self.words, self.ranks, self.how, self.file = words, ranks, how, file
        self.name = pathlib.Path(words[0]).name


def programs(bench, build):
    yield Program(['stencil2d', '50'], 4, ['--timing', 'lossless'])
    # What would be HTML in a command line is not any in a page.
    yield Program(['exchange', '</script><script>alert(1)</script>', '<!--', '"><img src=x onerror=alert(2)>', '\udcff'], 2)
    if not bench.rest:
        return
    yield Program(['threads'], 2, ['--timing', 'lossless'])
    yield Program(['classes'], 4, ['--timing', 'stats-gaps'])
    yield Program(['rma'], 4, ['--timing', 'bins'])
    yield Program(['matching'], 4, ['--timing', 'off'])
    # Programs that nobody here wrote, and one that writes arrays, where they are at hand.
    for folder in pathlib.Path('/usr/lib').glob('*/scalapack/mpich-tests') if bench.mpi == 'mpich' else ():
        yield Program([str(folder / 'xdsep')], 4, file=folder / 'SEP.dat')
    if bench.mpi == 'openmpi' and shutil.which('hpcc'):
        yield Program(['/usr/bin/hpcc'], 4, file=HERE / 'hpccinf.txt')
    kernels = build / f'src/gpu/tests/turns_{bench.mpi}'
    if kernels.exists():
        yield Program([str(kernels)], 2, ['--timing', 'lossless'])
    arrays = build / 'src/arrays/tests/put_get'
    if arrays.exists() and bench.mpi in subprocess.run(['ldd', str(arrays)], capture_output=True, text=True).stdout:
        yield Program([str(arrays), 'put_get.nc'], 4, ['--timing', 'context'])


def recorded(bench, folder, program):
    """Makes NAME.cairn of one; what `cairn record` did."""
    if program.file is not None:
        shutil.copy(program.file, folder)
    words = [str(pathlib.Path(bench.program) / program.words[0]), *program.words[1:]]
    return bench.run_in(folder, 'record', '-q', *program.how, '-o', f'{program.name}.cairn', '--', bench.mpiexec, '-n',
                        str(program.ranks), *words)


def extrapolated(bench, folder):
    """A trace of more than 10^12 calls, from three of few."""
    for turns in (100, 200, 300):
        done = bench.run_in(folder, 'record', '-q', '-o', f'of{turns}.cairn', '--', bench.mpiexec, '-n', '16',
                            f'{bench.program}/stencil2d', str(turns))
        if done.returncode != 0:
            return done
    return bench.run_in(folder, 'extrapolate', '--of', '100,200,300', '-n', '70000000000', '-o', 'many.cairn',
                        'of100.cairn', 'of200.cairn', 'of300.cairn')


class Page:
    """A page's CSV files, and what the verbs say of its trace."""

    def __init__(self, bench, folder, name, problems):
        self.bench, self.folder, self.name, self.problems = bench, folder, name, problems
        self.lanes = []  # of the timeline, below its ranks

    def csv(self, view, number):
        path = self.folder / 'looks' / f'{self.name}.{view}.{number}.csv'
        if not path.exists():
            self.problems.append(f'{self.name}: {view} has no CSV {number}')
            return []
        with path.open(newline='') as lines:
            return list(csv.DictReader(lines))

    def verb(self, *words):
        done = self.bench.run_in(self.folder, *words, '--json', f'{self.name}.cairn')
        return json.loads(done.stdout) if done.returncode in (0, 1) and done.stdout else None

    def expect(self, what, found, wanted):
        self.problems.expect(f'{self.name}: {what}', found, wanted)

    def near_sum(self, what, found, wanted):
        """Of ns, each of which was rounded."""
        if not math.isclose(found, wanted, rel_tol=1e-6, abs_tol=2.0):
            self.problems.append(f'{self.name}: {what}: {found}, and not {wanted}')

    def near(self, what, found, wanted):
        if found in ('', None) or wanted is None:
            if not (found in ('', None) and wanted is None):
                self.problems.append(f'{self.name}: {what}: {found!r}, and not {wanted!r}')
        elif not math.isclose(float(found), wanted, rel_tol=1e-9, abs_tol=1e-15):
            self.problems.append(f'{self.name}: {what}: {found}, and not {wanted}')


def functions_and_sites(page):
    for view, words in ((0, ['summary']), (1, ['summary', '--callsites'])):
        wanted = page.verb(*words)['lines']
        found = page.csv('sites', view)
        page.expect(f'lines of {words}', len(found), len(wanted))
        for row, line in zip(found, wanted):
            page.expect('function', row['function'], line['function'])
            page.expect(f'calls of {row["function"]}', row['calls'], str(line['calls']))
            for column, field in (('time', 'seconds'), ('median', 'median_seconds'), ('99 %', 'p99_seconds'),
                                  ('longest', 'max_seconds'), ('imbalance', 'imbalance'), ('bytes', 'bytes')):
                page.near(f'{column} of {row["function"]}', row[column], line[field])


def matrix(page):
    told = page.verb('matrix', '--by', 'comm')
    word = {'message': 'messages', 'neighbour': 'neighbours', 'onesided': 'one-sided', 'collective': 'collectives'}
    wanted = [(group['name'], cell['from'], cell['to'], word[cell['kind']], cell['messages'], cell['bytes'])
              for group in told['groups'] for cell in group['cells']]
    found = [(row['communicator'], int(row['from']), int(row['to']), row['kind'], int(row['messages']), int(row['bytes']))
             for row in page.csv('matrix', 0)]
    page.expect('matrix', sorted(found), sorted(wanted))
    if told['collectives']:
        found = sorted((row['operation'], row['communicator'], int(row['calls']), int(row['bytes'])) for row in page.csv('matrix', 2))
        page.expect('collectives', found, sorted((one['operation'], one['communicator'], one['calls'], one['bytes'])
                                                 for one in told['collectives']))


def sizes(page):
    wanted = sorted((group['name'], bar['least'], bar['most'], bar.get('messages', bar.get('calls')), bar['bytes'])
                    for group in page.verb('sizes')['groups'] for bar in group['sizes'])
    found = page.csv('sizes', len(page.verb('sizes')['groups'])) if wanted else []
    page.expect('sizes', sorted((row['operation'], int(row['at least']), int(row['at most']), int(row['messages or calls']),
                                 int(row['bytes'])) for row in found), wanted)


def waits(page):
    wanted = page.verb('waits')
    if wanted is None:
        return
    found = page.csv('waits', 0)
    page.expect('kinds of waits', sorted((row['kind'], int(row['times'])) for row in found),
                sorted((kind['kind'], kind['count']) for kind in wanted['kinds']))
    for row in page.csv('waits', 3):
        one = next(rank for rank in wanted['ranks'] if rank['rank'] == int(row['rank']))
        for column, field in (('waited', 'waited_seconds'), ('blamed', 'blamed_seconds'), ('path', 'path_seconds')):
            page.near(f'{column} of rank {row["rank"]}', row[column], one[field])


def timeline(page):
    found = page.csv('timeline', 0)
    lines = {}
    for row in found:
        lines.setdefault(row['ranks'], []).append(row)
    columns = max((len(rows) for rows in lines.values()), default=0)
    if columns == 0:
        page.problems.append(f'{page.name}: the timeline is empty')
        return
    wanted = page.verb('timeline', '--columns', str(columns))
    kinds = [name for name in found[0] if name not in ('ranks', 'from', 'to')]
    for line in wanted['lines']:
        text = ranks_text(line['ranks'])
        rows = lines.get(text)
        if rows is None:
            page.problems.append(f'{page.name}: the timeline has no line of {text}')
            continue
        for kind in kinds:
            told = sum(float(row[kind]) for row in rows) * (len(line['ranks']) or 1)
            page.near_sum(f'timeline of {text}, {kind}', told, sum(line['ns'].get(kind, [])))


def ranks_text(ranks):
    """As in "0-3,8"."""
    parts, first = [], 0
    for i in range(len(ranks)):
        if i + 1 == len(ranks) or ranks[i + 1] != ranks[i] + 1:
            parts.append(str(ranks[first]) if first == i else f'{ranks[first]}-{ranks[i]}')
            first = i + 1
    return ','.join(parts)


def loops(page):
    """Of the first kind of ranks, which is what is seen at first."""
    def flat(items):
        for item in items[:1000]:  # lists are cut
            yield item
            yield from flat(item.get('body') or [])

    kinds = page.verb('loops', '--limit', '1000')['kinds']  # as pages have them
    wanted = list(flat(kinds[0]['items'])) if kinds else []
    found = page.csv('loops', 0) if wanted else []
    page.expect('number of loops and calls', len(found), len(wanted))
    for row, item in zip(found, wanted):
        page.expect('place', row['what and where'], item['place'])
        page.near(f'turns at {item["place"]}', row['turns'], item['turns'] / max(1, item['times']))
        for column, field in (('calls a turn', 'calls_a_turn'), ('bytes a turn', 'bytes_a_turn'), ('time a turn', 'seconds_a_turn')):
            page.near(f'{column} at {item["place"]}', row[column], item[field])


def ranks(page):
    told = page.verb('ranks')
    found = page.csv('ranks', 1)
    page.expect('classes of ranks', [row['ranks'] for row in found], [ranks_text(one['ranks']) for one in told['classes']])
    for row, one in zip(found, told['classes']):
        page.near('calls of each', row['calls of each'], one['calls']['mean'])
        page.expect('what sets it apart', row['what sets it apart'], '; '.join(map(str, one['differences'])))
    found = page.csv('ranks', 2)
    page.expect('ranks', len(found), len(told['ranks']))
    for row, one in zip(found, told['ranks']):
        for column, field in (('rank', 'rank'), ('calls', 'calls'), ('bytes', 'bytes'), ('in MPI', 'mpi_seconds'),
                              ('outside MPI', 'outside_seconds')):
            page.near(f'{column} of rank {one["rank"]}', row[column], one.get(field))


def faults(page):
    if page.verb('info')['calls'] > 20_000_000:
        return  # more than a page asks `check` about
    told = page.verb('check')
    found = page.csv('check', 0) if told and told['findings'] else []
    page.expect('faults', [(row['kind'], row['what'], int(row['times'])) for row in found],
                [(one['kind'], one['text'], one['count']) for one in told['findings']] if told else [])


def kernels(page):
    """Each launch, and a lane for each stream on the timeline."""
    told = page.verb('gpu', 'launches')
    if told is None:
        return
    found = page.csv('gpu', 1)
    page.expect('launches', [(int(row['launch']), int(row['rank']), row['kernel'], row['grid'], row['block']) for row in found],
                [(one['launch'], one['rank'], one['kernel'], one['grid'], one['block']) for one in told['launches']])
    for row, one in zip(found, told['launches']):
        for column, field in (('began', 'begin_ns'), ('queued for', 'queued_ns'), ('ran', 'duration_ns')):
            page.near(f'{column} of launch {row["launch"]}', row[column], None if one[field] is None else one[field] / 1e9)
    streams = {f'{one["rank"]} gpu{one["device"]}/{one["stream"]}' for one in told['launches'] if one['begin_ns'] is not None}
    page.expect('lanes of the timeline', streams - set(page.lanes), set())
    used = page.verb('gpu', 'blocks')['kernels']
    page.expect('kernels with clocks', len(used) > 0, True)
    # Behind the tables of kernels, of launches, and of points where there are some.
    found = page.csv('gpu', 3 if page.verb('gpu', 'divergence')['points'] else 2)
    page.expect('blocks', [(row['kernel'], int(row['launches']), int(row['blocks']), int(row['most'])) for row in found],
                [(one['kernel'], one['launches'], one['blocks'], one['longest_block_cycles']) for one in used])


def calls(page):
    dumped = page.bench.run_in(page.folder, 'dump', '--no-launches', '--rank', '0', '--limit', '100', f'{page.name}.cairn').stdout.splitlines()
    found = page.csv('calls', 0)
    page.expect('calls of rank 0', len(found), min(100, len(dumped) - 1))
    for row, line in zip(found, dumped[1:]):
        if row['text'] not in line:
            page.problems.append(f'{page.name}: call {row["call"]} is {row["text"]}, and not {line}')
            return


def looks(page, told):
    page.expect('what the browser complains of', told['errors'], [])
    page.expect('its title', told['title'], page.verb('info')['command'])
    for view, seen in told['views'].items():
        if seen['blank'] > 0:
            page.problems.append(f'{page.name}: a chart of {view} is blank')
        if seen['text'] < 20:
            page.problems.append(f'{page.name}: {view} says nothing')


def looked_at(look, folder, pages, *how):
    done = subprocess.run(['node', str(look), '--out', str(folder / 'looks'), *how, *pages], capture_output=True, text=True, timeout=300)
    if done.returncode == 77:
        print('no browser here')
        sys.exit(77)
    if done.returncode != 0:
        sys.exit(f'look.mjs: {done.stdout} {done.stderr}')
    return json.loads(done.stdout)


def served(bench, folder, look, problems):
    """A trace whose times lie in blocks, which the page fetches by ranges: of more than a million bytes."""
    done = bench.run_in(folder, 'record', '-q', '--timing', 'lossless', '-o', 'blocks.cairn', '--', bench.mpiexec, '-n', '4',
                        f'{bench.program}/stencil2d', '80000')
    if done.returncode != 0 or (folder / 'blocks.cairn').stat().st_size < 1_000_000:
        problems.append(f'blocks.cairn: {done}')
        return []
    wall = round(json.loads(bench.run_in(folder, 'info', '--json', 'blocks.cairn').stdout)['wall_seconds'] * 1e9)
    with subprocess.Popen([bench.cairn, 'serve', str(folder)], stdout=subprocess.PIPE, text=True) as serving:
        page = f'{serving.stdout.readline().strip()}view/blocks.cairn'
        part = looked_at(look, folder, [page], '--fragment', f'#timeline?from={wall // 2}&to={wall // 2 + 300_000}')
        told = looked_at(look, folder, [page])
        serving.terminate()
    # Of a run of millions of calls the messages of a part of it are matched alone.
    bench.run_in(folder, 'export', '--to', 'csv', '-o', 'part', '--time', f'{wall // 2}ns+300us', 'blocks.cairn')
    with (folder / 'part/messages.csv').open(newline='') as lines:
        wanted = len(list(csv.DictReader(lines)))
    if wanted == 0 or f'; {wanted} messages' not in part[0].get('labels', [''])[0]:
        problems.append(f'blocks: {wanted} messages of a part, and the page shows {part}')
    for one in told:
        one['page'] = one['page'].removesuffix('.cairn')
        for path in (folder / 'looks').glob('blocks.cairn.*'):
            path.rename(path.with_name(path.name.replace('.cairn', '', 1)))
    return told


def main():
    bench = surroundings.Bench(__doc__, rest=True)
    build = pathlib.Path(bench.cairn).parents[1]
    modules = build / 'src/report/page/node_modules'
    if not (build / 'share/cairn/report/reader.wasm.gz').exists() or not modules.exists():
        print('cairn report is not built here')
        return 77
    problems = surroundings.Problems()
    bench.environment['CAIRN_GPU_LIBRARY'] = str(build / 'lib/libcairn-gpu.so')
    bench.environment['CAIRN_GPU_CLOCKS'] = '1'
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        pages = []
        made = [(program.name, recorded(bench, folder, program)) for program in programs(bench, build)]
        if bench.rest:
            made.append(('many', extrapolated(bench, folder)))
        for name, done in made:
            if done.returncode == 0:
                done = bench.run_in(folder, 'report', '-q', f'{name}.cairn')
            if done.returncode != 0 or done.stderr:
                problems.append(f'{name}: {done}')
                continue
            pages.append(name)
            html, trace = (folder / f'{name}.{end}' for end in ('html', 'cairn'))
            # Each byte of a trace takes 8/7 of one, as it has to be text. Programs of hundreds of call sites have more to tell.
            most = trace.stat().st_size * 8 / 7 + (530_000 if name in ('xdsep', 'hpcc', 'matching', 'rma') else 460_000)
            if html.stat().st_size > most:
                problems.append(f'{html.name} has {html.stat().st_size} bytes, more than {most:.0f}')
        look = build / 'src/report/page/look.mjs'
        told = looked_at(look, folder, [str(folder / f'{page}.html') for page in pages])
        if bench.rest:
            told += served(bench, folder, look, problems)
        kept = build / 'report'
        kept.mkdir(exist_ok=True)
        for picture in (folder / 'looks').glob('*.png'):
            (kept / picture.name).write_bytes(picture.read_bytes())
        for one in told:
            page = Page(bench, folder, one['page'], problems)
            looks(page, one)
            labels = one['views'].get('timeline', {}).get('labels') or ['']
            page.lanes = labels[0].partition('; below: ')[2].split(', ')
            if page.name == 'put_get':
                page.expect('a lane of calls on files', 'file I/O' in page.lanes, True)
            if bench.rest and page.name == 'many' and page.verb('info')['calls'] <= 10**12:
                problems.append('the extrapolated run has fewer than 10^12 calls')
            for check in (functions_and_sites, matrix, sizes, waits, timeline, loops, ranks, faults, kernels, calls):
                check(page)
    for problem in problems[:40]:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
