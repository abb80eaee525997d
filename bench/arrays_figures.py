#!/usr/bin/env python3
"""Measures what the evaluation of Bicer, Yin and Agrawal (2014) shows, in small, and draws their Figures 7 to 13.

    arrays_figures.py --build BUILD --layer LIBRARY [--figure 7|8|9|10|11|12|13|speed|memory]... [--runs 5]
                      [--json docs/arrays-figures.json] [--drawings docs/figures]
    arrays_figures.py --again            draws and prints what the JSON says, measures nothing

One command a figure; figures of the same runs (8 and 9, 10 and 11, 12 and 13) come together. What was measured takes
its place in the JSON, the drawings are made from that (with gnuplot; without it there are tables only). The disk is
slow_disk.py's, 20 MiB/s unless a figure says otherwise; where it can't be had this ends with status 77. Each takes
three to ten minutes. `speed` is no figure of the paper: where compression stops to pay. `memory` has no disk at all.
"""
import argparse
import datetime
import json
import pathlib
import sys

import arrays_plots
from arrays_runs import PLAIN, Case, Programs, measure, print_tables
from slow_disk import IMPOSSIBLE, Disk, Impossible, Memory, end_politely

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALL = [PLAIN, 'dense, auto', 'hybrid, auto', 'sparse, auto']
MIB = 1 << 20
SIZES = {'64 KiB': '65536', '256 KiB': '262144', '1 MiB': '1048576', '4 MiB': '4194304'}
RANKS = (1, 2, 4, 8)


def md(ranks, more=(), rate=20):
    return {str(n): Case('md', n, more, rate=rate, steps='20') for n in ranks}


# Runs: the variants, and a case for each place on the x axis. 32 MiB of values, as much for any number of ranks.
RUNS = {
    'splits': (ALL, {name: Case('bench', env={'CAIRN_ARRAYS_SPLIT': size}, piece='4M', iterations='2', reads=False)
                     for name, size in SIZES.items()}),
    'stripes': (ALL, {name: Case('bench', more=['--hint', f'striping_unit={size}'], iterations='2', reads=False)
                      for name, size in SIZES.items()}),
    'ranks': ([*ALL, 'dense, xor', 'HDF5, none', 'HDF5, bitshuffle'],
              {str(n): Case('bench', n, bytes=str(8 * MIB // n)) for n in RANKS}),
    'md': ([PLAIN, 'dense, auto', 'dense, xor'], md(RANKS[:3])),
    'md-soa': ([PLAIN, 'dense, auto', 'dense, xor'], md(RANKS[:3], ['--soa'])),
    'md-slower': ([PLAIN, 'dense, auto', 'dense, xor'], md(RANKS[:3], rate=5)),
    'climate': ([PLAIN, 'dense, auto', 'dense, xor'], {str(n): Case('climate', n, edge='60') for n in RANKS}),
    'speed': ([PLAIN, 'dense, auto', 'dense, auto:speed', 'dense, xor', 'HDF5, bitshuffle'],
              {str(rate): Case('bench', rate=rate, iterations='2') for rate in (10, 20, 40, 80, 160, 320)}),
    'memory': ([PLAIN, 'dense, store', 'dense, xor', 'dense, auto:speed', 'dense, auto', 'HDF5, none',
                'HDF5, bitshuffle'],
               {'4': Case('bench')}),
}
FIGURES = {'7': ['splits', 'stripes'], '8': ['ranks'], '9': ['ranks'], '10': ['md', 'md-soa', 'md-slower'],
           '11': ['md', 'md-soa', 'md-slower'], '12': ['climate'], '13': ['climate'], 'speed': ['speed'],
           'memory': ['memory']}


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


def run(options, names):
    """The runs of those names, as they are kept in the JSON."""
    found = {}
    for name in names:
        variants, cases = RUNS[name]
        with Memory() if name == 'memory' else Disk(next(iter(cases.values())).rate, 1 << 30) as place:
            programs = Programs(options.build.resolve(), options.mpi, place, options.seconds)
            points = measure(programs, cases, variants, options.layer.resolve(), options.runs)
            found[name] = {'measured': str(datetime.date.today()), 'disk': place.speeds, 'points': points}
        options.keep(found)
    return found


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path)
    parser.add_argument('--layer', type=pathlib.Path)
    parser.add_argument('--figure', action='append', choices=list(FIGURES))
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


def main():
    options = parse()
    data = json.loads(options.json.read_text()) if options.json.exists() else {}

    def keep(found):
        data.update(found)
        options.json.write_text(written({name: data[name] for name in RUNS if name in data}))

    options.keep = keep
    end_politely()
    names = [name for name in RUNS if any(name in FIGURES[figure] for figure in options.figure or [])]
    try:
        measured = data if options.again else run(options, names)
    except Impossible as why:
        print(f'no honest slow disk here: {why}', file=sys.stderr)
        return IMPOSSIBLE
    for name, found in measured.items():
        rounds = len(found['points'][0]['rounds'][PLAIN])
        print_tables(f'{name} ({found["measured"]}, {rounds} rounds)', found['points'])
    return arrays_plots.draw(data, options.drawings)


if __name__ == '__main__':
    sys.exit(main())
