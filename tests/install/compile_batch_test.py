#!/usr/bin/env python3
"""cmake/compile_batch.py: files of a batch may use one name for two things; compile_batch_test.py COMPILE_BATCH CXX NINJA"""
import pathlib
import subprocess
import sys
import tempfile

RULES = '''
rule compile
  command = {python} {batch} {cxx} -MD -MT $out -MF $out.d -o $out -c {folder}/Unity/unity_0_cxx.cxx
  depfile = $out.d
  deps = gcc
rule link
  command = {cxx} $in -o $out
build rooms.o: compile Unity/unity_0_cxx.cxx
build program: link rooms.o
'''


def build(folder, ninja):
    return subprocess.run([ninja, '-C', folder, 'program'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def expect(condition, what, said):
    if not condition:
        sys.exit(f'compile_batch_test: {what}:\n{said}')


def main():
    batch, cxx, ninja = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'one.cc').write_text('#include "one.h"\nnamespace { int own() { return kOne; } }\nint one() { return own(); }\n')
        (folder / 'two.cc').write_text('namespace { int own() { return 2; } }\nint one();\nint main() { return one() * 10 + own(); }\n')
        (folder / 'one.h').write_text('constexpr int kOne = 1;\n')
        (folder / 'Unity').mkdir()
        (folder / 'Unity/unity_0_cxx.cxx').write_text(f'#include "{folder}/one.cc"\n\n#include "{folder}/two.cc"\n')
        (folder / 'build.ninja').write_text(RULES.format(python=sys.executable, batch=batch, cxx=cxx, folder=folder))
        made = build(folder, ninja)
        expect(made.returncode == 0 and 'one by one' in made.stdout, 'a name that two files have', made.stdout)
        expect(subprocess.run([folder / 'program'], check=False).returncode == 12, 'each has its own', '')
        # Headers of a batch that was taken apart are known to ninja.
        (folder / 'one.h').write_text('constexpr int kOne = 3;\n')
        made = build(folder, ninja)
        expect(subprocess.run([folder / 'program'], check=False).returncode == 32, 'a changed header', made.stdout)
        # What is wrong with one file is told.
        (folder / 'two.cc').write_text('int main() { return missing(); }\n')
        made = build(folder, ninja)
        expect(made.returncode != 0 and 'two.cc:1' in made.stdout, 'a file that does not compile', made.stdout)
        # No batch is taken apart without need.
        (folder / 'two.cc').write_text('int one();\nint main() { return one(); }\n')
        made = build(folder, ninja)
        expect(made.returncode == 0 and 'one by one' not in made.stdout, 'a batch without such names', made.stdout)


if __name__ == '__main__':
    main()
