#!/usr/bin/env python3
"""Runs PnetCDF's own test programs bare and with the layer over PnetCDF, and says where the two differ.

    pnetcdf_tests.py --source FOLDER [--layer LIBRARY] [--codec CODEC] [--layout LAYOUT] [--build FOLDER] [--only REGEX]
                     [--markdown FILE]

--source is the unpacked source of the installed PnetCDF's version; nothing is configured or written there. The programs
of its test folders (C, C++, Fortran 77 and 90) are compiled against the installed library with the wrappers of the MPI it
was built with, into --build (kept; a new temporary folder else). Each runs as its makefiles run it: alone, and on four
ranks where they do so. Verdicts are of the program's status and words:

    pass      status 0, and no failure in what it printed
    fail      anything else; `long` when it took too long
    differs   with the layer: passed, but a file it left has other values (ncmpidiff), or stock tools refuse the file

Without --layer only the bare verdicts are found. Exit status: 0 when no program that passes bare fails or differs with
the layer, 1 otherwise.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

FOLDERS = ['C', 'CXX', 'F90', 'cdf_format', 'header', 'nonblocking', 'testcases', 'nc_test', 'nf_test', 'nf90_test',
           'largefile']
PARALLEL = {'C', 'CXX', 'cdf_format', 'nonblocking', 'testcases'}  # folders whose `make ptest` takes four ranks, too
LANGUAGES = {'.c': 'C', '.cpp': 'C++', '.m4': 'C', '.f': 'F77', '.F': 'F77', '.f90': 'F90', '.F90': 'F90'}
COMPOSITES = {'nc_test': 'nc_test', 'nf_test': 'nf_test', 'nf90_test': 'nf90_test'}
NOT_ALONE = {'error.c', 'util.c', 'tests.h.m4', 'test_get.m4', 'test_put.m4', 'test_iget.m4', 'test_iput.m4',
             'test_read.m4', 'test_write.m4', 'nc_test.c'}  # parts of nc_test
# Not of `make check`: they need a library that tolerates threads, or files of many gigabytes.
LEFT_OUT = {'tst_pthread', 'attrf', 'csnap'}
FOUR_ONLY = re.compile('f90tst_parallel')
# What configure finds out for the C tests.
DEFINES = ['-DHAVE_DECL_MPI_OFFSET', '-DRELAX_COORD_BOUND', '-DHAVE_STRDUP', '-DHAVE_STRCASECMP', '-Dschar=signed char',
           '-Duchar=unsigned char', '-Dlonglong=long long', '-Dulonglong=unsigned long long']
# What configure finds out for the Fortran tests.
FORTRAN_FACTS = {'NF_INT1_T': 'integer*1', 'NF_INT2_T': 'integer*2', 'NF_INT8_T': 'integer*8',
                 'PNF_X_INT8_MIN': '(-9223372036854775807_8 - 1_8)', 'PNF_X_INT8_MAX': '9223372036854775807_8',
                 'PNF_X_UINT_MAX': '4294967295_8', 'configure_input': ''}
FORTRAN = ['-fallow-argument-mismatch', '-w', '-DHAVE_DECL_MPI_OFFSET', '-DHAVE_F77_INT1', '-DHAVE_F77_INT2',
           '-DHAVE_F77_INT8', '-DRELAX_COORD_BOUND']


@dataclasses.dataclass
class Program:
    folder: str
    name: str
    language: str
    binary: pathlib.Path = None
    trouble: str = ''


@dataclasses.dataclass
class Case:
    """One run: the words after the program's own name, with OUT for the folder of its files and SOURCE for its sources."""
    program: Program
    ranks: int
    arguments: list
    before: Program = None

    def name(self):
        extra = [a for a in self.arguments if a.startswith('-') and a != '-d']
        return ' '.join([f'{self.program.folder}/{self.program.name}', *extra])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--source', type=pathlib.Path, required=True)
    parser.add_argument('--layer', type=pathlib.Path)
    parser.add_argument('--codec', default='auto')
    parser.add_argument('--layout', default='dense')
    parser.add_argument('--split')
    parser.add_argument('--build', type=pathlib.Path)
    parser.add_argument('--only', default='', help='folder/program')
    parser.add_argument('--mpi', default='openmpi', help='suffix of mpicc and mpiexec')
    parser.add_argument('--large', action='store_true', help='also the programs of largefile')
    parser.add_argument('--seconds', type=int, default=120)
    parser.add_argument('--markdown', type=pathlib.Path)
    parser.add_argument('--env', action='append', default=[], metavar='NAME=VALUE', help='for every run')
    return parser.parse_args()


class Builder:
    def __init__(self, options, build):
        self.source = options.source / 'test'
        self.m4 = options.source / 'm4'
        self.build = build
        self.mpi = options.mpi
        self.common = build / 'common'
        self.common.mkdir(parents=True, exist_ok=True)
        modules = sorted(pathlib.Path('/usr/lib').glob('*/fortran/gfortran-mod-15/pnetcdf.mod'))
        includes = sorted(pathlib.Path('/usr/include').glob('**/pnetcdf.inc'))
        self.fortran_includes = [f'-I{p.parent}' for p in modules[:1] + includes[:1]]
        # Two headers of PnetCDF's own build; the tests need only these words of them.
        (self.common / 'mpinetcdf_impl.h').write_text('#include <mpi.h>\n#define FORTRAN_API\n#define FORT_CALL\n')
        (self.common / 'mpifnetcdf.h').write_text('')
        self.run([f'mpicc.{self.mpi}', '-O0', '-w', *DEFINES, '-c', self.source / 'common/testutils.c', '-o',
                  self.common / 'testutils.o'])
        self.run([f'mpifort.{self.mpi}', '-O0', *FORTRAN, '-c', self.source / 'common/testutilsf.F90', '-o',
                  self.common / 'testutilsf.o'])

    def run(self, command, output=None):
        with open(output, 'wb') if output else open(os.devnull, 'wb') as sink:
            done = subprocess.run([str(c) for c in command], stdout=sink, stderr=subprocess.PIPE, cwd=self.build)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode(errors='replace').strip()[-1500:])

    def expanded(self, path, folder, suffix):
        if path.suffix != '.m4':
            return path
        written = folder / (path.stem + suffix)
        self.run(['m4', '-DPNETCDF', f'-I{self.m4}', path], written)
        return written

    def sources(self, program):
        """Paths of the program's sources, and the options of the compiler."""
        folder, home = self.build / program.folder, self.source / program.folder
        if program.name == 'nc_test':
            self.run(['m4', '-DPNETCDF', f'-I{self.m4}', home / 'tests.h.m4'], folder / 'tests.h')
            parts = [self.expanded(p, folder, '.c') for p in sorted(home.glob('test_*.m4'))]
            return [home / 'nc_test.c', home / 'error.c', home / 'util.c', *parts]
        suffix = '.F' if program.name == 'nf_test' else '.F90'
        if program.folder in COMPOSITES and program.folder != 'nc_test':
            text = (home / 'tests.inc.in').read_text()
            for name, value in FORTRAN_FACTS.items():
                text = text.replace(f'@{name}@', value)
            (folder / 'tests.inc').write_text(text)
            parts = [self.expanded(p, folder, suffix) for p in sorted(home.glob('*.m4'))]
            return [*sorted(home.glob('*' + suffix)), *parts, home / 'fortlib.c']
        found = next(p for p in sorted(home.iterdir()) if p.stem == program.name and p.suffix in LANGUAGES)
        return [self.expanded(found, folder, '.c')]

    def compile(self, program):
        folder, home = self.build / program.folder, self.source / program.folder
        folder.mkdir(parents=True, exist_ok=True)
        binary = folder / program.name
        if binary.exists():
            return binary
        sources = self.sources(program)
        includes = [f'-I{folder}', f'-I{home}', f'-I{self.source / "common"}', f'-I{self.common}']
        tools = [self.common / 'testutils.o']
        if program.language in ('C', 'C++'):
            compiler = 'mpicc' if program.language == 'C' else 'mpicxx'
            self.run([f'{compiler}.{self.mpi}', '-O0', '-w', *DEFINES, *includes, '-o', binary, *sources, *tools,
                      '-lpnetcdf', '-lm'])
            return binary
        tools.append(self.common / 'testutilsf.o')
        form = []
        if program.folder == 'nf_test':
            form = ['-ffixed-form', '-ffixed-line-length-none']
        elif program.folder == 'nf90_test':
            form = ['-ffree-form', '-ffree-line-length-none']
        objects = []
        for source in sources:
            written = folder / (source.stem + '.o')
            if source.suffix == '.c':
                self.run([f'mpicc.{self.mpi}', '-O0', '-w', '-DF77_NAME_LOWER_USCORE', *includes, '-c', source, '-o', written])
            else:
                self.run([f'mpifort.{self.mpi}', '-O0', *FORTRAN, *form, *includes, *self.fortran_includes, f'-J{folder}',
                          '-c', source, '-o', written])
            objects.append(written)
        self.run([f'mpifort.{self.mpi}', '-o', binary, *objects, *tools, '-lpnetcdf'])
        return binary

    def build_for(self, cases):
        """The programs that these runs need; what went wrong is noted with the program that is tested."""
        for program in {id(p): p for case in cases for p in (case.before, case.program) if p}.values():
            try:
                program.binary = self.compile(program)
            except RuntimeError as error:
                cases[0].program.trouble = str(error)


def programs_in(source, folder):
    home = source / 'test' / folder
    if folder in ('nf_test', 'nf90_test'):
        return [Program(folder, folder, 'F77' if folder == 'nf_test' else 'F90')]
    found = []
    for path in sorted(home.iterdir()):
        if path.suffix in LANGUAGES and path.name not in NOT_ALONE and path.stem not in LEFT_OUT:
            found.append(Program(folder, path.stem, LANGUAGES[path.suffix]))
    if folder == 'nc_test':
        found.append(Program(folder, 'nc_test', 'C'))
    return found


def cases_of(program, programs):
    out = [f'OUT/{program.name}.nc']
    if program.name in COMPOSITES:
        return [Case(program, 1, [*form, '-d', 'OUT']) for form in ([], ['-2'], ['-5'])]
    special = {'test_inq_format': ['SOURCE'], 'tst_open_cdf5': ['SOURCE/bad_begin.nc5'], 'tst_corrupt': ['SOURCE'],
               'mcoll_perf': ['OUT/testfile'], 'tst_io': ['OUT'], 'tst_version': [], 'redef1': ['OUT/testfile.nc']}
    arguments = special.get(program.name, out)
    before = None
    if program.name == 'pres_temp_4D_rd':
        before = next(p for p in programs if p.name == 'pres_temp_4D_wr')
        arguments = ['OUT/pres_temp_4D.nc']
    ranks = [1]
    if program.folder in PARALLEL and program.name not in ('redef1', 'tst_open_cdf5', 'tst_corrupt'):
        ranks = [1, 4]
    if FOUR_ONLY.match(program.name) or program.folder in ('header', 'largefile'):
        ranks = [4]
    return [Case(program, n, arguments, before) for n in ranks]


class Runner:
    def __init__(self, options, sessions):
        self.options = options
        self.env = {n: v for n, v in os.environ.items() if not n.startswith('CAIRN_') and n != 'LD_PRELOAD'}
        self.env.update(OMPI_MCA_mpi_yield_when_idle='1', OMPI_MCA_rmaps_base_oversubscribe='1',
                        OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', LC_ALL='C', PNETCDF_SAFE_MODE='0',
                        OMPI_MCA_orte_tmpdir_base=str(sessions))
        self.env.update(setting.split('=', 1) for setting in options.env)
        self.layer_env = dict(self.env, CAIRN_ARRAYS_CODEC=options.codec, CAIRN_ARRAYS_LAYOUT=options.layout)
        if options.split:
            self.layer_env['CAIRN_ARRAYS_SPLIT'] = options.split

    def command(self, command, folder, env):
        """Status (None: too long) and all that was printed."""
        process = subprocess.Popen([str(c) for c in command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            said, _ = process.communicate(timeout=self.options.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                said, _ = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said, _ = process.communicate()
            return None, said.decode(errors='replace')
        return process.returncode, said.decode(errors='replace')

    def run(self, case, folder, layer):
        """A verdict and what was printed."""
        source = self.options.source / 'test' / case.program.folder
        words = [a.replace('OUT', str(folder)).replace('SOURCE', str(source)) for a in case.arguments]
        preload = ['-x', f'LD_PRELOAD={layer.resolve()}'] if layer else []
        launch = [f'mpiexec.{self.options.mpi}', '-n', case.ranks, *preload]
        env = self.layer_env if layer else self.env
        said = ''
        for name in ('nf_test', 'test_get.F90'):  # what the Fortran tests open to see it refused
            (folder / name).write_text('no file of PnetCDF\n')
        for program in [case.before, case.program]:
            if program is None:
                continue
            status, text = self.command([*launch, program.binary, *words], folder, env)
            said += text
            if status is None:
                return 'long', said
            if status != 0 or re.search(r'\bfail\b|FAIL|mismatches|\bError at line|MPI_ABORT', text):
                return 'fail', said
        return 'pass', said

    def differences(self, bare, layered, layer):
        """What ncmpidiff and stock tools say against the files of the layered run."""
        env = dict(self.layer_env, LD_PRELOAD=str(layer.resolve()))
        found = []
        for path in sorted(bare.iterdir()):
            other = layered / path.name
            if not path.is_file() or not path.read_bytes()[:3] == b'CDF':
                continue
            if not other.exists():
                found.append(f'{path.name} is missing')
                continue
            _, said = self.command(['ncmpidiff', path, other], layered, env)
            # Debian's ncmpidiff has PnetCDF linked in, and so does not see that a file was asked for in CDF-1 or CDF-2.
            lines = [line for line in said.splitlines()
                     if ('DIFF' in line or 'rror' in line) and 'DIFF: file format' not in line]
            same = 'All variables of two files are the same'
            if same not in said and same not in self.command(['ncmpidiff', path, path], layered, self.env)[1]:
                lines = []  # it cannot even compare the plain file with itself (variables of more than 2 GiB)
            elif same not in said and not lines:
                lines = said.splitlines() or ['ncmpidiff says nothing']
            if lines:
                found.append(f'{path.name}: {lines[0]}')
            status, said = self.command(['ncdump', '-h', other], layered, self.env)
            if status != 0:
                found.append(f'{path.name}: ncdump -h: ' + (said.splitlines() or [''])[0])
        return found


def last_words(said):
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith('---')]
    wrong = [line for line in lines if re.search(r'rror|fail|expect|mismatch', line) and 'ORTE_ERROR_LOG' not in line]
    return (wrong or lines[-1:] or ['(nothing)'])[0][:160]


def main():
    options = parse()
    options.source = options.source.resolve()
    top = pathlib.Path(tempfile.mkdtemp(prefix='cairn-pnetcdf-'))
    build = (options.build or top / 'build').resolve()
    builder = Builder(options, build)
    folders = [f for f in FOLDERS if f != 'largefile' or options.large]
    programs = [p for f in folders for p in programs_in(options.source, f)]
    wanted = [p for p in programs if re.search(options.only, f'{p.folder}/{p.name}')]
    runner = Runner(options, top)
    rows, worse, number = [], 0, 0
    for program in wanted:
        cases = cases_of(program, programs)
        builder.build_for(cases)
        if program.trouble:
            rows.append((f'{program.folder}/{program.name}', program.language, '', 'not built', '',
                         program.trouble.splitlines()[-1][:160]))
            print(' | '.join(map(str, rows[-1])), flush=True)
            continue
        for case in cases:
            number += 1
            bare, layered = top / f'{number}-bare', top / f'{number}-layered'
            bare.mkdir()
            verdict, said = runner.run(case, bare, None)
            note = '' if verdict == 'pass' else last_words(said)
            second = ''
            if options.layer:
                layered.mkdir()
                second, said = runner.run(case, layered, options.layer)
                if second != 'pass':
                    note = last_words(said) if verdict == 'pass' else f'{note} // {last_words(said)}'
                elif verdict == 'pass':
                    found = runner.differences(bare, layered, options.layer)
                    if found:
                        second, note = 'differs', '; '.join(found)[:300]
                worse += verdict == 'pass' and second != 'pass'
            rows.append((case.name(), program.language, case.ranks, verdict, second, note))
            print(' | '.join(map(str, rows[-1])), flush=True)
            shutil.rmtree(bare)
            shutil.rmtree(layered, ignore_errors=True)
    shutil.rmtree(top, ignore_errors=True)
    passed = [sum(row[column] == 'pass' for row in rows) for column in (3, 4)]
    total = f'{len(rows)} runs: {passed[0]} pass bare' + (f', {passed[1]} with the layer' if options.layer else '')
    print(total)
    if options.markdown:
        lines = ['| program | language | ranks | bare | layer | words |', '|---|---|---|---|---|---|']
        lines += ['| ' + ' | '.join(str(cell).replace('|', '\\|') for cell in row) + ' |' for row in rows]
        options.markdown.write_text('\n'.join([*lines, '', total, '']))
    return 1 if worse else 0


if __name__ == '__main__':
    sys.exit(main())
