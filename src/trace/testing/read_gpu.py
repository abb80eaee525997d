#!/usr/bin/env python3
"""A second reader of what a trace holds of GPU kernels, written from docs/format.md alone, used only by the tests.

read_gpu.py CAIRN FILE.cairn...   compares what it reads with what `CAIRN dump --json` and `CAIRN gpu launches --json` print,
                                  exit 1 if it differs
"""
import json
import struct
import subprocess
import sys

import read_trace

KINDS = ("point", "entry", "then", "else", "loop", "label", "ternary", "short-circuit", "branch", "taken", "value",
         "load", "store", "update", "atomic")
ACCESSES = KINDS[-4:]
TYPES = (None, "i32", "u32", "f32", "i64", "u64", "f64")


def access(value):
    return {"memory": ("global", "shared", "local", "other")[value >> 62], "bytes": value >> 52 & 1023, "address": value & (1 << 52) - 1}


class Runs:
    """Equal numbers that follow each other."""

    def __init__(self, reader):
        self.reader, self.left, self.value = reader, 0, 0

    def next(self):
        if self.left == 0:
            self.left, self.value = self.reader.varint(), self.reader.varint()
        self.left -= 1
        return self.value


class Bits:
    """Of a stream, lowest first; words are little-endian, so bytes are as good."""

    def __init__(self, data):
        self.number, self.left = int.from_bytes(data, "little"), 8 * (len(data) + 3 & ~3)

    def get(self, count):
        assert count <= self.left, "a stream is too short"
        value = self.number & (1 << count) - 1
        self.number >>= count
        self.left -= count
        return value

    def gamma(self):
        follow = 0
        while self.get(1) == 0:
            follow += 1
        return 1 << follow | self.get(follow)


def size_of(kind):
    return 64 if TYPES[kind][1:] == "64" else 32


def lanes_of(mask):
    return [lane for lane in range(64) if mask >> lane & 1]


def shown(kind, values):
    """As JSON has them."""
    size, letter = size_of(kind), TYPES[kind][0]
    code = {"i": "iq", "u": "IQ", "f": "fd"}[letter][size == 64]
    return {"type": TYPES[kind], "values": [struct.unpack("<" + code, value.to_bytes(size // 8, "little"))[0] for value in values]}


def unfolded(number):
    return -(number + 1) // 2 if number & 1 else number // 2


class Values:
    def __init__(self):
        self.slots = [{"base": 0, "step": 0, "delta": 0, "stride": 0, "kind": 2, "by_lanes": True} for _ in range(8)]

    def expect(self, location, mask):
        slot = self.slots[location % 8]
        slot["base"] += slot["step"]
        slot["delta"] = slot["step"]
        assert slot["by_lanes"], "values that cannot be expected"
        size = size_of(slot["kind"])
        return shown(slot["kind"], [(slot["base"] + slot["stride"] * lane) % (1 << size) for lane in lanes_of(mask)])

    def read(self, bits, location, mask):
        def number(kind):
            width = bits.get(7 if size_of(kind) == 64 else 6)
            return 1 << width - 1 | bits.get(width - 1) if width else 0

        if bits.get(1):
            return self.expect(location, mask)
        slot = self.slots[location % 8]
        kind = slot["kind"] if bits.get(1) else bits.get(3)
        modulus = 1 << size_of(kind)
        base = slot["base"] + slot["step"]
        if bits.get(1):
            stride = slot["stride"] if bits.get(1) else unfolded(number(1))
            base = (base + unfolded(number(kind))) % modulus
            delta = (base - slot["base"] + modulus // 2) % modulus - modulus // 2
            if slot["by_lanes"] and slot["kind"] == kind and -1 << 31 <= delta < 1 << 31:
                step = delta if delta == slot["delta"] else slot["step"]
            else:
                step = delta = 0
            self.slots[location % 8] = {"base": base, "step": step, "delta": delta, "stride": stride, "kind": kind, "by_lanes": True}
            return shown(kind, [(base + stride * lane) % modulus for lane in lanes_of(mask)])
        first = (base + unfolded(number(kind))) % modulus
        width = bits.get(7 if size_of(kind) == 64 else 6)
        self.slots[location % 8] = {"base": first, "step": 0, "delta": 0, "stride": 0, "kind": kind, "by_lanes": False}
        return shown(kind, [first] + [(first + unfolded(bits.get(width))) % modulus for _ in lanes_of(mask)[1:]])


def raw_events(bits, count, launch):
    events = []
    for _ in range(count):
        location, mask, told = bits.get(launch["bits"]), bits.get(launch["lanes"]), {}
        if location in launch["values"]:
            kind = bits.get(3)
            told = shown(kind, [bits.get(size_of(kind)) for _ in lanes_of(mask)])
        events.append((location, mask, told))
    return events


class Predictor:
    def __init__(self, alive, successors):
        self.location, self.mask, self.changed = 0, alive, 0
        self.last, self.parents = [alive] * 32, []
        self.slots = [[0, 0, 0] for _ in range(64)]  # expected location, its relation, second guess
        for a, b in successors:
            for slot in (self.slots[2 * a % 64], self.slots[(2 * a + 1) % 64]):
                if slot[0] == slot[1] == 0:
                    slot[0] = b
                elif slot[2] == 0:
                    slot[2] = b

    def slot(self):
        return self.slots[(2 * self.location + self.changed) % 64]

    def parent(self):
        return self.parents[-1] if self.parents else self.mask

    def related(self, location, relation):
        return (self.mask, self.last[location % 32], self.parent() & ~self.mask, self.parent())[relation]

    def learn(self, location, mask):
        slot = self.slot()
        fitting = [relation for relation in (slot[1], 0, 1, 2, 3) if self.related(location, relation) == mask]
        if location != slot[0]:
            slot[2] = slot[0]
        slot[0], slot[1] = location, fitting[0] if fitting else 0

    def move(self, location, mask):
        changed = mask != self.mask
        if changed and mask != 0:
            if mask & ~self.mask == 0:
                if self.last[location % 32] != self.mask or not self.parents:
                    self.parents = (self.parents + [self.mask])[-4:]
            else:
                while self.parents and mask & ~self.parents[-1]:
                    self.parents.pop()
                if self.parents and self.parents[-1] == mask:
                    self.parents.pop()
        self.changed = int(changed)
        if mask != 0:
            self.last[location % 32] = self.mask = mask
        self.location = location


def lanes_within(bits, outer):
    lanes = [lane for lane in range(64) if outer >> lane & 1]
    missing, count = bits.get(1), bits.gamma()
    width = (len(lanes) - 1).bit_length()
    if count * width < len(lanes):
        listed = [lanes[bits.get(width)] for _ in range(count)]
    else:
        listed = [lane for lane in lanes if bits.get(1)]
    mask = sum(1 << lane for lane in listed)
    return outer & ~mask if missing else mask


def predict_events(bits, count, launch):
    state, order, events = Predictor(launch["alive"], launch["successors"]), 0, []
    values, with_values = Values(), launch["values"]

    def event(location, mask, told):
        events.append((location, mask, told))
        state.move(location, mask)

    while True:
        hits = (bits.gamma() - 1 << order) + bits.get(order)
        width = hits.bit_length()
        order += (width - order + 1) // 2 if width > order else -((order - width + 1) // 2)
        for _ in range(hits):
            location, relation, _ = state.slot()
            mask = state.related(location, relation)
            event(location, mask, values.expect(location, mask) if location in with_values else {})
        if len(events) >= count:
            assert len(events) == count
            return events
        expected, _, second = state.slot()
        location = expected if bits.get(1) else second if bits.get(1) else bits.get(launch["bits"])
        known = location == expected
        if bits.get(1) == 0:
            mask = lanes_within(bits, state.mask) if known else state.related(location, bits.get(2))
        elif bits.get(1) == 0:
            mask = state.related(location, bits.get(2)) if known else lanes_within(bits, state.mask)
        elif bits.get(1) == 0:
            mask = lanes_within(bits, state.parent())
        else:
            mask = bits.get(launch["lanes"]) if bits.get(1) else 0
        told = values.read(bits, location, mask) if location in with_values else {}
        state.learn(location, mask)
        event(location, mask, told)


class Gpu:
    def __init__(self, data):
        sections = read_trace.container(data)
        self.read_gpu(read_trace.Reader(sections[15]))
        self.read_warps(read_trace.Reader(sections[16]))

    def read_gpu(self, r):
        self.programs = []
        for _ in range(r.varint()):
            program = {"file": r.text(), "hash": r.fixed(8), "kernels": [r.text() for _ in range(r.varint())]}
            program["locations"] = {}
            for _ in range(r.varint()):
                number, kind = r.varint(), KINDS[r.byte()]
                location = program["locations"][number] = {"kind": kind, "function": r.text(), "file": r.text(), "line": r.varint()}
                if kind in ACCESSES:
                    location["column"] = r.varint()
            program["successors"] = [(r.varint(), r.varint()) for _ in range(r.varint())]
            self.programs.append(program)
        self.launches = []
        for _ in range(r.varint()):
            launch = dict(zip(("rank", "program", "kernel", "device", "stream"), (r.varint() for _ in range(5))))
            launch["grid"], launch["block"] = [r.varint() for _ in range(3)], [r.varint() for _ in range(3)]
            launch |= {"coder": r.byte(), "bits": r.byte(), "lanes": r.byte(), "ring": r.byte()}
            launch["filter"], count = [r.varint() for _ in range(3)], r.varint()
            launch["warps"] = [{} for _ in range(count)]
            self.launches.append(launch)
        steps = Runs(r)
        for launch in self.launches:
            before = -1
            for warp in launch["warps"]:
                before = warp["number"] = before + 1 + steps.next()
        all_warps = [warp for launch in self.launches for warp in launch["warps"]]
        for name in ("lost", "count"):
            runs = Runs(r)
            for warp in all_warps:
                warp[name] = runs.next()
        fresh = 0
        for warp in all_warps:
            if warp["count"] == 0:
                assert r.byte() == 0
            warp["streams"] = []
            for _ in range(warp["count"]):
                number = r.varint()
                warp["streams"].append(fresh if number == 0 else number - 1)
                fresh += number == 0
        if not r.end():
            self.read_moments(r)
        if not r.end():
            self.read_clocks(r)
        if not r.end():
            reasons = Runs(r)
            for launch in self.launches:
                if not launch["warps"]:
                    launch["why"] = reasons.next()
        assert r.end()

    def read_moments(self, r):
        known = Runs(r)
        for launch in self.launches:
            launch["known"] = known.next()

        def those(what):
            return [launch for launch in self.launches if launch["known"] & what]

        made = 0
        for launch in those(1):
            launch["made_ns"] = made = made + unfolded(r.varint())
        threads = Runs(r)
        for launch in those(2):
            launch["thread"] = threads.next()
        calls = 0
        for launch in those(2):
            launch["calls"] = calls = calls + unfolded(r.varint())
        for launch in those(4):
            launch["begin_ns"] = launch["made_ns"] + unfolded(r.varint())
        for launch in those(4):
            launch["duration_ns"] = r.varint()

    def read_clocks(self, r):
        has = Runs(r)
        told = []
        for launch in self.launches:
            processors = has.next()
            if processors:
                launch["processors"] = processors - 1
                told.append(launch)
        ended = Runs(r)
        for launch in told:
            launch["clocks"] = [{"ended": ended.next()} for _ in launch["warps"]]
        for name in ("processor", "begin"):
            for launch in told:
                before = 0
                for clock in launch["clocks"]:
                    before = clock[name] = before + unfolded(r.varint())
        for launch in told:
            for clock in launch["clocks"]:
                if clock["ended"]:
                    clock["cycles"] = r.varint()

    def blocks(self, launch):
        """Of each block that told when it ended: where it ran, when it began, how long it took."""
        threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
        each = -(-threads // launch["lanes"])
        found = {}
        for warp, clock in zip(launch["warps"], launch["clocks"]):
            if clock["ended"]:
                block = found.setdefault(warp["number"] // each, [clock["processor"], clock["begin"], 0])
                block[1], block[2] = min(block[1], clock["begin"]), max(block[2], clock["begin"] + clock["cycles"])
        zeros = {}
        for processor, begin, _ in found.values():
            zeros[processor] = min(begin, zeros.get(processor, begin))
        return [{"block": number, "multiprocessor": p, "begin_cycle": b - zeros[p], "end_cycle": e - zeros[p]}
                for number, (p, b, e) in sorted(found.items())]

    def read_warps(self, r):
        count = r.varint()
        alive = Runs(r)
        self.streams = [{"alive": alive.next()} for _ in range(count)]
        for stream in self.streams:
            stream["events"] = r.varint()
        sizes = [r.varint() for _ in self.streams]
        for stream, size in zip(self.streams, sizes):
            stream["bytes"] = r.raw(size)
        assert r.end()

    def events(self, launch, number):
        stream = self.streams[number]
        program = self.programs[launch["program"]]
        form = launch | {"alive": stream["alive"], "successors": program["successors"],
                         "values": {number for number, location in program["locations"].items() if location["kind"] in ("value", *ACCESSES)}}
        bits = Bits(stream["bytes"])
        events = {0: raw_events, 2: predict_events}[launch["coder"]](bits, stream["events"], form)
        assert bits.number == 0 and bits.left < 32
        return events

    def lines(self):
        """As cairn dump --json has them."""
        known = {}
        for number, launch in enumerate(self.launches):
            locations = self.programs[launch["program"]]["locations"]
            for warp in launch["warps"]:
                for stream in warp["streams"]:
                    key = (launch["program"], launch["coder"], stream)
                    if key not in known:
                        known[key] = self.events(launch, stream)
                    for location, mask, told in known[key]:
                        if locations.get(location, {}).get("kind") in ACCESSES:
                            told = {"accesses": [access(value) for value in told["values"]]}
                        yield {"launch": number, "warp": warp["number"], "location": location,
                               "mask": f"{mask:0{launch['lanes'] // 4}x}"} | locations.get(location, {}) | told


def main():
    cairn, wrong = sys.argv[1], False
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            gpu = Gpu(file.read())
        found = gpu.lines()
        expected = []
        for launch in range(len(gpu.launches)):
            done = subprocess.run([cairn, "dump", "--json", "--launch", str(launch), path], capture_output=True, text=True, check=True)
            expected += done.stdout.splitlines()[1:]
        count = 0
        for count, (ours, theirs) in enumerate(zip(found, expected, strict=True), 1):
            if ours != json.loads(theirs):
                print(f"{path}: event {count}: read\n{ours}\ndumped\n{theirs}")
                wrong = True
                break
        done = subprocess.run([cairn, "gpu", "launches", "--json", path], capture_output=True, text=True, check=True)
        for theirs in json.loads(done.stdout)["launches"]:
            ours = gpu.launches[theirs["launch"]]
            placed = ours.get("thread", 0xffffffff) != 0xffffffff
            wanted = {"thread": ours["thread"] if placed else None, "calls_before": ours["calls"] if placed else None, "rank": ours["rank"], "duration_ns": ours.get("duration_ns"),
                       "queued_ns": ours["begin_ns"] - ours["made_ns"] if "begin_ns" in ours and ours["begin_ns"] >= ours["made_ns"] else None}
            found = {name: theirs[name] for name in wanted}
            if found != wanted:
                print(f"{path}: launch {theirs['launch']}: read\n{wanted}\ntold\n{found}")
                wrong = True
        for number, launch in enumerate(gpu.launches):
            if "clocks" not in launch:
                continue
            done = subprocess.run([cairn, "gpu", "blocks", "--launch", str(number), "--json", path], capture_output=True, text=True, check=True)
            theirs = json.loads(done.stdout)
            if theirs["blocks"] != gpu.blocks(launch) or theirs["available"] < launch["processors"]:
                print(f"{path}: launch {number}: read\n{gpu.blocks(launch)}\ntold\n{theirs}")
                wrong = True
        print(f"{path}: {count} events")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
