#!/usr/bin/env python3
"""The disk that the trace and the spool are on has almost no room, or files may not grow: the program must end as it does
bare, and `cairn record` must either write a sound trace or say in one line why it could not. Where processes are killed
there, it must say that the disk had no room for what they recorded; and before they start, that this may come.

    full_disk.py CAIRN MPIEXEC YIELD PROGRAM DEATHS

Needs root (it mounts small tmpfs folders) and skips with 77 without. Exit status: 0 passed, 1 failed.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

cairn, mpiexec, shim, program, deaths = sys.argv[1:]
SIZES = ['64k', '300k', '1200k', '2500k', '3m', '8m']
# Room for no process's memory, for one's as it begins, for two such; and whether they need more than that.
KILLED = [('1m', '200', ()), ('6m', '200', ('--timing', 'lossless')), ('17m', '200', ()), ('20m', '60000', ('irregular',)),
          ('20m', '200', ())]
LOSSLESS_SIZES = ['64k', '100k', '140k', '180k', '220k', '260k', '1200k', '8m']


def fail(what):
    print('FAILED:', what)
    sys.exit(1)


def run(folder, command, where=None, limit=None, options=()):
    """What `cairn record` gave, its own lines but the one in advance, and whether that was there."""
    def prepare():
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    env = dict(os.environ, LD_PRELOAD=shim, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
               OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_mpi_yield_when_idle='1',
               OMPI_MCA_orte_tmpdir_base=sessions, CAIRN_BLOCKS='1')
    done = subprocess.run([cairn, 'record', '-o', folder / 'run.cairn', *options, '--', mpiexec, '-n', '2', *command], env=env,
                          text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=100, preexec_fn=prepare, cwd=where)
    said = [line for line in done.stderr.splitlines() if line.startswith('cairn: ')]
    warned = bool(said) and 'too little room for what even one process' in said[0]
    return done, said[1:] if warned else said, warned


def record(folder, what, limit=None, options=()):
    trace = folder / 'run.cairn'
    done, said, warned = run(folder, [program, '3000'], limit=limit, options=options)
    if warned != (limit is None):
        fail(f'{what}: {"" if warned else "not "}said in advance: {done.stderr}')
    if done.stdout != 'ok\n':
        fail(f'{what}: the program printed {done.stdout!r}: {done.stderr}')
    if trace.exists():
        checked = subprocess.run([cairn, 'verify', trace], text=True, capture_output=True)
        info = json.loads(subprocess.run([cairn, 'info', '--json', trace], text=True, capture_output=True).stdout)
        whole = info['calls'] == 24008
        if done.returncode != (0 if whole else 125) or checked.returncode != 0:
            fail(f'{what}: status {done.returncode}, verify: {checked.stdout}{checked.stderr}')
        lost = any('could not keep' in line for line in said)
        if whole and lost:
            fail(f'{what}: nothing was lost with a process, but it said {said}')
        # Where the disk has room for one rank's record but not for both, that one is the trace.
        missing = info['ranks'] < info['world_size']
        if not whole and not info['degraded'] and not missing:
            fail(f'{what}: calls are missing and the trace does not say so: {info}')
        if missing and not lost:
            fail(f'{what}: a rank is missing, and nothing says that it was lost: {said}')
    elif done.returncode != 125 or not any('room' in line or 'No space' in line or 'too large' in line for line in said):
        fail(f'{what}: no trace, status {done.returncode}, said {said}')
    print(f'{what}: {"trace" if trace.exists() else "no trace"}; {said[-1] if said else "silent"}')


def killed(folder, size, steps, more):
    """All ranks kill themselves on a disk of that size."""
    what = f'killed on a disk of {size} after {steps} steps'
    options, words = (more, ()) if '--timing' in more else ((), more)
    with tempfile.TemporaryDirectory(prefix='cairn-full-') as where:
        done, said, warned = run(folder, [deaths, 'all', steps, *words], where, options=options)
    if done.returncode == 0 or not warned:
        fail(f'{what}: status {done.returncode}, said in advance: {warned}')
    why = 'its disk has no room; make room there, or choose another place with --spool'
    lost = [line for line in said if f' recorded: {folder}/run.cairn.spool could not keep it: {why}' in line]
    trace = folder / 'run.cairn'
    left = list(folder.iterdir())
    if any('PRELOAD' in line or 'damaged' in line for line in said) or left not in ([], [trace]):
        fail(f'{what}: it said {said} and left {left}')
    if not left:
        if len(said) != 1 or not lost or 'nothing is left of what 2 processes recorded' not in said[0]:
            fail(f'{what}: it said {said}')
    else:
        checked = subprocess.run([cairn, 'verify', trace], text=True, capture_output=True)
        info = json.loads(subprocess.run([cairn, 'info', '--json', trace], text=True, capture_output=True).stdout)
        whole = info['calls'] >= 2 * int(steps)
        if checked.returncode or not (whole or lost or any('the disk of the spool had no room' in line for line in said)):
            fail(f'{what}: it said {said}, verify: {checked.stdout}{checked.stderr}')
    print(f'{what}: {said[-1]}')


if os.geteuid() != 0:
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix='cairn-full-') as top, \
     tempfile.TemporaryDirectory(prefix='cairn-ompi-') as sessions:
    # With lossless times the ranks write these into the trace's file themselves.
    lossless = ('--timing', 'lossless')
    for size, options in [(size, ()) for size in SIZES] + [(size, lossless) for size in LOSSLESS_SIZES]:
        folder = pathlib.Path(top) / (size + '-'.join(options))
        folder.mkdir()
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'none', folder], capture_output=True).returncode:
            sys.exit(77)
        try:
            record(folder, ' '.join(('disk of', size, *options)), options=options)
        finally:
            subprocess.run(['umount', folder], check=False)
    for i, (size, steps, more) in enumerate(KILLED):
        folder = pathlib.Path(top) / f'killed-{i}'
        folder.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'none', folder], check=True)
        try:
            killed(folder, size, steps, more)
        finally:
            subprocess.run(['umount', folder], check=False)
    for options in (), lossless:
        folder = pathlib.Path(top) / ('limited' + '-'.join(options))
        folder.mkdir()
        record(folder, ' '.join(('files of 32 MiB at most', *options)), 32 << 20, options)
