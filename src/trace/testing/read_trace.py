#!/usr/bin/env python3
"""A second reader of .cairn files, written from docs/format.md alone, used only by the tests.

read_trace.py FILE.cairn TEXT      compares what it reads with the text (see plain_text.h), exit 1 if it differs
read_trace.py --sample PROGRAM DIR SEED...   lets PROGRAM (sample_trace) write traces and compares those
"""
import ctypes
import ctypes.util
import itertools
import subprocess
import sys

import read_times

ZSTD = ctypes.CDLL("libzstd.so.1")
XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
BIT64 = 1 << 64


def xxh3(data):
    return XXHASH.XXH3_64bits(data, ctypes.c_size_t(len(data)))


def unzstd(data, size):
    """A frame without its first four bytes."""
    data = b"\x28\xb5\x2f\xfd" + data
    out = ctypes.create_string_buffer(max(size, 1))
    got = ZSTD.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert got == size, "a zstd frame does not hold what it should"
    return out.raw[:size]


def unzigzag(n):
    return n >> 1 if n % 2 == 0 else -((n + 1) >> 1)


def signed(n):
    n %= BIT64
    return n - BIT64 if n >= BIT64 >> 1 else n


def atom(u):
    if u % 2 == 0:
        return u // 2
    if u < 8192:
        return special((u - 1) // 2)
    return -((u - 8192 + 1) // 2)


def special(code):
    return -(1 << 63) + code


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        n = shift = 0
        while True:
            b = self.byte()
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                return n

    def signed(self):
        return unzigzag(self.varint())

    def raw(self, n):
        assert self.at + n <= len(self.data)
        self.at += n
        return self.data[self.at - n:self.at]

    def fixed(self, n):
        return int.from_bytes(self.raw(n), "little")

    def blob(self):
        return self.raw(self.varint())

    def text(self):
        return self.blob().decode()

    def end(self):
        return self.at == len(self.data)


def varint_bytes(n):
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def decode(codec, data, size):
    if codec == 0:
        return data
    if codec == 1:
        return unzstd(data, size)
    assert codec == 2
    head = Reader(data)
    middle = head.varint()
    numbers, out, value = Reader(unzstd(data[head.at:], middle)), b"", 0
    while not numbers.end():
        value = (value + numbers.signed()) % BIT64
        out += varint_bytes(value)
    assert len(out) == size
    return out


def container(data):
    assert data[:8] == b"\x89cairn\r\n" and data[8:12] == b"\x01\x00\x00\x01" and data[-4:] == b"nria"
    tail = Reader(data[-16:-4])
    size, check = tail.fixed(4), tail.fixed(8)
    start = len(data) - 16 - size
    assert xxh3(data[start:start + size]) == check
    entries, offset, sections = Reader(data[start:start + size]), 12, {}
    for _ in range(entries.varint()):
        kind, codec, stored = entries.byte(), entries.byte(), entries.varint()
        if codec == 3:
            assert not sections
            sections[kind] = data[offset:offset + stored]
            offset += stored
            continue
        plain = stored if codec == 0 else entries.varint()
        part = data[offset:offset + stored]
        assert xxh3(part) % (1 << 32) == entries.fixed(4) and kind not in sections
        sections[kind] = decode(codec, part, plain)
        offset += stored
    assert entries.end() and offset == start
    return sections


def column(r, symbols=False):
    h = r.varint()
    if h == 5:
        return r.signed()  # the ranks plus this
    if h == 1:
        return [r.varint() if symbols else atom(r.varint()) for _ in range(r.varint())]
    if h == 9 and not symbols:
        lag, values = r.varint(), folded(r, r.varint(), False)
        for i in range(lag, len(values)):
            values[i] = signed(values[i] + values[i - lag])
        return values
    return folded(r, h, symbols)


def folded(r, h, symbols):
    assert h % 2 == 0
    bodies = []

    def terms():
        out = []
        for _ in range(r.varint()):
            t = r.varint()
            v = t // 4
            if t % 4 == 0:
                out.append(("difference", unzigzag(v), 1))
            elif t % 4 == 1:
                out.append(("difference", r.signed(), v))
            elif t % 4 == 2:
                out.append(("symbol", v // 2, r.varint() if v % 2 else 1))
            else:
                assert v < len(bodies)
                out.append(("body", v, r.varint()))
        return out

    def flat(list_of_terms):
        for kind, value, count in list_of_terms:
            for _ in range(count):
                if kind == "body":
                    yield from flat(bodies[value])
                else:
                    yield kind, value

    for _ in range(h // 2):
        bodies.append(terms())
    values, last = [], 0
    for kind, value in flat(terms()):
        if kind == "symbol":
            values.append(value if symbols else special(value))
        else:
            last = signed(last + value)
            values.append(last)
    return values


def values_column(r):
    values = [r.blob() for _ in range(r.varint())]
    return [values[i] for i in column(r, True)]


def packed_field(data):
    r = Reader(data)
    n = r.varint()
    return r.raw(n // 2) if n % 2 else [r.signed() for _ in range(n // 2)]


def grammar(r):
    rules, expected = [], 0
    for number in range(r.varint()):
        need, body = r.varint(), []
        while len(body) < need:
            token = r.varint()
            kind, value = token % 8, token // 8
            if token % 2 == 0 or kind == 1:
                symbol = expected + unzigzag(token // 2 if token % 2 == 0 else value)
                body.append(("symbol", symbol, r.varint() + 2 if token % 2 else 1))
                expected = symbol + 1
            elif kind == 3:
                for _ in range(value + 2):
                    body.append(("symbol", expected, 1))
                    expected += 1
            else:
                body.append(("rule", number + 1 + value, r.varint() + 2 if kind == 7 else 1))
        rules.append(body)

    def flat(number):
        for kind, value, count in rules[number]:
            for _ in range(count):
                if kind == "rule":
                    yield from flat(value)
                else:
                    yield value

    return list(flat(0))


def bit(mask, i):
    return bool(mask) and mask[i // 8] >> (i % 8) & 1


class Drained:
    """The arrays of requests that the calls of one sequence left, the last one first."""

    NULL = special(64 + 5)

    def __init__(self):
        self.arrays = []

    def complete(self, fields):
        """One call's fields with the array that it found, and places for what completed."""
        for f, field in enumerate(fields):
            d = field[0] - special(32) if isinstance(field, list) and len(field) > 1 else 0
            if not 1 <= d <= 15:
                continue
            array = self.arrays.pop(field[1]) if len(field) == 2 else field[1:]
            left, indices = list(array), list(fields[f + d])
            for i, number in enumerate(indices):
                if number >= -(1 << 63) + 4096:
                    indices[i] = [k for k in range(len(left) // 2) if left[2 * k] != self.NULL][number]
                    left[2 * indices[i]:2 * indices[i] + 2] = [self.NULL, 0]
            self.arrays = [left] + self.arrays[:7]
            return fields[:f] + [array] + fields[f + 1:f + d] + [indices] + fields[f + d + 1:]
        return fields


class Trace:
    def __init__(self, data):
        parts = {kind: Reader(part) for kind, part in container(data).items()}
        self.grammars = [grammar(parts[3]) for _ in range(parts[3].varint())]
        self.read_columns(parts[4])
        self.read_rows(parts[5])
        self.read_sites(parts[2])
        self.read_meta(parts[1])
        self.sources, self.tail_calls = {}, {}
        self.cost = None
        self.job = []
        self.jobs = []
        self.callers = [0] * len(self.sites)
        self.bundles, self.offsets = None, {}
        self.clocks, self.sums, self.gaps, self.shifts = [], {}, {}, []
        for kind, read in ((6, self.read_order), (7, self.read_timing), (9, self.read_cost), (10, self.read_streams),
                           (8, self.read_source), (11, self.read_callers), (14, self.read_bundles),
                           (12, self.read_offsets), (13, self.read_blocks), (17, self.read_clocks),
                           (18, self.read_sums), (19, self.read_corrections), (20, self.read_gaps), (22, self.read_memory),
                           (21, self.read_heap), (23, self.read_job), (24, self.read_jobs)):
            if kind in parts:
                read(parts[kind])
        for kind, part in parts.items():
            assert part.end(), kind

    def read_columns(self, r):
        self.values = [r.blob() for _ in range(r.varint())]
        self.columns = []
        count = r.varint()
        while len(self.columns) < count:
            number = len(self.columns)
            if r.data[r.at] == 3:
                r.varint()
                several, n, width, least = r.varint(), r.varint(), r.byte(), r.signed()
                for _ in range(several):
                    self.columns.append([signed(least + r.fixed(width)) for _ in range(n)])
            elif r.data[r.at] == 11:
                r.varint()
                several, n, filled = r.varint(), r.varint(), 0
                found = [[] for _ in range(several)]
                while filled < n:
                    run, width, least = r.varint(), r.byte(), r.signed()
                    for values in found:
                        values += [signed(least + r.fixed(width))] * run
                    filled += run
                assert filled == n
                self.columns += found
            elif r.data[r.at] == 7:
                r.varint()
                n, back, place = r.varint(), r.varint(), r.varint()
                first = number - back - place
                self.columns.append([c[place] for c in self.columns[first:first + n]])
            else:
                self.columns.append(column(r))
        self.tables = []
        for _ in range(r.varint()):
            numbers = [r.varint() for _ in range(r.varint())]
            self.tables.append([self.values[numbers[i]] for i in column(r, True)])

    @staticmethod
    def read_shapes(r):
        shapes = []
        for _ in range(r.varint()):
            function, depth, fields = r.varint(), r.varint(), []
            for _ in range(r.varint()):
                f = r.varint()
                form, n = f % 8, f // 8
                if form in (1, 2):
                    fields.append((form, n, *(r.raw((n + 7) // 8) for _ in range(form))))
                elif form == 7 and n:
                    fields.append((form, 0, b"", b"", n if n != 17 else (r.varint(), r.varint())))
                else:
                    fields.append((form, n if form == 0 else 0 if form == 7 else 1, b"", b"", n))
            shapes.append((function, depth, fields))
        return shapes

    @staticmethod
    def new_row(r, shapes, last, sites):
        number, site = r.varint(), r.varint()
        n = sum(field[1] for field in shapes[number][2])
        base = last.get((number, sites[site]), last.get(number))
        if base is None:
            codes = [r.varint() for _ in range(n)]
        else:
            mask = r.raw((n + 7) // 8)
            codes = [r.varint() if bit(mask, i) else base[i] for i in range(n)]
        last[number] = last[number, sites[site]] = codes
        return shapes[number], site, codes

    def read_rows(self, r):
        shapes = self.read_shapes(r)
        self.ranks = self.columns[r.varint()]
        self.classes, known, last = [], [], {}
        for _ in range(r.varint()):
            c = {"thread": r.varint(), "segment": (r.varint() - 1) % (1 << 32), "calls": self.grammars[r.varint()],
                 "ranks": self.columns[r.varint()], "sites": [None], "rows": [], "stats": [], "times": {},
                 "order": None, "streams": {}, "heap": []}
            for _ in range(r.varint()):
                first, length = r.varint(), r.varint()
                c["sites"] += range(first, first + length)
            n, new, at = r.varint(), True, 0
            while len(c["rows"]) < n:
                left = r.varint()
                while left:
                    run = 1
                    if new:
                        row = self.new_row(r, shapes, last, c["sites"])
                        known.append((*row, c["sites"][row[1]]))
                        c["rows"].append(row)
                    else:
                        word = r.varint()
                        at += unzigzag(word // 2)
                        run += r.varint() + 1 if word % 2 else 0
                        c["rows"] += [self.moved_to(c, row) for row in known[at:at + run]]
                        at += run
                    left -= run
                new = not new
            self.classes.append(c)

    @staticmethod
    def moved_to(c, known):
        """A row of another class with the site as this class numbers it."""
        shape, _, codes, site = known
        return shape, c["sites"].index(site), codes

    def read_streams(self, r):
        shapes, last = self.read_shapes(r), {}
        for c in self.classes:
            for _ in range(r.varint()):
                group, field = r.varint(), r.varint()
                variants, count = [], r.varint()
                for _ in range(count):
                    ranks = self.columns[r.varint()] if count > 1 else c["ranks"]
                    word, rows = r.varint(), r.varint()
                    if rows == 0:
                        values = [[[a]] for a in self.columns[r.varint()]]
                    else:
                        values = self.new_values(r, shapes, last, rows)
                    variants.append((ranks, self.grammars[word // 2], word % 2, values))
                c["streams"].setdefault(group, {})[field] = variants

    def read_heap(self, r):
        shapes, last = self.read_shapes(r), {}
        for c in self.classes:
            count = r.varint()
            for _ in range(count):
                ranks = self.columns[r.varint()] if count > 1 else c["ranks"]
                values = self.new_values(r, shapes, last, r.varint())
                c["heap"].append((ranks, self.grammars[r.varint()] if values else [], 0, values))

    def new_values(self, r, shapes, last, count):
        values = []
        while len(values) < count:
            before = r.at
            shape, following = r.varint(), r.varint()
            if following == 0:
                r.at = before
                values.append(self.new_row(r, shapes, last, [None]))
                continue
            for _ in range(following):
                *same, code = last[shape]
                last[shape] = last[shape, None] = [*same, code + 1]
                values.append((shapes[shape], 0, last[shape]))
        assert len(values) == count
        return values

    def values_of(self, stream, rank):
        """The field at each call of the group, as that rank has it."""
        ranks, order, differences, values = next(v for v in stream if rank in v[0])
        member, last = ranks.index(rank), []
        fields = [list(v[0]) if isinstance(v, list) else self.raw_field(v, member) for v in values]
        for symbol in order:
            field = fields[symbol]
            if differences and not isinstance(field, bytes):
                last += [0] * (len(field) - len(last))
                out = []
                for i, a in enumerate(field):
                    if a >= -(1 << 63) + 4096:
                        last[i] = signed(last[i] + a)
                        a = last[i]
                    out.append(a)
                field = out
            yield field

    def raw_field(self, row, member):
        return next(iter(self.untranslated(row, member, None)))

    def read_sites(self, r):
        self.modules = [(r.blob(), r.text()) for _ in range(r.varint())]
        count, self.sites, last = r.varint(), [], {}
        while len(self.sites) < count:
            module, run = r.varint(), r.varint()
            for _ in range(run):
                last[module] = (last.get(module, 0) + r.signed()) % BIT64
                self.sites.append((module, last[module]))
        self.maps = {}
        if r.byte():
            for rank, value in zip(self.ranks, values_column(r)):
                numbers = Reader(value)
                self.maps[rank] = []
                while not numbers.end():
                    self.maps[rank].append(numbers.varint())

    def read_callers(self, r):
        self.callers = [r.varint() for _ in self.sites]

    def read_meta(self, r):
        run = [r.text() for _ in range(5)] + [r.signed(), r.varint()]
        r.varint()  # world
        self.run = run + [r.varint()]
        hosts, degraded = values_column(r), values_column(r)
        numbers = [column(r) for _ in range(4)]
        self.info = {rank: (hosts[i].decode(), degraded[i].decode(), *(n[i] for n in numbers))
                     for i, rank in enumerate(self.ranks)}
        for c in self.classes:
            c["begin"] = column(r)

    def read_cost(self, r):
        self.cost = [r.varint() for _ in range(3)]
        self.times_cost = [r.varint() for _ in range(0 if r.end() else 5)]

    def read_job(self, r):
        self.job = [r.text(), r.text()]

    def read_jobs(self, r):
        self.jobs = [(r.varint(), r.text(), r.varint(), r.text()) for _ in range(r.varint())]

    def read_clocks(self, r):
        self.clocks = list(zip(column(r), column(r), column(r)))

    def read_corrections(self, r):
        self.corrected = [r.varint() for _ in range(6)]
        for _ in self.ranks:
            self.shifts.append([])
            for _ in range(2):
                at, shift, knots = 0, 0, []
                for _ in range(r.varint()):
                    at, shift = at + r.varint(), shift + r.signed()
                    knots.append((at, shift))
                self.shifts[-1].append(knots)

    def read_sums(self, r):
        for _ in range(r.varint()):
            function = r.varint()
            self.sums[function] = [self.sum_of(code) for code in column(r)]

    @staticmethod
    def sum_of(code):
        exponent, bits = divmod(code - 65536, 32768)
        return code if code < 65536 else ((bits + 32768) << exponent + 1) + (1 << exponent)

    def read_order(self, r):
        for c in self.classes:
            if r.byte():
                skips = [grammar(Reader(v)) if v else None for v in values_column(r)]
                c["order"] = list(zip(skips, column(r)))

    def read_timing(self, r):
        for c in self.classes:
            what = r.byte()
            if what & 5:
                times, n = [c["calls"].count(i) for i in range(len(c["rows"]))], len(c["rows"])
                for _ in range(r.varint() if what & 4 else 1):
                    ranks, slots = (self.columns[r.varint()], r.varint()) if what & 4 else (c["ranks"], 0)
                    rows = []
                    for _ in range(slots):
                        rows.append([])
                        for _ in range(r.varint()):
                            rows[-1].append(r.varint() + (rows[-1][-1] + 1 if rows[-1] else 0))
                    for own in rows if slots else [[i] for i in range(n)]:
                        found = self.statistics(r, sum(times[i] for i in own) * len(ranks))
                        if own:
                            c["stats"].append((own[0], id(rows), *found))
            rank = -1
            for _ in range(r.varint() if what & 2 else 0):
                rank += 1 + r.varint()
                c["times"][rank] = r.blob()

    def read_bundles(self, r):
        self.bundles = r.varint()

    def site_name(self, site):
        """What makes it the same site in another file: its module, offset and callers."""
        identity, path = self.modules[self.sites[site][0]]
        caller = self.callers[site]
        return identity or path, self.sites[site][1], self.site_name(caller - 1) if caller else None

    def read_bundle(self, content):
        front = Reader(content)
        least = front.varint()
        greatest = least + front.varint()
        told = content[:front.at]
        assert xxh3(told) % (1 << 32) == front.fixed(4)
        content = content[front.at:]
        bundle = Trace(content)
        assert all(least <= rank <= greatest for c in bundle.classes for rank in c["ranks"])
        self.add_bundle(bundle)

    def add_bundle(self, bundle):
        known = {self.site_name(site): site for site in range(len(self.sites))}
        for c in bundle.classes:
            assert set(c["ranks"]) <= set(self.ranks)
            c["sites"] = [None] + [known[bundle.site_name(site)] for site in c["sites"][1:]]
            c["file"] = bundle
            self.classes.append(c)

    def read_offsets(self, r):
        self.offsets = {offset: rank for rank, offset in zip(self.ranks, column(r)) if offset >= 0}

    def read_blocks(self, r):
        found, streams = 0, []
        while not r.end():
            begin, length, check = r.at, r.varint(), r.fixed(4)
            content = r.raw(length)
            assert xxh3(content) % (1 << 32) == check
            if self.bundles is not None and begin >= self.bundles:
                self.read_bundle(content)
                continue
            block = Reader(content)
            rank = block.varint()
            if begin not in self.offsets:
                continue
            assert self.offsets[begin] == rank
            found += 1
            while not block.end():
                streams.append((block.varint(), (block.varint() - 1) % (1 << 32), rank, block.blob()))
        assert found == len(self.offsets)
        for thread, segment, rank, stream in streams:  # of classes that may have come last
            c, = (c for c in self.classes
                  if (c["thread"], c["segment"]) == (thread, segment) and rank in c["ranks"])
            c["times"][rank] = stream

    @staticmethod
    def statistics(r, calls):
        count, ranks = calls + r.signed(), r.varint()
        if ranks == 0:
            return [count] + [0] * 8, []
        total, least_time = r.varint(), r.varint()
        greatest_time, greatest_rank = least_time + r.varint(), r.varint()
        if ranks == 1:
            least = greatest = total
            least_rank = greatest_rank
        else:
            least = r.varint()
            greatest, least_rank = least + r.varint(), greatest_rank + r.signed()
            r.raw(r.byte())
        return ([count, total, least_time, greatest_time, ranks, least, least_rank, greatest, greatest_rank],
                Trace.histogram(r))

    @staticmethod
    def histogram(r):
        buckets, at = [], 0
        for i in range(r.varint()):
            if i == 0:
                at, n = r.varint(), r.varint()
            else:
                word = r.varint()
                n = word // 2
                at += 1 + (r.varint() if word % 2 else 0)
            buckets.append((at, n))
        return buckets

    def read_memory(self, r):
        for _ in range(4):
            r.varint()

    def read_gaps(self, r):
        site = 0
        for _ in range(r.varint()):
            site += r.varint()
            self.gaps[site] = (r.varint(), self.histogram(r))
            site += 1

    def times(self, stream, kinds):
        r = Reader(stream)
        return read_times.read_blocks(r, kinds, xxh3)[0] if r.byte() == 0 else self.pairs(Reader(stream))

    @staticmethod
    def pairs(r):
        out = []
        while not r.end():
            calls, size, stored = r.varint(), r.varint(), r.blob()
            chunk = Reader(stored if len(stored) == size else unzstd(stored, size))
            out += [(chunk.varint(), chunk.varint()) for _ in range(calls)]
            assert chunk.end()
        return out

    @staticmethod
    def name(r):
        name = bytearray()
        while byte := r.byte():
            name.append(byte)
        return name.decode()

    def read_source(self, r):
        folders = [(self.name(r), self.name(r)) for _ in range(r.varint())]
        places, stem, path, line = [], "", "", 0
        for _ in range(r.varint()):
            folder = r.varint()
            if folder:
                stem = self.name(r)
                path = stem.join(folders[folder - 1])
            function = self.name(r)
            places.append(({"\1": stem + "_", "\2": stem}.get(function, function), path))
        for found in (self.sources, self.tail_calls):
            if r.at == len(r.data):
                break
            for site in self.sites:
                place = r.varint()
                if place:
                    line += r.signed()
                    found[site] = (*places[place - 1], line)

    @staticmethod
    def beside(told, site):
        return told + site if told >= -(1 << 63) + 4096 else told

    @staticmethod
    def along(column, member, ranks):
        return ranks[member] + column if isinstance(column, int) else column[member]

    def untranslated(self, row, member, ranks):
        (_, _, shape), site, codes = row
        codes = iter(codes)
        for form, count, mask, moving, n in ((*field, b"", b"", 0)[:5] for field in shape):
            if form == 3:
                first = next(codes)
                yield [self.along(self.columns[first + i], member, ranks) for i in range(n)]
            elif form == 4:
                yield list(self.columns[next(codes)])
            elif form == 5:
                yield self.values[next(codes)]
            elif form == 6:
                yield packed_field(self.tables[next(codes)][member])
            elif form == 7:
                yield None
            else:
                yield [self.along(self.columns[next(codes)], member, ranks) if bit(mask, i)
                       else self.beside(atom(next(codes)), site if bit(moving, i) else 0) for i in range(count)]

    def translated(self, field, rank):
        numbers = self.maps.get(rank)
        if isinstance(field, bytes) or not numbers:
            return field
        for i in range(len(field) - 1):
            if field[i] == special(17) and 0 <= field[i + 1] < len(numbers):
                field[i + 1] = numbers[field[i + 1]]
        return field

    def plain_text(self):
        out = ["run " + "|".join(map(str, self.run))]
        if self.cost:
            out.append("merge " + " ".join(map(str, self.cost)))
        if self.job:
            out.append("job " + " ".join(self.job))
        for first, command, by, parent in self.jobs:
            out.append(f"job of rank {first} {command}|{by}|{parent}")
        for rank in self.ranks:
            host, degraded, complete, wall, mpi, memory = self.info[rank]
            out.append(f"rank {rank} {host}|{degraded}|{complete} {wall} {mpi} {memory}")
            place = self.ranks.index(rank)
            if self.clocks and self.clocks[place][2] != -2:
                out.append("  clock " + " ".join(map(str, self.clocks[place])))
            if self.shifts:
                out += [f"  shift {name} " + " ".join(f"{at}+{shift}" for at, shift in knots)
                        for name, knots in zip(("after", "before"), self.shifts[place])]
            out += [f"  sum {function} {sums[place]}" for function, sums in sorted(self.sums.items())]
            mine = [c for c in self.classes if rank in c["ranks"]]
            for c in sorted(mine, key=lambda c: (c["thread"], c["segment"])):
                self.sequence(c, c["ranks"].index(rank), rank, out)
        return "\n".join(out) + "\n"

    @staticmethod
    def with_sums(fields):
        """Field for field; a lone special 6 becomes the running sums of the numbers in the field before it."""
        before = []
        for field in fields:
            if field == [special(6)] and not isinstance(before, bytes) and all(n >= 0 for n in before):
                field = [sum(before[:i]) for i in range(len(before))]
            yield field
            before = field

    def call_text(self, row, fields, rank):
        text = f"{row[0][0]} {row[1]} {row[0][1]}"
        fields = self.with_sums(fields)
        for field in fields:
            field = field if isinstance(field, bytes) else self.translated(list(field), rank)
            text += " x" + field.hex() if isinstance(field, bytes) else f" [{' '.join(map(str, field))}]"
        return text

    @staticmethod
    def cycle(shape):
        """0 for an ordinary row; first output and answer of a draining one; 18 for an optional one."""
        return shape[2][-1][4] if shape[2] and shape[2][-1][0] == 7 else 0

    @staticmethod
    def drained_calls(fields, drain, streams):
        """The fields of each call that a draining row stands for."""
        output, answer = drain
        calls = fields.pop()[0]
        if answer:
            fields.pop()
        inputs = fields[:output]
        for _ in range(calls):
            outputs = [next(streams[field]) for field in range(output, len(fields))]
            for _ in range(next(streams[len(fields)])[0] if answer else 0):
                missed = [[0] if field in (answer, len(fields) - 1) else [] for field in range(output, len(fields))]
                yield inputs + missed
                inputs = [[field[0], 0] if field and special(33) <= field[0] <= special(47) else field for field in inputs]
            yield inputs + outputs
            inputs = [[field[0], 0] if field and special(33) <= field[0] <= special(47) else field for field in inputs]

    def sequence(self, c, member, rank, out):
        groups, group_of = {}, []
        for shape, site, _ in c["rows"]:
            group_of.append(groups.setdefault((shape[0], site, shape[1], len(shape[2]), self.cycle(shape)), len(groups)))
        file = c.get("file", self)
        streams = {}
        for group, moved in c["streams"].items():
            shape = c["rows"][group_of.index(group)][0]
            for field, variants in moved.items():
                values, drain = file.values_of(variants, rank), self.cycle(shape)
                if isinstance(drain, tuple) and drain[0] <= field < len(shape[2]) - 1:
                    values = list(values)
                    values = itertools.repeat(values[0]) if len(values) == 1 else iter(values)
                streams.setdefault(group, {})[field] = values
        rows = [list(file.untranslated(row, member, c["ranks"])) for row in c["rows"]]
        number_of, first, order, cycle, drained, kinds = {}, {}, [], [], Drained(), []
        met = lambda row, fields: number(row, self.call_text(c["rows"][row], drained.complete(list(fields)), rank))

        def number(row, text):
            shape, site, _ = c["rows"][row]
            kinds.append((shape[0], site, shape[1]))
            order.append(number_of.setdefault(text, len(number_of)))
            first.setdefault(row, order[-1])

        for row in c["calls"]:
            fields, length = list(rows[row]), self.cycle(c["rows"][row][0])
            moved = streams.get(group_of[row], {})
            output = length[0] if isinstance(length, tuple) else len(fields)
            for field, values in moved.items():
                if output <= field < len(fields) - 1:
                    continue
                assert fields[field] is None
                value = next(values)
                fields[field] = value if isinstance(value, bytes) else list(value)
            if isinstance(length, tuple):
                for call in self.drained_calls(fields, length, moved):
                    met(row, call)
                continue
            count = fields.pop()[0] if length else 1
            if not cycle:
                times, left = count, 1 if length == 18 else length
            cycle.append((row, fields))
            left -= 1
            if left > 0:
                continue
            # An array of requests may be another one each time.
            for row, fields in cycle * times:
                met(row, fields)
            cycle = []
        text = "".join(f" {number}" for number in order)
        out.append(f" sequence {c['thread']} {c['segment']} begin {c['begin'][member]} calls {len(order)}:{text}")
        for number, site in enumerate(c["sites"][1:], 1):
            module, offset = self.sites[site]
            line = f"  site {number} {self.modules[module][0].hex()} {offset}"
            if (module, offset) in self.sources:
                line += " {} {}:{}".format(*self.sources[module, offset])
            if (module, offset) in self.tail_calls:
                line += " jumps {} {}:{}".format(*self.tail_calls[module, offset])
            if site in self.gaps:
                total, buckets = self.gaps[site]
                line += f" gaps {total}" + "".join(f" {bucket}:{n}" for bucket, n in buckets)
            while self.callers[site]:
                site = self.callers[site] - 1
                module, offset = self.sites[site]
                line += f" < {self.modules[module][0].hex()} {offset}"
            out.append(line)
        out += ["  call " + text for text in number_of]
        for row, number in first.items() if c["stats"] else ():
            out.append(f"  stats {number}: " + self.statistics_text([s for s in c["stats"] if s[0] == row]))
        if c["times"].get(rank):
            out.append("  times" + "".join(f" {gap}+{time}" for gap, time in self.times(c["times"][rank], kinds)))
        events = list(file.values_of(c["heap"], rank)) if c["heap"] else ()
        if events:
            events = (f"{calls}:{number}" + (f"={size}" if size else "") for calls, number, size in events)
            out.append("  heap " + " ".join(events))
        if c["order"] and c["order"][member][0] is not None:
            skips, ticket = c["order"][member]
            tickets = [ticket]
            for skip in skips[1:]:
                tickets.append(tickets[-1] + skip + 1)
            out.append("  tickets" + "".join(f" {t}" for t in tickets))


    @staticmethod
    def statistics_text(slots):
        """Of all slots whose first row this is; of the ranks' sums nothing if one block has several of these."""
        numbers, histogram, exact = [0] * 9, {}, len({block for _, block, _, _ in slots}) == len(slots)
        for _, _, more, buckets in slots:
            for bucket, n in buckets:
                histogram[bucket] = histogram.get(bucket, 0) + n
            a, b = numbers, more
            empty = a[0] == 0 and a[4] == 0
            least_time = b[2] if empty or a[0] == 0 else a[2] if b[0] == 0 else min(a[2], b[2])
            least = b[5:7] if empty else min(a[5:7], b[5:7])
            greatest = b[7:] if empty else min(a[7:], b[7:], key=lambda of: (-of[0], of[1]))
            numbers = [a[0] + b[0], a[1] + b[1], least_time, max(a[3], b[3]), a[4] + b[4], *least, *greatest]
        text = " ".join(map(str, numbers[:4]))
        text += " {} {} of {} {} of {}".format(*numbers[4:]) if exact else ""
        return text + "".join(f" {bucket}:{n}" for bucket, n in sorted(histogram.items()))


def differs(path, expected_path):
    with open(path, "rb") as file:
        found = Trace(file.read()).plain_text()
    with open(expected_path, encoding="utf-8") as file:
        expected = file.read()
    for number, (a, b) in enumerate(zip(found.split("\n"), expected.split("\n")), 1):
        if a != b:
            print(f"{path}: line {number}: read\n{a}\nexpected\n{b}")
            return True
    return len(found) != len(expected)


def main():
    if sys.argv[1] != "--sample":
        return differs(sys.argv[1], sys.argv[2])
    wrong = False
    for seed in sys.argv[4:]:
        base = f"{sys.argv[3]}/sample-{seed}"
        subprocess.run([sys.argv[2], base, seed], check=True)
        wrong |= differs(base + ".cairn", base + ".txt")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
