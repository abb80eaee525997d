#!/usr/bin/env python3
"""Records programs, exports them with `cairn export --to goal`, and runs the schedules here, by the grammar and the rules of
GOAL: each operation begins once what it requires is complete, and what it irequires has begun; a message is received by the
first receive of its sender and tag that began. Fails unless all operations end, each send is received with its own size, calcs
add up to what was between calls, and ranks send what `cairn matrix` says.

    goal.py --build BUILD --mpi mpich|openmpi [--rest] FOLDER

FOLDER has the compiled programs of this folder. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import collections
import csv
import io
import json
import re
import subprocess
import sys
import tempfile

import surroundings

# Programs, and on how many ranks.
FAST = [('p2p_modes', 3), ('p2p_persistent', 3), ('coll_nonblocking', 3), ('topologies', 3), ('ignored', 3)]
REST = [('completion', 3), ('coll_blocking', 4), ('coll_persistent', 3), ('coll_inter', 3), ('displacements', 4),
        ('comm_manage', 4), ('matching', 4), ('exchange', 2), ('stencil2d 20 linear line', 4), ('waitany 10 2 changing', 4),
        ('workers 40', 3), ('wavefront 10', 4), ('collective all 3 64', 3), ('tree 5 irregular', 4), ('fan 10', 4),
        ('rebalance 10 random', 4), ('threads', 3)]
OWN = 1 << 30  # tags from here on are of other communicators, or of what collective operations became
OPERATION = re.compile(r'(l\d+): (?:(calc) (\d+)|(send) (\d+)b to (\d+) tag (\d+)|(recv) (\d+)b from (\d+) tag (\d+))')
NEED = re.compile(r'(l\d+) (i?requires) (l\d+)')


class Operation:
    def __init__(self, kind, amount, peer=None, tag=None):
        self.kind, self.amount, self.peer, self.tag = kind, amount, peer, tag
        self.needs, self.after_begin, self.after_end = 0, [], []
        self.begun = self.ended = False


class Malformed(Exception):
    pass


def parse(text):
    """By rank, the operations in order."""
    lines = text.splitlines()
    head = re.fullmatch(r'num_ranks (\d+)', lines[0])
    if not head:
        raise Malformed(lines[0])
    ranks, named, current = {}, {}, None
    for number, line in enumerate(lines[1:], 2):
        if not line:
            continue
        if begin := re.fullmatch(r'rank (\d+) {', line):
            if current is not None or int(begin[1]) in ranks:
                raise Malformed(f'line {number}: {line}')
            current, named = int(begin[1]), {}
            ranks[current] = []
        elif line == '}':
            if current is None:
                raise Malformed(f'line {number}: {line}')
            current = None
        elif current is None:
            raise Malformed(f'line {number}: {line}')
        elif found := OPERATION.fullmatch(line):
            label, *parts = found.groups()
            kind, *numbers = [part for part in parts if part is not None]
            if label in named:
                raise Malformed(f'line {number}: {label} is there twice')
            named[label] = Operation(kind, *map(int, numbers))
            ranks[current].append(named[label])
        elif found := NEED.fullmatch(line):
            later, how, earlier = found.groups()
            if later not in named or earlier not in named:
                raise Malformed(f'line {number}: {line}, which are not there yet')
            named[later].needs += 1
            (named[earlier].after_end if how == 'requires' else named[earlier].after_begin).append(named[later])
        else:
            raise Malformed(f'line {number}: {line}')
    if current is not None or sorted(ranks) != list(range(int(head[1]))):
        raise Malformed('ranks are missing, or not closed')
    return [ranks[rank] for rank in range(len(ranks))]


def execute(ranks, problems):
    """Sends end when they begin, receives when their message is there."""
    ready = collections.deque((rank, operation) for rank, operations in enumerate(ranks) for operation in operations
                              if operation.needs == 0)
    sent, waiting = collections.defaultdict(collections.deque), collections.defaultdict(collections.deque)

    def release(rank, operations):
        for operation in operations:
            operation.needs -= 1
            if operation.needs == 0:
                ready.append((rank, operation))

    def end(rank, operation):
        operation.ended = True
        release(rank, operation.after_end)

    def meet(key, size, receive):
        if receive.amount != size:
            problems.append(f'{size} bytes from {key[0]} to {key[1]} under tag {key[2]} are received as {receive.amount}')
        end(key[1], receive)

    while ready:
        rank, operation = ready.popleft()
        operation.begun = True
        release(rank, operation.after_begin)
        if operation.kind == 'calc':
            end(rank, operation)
        elif operation.kind == 'send':
            key = (rank, operation.peer, operation.tag)
            end(rank, operation)
            if waiting[key]:
                meet(key, operation.amount, waiting[key].popleft())
            else:
                sent[key].append(operation.amount)
        else:
            key = (operation.peer, rank, operation.tag)
            if sent[key]:
                meet(key, sent[key].popleft(), operation)
            else:
                waiting[key].append(operation)
    for rank, operations in enumerate(ranks):
        left = sum(not operation.ended for operation in operations)
        if left:
            problems.append(f'rank {rank}: {left} of {len(operations)} operations do not end')
    for key, sizes in sent.items():
        if sizes:
            problems.append(f'{len(sizes)} messages from {key[0]} to {key[1]} under tag {key[2]} are not received')


def check(cairn, folder):
    problems = []

    def run(*words):
        done = subprocess.run([cairn, *words], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f'{words}: {done.returncode}: {done.stderr}')
        return done

    done = run('export', '--to', 'goal', 'out.cairn')
    ranks = parse(done.stdout)
    execute(ranks, problems)

    # What lies between calls; of nested calls, and of several threads, no rank is outside MPI.
    gaps, known, last = collections.Counter(), True, {}
    # Messages in partitions have tags of their own, since ordinary ones of their tag never meet them.
    operations, partitioned, partitioned_bytes = {}, collections.Counter(), collections.Counter()
    for line in run('dump', '--jsonl', 'out.cairn').stdout.splitlines():
        call = json.loads(line)
        if 'function' not in call:
            continue
        rank, begin, args = call['rank'], call['begin_ns'], call['args']
        if call['function'] in ('MPI_Psend_init', 'MPI_Precv_init', 'MPI_Send_init', 'MPI_Recv_init'):
            ours = call['function'] == 'MPI_Psend_init' and args['comm'] == 'MPI_COMM_WORLD'
            operations[rank, args['request']] = ours and (
                args['dest'], args['partitions'] * args['count'] * {'MPI_BYTE': 1, 'MPI_INT': 4}[args['datatype']])
        for request in args.get('array_of_requests', [args.get('request')]) if 'MPI_Start' in call['function'] else []:
            name = request['before'] if isinstance(request, dict) else request
            if ours := operations.get((rank, name)):
                partitioned[rank, ours[0]] += 1
                partitioned_bytes[rank, ours[0]] += ours[1]
        known = known and call['thread'] == 0
        if rank in last:
            gaps[rank] += max(0, begin - last[rank])
        last[rank] = max(last.get(rank, 0), begin + call['duration_ns'])
    for rank, operations in enumerate(ranks):
        computed = sum(operation.amount for operation in operations if operation.kind == 'calc')
        # Parts of nanoseconds may be lost at the end, and clocks drift.
        if known and abs(gaps[rank] - computed) > 1 + 1e-3 * gaps[rank]:
            problems.append(f'rank {rank} computes for {computed} ns, of {gaps[rank]}')

    # Whole runs without times send the same, and none of it takes time.
    bare = parse(run('export', '--to', 'goal', '--no-gaps', 'out.cairn').stdout)
    told = [(rank, each.kind, each.amount, each.peer, each.tag) for rank, all_of in enumerate(bare) for each in all_of
            if each.kind != 'calc']
    if told != [(rank, each.kind, each.amount, each.peer, each.tag) for rank, all_of in enumerate(ranks) for each in all_of
                if each.kind != 'calc'] or any(each.amount for all_of in bare for each in all_of if each.kind == 'calc'):
        problems.append('without gaps other messages are sent')

    messages, sizes, ones = collections.Counter(), collections.Counter(), collections.Counter()
    for rank, operations in enumerate(ranks):
        for operation in operations:
            if operation.kind == 'send' and operation.tag < OWN:
                messages[rank, operation.peer] += 1
                sizes[rank, operation.peer] += operation.amount
                ones[rank, operation.peer] += operation.amount == 1
    matrix = collections.Counter(), collections.Counter()
    for line in csv.DictReader(io.StringIO(run('matrix', '--csv', '--comm', 'MPI_COMM_WORLD', 'out.cairn').stdout)):
        if line['kind'] == 'message':
            pair = int(line['from']), int(line['to'])
            matrix[0][pair] += int(line['messages']) - partitioned[pair]
            matrix[1][pair] += int(line['bytes']) - partitioned_bytes[pair]
    if messages != matrix[0]:
        problems.append(f'messages: {dict(messages)}, and not {dict(matrix[0])}')
    for pair, size in sizes.items():
        if not size - ones[pair] <= matrix[1][pair] <= size:
            problems.append(f'from {pair[0]} to {pair[1]}: {size} bytes, and not {matrix[1][pair]}')
    return problems, sum(map(len, ranks)), sum(messages.values())


def main():
    bench = surroundings.Bench(__doc__, rest=True)
    failed = 0
    for words, count in REST if bench.rest else FAST:
        name, *arguments = words.split()
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
            done = bench.run_in(folder, 'record', '-q', '--timing', 'lossless', '-o', 'out.cairn', '--', bench.mpiexec, '-n',
                                str(count), f'{bench.program}/{name}', *arguments)
            if done.returncode != 0:
                sys.exit(f'{words}: {done}')
            problems, operations, messages = check(bench.cairn, folder)
        print(f'{words}: {operations} operations, {messages} messages in MPI_COMM_WORLD, {len(problems)} differences')
        for problem in problems[:10]:
            print(f'  {problem}')
        failed += len(problems)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
