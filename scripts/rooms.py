#!/usr/bin/env python3
"""Holds the includes of the tree against the table of rooms in ARCHITECTURE.md: rooms.py [--draw]

A room is a folder with a row in that table; a file belongs to the innermost room that it lies in. Its row names the rooms
that it may use, and "X and below" also those that X may. The rows stand in order: a room uses none that stands further
down, so that there is no way round in a circle. A file may also use what lies in its own room.

Unit tests and fuzzers (*_test.*, *_fuzz.*) may use every room. What is not C or C++ (CMake, Python, documents) is not
looked at, nor are includes of anything that is not in this tree.

Prints each breach on a line of its own, with file and line; the exit status is 1 if there is one. --draw prints, for each
room, the rooms that it does use.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = "ARCHITECTURE.md"
HEAD = "| room | holds | may use |"
SUFFIXES = (".h", ".cc", ".c", ".cu", ".inc", ".S")
# Where an include is looked for, besides the folder of the file that has it: what cmake/CairnTargets.cmake gives.
FOLDERS = ("src", ".", "src/gpu/include", "src/arrays/include")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
ANY = re.compile(r"_(test|fuzz)(_[a-z]+)?\.[a-z]+$")


def read_table():
    """Rooms in the table's order, each with what it may use, as the table's words."""
    lines = (ROOT / PAGE).read_text().splitlines()
    if HEAD not in lines:
        sys.exit(f"rooms: {PAGE} has no table that begins with: {HEAD}")
    first = lines.index(HEAD) + 2
    rows = {}
    for number, line in enumerate(lines[first:], first + 1):
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3:
            sys.exit(f"rooms: {PAGE}:{number}: a row of the table has {len(cells)} cells instead of 3")
        room = cells[0].strip("`/")
        if not (ROOT / room).is_dir():
            sys.exit(f"rooms: {PAGE}:{number}: there is no folder {room}")
        if room in rows:
            sys.exit(f"rooms: {PAGE}:{number}: {room} has two rows")
        rows[room] = (number, [] if cells[2] == "–" else [word.strip() for word in cells[2].split(",")])
    return rows


def resolve(rows):
    """For each room the set of rooms that it may use."""
    allowed = {}
    for room, (number, words) in rows.items():
        allowed[room] = set()
        for word in words:
            below = word.endswith(" and below")
            name = word.removesuffix(" and below").strip("`")
            used = name if name in rows else "src/" + name
            if used not in rows:
                sys.exit(f"rooms: {PAGE}:{number}: {room} may use {name}, which is no room")
            if used not in allowed or used == room:
                sys.exit(f"rooms: {PAGE}:{number}: {room} may use {name}, which does not stand above it")
            allowed[room] |= {used} | (allowed[used] if below else set())
    return allowed


def room_of(path, rows):
    for folder in path.parents:
        if str(folder) in rows:
            return str(folder)
    return None


def main():
    rows = read_table()
    allowed = resolve(rows)
    uses = {room: set() for room in rows}
    breaches = []
    files = {path.relative_to(ROOT) for top in ("spec", "src", "tests", "bench")
             for path in (ROOT / top).rglob("*") if path.suffix in SUFFIXES and "testdata" not in path.parts}
    for file in sorted(files):
        room = room_of(file, rows)
        if room is None:
            breaches.append(f"{file}: lies in no room of {PAGE}")
            continue
        if ANY.search(file.name):
            continue
        for number, line in enumerate((ROOT / file).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = next((found for folder in (file.parent, *FOLDERS)
                           if (found := pathlib.Path(os.path.normpath(folder / pathlib.Path(match[1])))) in files), None)
            used = room_of(target, rows) if target else None
            if used is None or used == room:
                continue
            uses[room].add(used)
            if used not in allowed[room]:
                breaches.append(f"{file}:{number}: {room} may not use {used} ({match[1]})")
    for breach in breaches:
        print(breach)
    if "--draw" in sys.argv[1:]:
        for room, used in uses.items():
            print(f"{room}: {', '.join(sorted(used)) or '–'}")
    if not breaches:
        print(f"rooms: the includes of {len(files)} files in {len(rows)} rooms are as {PAGE} says")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
