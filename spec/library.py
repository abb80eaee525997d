"""One MPI library as its compiler wrapper shows it: what mpi.h declares, what the shared library exports.

Only the wrapper, Python and binutils are used, so that any MPI on ELF works. The program that is linked to find the
library is never run.
"""
import os
import pathlib
import re
import subprocess
import tempfile


class LibraryError(Exception):
    pass


# C++ bindings would drag in a run-time library; neither is wanted.
DEFINES = ['-DMPICH_SKIP_MPICXX', '-DOMPI_SKIP_MPICXX']

# A prototype may differ from the table in these ways: MPI_Fint is int on every platform here, Psend_init's count
# became MPI_Count only in the final text of MPI 4.0, and older headers leave out a const.
SAME_TYPES = {'MPI_Fint': 'int', 'MPI_T_cb_safety': 'int', 'MPI_T_source_order': 'int'}
ALLOWED = {('MPI_Psend_init', 'count'): {'int', 'MPI_Count'}, ('MPI_Precv_init', 'count'): {'int', 'MPI_Count'}}


class Declared:
    """A C parameter type split around its name: `int ranges[][3]` is ('int ', '[][3]')."""

    def __init__(self, before, after=''):
        self.before, self.after = before.strip(), after.replace(' ', '')

    def declare(self, name):
        return f'{self.before}{"" if self.before.endswith("*") else " "}{name}{self.after}'

    @property
    def type(self):
        """As a type without a name; an array parameter is a pointer."""
        if not self.after:
            return self.before
        rest = self.after[self.after.index(']') + 1:]
        return f'{self.before} (*){rest}' if rest else f'{self.before} *'

    @property
    def plain(self):
        """For comparison: without blanks and const."""
        text = re.sub(r'\bconst\b', '', self.type)
        return ''.join(SAME_TYPES.get(word, word) for word in re.findall(r'\w+|[^\w\s]', text))


def from_table(ctype):
    """The table writes types without names: `const int[]`, `int[][3]`, `char**[]`."""
    match = re.fullmatch(r'(.*?)((?:\[\d*\])*)', ctype)
    return Declared(re.sub(r'(\*+)$', r' \1', match[1]), match[2])


class Prototype:
    def __init__(self, ret, parameters, variadic=False):
        self.ret, self.parameters, self.variadic = ret, parameters, variadic


class Library:
    def __init__(self, compiler, table):
        self.compiler, self.table = compiler, table
        self.skipped = []  # (name, why)
        preprocessed = self.preprocess()
        self.header_folder = self.find_header(preprocessed)
        self.macros = self.find_macros()
        self.declared = parse_prototypes(preprocessed)
        self.find_exports()
        self.choose()

    def run(self, arguments, source=None, allow_failure=False):
        environment = dict(os.environ, LC_ALL='C')
        try:
            done = subprocess.run([self.compiler, *arguments], input=source, capture_output=True, text=True,
                                  env=environment, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LibraryError(f'{self.compiler}: {error}') from None
        if done.returncode and not allow_failure:
            said = done.stderr.strip().splitlines() or ['no message']
            why = next((line for line in said if 'error' in line), said[0])
            raise LibraryError(f'{self.compiler} {" ".join(arguments)}: {why}')
        return done

    def preprocess(self):
        return self.run([*DEFINES, '-E', '-x', 'c', '-'], '#include <mpi.h>\n').stdout

    def find_header(self, preprocessed):
        match = re.search(r'^# \d+ "([^"]*/)mpi\.h"', preprocessed, re.M)
        if not match:
            raise LibraryError(f'{self.compiler}: finds no mpi.h')
        return match[1].rstrip('/')

    def find_macros(self):
        """Names of MPI_ macros that take arguments: they must be undefined before a function of that name is defined."""
        text = self.run([*DEFINES, '-E', '-dM', '-x', 'c', '-'], '#include <mpi.h>\n').stdout
        return set(re.findall(r'^#define (P?MPI_\w+)\(', text, re.M))

    @property
    def include_folders(self):
        """Where mpi.h is, and what the wrapper adds, if it can be asked."""
        folders = [self.header_folder]
        shown = self.run(['-show'], allow_failure=True)
        if shown.returncode == 0:
            folders += re.findall(r'-I\s*(\S+)', shown.stdout)
        return list(dict.fromkeys(f for f in folders if pathlib.Path(f).is_dir()))

    def find_exports(self):
        """Links a program and looks at the shared objects that the linker opened."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, 'probe.c')
            source.write_text('#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n')
            trace = self.run([*DEFINES, str(source), '-o', str(pathlib.Path(folder, 'probe')), '-Wl,-t'])
        self.exports, self.soname, self.path = set(), None, None
        for word in re.findall(r'\S+', trace.stdout + trace.stderr):
            path = word.strip('()')
            if not re.search(r'\.so(\.[\d.]+)?$', path) or not pathlib.Path(path).is_file():
                continue
            symbols = exported(path)
            mpi = {s for s in symbols if re.match(r'P?MPIX?_', s)}
            self.exports |= mpi
            if 'MPI_Init' in mpi and self.soname is None:
                self.soname, self.path = soname(path), path
        if self.soname is None:
            raise LibraryError(f'{self.compiler}: links no shared library that exports MPI_Init; a recorder can only be '
                               'preloaded into programs that load MPI as a shared library')

    def choose(self):
        """Which functions get a wrapper, and their prototypes."""
        self.prototypes, self.names, wrong = {}, {}, []  # by the table's names; names: as the library has them
        for function in self.table.by_id:
            name = function.name
            exported_both = name in self.exports and 'P' + name in self.exports
            if name in self.declared:
                problem = contradiction(function, self.declared[name])
                if problem:
                    wrong.append(f'{name}: {problem}')
            self.names[name] = name
            if not exported_both and {function.also, f'P{function.also}'} <= self.exports:
                self.names[name] = function.also
                self.prototypes[name] = prototype_of(function)
                continue
            if not exported_both:
                if name in self.declared or name in self.exports:
                    lacks = [s for s in (name, 'P' + name) if s not in self.exports]
                    self.skipped.append((name, f'declared, but the library does not export {" and ".join(lacks)}'))
                continue
            if name in self.declared:
                self.prototypes[name] = self.declared[name]
            else:
                self.prototypes[name] = prototype_of(function)
                self.skipped.append((name, 'exported, but mpi.h does not declare it: wrapped with the prototype of the '
                                           'table'))
        for name in sorted(self.exports | set(self.declared)):
            if name.startswith('MPI_') and name not in self.table.functions and 'P' + name in self.exports:
                self.skipped.append((name, 'not in the table: not recorded'))
            if name.startswith('MPIX_') and name not in self.names.values():
                self.skipped.append((name, 'not in the table, nor another name of what is: not recorded'))
        if wrong:
            raise LibraryError(f'{self.header_folder}/mpi.h contradicts the table in {self.table.root}: ' +
                               '; '.join(wrong))

    @property
    def functions(self):
        return [f for f in self.table.by_id if f.name in self.prototypes]

    def write_cmake(self, path):
        folders = ';'.join(self.include_folders)
        path.write_text(f'set(soname "{self.soname}")\nset(library "{self.path}")\nset(include_folders "{folders}")\n'
                        f'set(functions {len(self.functions)})\n')


def exported(path):
    done = subprocess.run(['nm', '-D', '--defined-only', path], capture_output=True, text=True)
    return {line.split()[-1].split('@')[0] for line in done.stdout.splitlines() if line.split()}


def soname(path):
    done = subprocess.run(['readelf', '-d', '-W', path], capture_output=True, text=True)
    match = re.search(r'\(SONAME\).*\[(.+)\]', done.stdout)
    return match[1] if match else pathlib.Path(path).name


def strip_attributes(text):
    """Removes __attribute__((…)), with the parentheses counted."""
    out, at = [], 0
    for match in re.finditer(r'__attribute__\s*\(', text):
        if match.start() < at:
            continue
        out.append(text[at:match.start()])
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += (text[at] == '(') - (text[at] == ')')
            at += 1
    return ''.join(out) + text[at:]


PROTOTYPE = re.compile(r'(?:extern\s+)?(?P<ret>[\w\s*]+?[\s*])(?P<name>MPIX?_\w+)\s*\((?P<parameters>.*)\)', re.S)


def parse_prototypes(preprocessed):
    text = re.sub(r'^#.*$', '', preprocessed, flags=re.M)
    found = {}
    for statement in re.split(r'[;{}]', strip_attributes(text)):
        statement = ' '.join(statement.split())
        match = PROTOTYPE.fullmatch(statement)
        if not match or statement.startswith('typedef') or '=' in statement:
            continue
        parts, variadic = [], False
        for part in split_parameters(match['parameters']):
            if part == '...':
                variadic = True
            elif part not in ('void', ''):
                parts.append(parse_parameter(part))
        found[match['name']] = Prototype(match['ret'].strip(), parts, variadic)
    return found


def split_parameters(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == '(') - (c == ')')
        if c == ',' and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def parse_parameter(text):
    text = re.sub(r'\b(__)?restrict(__)?\b', '', text)  # C++ has no such word, and it changes no type
    match = re.fullmatch(r'(?P<before>.*?)(?P<name>\b[A-Za-z_]\w*)?\s*(?P<after>(?:\[[^\]]*\]\s*)*)', text)
    before, name = match['before'], match['name'] or ''
    if not before.strip() or before.strip() in ('const', 'unsigned', 'const unsigned', 'struct'):
        before, name = before + name, ''  # the last word was the type, not a name
    return Declared(before, match['after'])


def prototype_of(function):
    plain = [p for p in function.parameters if p.ctype != '...']
    return Prototype(function.ret, [from_table(p.ctype) for p in plain], len(plain) != len(function.parameters))


def contradiction(function, prototype):
    """What in a declared prototype can't be meant by the table's entry; None if nothing."""
    table = prototype_of(function)
    if table.variadic != prototype.variadic:
        return 'one of the two is variadic'
    if len(table.parameters) != len(prototype.parameters):
        return f'{len(prototype.parameters)} parameters, in the table {len(table.parameters)}'
    if Declared(prototype.ret).plain != Declared(table.ret).plain:
        return f'returns {prototype.ret}, in the table {table.ret}'
    for parameter, ours, theirs in zip(function.parameters, table.parameters, prototype.parameters):
        allowed = ALLOWED.get((function.name, parameter.name), set())
        if ours.plain != theirs.plain and not {ours.plain, theirs.plain} <= allowed:
            return f'{parameter.name} is {theirs.type}, in the table {ours.type}'
    return None
