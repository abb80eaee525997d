#!/usr/bin/env python3
"""Runs one MPI program bare and recorded, and fails unless the two agree and the trace equals what the oracle logged.

    run.py --build BUILD --mpi mpich|openmpi [-n N] [options] -- program args

Without --bare-only the program runs twice: bare, then as `cairn record --oracle DIR -o out.cairn -- mpiexec … program`.
Both must end with the same status (--status, default 0) and print the same lines, in whatever order the ranks came
(--same compares only what matches a pattern, for programs that print times). Then `cairn verify` must find the trace
sound, and `cairn verify --against DIR` must find no difference in any field of any call. With --replay the trace is
replayed, which is recorded, too, and `cairn diff --replay` must find no difference between the two traces. Work is done in a new folder
that is removed unless something failed (or --keep). Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import stored
import surroundings

SKIPPED = 77


def environment(options):
    env = surroundings.environment(options.build, options.mpi)
    for setting in options.env:
        name, _, value = setting.partition('=')
        env[name] = value
    return env


class Failed(Exception):
    pass


def run(command, folder, env, seconds, what):
    """Its status and output; kills everything it started when it takes too long."""
    # Open MPI's jobs of one user share a folder, which the end of one removes while the next begins.
    sessions = tempfile.mkdtemp(prefix='cairn-ompi-')
    try:
        return run_in(command, folder, dict(env, OMPI_MCA_orte_tmpdir_base=sessions), seconds, what)
    finally:
        shutil.rmtree(sessions, ignore_errors=True)


def run_in(command, folder, env, seconds, what):
    process = subprocess.Popen([str(c) for c in command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        raise Failed(f'{what}: no end after {seconds} s') from None
    return process.returncode, out.decode(errors='replace'), err.decode(errors='replace')


def comparable(text, same):
    lines = text.splitlines()
    if same:
        # Once each: some programs decide by the clock how often they repeat a test.
        lines = {found.group(0) for found in (re.search(same, line) for line in lines) if found}
    return sorted(lines)


def tail(text):
    return '\n'.join('    ' + line for line in text.splitlines()[-15:])


def launcher(options, env):
    mpiexec = shutil.which(f'mpiexec.{options.mpi}')
    if mpiexec is None:
        return None
    return [mpiexec, '-n', str(options.ranks)]


def prepare(options, folder):
    folder.mkdir()
    for name in options.file:
        source = pathlib.Path(name)
        (folder / source.name).symlink_to(source.resolve())
    if options.input:
        name, _, text = options.input.partition('=')
        (folder / name).write_text(text.replace('\\n', '\n'))
    return folder


def result_of(options, folder, out):
    """What the program said: its output, or a file that it wrote."""
    if not options.result:
        return out
    path = folder / options.result
    return path.read_text(errors='replace') if path.exists() else ''


def check(options, top):
    env = environment(options)
    launch = launcher(options, env)
    if launch is None or not shutil.which(options.program[0], path=os.environ.get('PATH')):
        print(f'skipped: no mpiexec.{options.mpi} or no {options.program[0]}')
        return SKIPPED
    cairn = options.build / 'bin/cairn'
    bare_folder = prepare(options, top / 'bare')
    status, out, err = run(launch + options.program, bare_folder, env, options.seconds, 'bare run')
    bare = comparable(result_of(options, bare_folder, out), options.same)
    if options.status is not None and status != options.status:
        raise Failed(f'bare run: status {status}, not {options.status}\n{tail(out)}\n{tail(err)}')
    if options.bare_only:
        return 0
    folder = prepare(options, top / 'recorded')
    trace, logs = top / 'out.cairn', top / 'oracle'
    record = [cairn, 'record', *options.record, '-o', trace]
    if not options.no_oracle:
        record += ['--oracle', logs]
    recorded_status, out, err = run(record + launch + options.program, folder, env, 3 * options.seconds,
                                    'recorded run')
    # When one rank has died, MPICH's mpiexec kills the others and tells the status of either.
    wanted = 125 if status == 0 and options.missing else status
    alike = recorded_status == wanted or (options.status is None and 0 not in (recorded_status, status))
    if not alike:
        raise Failed(f'recorded run: status {recorded_status}, not {wanted}\n{tail(out)}\n{tail(err)}')
    recorded = comparable(result_of(options, folder, out), options.same)
    if recorded != bare:
        raise Failed('recorded run: it printed\n' + tail('\n'.join(recorded)) + '\n  but bare\n' + tail('\n'.join(bare)))
    if not bare and not options.silent:
        raise Failed('nothing was printed that could be compared')
    if not trace.exists() and options.may_lose_trace:
        return 0
    if not trace.exists():
        raise Failed(f'recorded run: no trace was written\n{tail(err)}')
    said = err
    problems = []
    status, out, err = run([cairn, 'verify', trace], top, env, options.seconds, 'verify')
    if status != 0:
        problems.append(f'verify: status {status}\n{head(out)}\n{tail(err)}')
    if not options.no_oracle:
        status, out, err = run([cairn, 'verify', trace, '--against', logs], top, env, 3 * options.seconds,
                               'verify --against')
        if status != 0:
            problems.append(f'verify --against: status {status}\n{head(out)}\n{tail(err)}')
        else:
            print(out.strip())
    for pattern in options.said:
        if not re.search(pattern, said):
            problems.append(f'cairn record did not say "{pattern}"')
    for pattern in options.unsaid:
        if re.search(pattern, said):
            problems.append(f'cairn record said "{pattern}"')
    if options.classes:
        status, out, err = run([cairn, 'info', '--json', trace], top, env, options.seconds, 'info')
        classes = json.loads(out)['classes'] if status == 0 else err
        if classes != options.classes:
            problems.append(f'{classes} classes of ranks, not {options.classes}')
    if problems:
        raise Failed('\n'.join(problems) + f'\n  record said\n{tail(said)}')
    problems = list(stored.problems(trace, options.stored)) if options.stored else []
    if problems:
        raise Failed('\n'.join(problems))
    if options.mutate:
        mutations = options.build / 'src/mpi/tests/cairn-oracle-mutations'
        status, out, err = run([mutations, trace, logs], top, env, 4 * options.seconds, 'mutations')
        if status != 0:
            raise Failed(f'mutations: status {status}\n{head(out)}\n{tail(err)}')
        print(out.strip())
    limit = [] if options.dumped else ['--limit', '20']
    status, out, err = run([cairn, 'dump', trace, *limit], top, env, options.seconds, 'dump')
    if status != 0 or not out:
        raise Failed(f'dump: status {status}\n{tail(err)}')
    for pattern in options.dumped:
        if not re.search(pattern, out):
            raise Failed(f'cairn dump does not print "{pattern}"')
    if options.replay:
        replay(options, top, env, launch, trace)
    return 0


def replay(options, top, env, launch, trace):
    """What is recorded of a replay is what was replayed."""
    cairn, again = options.build / 'bin/cairn', top / 'again.cairn'
    command = [cairn, 'record', '-q', '-o', again, '--', cairn, 'replay', '--scratch', top, trace, '--', *launch]
    status, out, err = run(command, top, env, 3 * options.seconds, 'replay')
    if status != 0 or not again.exists():
        raise Failed(f'replay: status {status}\n{tail(out)}\n{tail(err)}')
    status, out, err = run([cairn, 'diff', '--replay', trace, again], top, env, options.seconds, 'diff --replay')
    print(out.strip())
    if status != 0:
        raise Failed(f'diff --replay: status {status}\n{tail(err)}')


def head(text):
    return '\n'.join('    ' + line for line in text.splitlines()[:60])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True, help='build folder of cairn')
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('-n', dest='ranks', type=int, default=2)
    parser.add_argument('--status', type=int, default=0, help='that the program must end with; -1: any but 0, not always the same')
    parser.add_argument('--seconds', type=int, default=60, help='limit of the bare run; thrice that when recorded')
    parser.add_argument('--same', default='', help='compare only what matches')
    parser.add_argument('--result', default='', help='compare this file that the program writes instead of its output')
    parser.add_argument('--input', default='', help='NAME=TEXT: a file to make in the folder the program runs in')
    parser.add_argument('--file', action='append', default=[], help='a file to link there')
    parser.add_argument('--env', action='append', default=[], help='NAME=VALUE')
    parser.add_argument('--record', action='append', default=[], help='an option for cairn record')
    parser.add_argument('--missing', action='store_true', help='calls or arguments are missing: record ends with 125')
    parser.add_argument('--may-lose-trace', action='store_true', help='every process was killed')
    parser.add_argument('--classes', type=int, default=0, help='how many classes of ranks there must be')
    parser.add_argument('--silent', action='store_true', help='the program need not print anything')
    parser.add_argument('--said', action='append', default=[], help='what cairn record must say on stderr, a pattern')
    parser.add_argument('--unsaid', action='append', default=[], help='what it must not say, a pattern')
    parser.add_argument('--dumped', action='append', default=[], help='what cairn dump must print, a pattern')
    parser.add_argument('--mutate', action='store_true', help='change every value of the trace: each must be found')
    parser.add_argument('--stored', action='append', default=[], help='how little it must take: see stored.py')
    parser.add_argument('--replay', action='store_true', help='replay the trace: the same calls must be made again')
    parser.add_argument('--no-oracle', action='store_true')
    parser.add_argument('--bare-only', action='store_true')
    parser.add_argument('--keep', action='store_true', help='keep the folder')
    parser.add_argument('program', nargs='+')
    options = parser.parse_args()
    options.build = options.build.resolve()
    if options.status == -1:
        options.status = None
    top = pathlib.Path(tempfile.mkdtemp(prefix='cairn-test-'))
    failed = False
    try:
        return check(options, top)
    except Failed as failure:
        failed = True
        print(f'FAILED: {failure}\n  in {top}', flush=True)
        return 1
    finally:
        if not options.keep and not failed:
            shutil.rmtree(top, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
