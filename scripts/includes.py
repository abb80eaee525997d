#!/usr/bin/env python3
"""Holds what files name against what they include: includes.py

A file that names a type or function of this tree with its namespace, as in analyze::Filter, has to include a header that
declares it, or one that includes that. Compiling finds this only where each file is compiled by itself: in batches
(CAIRN_UNITY) a file sees what those before it include, and with precompiled headers what they have.

Reads text alone: what stands at the left edge within `namespace cairn::…` of a header is declared there. Types are looked for
within their own namespace, too, where they stand without it; members and other functions are not. Prints each breach with file
and line; the exit status is 1 if there is one.
"""
import os
import pathlib
import re
import sys

from rooms import INCLUDE, ROOT

SUFFIXES = (".h", ".cc", ".inc")
# Where an include is looked for, besides the folder of the file that has it. The last stands in for CUDA's own headers.
FOLDERS = ("src", ".", "bench", "src/gpu/include", "src/arrays/include", "src/gpu/testing/cuda")
NAMESPACE = re.compile(r"^namespace (cairn(?:::\w+)*)\s*\{")
TYPE = re.compile(r"^(?:template <.*> *)?(?:class|struct|enum class|enum|union)(?: (?:alignas\([^)]*\)|\[\[\w+\]\]))* (\w+)\b")
ALIAS = re.compile(r"^using (\w+) =")
CONSTANT = re.compile(r"^(?:inline |static )*constexpr [\w:<>, ]+ (k\w+)\b")
FUNCTION = re.compile(r"^(?!return|else|case|namespace|using|if|for|while|switch)[A-Za-z_\[][\w:<>,&*\[\] ]*?[ &*>](\w+)\(")
ANY_TYPE = re.compile(r"\b(?:class|struct|enum class|enum|union|using|typename) (\w+)\b")
WORD = re.compile(r"(?<![\w.>:])([A-Z]\w*[a-z]\w*)\b(?!\()")
NAMED = re.compile(r"(?<![\w.>:])(?:cairn::)?((?:\w+::)+)(\w+)\b")
# Strings, characters and comments hold no names; what they hold is blanked, so that lines stay where they are.
BLANK = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)


def blanked(text):
    return BLANK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def declarations(lines):
    """(namespace, name) of what is declared at the left edge, with forward declarations."""
    space = None
    for line in lines:
        if match := NAMESPACE.match(line):
            space = match[1].split("::")[-1]
        elif line.startswith("}  ") or line == "}":
            continue
        if space is None:
            continue
        for pattern in (TYPE, ALIAS, CONSTANT, FUNCTION):
            if match := pattern.match(line):
                yield space, match[1]


def main():
    files = {path.relative_to(ROOT): path for top in ("spec", "src", "bench", "tests")
             for path in (ROOT / top).rglob("*") if path.suffix in SUFFIXES and "testdata" not in path.parts}
    includes, texts, types, declared, spaces = {}, {}, {}, {}, {}
    for file, path in files.items():
        text = path.read_text(errors="replace")
        includes[file] = set()
        for line in text.splitlines():
            if match := INCLUDE.match(line):
                includes[file] |= {found for folder in (file.parent, *FOLDERS)
                                   if (found := pathlib.Path(os.path.normpath(folder / pathlib.Path(match[1])))) in files}
        texts[file] = blanked(text)
        types[file] = set(ANY_TYPE.findall(texts[file]))
        spaces[file] = {match[1].split("::")[-1] for line in texts[file].splitlines() if (match := NAMESPACE.match(line))}
        for what in declarations(texts[file].splitlines()):
            declared.setdefault(what, set()).add(file)

    closures = {}

    def closure(file):
        """The file and all that it includes, in any number of steps."""
        if file not in closures:
            seen, left = set(), [file]
            while left:
                at = left.pop()
                if at not in seen:
                    seen.add(at)
                    left.extend(includes[at])
            closures[file] = seen
        return closures[file]

    breaches = looked_at = 0
    for file in sorted(files):
        told = set()
        own = set().union(*(types[other] for other in closure(file)))
        for number, line in enumerate(texts[file].splitlines(), 1):
            named = [(match[1].split("::")[-2], match[2]) for match in NAMED.finditer(line)]
            if not line.startswith(("TEST", "INSTANTIATE_TEST")):  # whose names are of nothing
                named += [(space, word) for word in WORD.findall(line) if word not in own for space in spaces[file]]
            for what in named:
                where = declared.get(what)
                # A definition in a source file declares nothing for others.
                where = where and {other for other in where if other.suffix != ".cc" or other == file}
                if not where:
                    continue
                looked_at += 1
                if what not in told and not where & closure(file):
                    told.add(what)
                    breaches += 1
                    print(f"{file}:{number}: names {'::'.join(what)}, but includes nothing that declares it "
                          f"({', '.join(sorted(map(str, where)))})")
    if not breaches:
        print(f"includes: all {looked_at} names with a namespace in {len(files)} files are declared in what these include")
    return 1 if breaches or looked_at == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
