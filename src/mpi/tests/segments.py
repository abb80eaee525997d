#!/usr/bin/env python3
"""Records segments.c, whose buffers come and go, and fails unless the trace says when each began and ended, and how large it
was, for nothing a turn; and unless a replay and a proxy application take about as much memory as the program.

    segments.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import surroundings

MIB = 1 << 20
MEASURE = """import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(status)"""


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)

        def run(*command):
            done = subprocess.run([str(word) for word in command], cwd=folder, env=env, timeout=120,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f'{command}: status {done.returncode}: {done.stdout}{done.stderr}')
            return done.stdout

        def expect(what, got, wanted):
            if got != wanted:
                problems.append(f'{what}: {got}, not {wanted}')

        def record(trace, *command):
            run(bench.cairn, 'record', '-q', '--timing', 'off', '-o', trace, '--', *command)
            return trace

        def launch(*words):
            return [bench.mpiexec, '-n', 2, *words]

        def story(trace):
            """What rank 1 did: its calls, and segments that begin (+) and end (-) between them; and their sizes."""
            told, sizes = [], []
            for line in run(bench.cairn, 'dump', '--json', '--memory', '--rank', '1', trace).splitlines()[1:]:
                line = json.loads(line)
                if 'function' in line:
                    told.append(line['function'].removeprefix('MPI_'))
                else:
                    told.append(f'{line["heap"]}-' if line.get('freed') else f'{line["heap"]}+')
                    sizes.append(line.get('bytes'))
            return ' '.join(told), [size for size in sizes if size is not None]

        def heap_bytes(trace):
            return json.loads(run(bench.cairn, 'info', '--json', trace))['bytes'].get('heap', 0)

        def peak(*command):
            return int(run(sys.executable, '-c', MEASURE, *command))

        def same_calls(trace, *replay):
            again = record(f'again-{trace}', *replay)
            said = subprocess.run([bench.cairn, 'diff', '--replay', trace, again], cwd=folder, capture_output=True, text=True)
            expect(f'{trace} again', (said.returncode, said.stdout.splitlines()[-1:]), (0, said.stdout.splitlines()[-1:]))

        begin = 'Init Comm_rank Comm_size '
        few = record('few.cairn', *launch(bench.program, 'few'))
        told, sizes = story(few)
        expect('few', told, begin + '0+ Sendrecv 1+ Sendrecv 1- 0- Finalize')
        # What the allocator gives may be a page more than was asked for.
        expect('sizes', [size // 4096 * 4096 - 4096 <= asked <= size for size, asked in zip(sizes, (3 * MIB, 4000))],
               [True, True])
        # The third segment takes the number of the first one that was freed.
        few_turns = record('turns.cairn', *launch(bench.program, 'loop', 3))
        turn = '{}+ Irecv {}+ Send Wait {}- {}- {}Bcast '
        expect('loop', story(few_turns)[0], begin + turn.format(0, 1, 1, 0, '0+ ') + 2 * turn.format(1, 2, 2, 1, '') +
               '0- 0+ Bcast 0- Finalize')
        same_calls(few_turns, bench.cairn, 'replay', few_turns, '--', *launch())
        expect('threads', story(record('threads.cairn', *launch(bench.program, 'threads')))[0],
               begin + 2 * '0+ Sendrecv 0- Barrier ' + 'Finalize')
        # A turn costs nothing, not even where chance decides how many calls it has.
        for what, turns in (('loop', 2000), ('polls', 200)):
            bytes_of = [heap_bytes(trace) for trace in (few_turns, record(f'{what}.cairn', *launch(bench.program, what, turns)))]
            expect(f'{bytes_of} bytes of 3 and of {turns} turns of {what}', 0 < bytes_of[1] <= bytes_of[0] + 8, True)

        # All together they have 225 MiB.
        many = record('many.cairn', *launch(bench.program, 'many'))
        alone = peak(*launch(bench.program, 'many'))
        most = alone + 3 * 6 * MIB
        expect('a replay that takes as much as all segments', peak(bench.cairn, 'replay', many, '--', *launch()) < most, True)
        compiler = shutil.which(f'mpicc.{bench.mpi}')
        if compiler is not None:
            run(bench.cairn, 'proxy', '-q', '-o', 'proxy', many)
            run('make', '-s', '-C', 'proxy', f'MPICC={compiler}')
            proxy = folder / 'proxy/proxy'
            expect('a proxy that takes as much as all segments', peak(*launch(proxy)) < most, True)
            same_calls(many, *launch(proxy))
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
