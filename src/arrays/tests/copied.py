#!/usr/bin/env python3
"""Copies compressed files with stock NetCDF tools, which know nothing of Cairn: what a tool copies whole is read as
before, and written to; of what it left out or changed Cairn says what; and nobody takes a compressed variable for its
values. Under `cairn arrays read` such tools, and others, see plain files. Says what failed; exit status 1 then, and the
folder is kept; 77 without those tools.

    copied.py --cairn PROGRAM --layer LIBRARY --md PROGRAM --append PROGRAM [--mpiexec PROGRAM]
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import surroundings

# Each as words between the tool and the names of both files, one tool after the other.
WHOLE = {'same': [['nccopy', '-k', 'cdf5']], 'room': [['nccopy', '-k', 'cdf5', '-h', '9000']],
         'there and back': [['nccopy', '-k', 'nc4'], ['nccopy', '-k', 'cdf5']],
         'deflated and back': [['nccopy', '-k', 'nc4', '-d', '1'], ['nccopy', '-k', 'cdf5']]}


# What a program that knows nothing of NetCDF may do with a file, and how it should come out.
READS = '''
import mmap, os, sys
plain = open(sys.argv[2], 'rb').read()
with open(sys.argv[1], 'rb') as file:
    assert os.fstat(file.fileno()).st_size == os.stat(sys.argv[1]).st_size == len(plain)
    assert os.path.getsize(sys.argv[2]) == len(plain)
    assert file.read() == plain
    file.seek(-100, os.SEEK_END)
    assert file.read(200) == plain[-100:]
    assert os.pread(file.fileno(), 5000, 3) == plain[3:5003]
    pieces = [bytearray(7), bytearray(9000), bytearray(1)]
    assert os.preadv(file.fileno(), pieces, 50) == 9008 and b''.join(pieces) == plain[50:9058]
    assert mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)[:] == plain
    other = os.dup(file.fileno())
    os.lseek(file.fileno(), 11, os.SEEK_SET)
    assert os.read(other, 6) == plain[11:17]  # they stand at one place
    os.close(other)
    with os.fdopen(os.dup(file.fileno()), 'rb') as again:
        assert again.read(4) == plain[17:21]
with open(sys.argv[1], 'r+b') as file:  # to write: what it is
    assert file.read() != plain
'''


class Failed(Exception):
    pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('cairn', 'layer', 'md', 'append'):
        parser.add_argument(f'--{name}', required=True)
    parser.add_argument('--mpiexec', default='mpiexec.openmpi')
    options = parser.parse_args()
    if any(shutil.which(tool) is None for tool in ('nccopy', 'ncdump', 'ncgen')):
        return 77
    top = pathlib.Path(tempfile.mkdtemp(prefix='cairn-test-arrays-copied-'))
    env = surroundings.environment(top)

    def run(*words, status=0):
        done = subprocess.run([str(word) for word in words], cwd=top, env=env, capture_output=True, text=True,
                              errors='replace', timeout=120, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != status:
            raise Failed(f'{" ".join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}')
        return done.stdout + done.stderr

    def job(layout, *words):
        layer = [] if layout is None else ['-x', f'LD_PRELOAD={options.layer}', '-x', f'CAIRN_ARRAYS_LAYOUT={layout}']
        run(options.mpiexec, '-n', '2', *layer, *words)

    def cairn(*words, status=0):
        return run(options.cairn, 'arrays', *words, status=status)

    def same(file, plain):
        told = cairn('verify', file)
        cairn('export', '-f', file, 'plain.nc')
        if (top / 'plain.nc').read_bytes() != (top / plain).read_bytes():
            raise Failed(f'{file} is exported as something else than {plain}')
        return told

    def says(told, *wanted):
        for each in wanted:
            if each not in told:
                raise Failed(f"'{each}' is not said, but\n{told}")

    def copies(layout):
        for name, steps in WHOLE.items():
            before = f'{layout}.nc'
            for number, words in enumerate(steps):
                after = f'{layout} {name} {number}.nc'
                run(*words, before, after)
                before = after
            if 'has changed' in same(before, 'bare.nc'):
                raise Failed(f'{before}: nothing was changed, but verify says so')
            if name == 'same' or layout == 'dense':  # the header in front is shorter than before, or any
                job(layout, options.append, before)
                same(before, 'appended.nc')
        # What a tool made HDF5 of is no file of the classic formats.
        says(cairn('verify', f'{layout} there and back 0.nc', status=3), "HDF5 file of it", "'nccopy -k cdf5'")

    def changed(file):
        run('nccopy', '-V', 'coordinates.cairn', file, 'chosen.nc')
        says(cairn('verify', 'chosen.nc', status=3), "the variable 'cairn_data'")
        text = run('ncdump', file)
        says(text, 'float coordinates.cairn ;', 'coordinates.cairn = _ ;', 'cairn arrays read')
        run('ncdump', '-v', 'coordinates', file, status=1)
        text = text.replace('coordinates.cairn:box = 1', 'coordinates.cairn:unit = "nm" ;\n\t\tcoordinates.cairn:box = 2')
        (top / 'changed.cdl').write_text(text.replace('// global attributes:', '// global attributes:\n\t\t:more = 1 ;'))
        run('ncgen', '-k', 'cdf5', '-o', 'changed.nc', 'changed.cdl')
        told = same('changed.nc', 'bare.nc')
        says(told, "attribute 'more' was added", "attribute 'unit' of 'coordinates.cairn' was added",
             "attribute 'box' of 'coordinates.cairn' was changed")
        says(cairn('info', 'changed.nc'), "attribute 'more' was added")

    def read():
        def under(*words, status=0):
            return cairn('read', '--', *words, status=status)

        for layout in ('dense', 'sparse', 'hybrid'):
            file = f'{layout}.nc'
            under('cmp', file, 'bare.nc')
            under(sys.executable, '-c', READS, file, 'bare.nc')
            under('cp', file, 'copied.nc')
            run('cmp', 'copied.nc', 'bare.nc')
            under('sh', '-c', f'cat < {file} > copied.nc && tar cf all.tar {file}')
            run('cmp', 'copied.nc', 'bare.nc')
            run('sh', '-c', f'tar xOf all.tar {file} | cmp - bare.nc')
            if under('ncdump', '-n', 'x', file) != run('ncdump', '-n', 'x', 'bare.nc'):
                raise Failed(f'ncdump shows something else of {file}')
            under('nccopy', '-k', 'nc4', file, 'new.nc')
            if run('ncdump', '-n', 'x', 'new.nc') != run('ncdump', '-n', 'x', 'bare.nc'):
                raise Failed(f'nccopy makes something else of {file}')
        # Not one byte of a damaged block, nor of what is no file any more.
        block = json.loads(cairn('info', '--json', '--blocks', 'dense.nc'))['blocks'][1]
        bad = bytearray((top / 'dense.nc').read_bytes())
        bad[block['offset'] + 5] ^= 1
        (top / 'bad.nc').write_bytes(bad)
        says(under('cp', 'bad.nc', 'copied.nc', status=1), "bad.nc: variable 'coordinates', block 1", 'Input/output error')
        says(under('ncdump', 'chosen.nc', status=1), "chosen.nc: all values are gone")
        says(cairn('read', '--library', 'nothing', '--', 'true', status=125), '--library names nothing')

    try:
        job(None, options.md, '--atoms', '2000', '--steps', '3', '-o', 'bare.nc')
        shutil.copy(top / 'bare.nc', top / 'appended.nc')
        job(None, options.append, 'appended.nc')
        for layout in ('dense', 'sparse', 'hybrid'):
            job(layout, options.md, '--atoms', '2000', '--steps', '3', '-o', f'{layout}.nc')
            copies(layout)
        changed('dense.nc')
        read()
    except (Failed, subprocess.TimeoutExpired) as failed:
        print(f'{failed}\nkept: {top}')
        return 1
    shutil.rmtree(top)
    print('passed')
    return 0


if __name__ == '__main__':
    sys.exit(main())
