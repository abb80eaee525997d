#!/usr/bin/env python3
"""Records device_memory.c, whose messages lie on a device of a stand-in for CUDA's driver, and fails unless the trace has
the sizes of its allocations, a replay has as large ones on the device, and what can't be there is told and lies in the
host's memory.

    device_memory.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import surroundings

FIRST, SECOND, THIRD = 1 << 20, 3000, 1 << 18


def main():
    bench = surroundings.Bench(__doc__)
    driver = bench.fake_cuda
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as name:
        folder = pathlib.Path(name)
        without = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=name)
        log = folder / 'driver.log'
        preloaded = f'{without["LD_PRELOAD"]}:{driver}' if 'LD_PRELOAD' in without else str(driver)
        with_driver = {'LD_LIBRARY_PATH': str(driver.parent), 'FAKE_CUDA_LOG': str(log)}

        def run(command, more=(), status=0):
            log.unlink(missing_ok=True)
            done = subprocess.run([str(word) for word in command], cwd=folder, env={**without, **dict(more)}, timeout=120,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if status is not None and done.returncode != status:
                sys.exit(f'{command}: status {done.returncode}: {done.stdout}{done.stderr}')
            return done

        def expect(what, holds, said=''):
            if not holds:
                problems.append(f'{what}: {said}')

        def told_by_driver():
            """A line for each process: device, blocks given, bytes given, freed, bytes copied, calls without a context."""
            if not log.exists():
                return []
            return sorted(tuple(int(number) for number in re.findall(r'\d+', line)) for line in log.read_text().splitlines())

        def launch(*words):
            return [bench.mpiexec, '-n', 2, *words]

        def replay(trace, *options):
            return [bench.cairn, 'replay', *options, trace, '--', *launch()]

        def record(trace, command, more=with_driver):
            run([bench.cairn, 'record', '-q', '--timing', 'off', '-o', trace, '--', *command], more.items())
            return trace

        def sizes(trace):
            lines = [json.loads(line) for line in
                     run([bench.cairn, 'dump', '--json', '--memory', '--rank', '1', trace]).stdout.splitlines()[1:]]
            return [(line['device'], line['bytes']) for line in lines if 'device' in line]

        def same_calls(what, trace, again):
            said = run([bench.cairn, 'diff', '--replay', trace, again], status=None)
            expect(what, said.returncode == 0, said.stdout + said.stderr)

        ring = record('ring.cairn', launch(bench.program, 'ring'))
        # The third has another place than the second, or the same.
        expect('sizes', sizes(ring)[:2] == [(0, FIRST), (1, SECOND)] and sizes(ring)[2][1] == THIRD and len(sizes(ring)) == 3,
               sizes(ring))
        numbers = dict(sizes(ring))  # the most that each had: a later one is larger
        text = run([bench.cairn, 'dump', '--memory', '--rank', '1', ring]).stdout
        expect('dump', re.search(r'^ +device#0: 1,048,576 bytes$', text, re.M), text)

        # On the device, by the letter.
        again = record('again.cairn', replay(ring, '--device-memory', 'device', '--payload', 'random'))
        device = told_by_driver()
        expect('allocations', [line[:4] for line in device] == 2 * [(0, len(numbers), sum(numbers.values()), len(numbers))]
               and all(line[4] >= FIRST // 2 and line[5] == 0 for line in device), device)
        expect('sizes of the replay', dict(sizes(again)) == numbers, sizes(again))
        same_calls('on the device', ring, again)
        done = run(replay(ring, '--device-memory', 'device'), {**with_driver, 'FAKE_CUDA_DEVICES': '2'}.items())
        expect('two devices', [line[0] for line in told_by_driver()] == [0, 1], told_by_driver())
        expect('said', f'\n{2 * len(numbers)} allocations on devices were replayed there, in '
               f'{2 * sum(numbers.values())} bytes\n' in done.stdout, done.stdout)
        run(replay(ring, '--device-memory', 'device', '--buffers', 'shared'), with_driver.items())
        expect('shared', [line[1] for line in told_by_driver()] == [1, 1], told_by_driver())

        # Where the library takes such addresses, as it says itself.
        in_host = 'allocations on devices were replayed in the host\'s memory: '
        done = run(replay(ring), with_driver.items())
        expect('library', in_host + 'this MPI library says' in done.stdout and not any(line[1] for line in told_by_driver()),
               done.stdout)
        done = run(replay(ring), {**with_driver, 'LD_PRELOAD': preloaded}.items())
        expect('library that takes them', in_host not in done.stdout and len(told_by_driver()) == 2
               and all(line[1] == len(numbers) for line in told_by_driver()), done.stdout)
        done = run(replay(ring), {**with_driver, 'LD_PRELOAD': preloaded, 'FAKE_CUDA_BYTES': str(FIRST)}.items())
        expect('a full device', re.search(r'^2 allocations on devices were replayed there', done.stdout, re.M)
               and in_host + 'a device has no more of it' in done.stdout, done.stdout)
        host = record('host.cairn', replay(ring, '--device-memory', 'host'))
        expect('host', told_by_driver() == [] and sizes(host) == [], told_by_driver())
        same_calls('in the host\'s memory', ring, host)

        # Where there is none.
        no_device = {**with_driver, 'FAKE_CUDA_DEVICES': '0'}.items()
        done = run(replay(ring), no_device)
        expect('no device', in_host + 'the driver has no device' in done.stdout, done.stdout)
        done = run(replay(ring, '--device-memory', 'device'), no_device, None)
        expect('no device, but asked for', done.returncode == 1 and 'lies on a device: the driver has no device' in done.stderr,
               f'status {done.returncode}: {done.stderr}')
        try:
            ctypes.CDLL('libcuda.so.1')
        except OSError:
            done = run(replay(ring))
            expect('no driver', in_host + 'no driver of CUDA is here' in done.stdout, done.stdout)

        # Each thread has a context.
        threads = run(launch(bench.program, 'threads'), with_driver.items(), None)
        if threads.returncode == 0:
            several = record('several.cairn', launch(bench.program, 'threads'))
            again = record('several-again.cairn', replay(several, '--device-memory', 'device'))
            expect('threads', all(line[1] >= 1 and line[5] == 0 for line in told_by_driver()) and len(told_by_driver()) == 2,
                   told_by_driver())
            same_calls('threads', several, again)

        compiler = shutil.which(f'mpicc.{bench.mpi}')
        if compiler is not None:
            run([bench.cairn, 'proxy', '-q', '-o', 'proxy', ring])
            run(['make', '-s', '-C', 'proxy', f'MPICC={compiler}'])
            same_calls('proxy', ring, record('proxy.cairn', launch(folder / 'proxy/proxy'), {}))
    for problem in problems:
        print(f'FAILED: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
