#!/usr/bin/env python3
"""Measures what the evaluation of Bicer, Yin and Agrawal (2014) shows, in small, and draws their Figures 7 to 13.

    arrays_figures.py --build BUILD --layer LIBRARY [--figure 7|8|9|10|11|12|13|speed|memory]... [--runs 5]
                      [--json docs/arrays-figures.json] [--drawings docs/figures]
    arrays_figures.py --again            measures nothing: tables and drawings from the JSON

One command a figure; figures of the same runs (8 and 9, 10 and 11, 12 and 13) come together. What was measured takes
its place in the JSON; the page of tables beside it and the drawings are made from that (with gnuplot; without it there
are tables only). The disk is slow_disk.py's, 20 MiB/s unless a figure says otherwise; where it can't be had this ends
with status 77. Each takes three to ten minutes. `speed` is no figure of the paper: where compression stops to pay.
`memory` has no disk at all.
"""
import argparse
import datetime
import json
import pathlib
import sys
import textwrap

import arrays_plots
from arrays_runs import PLAIN, Case, Programs, measure, tables
from slow_disk import IMPOSSIBLE, Disk, Impossible, Memory, end_politely

ROOT = pathlib.Path(__file__).resolve().parents[3]
ALL = [PLAIN, 'dense, auto', 'hybrid, auto', 'sparse, auto']
MOVING = [PLAIN, 'dense, auto', 'dense, auto alone', 'dense, xor']
EVERY = [*ALL, 'dense, xor', 'HDF5, none', 'HDF5, bitshuffle']
MIB = 1 << 20
SIZES = {'64 KiB': '65536', '256 KiB': '262144', '1 MiB': '1048576', '4 MiB': '4194304'}
RANKS = (1, 2, 4, 8)


def bench(rate, iterations):
    return {str(n): Case('bench', n, rate=rate, bytes=str(8 * MIB // n), iterations=iterations) for n in RANKS}


def md(ranks, more=(), rate=20):
    return {str(n): Case('md', n, more, rate=rate, steps='20') for n in ranks}


# Runs: the variants, and a case for each place on the x axis. 32 MiB of values, as much for any number of ranks; more
# where the disk is faster.
RUNS = {
    'splits': (ALL, {name: Case('bench', env={'CAIRN_ARRAYS_SPLIT': size}, piece='4M', iterations='2', reads=False)
                     for name, size in SIZES.items()}),
    'stripes': (ALL, {name: Case('bench', more=['--hint', f'striping_unit={size}'], iterations='2', reads=False)
                      for name, size in SIZES.items()}),
    'ranks': (EVERY, bench(20, '4')),
    'ranks-faster': (EVERY, bench(160, '16')),
    'md': (MOVING, md(RANKS[:3])),
    'md-soa': (MOVING, md(RANKS[:3], ['--soa'])),
    'md-slower': (MOVING, md(RANKS[:3], rate=5)),
    'climate': ([PLAIN, 'dense, auto', 'dense, xor', 'HDF5, none', 'HDF5, bitshuffle'],
                {str(n): Case('climate', n, edge='60') for n in RANKS}),
    'speed': ([PLAIN, 'dense, auto', 'dense, auto:speed', 'dense, xor', 'HDF5, bitshuffle'],
              {str(rate): Case('bench', rate=rate, iterations=str(max(2, rate // 20))) for rate in (20, 40, 80, 160, 320)}),
    'memory': ([PLAIN, 'dense, store', 'dense, xor', 'dense, auto:speed', 'dense, auto', 'HDF5, none',
                'HDF5, bitshuffle'],
               {'2': Case('bench', 2, env={'OMPI_MCA_mpi_yield_when_idle': '0'}, bytes='8M', iterations='16')}),
}
TITLES = {
    'splits': ('Figure 7: writing, sizes of splits', 'bytes of values in a split'),
    'stripes': ('Figure 7: writing, sizes of stripes', 'the hint striping_unit'),
    'ranks': ('Figures 8 and 9: writing and reading', 'ranks'),
    'ranks-faster': ('Figures 8 and 9: writing and reading, a faster disk', 'ranks'),
    'md': ('Figures 10 and 11: molecular dynamics', 'ranks'),
    'md-soa': ('Figures 10 and 11: molecular dynamics, one coordinate after another', 'ranks'),
    'md-slower': ('Figures 10 and 11: molecular dynamics, a slower disk', 'ranks'),
    'climate': ('Figures 12 and 13: the atmosphere, AT and MATT', 'ranks'),
    'speed': ('Speeds of the disk', 'the speed of the disk, MiB/s'),
    'memory': ('No disk', 'ranks'),
}
MD = ['md', 'md-soa', 'md-slower']
FIGURES = {'7': ['splits', 'stripes'], '8': ['ranks', 'ranks-faster'], '9': ['ranks', 'ranks-faster'], '10': MD,
           '11': MD, '12': ['climate'], '13': ['climate']}


def written(data):
    """JSON with a line for each variant's rounds, so that differences can be read."""
    parts = []
    for name, run in data.items():
        points = []
        for point in run['points']:
            rounds = ',\n'.join(f'      {json.dumps(variant)}: {json.dumps(times)}'
                                for variant, times in point['rounds'].items())
            sizes = json.dumps(point['bytes'])
            points.append(f'    {{"x": {json.dumps(point["x"])}, "bytes": {sizes}, "rounds": {{\n{rounds}}}}}')
        head = {key: value for key, value in run.items() if key != 'points'}
        parts.append(f'  {json.dumps(name)}: {json.dumps(head)[:-1]}, "points": [\n' + ',\n'.join(points) + ']}')
    return '{\n' + ',\n'.join(parts) + '\n}\n'


def run(options, names, keep):
    """The runs of those names, each given to `keep` when it is complete; and whether all could be had."""
    possible = True
    for name in names:
        variants, cases = RUNS[name]
        try:
            with Memory() if name == 'memory' else Disk(next(iter(cases.values())).rate, 1 << 30) as place:
                programs = Programs(options.build.resolve(), options.mpi, place, options.seconds)
                points = measure(programs, cases, variants, options.layer.resolve(), options.runs)
                keep(name, {'measured': str(datetime.date.today()), 'disk': place.speeds, 'points': points})
        except Impossible as why:
            print(f'{name}: no honest slow disk here: {why}', file=sys.stderr)
            possible = False
    return possible


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path)
    parser.add_argument('--layer', type=pathlib.Path)
    parser.add_argument('--figure', action='append', choices=[*FIGURES, *RUNS], metavar='FIGURE',
                        help='one of the above, or one of its runs: ' + ', '.join(RUNS))
    parser.add_argument('--again', action='store_true')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--mpi', default='openmpi', help='suffix of mpiexec')
    parser.add_argument('--seconds', type=int, default=300, help='for a program, at most')
    parser.add_argument('--json', type=pathlib.Path, default=ROOT / 'docs/arrays-figures.json')
    parser.add_argument('--drawings', type=pathlib.Path, default=ROOT / 'docs/figures')
    options = parser.parse_args()
    if not options.again and not (options.build and options.layer and options.figure):
        parser.error('either --again, or --build, --layer and --figure')
    return options


def page(data):
    """All tables, as a page of the documents."""
    text = [f"""# Tables of the figures

Made by `src/arrays/bench/arrays_figures.py`; what they say: [arrays.md](arrays.md#on-a-slow-disk),
every single time: [arrays-figures.json](arrays-figures.json). Medians of the rounds, in brackets
least and most; then how many times as fast as PnetCDF in the same round. Names without HDF5 or
PnetCDF are layout and codec of the layer.
"""]
    for name, (title, x) in TITLES.items():
        if name in data:
            found = data[name]
            rounds = len(found['points'][0]['rounds'][PLAIN])
            speeds = ', '.join(f'{asked}: {writes} written, {reads} read'
                               for asked, (writes, reads) in found['disk'].items())
            where = f'Speed of the disk in MiB/s, asked for and measured: {speeds}' if speeds else 'In memory'
            text += [f'## {title}\n',
                     textwrap.fill(f'{rounds} rounds, {found["measured"]}, over {x}. {where}.', 100) + '\n',
                     tables(name, found['points'])]
    return '\n'.join(text)


def main():
    options = parse()
    data = json.loads(options.json.read_text()) if options.json.exists() else {}

    def keep(name, found):
        data[name] = json.loads(json.dumps(found))
        options.json.write_text(written({name: data[name] for name in RUNS if name in data}))
        print(tables(name, found['points']), flush=True)

    end_politely()
    names = [name for name in RUNS if any(name in FIGURES.get(word, [word]) for word in options.figure or [])]
    possible = run(options, names, keep)
    if data:
        options.json.with_suffix('.md').write_text(page(data))
        arrays_plots.draw(data, options.drawings)
    return 0 if possible else IMPOSSIBLE


if __name__ == '__main__':
    sys.exit(main())
