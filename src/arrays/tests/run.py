#!/usr/bin/env python3
"""Runs a PnetCDF client bare and with the layer over PnetCDF, and fails unless both say and leave the same.

    run.py [--layer LIBRARY --codec CODEC --layout LAYOUT --chain N --index N] [-n N] [options] -- program args [--then N program args]...

The program runs bare in one new folder; with --layer, again in another one with the layer preloaded into its ranks. What
comes after --then follows in the same folder, on a number of ranks of its own. Both must end with status 0 and print the
same lines, in whatever order the ranks came (what --ignore matches is left out, such as times). Then, for every .nc file that the
program left:

  - ncmpidump -h with the layer says of the compressed file what it says bare of the plain one;
  - ncmpidiff with the layer finds the same values in both;
  - a stock ncdump -h opens the compressed file, and a stock ncvalidator finds it valid;
  - at least one of the files is not byte for byte the plain one: the layer did something.

Exit status: 0 passed, 1 failed, 77 not possible here. The folders are kept when something failed, or with --keep.
"""
import argparse
import filecmp
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import surroundings

SKIPPED = 77


class Failed(Exception):
    pass


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--layer', type=pathlib.Path)
    parser.add_argument('--codec', default='auto')
    parser.add_argument('--layout', default='dense')
    parser.add_argument('--split', help='bytes')
    parser.add_argument('--chain', help='blocks')
    parser.add_argument('--index', help='blocks in a segment of the index, as many as ever are in one when left out')
    parser.add_argument('-n', dest='ranks', type=int, default=4)
    parser.add_argument('--mpiexec', default='mpiexec.openmpi')
    parser.add_argument('--env', action='append', default=[], metavar='NAME=VALUE', help='for both runs')
    parser.add_argument('--bare-env', action='append', default=[], metavar='NAME=VALUE', help='for the bare run only')
    parser.add_argument('--ignore', default=r'seconds.*', help='parts of lines that may differ')
    parser.add_argument('--holes', action='store_true', help='files have places that were never written: skip ncmpidiff')
    parser.add_argument('--seconds', type=int, default=100)
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('words', nargs='+')
    options = parser.parse_args()
    options.steps = []
    ranks, words = options.ranks, []
    for word in options.words + ['--then']:
        if word != '--then':
            words.append(word)
        elif not words:
            parser.error('no program')
        else:
            if options.steps:
                ranks, words = int(words[0]), words[1:]
            options.steps.append((ranks, words))
            words = []
    return options


def settings_over(settings, sessions):
    """What both runs are in, with these settings."""
    env = surroundings.environment(sessions)
    for setting in settings:
        name, _, value = setting.partition('=')
        env[name] = value
    return env


def layered(options, env):
    """The environment of a program that has the layer itself (mpiexec gives it to the ranks with -x)."""
    env = dict(env, CAIRN_ARRAYS_CODEC=options.codec, CAIRN_ARRAYS_LAYOUT=options.layout)
    if options.split:
        env['CAIRN_ARRAYS_SPLIT'] = options.split
    if options.chain:
        env['CAIRN_ARRAYS_CHAIN'] = options.chain
    if options.index:
        env['CAIRN_ARRAYS_INDEX'] = options.index
    return env


def run(command, folder, env, seconds, what):
    process = subprocess.Popen([str(c) for c in command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        raise Failed(f'{what}: no end after {seconds} s') from None
    return process.returncode, out.decode(errors='replace'), err.decode(errors='replace')


def tail(text, lines=15):
    return '\n'.join('    ' + line for line in text.splitlines()[-lines:])


def comparable(text, ignore):
    lines = (re.sub(ignore, '', line).rstrip() for line in text.splitlines())
    return sorted(line for line in lines if line)


def run_steps(options, folder, env, layer, what):
    """What all steps printed."""
    said = ''
    for ranks, words in options.steps:
        preload = ['-x', f'LD_PRELOAD={layer}'] if layer else []
        status, out, err = run([options.mpiexec, '-n', ranks, *preload, *words], folder, env, options.seconds, what)
        if status != 0:
            raise Failed(f'{what}: status {status}\n{tail(out)}\n{tail(err)}')
        said += out
    return said


def tool(name, arguments, folder, env, seconds, statuses=(0,)):
    """Its output, or None if there is no such program."""
    if shutil.which(name) is None:
        return None
    status, out, err = run([name, *arguments], folder, env, seconds, name)
    if status not in statuses:
        raise Failed(f'{name} {" ".join(map(str, arguments))}: status {status}\n{tail(out)}\n{tail(err)}')
    return out


def check_file(options, name, bare, compressed, env, layer_env):
    plain_header = tool('ncmpidump', ['-h', bare / name], bare, env, options.seconds)
    header = tool('ncmpidump', ['-h', compressed / name], compressed, layer_env, options.seconds)
    # Debian's tools have PnetCDF linked in: what only its interface tells (the format asked for) is not to be seen here.
    plain_header, header = (re.sub(r'// file format.*', '', text or '') for text in (plain_header, header))
    if plain_header != header:
        raise Failed(f'{name}: ncmpidump -h: with the layer\n{header}\nbare\n{plain_header}')
    if not options.holes:
        said = tool('ncmpidiff', [bare / name, compressed / name], compressed, layer_env, options.seconds, (0, 1))
        # See above: the format of a file that was asked for in CDF-1 or CDF-2.
        others = [line for line in (said or '').splitlines() if 'DIFF' in line and 'file format' not in line]
        if said is not None and (others or 'All variables of two files are the same' not in said):
            raise Failed(f'{name}: ncmpidiff\n{tail(said)}')
    tool('ncdump', ['-h', compressed / name], compressed, env, options.seconds)
    tool('ncvalidator', ['-q', compressed / name], compressed, env, options.seconds)


def check(options, top):
    if shutil.which(options.mpiexec) is None:
        print(f'skipped: no {options.mpiexec}')
        return SKIPPED
    sessions, bare = top / 'sessions', top / 'bare'
    sessions.mkdir()
    bare.mkdir()
    env = settings_over(options.env, sessions)
    bare_env = settings_over(options.env + options.bare_env, sessions)
    wanted = comparable(run_steps(options, bare, bare_env, None, 'bare run'), options.ignore)
    if not wanted:
        raise Failed('nothing was printed that could be compared')
    if not options.layer:
        return 0
    if not options.layer.exists():
        raise Failed(f'no layer {options.layer}')
    compressed = top / 'layered'
    compressed.mkdir()
    layer = options.layer.resolve()
    settings = layered(options, env)
    got = comparable(run_steps(options, compressed, settings, layer, 'run with the layer'), options.ignore)
    if got != wanted:
        raise Failed('with the layer it printed\n' + tail('\n'.join(got), 40) + '\n  but bare\n' + tail('\n'.join(wanted), 40))
    files = sorted(path.name for path in bare.glob('*.nc'))
    if files != sorted(path.name for path in compressed.glob('*.nc')):
        raise Failed(f'left behind: {sorted(p.name for p in compressed.iterdir())}, bare {files}')
    for name in files:
        check_file(options, name, bare, compressed, env, dict(settings, LD_PRELOAD=str(layer)))
    if files and all(filecmp.cmp(bare / name, compressed / name, shallow=False) for name in files):
        raise Failed('all files are as without the layer: it did nothing')
    return 0


def main():
    options = parse()
    top = pathlib.Path(tempfile.mkdtemp(prefix='cairn-test-arrays-'))
    status = 1
    try:
        status = check(options, top)
    except Failed as failure:
        print(f'FAILED: {failure}\n  kept: {top}')
    finally:
        if status != 1 and not options.keep:
            shutil.rmtree(top, ignore_errors=True)
    return status


if __name__ == '__main__':
    sys.exit(main())
