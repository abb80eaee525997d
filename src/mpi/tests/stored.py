"""What a trace stores, not what it means: lets a test say how few atoms and rows some calls may take.

A condition is "FUNCTION PARAMETER atoms N" (in no row on any rank the field has more than N atoms), or
"FUNCTION rows N" (no class has more than N rows of that function), or "bytes N" (the file, without what is known
of the run and its times).
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / 'src/trace/testing'))
import read_trace  # noqa: E402


def function_called(name):
    """Its id and the names of its parameters, from the table in spec/."""
    for path in (ROOT / 'spec/functions').glob('*.txt'):
        for block in re.split(r'\n(?=\S)', path.read_text()):
            head = re.match(r'(?:\w+ )?(MPIX?_\w+) (\d+)', block)
            if not head or name not in (head[1], head[1] + '_c'):
                continue
            number = int(head[2]) if name == head[1] else int(re.search(r'large\((\d+)', block)[1])
            lines = (re.match(r' +(?:const )?\S+ +(\w+) +\w+ +(?:inout|in|out)\b', line) for line in block.splitlines())
            return number, [line[1] for line in lines if line]
    raise SystemExit(f'no function {name}')


def most_atoms(trace, number, field):
    most = 0
    for group in trace.classes:
        for row in group['rows']:
            if row[0][0] != number:
                continue
            for member in range(len(group['ranks'])):
                value = list(trace.untranslated(row, member, group['ranks']))[field]
                most = max(most, 0 if value is None else len(value))
    return most


def most_rows(trace, number):
    return max(sum(row[0][0] == number for row in group['rows']) for group in trace.classes)


def bytes_stored(path):
    """Of the sections but meta, timing, clocks, sums, cost and source."""
    data = path.read_bytes()
    directory = read_trace.Reader(data[-16 - int.from_bytes(data[-16:-12], 'little'):-16])
    total = 0
    for _ in range(directory.varint()):
        kind, codec, stored = directory.byte(), directory.byte(), directory.varint()
        if codec:
            directory.varint()
        directory.raw(4)
        total += 0 if kind in (1, 7, 8, 9, 17, 18) else stored
    return total


def problems(path, conditions):
    trace = read_trace.Trace(path.read_bytes())
    for condition in conditions:
        words = condition.split()
        if words[0] == 'bytes':
            if (size := bytes_stored(path)) > int(words[1]):
                yield f'stored: {condition}: {size}'
            continue
        number, parameters = function_called(words[0])
        if words[-2] == 'atoms':
            found = most_atoms(trace, number, parameters.index(words[1]))
        else:
            found = most_rows(trace, number)
        if most_rows(trace, number) == 0:
            yield f'stored: {words[0]} is never called'
        elif found > int(words[-1]):
            yield f'stored: {condition}: {found}'
