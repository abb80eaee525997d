#!/usr/bin/env python3
"""Records programs and holds what `cairn matrix` and `cairn sizes` say of them, from the compressed trace, against what
this script adds up from every call of every rank, one by one; and what `cairn check` finds in them against what is
known to be wrong (checked.py).

    matrix.py --build BUILD --mpi mpich|openmpi [--rest | --trace FILE] FOLDER

FOLDER has the compiled programs of this folder. Without --rest a dozen of them, else the others; with --trace a trace
that is there. The calls come from `cairn dump --jsonl`, who is in which communicator from `cairn info --communicators`;
what they mean is worked out here, from the MPI standard. Exit status: 0 passed, 1 failed, 77 not possible here.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import checked
import surroundings

FAST = [('p2p_modes', 3), ('p2p_persistent', 3), ('partitioned', 3), ('rma', 3), ('topologies', 3), ('types', 3),
        ('coll_blocking', 4), ('coll_nonblocking', 3), ('coll_persistent', 3), ('coll_inter', 3), ('comm_manage', 4),
        ('repeats', 3), ('stencil2d 20 linear line', 4)]
REST = [('p2p_probe', 3), ('completion', 3), ('comm_ids', 3), ('groups', 3), ('ops', 3), ('attributes', 3), ('info', 3),
        ('members', 6), ('matching', 4), ('threads', 3), ('thread_handles', 3), ('nested', 3), ('large_count', 3),
        ('displacements', 3), ('irregular', 4), ('drains', 3), ('polls', 3), ('loops', 3), ('twins', 3), ('turns', 3),
        ('errors', 3), ('buffers', 3), ('callbacks', 3), ('exchange', 2), ('renamed', 3), ('removed', 3), ('replays', 3),
        ('sessions', 3), ('tags 40', 4), ('tree 5', 4), ('tree 5 irregular', 4), ('stencil3d 10', 4), ('fan 10', 4),
        ('rebalance 10 random', 4), ('waitany 10 2 changing', 4), ('workers 40', 3), ('wavefront 10', 4),
        ('collective all 3 64', 3), ('bandwidth pairs 2 64', 4), ('stencil2d 20 linear onetag', 4)]

SIZES = {1: 'CHAR SIGNED_CHAR UNSIGNED_CHAR BYTE PACKED INT8_T UINT8_T C_BOOL CXX_BOOL CHARACTER INTEGER1',
         2: 'SHORT UNSIGNED_SHORT INT16_T UINT16_T INTEGER2',
         4: 'WCHAR INT UNSIGNED FLOAT INT32_T UINT32_T LOGICAL INTEGER REAL INTEGER4 REAL4',
         6: 'SHORT_INT',
         8: 'LONG UNSIGNED_LONG LONG_LONG LONG_LONG_INT UNSIGNED_LONG_LONG DOUBLE INT64_T UINT64_T C_COMPLEX '
            'C_FLOAT_COMPLEX CXX_FLOAT_COMPLEX AINT OFFSET COUNT DOUBLE_PRECISION COMPLEX INTEGER8 REAL8 2INT FLOAT_INT '
            '2INTEGER 2REAL COMPLEX8',
         12: 'LONG_INT DOUBLE_INT',
         16: 'LONG_DOUBLE C_DOUBLE_COMPLEX CXX_DOUBLE_COMPLEX DOUBLE_COMPLEX 2DOUBLE_PRECISION COMPLEX16 REAL16',
         20: 'LONG_DOUBLE_INT', 32: 'C_LONG_DOUBLE_COMPLEX CXX_LONG_DOUBLE_COMPLEX COMPLEX32'}
PREDEFINED = {f'MPI_{name}': size for size, names in SIZES.items() for name in names.split()}
COLLECTIVES = ('Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce '
               'Allreduce Reduce_scatter Reduce_scatter_block Scan Exscan').split()
NEIGHBOURS = 'Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw'.split()


def operation_of(function):
    """'Allreduce' of MPI_Iallreduce_c; whether it makes a request to be started later."""
    name = function.removeprefix('MPI_').removeprefix('MPIX_').removesuffix('_c')
    later = name.endswith('_init') and name != 'T_init'
    name = name.removesuffix('_init')
    if re.match(r'I[a-z]', name) and not re.match(r'In[ft]|Is_|Ipr|Imp|Imr', name):
        name = name[1].upper() + name[2:]
    return name, later


def named(value):
    """The name of an object in an argument, which may have been made by the call."""
    if isinstance(value, dict):
        return named(value['comm'] if 'comm' in value else value.get('before'))
    return value


class Unknown(Exception):
    """The trace does not tell how much, or with whom."""


def told_edges(calls):
    """Of each communicator of MPI_Dist_graph_create, by its name: the edges that all processes tell."""
    graphs = collections.defaultdict(list)
    for call in calls:
        if call.get('function') != 'MPI_Dist_graph_create' or call.get('return', 'MPI_SUCCESS') != 'MPI_SUCCESS':
            continue
        args = call['args']
        destinations = iter(args.get('destinations') or [])
        for node, degree in zip(args.get('sources') or [], args.get('degrees') or []):
            graphs[named(args['comm_dist_graph'])] += [(node, next(destinations)) for _ in range(degree)]
    return graphs


class Rank:
    """One process: what its names mean now, and what its calls move."""

    def __init__(self, rank, communicators, graphs, told):
        self.rank, self.communicators, self.graphs, self.told = rank, communicators, graphs, told
        self.types, self.windows, self.requests, self.topologies = {}, {}, {}, {}

    # Who is meant.

    def groups(self, comm):
        """The own and the other group of a communicator, by ranks in MPI_COMM_WORLD."""
        if comm == 'MPI_COMM_SELF':
            return [self.rank], None
        if comm not in self.communicators:
            raise Unknown
        groups = self.communicators[comm]
        if len(groups) == 1:
            return groups[0], None
        return (groups[0], groups[1]) if self.rank in groups[0] else (groups[1], groups[0])

    def peer(self, comm, rank):
        own, other = self.groups(comm)
        group = own if other is None else other
        if not isinstance(rank, int) or not 0 <= rank < len(group):
            raise Unknown
        return group[rank]

    # How much.

    def size(self, datatype):
        if datatype in self.types:
            return self.types[datatype]
        return PREDEFINED.get(datatype)

    def bytes(self, count, datatype):
        if count == 0:
            return 0
        size = self.size(datatype)
        return None if size is None or not isinstance(count, int) else count * size

    def make_type(self, name, args):
        old = self.size(args.get('oldtype', args.get('type')))
        lengths = args.get('array_of_blocklengths')
        if name == 'Type_contiguous':
            return None if old is None else args['count'] * old
        if name in ('Type_vector', 'Type_create_hvector', 'Type_hvector', 'Type_create_indexed_block',
                    'Type_create_hindexed_block'):
            return None if old is None else args['count'] * args['blocklength'] * old
        if name in ('Type_indexed', 'Type_create_hindexed', 'Type_hindexed'):
            return None if old is None else sum(lengths) * old
        if name in ('Type_create_struct', 'Type_struct'):
            sizes = [self.size(each) for each in args['array_of_types']]
            return None if None in sizes else sum(a * b for a, b in zip(lengths, sizes))
        if name == 'Type_create_subarray':
            product = old
            for extent in args['array_of_subsizes']:
                product = None if product is None else product * extent
            return product
        if name in ('Type_dup', 'Type_create_resized'):
            return old
        return None

    # What calls make of names.

    def learn(self, name, args):
        for made in ('newcomm', 'comm_cart', 'comm_graph', 'comm_dist_graph'):
            if isinstance(args.get(made), dict):
                self.topologies[named(args[made])] = self.topology(name, args)
        if 'newtype' in args:
            self.types[args['newtype']] = self.make_type(name, args)
        if name.startswith('Win_') and isinstance(args.get('win'), str) and 'comm' in args:
            self.windows[args['win']] = named(args['comm'])
        if name == 'Dist_graph_neighbors':
            if args.get('destinations') is not None or args.get('maxoutdegree') == 0:
                self.topologies[named(args['comm'])] = ('adjacent', args.get('destinations') or [])

    def topology(self, name, args):
        parent = self.topologies.get(named(args.get('comm')))
        if name == 'Cart_create':
            return 'grid', args['dims'], args['periods']
        if name == 'Cart_sub' and parent:
            kept = [i for i, keep in enumerate(args['remain_dims']) if keep]
            return 'grid', [parent[1][i] for i in kept], [parent[2][i] for i in kept]
        if name == 'Graph_create':
            return 'graph', args['index'], args['edges']
        if name == 'Dist_graph_create_adjacent':
            return 'adjacent', args.get('destinations') or []
        if name == 'Dist_graph_create':
            return 'told', self.graphs[named(args['comm_dist_graph'])]
        return parent if 'dup' in name else None

    def neighbours(self, comm):
        own, _ = self.groups(comm)
        topology = self.topologies.get(comm)
        if topology is None:
            raise Unknown
        kind, place = topology[0], own.index(self.rank)
        if kind == 'adjacent':
            return topology[1]
        if kind == 'told':  # in which order nobody knows, but all amounts here are the same
            return sorted(to for node, to in topology[1] if node == place)
        if kind == 'graph':
            return topology[2][topology[1][place - 1] if place else 0:topology[1][place]]
        dims, periods = topology[1:]
        if not dims:
            raise Unknown
        coordinates, left = [], place
        for extent in reversed(dims):
            coordinates.insert(0, left % extent)
            left //= extent
        found = []
        for i, (extent, period) in enumerate(zip(dims, periods)):
            for step in (-1, 1):
                at = list(coordinates)
                at[i] += step
                if period:
                    at[i] %= extent
                if not 0 <= at[i] < extent:
                    found.append(None)
                    continue
                number = 0
                for value, size in zip(at, dims):
                    number = number * size + value
                found.append(number)
        return found

    # What calls move.

    def call(self, call):
        name, later = operation_of(call['function'])
        args = call['args']
        good = call.get('return', 'MPI_SUCCESS') == 'MPI_SUCCESS'  # what never returned may have sent something
        if name in ('Start', 'Startall'):
            for request in [args['request']] if 'request' in args else args['array_of_requests']:
                for what in self.requests.get(named(request), []) if good else []:
                    self.told(*what)
            return
        if not good:
            return
        if 'return' in call:
            self.learn(name, args)
        moved = self.moved(name, args)
        if later:
            self.requests[args.get('request')] = moved
            return
        for what in moved:
            self.told(*what)

    def moved(self, name, args):
        comm = self.windows.get(args.get('win')) if 'win' in args else named(args.get('comm'))
        try:
            if name in COLLECTIVES:
                return self.collective(name, args, comm)
            return [('flow', comm, name, *flow) for flow in self.flows(name, args, comm)]
        except Unknown:
            return [('nowhere',)]

    def flows(self, name, args, comm):
        """(kind, from, to, bytes)"""
        if name in ('Send', 'Bsend', 'Ssend', 'Rsend', 'Sendrecv', 'Sendrecv_replace', 'Psend'):
            if args['dest'] == 'MPI_PROC_NULL':
                return
            count, datatype = ('sendcount', 'sendtype') if name == 'Sendrecv' else ('count', 'datatype')
            amount = self.bytes(args[count], args[datatype])
            if name == 'Psend' and amount is not None:
                amount *= args['partitions']
            yield 'message', self.rank, self.peer(comm, args['dest']), amount
        elif name in ('Put', 'Rput', 'Accumulate', 'Raccumulate'):
            if args['target_rank'] != 'MPI_PROC_NULL':
                yield ('onesided', self.rank, self.peer(comm, args['target_rank']),
                       self.bytes(args['origin_count'], args['origin_datatype']))
        elif name in ('Get', 'Rget'):
            if args['target_rank'] != 'MPI_PROC_NULL':
                yield ('onesided', self.peer(comm, args['target_rank']), self.rank,
                       self.bytes(args['origin_count'], args['origin_datatype']))
        elif name in ('Get_accumulate', 'Rget_accumulate', 'Fetch_and_op', 'Compare_and_swap'):
            if args['target_rank'] == 'MPI_PROC_NULL':
                return
            there = self.peer(comm, args['target_rank'])
            if 'accumulate' in name:
                to, back = (self.bytes(args.get(f'{side}_count'), args.get(f'{side}_datatype')) for side in ('origin', 'result'))
            else:
                to = back = self.size(args['datatype'])
            if name == 'Compare_and_swap':
                to *= 2  # what is compared, and what is put there
            if args.get('op') != 'MPI_NO_OP':
                yield 'onesided', self.rank, there, to
            yield 'onesided', there, self.rank, back
        elif name in NEIGHBOURS:
            for i, neighbour in enumerate(self.neighbours(comm)):
                if neighbour is None or neighbour == 'MPI_PROC_NULL':
                    continue
                if name.endswith('w'):
                    amount = self.bytes(args['sendcounts'][i], args['sendtypes'][i])
                elif name == 'Neighbor_alltoallv':
                    amount = self.bytes(args['sendcounts'][i], args['sendtype'])
                else:
                    amount = self.bytes(args['sendcount'], args['sendtype'])
                yield 'neighbour', self.rank, self.peer(comm, neighbour), amount

    def collective(self, name, args, comm):
        own, other = self.groups(comm)
        place = own.index(self.rank)
        group = own if other is None else other
        everybody = [(i, there) for i, there in enumerate(group) if other is not None or i != place]
        root = args.get('root')
        at_root = root == 'MPI_ROOT' or (other is None and root == place)
        in_place = args.get('sendbuf') == 'MPI_IN_PLACE' or 'sendcount' not in args or args['sendcount'] is None
        flows, given = [], 0
        if root == 'MPI_PROC_NULL':
            return [('collective', comm, name, 0)]

        def one(count, datatype):
            return self.bytes(args.get(count), args.get(datatype))
        if name == 'Barrier':
            flows = [(there, 0) for _, there in everybody]
        elif name == 'Bcast':
            given = one('count', 'datatype')
            flows = [(there, given) for _, there in everybody] if at_root else []
        elif name in ('Allreduce', 'Reduce', 'Scan', 'Exscan'):
            given = one('count', 'datatype')
            if name == 'Allreduce':
                flows = [(there, given) for _, there in everybody]
            elif name == 'Reduce':
                flows = [] if at_root else [(group[root], given)]
                given = 0 if root == 'MPI_ROOT' else given
            else:
                flows = [(there, given) for i, there in everybody if i > place]
        elif name in ('Scatter', 'Scatterv'):
            if not at_root:
                given = one('recvcount', 'recvtype')
            elif name == 'Scatter':
                each = one('sendcount', 'sendtype')
                given, flows = each * len(group), [(there, each) for _, there in everybody]
            else:
                each = [self.bytes(count, args['sendtype']) for count in args['sendcounts']]
                given, flows = sum(each), [(there, each[i]) for i, there in everybody]
        elif name in ('Gather', 'Gatherv'):
            if not in_place:
                given = one('sendcount', 'sendtype')
            elif other is None:
                given = one('recvcount', 'recvtype') if name == 'Gather' else self.bytes(args['recvcounts'][place],
                                                                                         args['recvtype'])
            else:
                given = one('recvcount', 'recvtype') if name == 'Gather' else 0
            flows = [] if at_root else [(group[root], given)]
        elif name in ('Allgather', 'Allgatherv'):
            if not in_place:
                given = one('sendcount', 'sendtype')
            elif name == 'Allgather':
                given = one('recvcount', 'recvtype')
            else:
                given = self.bytes(args['recvcounts'][place], args['recvtype'])
            flows = [(there, given) for _, there in everybody]
        elif name == 'Alltoall':
            each = one('recvcount', 'recvtype') if in_place else one('sendcount', 'sendtype')
            given, flows = each * len(group), [(there, each) for _, there in everybody]
        elif name in ('Alltoallv', 'Alltoallw'):
            side = 'recv' if args.get('sendcounts') is None else 'send'
            types = args[f'{side}types'] if name == 'Alltoallw' else [args[f'{side}type']] * len(group)
            each = [self.bytes(*both) for both in zip(args[f'{side}counts'], types)]
            given, flows = sum(each), [(there, each[i]) for i, there in everybody]
        elif name == 'Reduce_scatter':
            each = [self.bytes(count, args['datatype']) for count in args['recvcounts']]
            given, flows = sum(each), [(there, None if other else each[i]) for i, there in everybody]
        elif name == 'Reduce_scatter_block':
            each = one('recvcount', 'datatype')
            given, flows = each * len(group), [(there, None if other else each) for _, there in everybody]
        return [('collective', comm, name, given)] + [('flow', comm, name, 'collective', self.rank, *flow) for flow in flows]


class Sums:
    """All that was moved, as the verbs group it."""

    def __init__(self):
        self.cells = collections.defaultdict(lambda: [0, 0, 0])
        self.collectives = collections.defaultdict(lambda: [0, 0, set()])
        self.sizes = collections.Counter()
        self.nowhere = 0

    def told_by(self, rank):
        def told(what, *more):
            if what == 'nowhere':
                self.nowhere += 1
            elif what == 'collective':
                comm, name, amount = more
                line = self.collectives[comm, name]
                line[0] += 1
                line[1] += amount or 0
                line[2].add(rank)
                self.sizes[name, True, amount] += 1
            else:
                comm, name, kind, sender, receiver, amount = more
                cell = self.cells[comm, sender, receiver, kind]
                cell[0] += 1
                cell[1] += amount or 0
                cell[2] += amount is None
                if kind != 'collective':
                    self.sizes[name, False, amount] += 1
        return told


def check(cairn, trace):
    """What differs."""
    def says(*words):
        return subprocess.run([cairn, *words, trace], check=True, capture_output=True, text=True).stdout
    told = json.loads(says('info', '--communicators', '--json'))['communicators']
    communicators = {each['name']: each['groups'] for each in told}
    by_hand, ranks = Sums(), {}
    calls = [json.loads(line) for line in says('dump', '--jsonl').splitlines()[1:]]
    graphs = told_edges(calls)
    for call in calls:
        rank = call['rank']
        if rank not in ranks:
            ranks[rank] = Rank(rank, communicators, graphs, by_hand.told_by(rank))
        ranks[rank].call(call)
    told = json.loads(says('matrix', '--json', '--by', 'comm', '--collectives', 'expanded'))
    problems = []

    def compare(what, wanted, got):
        for key in sorted(set(wanted) | set(got), key=str):
            if wanted.get(key) != got.get(key):
                problems.append(f'{what} {key}: by hand {wanted.get(key)}, cairn {got.get(key)}')
    compare('cell', {key: tuple(value) for key, value in by_hand.cells.items()},
            {(group['name'], cell['from'], cell['to'], cell['kind']): (cell['messages'], cell['bytes'], cell['unsized'])
             for group in told['groups'] for cell in group['cells']})
    compare('collective', {key: (calls, amount, len(who)) for key, (calls, amount, who) in by_hand.collectives.items()},
            {(line['communicator'], line['operation']): (line['calls'], line['bytes'], line['ranks'])
             for line in told['collectives']})
    if told['unknown_processes'] != by_hand.nowhere:
        problems.append(f'unknown: by hand {by_hand.nowhere}, cairn {told["unknown_processes"]}')
    # The same without communicators and expanded collectives, and as CSV.
    pairs = collections.defaultdict(lambda: [0, 0, 0])
    for (_, sender, receiver, kind), cell in by_hand.cells.items():
        for i, value in enumerate(cell):
            pairs[sender, receiver, kind][i] += value if kind != 'collective' else 0
    lines = [line.split(',') for line in says('matrix', '--csv').splitlines()[1:]]
    compare('line', {key: tuple(cell) for key, cell in pairs.items() if cell[0]},
            {(int(line[0]), int(line[1]), line[2]): tuple(map(int, line[3:])) for line in lines})
    # Each part of the ranks alone, as they send.
    few = sorted(ranks)[::2]
    one_sided = sum(cell['messages'] for group in told['groups'] for cell in group['cells'] if cell['kind'] == 'onesided')
    if few and not one_sided:
        part = json.loads(says('matrix', '--json', '--rank', ','.join(map(str, few))))
        compare('of some ranks', {key: tuple(cell) for key, cell in pairs.items() if cell[0] and key[0] in few},
                {(cell['from'], cell['to'], cell['kind']): (cell['messages'], cell['bytes'], cell['unsized'])
                 for group in part['groups'] for cell in group['cells']})
    sizes = json.loads(says('sizes', '--exact', '--json'))
    compare('size', by_hand.sizes, {(group['name'], group['collective'], line['least']): line['calls' if group['collective'] else 'messages']
                                    for group in sizes['groups'] for line in group['sizes']})
    return problems, sum(cell[0] for cell in by_hand.cells.values()), told['expanded_ranks']


def record(build, mpi, program, ranks, folder):
    mpiexec = shutil.which(f'mpiexec.{mpi}')
    trace = pathlib.Path(folder, 'out.cairn')
    env = dict(surroundings.environment(build, mpi), OMPI_MCA_orte_tmpdir_base=folder)
    done = subprocess.run([build / 'bin/cairn', 'record', '-o', trace, '--', 'timeout', '60', mpiexec, '-n', str(ranks), *program],
                          cwd=folder, env=env, timeout=200, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if not trace.exists():
        sys.exit(f'{program}: status {done.returncode}, no trace: {done.stderr}')
    return trace


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--mpi', choices=('mpich', 'openmpi'), required=True)
    parser.add_argument('--rest', action='store_true')
    parser.add_argument('--trace', help='look at this one')
    parser.add_argument('folder', type=pathlib.Path)
    options = parser.parse_args()
    build, folder = options.build.resolve(), options.folder.resolve()
    if shutil.which(f'mpiexec.{options.mpi}') is None:
        sys.exit(77)
    failed = 0

    def look_at(what, trace):
        problems, messages, expanded = check(build / 'bin/cairn', trace)
        print(f'{what}: {messages} messages, {expanded} ranks expanded, {len(problems)} differences')
        problems += checked.problems_of(build / 'bin/cairn', trace, what.split()[0]) if options.trace is None else []
        for problem in problems[:10]:
            print(f'  {problem}')
        return len(problems)
    if options.trace:
        sys.exit(1 if look_at(options.trace, options.trace) else 0)
    for words, ranks in REST if options.rest else FAST:
        name, *arguments = words.split()
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as here:
            failed += look_at(words, record(build, options.mpi, [folder / name, *arguments], ranks, here))
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
