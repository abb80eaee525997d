"""What the generator rejects, and what it makes of an MPI library: run by ctest as spec_generator_test."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import abi  # noqa: E402
import fortran  # noqa: E402
import language  # noqa: E402
import library  # noqa: E402
import model  # noqa: E402
import oracle  # noqa: E402
import preload  # noqa: E402

CONSTANTS = '''
domain comm of MPI_Comm
  0 MPI_COMM_NULL
  1 MPI_COMM_WORLD
domain error of int
  2 MPI_SUCCESS
domain buffer of void*
  3 MPI_IN_PLACE
domain status_source of int
  4 MPI_UNDEFINED
domain weights of int*
  5 MPI_UNWEIGHTED
domain datatype of MPI_Datatype
  6 MPI_DATATYPE_NULL
domain compare of int
  = MPI_SUCCESS
'''


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def table(self, functions, constants=CONSTANTS):
        (self.folder / 'functions').mkdir(exist_ok=True)
        (self.folder / 'constants.txt').write_text(textwrap.dedent(constants))
        (self.folder / 'functions' / 'some.txt').write_text(textwrap.dedent(functions))
        shutil.copy(HERE / 'kinds.inc', self.folder)
        return model.Table(self.folder)

    def rejected(self, functions, wanted, constants=CONSTANTS):
        with self.assertRaises(model.TableError) as caught:
            self.table(functions, constants)
        message = str(caught.exception)
        self.assertNotIn('\n', message)
        self.assertEqual(message.replace(f'{self.folder}/', ''), wanted)


class LanguageTest(Folder):
    def length(self, text):
        return f'''\
            MPI_F 0
              MPI_Comm    comm  comm   in
              int         n     count  in
              int*        out   count  out
              const int[] a     weight in    len(n) special(weights)
              const void* buf   buf_in in    special(buffer)
              const int[] other rank   in    len({text})
            '''

    def parsed(self, text):
        return self.table(self.length(text)).functions['MPI_F'].parameters[5].trees['len']

    def rejects(self, text, column, why):
        self.rejected(self.length(text), f'functions/some.txt:7:{38 + column}: MPI_F: other: {why} in "{text}"')

    def test_precedence(self):
        self.assertEqual(self.parsed('n + n * 2'), ('+', ('argument', 1), ('*', ('argument', 1), ('number', 2))))
        self.assertEqual(self.parsed('not n == 1 and n'),
                         ('and', ('not', ('==', ('argument', 1), ('number', 1))), ('argument', 1)))
        self.assertEqual(self.parsed('n or n and n'), ('or', ('argument', 1), ('and', ('argument', 1), ('argument', 1))))
        self.assertEqual(self.parsed('n - n - n'), ('-', ('-', ('argument', 1), ('argument', 1)), ('argument', 1)))
        self.assertEqual(self.parsed('(n + n) * 2'), ('*', ('+', ('argument', 1), ('argument', 1)), ('number', 2)))

    def test_values(self):
        self.assertEqual(self.parsed('*out'), ('dereference', 2))
        self.assertEqual(self.parsed('a[n - 1]'), ('element', 3, ('-', ('argument', 1), ('number', 1))))
        self.assertEqual(self.parsed('sum(a, n)'), ('sum', 3, ('argument', 1)))
        self.assertEqual(self.parsed('peer_size(comm)'), ('query', 'peer_size', 0))
        self.assertEqual(self.parsed('graph_neighbors_count(comm, n)'),
                         ('query2', 'graph_neighbors_count', 0, ('argument', 1)))
        self.assertEqual(self.parsed('if(buf == MPI_IN_PLACE, 0, n)'),
                         ('if', ('==', ('argument', 4), ('constant', 'MPI_IN_PLACE')), ('number', 0), ('argument', 1)))
        self.assertEqual(self.parsed('min(n, max(n, 2))'),
                         ('min', ('argument', 1), ('max', ('argument', 1), ('number', 2))))
        self.assertEqual(self.parsed('out != NULL'), ('!=', ('argument', 2), ('number', 0)))

    def test_rejections(self):
        self.rejects('n +', 3, 'the expression ends where a value is wanted')
        self.rejects('n n', 2, "unexpected 'n' after the expression")
        self.rejects('n ? 1', 2, "unexpected character '?'")
        self.rejects('m', 0, 'no parameter m')
        self.rejects('n + MPI_NONE', 4, 'no constant MPI_NONE')
        self.rejects('size(comm)', 0, 'no function size')
        self.rejects('peer_size(n)', 10, 'peer_size wants a comm passed by value, and n is none')
        self.rejects('*n', 0, '*n: n is no pointer to a value')
        self.rejects('*buf', 0, '*buf: buf is no pointer to a value')
        self.rejects('n[0]', 0, 'n is no array')
        self.rejects('sum(n, 2)', 4, 'n is no array')
        self.rejects('out + 1', 0, 'out is a pointer: *out meant?')
        self.rejects('buf == n', 0, 'a pointer can only be == or != to a constant or NULL')
        self.rejects('buf < MPI_IN_PLACE', 0, 'a pointer can only be == or != to a constant or NULL')
        self.rejects('n == n == n', 7, 'comparisons do not chain')
        self.rejects('min(n)', 0, 'min takes two values')
        self.rejects('if(n, 1)', 7, "',' wanted, not ')'")
        self.rejects('8388608', 0, 'number above 8388607')
        self.rejects('maxprocs|root only', 8, "unexpected character '|'")

    def test_deep(self):
        deep = 'n + (' * 16 + 'n' + ')' * 16
        self.rejected(self.length(deep), f'functions/some.txt:7:38: MPI_F: other: "{deep}" needs more than 16 places on '
                                         'the stack')

    def test_lets(self):
        text = '''\
            let positive = n > 0
            let circle = circle + 1
            MPI_F 0
              int         n     count  in
              const int[] other rank   in    len(if(positive, n, 0))
            '''
        table = self.table(text)
        self.assertEqual(table.functions['MPI_F'].parameters[1].trees['len'][1], ('>', ('argument', 0), ('number', 0)))
        self.rejected(text.replace('if(positive, n, 0)', 'circle'),
                      'functions/some.txt:5:38: MPI_F: other: in circle: circle is defined by itself in "circle"')
        self.rejected(text.replace('int         n    ', 'int         m    '),
                      'functions/some.txt:5:41: MPI_F: other: in positive: no parameter n in "if(positive, n, 0)"')

    def test_straight_text_and_bytecode_are_there_for_every_operator(self):
        function = self.table(self.length('n')).functions['MPI_F']
        for text in ('n / 2', 'not n', 'n <= 2', 'n or 1', 'a[1] - *out'):
            tree = self.parsed(text)
            self.assertTrue(oracle.expression(tree, function))
            self.assertTrue(language.compile_tree(tree, {}))


class TableTest(Folder):
    def test_lines(self):
        self.rejected('MPI_F 0\n  int n nonsense in\n', 'functions/some.txt:2:9: MPI_F: n: no kind nonsense in kinds.inc')
        self.rejected('MPI_F 0\n  int n count inward\n',
                      'functions/some.txt:2:1: MPI_F: a parameter reads "  TYPE NAME KIND DIRECTION …"')
        self.rejected('MPI_F 0\n  int n count in shiny\n', 'functions/some.txt:2:18: MPI_F: n: unknown attribute shiny')
        self.rejected('MPI_F 0\n  int n count in len(2\n', 'functions/some.txt:2:21: MPI_F: n: unclosed parenthesis')
        self.rejected('MPI_F 0\n  int n count in special(no)\n', 'functions/some.txt:2:26: MPI_F: n: no domain no')
        self.rejected('MPI_F 0\n  int n count in\n  int n count in\n',
                      'functions/some.txt:3:7: MPI_F: n: the name stands twice')
        self.rejected('MPI_F 0 over(comm)\n', 'functions/some.txt:1:1: MPI_F: over(comm): no such parameter')
        self.rejected('MPI_F 0 fancy\n', 'functions/some.txt:1:9: MPI_F: unknown attribute fancy')
        self.rejected('let a = 1\n  int n count in\n', 'functions/some.txt:2:1: a parameter reads "  TYPE NAME KIND DIRECTION …"')
        self.rejected('MPI_F 0\n  int* e enumeration out\n',
                      'functions/some.txt:2:1: MPI_F: e: an enumeration needs special(DOMAIN)')
        self.rejected('MPI_F 0\n  const void* b buf_in in of(n, t)\n',
                      'functions/some.txt:2:33: MPI_F: b: t is no datatype parameter')
        self.rejected('F 0\n', 'functions/some.txt:1:1: neither "[TYPE] MPI_Name ID …" nor an indented parameter')

    def test_polls_and_drains(self):
        constants = CONSTANTS + '''domain request of MPI_Request
  7 MPI_REQUEST_NULL
'''
        test = '''\
            MPI_Test 0 polls(flag)
              MPI_Request* request request inout valid(*flag) complete
              int*         flag    boolean out
            '''
        function = self.table(test, constants).functions['MPI_Test']
        self.assertEqual(function.polls, ('flag', 11))

        def rejects(text, wanted):
            self.rejected(text, f'functions/some.txt:{wanted}', constants)
        rejects(test.replace('polls(flag)', 'polls(request)'),
                '1:12: MPI_Test: polls(request): no integer that the call gives')
        rejects(test.replace('polls(flag)', 'polls(found)'),
                '1:12: MPI_Test: polls(found): no integer that the call gives')
        rejects(test.replace(' polls(flag)', ''),
                '2:1: MPI_Test: request: what says whether they completed? needs polls(FLAG)')
        rejects(test.replace('polls(flag)', 'polls'), '1:12: MPI_Test: unknown attribute polls')
        some = '''\
            MPI_Waitany 0 drains(which)
              int           n        array_length in
              MPI_Request[] requests request      inout len(n) complete
              int*          which    index        out   special(status_source)
            '''
        self.assertEqual(self.table(some, constants).functions['MPI_Waitany'].drains, ('which', 14))
        rejects(some.replace('drains(which)', 'drains(n)'), '1:15: MPI_Waitany: drains(n): no index that the call gives')
        rejects(some.replace(' complete', ''),
                '1:15: MPI_Waitany: drains(which): no array of requests that the call completes')
        rejects(some + '  int flavour count in\n',
                '1:15: MPI_Waitany: drains(which): not all behind the array are outputs')
        rejects(some.replace(' drains(which)', ''),
                '3:1: MPI_Waitany: requests: which of them completed? needs drains(INDEX)')

    def test_status_and_members(self):
        constants = CONSTANTS + '''domain rank_source of int
  7 MPI_ANY_SOURCE
domain tag of int
  8 MPI_ANY_TAG
'''
        receive = '''\
            MPI_Sendrecv 0 status(message)
              void*        buf    buf_out  out of(n, type)
              int          n      count    in
              MPI_Datatype type   datatype in
              int          dest   rank     in
              int          source rank     in  special(rank_source)
              int          tag    tag      in  special(tag)
              MPI_Status*  status status   out
            '''
        function = self.table(receive, constants).functions['MPI_Sendrecv']
        self.assertEqual(function.asked, {'source': 4, 'tag': 5, 'buffer': 0})
        self.assertEqual(self.table(receive.replace('int          dest   rank     in\n', 'MPI_Comm     comm   comm     in\n')
                                    .replace('special(rank_source)', ''), constants).functions['MPI_Sendrecv'].asked['source'], 4)

        def rejects(text, wanted):
            self.rejected(text, f'functions/some.txt:{wanted}', constants)
        rejects(receive.replace('message', 'messages'), '1:16: MPI_Sendrecv: status(messages): one of message, bytes')
        rejects(receive.replace('MPI_Status*  status status   out', ''),
                '1:16: MPI_Sendrecv: status(message): neither a status nor a new request')
        rejects(receive.replace('dest   rank     in', 'dest   rank     in  special(rank_source)'),
                '1:16: MPI_Sendrecv: status(message): more than one source')
        rejects('MPI_F 0 beyond(sea)\n', '1:9: MPI_F: beyond(sea): comm, of over(COMM), or world')
        rejects('MPI_F 0 beyond(comm)\n', '1:9: MPI_F: beyond(comm): comm, of over(COMM), or world')

    def test_ids(self):
        self.rejected('MPI_F 0\nMPI_G 0\n', f'{self.folder}: function id 0 is that of MPI_F and MPI_G')
        self.rejected('MPI_F 0\nMPI_G 2\n', f'{self.folder}: no function has id 1: ids are dense, the next free is 1')
        self.rejected('MPI_F 0\nMPI_F 1\n', 'functions/some.txt:2:1: MPI_F twice')
        self.rejected('', f'{self.folder}: constant id 0 is that of MPI_A and MPI_B',
                      'domain a of int\n 0 MPI_A\n 0 MPI_B\n')
        self.rejected('', 'constants.txt:2:4: MPI_COMM_SELF: the first constant of handles is the null handle',
                      'domain comm of MPI_Comm\n 0 MPI_COMM_SELF\n')
        self.rejected('', 'constants.txt:2:4: MPI_A is introduced by no domain above', 'domain a of int\n = MPI_A\n')
        self.rejected('', 'constants.txt:1:1: neither "domain NAME of TYPE", "ID NAME" nor "= NAME"', ' 0 MPI_A\n')

    def test_large_form_takes_the_second_type(self):
        table = self.table('MPI_F 1 large(0 since 4.0)\n  const int|MPI_Count[] n count in len(2)\n')
        self.assertEqual(table.functions['MPI_F'].parameters[0].ctype, 'const int[]')
        self.assertEqual(table.functions['MPI_F_c'].parameters[0].ctype, 'const MPI_Count[]')
        self.assertEqual(table.functions['MPI_F_c'].id, 0)

    def test_program_says_one_line_and_fails(self):
        self.table('MPI_F 0\n')
        (self.folder / 'functions' / 'some.txt').write_text('MPI_F 0\n  int n count in len(\n')
        done = subprocess.run([sys.executable, '-B', HERE / 'generate.py', '--table', self.folder, 'check'],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count('\n'), 1)
        self.assertIn('some.txt:2:21: MPI_F: n: unclosed parenthesis', done.stderr)


HEADER = '''
typedef int MPI_Comm;
typedef struct object *MPI_Datatype;
typedef long MPI_Count;
typedef long MPI_Aint;
typedef long MPI_Offset;
typedef int MPI_Fint;
typedef struct { int MPI_SOURCE, MPI_TAG, MPI_ERROR; } MPI_Status;
#define MPI_COMM_WORLD ((MPI_Comm)0x84000000)
#define MPI_SUCCESS 0
enum { MPI_UNDEFINED = -32766 };
extern struct object the_null;
extern int *const MPI_UNWEIGHTED;
#define MPI_DATATYPE_NULL ((MPI_Datatype)&the_null)
#define MPI_IN_PLACE ((void *)-1)
int MPI_Init(int *argc, char ***argv);
int MPI_Declared_only(void) __attribute__((deprecated("use (another)")));
int MPI_Ranges(int n, int ranges[][3], const int *restrict a, MPI_Count *) __attribute__((pure));
#define MPI_Ranges(a, b, c, d) MPI_Ranges(a, b, c, d)
int MPI_Control(const int level, ...);
'''
SOURCE = '''
#include <mpi.h>
#undef MPI_Ranges
struct object { int i; } the_null;
static int unweighted;
int *const MPI_UNWEIGHTED = &unweighted;
#define BOTH(ret, name, arguments) ret name arguments { return 0; } ret P##name arguments { return 0; }
BOTH(int, MPI_Init, (int *argc, char ***argv))
BOTH(int, MPI_Ranges, (int n, int ranges[][3], const int *a, MPI_Count *b))
BOTH(int, MPI_Control, (const int level, ...))
BOTH(int, MPI_Removed, (int n))
BOTH(int, MPI_Extra, (int n))
BOTH(int, MPIX_Early, (int n))
BOTH(int, MPIX_Other, (int n))
'''
FUNCTIONS = '''\
MPI_Control 0
  const int level level in
  ... rest varargs in
MPI_Declared_only 1
MPI_Init 2
  int* argc array_length inout null
  char*** argv string_array inout len(2) null
MPI_Ranges 3
  int n count in
  int[][3] ranges rank_range in len(n * 3)
  const int[] a count in len(n)
  MPI_Count* size size out
MPI_Removed 4 removed(3.0)
  int n count in
MPI_Absent 5
MPI_Early 6 also(MPIX_Early)
  int n count in
MPI_Init_early 7 also(MPIX_Absent)
'''


@unittest.skipUnless(shutil.which('cc'), 'needs a C compiler')
class LibraryTest(Folder):
    """An MPI made up for the purpose, with a compiler wrapper in front."""

    @classmethod
    def setUpClass(cls):
        cls.mpi = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.mpi)
        (cls.mpi / 'mpi.h').write_text(HEADER)
        (cls.mpi / 'mpi.c').write_text(SOURCE)
        subprocess.run(['cc', '-w', '-shared', '-fPIC', '-I', cls.mpi, cls.mpi / 'mpi.c', '-o', cls.mpi / 'libtiny.so',
                        '-Wl,-soname,libtiny.so.3'], check=True)

    def setUp(self):
        super().setUp()
        self.wrapper = self.compiler(self.mpi, '-ltiny')

    def compiler(self, include, link):
        wrapper = self.folder / 'mpicc.tiny'
        wrapper.write_text('#!/bin/sh\n[ "$1" = -show ] && exit 1\n'
                           f'exec cc -I{include} "$@" -L{self.mpi} {link}\n')
        os.chmod(wrapper, 0o755)
        return str(wrapper)

    def test_what_is_wrapped(self):
        mpi = library.Library(self.wrapper, self.table(FUNCTIONS))
        self.assertEqual(mpi.soname, 'libtiny.so.3')
        self.assertEqual([f.name for f in mpi.functions], ['MPI_Control', 'MPI_Init', 'MPI_Ranges', 'MPI_Removed',
                                                           'MPI_Early'])
        self.assertEqual(mpi.names['MPI_Early'], 'MPIX_Early')
        self.assertEqual(mpi.include_folders, [str(self.mpi)])
        why = dict(mpi.skipped)
        self.assertIn('does not export MPI_Declared_only and PMPI_Declared_only', why['MPI_Declared_only'])
        self.assertIn('prototype of the table', why['MPI_Removed'])
        self.assertIn('not in the table', why['MPI_Extra'])
        self.assertIn('not recorded', why['MPIX_Other'])
        self.assertNotIn('MPIX_Early', why)
        self.assertNotIn('MPI_Absent', why)
        self.assertIn('MPI_Ranges', mpi.macros)
        self.assertTrue(mpi.prototypes['MPI_Control'].variadic)
        ranges = mpi.prototypes['MPI_Ranges'].parameters
        self.assertEqual(ranges[1].declare('r'), 'int r[][3]')
        self.assertEqual([d.type for d in ranges], ['int', 'int (*)[3]', 'const int *', 'MPI_Count *'])

    def test_contradictions(self):
        for ours, theirs, wanted in (
                ('  MPI_Count* size size out', '  int* size size out', 'MPI_Ranges: size is MPI_Count *, in the table int *'),
                ('  MPI_Count* size size out\n', '', 'MPI_Ranges: 4 parameters, in the table 3'),
                ('MPI_Declared_only 1', 'MPI_Comm MPI_Declared_only 1 returns(comm)',
                 'MPI_Declared_only: returns int, in the table MPI_Comm'),
                ('  ... rest varargs in\n', '', 'MPI_Control: one of the two is variadic')):
            with self.assertRaises(library.LibraryError) as caught:
                library.Library(self.wrapper, self.table(FUNCTIONS.replace(ours, theirs)))
            self.assertIn(wanted, str(caught.exception))
            self.assertNotIn('\n', str(caught.exception))

    def test_fint_is_int(self):
        library.Library(self.wrapper, self.table(FUNCTIONS.replace('  int n count in\nMPI_Absent',
                                                                   '  MPI_Fint n count in\nMPI_Absent')))

    def test_no_shared_library(self):
        with self.assertRaisesRegex(library.LibraryError, 'links no shared library that exports MPI_Init'):
            library.Library(self.compiler(self.mpi, '-Wl,--unresolved-symbols=ignore-all'), self.table(FUNCTIONS))

    def test_no_header(self):
        with self.assertRaisesRegex(library.LibraryError, r'^[^\n]*mpi\.h[^\n]*$'):
            library.Library(self.compiler('/nowhere', '-ltiny'), self.table(FUNCTIONS))

    def test_constants(self):
        table = self.table(FUNCTIONS)
        found = abi.constants_of(library.Library(self.wrapper, table), table)
        by_name = {c.name: found.get(c.id) for c in table.constants.values()}
        self.assertEqual(by_name, {'MPI_COMM_NULL': None, 'MPI_COMM_WORLD': ('number', 0x84000000 - (1 << 32), None),
                                   'MPI_SUCCESS': ('number', 0, None), 'MPI_IN_PLACE': ('number', -1, None),
                                   'MPI_UNDEFINED': ('number', -32766, None),
                                   'MPI_UNWEIGHTED': ('variable', 8, 'MPI_UNWEIGHTED'),
                                   'MPI_DATATYPE_NULL': ('address', 0, 'the_null')})

    def test_facts(self):
        facts = abi.facts_of(library.Library(self.wrapper, self.table(FUNCTIONS)), ('MPI_Comm',))
        self.assertEqual((facts['handle_size'], facts['handles_are_pointers']), (4, False))
        self.assertEqual((facts['status_size'], facts['status_tag'], facts['status_count']), (12, 4, -1))
        with self.assertRaisesRegex(library.LibraryError, r'sizeof\(MPI_Datatype\) is 8, of MPI_Comm 4'):
            abi.facts_of(library.Library(self.wrapper, self.table(FUNCTIONS)), ('MPI_Comm', 'MPI_Datatype'))

    def test_every_wrapper_compiles(self):
        table = self.table(FUNCTIONS)
        mpi = library.Library(self.wrapper, table)
        import wrappers
        lines = wrappers.undefine(mpi, mpi.functions)
        for function in mpi.functions:
            lines += wrappers.wrapper(function, mpi.prototypes[function.name], mpi.names[function.name])
        text = '\n'.join(lines)
        self.assertIn('#undef MPI_Ranges', text)
        self.assertIn('int MPI_Control(const int level_, ...) {', text)
        self.assertIn('reinterpret_cast<Call>(real_function[function_id::Control])(level_);', text)
        self.assertIn('frame->argument[1] = word(ranges_);', text)
        self.assertIn('int MPIX_Early(int n_) {', text)
        self.assertIn('enter(function_id::Early,', text)


class RealTableTest(unittest.TestCase):
    def test_installed_libraries_are_covered(self):
        """Everything that an installed MPI exports under both names gets a wrapper."""
        table = model.Table(HERE)
        for compiler in ('mpicc.mpich', 'mpicc.openmpi'):
            if shutil.which(compiler):
                mpi = library.Library(compiler, table)
                pairs = {name for name in mpi.exports if name.startswith('MPI') and 'P' + name in mpi.exports}
                self.assertEqual(pairs, {mpi.names[name] for name in mpi.prototypes}, compiler)
                self.assertGreater(len(pairs), 400)

    def test_installed_fortran_bindings_are_covered(self):
        """Every entry leads to the recorder, or there is a reason why it does not."""
        table = model.Table(HERE)
        for compiler in ('mpicc.mpich', 'mpicc.openmpi'):
            if not shutil.which(compiler):
                continue
            paths, covered, others = fortran.coverage(table, library.Library(compiler, table))
            if paths:
                self.assertGreater(covered, 3000)
                self.assertEqual([name for name, why in others if why is None], [])

    def test_fortran_names(self):
        table = model.Table(HERE)
        names = {f.name: preload.fortran_names(f) for f in table.by_id}
        self.assertEqual(names['MPI_Init'], ['mpi_init_', 'mpi_init__', 'MPI_INIT', 'mpi_init', 'pmpi_init_', 'pmpi_init__',
                                             'PMPI_INIT', 'pmpi_init', 'mpi_init_f08_', 'pmpi_init_f08_', 'pmpir_init_f08_'])
        self.assertEqual(set(names['MPI_Send']) - {name.replace('init', 'send').replace('INIT', 'SEND') for name in
                                                   names['MPI_Init']},
                         {'mpi_send_f08ts_', 'pmpi_send_f08ts_', 'pmpir_send_f08ts_'})
        self.assertIn('pmpir_send_f08ts_large_', names['MPI_Send_c'])
        self.assertNotIn('mpi_send_c_', names['MPI_Send_c'])
        self.assertIn('mpi_alloc_mem_cptr_', names['MPI_Alloc_mem'])
        self.assertIn('mpix_barrier_init_f08_', names['MPI_Barrier_init'])
        self.assertEqual(names['MPI_Comm_f2c'], [])
        self.assertEqual(names['MPI_T_init_thread'], [])

    def test_counts(self):
        table = model.Table(HERE)
        self.assertEqual(len(table.functions), 714)
        self.assertEqual(sum(len(f.parameters) for f in table.functions.values()), 3216)

    def test_every_domain_and_kind_is_used(self):
        table = model.Table(HERE)
        used = {d for f in table.functions.values() for p in f.parameters for d in (p.domain, p.pointer_domain)}
        # These hold constants for lengths and printing only.
        self.assertEqual(set(table.domains) - used, {'limits', 'attribute_value'})
        kinds = {p.kind for f in table.functions.values() for p in f.parameters}
        self.assertEqual(set(table.kinds) - kinds, {'wall_time'})

    def test_header_is_in_step(self):
        """expression.h numbers queries and operations like language.py."""
        text = (HERE / 'expression.h').read_text()
        for enum, names in (('Query', list(language.QUERIES)), ('Operation', language.OPERATIONS)):
            body = text.split(f'enum class {enum} : uint8_t {{')[1].split('};')[0]
            lines = [line.split('//')[0] for line in body.splitlines()]
            self.assertEqual([n.strip() for n in ','.join(lines).split(',') if n.strip()], names)


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    unittest.main()
