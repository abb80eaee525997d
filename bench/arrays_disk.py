#!/usr/bin/env python3
"""Measures what the layer over PnetCDF gains on a disk of known, low speed, against plain PnetCDF and parallel HDF5.

    arrays_disk.py --build BUILD [--layer LIBRARY] [--rate 20] [--runs 5] [--case bench|md|climate]...
                   [--variants dense:auto,sparse:auto,hybrid:auto,dense:xor] [--json FILE] [--markdown FILE]

The disk is a loop device on a file in memory, with ext4 without a journal, that the kernel holds to --rate MiB a second in
both directions (control groups of version 1: blkio.throttle). Its speed is measured first; where the limit isn't kept
this ends with status 77 and nothing is claimed. Needs root. Reads find no cache: the disk is mounted anew before each.

A case is a chain of programs on --ranks ranks: bench (write_bench writes and reads 64 MiB), md (the molecular dynamics),
climate (atmosphere writes, at and matt read). Each variant runs in each of --runs rounds, so that ratios are of runs
beside each other: what a table says is the median of the rounds' ratios to plain PnetCDF in the same round. Times of
programs that write end when the data is on the disk.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BLKIO = pathlib.Path('/sys/fs/cgroup/blkio')
IMPOSSIBLE = 77


class Impossible(Exception):
    pass


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Impossible(f'{" ".join(command)}: {done.stderr.strip()}')
    return done.stdout.strip()


class Disk:
    """A slow disk, from entering to leaving; `path` is where it is mounted."""

    def __init__(self, rate, size):
        self.rate, self.size = rate, size
        self.device = self.number = None
        self.mounted = False

    def __enter__(self):
        if os.geteuid() != 0:
            raise Impossible('a loop device needs root')
        if not (BLKIO / 'blkio.throttle.write_bps_device').exists():
            raise Impossible('no blkio controller of control groups of version 1')
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='cairn-disk-'))
        self.path = self.folder / 'mnt'
        self.path.mkdir()
        handle, image = tempfile.mkstemp(prefix='cairn-disk-', dir='/dev/shm')
        self.image = pathlib.Path(image)
        os.ftruncate(handle, self.size)
        os.close(handle)
        try:
            self.device = call('losetup', '-f', '--show', image)
            numbers = os.stat(self.device).st_rdev
            self.number = f'{os.major(numbers)}:{os.minor(numbers)}'
            call('mkfs.ext4', '-q', '-O', '^has_journal', '-E', 'lazy_itable_init=0', self.device)
            self.mount()
            self.limit(self.rate << 20)
            self.probe()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.number:
            self.limit(0)
        if self.mounted:
            self.unmount()
        if self.device:
            subprocess.run(['losetup', '-d', self.device])
        self.image.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def mount(self):
        call('mount', self.device, str(self.path))
        self.mounted = True

    def unmount(self):
        call('umount', str(self.path))
        self.mounted = False

    def forget(self):
        """Nothing of the disk is cached afterwards, and nothing else's cache is touched."""
        self.unmount()
        self.mount()

    def limit(self, rate):
        for way in ('read', 'write'):
            (BLKIO / f'blkio.throttle.{way}_bps_device').write_text(f'{self.number} {rate}')

    def probe(self):
        """MiB a second of plain writing and reading, measured; they must be what was asked for."""
        mib = max(8, self.rate)
        path = self.path / 'probe'
        block = os.urandom(1 << 20)
        self.writes = self.reads = 0
        for _ in range(3):  # the best of three: other work on the machine makes it slower, never faster
            begin = time.monotonic()
            with open(path, 'wb') as file:
                for _ in range(mib):
                    file.write(block)
                file.flush()
                os.fsync(file.fileno())
            self.writes = max(self.writes, mib / (time.monotonic() - begin))
            self.forget()
            begin = time.monotonic()
            with open(path, 'rb') as file:
                while file.read(1 << 20):
                    pass
            self.reads = max(self.reads, mib / (time.monotonic() - begin))
            path.unlink()
        for speed in (self.writes, self.reads):
            if not 0.8 * self.rate <= speed <= 1.2 * self.rate:
                raise Impossible(f'the limit is not kept: {self.writes:.1f} MiB/s written, {self.reads:.1f} read, '
                                 f'{self.rate} asked for')


class Variant:
    def __init__(self, name, layer=None, codec=None, layout=None, filter_=None):
        self.name, self.layer, self.filter = name, layer, filter_
        self.env = {'CAIRN_ARRAYS_CODEC': codec, 'CAIRN_ARRAYS_LAYOUT': layout} if layer else {}


def variants_of(options, case):
    found = [Variant('PnetCDF')]
    if options.layer:
        for word in options.variants.split(','):
            layout, _, codec = word.partition(':')
            found.append(Variant(f'layer, {layout}, {codec}', options.layer.resolve(), codec, layout))
    if case == 'bench' and options.hdf5:
        found += [Variant(f'HDF5, {name}', filter_=name) for name in options.filters.split(',')]
    return found


def steps_of(options, case, variant):
    """Pairs of a step's name and its command line; `FILE` stands for the file."""
    examples = options.build / 'examples/arrays'
    if case == 'bench':
        what = ['FILE', '--bytes', options.bytes, '--piece', options.piece, '--iterations', '4', '--noise', options.noise]
        program = [options.hdf5, *what, '--filter', variant.filter] if variant.filter else [examples / 'write_bench', *what]
        return [('write', program), ('read', [*program, '--read'])]
    if case == 'md':
        return [('md', [examples / 'md', '-o', 'FILE', '--atoms', options.atoms, '--steps', options.steps])]
    write = [examples / 'atmosphere', '-o', 'FILE', '--edge', options.edge, '--times', '8', '--noise', options.noise]
    return [('atmosphere', write), ('at', [examples / 'at', 'FILE']), ('matt', [examples / 'matt', 'FILE'])]


def environment(sessions):
    env = {name: value for name, value in os.environ.items() if not name.startswith('CAIRN_') and name != 'LD_PRELOAD'}
    env.update(OMPI_MCA_mpi_yield_when_idle='1', OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_ALLOW_RUN_AS_ROOT='1',
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', LC_ALL='C', OMPI_MCA_orte_tmpdir_base=str(sessions))
    return env


def seconds_of(step, said):
    """Named seconds from what a program printed: JSON, or `seconds: a 1.0, b 2.0`."""
    for line in said.splitlines():
        if line.startswith('{'):
            return {step: json.loads(line)['seconds']}
        if line.startswith('seconds:'):
            parts = {name: float(value) for name, value in re.findall(r'(\w+) ([0-9.]+)', line)}
            moved = next(value for name, value in parts.items() if name in ('input', 'output'))
            return {step: sum(parts.values()), f'{step}, input and output': moved}
    raise RuntimeError(f'{step}: no times in what it printed:\n{said}')


def run_once(options, case, variant, disk, env):
    """Seconds of each step, and the file's bytes on the disk."""
    path = disk.path / ('case.h5' if variant.filter else 'case.nc')
    result = {}
    for number, (step, words) in enumerate(steps_of(options, case, variant)):
        if number > 0:
            disk.forget()
        preload = ['-x', f'LD_PRELOAD={variant.layer}'] if variant.layer else []
        command = [f'mpiexec.{options.mpi}', '-n', options.ranks, *preload,
                   *[path if word == 'FILE' else word for word in words]]
        process = subprocess.Popen([str(word) for word in command], cwd=disk.folder, env={**env, **variant.env},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            said, error = process.communicate(timeout=options.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise RuntimeError(f'{variant.name}: {step}: no end after {options.seconds} s') from None
        if process.returncode != 0:
            raise RuntimeError(f'{variant.name}: {step}: status {process.returncode}\n{said}{error}')
        seconds = seconds_of(step, said)
        if number == 0:
            begin = time.monotonic()
            call('sync', '-f', str(disk.path))
            late = time.monotonic() - begin
            seconds = {name: value + late for name, value in seconds.items()}
        result.update(seconds)
    stat = path.stat()
    path.unlink()
    return result, {'bytes': stat.st_size, 'allocated': stat.st_blocks * 512}


def measure(options, case, disk, env):
    variants = variants_of(options, case)
    rounds = {variant.name: [] for variant in variants}
    sizes = {}
    for number in range(options.runs):
        for variant in list(variants):
            try:
                seconds, sizes[variant.name] = run_once(options, case, variant, disk, env)
            except RuntimeError as error:
                if variant.name == 'PnetCDF':
                    raise
                print(f'{case}: {error}', file=sys.stderr)
                variants.remove(variant)
                rounds.pop(variant.name)
                disk.forget()
                continue
            rounds[variant.name].append(seconds)
            words = ', '.join(f'{step} {value:.2f} s' for step, value in seconds.items())
            print(f'{case}, round {number + 1}: {variant.name}: {words}', flush=True)
    return {'sizes': {name: sizes[name] for name in rounds}, 'rounds': rounds}


def table(case, result, options, disk):
    plain = result['rounds']['PnetCDF']
    steps = list(plain[0])
    title = f'{case}: {options.ranks} ranks, disk {disk.writes:.1f} MiB/s written, {disk.reads:.1f} read, {len(plain)} rounds'
    lines = [f'**{title}**', '', '| | MB on disk | ' + ' | '.join(f'{step}, s | to PnetCDF' for step in steps) + ' |',
             '|---|---|' + '---|---|' * len(steps)]
    for name, rounds in result['rounds'].items():
        cells = [name, f'{result["sizes"][name]["allocated"] / 1e6:.1f}']
        for step in steps:
            times = [seconds[step] for seconds in rounds]
            ratio = statistics.median(own[step] / max(other[step], 1e-9) for own, other in zip(plain, rounds))
            cells += [f'{statistics.median(times):.2f} ({min(times):.2f} to {max(times):.2f})', f'{ratio:.2f}×']
        lines.append('| ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines) + '\n'


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--layer', type=pathlib.Path)
    parser.add_argument('--case', action='append', choices=['bench', 'md', 'climate'])
    parser.add_argument('--variants', default='dense:auto,sparse:auto,hybrid:auto,dense:xor', help='layout:codec, …')
    parser.add_argument('--filters', default='none,bitshuffle,gzip', help='of HDF5')
    parser.add_argument('--rate', type=int, default=20, help='MiB a second')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--mpi', default='openmpi', help='suffix of mpiexec')
    parser.add_argument('--bytes', default='4M', help='bench: of a rank in an iteration')
    parser.add_argument('--piece', default='1M', help='bench: of a call')
    parser.add_argument('--noise', default='0.5', help='bench, climate: deviation in Kelvin')
    parser.add_argument('--atoms', default='32000')
    parser.add_argument('--steps', default='60')
    parser.add_argument('--edge', default='80', help='climate: cells along an edge')
    parser.add_argument('--seconds', type=int, default=300)
    parser.add_argument('--json', type=pathlib.Path)
    parser.add_argument('--markdown', type=pathlib.Path)
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.case = options.case or ['bench']
    hdf5 = options.build / 'bench/arrays_hdf5'
    options.hdf5 = hdf5 if hdf5.exists() else None
    return options


def main():
    options = parse()
    if options.layer is None:
        print('no --layer: plain PnetCDF and HDF5 only', file=sys.stderr)
    if options.hdf5 is None:
        print('no bench/arrays_hdf5 in the build: no HDF5', file=sys.stderr)
    results, texts = {}, []
    # Being told to stop is left through the disk's end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with Disk(options.rate, 3 << 30) as disk:
            env = environment(disk.folder)
            for case in options.case:
                results[case] = measure(options, case, disk, env)
                texts.append(table(case, results[case], options, disk))
                print(texts[-1])
            results['disk'] = {'asked': options.rate, 'writes': disk.writes, 'reads': disk.reads}
    except Impossible as why:
        print(f'no honest slow disk here: {why}', file=sys.stderr)
        return IMPOSSIBLE
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + '\n')
    if options.markdown:
        options.markdown.write_text('\n'.join(texts))
    return 0


if __name__ == '__main__':
    sys.exit(main())
