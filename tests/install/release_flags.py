#!/usr/bin/env python3
"""The preset `release`, which users are told to build, on every check: release_flags.py CMAKE SOURCE

It configures, has no warning end a build, and leaves out tests and benchmarks. What it compiles otherwise than the preset
`default` does, which every check builds with warnings as errors, is compiled here, with its flags and warnings as errors;
debug information does not count. Nothing is as long as both optimise alike: GCC's warnings depend on how much it has
optimised.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def run(*words):
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f'release_flags: {" ".join(words)} ended with {result.returncode}:\n{result.stdout}')


def commands(cmake, source, preset, folder, *options):
    """By file and object: the words of its compiler command, without the folder's name."""
    run(cmake, '-S', source, '--preset', preset, '-B', str(folder), '-DCAIRN_UNITY=OFF', *options)
    text = (folder / 'compile_commands.json').read_text(encoding='utf-8').replace(str(folder), '')
    compiled = [shlex.split(entry['command']) for entry in json.loads(text)]
    return {words[words.index('-o') + 1]: words for words in compiled}


def main():
    cmake, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        release = pathlib.Path(work) / 'release'
        told = commands(cmake, source, 'release', release)
        built = commands(cmake, source, 'default', pathlib.Path(work) / 'default', '-DCAIRN_TESTS=OFF')
        if not told:
            sys.exit('release_flags: the preset release compiles nothing')
        strict = [output for output, words in told.items() if any(word.startswith('-Werror') for word in words)]
        if strict:
            sys.exit(f'release_flags: warnings are errors for who installs: {strict}')

        unwanted = [output for output in told if re.search(r'(^|/)(tests|bench)/', output)]
        if unwanted:
            sys.exit(f'release_flags: who installs compiles tests or benchmarks: {unwanted}')

        def matters(words):
            return [word for word in words or () if word not in ('-Werror', '-g1')]

        different = sorted(output for output, words in told.items() if matters(words) != matters(built.get(output)))
        if different:
            commands(cmake, source, 'release', release, '-DCAIRN_WERROR=ON')
            run(cmake, '--build', str(release), '--target', *different)
        print(f'{len(told)} files, {len(different)} compiled otherwise than by the preset default:', *different)


if __name__ == '__main__':
    main()
