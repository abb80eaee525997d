#!/usr/bin/env python3
"""A recorded program dies, in many ways and at many instants: nothing that its ranks had done may be missing.

    deaths.py --build BUILD --mpi mpich|openmpi [--kind NAME ...] [--instants N] [--seed N]

The program (src/mpi/tests/deaths.c) counts its calls in files that outlive it. After each death the trace must be sound
(`cairn verify`) and hold, of each rank, every call that had returned and at most one more; `cairn record` must have ended
in time and said few lines; and nothing may be left behind. Without --kind all of them; --instants adds as many kills at
random instants, of all ranks, of one, or of the launcher. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / 'src/mpi/tests'))
import surroundings  # noqa: E402

RANKS = 2
HOWS = ['finalize', 'exit', '_exit', 'quick_exit', 'abort', 'MPI_Abort', 'crash', 'kill', 'all', 'terminate', 'return',
        'exec', 'thread', 'after']
SPILLING = ('--memory', '2M')
# name: (how, steps and more words, options of record, variables)
KINDS = {how: ((how, '200'), (), {}) for how in HOWS}
KINDS.update({f'{how}_lossless': ((how, '200'), ('--timing', 'lossless'), {}) for how in ('all', 'kill', 'after', 'crash')})
KINDS.update({f'{how}_after': ((how, '200'), ('--merge', 'after'), {}) for how in ('all', 'exit', 'after', 'MPI_Abort')})
KINDS.update({f'{how}_stack': ((how, '200'), ('--callsites', 'stack'), {}) for how in ('all', 'exit')})
KINDS.update({f'{how}_spilled': ((how, '60000', 'irregular'), SPILLING, {}) for how in ('all', 'exit', 'MPI_Abort', 'finalize', 'after')})
KINDS['all_spilled_lossless'] = (('all', '60000', 'irregular'), (*SPILLING, '--timing', 'lossless'), {})
# Where processes can be spawned; the spawned one is in a trace of its own.
SPAWNING = {f'{how}_spawning': ((how, '200', 'spawn'), (), {}) for how in ('finalize', 'child', 'kill', 'all', 'MPI_Abort')}
SPAWNING['all_spawning_lossless'] = (('all', '200', 'spawn'), ('--timing', 'lossless', '--merge', 'after'), {})
# Killed within MPI_Init, while the ranks merge, and when the trace is there but they do not know it yet; launchers that do
# not wait.
SPECIAL = ('initializing', 'deleted', 'merging', 'merged', 'background', 'launcher_killed', 'interrupted')
# Killed from outside: who is, and what they are doing.
OUTSIDE = ('ranks', 'one', 'launcher', 'interrupt')


class Failed(Exception):
    pass


def counts(folder, of='calls'):
    found = {}
    for path in folder.glob(f'{of}.*'):
        words = path.read_bytes()
        if len(words) == 16:
            found[int(path.suffix[1:])] = struct.unpack('QQ', words)
    return found


def is_program(pid):
    try:
        return 'deaths' in pathlib.Path(f'/proc/{pid}/cmdline').read_text()
    except OSError:
        return False


def kill_ranks(folder, number, which=None):
    spawned = [(None, pid) for _, pid in counts(folder, 'child').values()]
    for rank, pid in [(rank, pid) for rank, (_, pid) in counts(folder).items()] + spawned:
        if which in (None, rank) and is_program(pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass


def children(pid):
    try:
        return [int(word) for word in pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]
    except OSError:
        return []


class Bench:
    def __init__(self, options):
        self.options = options
        self.cairn = options.build / 'bin/cairn'
        self.program = options.build / f'src/mpi/tests/{options.mpi}/deaths'
        self.mpiexec = shutil.which(f'mpiexec.{options.mpi}')
        self.environment = surroundings.environment(options.build, options.mpi)

    def record(self, folder, words, record=(), variables=None, kill=None, background=False):
        """Runs and, if asked, has `kill` kill the run; gives (status, lines of cairn's)."""
        sessions = tempfile.mkdtemp(prefix='cairn-ompi-')
        run = [self.mpiexec, '-n', str(RANKS), str(self.program), *words]
        if background:
            run = ['sh', '-c', ' '.join(run) + ' & sleep 0.1']
        command = [self.cairn, 'record', *record, '-o', folder / 'run.cairn', '--', *run]
        process = subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**self.environment, **(variables or {}), 'OMPI_MCA_orte_tmpdir_base': sessions})
        try:
            if kill is not None:
                kill(process)
            _, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            kill_ranks(folder, signal.SIGKILL)
            os.killpg(process.pid, signal.SIGKILL)
            raise Failed('no end after 60 s') from None
        finally:
            shutil.rmtree(sessions, ignore_errors=True)
        return process.returncode, [line for line in err.splitlines() if line.startswith('cairn: ')]

    def cairn_json(self, *words):
        done = subprocess.run([self.cairn, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f'cairn {words[0]}: status {done.returncode}: {done.stderr}')
        return done.stdout

    def check(self, folder, said, finished, started):
        trace = folder / 'run.cairn'
        made = {rank: calls for rank, (calls, _) in counts(folder).items()}
        spawned = {rank: calls for rank, (calls, _) in counts(folder, 'child').items()}
        of_spawned = folder / 'run-2.cairn'
        left = {path.name for path in folder.glob('run.cairn?*')} | {path.name for path in folder.glob('run-*')}
        if spawned:
            left -= {of_spawned.name}
        if started and len(made) != RANKS:
            raise Failed(f'the program did not start; said {said}')
        if left:
            raise Failed(f'left behind or made twice: {left}; said {said}')
        self.holds(trace, made, said)
        if not trace.exists() and len(said) != 1:
            raise Failed(f'nothing was recorded, and this was said of it: {said}')
        if spawned:
            self.holds(of_spawned, spawned, said)
        of_traces = [line for line in said if not line.startswith('cairn: waiting for ')]
        if len(of_traces) > 4 + 3 * len(spawned):
            raise Failed(f'said too much: {said}')
        if finished and json.loads(self.cairn_json('info', '--json', trace))['status'] != 'complete':
            raise Failed('the trace is not complete')

    def holds(self, trace, made, said):
        """The trace has all calls that had returned, and at most one more."""
        if not trace.exists():
            if any(made.values()):
                raise Failed(f'no {trace.name}, though {made} calls had returned; said {said}')
            return
        self.cairn_json('verify', trace)
        for rank, calls in made.items():
            lines = self.cairn_json('dump', '--jsonl', '--rank', str(rank), trace).splitlines() if calls else []
            events = [json.loads(line) for line in lines[1:]]
            told = sum(event.get('repeat', 1) for event in events)
            returned = told - sum(event.get('returned') is False for event in events)
            if not calls <= returned <= told <= calls + 1:
                raise Failed(f'{trace.name}: rank {rank} had made {calls} calls, the trace has {told}, of which {returned} '
                             f'returned; said {said}')

    def one(self, name, run, finished=False, started=True):
        folder = pathlib.Path(tempfile.mkdtemp(prefix='cairn-deaths-'))
        try:
            status, said = run(folder)
            # Ctrl-C that comes before cairn has begun ends it as it ends any program.
            if started or said or status != -signal.SIGINT or any(folder.iterdir()):
                self.check(folder, said, finished, started)
        except Failed as failure:
            print(f'FAILED: {name}: {failure}\n  in {folder}', flush=True)
            return False
        shutil.rmtree(folder, ignore_errors=True)
        print(f'{name}: status {status}; {said[-1] if said else "silent"}', flush=True)
        return True

    def special(self, name):
        def wait_for(folder, what):
            begin = time.monotonic()
            while not what(folder) and time.monotonic() - begin < 20:
                time.sleep(0.01)

        def finalizing(folder):
            return [calls for calls, _ in counts(folder).values()] == [203] * RANKS

        def written(folder):
            return any(folder.glob('*.spool/*/run.cairn'))

        def run(folder):
            def kill(process):
                if name == 'deleted':
                    wait_for(folder, lambda where: len(counts(where)) == RANKS and min(counts(where).values())[0] > 100)
                    shutil.rmtree(folder / 'run.cairn.spool')
                elif name == 'initializing':
                    wait_for(folder, lambda where: len(counts(where)) == RANKS)
                    kill_ranks(folder, signal.SIGKILL)
                elif name in ('merging', 'merged'):
                    wait_for(folder, finalizing if name == 'merging' else written)
                    kill_ranks(folder, signal.SIGKILL)
                elif name != 'background':
                    wait_for(folder, lambda where: len(counts(where)) == RANKS and min(counts(where).values())[0] > 100)
                    if name == 'interrupted':
                        os.killpg(process.pid, signal.SIGINT)
                    else:
                        for pid in children(process.pid):
                            os.kill(pid, signal.SIGKILL)
                    time.sleep(1)
                    kill_ranks(folder, signal.SIGKILL)
            if name in ('launcher_killed', 'interrupted'):
                return self.record(folder, ('outside', '1'), kill=kill)
            if name == 'deleted':
                return self.record(folder, ('finalize', '40000', 'irregular'), kill=kill)
            if name == 'initializing':
                done = self.record(folder, ('finalize', '200'), kill=kill)
                if (folder / 'run.cairn').exists():
                    raise Failed(f'there is a trace, though no call had ended; said {done[1]}')
                return done
            if name == 'background':
                return self.record(folder, ('finalize', '200'), variables={'CAIRN_MERGE_PAUSE': '300'}, background=True)
            return self.record(folder, ('finalize', '200'), variables={'CAIRN_MERGE_PAUSE': '700'}, kill=kill)
        return self.one(name, run, name in ('deleted', 'merged', 'background'))

    def kind(self, name):
        if name in SPECIAL:
            return self.special(name)
        words, record, variables = {**KINDS, **SPAWNING}[name]
        return self.one(name, lambda folder: self.record(folder, words, record, variables), name.startswith('finalize'))

    def instant(self, number):
        """Kills at a random instant of a life that is long or, with luck, at its end."""
        who = random.choice(OUTSIDE)
        record = random.choice([(), ('--timing', 'lossless'), SPILLING, ('--merge', 'after'), ('--callsites', 'stack')])
        words = random.choice([('outside', '1'), ('outside', '1', 'irregular'), ('finalize', '300'),
                               ('finalize', '20000', 'irregular'), *self.options.spawning])
        after = random.uniform(0, 1.2 if words[0] == 'outside' else 0.8)
        variables = {'CAIRN_MERGE_PAUSE': str(random.choice([0, 100, 300]))}

        def kill(process):
            time.sleep(after)
            if who == 'interrupt':
                os.killpg(process.pid, signal.SIGINT)
            elif who == 'launcher':
                for pid in children(process.pid):
                    os.kill(pid, signal.SIGKILL)
            else:
                kill_ranks(self.folder, signal.SIGKILL, None if who == 'ranks' else random.randrange(RANKS))
            # Whoever lives on, having nobody who would end it.
            begin = time.monotonic()
            while process.poll() is None and time.monotonic() - begin < 8:
                time.sleep(0.05)
                if time.monotonic() - begin > 3:
                    kill_ranks(self.folder, signal.SIGKILL)

        def run(folder):
            self.folder = folder
            return self.record(folder, words, record, variables, kill)
        return self.one(f'{number}: {who} after {after:.2f} s, {" ".join(words)} {" ".join(record)} {variables}', run, started=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('--kind', action='append', default=[], choices=[*KINDS, *SPAWNING, *SPECIAL])
    parser.add_argument('--instants', type=int, default=0)
    parser.add_argument('--seed', type=int, default=int(time.time()))
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.spawning = [('finalize', '300', 'spawn')] if options.mpi == 'openmpi' else []  # Debian's MPICH cannot
    random.seed(options.seed)
    bench = Bench(options)
    if bench.mpiexec is None:
        return 77
    everything = [*KINDS, *(SPAWNING if options.spawning else ()), *SPECIAL]
    passed = [bench.kind(name) for name in options.kind or ([] if options.instants else everything)]
    if options.instants:
        print(f'seed {options.seed}')
    passed += [bench.instant(number) for number in range(options.instants)]
    return 0 if all(passed) else 1


if __name__ == '__main__':
    sys.exit(main())
