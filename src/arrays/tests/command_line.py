#!/usr/bin/env python3
"""What programs write through the layer and what `cairn arrays` makes of it: a file of src/arrays/examples/md under each
layout is sound, is exported as the file that PnetCDF alone writes, also when it was compacted, and goes on being written
by a program, as imported files do. Says what failed; exit status 1 then.

    command_line.py --cairn PROGRAM --layer LIBRARY --md PROGRAM --append PROGRAM --own-calls PROGRAM [--mpiexec PROGRAM]
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import surroundings

FAILURES = []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('cairn', 'layer', 'md', 'append', 'own-calls'):
        parser.add_argument(f'--{name}', required=True)
    parser.add_argument('--linked', help='a program with the layer in it')
    parser.add_argument('--mpiexec', default='mpiexec.openmpi')
    options = parser.parse_args()
    scratch = tempfile.TemporaryDirectory(prefix='cairn-test-array-commands-')
    folder = pathlib.Path(scratch.name)
    env = surroundings.environment(folder)

    def run(*words):
        done = subprocess.run([str(word) for word in words], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            FAILURES.append(f'{" ".join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}')
        return done

    def arrays(*words):
        return run(options.cairn, 'arrays', *words)

    def program(*words, layout=None, chain=0, index=None):
        job = [options.mpiexec, '-n', '2', *words]
        if layout is None:
            return run(*job)
        if index is not None:
            env['CAIRN_ARRAYS_INDEX'] = str(index)
        else:
            env.pop('CAIRN_ARRAYS_INDEX', None)
        return arrays('run', '-q', '--library', options.layer, '--layout', layout, '--split', '4K', '--chain', chain, '--',
                      *job)

    def same(name, plain):
        arrays('verify', name)
        exported = arrays('export', '-f', name, 'exported.nc')
        if exported.returncode == 0 and (folder / 'exported.nc').read_bytes() != (folder / plain).read_bytes():
            FAILURES.append(f'{name} is not exported as {plain}')

    md = (options.md, '--atoms', '4000', '--steps', '3', '-o')
    program(*md, 'plain.nc')
    (folder / 'longer.nc').write_bytes((folder / 'plain.nc').read_bytes())
    program(options.append, 'longer.nc')
    for layout in ('dense', 'sparse', 'hybrid'):
        name = f'{layout}.nc'
        program(*md, name, layout=layout)
        same(name, 'plain.nc')
        arrays('import', '-q', 'plain.nc', f'imported_{name}')
        arrays('compact', '-q', name, f'compacted_{name}')
        same(f'compacted_{name}', 'plain.nc')
        for each in (name, f'imported_{name}', f'compacted_{name}'):
            program(options.append, each, layout=layout)
            same(each, 'longer.nc')
            arrays('compact', '-q', each)
            same(each, 'longer.nc')
        if FAILURES:
            break
    # An index in parts: of many blocks at once, which the ranks write themselves; and of few, then of more.
    for name, words in (('parts.nc', md), ('synced.nc', (*md[:-1], '--sync', '-o'))):
        program(*words, name, layout='dense', index=1)
        same(name, 'plain.nc')
        if json.loads(arrays('info', '--json', name).stdout)['usage']['index_segments'] < 4:
            FAILURES.append(f'{name}: its index is in one piece')
        (folder / f'earlier_{name}').write_bytes((folder / name).read_bytes())
        program(options.append, name, layout='dense', index=1)
        same(name, 'longer.nc')
        program(options.append, f'earlier_{name}', layout='sparse')
        same(f'earlier_{name}', 'longer.nc')
        arrays('compact', '-q', name)
        same(name, 'longer.nc')
        if json.loads(arrays('info', '--json', name).stdout)['usage']['index_segments'] != 0:
            FAILURES.append(f'{name}: its index is in parts, short as it is')
    # Atoms move little from step to step: coded against the step before they take less, and nothing else changes.
    for name, chain in (('alone.nc', 0), ('chain.nc', 8), ('auto_chain.nc', 'auto')):
        program(*md, name, layout='dense', chain=chain)
        arrays('import', '-q', '--split', '16K', '--chain', chain, 'plain.nc', f'imported_{name}')
    if '(--chain): ' not in arrays('bench', 'plain.nc').stdout:
        FAILURES.append('bench does not say that steps are shorter against earlier ones')
    for name in ('chain.nc', 'imported_chain.nc', 'auto_chain.nc', 'imported_auto_chain.nc'):
        blocks = json.loads(arrays('info', '--blocks', '--json', name).stdout)['blocks']
        if not any(block['against'] is not None for block in blocks):
            FAILURES.append(f'{name}: no block is coded against another')
        same(name, 'plain.nc')
        if (folder / name).stat().st_size >= (folder / name.replace('auto_chain', 'alone').replace('chain', 'alone')).stat().st_size:
            FAILURES.append(f'{name} is not smaller than without --chain')
        program(options.append, name, layout='dense', chain=8)
        same(name, 'longer.nc')
        arrays('compact', '-q', name)
        same(name, 'longer.nc')
    for words in (('import', '--chain', '256', 'plain.nc', 'x.nc'), ('run', '--chain', '256', '--', 'true')):
        done = subprocess.run([options.cairn, 'arrays', *words], cwd=folder, env=env, capture_output=True, text=True)
        if done.returncode == 0 or 'chains of 256 cannot be' not in done.stderr:
            FAILURES.append(f'{words}: {done.returncode} {done.stderr}')
    # Who only writes need not know what others wrote: a gathering at rank 0, as the recorder sees it.
    run(options.cairn, 'record', '-q', '-o', 'calls.cairn', '--', options.cairn, 'arrays', 'run', '-q', '--library', options.layer, '--',
        options.mpiexec, '-n', '2', *md, 'alone.nc')
    def called():
        return {each['function'] for each in json.loads(run(options.cairn, 'summary', '--json', 'calls.cairn').stdout)['lines']}
    names = called()
    if 'MPI_Gatherv' not in names or {'MPI_Allgatherv', 'MPI_Comm_split'} & names:
        FAILURES.append(f'writing alone called {sorted(names)}')
    # Many blocks go to ranks that write parts of the index.
    env.update(CAIRN_ARRAYS_INDEX='1', CAIRN_ARRAYS_CHAIN='0')
    run(options.cairn, 'record', '-q', '-f', '-o', 'calls.cairn', '--', options.cairn, 'arrays', 'run', '-q', '--split', '4K',
        '--library', options.layer, '--', options.mpiexec, '-n', '2', *md, 'alone.nc')
    del env['CAIRN_ARRAYS_INDEX'], env['CAIRN_ARRAYS_CHAIN']
    names = called()
    if 'MPI_Comm_split' not in names:
        FAILURES.append(f'writing many blocks called {sorted(names)}')
    # A program's own calls of MPI-IO on a compressed file; and a name that is Cairn's.
    before = (folder / 'alone.nc').read_bytes()
    arrays('export', '-f', 'alone.nc', 'exported.nc')
    done = program(options.own_calls, 'alone.nc', 'exported.nc', layout='dense')
    if 'no NetCDF header' not in done.stderr or 'MPI_File_iread_at on a compressed file' not in done.stderr:
        FAILURES.append(f'own calls: {done.stderr}')
    arrays('recover', '-q', 'alone.nc')  # its last job could not close it
    arrays('verify', 'alone.nc')
    arrays('export', '-f', 'alone.nc', 'again.nc')
    if (folder / 'again.nc').read_bytes() != (folder / 'exported.nc').read_bytes():
        FAILURES.append(f'own calls changed the file of {len(before)} bytes')
    done = program(options.own_calls, 'names', 'named.nc', layout='dense')
    if "attribute '_Cairn_arrays' has a name that Cairn's own have" not in done.stderr:
        FAILURES.append(f'names: {done.stderr}')
    # What the environment says counts where the command line does not.
    env.update(CAIRN_ARRAYS_CODEC='store')
    arrays('run', '-q', '--library', options.layer, '--', options.mpiexec, '-n', '2', *md, 'stored.nc')
    del env['CAIRN_ARRAYS_CODEC']
    codecs = {codec for each in json.loads(arrays('info', '--json', 'stored.nc').stdout)['variables'] for codec in each['codecs']}
    if codecs != {'store'}:
        FAILURES.append(f'a codec from the environment: {codecs}')
    # No device is replaced by a file; behind a link lies what is.
    os.mkfifo(folder / 'pipe')
    for words in (('export', '-f', 'alone.nc', 'pipe'), ('import', '-f', 'plain.nc', 'pipe'), ('compact', '-f', 'alone.nc', 'pipe')):
        done = subprocess.run([options.cairn, 'arrays', *words], cwd=folder, env=env, capture_output=True, text=True)
        if done.returncode == 0 or 'that is no file' not in done.stderr or not (folder / 'pipe').is_fifo():
            FAILURES.append(f'{words}: {done.returncode} {done.stderr}')
    # Nor is one waited for; and where files may not become large nothing is left of them.
    for verb in ('info', 'verify'):
        done = subprocess.run([options.cairn, 'arrays', verb, 'pipe'], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
        if done.returncode == 0 or done.stderr.count('\n') != 1:
            FAILURES.append(f'{verb} of a pipe: {done.returncode} {done.stderr}')
    before = sorted(path.name for path in folder.iterdir())
    for words in (('export', 'alone.nc', 'new.nc'), ('export', '--netcdf4', 'alone.nc', 'new.nc'), ('import', 'plain.nc', 'new.nc'),
                  ('compact', '-f', 'alone.nc')):
        done = subprocess.run([options.cairn, 'arrays', *words], cwd=folder, env=env, capture_output=True, text=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)))
        if done.returncode <= 0 or done.stderr.count('\n') != 1 or sorted(path.name for path in folder.iterdir()) != before:
            FAILURES.append(f'{words} without room: {done.returncode} {done.stderr}')
    (folder / 'link.nc').symlink_to('again.nc')
    arrays('export', '-f', 'stored.nc', 'link.nc')
    if not (folder / 'link.nc').is_symlink() or (folder / 'again.nc').read_bytes() != (folder / 'plain.nc').read_bytes():
        FAILURES.append('what is behind a link was not replaced')
    if options.linked:
        program(options.linked)
        found = {each['name']: (each['codecs'], each['blocks'])
                 for each in json.loads(arrays('info', '--json', 'fortran_codec.nc').stdout)['variables']}
        if found != {'small': (['shuffle+zstd'], 8), 'fast': (['xor'], 2)}:
            FAILURES.append(f'{options.linked}: {found}')
    print('\n'.join(FAILURES))
    return 1 if FAILURES else 0


if __name__ == '__main__':
    sys.exit(main())
