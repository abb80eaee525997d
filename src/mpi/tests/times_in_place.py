#!/usr/bin/env python3
"""Records long polling loops with `--timing lossless` and fails unless every rank's times are in the trace, written by
the ranks themselves where that is worth it and possible, and through the reduction tree where not. The same for bundles
of classes, which without a file that all ranks can write to are written by the root.

    times_in_place.py --build BUILD --mpi mpich|openmpi PROGRAM

PROGRAM is times.c. Nothing may be left beside the traces. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from surroundings import environment

RANKS = 3
CALLS = 4 * 40000
FEW = 500


class Bench:
    def __init__(self, options, folder):
        self.build, self.folder, self.options = options.build.resolve(), pathlib.Path(folder), options
        self.cairn = str(self.build / 'bin/cairn')
        self.env = environment(self.build, options.mpi)

    def run(self, *command, status=0, **env):
        # Open MPI's jobs of one user share a folder, which the end of one removes while the next begins.
        with tempfile.TemporaryDirectory(prefix='cairn-ompi-') as sessions:
            done = subprocess.run([str(c) for c in command], cwd=self.folder, timeout=100, capture_output=True, text=True,
                                  env=dict(self.env, OMPI_MCA_orte_tmpdir_base=sessions, **env), stdin=subprocess.DEVNULL)
        if done.returncode != status:
            sys.exit(f'{" ".join(map(str, command))}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}')
        return done.stdout

    def record(self, name, *arguments, blocks, bundles=False, **env):
        """Records, and checks that there is a time for each call, in blocks or in the section of the tree."""
        trace = self.folder / name
        said = self.run(self.cairn, 'record', '-q', '-o', trace, '--timing', 'lossless', f'mpiexec.{self.options.mpi}',
                        '-n', RANKS, self.options.program, *arguments, **env)
        left = sorted(path.name for path in self.folder.iterdir() if not path.name.endswith('.cairn'))
        if said != 'ok\n' or left:
            sys.exit(f'{name}: the program printed {said!r}; there remained {left}')
        self.run(self.cairn, 'verify', trace)
        info = json.loads(self.run(self.cairn, 'info', '--json', trace))
        sizes = info['bytes']
        if ('blocks' in sizes) != blocks or ('bundles' in sizes) != bundles or sizes['total'] != trace.stat().st_size:
            sys.exit(f'{name}: {sizes} of {trace.stat().st_size} bytes')
        for rank in range(RANKS):
            events = self.run(self.cairn, 'dump', '--json', '--rank', rank, trace).splitlines()[1:]
            begin = -1
            for event in map(json.loads, events):
                if event['begin_ns'] < begin:
                    sys.exit(f'{name}: rank {rank}: the time goes backwards at {event}')
                begin = event['begin_ns'] + event['duration_ns']
            # Init, Comm_rank, Comm_size, the polls, Barrier, Finalize, Finalized
            expected = int(arguments[0]) + rank * 1000 + 6
            if len(events) != expected:
                sys.exit(f'{name}: rank {rank}: {len(events)} calls with times, not {expected}')
        return trace, sizes


def check(bench):
    trace, sizes = bench.record('large.cairn', CALLS, blocks=True)
    if sizes['blocks'] < 65536 * RANKS:
        sys.exit(f'large.cairn: only {sizes["blocks"]} bytes in blocks; more CALLS are needed to test anything')
    bench.record('small.cairn', FEW, blocks=False)
    bench.record('asked.cairn', FEW, blocks=True, CAIRN_BLOCKS='1')
    bench.record('bundles.cairn', FEW, blocks=False, bundles=True, CAIRN_BUNDLES='0')
    bench.record('both.cairn', FEW, blocks=True, bundles=True, CAIRN_BLOCKS='1', CAIRN_BUNDLES='0')
    for rank in (0, 1):
        bench.record(f'limit-{rank}.cairn', FEW, 'limit', rank, blocks=False, CAIRN_BLOCKS='1')
    if os.geteuid() == 0:
        os.chmod(bench.folder, 0o700)
        bench.record('stranger.cairn', FEW, 'stranger', blocks=False, CAIRN_BLOCKS='1')
        bench.record('by-root.cairn', FEW, 'stranger', blocks=False, bundles=True, CAIRN_BUNDLES='0')
    # A block that is damaged is found by whoever reads it, and by verify.
    damaged = bench.folder / 'damaged.cairn'
    content = bytearray(trace.read_bytes())
    content[12 + sizes['blocks'] - 100] ^= 4
    damaged.write_bytes(content)
    said = bench.run(bench.cairn, 'verify', damaged, status=1)
    if f"section 'blocks' has a wrong checksum: the block of rank {RANKS - 1}" not in said:
        sys.exit(f'damaged.cairn: verify said {said}')
    bench.run(bench.cairn, 'dump', '--rank', 0, '--limit', 5, damaged)
    print(f'{sizes["blocks"]} bytes in blocks, {sizes["total"] - sizes["blocks"]} beside them')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('program', type=pathlib.Path)
    options = parser.parse_args()
    if shutil.which(f'mpiexec.{options.mpi}') is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix='cairn-times-') as folder:
        check(Bench(options, folder))


if __name__ == '__main__':
    main()
