#!/usr/bin/env python3
"""The disk that the trace and the spool are on has almost no room, or files may not grow: the program must end as it does
bare, and `cairn record` must either write a sound trace or say in one line why it could not.

    full_disk.py CAIRN MPIEXEC YIELD PROGRAM

Needs root (it mounts small tmpfs folders) and skips with 77 without. Exit status: 0 passed, 1 failed.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

cairn, mpiexec, shim, program = sys.argv[1:]
SIZES = ['64k', '300k', '1200k', '2500k', '3m', '8m']
LOSSLESS_SIZES = ['64k', '100k', '140k', '180k', '220k', '260k', '1200k', '8m']


def fail(what):
    print('FAILED:', what)
    sys.exit(1)


def record(folder, what, limit=None, options=()):
    def prepare():
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    env = dict(os.environ, LD_PRELOAD=shim, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
               OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_mpi_yield_when_idle='1',
               OMPI_MCA_orte_tmpdir_base=sessions, CAIRN_BLOCKS='1')
    trace = folder / 'run.cairn'
    done = subprocess.run([cairn, 'record', '-o', trace, *options, '--', mpiexec, '-n', '2', program, '3000'], env=env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=100, preexec_fn=prepare)
    said = [line for line in done.stderr.splitlines() if line.startswith('cairn: ')]
    if done.stdout != 'ok\n':
        fail(f'{what}: the program printed {done.stdout!r}: {done.stderr}')
    if trace.exists():
        checked = subprocess.run([cairn, 'verify', trace], text=True, capture_output=True)
        if done.returncode != 0 or checked.returncode != 0:
            fail(f'{what}: status {done.returncode}, verify: {checked.stdout}{checked.stderr}')
        dump = subprocess.run([cairn, 'info', '--json', trace], text=True, capture_output=True).stdout
        if '"calls": 24008' not in dump and 'degraded": []' in dump:
            fail(f'{what}: calls are missing and the trace does not say so: {dump}')
    elif done.returncode != 125 or not any('room' in line or 'No space' in line or 'too large' in line for line in said):
        fail(f'{what}: no trace, status {done.returncode}, said {said}')
    print(f'{what}: {"trace" if trace.exists() else "no trace"}; {said[-1] if said else "silent"}')


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
    for options in (), lossless:
        folder = pathlib.Path(top) / ('limited' + '-'.join(options))
        folder.mkdir()
        record(folder, ' '.join(('files of 32 MiB at most', *options)), 32 << 20, options)
