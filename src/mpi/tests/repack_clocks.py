#!/usr/bin/env python3
"""Records wrong_clocks.c, with clocks that go wrong on the way, and holds what `cairn repack --clocks` makes of it
against what must be so: before, some receives end before their sends began, after it none; the calls of a rank stay in
their order, and where nothing is wrong nothing moves. With a clock for each rank (time namespaces, where
this user may make them) nothing is reversed by more than the clocks are uncertain.

    repack_clocks.py --build BUILD --mpi mpich|openmpi PROGRAM

Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import surroundings

RANKS = 4


def main():
    bench = surroundings.Bench(__doc__)
    problems = []

    def says(*words):
        return subprocess.run([bench.cairn, *words], check=True, capture_output=True, text=True)

    def events(trace):
        """By rank and number, and in the order of their begins."""
        lines = says('dump', '--jsonl', '--order', 'time', trace).stdout.splitlines()[1:]
        return [json.loads(line) for line in lines]

    def reversed_in(listed, edges):
        """Messages whose receives end before their sends begin."""
        of = {(event['rank'], event['index']): event for event in listed}
        found = []
        for word, *numbers in edges:
            if word in ('message', 'probed'):
                sent, received = of[tuple(numbers[:2])], of[tuple(numbers[2:4])]
                if received['begin_ns'] + received['duration_ns'] < sent['begin_ns']:
                    found.append((sent, received))
        return found

    def barriers_left_early(listed):
        calls = {rank: [event for event in listed if event['function'] == 'MPI_Barrier' and event['rank'] == rank]
                 for rank in range(RANKS)}
        return [several for several in zip(*calls.values())
                if min(call['begin_ns'] + call['duration_ns'] for call in several) <
                max(call['begin_ns'] for call in several)]

    def check(name, wrong, options, apart=False):
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
            old, new, third = (pathlib.Path(folder, name) for name in ('old.cairn', 'new.cairn', 'third.cairn'))
            env = dict(bench.environment, OMPI_MCA_orte_tmpdir_base=folder, **options)
            if wrong:
                env['LD_PRELOAD'] = ':'.join(filter(None, [env.get('LD_PRELOAD'), bench.wrong_clock]))
            done = subprocess.run([bench.cairn, 'record', '--timing', 'lossless', '-o', old, '--', bench.mpiexec, '-n',
                                   str(RANKS), *bench.apart(folder, apart), bench.program], cwd=folder, env=env, timeout=120,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0 or done.stdout != 'ok\n':
                problems.append(f'{name}: status {done.returncode}: {done.stdout}{done.stderr}')
                return
            edges = [[word if word.isalpha() else int(word) for word in line.split()] for line in subprocess.run(
                [bench.messages, old], check=True, capture_output=True, text=True).stdout.splitlines()]
            said = says('repack', '--clocks', old, '-o', new).stderr
            before, after = events(old), events(new)
            was, now = reversed_in(before, edges), reversed_in(after, edges)
            told = json.loads(says('info', '--json', new).stdout)['clocks']['corrected']
            if len([edge for edge in edges if edge[0] == 'message']) != RANKS * 200:
                problems.append(f'{name}: {len(edges)} edges')
            if now or barriers_left_early(after) or told['left'] != 0:
                problems.append(f'{name}: {len(now)} are still reversed, {told}: {now[:1]}')
            begins = [event['begin_ns'] for event in after]
            if begins != sorted(begins):
                problems.append(f'{name}: not in order of time')
            for rank in range(RANKS):
                own = [event['index'] for event in after if event['rank'] == rank]
                if own != sorted(own):
                    problems.append(f'{name}: rank {rank} is not in the order of its calls')
            moved = {(event['rank'], event['index']): event['begin_ns'] for event in after}
            shifts = [moved[event['rank'], event['index']] - event['begin_ns'] for event in before]
            if min(shifts) < 0:
                problems.append(f'{name}: moved by {min(shifts)}')
            if apart and not (told['beyond_uncertainty'] == 0 and len(was) <= told['reversed']):
                problems.append(f'{name}: {len(was)}, {told}')
            if not wrong and not apart and (was or any(shifts) or ' none reversed' not in said or told['largest_seconds'] != 0):
                problems.append(f'{name}: {len(was)} reversed: {said}')
            if wrong and not was:
                problems.append(f'{name}: nothing was wrong')
            if wrong and not (told['reversed'] >= len(was) and 1e-3 < told['largest_seconds'] < 6e-3
                              and re.search(r'[1-9]\d* reversed.*, [1-9][\d,]* moved, by \d\.\d+ ms at most', said)
                              and 'corrected by' in says('info', new).stdout):
                problems.append(f'{name}: {told}, {said}')
            # Of what is corrected already, the same comes out.
            says('repack', '--clocks', '-q', new, '-o', third)
            if third.read_bytes() != new.read_bytes():
                problems.append(f'{name}: again it is another')
            says('verify', new)
            if options:  # of which a block is damaged, nothing is made
                damaged = bytearray(old.read_bytes())
                damaged[900] ^= 0x55
                old.write_bytes(damaged)
                third.unlink()
                done = subprocess.run([bench.cairn, 'repack', '--clocks', old, '-o', third], capture_output=True, text=True)
                if done.returncode != 3 or third.exists():
                    problems.append(f'{name}: damaged, and {done.returncode}: {done.stderr}')

    check('one clock', False, {})
    check('wrong clocks', True, {})
    check('wrong clocks, times in blocks', True, {'CAIRN_BLOCKS': '1'})
    if bench.may_set_apart():
        check('clocks apart', False, {}, True)
    else:
        print('no time namespaces here: clocks that are apart are not tested')
    for problem in problems:
        print('FAILED:', problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
