#!/usr/bin/env python3
"""Records the program of ARCHITECTURE.md's example and holds what the page shows against what comes of it.

    example.py --build BUILD --mpi mpich PROGRAM

Compared are what `cairn dump --grammar` prints, the call of step 3, and the bytes of the decoded sections; of buffers on
the stack only that they lie there, since where is the compiler's choice. Exit status: 0 passed, 1 failed.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from surroundings import environment

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / 'src/trace/testing'))
from read_trace import container  # noqa: E402

KINDS = {'sites': 2, 'grammars': 3, 'columns': 4, 'rows': 5, 'streams': 10}
STACK = re.compile(r'stack\+\d+'), re.compile(r'25 00 (?:[89a-f][0-9a-f] )*[0-7][0-9a-f]')


def blocks(page):
    """The page's code blocks: text between two lines of ```."""
    return re.findall(r'^```\w*\n(.*?)^```$', page, re.M | re.S)


def told_bytes(block):
    """(section, bytes as hexadecimal) for each run of lines that begins with a section's name."""
    runs = []
    for line in block.splitlines():
        name, told = re.match(r'(\w*)\s+((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:\s|$)', line).groups()
        if name:
            runs.append((name, []))
        runs[-1][1].append(told)
    return [(name, ' '.join(told)) for name, told in runs]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--mpi', required=True)
    parser.add_argument('program', type=pathlib.Path)
    options = parser.parse_args()
    cairn = str(options.build.resolve() / 'bin/cairn')
    env = environment(options.build.resolve(), options.mpi)
    page = (ROOT / 'ARCHITECTURE.md').read_text(encoding='utf-8')

    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=100)
            if done.returncode != 0:
                sys.exit(f'{" ".join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}')
            return done.stdout
        shutil.copy(options.program, folder)
        run(cairn, 'record', '-q', '-o', 'exchange.cairn', '--', f'mpiexec.{options.mpi}', '-n', '2', './exchange')
        grammar = run(cairn, 'dump', '--grammar', 'exchange.cairn')
        calls = run(cairn, 'dump', '--rank', '0', 'exchange.cairn')
        sections = container((pathlib.Path(folder) / 'exchange.cairn').read_bytes())

    wrong = []
    shown = {'grammar': 0, 'call': 0, 'bytes': 0}
    for block in blocks(page):
        if block.startswith('$ cairn dump --grammar exchange.cairn\n'):
            shown['grammar'] += 1
            told = block.split('\n', 1)[1]
            if STACK[0].sub('stack', told) != STACK[0].sub('stack', grammar):
                wrong.append(f'cairn dump --grammar says\n{grammar}')
        elif block.startswith('MPI_Isend('):
            shown['call'] += 1
            if STACK[0].sub('stack', block.strip()) not in STACK[0].sub('stack', calls):
                wrong.append(f'rank 0 made no such call: {block}')
        elif block.startswith('grammars  '):
            shown['bytes'] += 1
            for name, told in told_bytes(block):
                found = STACK[1].sub('stack', sections[KINDS[name]].hex(' '))
                told = STACK[1].sub('stack', told)
                if (told not in found) if name == 'rows' else (told != found):
                    wrong.append(f'{name}: the page has {told}\nthe file {found}')
    if min(shown.values()) != 1 or max(shown.values()) != 1:
        wrong.append(f'ARCHITECTURE.md should show each once: {shown}')
    if wrong:
        sys.exit('ARCHITECTURE.md, the example:\n' + '\n'.join(wrong))


if __name__ == '__main__':
    main()
