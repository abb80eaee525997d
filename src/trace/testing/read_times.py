"""The times of calls, as docs/format.md ("Times") has them: for read_trace.py, and from that document alone."""
A, B, C = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F
BIT64 = 1 << 64
MOST = BIT64 - 1


class Bins:
    def __init__(self, bound):
        self.exact = bound == 0
        if self.exact:
            self.bits = 8
            return
        self.values, first = [0], 1
        while first < BIT64:
            value = min(first + first * bound // 10**6, MOST)
            self.values.append(value)
            if bound == 10**6:
                break
            first = value * 10**6 // (10**6 - bound) + 1
        self.bits = (len(self.values) - 1).bit_length()

    def first(self, bin):
        """What the bin begins with, or stands for; how many low bits follow."""
        if not self.exact:
            return self.values[bin], 0
        if bin < 8:
            return bin, 0
        length = bin // 4 + 2
        return (4 + bin % 4) << length - 3, length - 3


class Bits:
    """The arithmetic decoder."""

    def __init__(self, data):
        self.data, self.at = data, 8
        self.low, self.high, self.value = 0, MOST, int.from_bytes(data[:8].ljust(8, b"\0"), "big")

    def leave(self):
        while self.low >> 56 == self.high >> 56:
            self.low = self.low << 8 & MOST
            self.high = (self.high << 8 | 255) & MOST
            self.value = (self.value << 8 | (self.data[self.at] if self.at < len(self.data) else 0)) & MOST
            self.at += 1

    def bit(self, p):
        middle = self.low + (self.high - self.low) // 65536 * p
        one = self.value <= middle
        if one:
            self.high = middle
        else:
            self.low = middle + 1
        self.leave()
        return int(one)

    def plain(self, n):
        result = 0
        while n:
            if self.high - self.low < 1 << 32:
                result, n = result * 2 + self.bit(32768), n - 1
                continue
            some = min(n, 16)
            step = self.high - self.low >> some
            x = min((self.value - self.low) // step, (1 << some) - 1)
            self.low += step * x
            self.high = self.low + step - 1
            self.leave()
            result, n = result << some | x, n - some
        return result


def held(x, least, most):
    return max(least, min(most, x))


def log2(x):
    w = x.bit_length() - 1
    y, result = x << 31 - w, w
    for _ in range(16):
        y = y * y >> 31
        result = result * 2 + (y >> 32)
        y >>= y >> 32
    return result


def squash(i):
    j, e, a = abs(2048 - i), 1 << 32, 4278222805
    while j:
        if j & 1:
            e = e * a >> 32
        a, j = a * a >> 32, j >> 1
    u = e if i < 2048 else 1 << 32
    return held((u << 16) // ((1 << 32) + e), 16, 65520)


STRETCH = [held((log2(2 * i + 1) - log2(8191 - 2 * i)) * 11629080 >> 32, -2047, 2047) for i in range(4096)]
SQUASH = [squash(i) for i in range(4096)]
RATE = [65536 // (2 * i + 3) for i in range(16)]


class Mix:
    """The table of lines, and the weights."""

    def __init__(self, symbols):
        self.log = (min(1 << 16, max(256, 16 * symbols)) - 1).bit_length()
        self.lines = {}
        self.weights = {}

    def symbol(self, bits, contexts, count, kind):
        prefix, node, lines, asked = 1, 1, None, None
        for place in range(count):
            if (count - place) % 4 == 0 or place == 0:
                asked = contexts if place < 8 else (contexts[0], contexts[7])
                node, lines = 1, [self.line(context, prefix) for context in asked]
            first = [2458] * 8 if len(asked) == 8 else [4915] * 2
            weights = self.weights.setdefault((kind, place, len(asked)), first)
            was = [line[node] for line in lines]
            inputs = [STRETCH[n // 16] for n in was]
            mixed = held(sum(t * w for t, w in zip(inputs, weights)) // 8192, -2047, 2047)
            p = SQUASH[mixed + 2048]
            bit = bits.bit(p)
            error = (65535 * bit - p) // 2
            for i in range(len(asked)):
                weights[i] = held(weights[i] + (8 * inputs[i] * error // 65536 + 8) // 16, -32768, 32767)
            for line, n in zip(lines, was):
                far = 32760 * bit - (n // 2 & ~7)
                line[node] = n + (4 * (far * RATE[n % 16] // 65536) & ~15) + (n % 16 < 14)
            node, prefix = node * 2 + bit, prefix * 2 + bit
        return prefix - (1 << count)

    def line(self, context, prefix):
        h = (context + prefix) * A % BIT64
        owner = h >> 16 & 0xFFFF | 1
        line = self.lines.setdefault(h >> 64 - self.log, [0] * 16)
        if line[0] != owner:
            line[:] = [owner] + [32768] * 15
        return line


def context(place, x, which):
    h = ((place * A % BIT64 ^ (x + 1) * C % BIT64) * 16 + which) % BIT64
    return (h ^ h >> 32) * B % BIT64


class Coder:
    """Of `context` and `lossless`."""

    def __init__(self, data, groups, bounds):
        self.bits, self.mix = Bits(data), Mix(2 * len(groups))
        bins = {bound: Bins(bound) for bound in bounds}
        self.bins = [bins[bound] for bound in bounds]
        self.slots = [[[0, 0], [0, 0]] for _ in range(min(16 * len(bounds), 4096))]
        self.low_counters = {}
        self.coded = [0, 0]
        self.places = [0, 0]

    def times(self, groups):
        run, before, out = 0, None, []
        for group in groups:
            run = min(15, run + 1) if group == before else 0
            before, place = group, 16 * group + run
            out.append(tuple(self.value(self.bins[group], place, kind) for kind in (0, 1)))
            self.places = [place + 1, self.places[0]]
        return out

    def value(self, bins, place, kind):
        last = self.slots[place % 4096 % len(self.slots)][kind]
        (p1, p2), (v1, v2) = self.places, self.coded
        told = (0, p1, last[0], v1, (p1 << 32 ^ p2) % BIT64, (last[0] << 32) + last[1], v2)
        contexts = [context(place, x, 2 * i + kind) for i, x in enumerate(told)] + [context(0, 0, 14 + kind)]
        bin = self.mix.symbol(self.bits, contexts, bins.bits, kind)
        last[:] = [bin, last[0]]
        self.coded = [bin, v1]
        first, low = bins.first(bin)
        return first + self.low_bits(low, bin, kind)

    def low_bits(self, n, bin, kind):
        result, node = 0, 1
        while n and node < 8:
            counter = self.low_counters.get((kind, bin, node), 32768)
            bit = self.bits.bit(held(counter, 64, 65472))
            counter += (65535 - counter) // 32 if bit else -(counter // 32)
            self.low_counters[kind, bin, node] = counter
            result, node, n = result * 2 + bit, node * 2 + bit, n - 1
        return result << n | self.bits.plain(n)


def turned(h):
    return (h << 29 | h >> 35) % BIT64


def check(times):
    h = len(times)
    for gap, duration in times:
        h = (turned(h) ^ gap) * A % BIT64
        h = (turned(h) ^ duration) * B % BIT64
    return h ^ h >> 32


def numbered(keys):
    """From 0, in the order of their first occurrence."""
    numbers = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def read_blocks(r, keys, xxh3):
    """The (gap, duration) of each call, whose keys are its function, site and depth, and where its begin is placed. `r` is
    behind the stream's first byte."""
    times, places = [], []
    while not r.end():
        calls, size, wanted = r.varint(), r.varint(), r.fixed(4)
        groups = numbered(keys[len(times):len(times) + calls])
        assert len(groups) == calls
        begin = r.at
        mode, clock = r.byte(), r.varint()
        ends, error = [(clock, clock + r.varint())], r.varint()
        by_depth = mode >= 128
        for _ in range(r.varint() if by_depth else 0):
            clock = ends[0][0] - r.varint()
            ends.insert(0, (clock, clock + r.varint()))
        mode %= 128
        assert mode in (10, 11), f"this reader does not know the timing mode {mode}"
        bounds = [r.varint() for _ in range(r.varint())]
        bounds = [bounds[r.varint() if len(bounds) > 1 else 0] for _ in range(max(groups) + 1)]
        assert mode == 11 or not any(bounds)
        stride = r.varint()
        anchors = [r.signed() for _ in range((calls - 1) // stride if stride else 0)]
        own = Coder(r.raw(begin + size - r.at), groups, bounds).times(groups)
        assert wanted == (xxh3(bytes(r.data[begin:begin + size])) + check(own)) % (1 << 32), "a block is damaged"
        for i, (gap, duration) in enumerate(own):
            depth = min(keys[len(times) + i][2], 63) if by_depth else 0
            clock, placed = ends[min(depth, len(ends) - 1)]
            at = min(clock + gap, MOST) + (anchors[i // stride - 1] if stride and i and i % stride == 0 else 0)
            places.append(max(at, placed))
            ends += [ends[-1]] * (depth - len(ends))
            ends[depth:] = [(min(at + duration, MOST), min(places[-1] + duration, MOST))]
        times += own
    return times, places
