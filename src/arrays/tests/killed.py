#!/usr/bin/env python3
"""Kills a job at random points while it writes through the layer, in each layout, in collective and in independent mode:
all that a call had written when it returned is read back, by the layer from the file as it is, and after
`cairn arrays recover`. Says what failed; exit status 1 then, and the folder is kept.

    killed.py --cairn PROGRAM --layer LIBRARY --program PROGRAM [--mpiexec PROGRAM] [--points N] [--seed N]
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import surroundings

NAMES = [f'{layout}-{mode}' for mode in ('collective', 'independent') for layout in ('dense', 'sparse', 'hybrid')]
RANKS = 2


class Failed(Exception):
    pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('cairn', 'layer', 'program'):
        parser.add_argument(f'--{name}', required=True)
    parser.add_argument('--mpiexec', default='mpiexec.openmpi')
    parser.add_argument('--points', type=int, default=2)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--most', type=float, default=0.4, help='seconds')
    options = parser.parse_args()
    top = pathlib.Path(tempfile.mkdtemp(prefix='cairn-test-arrays-killed-'))
    env = surroundings.environment(top)
    dice = random.Random(options.seed)

    def run(folder, *words, status=0):
        done = subprocess.run([str(word) for word in words], cwd=folder, env=env, capture_output=True, text=True,
                              errors='replace', timeout=120, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != status:
            raise Failed(f'{" ".join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}')
        return done.stdout + done.stderr

    def kill_at(folder, seconds):
        # In some jobs what is synchronised goes into segments of the index.
        own = dict(env, CAIRN_ARRAYS_INDEX=str(dice.choice((1, 3, 4096))))
        job = subprocess.Popen([options.mpiexec, '-n', str(RANKS), '-x', f'LD_PRELOAD={options.layer}', options.program,
                                'write', str(folder), '1000000'], cwd=folder, env=own, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if job.stdout.readline() != b'writing\n':
            raise Failed('it did not begin to write')
        time.sleep(seconds)
        for rank in range(RANKS):
            os.kill(int((folder / f'pid{rank}').read_text()), signal.SIGKILL)
        job.communicate(timeout=60)

    def check(folder):
        return run(folder, options.mpiexec, '-n', 1, '-x', f'LD_PRELOAD={options.layer}', options.program, 'check',
                   'noted', *(word for name in NAMES for word in (name, f'{name}.nc')))

    def point(number):
        folder = top / str(number)
        folder.mkdir()
        kill_at(folder, dice.uniform(0, options.most))
        said = check(folder)
        for name in NAMES:
            if 'not closed' not in run(folder, options.cairn, 'arrays', 'verify', f'{name}.nc', status=1):
                raise Failed(f'{name}: verify does not say that it was not closed')
            run(folder, options.cairn, 'arrays', 'recover', f'{name}.nc')
            run(folder, options.cairn, 'arrays', 'verify', f'{name}.nc')
        again = check(folder)
        lines = [[line for line in text.splitlines() if ' steps' in line] for text in (said, again)]
        if len(lines[0]) != len(NAMES) or lines[0] != lines[1]:
            raise Failed(f'{said}\nbut recovered\n{again}')
        print('; '.join(lines[0]))
        shutil.rmtree(folder)

    try:
        for number in range(options.points):
            point(number)
    except Failed as failure:
        print(f'FAILED: {failure}\n  kept: {top}')
        return 1
    shutil.rmtree(top, ignore_errors=True)
    return 0


sys.exit(main())
