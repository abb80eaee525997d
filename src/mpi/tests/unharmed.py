#!/usr/bin/env python3
"""Runs unharmed.c bare and recorded, in each of its ways: both must print the same and end the same, and the trace must have
what it says here. One way is with a library of the program's own in front of MPI (unharmed_tool.c), which must be called.

    unharmed.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import surroundings

HERE = pathlib.Path(__file__).resolve().parent
# By way: what is said of rank 0, which function is called how often at least, and what became of the run.
WAYS = {
    'errors': (None, 'MPI_Comm_call_errhandler', 2, 'complete'),
    'ids': (None, 'MPI_Init_thread', 1, 'complete'),
    'limit': (None, 'MPI_Irecv', 1, 'complete'),
    'deep': ('more than 64 deep', 'MPI_Send', 60, 'complete'),
    'linker': (None, 'MPI_Send', 2, 'complete'),
    'text': (None, 'MPI_Initialized', 1, 'complete'),
    'descriptors': (None, 'MPI_Send', 60000, 'complete'),
    'early': ('came before the process had begun', 'MPI_Init_thread', 1, 'complete'),
    'leaves': ('ended by _exit', 'MPI_Init_thread', 1, 'exited without MPI_Finalize'),
    'cleared': (None, 'MPI_Init_thread', 1, 'complete'),
    # Of two ranks.
    'user': (None, 'MPI_Send', 120000, 'complete'),
    'little': (None, 'MPI_Sendrecv_replace', 40, 'complete'),
}


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        def run(*words, preload=None):
            env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder)
            if preload is not None:
                env['LD_PRELOAD'] = ':'.join(filter(None, (env.get('LD_PRELOAD'), str(preload))))
            return subprocess.run([*map(str, words)], cwd=folder, env=env, timeout=120, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)

        def own(done):
            """What the program printed, and not what MPI says of descriptors that it lacks."""
            return [line for line in done.stdout.splitlines() if ' UCX ' not in line]

        def both(way, preload=None):
            job = [bench.mpiexec, '-n', '2' if way in ('user', 'little') else '1', bench.program, way]
            bare = run(*job, preload=preload)
            recorded = run(bench.cairn, 'record', '-o', f'{way}.cairn', '--', *job, preload=preload)
            # Open MPI's launcher says 1 of a process that does not call MPI_Finalize.
            if bare.returncode not in ((0, 1) if way == 'leaves' else (0,)) or 'ok' not in bare.stdout:
                problems.append(f'{way}, bare: {bare}')
            # Where calls are missing the command's own status 0 becomes 125.
            if recorded.returncode not in (bare.returncode, 125 if 'missing' in recorded.stderr else None) or own(recorded) != own(bare):
                problems.append(f'{way}: {recorded}, and bare {bare.stdout}')
            summary = run(bench.cairn, 'summary', '--json', f'{way}.cairn')
            lines = json.loads(summary.stdout)['lines'] if summary.returncode == 0 else []
            return {line['function']: line['calls'] for line in lines}, recorded

        for way, (said, function, calls, status) in WAYS.items():
            if way == 'user' and os.geteuid() != 0:
                continue
            found, recorded = both(way)
            told = run(bench.cairn, 'info', '--json', f'{way}.cairn')
            became = json.loads(told.stdout)['status'] if told.returncode == 0 else told
            if became != status:
                problems.append(f'{way}: {became}, and not {status}')
            if found.get(function, 0) < calls:
                problems.append(f'{way}: {found}')
            if said is not None and said not in recorded.stderr:
                problems.append(f'{way}: nothing is said of what is missing: {recorded.stderr}')
        compiler = shutil.which(f'mpicc.{bench.mpi}')
        tool = pathlib.Path(folder, 'tool.so')
        if compiler is None:
            print(f'no mpicc.{bench.mpi}: not with a library in front of MPI')
        elif (done := run(compiler, '-shared', '-fPIC', '-w', '-o', tool, HERE / 'unharmed_tool.c')).returncode != 0:
            problems.append(f'the library: {done}')
        else:
            found, recorded = both('sends', preload=tool)
            if '10 calls' not in recorded.stdout or found.get('MPI_Sendrecv') != 10 or found.get('MPI_Finalize') != 1:
                problems.append(f'with a library in front of MPI: {recorded}, {found}')
        if compiler is not None:
            # The same in the program itself, in front of the recorder: that its calls are missing is said.
            own = pathlib.Path(folder, 'own')
            done = run(compiler, '-w', '-o', own, HERE / 'unharmed.c', HERE / 'unharmed_tool.c', '-lpthread')
            recorded = run(bench.cairn, 'record', '-o', 'own.cairn', '--', bench.mpiexec, '-n', '1', own, 'sends')
            if '10 calls' not in recorded.stdout or 'defines it (2 times)' not in recorded.stderr or recorded.returncode != 125:
                problems.append(f'functions of the program itself: {done} {recorded}')
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
