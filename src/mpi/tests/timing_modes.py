#!/usr/bin/env python3
"""Records a program in every timing mode, and once exactly, which `cairn repack` then tells in every mode. Fails unless every
duration and every gap is within its bound, and the clock of a call, put together from these, is off by no more than
`cairn info` says.

    timing_modes.py --build BUILD --mpi mpich|openmpi PROGRAM

PROGRAM is stencil2d. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import surroundings

RANKS = 2
STEPS = 2400  # times of more calls than a block has
MISSING = 4  # the exit status where a mode's library is not there
RELATIVE = ('context', 'hist', 'cfg', 'sz', 'sz-clustered', 'bins')
ABSOLUTE = ('zfp', 'zfp-clustered')
# How a setting is asked for; how it is told; what a time of that function may be off by.
SETTINGS = [([f'{mode}:rel={percent}%'], f'{mode}:rel={percent}%', lambda exact, _, percent=percent: exact * percent / 100)
            for mode in RELATIVE for percent in (10, 1)]
SETTINGS += [([f'{mode}:abs=10us'], f'{mode}:abs=10us', lambda exact, _: 10000) for mode in ABSOLUTE]
SETTINGS += [(['lossless'], 'lossless', lambda exact, _: 0),
             (['MPI_Wait*=1%', 'MPI_I*=exact'], 'context:rel=10%,MPI_Wait*=1%,MPI_I*=exact',
              lambda exact, function: exact * {'MPI_W': 0.01, 'MPI_I': 0}.get(function[:5], 0.1))]


def main():
    bench = surroundings.Bench(__doc__)
    problems = []
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        exact, other = pathlib.Path(folder, 'exact.cairn'), pathlib.Path(folder, 'other.cairn')
        environment = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder)

        def says(*words):
            return subprocess.run([bench.cairn, *words], check=True, capture_output=True, text=True).stdout

        def record(settings, trace, steps):
            command = [bench.cairn, 'record', '-q', '--force', *[word for each in settings for word in ('--timing', each)],
                       '-o', trace, '--', bench.mpiexec, '-n', str(RANKS), bench.program, str(steps), 'onetag']
            done = subprocess.run(command, cwd=folder, env=environment, timeout=120, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)
            if done.returncode != 0 or done.stderr:
                sys.exit(f'{settings}: status {done.returncode}: {done.stdout}{done.stderr}')

        def calls(trace):
            return [json.loads(line) for line in says('dump', '--jsonl', trace).splitlines()[1:]]

        def told_by_info(text):
            info = json.loads(says('info', '--json', other))
            if info['timing'] != text or (info['times'] or {}).get('calls') != info['calls']:
                problems.append(f'{text}: info tells of {info["timing"]}, {info["times"]} and {info["calls"]} calls')
            return info['times']

        record(['lossless'], exact, STEPS)
        before = calls(exact)
        left_out = set()
        for settings, text, bound in SETTINGS:
            words = [word for each in settings for word in ('--timing', each)]
            done = subprocess.run([bench.cairn, 'repack', '-q', '--force', *words, exact, '-o', other], text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True)
            if done.returncode == MISSING and text.startswith('zfp'):
                print(f'{text}: left out: {done.stderr.strip()}')
                left_out.add(text.split(':')[0])
                continue
            if done.returncode != 0:
                sys.exit(f'repack to {text}: status {done.returncode}: {done.stderr}')
            off = round(1e9 * told_by_info(text)['clock_error_seconds'])
            outside, worst, different = 0, 0, 0
            for new, old in zip(calls(other), before, strict=True):
                for what in ('gap_ns', 'duration_ns'):
                    distance = abs(new[what] - old[what])
                    outside += distance > bound(old[what], old['function'])
                    different += distance != 0
                worst = max(worst, abs(new['begin_ns'] - old['begin_ns']))
            if outside:
                problems.append(f'{text}: {outside} durations and gaps are not within their bounds')
            if worst > off:
                problems.append(f'{text}: the clock of a call is off by {worst} ns, and not by {off} at most')
            if (different == 0) != (text == 'lossless'):
                problems.append(f'{text}: {different} times are told otherwise')
        for mode in (*RELATIVE, *ABSOLUTE):
            if mode in left_out:
                continue
            record([mode], other, 100)
            told_by_info(f'{mode}:{"abs=10us" if mode in ABSOLUTE else "rel=10%"}')
            says('verify', other)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
