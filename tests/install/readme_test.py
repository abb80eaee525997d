#!/usr/bin/env python3
"""The README's section "Installing", to the letter: readme_test.py SOURCE PROGRAM_SOURCE MPICC...

Runs its commands in a copy of the tree, with a home of its own, and then records a program under each MPI with what they
installed. What only an administrator can do (apt-get, and setup where packages are missing) is left to them; a compiler
wrapper that the README makes up (/opt/mpi/bin/mpicc) becomes one that is here. Takes as long as building does.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def section(text, title):
    return re.search(rf'^## {title}\n(.*?)(?=^## |\Z)', text, re.MULTILINE | re.DOTALL)[1]


def blocks(text):
    """The blocks of commands: lines that are indented by four."""
    found, last = [], ''
    for line in text.split('\n'):
        if line.startswith('    '):
            if not last.startswith('    '):
                found.append([])
            found[-1].append(line[4:])
        last = line
    return ['\n'.join(lines) for lines in found]


def shell(script, folder, home):
    environment = {'HOME': str(home), 'PATH': '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', 'LC_ALL': 'C',
                   'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
                   'OMPI_MCA_rmaps_base_oversubscribe': '1', 'CMAKE_BUILD_PARALLEL_LEVEL': str(os.cpu_count())}
    result = subprocess.run(['bash', '-e', '-o', 'pipefail', '-c', script], cwd=folder, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if result.returncode != 0:
        tail = '\n'.join(result.stdout.split('\n')[-40:])
        sys.exit(f'readme_test: exit status {result.returncode}:\n{script}\n\n{tail}')
    return result.stdout


def main():
    source, program, *wrappers = sys.argv[1:]
    source = pathlib.Path(source)
    text = section((source / 'README.md').read_text(encoding='utf-8'), 'Installing')
    [install, package, another_mpi] = blocks(text)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        tree, home = work / 'cairn', work / 'home'
        home.mkdir()
        left_out = re.compile(r'build.*|demo|\.git|\.cache')

        def builds(folder, names):
            return [name for name in names if pathlib.Path(folder) == source and left_out.fullmatch(name)]

        shutil.copytree(source, tree, symlinks=True, ignore=builds)
        said = shell(install, tree, home)
        if 'warning:' in said:
            sys.exit('readme_test: the build has warnings:\n' + '\n'.join(re.findall('.*warning:.*', said)))

        path = '\n'.join(line for line in install.split('\n') if line.startswith('export PATH='))
        shell(f'''{path}
[ "$(command -v cairn)" = ~/cairn/bin/cairn ]
cairn doctor
man -w cairn 2>/dev/null || ls ~/cairn/share/man/man1/cairn.1
[ -f ~/cairn/share/bash-completion/completions/cairn ] && [ -d ~/cairn/share/zsh/site-functions ]
''', work, home)
        for mpicc in wrappers:
            mpiexec = mpicc.replace('mpicc', 'mpiexec')
            sends = shell(f'''{path}
{mpicc} -O1 -g -w {program} -o program
cairn record --force -o run.cairn -- timeout 60 {mpiexec} -n 2 ./program 3
cairn dump run.cairn | grep -c MPI_Isend
''', work, home).strip().split('\n')[-1]
            if sends != '24':  # two ranks, three steps, four sends each
                sys.exit(f'readme_test: the trace of {mpiexec} has {sends} calls of MPI_Isend instead of 24')

        shell(package, tree, home)
        made = re.findall(r'`(cairn[-_][^` ]*(?:\.deb|\.tar\.gz))`', text)
        packages = tree / re.search(r'makes in `([^`]+)`', text)[1]
        missing = [name for name in made if not (packages / name).exists()]
        if len(made) != 2 or missing:
            sys.exit(f'readme_test: of {made} cpack did not make {missing}')
        shell(another_mpi.replace('/opt/mpi/bin/mpicc', wrappers[0]), tree, home)
        print('built, installed, recorded and packed as the README says')


if __name__ == '__main__':
    main()
