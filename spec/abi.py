"""abi.cc: the values of all constants, sizes and offsets, as one MPI library has them (spec/abi.h).

A C file with one static initialiser for each fact is compiled, and the object file read. So nothing is run, and a
handle that is the address of a symbol in the library (Open MPI's) becomes the symbol's name: the recorder isn't
linked to MPI. What can't initialise a static object is tried as a variable.
"""
import pathlib
import re
import subprocess
import tempfile

import elf
import library
from tables import write_if_changed

SIZES = {'handle_size': 'sizeof(MPI_Comm)', 'fint_size': 'sizeof(MPI_Fint)', 'aint_size': 'sizeof(MPI_Aint)',
         'count_size': 'sizeof(MPI_Count)', 'offset_size': 'sizeof(MPI_Offset)', 'status_size': 'sizeof(MPI_Status)',
         'status_source': 'offsetof(MPI_Status, MPI_SOURCE)', 'status_tag': 'offsetof(MPI_Status, MPI_TAG)',
         'status_error': 'offsetof(MPI_Status, MPI_ERROR)', 'status_count_low': 'offsetof(MPI_Status, count_lo)',
         'status_count_high': 'offsetof(MPI_Status, count_hi_and_cancelled)',
         'status_count': 'offsetof(MPI_Status, _ucount)', 'status_cancelled': 'offsetof(MPI_Status, _cancelled)',
         'file_size': 'sizeof(MPI_File)'}
# Where mpi.h lacks a constant that the table's lengths need: Open MPI defines this one for Fortran only.
FALLBACK = {'MPI_F_STATUS_SIZE': 'sizeof(MPI_Status) / sizeof(MPI_Fint)'}
# The classic handles that a recorder treats alike: all must have one size.
HANDLE_TYPES = ['MPI_Comm', 'MPI_Datatype', 'MPI_Errhandler', 'MPI_File', 'MPI_Group', 'MPI_Info', 'MPI_Message',
                'MPI_Op', 'MPI_Request', 'MPI_Session', 'MPI_Win']
# MPI_File is a pointer in ROMIO even where all other handles are ints.
PROLOGUE = '#include <mpi.h>\n#include <stddef.h>\n'


def compile_facts(mpi, facts):
    """facts: {symbol: initialiser}. {symbol: (number, symbol of the library or None)}, and {symbol: error}."""
    left, failed = dict(facts), {}
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, 'facts.c'), pathlib.Path(folder, 'facts.o')
        while left:
            order = list(left)
            lines = [f'const void *const {symbol} = (const void *)({left[symbol]});' for symbol in order]
            source.write_text(PROLOGUE + '\n'.join(lines) + '\n')
            done = mpi.run([*library.DEFINES, '-DOMPI_OMIT_MPI1_COMPAT_DECLS=0', '-w', '-c', '-O0', '-g0', '-fno-lto',
                            str(source), '-o', str(target)], allow_failure=True)
            if done.returncode == 0:
                return elf.initial_values(target.read_bytes()), failed
            first, wrong = PROLOGUE.count('\n') + 1, {}
            for match in re.finditer(r'facts\.c[:(](\d+)\)?[:\d]*: (?:fatal )?error: (.*)', done.stderr):
                wrong.setdefault(int(match[1]) - first, match[2])
            wrong = {order[i]: message for i, message in wrong.items() if 0 <= i < len(order)}
            if not wrong:
                raise library.LibraryError(f'{mpi.compiler}: {done.stderr.strip()}')
            for symbol, message in wrong.items():
                failed[symbol] = message
                del left[symbol]
    return {}, failed


def constants_of(mpi, table):
    """{constant id: (form, number, symbol)} of those that exist."""
    constants = {f'c_{c.id}': c for c in table.constants.values()}
    facts = {symbol: c.name for symbol, c in constants.items()}
    values, failed = compile_facts(mpi, facts)
    lacking = {symbol: FALLBACK[facts[symbol]] for symbol in failed if facts[symbol] in FALLBACK}
    values |= compile_facts(mpi, lacking)[0]
    again = {symbol: f'&({facts[symbol]})' for symbol, message in failed.items() if 'constant' in message}
    sizes = {f'{symbol}_size': f'sizeof({facts[symbol]})' for symbol in again}
    variables, _ = compile_facts(mpi, again | sizes)
    found = {}
    for symbol, constant in constants.items():
        if symbol in values:
            number, refers = values[symbol]
            if refers and refers.lstrip('P') not in mpi.exports and refers not in exported_symbols(mpi):
                continue  # declared, but nothing to find at run time
            found[constant.id] = ('address' if refers else 'number', number, refers)
        elif symbol in variables and variables[symbol][1] in exported_symbols(mpi):
            found[constant.id] = ('variable', variables[f'{symbol}_size'][0], variables[symbol][1])
    return found


def exported_symbols(mpi):
    if not hasattr(mpi, 'all_symbols'):
        done = subprocess.run(['nm', '-D', '--defined-only', mpi.path], capture_output=True, text=True)
        mpi.all_symbols = {line.split()[-1].split('@')[0] for line in done.stdout.splitlines() if line.split()}
    return mpi.all_symbols


def facts_of(mpi, handle_types=HANDLE_TYPES):
    values, failed = compile_facts(mpi, {f'f_{name}': text for name, text in SIZES.items()})
    facts = {name: values[f'f_{name}'][0] if f'f_{name}' in values else -1 for name in SIZES}
    sizes, _ = compile_facts(mpi, {f'h_{name}': f'sizeof({name})' for name in handle_types})
    odd = {name.removeprefix('h_'): size[0] for name, size in sizes.items()
           if name.startswith('h_') and size[0] != facts['handle_size']}
    for name, size in odd.items():
        if name != 'MPI_File':
            raise library.LibraryError(f'{mpi.compiler}: sizeof({name}) is {size}, of MPI_Comm {facts["handle_size"]}')
    # An opaque struct pointer can't be added to, an integer can.
    _, failed = compile_facts(mpi, {'p': '((MPI_Comm)0) + (MPI_Comm)0'})
    facts['handles_are_pointers'] = 'p' in failed
    return facts


def write(table, mpi, path):
    found, facts = constants_of(mpi, table), facts_of(mpi)
    rows = [found.get(i, ('absent', 0, None)) for i in range(len(table.constants))]
    names = {c.id: c.name for c in table.constants.values()}
    quote = lambda text: f'"{text}"' if text else 'nullptr'
    fields = ['handle_size', 'fint_size', 'aint_size', 'count_size', 'offset_size', 'status_size', 'status_source',
              'status_tag', 'status_error', 'status_count_low', 'status_count_high', 'status_count',
              'status_cancelled', 'file_size']
    lines = [f'// Generated by spec/generate.py for {mpi.soname}.', '#include "spec/abi.h"', '',
             'namespace cairn::recorder {', '',
             'const AbiConstant abi_constant_form[] = {',
             *(f'    AbiConstant::{form},  // {names[i]}' for i, (form, _, _) in enumerate(rows)), '};', '',
             'const bool abi_has_constant[] = {',
             *(f'    {"false" if form == "absent" else "true"},' for form, _, _ in rows), '};', '',
             'const uint64_t abi_constant[] = {',
             *(f'    0x{number & (1 << 64) - 1:x},' for _, number, _ in rows), '};', '',
             'const char *const abi_constant_symbol[] = {', *(f'    {quote(symbol)},' for _, _, symbol in rows), '};',
             '', 'const char *const function_names[] = {',
             *(f'    {quote(mpi.names[f.name] if f.name in mpi.prototypes else None)},' for f in table.by_id), '};', '',
             'const Abi abi = {', f'    {quote(mpi.soname)},',
             f'    {"true" if facts["handles_are_pointers"] else "false"},',
             *(f'    {facts[name]},  // {name}' for name in fields), '};', '', '}  // namespace cairn::recorder', '']
    write_if_changed(path, '\n'.join(lines))


def write_check(table, mpi, out):
    """For abi_test.cc: abi.cc, and a line for each constant in it, spelt as a C program spells it."""
    write(table, mpi, out / 'abi.cc')
    found = constants_of(mpi, table)
    names = {c.id: c.name for c in table.constants.values()}
    lines = ['// Generated by spec/generate.py.', f'#define SONAME "{mpi.soname}"']
    lines += [f'CONSTANT({i}, {names[i]})' for i in sorted(found) if names[i] not in FALLBACK]
    write_if_changed(out / 'abi_check.inc', '\n'.join(lines) + '\n')
