#!/usr/bin/env python3
"""Holds docs/format.md's smallest trace against the file that smallest_trace writes.

explained.py PAGE PROGRAM DIR      exit 1, and what differs, if the page is not true of the file
explained.py --reads FILE          what the second reader reads of a file, and where

The page has, under the heading "The smallest trace", blocks of code whose lines are: where, in hexadecimal; the bytes
there; what they are read as, or – where the container is only compared; what it means. Two spaces or more stand between
these. Compared are

- the bytes: all of the file, in order;
- what they are read as: what the second reader (read_trace.py) got when it read just these bytes. Texts stand in
  quotes, bytes as hexadecimal digits, numbers as 12 or 0x0c.
"""
import json
import pathlib
import re
import subprocess
import sys

import read_trace

HEADING = "## The smallest trace"
UNREAD = "–"


class Placed(bytes):
    """Bytes that know where in the file they lie, and so do slices of them."""

    at = 0

    def __getitem__(self, key):
        part = super().__getitem__(key)
        if isinstance(key, slice):
            part = Placed(part)
            part.at = self.at + key.indices(len(self))[0]
        return part


def reads_of(file):
    """{where: (end, value)} of each thing that the second reader reads; a text is one thing."""
    reads = {}

    class Watched(read_trace.Reader):
        within = False

        def watch(self, read, *arguments):
            if self.within:
                return read(*arguments)
            begin, self.within = self.at, True
            value = read(*arguments)
            self.within = False
            reads[self.data.at + begin] = (self.data.at + self.at, value)
            return value

        def byte(self):
            return self.watch(super().byte)

        def varint(self):
            return self.watch(super().varint)

        def signed(self):
            return self.watch(super().signed)

        def fixed(self, n):
            return self.watch(super().fixed, n)

        def raw(self, n):
            return self.watch(super().raw, n)

        def blob(self):
            return self.watch(super().blob)

        def text(self):
            return self.watch(super().text)

    read_trace.Reader = Watched
    read_trace.Trace(Placed(file))
    return {at: read for at, read in sorted(reads.items()) if read[0] > at}


def shown(value):
    return json.dumps(value) if isinstance(value, str) else value.hex() or '""' if isinstance(value, bytes) else str(value)


def is_read_as(told, value):
    if isinstance(value, int):
        return re.fullmatch(r"-?\d+|0x[0-9a-f]+", told) is not None and int(told, 0) == value
    return told == shown(value)


def lines_of(page):
    """(number, cells) of each line in the blocks of code under the heading."""
    within = fenced = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and line.startswith("## "):
            within = line == HEADING
        elif within and fenced:
            yield number, re.split(r" {2,}", line.strip())


def faults_of(page, file):
    reads, at = reads_of(file), 0
    for number, cells in lines_of(page):
        if len(cells) != 4:
            yield number, f"has {len(cells)} cells instead of 4"
            return
        where, told, values = cells[0], cells[1].split(), cells[2].split()
        begin, end = at, at + len(told)
        if not re.fullmatch(r"[0-9a-f]+", where) or int(where, 16) != at:
            yield number, f"begins at {where}, but the line before ends at {at:02x}"
            return
        found = file[begin:end].hex(" ").split()
        if told != found:
            yield number, f"has {' '.join(told)}, the file {' '.join(found)}"
        read = []
        while at in reads and reads[at][0] <= end:
            at, value = reads[at]
            read.append(value)
        if values != [UNREAD] and (at != end or len(values) != len(read) or not all(map(is_read_as, values, read))):
            yield number, f"says {cells[2]}, the second reader {' '.join(map(shown, read))}"
        if values == [UNREAD] and read:
            yield number, f"does not say what it is read as: {' '.join(map(shown, read))}"
        at = end
    if at != len(file):
        yield 0, f"explains {at} of the file's {len(file)} bytes"


def main():
    if sys.argv[1] == "--reads":
        file = pathlib.Path(sys.argv[2]).read_bytes()
        for at, (end, value) in reads_of(file).items():
            print(f"{at:02x}  {file[at:end].hex(' ')}  {shown(value)}")
        return 0
    path, program, folder = sys.argv[1:]
    written = pathlib.Path(folder) / "smallest.cairn"
    subprocess.run([program, written], check=True)
    faults = list(faults_of(pathlib.Path(path).read_text(encoding="utf-8"), written.read_bytes()))
    for number, what in faults:
        print(f"{path}:{number}: {what}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
