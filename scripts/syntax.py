#!/usr/bin/env python3
"""Lets Clang read what a sanitized build did not compile: syntax.py BUILD FILES JOBS [--all]

FILES is a folder that is configured like BUILD, but without batches (CAIRN_UNITY): its compile_commands.json says how each
file would be compiled in BUILD by itself. Batches that have no object there are read first, as a whole; where nothing is
said of one, that was about its files. Then every file of ours that has no object there, alone or in a batch, but whose
precompiled headers have been compiled (so that it takes a second), or whose batch failed, with the same options and no
output. With --all every file that is ours and that is there: generated ones are only where they were built. Prints what
Clang says; exit status 0 if it said nothing.
"""
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys


def batched(build):
    """The sources that were compiled in a batch."""
    found = set()
    for batch in build.rglob('Unity/unity_*_cxx.cxx'):
        if batch.with_name(batch.name + '.o').exists():
            found.update(re.findall(r'^#include "(.+)"$', batch.read_text(), re.MULTILINE))
    return found


def batches(build):
    """The commands that only read the batches that were not compiled, and what is in each."""
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        source = pathlib.Path(entry['directory'], entry['file'])
        words = shlex.split(entry['command'])
        at = words.index('-o')
        if '/Unity/unity_' not in str(source) or (pathlib.Path(entry['directory']) / words[at + 1]).exists():
            continue
        if '-include-pch' in words and not pathlib.Path(words[words.index('-include-pch') + 2]).exists():
            continue
        # Before the compiler stands what makes a batch of files.
        compiler = next(i for i, word in enumerate(words) if re.search(r'clang\+\+(-\d+)?$', word))
        command = [*words[compiler:at], *words[at + 2:], '-fsyntax-only']
        yield entry, command, set(re.findall(r'^#include "(.+)"$', source.read_text(), re.MULTILINE))


def reading(entry, compiled, every, failed):
    """The command that only reads this file; none if it is not to be read."""
    folder = pathlib.Path(entry['directory'])
    words = shlex.split(entry['command'])
    source = folder / entry['file']
    at = words.index('-o')
    if not source.exists() or source.suffix not in ('.c', '.cc') or (folder / words[at + 1]).exists() \
            or str(source) in compiled or source.is_relative_to(folder):
        return None
    headers = [folder / word for word in words if word.endswith('.pch')]
    if not all(header.exists() for header in headers):
        # Those of a program that was not built: read as text.
        first = words.index('-include-pch') - 1  # -Xclang -include-pch -Xclang FILE
        del words[first:first + 4]
        headers = []
        at = words.index('-o')
    if not headers and not every and str(source) not in failed:
        return None
    del words[at:at + 2]
    return [*words, '-fsyntax-only']


def main():
    build, files = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    jobs, every = int(sys.argv[3]), '--all' in sys.argv[4:]
    entries = json.loads((files / 'compile_commands.json').read_text().replace(str(files), str(build)))
    compiled = batched(build)

    def read(pair):
        entry, command = pair
        return entry['file'], subprocess.run(command, cwd=entry['directory'], stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT, text=True, check=False)

    bad = 0
    failed = set()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        whole = [] if every else list(batches(build))
        for (_, result), (_, _, within) in zip(pool.map(read, [batch[:2] for batch in whole]), whole):
            if result.returncode == 0 and not result.stdout:
                compiled |= within
            else:
                failed |= within
        commands = [(entry, command) for entry in entries if (command := reading(entry, compiled, every, failed))]
        for file, result in pool.map(read, commands):
            if result.returncode != 0 or result.stdout:
                bad += 1
                print(f'{file}\n{result.stdout}', flush=True)
    print(f'{len(whole)} batches and {len(commands)} files read, {bad} files with findings')
    return 1 if bad or not commands else 0


if __name__ == '__main__':
    sys.exit(main())
