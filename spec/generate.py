#!/usr/bin/env python3
"""Writes everything that comes from the table of MPI (spec/README.md): `generate.py WHAT --out DIR …`; CMake runs it."""
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import model  # noqa: E402


def main():
    root = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--table', default=root, help='folder of constants.txt and functions/ (default: beside this file)')
    commands = parser.add_subparsers(dest='what', required=True)
    for what, help_text in (('check', 'only read the table and check it'),
                            ('tables', 'spec_tables.cc and spec/ids.h'),
                            ('cases', 'expression_cases.inc, for a test'),
                            ('wrappers', "the recorder's wrappers and facts about one MPI"),
                            ('oracle', "the oracle's loggers for one MPI"),
                            ('invokers', 'calls of the functions of one MPI by number, for a replay'),
                            ('preload', 'the names of all functions that the given MPIs export'),
                            ('abi', 'abi.cc alone and abi_check.inc, for a test'),
                            ('library', 'library.cmake: what CMake must know about one MPI')):
        command = commands.add_parser(what, help=help_text)
        if what != 'check':
            command.add_argument('--out', required=True, type=pathlib.Path, help='folder to write into')
        if what in ('wrappers', 'oracle', 'invokers', 'preload', 'library', 'abi'):
            command.add_argument('--mpi-cc', required=True, action='append' if what == 'preload' else 'store',
                                 help='compiler wrapper of the MPI library')
        if what in ('wrappers', 'oracle', 'invokers'):
            command.add_argument('--parts', type=int, default=4, help='how many source files')
    arguments = parser.parse_args()
    table = model.load(arguments.table)
    if arguments.what == 'check':
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.what in ('tables', 'cases'):
        import cases
        import tables
        (tables if arguments.what == 'tables' else cases).write(table, arguments.out)
        return
    import library
    try:
        if arguments.what == 'preload':
            import preload
            preload.write(table, arguments.mpi_cc, arguments.out)
        else:
            mpi = library.Library(arguments.mpi_cc, table)
            if arguments.what == 'library':
                mpi.write_cmake(arguments.out / 'library.cmake')
            elif arguments.what == 'abi':
                import abi
                abi.write_check(table, mpi, arguments.out)
            elif arguments.what == 'wrappers':
                import wrappers
                wrappers.write(table, mpi, arguments.out, arguments.parts)
            elif arguments.what == 'invokers':
                import invokers
                invokers.write(table, mpi, arguments.out, arguments.parts)
            else:
                import oracle
                oracle.write(table, mpi, arguments.out, arguments.parts)
    except library.LibraryError as error:
        sys.exit(str(error))


if __name__ == '__main__':
    main()
