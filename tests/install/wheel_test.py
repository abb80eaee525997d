#!/usr/bin/env python3
"""Holds `pip install .` to what docs/python.md says of it: wheel_test.py SOURCE PYTHON CAIRN

Without a network it builds the package and installs it, alone, into a folder, from where it is imported; CAIRN, a program,
tells what an error has to say. Exit status: 0 passed, 1 failed, 77 without pip.
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    source, python, cairn = sys.argv[1:]
    if subprocess.run([python, '-m', 'pip', '--version'], capture_output=True).returncode != 0:
        return 77
    with tempfile.TemporaryDirectory(prefix='cairn-test-') as folder:
        done = subprocess.run([python, '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--no-cache-dir', '--target', 'into',
                               source], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f'pip: {done.stdout}{done.stderr}')
        found = sorted(path.name for path in pathlib.Path(folder, 'into').iterdir())
        if found != ['cairn', 'cairn-0.1.0.dist-info']:
            sys.exit(f'installed: {found}')
        program = ('import cairn\n' 'try: cairn.open("missing.cairn")\n' 'except cairn.UnreadableError as error: print("cairn:", error)\n')
        told = subprocess.run([python, '-c', program], cwd=folder, capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=os.path.join(folder, 'into')))
        wanted = subprocess.run([cairn, 'info', 'missing.cairn'], cwd=folder, capture_output=True, text=True)
        if told.stdout != wanted.stderr or not told.stdout:
            sys.exit(f'imported: {told}, and not {wanted.stderr}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
