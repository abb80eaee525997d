"""The Fortran libraries of an MPI: which of their entries lead to the recorder (preload.py), and why the others do not.

An entry is covered if it has a trampoline and reaches the C function of its name, by MPI_ or PMPI_, or what the recorder
wraps in its place (src/mpi/call/fortran_attributes.cc, fortran_calls.cc). What an entry reaches is read from its machine
code, so that nothing is run; only where objdump reads x86-64.
"""
import collections
import pathlib
import platform
import re
import shutil
import subprocess

import library
import preload

# Where each library is: what the compiler wrapper links a Fortran program to.
NAMES = re.compile(r'lib(mpichfort|mpifort|fmpich|mpi_mpifh|mpi_usempif08|mpi_usempi|mpi_usempi_ignore_tkr)\.so')
REASONS = [  # (which names, why they are no calls of the program that could be recorded)
    (r'P?MPIX?_[A-Z][a-z]\w*_f(08)?', 'a name for BIND(C) that no module of Open MPI uses'),
    (r'P?MPI_Status_(c2f08|f082c)', 'a C function: copies a status from one form into another'),
    (r'(?i)p?mpi_sizeof_\w+', 'the size of a variable, which MPI is not asked for'),
    (r'(?i)p?mpir?_f_sync_reg\w*', 'does nothing but hold the compiler back'),
    (r'(?i)(p?mpi_)?(comm_|type_|win_)?(dup|null_copy|null_delete)_fn_?_?', 'called by MPI'),
    (r'(?i)(p?mpi_)?conversion_fn_null_?_?', 'called by MPI'),
    (r'(?i)p?mpir?_status_(c2f|f2c|f082f|f2f08|f082c|c2f08)\w*', 'copies a status from one form into another'),
    (r'(?i)p?mpixr?_\w+', 'not in the table'),
    (r'__\w+_MOD_\w+', 'within a module'),
    (r'(p?ompix?_|opal_|MPIR_|MPII_|MPIDU?_|MPI_F_|mpirinit|mpifcmb|mpipriv|mpiext_)\w*', 'within the binding'),
    (r'mpi_fortran_\w+', 'a constant'),
]
WRAPPED = pathlib.Path(__file__).resolve().parent.parent / 'src/mpi/call/fortran_calls.cc'


def wrapped_functions():
    """Those that the recorder wraps by hand under Open MPI."""
    listed = re.search(r'kWrapped\[\] = \{(.*?)\};', WRAPPED.read_text(), re.S)[1]
    return {f'MPI_{name}' for name in re.findall(r'fn::(\w+)', listed)}


def libraries(mpi_cc):
    """Paths of the Fortran libraries that belong to a C compiler wrapper; none without its Fortran compiler wrapper."""
    compiler = shutil.which(re.sub(r'mpicc(?=[^/]*$)', 'mpifort', shutil.which(mpi_cc) or mpi_cc))
    if not compiler:
        return []
    shown = subprocess.run([compiler, '-show'], capture_output=True, text=True).stdout
    found = []
    for name in re.findall(r'-l(\S+)', shown):
        path = subprocess.run([compiler, f'-print-file-name=lib{name}.so'], capture_output=True, text=True).stdout.strip()
        if NAMES.match(pathlib.Path(path).name) and pathlib.Path(path).is_file():
            found.append(path)
    return found


class Code:
    """Which functions call which, in some libraries taken together."""

    def __init__(self, paths):
        self.calls, self.same = collections.defaultdict(set), {}
        for path in paths:
            self.read(path)

    def read(self, path):
        addresses, here = {}, None
        text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', path], capture_output=True, text=True).stdout
        for line in text.splitlines():
            if match := re.match(r'([0-9a-f]+) <(.+)>:$', line):
                here = addresses[int(match[1], 16)] = match[2]
            elif match := re.search(r'\b(?:call|jmp|j[a-z]+)\s+(?:\*0x\w+\(%rip\)\s+#\s*)?[0-9a-f]+ <([^>+]+)', line):
                self.calls[here].add(match[1].split('@')[0])
        for line in subprocess.run(['nm', '-D', '--defined-only', path], capture_output=True, text=True).stdout.splitlines():
            address, kind, name = line.split()
            if kind in 'TW':
                self.same.setdefault(name.split('@')[0], addresses.get(int(address, 16)))

    def reaches(self, name):
        """What of C the function calls, and what of the binding on the way."""
        seen, left = set(), [name]
        while left:
            at = left.pop()
            if at in seen:
                continue
            seen.add(at)
            if re.match(r'P?MPI_[A-Z][a-z]|MPII_', at) and not at.endswith(('_f', '_f08')):
                continue
            left += [self.same.get(at) or at, *self.calls[at]]
        return seen


def report(table, mpi):
    """Lines for skipped.txt."""
    paths, covered, others = coverage(table, mpi)
    if not paths:
        return []
    names = ', '.join(pathlib.Path(path).name for path in paths)
    return ['', f'{covered} entries of {names} are recorded.', '',
            *(f'{name}: {why or "its code calls no C function of that name: not recorded"}' for name, why in others)]


def coverage(table, mpi):
    """([path], number of entries that are covered, [(name, why not)]). why is None where there is no reason."""
    paths = libraries(mpi.compiler)
    readable = platform.machine() == 'x86_64' and shutil.which('objdump')
    entries = {name: f.name for f in table.by_id for name in preload.fortran_names(f)}
    by_hand, code = wrapped_functions(), Code(paths if readable else [])
    covered, others = 0, []
    for name in sorted(set().union(*map(library.exported, paths)) if paths else ()):
        function = entries.get(name)
        if function and function not in mpi.prototypes:
            others.append((name, 'this MPI has no C function of that name'))
        elif function:
            reached = code.reaches(name)
            also = table.functions[function].also
            answers = {function, f'P{function}', also, f'P{also}'} & reached
            attribute = any(of in reached for of in preload.ATTRIBUTE_FUNCTIONS)
            if answers or attribute or function in by_hand or not readable:
                covered += 1
            else:
                others.append((name, None))
        else:
            others.append((name, next((why for pattern, why in REASONS if re.fullmatch(pattern, name)), None)))
    return paths, covered, others
