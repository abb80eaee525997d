#!/usr/bin/env python3
"""Measures what the layer over PnetCDF gains on a disk of known, low speed, against plain PnetCDF and parallel HDF5:
one case, with sizes of one's own. The figures that are published: arrays_figures.py.

    arrays_disk.py --build BUILD --layer LIBRARY [--rate 20] [--runs 5] [--case bench|md|climate] [--ranks 1,4]
                   [--variants 'dense, auto; sparse, xor; HDF5, bitshuffle'] [--bytes 4M] [--steps 60] ... [--json FILE]

The disk is slow_disk.py's; where it can't be had this ends with status 77 and nothing is claimed. Cases, variants and
rounds: arrays_runs.py. A table says the median of the rounds, least and most, and how many times as fast as plain
PnetCDF in the same round that is.
"""
import argparse
import json
import pathlib
import sys

from arrays_runs import PLAIN, SIZES, Case, Programs, measure, tables
from slow_disk import IMPOSSIBLE, Disk, Impossible, end_politely


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--layer', type=pathlib.Path, required=True)
    parser.add_argument('--case', choices=['bench', 'md', 'climate'], default='bench')
    parser.add_argument('--variants', default='dense, auto; hybrid, auto; sparse, auto; dense, xor')
    parser.add_argument('--rate', type=int, default=20, help='MiB a second')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--ranks', default='4', help='one number or more: 1,2,4')
    parser.add_argument('--mpi', default='openmpi', help='suffix of mpiexec')
    parser.add_argument('--soa', action='store_true', help='md: one coordinate after another')
    for name, value in SIZES.items():
        parser.add_argument(f'--{name}', default=value, help=f'{value} if nothing is said')
    parser.add_argument('--seconds', type=int, default=300, help='for a program, at most')
    parser.add_argument('--json', type=pathlib.Path)
    return parser.parse_args()


def main():
    options = parse()
    end_politely()
    sizes = {name: getattr(options, name) for name in SIZES}
    cases = {ranks: Case(options.case, int(ranks), ['--soa'] if options.soa else [], rate=options.rate, **sizes)
             for ranks in options.ranks.split(',')}
    variants = [PLAIN, *[name.strip() for name in options.variants.split(';')]]
    try:
        with Disk(options.rate, 3 << 30) as disk:
            programs = Programs(options.build.resolve(), options.mpi, disk, options.seconds)
            points = measure(programs, cases, variants, options.layer.resolve(), options.runs)
            speeds = disk.speeds
    except Impossible as why:
        print(f'no honest slow disk here: {why}', file=sys.stderr)
        return IMPOSSIBLE
    written, read = speeds[options.rate]
    print(tables(f'{options.case}, disk {written} MiB/s written, {read} read', points))
    if options.json:
        options.json.write_text(json.dumps({'disk': speeds, 'points': points}, indent=1) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
