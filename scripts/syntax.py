#!/usr/bin/env python3
"""Lets Clang read what a sanitized build did not compile: syntax.py BUILD JOBS [--all]

From BUILD/compile_commands.json: every file of ours that has no object there, but whose precompiled headers have been
compiled (so that it takes a second), with the same options and no output. With --all every file that is ours and that is
there: generated ones are only where they were built. Prints what Clang says; exit status 0 if it said nothing.
"""
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys


def reading(entry, every):
    """The command that only reads this file; none if it is not to be read."""
    folder = pathlib.Path(entry['directory'])
    words = shlex.split(entry['command'])
    source = folder / entry['file']
    at = words.index('-o')
    if not source.exists() or source.suffix not in ('.c', '.cc') or (folder / words[at + 1]).exists() \
            or source.is_relative_to(folder):
        return None
    headers = [folder / word for word in words if word.endswith('.pch')]
    if not all(header.exists() for header in headers):
        # Those of a program that was not built: read as text.
        first = words.index('-include-pch') - 1  # -Xclang -include-pch -Xclang FILE
        del words[first:first + 4]
        headers = []
        at = words.index('-o')
    if not headers and not every:
        return None
    del words[at:at + 2]
    return [*words, '-fsyntax-only']


def main():
    build, jobs, every = pathlib.Path(sys.argv[1]), int(sys.argv[2]), '--all' in sys.argv[3:]
    entries = json.loads((build / 'compile_commands.json').read_text())
    commands = [(entry, command) for entry in entries if (command := reading(entry, every))]

    def read(pair):
        entry, command = pair
        return entry['file'], subprocess.run(command, cwd=entry['directory'], stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT, text=True, check=False)

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for file, result in pool.map(read, commands):
            if result.returncode != 0 or result.stdout:
                bad += 1
                print(f'{file}\n{result.stdout}', flush=True)
    print(f'{len(commands)} files read, {bad} with findings')
    return 1 if bad or not commands else 0


if __name__ == '__main__':
    sys.exit(main())
