#!/usr/bin/env python3
"""Recorded programs that hang: `cairn peek` says what each rank waits in while they run, and `cairn info` once they were killed.

    hangs.py --build BUILD --mpi mpich|openmpi [--kind NAME ...]

The program is hangs.c. Each kind is looked at until all that is expected is seen, by its spool, its trace's name, and the
number of a process; looking must leave no file. Then the ranks are killed, or Ctrl-C is pressed, and the trace must say the
same, for longer, and agree with the oracle. What `cairn` prints must be as schemas/ says, where Python has jsonschema. Exit
status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from surroundings import environment

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / 'tests'))
try:
    from schemas import Schemas
except ModuleNotFoundError:
    Schemas = None

SOURCE = pathlib.Path(__file__).resolve().parent / 'hangs.c'
LINES = {name: number for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
         for name in re.findall(r'// (\w+)$', line)}
RANKS = 4
PATIENCE = 100  # seconds, for machines that do much else


def inside(ranks, function, about, mark, **more):
    return {'ranks': ranks, 'thread': 0, 'inside': True, 'function': f'MPI_{function}', 'about': about,
            'line': LINES[mark], **more}


def outside(ranks, function, mark, **more):
    return {'ranks': ranks, 'thread': 0, 'inside': False, 'function': f'MPI_{function}', 'line': LINES[mark], **more}


def receives(mark, *tags):
    """What is said of requests that MPI_Irecv made there."""
    of = ', '.join(f'MPI_Irecv from 0 tag {tag}' for tag in tags)
    return f'{of} (hangs.c:{LINES[mark]})'


# What is seen of each kind, options of record, how it ends, and what is seen then if that is something else.
KINDS = {
    'point': ([inside([0], 'Recv', 'from 1 tag 7 on MPI_COMM_WORLD', 'recv', args={'count': 1, 'datatype': 'MPI_INT'}),
               inside([1], 'Waitall', f'for 3 requests: {receives("irecv", 0, 1, 2)} on MPI_COMM_WORLD', 'waitall'),
               outside([2], 'Allreduce', 'allreduce'),
               inside([3], 'Barrier', 'on MPI_COMM_WORLD', 'barrier')], (), 'ranks'),
    'rooted': ([outside([0], 'Comm_dup', 'dup'),
                inside([1], 'Bcast', 'root 0 on comm(0@0)', 'bcast', args={'count': 3, 'datatype': 'MPI_DOUBLE'}),
                inside([2], 'Recv', 'from MPI_ANY_SOURCE tag MPI_ANY_TAG on MPI_COMM_SELF', 'any'),
                inside([3], 'Scatter', 'root 0 on comm(0@0)', 'scatter', args={'recvcount': 2, 'sendcount': None})],
               ('--timing', 'lossless'), 'interrupt'),
    'requests': ([inside([0], 'Wait', f'for MPI_Irecv from 0 tag 5 on MPI_COMM_WORLD (hangs.c:{LINES["many"]})', 'wait'),
                  inside([1, 2, 3], 'Waitany', f'for 6 requests: {receives("many", 0, 1, 2, 3)}, … on MPI_COMM_WORLD', 'waitany')],
                 ('--merge', 'after'), 'ranks'),
    'threads': ([inside([0], 'Recv', 'from 1 tag 7 on MPI_COMM_WORLD', 'main'),
                 outside([1, 2, 3], 'Comm_dup', 'dup2'),
                 *[inside([rank], 'Recv', f'from {(rank + 1) % RANKS} tag 9 on comm(0@0)', 'thread', thread=1)
                   for rank in range(RANKS)]], (), 'ranks'),
    'callback': ([inside([0, 1, 2, 3], 'Recv', 'from 0 tag 5 on MPI_COMM_WORLD', 'inner', within='MPI_Comm_free')],
                 ('--callsites', 'stack'), 'ranks'),
    'finalize': ([inside([0], 'Recv', 'from 1 tag 3 on MPI_COMM_WORLD', 'last'),
                  inside([1, 2, 3], 'Finalize', '', 'finalize')], (), 'interrupt'),
    'init': ([inside([1, 2, 3], 'Init_thread', '', 'init')], (), 'ranks'),
    'aborted': ([outside([0], 'Comm_dup', 'dup3'), inside([0], 'Recv', 'from 1 tag 9 on comm(0@0)', 'thread', thread=1),
                 inside([1, 2, 3], 'Barrier', 'on comm(0@0)', 'others')], (), 'abort',
                [inside([0], 'Abort', 'on MPI_COMM_WORLD', 'abort'),
                 inside([0], 'Recv', 'from 1 tag 9 on comm(0@0)', 'thread', thread=1),
                 inside([1, 2, 3], 'Barrier', 'on comm(0@0)', 'others')]),
    'busy': ([], (), 'ranks'),
}


class Failed(Exception):
    pass


def is_program(pid):
    try:
        return 'hangs' in pathlib.Path(f'/proc/{pid}/cmdline').read_text().split('\0')[0]
    except OSError:
        return False


def begun_by(pid):
    """The processes of the program among those that `pid` began."""
    found = []
    for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = path.read_text().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            child = int(path.parent.name)
            found += ([child] if is_program(child) else []) + begun_by(child)
    return found


def difference(expected, pending):
    """What keeps `pending` from being what is expected; '' if nothing does."""
    if len(pending) != len(expected):
        return f'{len(expected)} are expected'
    for want in expected:
        found = [each for each in pending if each['ranks'] == want['ranks'] and each['thread'] == want['thread']]
        if not found:
            return f'nothing of ranks {want["ranks"]} thread {want["thread"]}'
        for key in ('inside', 'function', 'about', 'within'):
            if key in want and found[0].get(key) != want[key]:
                return f'{key} is {found[0].get(key)!r}, not {want[key]!r}'
        if f'hangs.c:{want["line"]} ' not in found[0]['site'] + ' ':
            return f'{want["function"]} is at {found[0]["site"]}, not in line {want["line"]}'
        for name, value in want.get('args', {}).items():
            if found[0]['call']['args'].get(name) != value:
                return f'{name} is {found[0]["call"]["args"].get(name)}, not {value}'
    return ''


class Bench:
    def __init__(self, options):
        self.cairn = options.build / 'bin/cairn'
        self.program = options.build / f'src/mpi/tests/{options.mpi}/hangs'
        self.mpiexec = shutil.which(f'mpiexec.{options.mpi}')
        self.environment = environment(options.build, options.mpi)
        self.schemas = Schemas() if Schemas else None

    def tell(self, *words):
        done = subprocess.run([self.cairn, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            return None
        told = json.loads(done.stdout)
        fault = self.schemas.fault_of(told) if self.schemas else None
        if fault:
            raise Failed(f'{" ".join(map(str, words))}: {fault}')
        return told

    def files(self):
        """But for what Open MPI makes while it starts."""
        return sorted(str(path) for path in self.folder.rglob('*') if 'ompi.' not in str(path))

    def seen(self, expected, busy):
        """Waits until the ranks hang as expected, and gives when."""
        begin = time.monotonic()
        said = 'nothing'
        while time.monotonic() - begin < PATIENCE:
            told = self.tell('peek', '--json', 'run.cairn')
            job = told['jobs'][0] if told and told['jobs'] else None
            said = difference(expected, job['pending']) if job else 'nothing is seen'
            if job and busy:
                # Now and then one of them is at rest for long enough to be told as pending.
                told_of = sorted(job['running'] + [rank for each in job['pending'] for rank in each['ranks']])
                said = '' if told_of == list(range(RANKS)) else f'{told_of} of them are told of'
            if not said and set(job['not_seen']) == ({0} if self.kind == 'init' else set()):
                return time.monotonic()
            time.sleep(0.1)
        raise Failed(f'peek: {said}: {json.dumps(told)}')

    def look(self, process, expected):
        """The same by other names, leaving nothing."""
        before = self.files()
        of_rank = self.pids[:1] if self.kind != 'init' else []  # there one of them has no recorder
        for of in ('run.cairn.spool', '.', process.pid, *of_rank):
            told = self.tell('peek', '--json', of)
            if told is None or difference(expected, told['jobs'][0]['pending']):
                raise Failed(f'peek {of}: {told}')
        # Where the processes run, which is not where the trace will be.
        there = subprocess.run([self.cairn, 'peek', '--json'], capture_output=True, text=True, cwd=self.work)
        if there.returncode != 0 or difference(expected, json.loads(there.stdout)['jobs'][0]['pending']):
            raise Failed(f'peek where the processes run: {there}')
        plain = subprocess.run([self.cairn, 'peek'], capture_output=True, text=True, cwd=self.folder)
        if plain.returncode != 0 or len(plain.stdout.splitlines()) < 2:
            raise Failed(f'peek: {plain}')
        if self.files() != before:
            raise Failed(f'peek left {set(self.files()) - set(before)}')

    def end(self, process, how):
        if how == 'interrupt':
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(1)
        if how == 'abort':
            (self.work / 'abort').touch()
            self.wait_for_abort()
        for pid in begun_by(process.pid) + self.pids:
            if is_program(pid):
                with contextlib.suppress(ProcessLookupError):  # its launcher ends it as well
                    os.kill(pid, signal.SIGKILL)
        try:
            return process.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Failed(f'no end after {PATIENCE} s') from None

    def wait_for_abort(self):
        """Until a rank stands in MPI_Abort, or all have ended."""
        begin = time.monotonic()
        while time.monotonic() - begin < PATIENCE:
            told = self.tell('peek', '--json', 'run.cairn')
            if not told or not told['jobs'] or any(each['function'] == 'MPI_Abort' for each in told['jobs'][0]['pending']):
                break
            time.sleep(0.1)
        time.sleep(2)

    def run(self, kind):
        expected, record, how, *after = KINDS[kind]
        self.kind = kind
        self.work = self.folder / 'work'
        self.work.mkdir()
        command = [self.cairn, 'record', *record, '--oracle', self.folder / 'log', '-o', self.folder / 'run.cairn', '--',
                   self.mpiexec, '-n', RANKS, self.program, kind]
        self.environment['OMPI_MCA_orte_tmpdir_base'] = str(self.folder)
        process = subprocess.Popen([str(word) for word in command], cwd=self.work, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env=self.environment)
        self.pids = []
        try:
            when = self.seen(expected, kind == 'busy')
            self.pids = begun_by(process.pid)
            if kind != 'busy':
                self.look(process, expected)
            time.sleep(1)
            waited = time.monotonic() - when
        except Failed as failure:
            raise Failed(f'{failure}; {self.end(process, "ranks")}') from None
        said = self.end(process, how)
        if kind == 'init':  # no call has ended: there is no trace, and a line says what they were in
            lines = [line for line in said.splitlines() if line.startswith('cairn: ')]
            if len(lines) != 1 or not re.search('ranks 1-3 in MPI_Init_thread .*for [0-9.]+ s', lines[0]):
                raise Failed(f'said {said}')
            if list(self.folder.glob('run*')):
                raise Failed(f'left {self.files()}')
            return
        info = self.tell('info', '--json', 'run.cairn')
        if info is None or self.tell('verify', '--json', 'run.cairn') is None:
            raise Failed(f'there is no sound trace; {said}')
        if self.tell('verify', '--json', 'run.cairn', '--against', 'log') is None:
            against = subprocess.run([self.cairn, 'verify', 'run.cairn', '--against', 'log'], capture_output=True, text=True,
                                     cwd=self.folder)
            raise Failed(f'it is not what the oracle logged: {against.stdout}{against.stderr}')
        if kind == 'busy':
            return
        problem = difference(after[0] if after else expected, info['pending'])
        if problem:
            raise Failed(f'info: {problem}: {json.dumps(info["pending"])}; {said}')
        if '--timing' in record:  # rank 0 does something that is no call, and the others wait
            path = self.tell('path', '--json', 'run.cairn')
            longest = path['activities'][0]['activity']
            if (path['ends_on_rank'], longest['doing'], longest['place']['line']) != (0, 'after', LINES['dup']):
                raise Failed(f'path: {json.dumps(path)}')
        for each in info['pending']:
            if each['function'] == 'MPI_Abort':
                continue
            if not each['seconds'] or each['seconds']['least'] < waited:
                raise Failed(f'info: for {each["seconds"]}, but it was seen for {waited} s')
        if info['wall_seconds'] < waited:
            raise Failed(f'{info["wall_seconds"]} s of wall time')

    def passes(self, kind):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='cairn-hangs-'))
        try:
            self.run(kind)
        except Failed as failure:
            print(f'FAILED: {kind}: {failure}\n  in {self.folder}', flush=True)
            return False
        shutil.rmtree(self.folder, ignore_errors=True)
        print(f'{kind}: ok', flush=True)
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('--kind', action='append', default=[], choices=KINDS)
    options = parser.parse_args()
    options.build = options.build.resolve()
    bench = Bench(options)
    if bench.mpiexec is None:
        return 77
    passed = all([bench.passes(kind) for kind in options.kind or KINDS])
    if passed and bench.schemas and not options.kind:
        for member in bench.schemas.unseen():
            if member.startswith(('cairn-peek: ', 'cairn-verify: ')):
                print(f'FAILED: {member}: a schema describes it, and no output had it')
                passed = False
    return 0 if passed else 1


if __name__ == '__main__':
    sys.exit(main())
