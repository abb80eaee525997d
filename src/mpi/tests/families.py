#!/usr/bin/env python3
"""Records family.c, whose jobs spawn jobs, and replays them all together: what is recorded of the replay must be the
same run, job by job, also with --merge after, and with the traces elsewhere. What cannot be replayed is told before
anything is started.

    families.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import surroundings

JOBS = 7  # the one that was launched; two twice alone; two programs together; one by one of these


def main():
    bench = surroundings.Bench(__doc__)
    if bench.mpi != 'openmpi':
        sys.exit(77)  # MPICH cannot spawn under every launcher
    problems = surroundings.Problems()
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)
        launch = [bench.mpiexec, '-n', '2']

        def run(*words, fine=True):
            done = surroundings.launch(words, 100, cwd=folder, env=env)
            if fine and done.returncode != 0:
                sys.exit(f'{words}: status {done.returncode}: {done.stdout}{done.stderr}')
            return done

        def family(first):
            return surroundings.family(first, lambda trace: json.loads(run(bench.cairn, 'info', '--json', trace).stdout))

        def record(trace, *command, options=()):
            def act():
                shutil.rmtree((folder / trace).parent, ignore_errors=True)
                (folder / trace).parent.mkdir()
                run(bench.cairn, 'record', '-q', *options, '-o', trace, '--', *command)
                return folder / trace

            return surroundings.again_where_launcher_waits(act)

        def replay(trace, *options):
            return [bench.cairn, 'replay', *options, trace, '--', *launch]

        def same(what, first, second):
            before, after = family(first), family(second)
            problems.expect(f'{what}: jobs', sorted(after), sorted(before))
            for path, trace in before.items():
                if path not in after:
                    continue
                done = run(bench.cairn, 'diff', '--replay', trace, after[path], fine=False)
                problems.expect(f'{what}: job {path}', (done.returncode, done.stdout), (0, done.stdout))

        recorded = record('a/run.cairn', *launch, bench.program)
        problems.expect('jobs', len(family(recorded)), JOBS)
        same('replay', recorded, record('b/again.cairn', *replay(recorded)))
        told = surroundings.again_where_launcher_waits(lambda: run(*replay(recorded))).stderr
        problems.expect('jobs are told', 'with 6 jobs that the run spawned, 9 ranks in all' in told, True)

        after = record('c/run.cairn', *launch, bench.program, options=('--merge', 'after'))
        problems.expect('jobs, merged after', len(family(after)), JOBS)
        same('replay, merged after', after, record('d/again.cairn', *replay(after)))

        # The program's words are not kept, and not needed.
        secret = record('g/run.cairn', *launch, bench.program, options=('--no-command',))
        problems.expect('words of the program', 'together' in run(bench.cairn, 'dump', secret).stdout, False)
        same('replay without words', secret, record('h/again.cairn', *replay(secret)))

        # Under names of their own, and elsewhere.
        away = folder / 'away'
        away.mkdir()
        spawned = []
        for number, trace in enumerate(trace for path, trace in family(recorded).items() if path):
            spawned += ['--spawned', shutil.copy(trace, away / f'job {number}.cairn')]
        alone = shutil.copy(recorded, away / 'launched.cairn')
        surroundings.again_where_launcher_waits(lambda: run(*replay(alone, '-q', *spawned)))

        done = run(*replay(alone), fine=False)
        problems.expect('no trace of a job', (done.returncode, 'spawned 2 jobs, and 0 of their traces are here' in done.stderr),
                        (2, True))
        child = next(trace for path, trace in family(recorded).items() if path)
        done = run(*replay(child), fine=False)
        problems.expect('a spawned job', (done.returncode, 'was spawned by another job, by rank ' in done.stderr), (2, True))
        done = run(bench.cairn, 'proxy', '-o', 'proxy', recorded, fine=False)
        problems.expect('a proxy', (done.returncode, 'MPI_Comm_spawn (4)' in done.stderr), (2, True))
        problems.expect('what is left over', [path.name for path in folder.glob('**/cairn-replay-*')], [])

        # Another program opened the port.
        met = record('e/met.cairn', *launch, pathlib.Path(bench.program).with_name('connect'))
        same('a port within a job', met, record('f/again.cairn', *replay(met)))
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
