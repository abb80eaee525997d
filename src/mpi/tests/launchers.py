#!/usr/bin/env python3
"""What a user of a real launcher meets who puts Cairn in the wrong place, or whose launcher keeps LD_PRELOAD from the
program: one line that says so, and nothing left over that stops the next recording.

    launchers.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import surroundings

RANKS = '2'


def main():
    bench = surroundings.Bench(__doc__)
    cairn, program, problems = bench.cairn, bench.program, []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)

        def run(what, *command, code, said):
            """Runs it; `said` is all that Cairn says on stderr."""
            done = subprocess.run(['timeout', '60', *command], cwd=folder, env=env, stdin=subprocess.DEVNULL, text=True,
                                  capture_output=True)
            lines = [line for line in done.stderr.splitlines() if line.startswith('cairn: ')]
            if done.returncode != code or lines != [f'cairn: {line}' for line in said]:
                problems.append(f'{what}: status {done.returncode}, wanted {code}:\n{done.stderr}')

        def files(what, *wanted):
            found = sorted(path.name for path in folder.iterdir() if 'cairn' in path.name)
            if found != sorted(wanted):
                problems.append(f'{what}: there are {found}')

        def ranks(trace):
            said = subprocess.run([cairn, 'info', '--json', folder / trace], check=True, capture_output=True).stdout
            return json.loads(said)['ranks']

        launch = (bench.mpiexec, '-n', RANKS)
        run('record under a launcher', *launch, cairn, 'record', program, code=125,
            said=[f'cairn record is to start the launcher, and here mpiexec -n {RANKS} started it; write cairn record -- '
                  f'mpiexec -n {RANKS} {program}, or mpiexec -n {RANKS} cairn exec {program}'])
        files('after record under a launcher')
        for times in ('once', 'again'):
            run(f'record {times}', cairn, 'record', '-q', '--', *launch, program, code=0, said=[])
        for times in ('once', 'again'):
            run(f'exec {times}', *launch, cairn, 'exec', '-q', program, code=0, said=[])
        run('record alone', bench.mpiexec, '-n', '1', cairn, 'record', '-q', '-o', 'one.cairn', '/bin/sh', '-c', 'exit 3', code=3,
            said=['nothing was recorded: no process called MPI; is it an MPI program, and did it start? If what starts it '
                  'drops or replaces LD_PRELOAD, write LAUNCHER cairn exec PROGRAM, or set there what cairn env prints'])
        files('after four recordings', 'run.cairn', 'run.cairn.old')
        if (ranks('run.cairn'), ranks('run.cairn.old')) != (int(RANKS), int(RANKS)):
            problems.append('ranks are missing')
        words = ('-genv', 'LD_PRELOAD', '') if bench.mpi == 'mpich' else ('-x', 'LD_PRELOAD=')
        replaces = '-genv LD_PRELOAD' if bench.mpi == 'mpich' else 'LD_PRELOAD='
        shown = ' '.join(word or "''" for word in words)
        run('LD_PRELOAD replaced', cairn, 'record', '--', *launch, *words, program, code=125,
            said=[f'nothing was recorded: {replaces} replaces LD_PRELOAD, so that the recorder did not reach the program; write '
                  f'{" ".join(launch)} {shown} cairn exec {program}, or set there what cairn env prints'])
        wrapper = folder / 'wrapper'
        wrapper.write_text('#!/bin/sh\nunset LD_PRELOAD\nexec "$@"\n')
        wrapper.chmod(0o755)
        run('a wrapper', cairn, 'record', '--', *launch, wrapper, program, code=125,
            said=[f'nothing was recorded: {wrapper} unsets LD_PRELOAD, so that the recorder did not reach the program; write '
                  f'{" ".join(launch)} {wrapper} cairn exec {program}, or set there what cairn env prints'])
        run('exec behind it', *launch, wrapper, cairn, 'exec', '-q', program, code=0, said=[])
        files('at the end', 'run.cairn', 'run.cairn.old')
        run('doctor', cairn, 'doctor', '--', *launch, program, code=0, said=[])
    print('\n'.join(problems))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
