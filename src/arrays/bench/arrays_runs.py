"""Chains of programs that write and read arrays, run in rounds: through plain PnetCDF, under the layer, through HDF5.

A case is a chain: bench (write_bench writes and reads), md (the molecular dynamics), climate (atmosphere writes, at
and matt read). Every variant runs in every round, so that ratios are of runs beside each other. Times of programs that
write end when the data is on the disk; reads find no cache. Used by arrays_disk.py and arrays_figures.py.
"""
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import textwrap
import time

from slow_disk import call

PLAIN = 'PnetCDF'
# bench: of a rank in an iteration, of a call; bench and climate: deviation in Kelvin; climate: cells along an edge.
SIZES = {'bytes': '4M', 'piece': '1M', 'iterations': '4', 'noise': '0.5', 'atoms': '32000', 'steps': '60', 'edge': '80',
         'times': '8'}


class Variant:
    """'PnetCDF', 'HDF5, FILTER', or 'LAYOUT, CODEC': the layer's; 'LAYOUT, CODEC alone': no step against another."""

    def __init__(self, name, layer=None):
        self.name, self.filter, self.layer, self.env = name, None, None, {}
        first, _, second = name.partition(', ')
        if first == 'HDF5':
            self.filter = second
            self.env = {'HDF5_FILTER': second}
        elif name != PLAIN:
            self.layer = layer
            codec, _, alone = second.partition(' ')
            self.env = {'CAIRN_ARRAYS_CODEC': codec, 'CAIRN_ARRAYS_LAYOUT': first,
                        'CAIRN_ARRAYS_CHAIN': '0' if alone else 'auto'}


class Case:
    """What runs, how large, and on how slow a disk. `more` are arguments of bench or md, `env` is for every program."""

    def __init__(self, name, ranks=4, more=(), env=None, rate=20, reads=True, **sizes):
        self.name, self.ranks, self.more, self.env, self.rate = name, ranks, list(more), env or {}, rate
        self.reads, self.sizes = reads, {**SIZES, **sizes}

    def steps(self, build, variant):
        """Pairs of a step's name and its command line; `FILE` stands for the file."""
        examples, size = build / 'src/arrays/examples', self.sizes
        if self.name == 'bench':
            program = [build / 'src/arrays/bench/arrays_hdf5' if variant.filter else examples / 'write_bench', 'FILE']
            for word in ('bytes', 'piece', 'iterations', 'noise'):
                program += [f'--{word}', size[word]]
            program += ['--filter', variant.filter] if variant.filter else []
            program += self.more
            return [('write', program)] + ([('read', [*program, '--read'])] if self.reads else [])
        if self.name == 'md':
            size = ['--atoms', size['atoms'], '--steps', size['steps']]
            return [('md', [examples / 'md', '-o', 'FILE', *size, *self.more])]
        programs, end = (build / 'src/arrays/bench', '_hdf5') if variant.filter else (examples, '')
        write = [programs / f'atmosphere{end}', '-o', 'FILE', '--edge', size['edge'], '--times', size['times'], '--noise',
                 size['noise']]
        return [('atmosphere', write), ('at', [programs / f'at{end}', 'FILE']),
                ('matt', [programs / f'matt{end}', 'FILE'])]


class Programs:
    """Where the programs are and how they are started."""

    def __init__(self, build, mpi, place, seconds):
        self.build, self.mpi, self.place, self.seconds = build, mpi, place, seconds
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith('CAIRN_') and name != 'LD_PRELOAD'}
        self.env.update(OMPI_MCA_mpi_yield_when_idle='1', OMPI_MCA_rmaps_base_oversubscribe='1',
                        OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', LC_ALL='C',
                        OMPI_MCA_orte_tmpdir_base=str(place.folder))

    def run(self, words, ranks, variant, env):
        preload = ['-x', f'LD_PRELOAD={variant.layer}'] if variant.layer else []
        command = [f'mpiexec.{self.mpi}', '-n', ranks, *preload, *words]
        process = subprocess.Popen([str(word) for word in command], cwd=self.place.folder,
                                   env={**self.env, **variant.env, **env}, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            said, error = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f'no end after {self.seconds} s') from None
        finally:
            if process.poll() is None:  # mpiexec ends its ranks when it is asked to
                for name, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, None)):
                    os.killpg(process.pid, name)
                    try:
                        process.communicate(timeout=patience)
                        break
                    except subprocess.TimeoutExpired:
                        pass
        if process.returncode != 0:
            raise RuntimeError(f'status {process.returncode}\n{said}{error}')
        return said

    def chain(self, case, variant):
        """Seconds of each step, and the file's bytes on the disk."""
        path = self.place.path / ('case.h5' if variant.filter else 'case.nc')
        result = {}
        try:
            for number, (step, words) in enumerate(case.steps(self.build, variant)):
                if number > 0:
                    self.place.forget()
                said = self.run([path if word == 'FILE' else word for word in words], case.ranks, variant, case.env)
                seconds = seconds_of(step, said)
                if number == 0:
                    begin = time.monotonic()
                    call('sync', '-f', str(self.place.path))
                    late = time.monotonic() - begin
                    seconds = {name: value + late for name, value in seconds.items()}
                result.update(seconds)
            stat = path.stat()
        except RuntimeError as error:
            raise RuntimeError(f'{variant.name}: {step}: {error}') from None
        finally:
            path.unlink(missing_ok=True)
        return {name: round(value, 3) for name, value in result.items()}, stat.st_blocks * 512


def seconds_of(step, said):
    """Named seconds from what a program printed: JSON, or `seconds: a 1.0, b 2.0`."""
    for line in said.splitlines():
        if line.startswith('{'):
            return {step: json.loads(line)['seconds']}
        if line.startswith('seconds:'):
            parts = {name: float(value) for name, value in re.findall(r'(\w+) ([0-9.]+)', line)}
            moved = next(value for name, value in parts.items() if name in ('input', 'output'))
            return {step: sum(parts.values()), f'{step}, input and output': moved}
    raise RuntimeError(f'no times in what it printed:\n{said}')


def measure(programs, cases, names, layer, runs):
    """For each label of `cases`: the rounds of each variant, and the file's bytes; a variant that fails is left out."""
    points = [{'x': label, 'rounds': {name: [] for name in names}, 'bytes': {}} for label in cases]
    for number in range(runs):
        for point in points:
            programs.place.use(cases[point['x']].rate)
            for name in list(point['rounds']):
                try:
                    seconds, point['bytes'][name] = programs.chain(cases[point['x']], Variant(name, layer))
                except RuntimeError as error:
                    if name == PLAIN:
                        raise
                    print(f'{point["x"]}: {error}', file=sys.stderr)
                    point['rounds'].pop(name)
                    point['bytes'].pop(name, None)
                    programs.place.forget()
                    continue
                point['rounds'][name].append(seconds)
                words = ', '.join(f'{step} {value:.2f} s' for step, value in seconds.items())
                print(f'round {number + 1}, {point["x"]}: {name}: {words}', file=sys.stderr, flush=True)
    return points


def summary(point, name, step):
    """Median, least, most, and the median ratio to plain PnetCDF in the same round (above 1: faster than it)."""
    times = [seconds[step] for seconds in point['rounds'][name]]
    ratios = [plain[step] / max(seconds[step], 1e-9)
              for plain, seconds in zip(point['rounds'][PLAIN], point['rounds'][name])]
    return statistics.median(times), min(times), max(times), statistics.median(ratios)


def tables(title, points):
    """For each step a table: variants down, places on the x axis across; medians, least and most, ratio to PnetCDF."""
    lines = []
    for step in points[0]['rounds'][PLAIN][0]:
        lines += [f'**{title}: {step}, s**', '', '| | ' + ' | '.join(point['x'] for point in points) + ' |',
                  '|---|' + '---|' * len(points)]
        for variant in points[0]['rounds']:
            cells = [variant]
            for point in points:
                if variant in point['rounds']:
                    median, least, most, ratio = summary(point, variant, step)
                    cells.append(f'{median:.2f} ({least:.2f} to {most:.2f}) {ratio:.2f}×')
                else:
                    cells.append('failed')
            lines.append('| ' + ' | '.join(cells) + ' |')
        lines.append('')
    sizes = ', '.join(f'{variant} {size / 1e6:.1f}' for variant, size in points[-1]['bytes'].items())
    return '\n'.join([*lines, textwrap.fill(f'MB on disk: {sizes}', 100), ''])
