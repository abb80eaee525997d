#!/usr/bin/env python3
"""A second reader of the array codecs "xor" and "delta", written from docs/array-codecs.md alone: slow, and with nothing
in common with the first but that page. It decodes what array_sample wrote and compares it with the values.

usage: read_array.py SAMPLE_PROGRAM FOLDER"""
import ctypes
import itertools
import math
import os
import struct
import subprocess
import sys

ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
SIZES = [1, 1, 2, 2, 4, 4, 8, 8, 4, 8]
FLOATS = (8, 9)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def raw(self, size):
        assert self.at + size <= len(self.data), "cut short"
        self.at += size
        return self.data[self.at - size:self.at]

    def blob(self):
        return self.raw(self.varint())

    def stream(self, size):
        stored = self.blob()
        if len(stored) == size:
            return stored
        out = ctypes.create_string_buffer(max(size, 1))
        assert ZSTD.ZSTD_decompress(out, size, stored, len(stored)) == size, "a frame does not hold what it should"
        return out.raw[:size]

    def packed(self, widths, word):
        """Numbers of these widths, in lanes with words of as many bytes."""
        lanes = 32 // word
        left, have, out = [0] * lanes, [0] * lanes, []
        for i, width in enumerate(widths):
            lane = i % lanes
            if width > have[lane]:
                left[lane] |= int.from_bytes(self.raw(word), "little") << have[lane]
                have[lane] += 8 * word
            out.append(left[lane] & (1 << width) - 1)
            left[lane] >>= width
            have[lane] -= width
        assert not any(left)
        return out


class Bits:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, width):
        first, last = self.at // 8, (self.at + width + 7) // 8
        value = int.from_bytes(self.data[first:last], "little") >> self.at % 8
        self.at += width
        return value & ((1 << width) - 1)


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def xor(data, size, count, reference):
    read = Reader(data)
    words = struct.Struct("<" + ("I" if size == 4 else "Q"))
    others = [word for word, in words.iter_unpack(reference)]
    distance = read.varint() if read.byte() == 0 else 0
    n = 5 if size == 4 else 6
    out = []
    for first in range(0, count, 4096):
        block = min(4096, count - first)
        counts = Bits(read.raw((block + 7) // 8 * n))
        rest = read.packed([8 * size - counts.take(n) for _ in range(block)], size)
        for x in rest:
            at = len(out)
            before = others[at] if distance == 0 else out[at - distance] if at >= distance else 0
            out.append(x ^ before)
    assert read.at == len(data)
    return b"".join(words.pack(x) for x in out)


def huffman(read):
    """(length, bits) to class."""
    first = read.byte()
    last = first + read.byte()
    if first == last:
        return {(0, 0): first}
    lengths = {}
    for klass in range(first, last + 1, 2):
        two = read.byte()
        lengths[klass], lengths[klass + 1] = two & 15, two >> 4
    codes, code = {}, 0
    for length in range(1, 11):
        for klass in range(first, last + 1):
            if lengths[klass] == length:
                codes[length, code] = klass
                code += 1
        code *= 2
    return codes


def coded(bits, code):
    """The next class (or byte) by this code."""
    length = value = 0
    while (length, value) not in code:
        value = value * 2 + bits.take(1)
        length += 1
        assert length <= 10
    return code[length, value]


def coded_bytes(read, count):
    code, out = huffman(read), []
    lane = -(-count // 4)
    while len(out) < count:
        data = read.blob()
        bits = Bits(data)
        out += [coded(bits, code) for _ in range(min(lane, count - len(out)))]
        assert (bits.at + 7) // 8 == len(data)
    return out


def residual_of(klass, low):
    return klass if klass < 4 else (4 | klass & 3) << width_of(klass) | low


def width_of(klass):
    return max(klass // 4 + 2 - 3, 0)


def coded_classes(read, count):
    contexts = read.byte()
    starts = [0] + [read.byte() for _ in range(contexts - 1)]
    codes = [huffman(read) for _ in range(contexts)]
    out, lane = [], -(-count // 4)
    while len(out) < count:
        data = read.blob()
        bits, before = Bits(data), 0
        for _ in range(min(lane, count - len(out))):
            out.append(coded(bits, codes[max(i for i in range(contexts) if starts[i] <= before)]))
            before = out[-1].bit_length() if out[-1] < 4 else out[-1] // 4 + 2
        assert (bits.at + 7) // 8 == len(data)
    return out


def residuals(read, count, word):
    way = read.byte()
    if way == 1:
        planes = [coded_bytes(read, count) if read.byte() else read.stream(count) for _ in range(word)]
        return [int.from_bytes(bytes(plane[i] for plane in planes), "little") for i in range(count)]
    assert way in (0, 2)
    classes = coded_classes(read, count) if way == 2 else read.stream(count)
    return [residual_of(k, low) for k, low in zip(classes, read.packed([width_of(k) for k in classes], word))]


class Delta:
    def __init__(self, data, element, count, reference):
        self.read, self.element, self.count, self.size = Reader(data), element, count, SIZES[element]
        self.word = 8 if self.size == 8 else 4
        self.mantissa = 52 if self.word == 8 else 23
        self.float = "<d" if self.word == 8 else "<f"
        flags = self.read.byte()
        self.mapping, lags = flags & 3, [self.read.varint() for _ in range(flags >> 4)]
        if self.mapping == 1:
            self.shift = unzigzag(self.read.varint())
        if self.mapping == 2:
            self.base, self.step = struct.unpack("<dd", self.read.raw(16))
        self.fill = self.read.raw(self.size) if flags & 4 else bytes(self.size)
        self.reference = reference if flags & 8 else None
        self.lags = lags
        self.terms = [(sum(some), 1 if len(some) % 2 else -1)
                      for n in range(1, len(lags) + 1) for some in itertools.combinations(lags, n)]

    def decode(self):
        integers, out = [], []
        for first in range(0, self.count, 65536):
            self.block(first, min(65536, self.count - first), integers, out)
        assert self.read.at == len(self.read.data)
        return b"".join(out)

    def block(self, first, count, integers, out):
        read = self.read
        parts = read.byte()
        mask = read.stream((count + 7) // 8) if parts & 1 else bytes((count + 7) // 8)
        held = [mask[i // 8] >> i % 8 & 1 for i in range(count)]
        exceptions, at = {}, 0
        for _ in range(read.varint() if parts & 2 else 0):
            at += read.varint()
            exceptions[at] = read.raw(self.size)
        rest = iter(residuals(read, count - sum(held), self.word))
        for i in range(first, first + count):
            if held[i - first]:
                x = integers[i - self.lags[0]] if self.lags and i >= self.lags[0] else 0
            else:
                x = unzigzag(next(rest)) + sum(sign * integers[i - lag] for lag, sign in self.terms if lag <= i)
            integers.append(x & (1 << 8 * self.word) - 1)
        whole = [self.signed(integers[i] + self.integer_of(i)) for i in range(first, first + count)]
        tails = corrections = [0] * count
        if self.mapping == 1:
            tails = read.packed([0 if h or x == 0 else max(self.mantissa + 1 - abs(x).bit_length(), 0)
                                 for x, h in zip(whole, held)], self.word)
        if self.mapping == 2:
            corrections = read.stream(count)
        for i in range(count):
            value = self.fill if held[i] else self.value_of(whole[i], tails[i], corrections[i])
            out.append(exceptions.get(i, value))

    def signed(self, x):
        bits = 8 * self.word
        x &= (1 << bits) - 1
        return x - (1 << bits) if x >> bits - 1 else x

    def integer_of(self, i):
        """Of the reference."""
        if self.reference is None:
            return 0
        data = self.reference[i * self.size:(i + 1) * self.size]
        if self.mapping == 0:
            return self.ordered(data)
        value, = struct.unpack(self.float, data)
        limit = 2.0 ** (self.mantissa + 1)
        if self.mapping == 1:
            value *= 2.0 ** self.shift
            return int(value) if abs(value) < limit else 0
        value = (value - self.base) * (1 / self.step)
        return round(value) if abs(value) < 2.0 ** (30 if self.word == 4 else 50) else 0

    def ordered(self, data):
        if self.element not in FLOATS:
            return int.from_bytes(data, "little", signed=self.element % 2 == 0)
        bits = int.from_bytes(data, "little")
        top = 1 << 8 * self.size - 1
        return bits ^ (2 * top - 1) if bits & top else bits | top

    def of_ordered(self, x):
        top = 1 << 8 * self.word - 1
        x &= 2 * top - 1
        if self.element in FLOATS:
            x = x ^ top if x & top else x ^ (2 * top - 1)
        return (x & (1 << 8 * self.size) - 1).to_bytes(self.size, "little")

    def value_of(self, x, tail, correction):
        if self.mapping == 0:
            return self.of_ordered(x)
        if self.mapping == 2:
            value = struct.pack(self.float, self.base + x * self.step)
            return self.of_ordered(self.ordered(value) + unzigzag(correction))
        if x == 0:
            return bytes(self.size)
        value = int.from_bytes(struct.pack(self.float, math.ldexp(abs(x), -self.shift)), "little") | tail
        return (value | (x < 0) << 8 * self.size - 1).to_bytes(self.size, "little")


def main():
    path = os.path.join(sys.argv[2], "array_sample.bin")
    subprocess.run([sys.argv[1], path], check=True)
    with open(path, "rb") as file:
        read = Reader(file.read())
    boxes = 0
    while read.at < len(read.data):
        name, element = read.blob().decode(), read.varint()
        shape = [read.varint() for _ in range(read.varint())]
        reference, values, encoded = read.blob(), read.blob(), read.blob()
        count = math.prod(shape)
        if count == 0:
            got = encoded
        elif name == "xor":
            got = xor(encoded, SIZES[element], count, reference)
        else:
            got = Delta(encoded, element, count, reference).decode()
        if got != values:
            sys.exit(f"{name}: element {element}, shape {shape}: other values")
        boxes += 1
    os.remove(path)
    print(f"{boxes} boxes")
    assert boxes > 1000


main()
