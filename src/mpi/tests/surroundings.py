"""What tests that record MPI programs run in, and with."""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys


def environment(build, mpi):
    """This one, without settings of a recording, for more ranks than cores."""
    env = {name: value for name, value in os.environ.items() if not name.startswith('CAIRN_') and name != 'LD_PRELOAD'}
    env.update(OMPI_MCA_mpi_yield_when_idle='1', OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_ALLOW_RUN_AS_ROOT='1',
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', LC_ALL='C')
    # MPICH would spin.
    yielding = build / 'src/mpi/tests/libyield.so'
    if mpi == 'mpich' and yielding.exists():
        env['LD_PRELOAD'] = str(yielding)
    return env


APART = '''#!/bin/sh
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
exec unshare --time --fork --monotonic $((rank * 3000 + 1000)) "$@"
'''


def family(first, info):
    """A trace and those beside it of the jobs that it spawned, and so on: each by its path, which is for each job on the
    way from the first one by which rank it was spawned, and as which of that rank's jobs. `info` gives what `cairn info
    --json` says of a trace. Open MPI counts its jobs up."""
    found = {}
    for trace in sorted(first.parent.glob(f'{first.stem}*.cairn')):
        if trace != first and not trace.stem[len(first.stem):].strip('-').isdigit():
            continue
        job = info(trace).get('job') or {'name': '0', 'spawned_by': None}
        found[job['name']] = trace, job['spawned_by']

    def path(name):
        by = found[name][1]
        if by is None:
            return ()
        siblings = sorted((other for other in found if found[other][1] == by), key=int)
        return (*path(by['job']), (by['rank'], siblings.index(name)))

    return {path(name): trace for name, (trace, _) in found.items()}


class LauncherWaits(Exception):
    """A process that was launched waited for its launcher to answer, and never came to begin MPI."""


def descendants(process):
    """Of a process, by its number, itself first."""
    children = {}
    for status in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            parent = status.read_text().rpartition(')')[2].split()[1]
        except OSError:
            continue
        children.setdefault(int(parent), []).append(int(status.parent.name))
    found = [process]
    for each in found:
        found += children.get(each, [])
    return found


def waits_for_launcher(process):
    """Open MPI opens what sends messages when its launcher has answered."""
    try:
        mapped = pathlib.Path(f'/proc/{process}/maps').read_text()
    except OSError:
        return False
    return '/libmpi.so' in mapped and '/mca_pml_' not in mapped


def launch(words, seconds, **settings):
    """Runs what launches an MPI program. When it takes longer it is ended, with all that it started, and the error is
    LauncherWaits where that is known to be why. Open MPI 4.1.4 with Debian's PMIx does that, also without Cairn: one in
    a hundred runs of family.c on two busy cores."""
    running = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **settings)
    try:
        out, err = running.communicate(timeout=seconds)
        return subprocess.CompletedProcess(running.args, running.returncode, out, err)
    except subprocess.TimeoutExpired as late:
        started = descendants(running.pid)
        waits = any(waits_for_launcher(process) for process in started)
        running.terminate()
        try:
            running.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            pass
        for process in started:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        running.communicate()
        if waits:
            raise LauncherWaits(f'{words}: waited for its launcher') from late
        raise


def again_where_launcher_waits(act):
    """What `act` gives, which is tried three times."""
    for attempt in range(3):
        try:
            return act()
        except LauncherWaits as waits:
            print(f'attempt {attempt + 1}: {waits}')
    sys.exit('the launcher left a process waiting three times in a row')


class Problems(list):
    """What is wrong, a line each; beside it which times are other than those that a program wrote down itself."""

    def __init__(self):
        super().__init__()
        self.of_times = []

    def expect(self, what, found, wanted):
        if found != wanted:
            self.append(f'{what}: {found}, and not {wanted}')


def against_a_clock(attempt):
    """Problems of `attempt`, which holds times that are told against those that a program wrote down itself. A busy
    machine may stop a rank between its look at the clock and its call for longer than both may differ. So what is wrong
    with times alone must be so in each of three attempts; anything else counts at once."""
    for number in range(3):
        problems = attempt()
        if problems or not problems.of_times:
            break
        print(*(f'attempt {number + 1}: {problem}' for problem in problems.of_times), sep='\n')
    return [*problems, *problems.of_times]


class Bench:
    """What a script with the words --build BUILD --mpi mpich|openmpi PROGRAM works with; ends with 77 without that MPI.
    PROGRAM may be a folder of them. With `rest` there may be the word --rest."""

    def __init__(self, about, rest=False):
        parser = argparse.ArgumentParser(description=about.splitlines()[0])
        parser.add_argument('--build', type=pathlib.Path, required=True)
        parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
        parser.add_argument('program', type=lambda name: str(pathlib.Path(name).resolve()))
        if rest:
            parser.add_argument('--rest', action='store_true')
        options = parser.parse_args()
        self.rest = rest and options.rest
        build = options.build.resolve()
        self.mpi, self.program = options.mpi, options.program
        self.cairn = str(build / 'bin/cairn')
        self.wrong_clock = str(build / 'src/mpi/tests/libwrong_clock.so')
        self.fake_cuda = build / 'src/mpi/names/fake_cuda/libcuda.so.1'
        self.messages = str(build / 'src/analyze/tell_messages')
        self.left_out = str(build / 'src/turns/tell_left_out')
        self.mpiexec = shutil.which(f'mpiexec.{options.mpi}')
        if self.mpiexec is None:
            sys.exit(77)
        self.environment = environment(build, options.mpi)

    def run_in(self, folder, *words):
        """cairn with these words, in a folder of the test's own."""
        env = dict(self.environment, OMPI_MCA_orte_tmpdir_base=folder)
        return subprocess.run([self.cairn, *words], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120)

    def may_set_apart(self):
        """Whether ranks may have clocks of their own here."""
        tried = ['unshare', '--time', '--fork', '--monotonic', '5', 'true']
        return subprocess.run(tried, capture_output=True).returncode == 0

    def apart(self, folder, wanted):
        """The word before a program for a clock of its own on each rank, thousands of seconds from the others."""
        wrapper = pathlib.Path(folder, 'apart')
        wrapper.write_text(APART)
        wrapper.chmod(0o755)
        return [wrapper] if wanted else []
