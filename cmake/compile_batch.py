#!/usr/bin/env python3
"""Compiles a batch of files as one, or one by one where that does not work: compile_batch.py COMPILER WORDS...

What CAIRN_UNITY puts before the compiler. A batch is a file of CMake's that includes several sources. Two of them may use one
name for two things of their own, which only their being in one file makes an error: such a batch is compiled file by file
into one object, by the linker CAIRN_BATCH_LD (ld if that is not set). What is wrong with a file by itself is told as
without batches. Anything but a batch is compiled as ever.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys


def option(words, name):
    return words[words.index(name) + 1] if name in words else None


def main():
    words = sys.argv[1:]
    source = option(words, '-c')
    if source is None or not re.search(r'/Unity/unity_\d+_cxx\.cxx$', source):
        return subprocess.run(words, check=False).returncode
    together = subprocess.run(words, capture_output=True, text=True, check=False)
    if together.returncode == 0:
        sys.stderr.write(together.stderr)
        return 0

    output, dependencies = option(words, '-o'), option(words, '-MF')
    sources = re.findall(r'^#include "(.+)"$', pathlib.Path(source).read_text(encoding='utf-8'), re.MULTILINE)

    def alone(number):
        changed = {source: sources[number], output: f'{output}.{number}.o', dependencies: f'{dependencies}.{number}'}
        # The dependencies are those of the object that all become.
        mine = [word if before == '-MT' else changed.get(word, word) for before, word in zip([None, *words], words)]
        return subprocess.run(mine, capture_output=True, text=True, check=False)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(alone, range(len(sources))))
    sys.stderr.write(''.join(result.stderr for result in results))
    if any(result.returncode != 0 for result in results):
        return 1
    if dependencies:
        parts = [pathlib.Path(f'{dependencies}.{number}') for number in range(len(sources))]
        pathlib.Path(dependencies).write_text(''.join(part.read_text(encoding='utf-8') for part in parts), encoding='utf-8')
    print(f'{source}: its files use one name for several things, and were compiled one by one')
    linker = os.environ.get('CAIRN_BATCH_LD', 'ld')
    return subprocess.run([linker, '-r', '-o', output, *(f'{output}.{number}.o' for number in range(len(sources)))],
                          check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
