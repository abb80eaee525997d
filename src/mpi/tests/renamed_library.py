#!/usr/bin/env python3
"""MPICH's library under the names that others of its binary interface have, and without a function: recorded all the same.

    renamed_library.py --build BUILD --source FOLDER

Copies libmpich.so.12 under other sonames, takes MPI_Psend_init away from it, links exchange.c and a program that looks
for that function against the copy, and compares what is recorded with a recording under MPICH's own name. Exit status:
0 passed, 1 failed, 77 not possible here.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import surroundings

LOOKS = r'''
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int (*found)(const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *);
  *(void **)&found = dlsym(RTLD_DEFAULT, "MPI_Psend_init");
  MPI_Request request = MPI_REQUEST_NULL;
  int value = 0;
  puts(found == NULL || found(&value, 1, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request) != 0 ? "lacks" : "has");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
'''


def run(words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, **more).stdout


def events(cairn, trace):
    """What was recorded, but for what names the program."""
    return [{key: event[key] for key in ('rank', 'function', 'args')} for event in
            map(json.loads, run([cairn, 'dump', '--jsonl', trace]).splitlines()[1:]) if event['function'] != 'MPI_Init']


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--source', type=pathlib.Path, required=True)
    options = parser.parse_args()
    build = options.build.resolve()
    compiler, mpiexec = shutil.which('mpicc.mpich'), shutil.which('mpiexec.mpich')
    if compiler is None or mpiexec is None:
        return 77
    env = surroundings.environment(build, 'mpich')
    cairn = build / 'bin/cairn'
    shown = run([compiler, '-show']).split()
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as top:
        folder = pathlib.Path(top)
        plain = folder / 'plain'
        run([compiler, '-g', '-o', plain, options.source / 'exchange.c'])
        needed = re.search(r'libmpich\.so\.12 => (\S+)', run(['ldd', plain]))
        if needed is None:
            return 77
        library = pathlib.Path(needed[1]).read_bytes()
        run([cairn, 'record', '-q', '-o', folder / 'plain.cairn', '--', mpiexec, '-n', '2', plain], env=env)
        wanted = events(cairn, folder / 'plain.cairn')
        (folder / 'looks.c').write_text(LOOKS)
        for soname in ('libmpi.so.12', 'libmpi_c.so.12'):
            place = folder / soname.split('.')[0]
            place.mkdir()
            # Names are found by hashes of what they were: this one is not found by any name now.
            copy = library.replace(b'MPI_Psend_init\0', b'MPI_Xsend_init\0')
            copy = copy.replace(b'libmpich.so.12\0', soname.encode().ljust(len('libmpich.so.12') + 1, b'\0'))
            (place / soname).write_bytes(copy)
            link = [place / soname]
            flags = [word for word in shown[1:] if word.startswith(('-I', '-D'))]
            for name, source in (('exchange', options.source / 'exchange.c'), ('looks', folder / 'looks.c')):
                run([shown[0], '-g', *flags, source, '-o', place / name, *link, f'-Wl,-rpath,{place}', '-ldl'])
            if 'libmpich.so.12' in run(['ldd', place / 'exchange']):
                print('FAILED: the program still uses libmpich.so.12')
                return 1
            trace = place / 'run.cairn'
            run([cairn, 'record', '-q', '-o', trace, '--', mpiexec, '-n', '2', place / 'exchange'], env=env)
            if events(cairn, trace) != wanted:
                print(f'FAILED: {soname}: other calls than with libmpich.so.12')
                return 1
            if json.loads(run([cairn, 'info', '--json', trace]))['calls'] != 2 * 303:
                print(f'FAILED: {soname}: calls are missing')
                return 1
            said = run([cairn, 'record', '-q', '-o', place / 'looks.cairn', '--', mpiexec, '-n', '1', place / 'looks'], env=env)
            if said != 'lacks\n':
                print(f'FAILED: {soname}: a function that it lacks is said to be there: {said}')
                return 1
            doctor = run([cairn, 'doctor'], env=dict(env, LD_LIBRARY_PATH=str(place)))
            if f'{soname} ({place}/{soname}): recorded by that for libmpich.so.12' not in doctor:
                print(f'FAILED: doctor says\n{doctor}')
                return 1
    print('ok')
    return 0


if __name__ == '__main__':
    sys.exit(main())
