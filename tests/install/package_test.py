#!/usr/bin/env python3
"""The packages that cpack makes, on a system without a compiler: package_test.py --build BUILD --mpicc MPICC --program FILE

Makes the .deb and the .tar.gz from BUILD and a root in which nothing is installed but what every Debian has, what the
.deb depends on, and MPICH, from the files of this system's packages. Installs the .deb there with dpkg (which checks the
dependencies), records the program (stencil2d.c, compiled for MPICH) in it, removes the package again, and records with
the unpacked archive.
Where a root cannot be entered (no right to mount or chroot), programs of the root run outside it, with nothing but an MPI
on the PATH. Exit status 77: this is no Debian system.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMPILERS = ('cc', 'gcc', 'g++', 'c++', 'clang', 'as', 'ld', 'cmake', 'make', 'ninja', 'mpicc')


def fail(text):
    sys.exit(f'package_test: {text}')


def run(words, **options):
    """The output of a command that has to succeed."""
    result = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=300, check=False, **options)
    if result.returncode != 0:
        fail(f'{" ".join(map(str, words))} ended with {result.returncode}:\n{result.stdout}')
    return result.stdout


def installed():
    """Debian's packages on this system: the stanza of each, and who provides a name."""
    stanzas, providers = {}, {}
    for stanza in pathlib.Path('/var/lib/dpkg/status').read_text(encoding='utf-8').split('\n\n'):
        fields = dict(re.findall(r'^([A-Za-z-]+): (.*)$', stanza, re.MULTILINE))
        if fields.get('Status', '').endswith(' installed') and fields['Package'] not in stanzas:
            stanzas[fields['Package']] = (stanza, fields)
            for name in re.findall(r'[^\s,(]+(?=[^,]*)', fields.get('Provides', '')):
                providers.setdefault(name, fields['Package'])
    return stanzas, providers


def alternatives(depends):
    """[[a, b], [c]] for 'a (>= 1) | b, c:any'."""
    return [[re.split(r'[ :(]', name.strip())[0] for name in group.split('|')] for group in depends.split(',') if group.strip()]


def closure(wanted, stanzas, providers):
    """The packages without which these do not work."""
    found, waiting = set(), [[name] for name in wanted]
    while waiting:
        group = waiting.pop()
        name = next((name for name in group if name in stanzas), None) or providers.get(group[0])
        if name is None:
            fail(f'none of {group} is installed here')
        if name in found:
            continue
        found.add(name)
        fields = stanzas[name][1]
        waiting += alternatives(fields.get('Pre-Depends', '')) + alternatives(fields.get('Depends', ''))
    return found


def fill(root, packages, stanzas):
    """Their files, as links where that is possible, and dpkg's record of them."""
    for name in ('bin', 'sbin', 'lib', 'lib64'):
        if os.path.islink('/' + name):
            (root / 'usr' / name).mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to('usr/' + name)
    for name in ('tmp', 'proc', 'sys', 'dev', 'etc', 'var/lib/dpkg/info', 'var/lib/dpkg/updates'):
        (root / name).mkdir(parents=True, exist_ok=True)
    for line in sorted(set(run(['dpkg-query', '-L', *sorted(packages)]).split('\n'))):
        source, target = line, root / line.lstrip('/')
        if not line.startswith('/') or re.match(r'/usr/share/(doc|man|info|locale)/', line) or os.path.lexists(target):
            continue
        if os.path.isdir(source) and not os.path.islink(source):
            target.mkdir(parents=True, exist_ok=True)
        elif os.path.lexists(source):  # what is left out of small systems, such as documentation, is listed too
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(source, target, follow_symlinks=False)
            except OSError:
                shutil.copy2(source, target, follow_symlinks=False)
    if not os.path.lexists(root / 'bin/sh'):  # a diversion, which no package lists
        (root / 'bin/sh').symlink_to('dash')
    for name in ('etc/passwd', 'etc/hosts'):
        if os.path.exists('/' + name) and not (root / name).exists():
            shutil.copy('/' + name, root / name)
    status = ''.join(stanzas[name][0].strip('\n') + '\n\n' for name in sorted(packages))
    (root / 'var/lib/dpkg/status').write_text(status, encoding='utf-8')
    (root / 'var/lib/dpkg/available').write_text('', encoding='utf-8')


class Inside:
    """Runs commands in a root, or with the root's programs where it cannot be entered."""

    def __init__(self, root):
        self.root = root
        self.environment = {'PATH': '/usr/bin:/bin', 'HOME': '/tmp', 'LC_ALL': 'C'}
        # Everything that is mounted is gone when the command ends.
        self.mount = ('mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount -t tmpfs none "$0/dev" && '
                      'mkdir "$0/dev/shm" && '
                      'for f in null zero urandom; do : >"$0/dev/$f" && mount --bind /dev/$f "$0/dev/$f" || exit 9; done && '
                      'cd "$0" && exec /usr/sbin/chroot . "$@"')
        # A process namespace of its own, since /proc cannot be mounted in a foreign one without root.
        self.enter = ['unshare', '--mount', '--pid', '--fork'] + ([] if os.getuid() == 0 else ['--map-root-user'])
        self.entered = subprocess.run([*self.enter, 'sh', '-c', self.mount, root, '/bin/true'], check=False,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        if not self.entered:
            tools = root / 'tools'
            tools.mkdir()
            for name in ('mpiexec.mpich', 'hydra_pmi_proxy', 'sh', 'env'):
                if shutil.which(name):
                    (tools / name).symlink_to(shutil.which(name))
            self.environment['PATH'] = str(tools)

    def run(self, program, *words):
        if self.entered:
            return run([*self.enter, 'sh', '-c', self.mount, self.root, program, *words], env=self.environment)
        return run([str(self.root) + program, *words], env=self.environment, cwd=self.root)


def record_and_read(inside, cairn, steps=3):
    """Two ranks, four sends a step, at lines of the source."""
    trace = '/tmp/run.cairn' if inside.entered else str(inside.root / 'tmp/run.cairn')
    program = '/program' if inside.entered else str(inside.root / 'program')
    said = inside.run(cairn, 'record', '--force', '-o', trace, '--', 'mpiexec.mpich', '-n', '2', program, str(steps))
    calls = inside.run(cairn, 'dump', trace).split('\n')
    sends = [line for line in calls if 'MPI_Isend' in line]
    if len(sends) != 2 * 4 * steps or not all('stencil2d.c:' in line for line in sends):
        fail(f'{cairn}: {len(sends)} calls of MPI_Isend instead of {2 * 4 * steps}, or lines are missing:\n{said}')
    inside.run(cairn, 'verify', trace)
    return said.strip().split('\n')[-1]


def check_documents(folder):
    """Every link of an installed document to another leads somewhere."""
    if not (folder / 'README.md').exists():
        fail(f'no README.md in {folder}')
    for document in [folder / 'README.md', *sorted(folder.glob('docs/*.md'))]:
        for link in re.findall(r'\]\(([^)#\s]+)[^)]*\)', document.read_text(encoding='utf-8')):
            if '://' not in link and not (document.parent / link).exists():
                fail(f'{document}: nothing at its link {link}')


def check_files(prefix, debian):
    suffix = '.gz' if debian else ''
    functions = 'vendor-completions' if debian else 'site-functions'  # Debian's zsh looks into the former
    for name in ('bin/cairn', 'share/man/man1/cairn.1' + suffix, 'share/man/man1/cairn-record.1' + suffix,
                 'share/bash-completion/completions/cairn', f'share/zsh/{functions}/_cairn',
                 'share/fish/vendor_completions.d/cairn.fish', 'share/cairn/schemas/cairn-info.schema.json',
                 'share/doc/cairn/LICENSE'):
        if not (prefix / name).exists():
            fail(f'no {prefix / name}')
    check_documents(prefix / 'share/doc/cairn')


def test(arguments, work):
    made = work / 'made'
    run([arguments.cpack, '--config', arguments.build / 'CPackConfig.cmake', '-B', made], cwd=arguments.build)
    [deb] = made.glob('*.deb')
    [archive] = made.glob('*.tar.gz')

    field = {name: run(['dpkg-deb', '-f', deb, name]) for name in ('Depends', 'Recommends')}
    for name, value in field.items():
        if re.search(r'mpi', value):
            fail(f'the package has an MPI in {name}: {value}')

    stanzas, providers = installed()
    # What every Debian has, and an MPI to run programs with.
    wanted = [group[0] for group in alternatives(field['Depends'])] + ['mpich']
    wanted += [name for name, (_, fields) in stanzas.items() if fields.get('Essential') == 'yes']
    packages = closure(wanted, stanzas, providers)
    root = work / 'root'
    fill(root, packages, stanzas)
    run([arguments.mpicc, '-O1', '-g', '-w', arguments.program, '-o', root / 'program'])
    inside = Inside(root)
    for name in COMPILERS:
        if (root / 'usr/bin' / name).exists() or shutil.which(name, path=inside.environment['PATH']) and not inside.entered:
            fail(f'the root has a compiler: {name}')

    dpkg = ['dpkg', f'--root={root}', '--force-not-root', '--force-bad-path', '--log=/dev/null']
    run([*dpkg, '--install', deb])
    check_files(root / 'usr', debian=True)
    if not (root / 'usr/share/doc/cairn/copyright').is_file():
        fail('no copyright')
    print(f'{deb.name}:', record_and_read(inside, '/usr/bin/cairn'))
    run([*dpkg, '--remove', 'cairn'])
    left = [path for path in root.rglob('*cairn*') if path.name != 'run.cairn']
    if left:
        fail(f'removing the package leaves {left}')

    (root / 'opt').mkdir(exist_ok=True)
    run(['tar', 'xf', archive, '-C', root / 'opt'])
    [home] = (root / 'opt').iterdir()
    home = home.rename(root / 'opt/elsewhere')
    check_files(home, debian=False)
    print(f'{archive.name}:', record_and_read(inside, '/opt/elsewhere/bin/cairn'))
    print(f'{len(packages)} packages, ' + ('in a root of their own' if inside.entered else 'outside the root'))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', type=lambda name: pathlib.Path(name).resolve(), required=True)
    parser.add_argument('--cpack', default='cpack')
    parser.add_argument('--mpicc', required=True)
    parser.add_argument('--program', required=True)
    arguments = parser.parse_args()
    if not shutil.which('dpkg-shlibdeps') or not os.path.exists('/var/lib/dpkg/status'):
        print('not a Debian system, or without dpkg-dev')
        sys.exit(77)
    os.environ['PATH'] += ':/usr/sbin:/sbin'  # dpkg looks for ldconfig
    # Beside the build, which lies on the file system of /usr more often than /tmp does: files can be links there.
    with tempfile.TemporaryDirectory(prefix='package.', dir=arguments.build) as folder:
        os.chmod(folder, 0o755)
        test(arguments, pathlib.Path(folder))


if __name__ == '__main__':
    main()
