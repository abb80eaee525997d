"""The table in memory: reads spec/constants.txt and spec/functions/*.txt, checks them, and parses their expressions.

Whatever is wrong ends the program with one line: file:line:column, function, parameter, what.
"""
import pathlib
import re
import sys

import language


class TableError(Exception):
    pass


HANDLES = {'comm': 'MPI_Comm', 'datatype': 'MPI_Datatype', 'errhandler': 'MPI_Errhandler', 'file': 'MPI_File',
           'group': 'MPI_Group', 'info': 'MPI_Info', 'message': 'MPI_Message', 'op': 'MPI_Op', 'request': 'MPI_Request',
           'session': 'MPI_Session', 'window': 'MPI_Win', 'keyval': 'int', 't_enum': 'MPI_T_enum',
           't_cvar_handle': 'MPI_T_cvar_handle', 't_pvar_handle': 'MPI_T_pvar_handle',
           't_pvar_session': 'MPI_T_pvar_session', 't_event_registration': 'MPI_T_event_registration',
           't_event_instance': 'MPI_T_event_instance'}
BUFFERS = ('buf_in', 'buf_out', 'buf_inout', 'callback', 'extra_state', 'pointer', 't_buffer', 't_obj_handle')
ADDRESSES = BUFFERS + ('attribute', 'pointer_out', 'address', 'typemap_displacement', 'rma_displacement')
LAYOUTS = {'status': 'status', 'mode': 'flags', 'assertion': 'flags', 'error': 'error', 'string': 'string',
           'string_array': 'strings', 'wall_time': 'floating', 'timestamp': 'none', 'varargs': 'none', 'comm': 'comm'}
EFFECTS = {'create': 'create', 'create_if': 'create_if', 'lookup': 'lookup', 'release': 'release',
           'complete': 'complete', 'start': 'start', 'commit': 'commit', 'consume': 'consume', 'map': 'map_memory',
           'unmap': 'unmap_memory'}
# The constants a kind's values may be, where a parameter names no other.
DOMAINS = {kind: kind for kind in ('comm', 'datatype', 'errhandler', 'file', 'group', 'info', 'message', 'op',
                                   'request', 'session', 'window', 'keyval', 't_enum', 't_cvar_handle',
                                   't_pvar_handle', 't_pvar_session', 'error', 'mode', 'assertion', 'split_type',
                                   'thread_level', 'lock_type', 'whence')}
DOMAINS['color'] = 'undefined'
ELEMENTS = {'int': 'i32', 'MPI_Fint': 'i32', 'MPI_F08_status': 'i32', 'MPI_T_cb_safety': 'i32',
            'MPI_T_source_order': 'i32', 'MPIX_Grequest_class': 'i32', 'MPI_Aint': 'i64', 'MPI_Count': 'i64',
            'MPI_Offset': 'i64', 'double': 'f64', 'MPI_Status': 'status', 'char': 'character', 'void': 'pointer'}
STATUSES = ('message', 'bytes')  # what a status tells besides errors
BEYOND = {'comm': 'beyond_scope', 'world': 'beyond_world'}
RETURNS = {'int_handle': 'fint', 'fint_handle': 'fint', 'boolean': 'fint', 'wall_time': 'wall_time', 'address': 'aint'}


def layout_of(kind):
    if kind in LAYOUTS:
        return LAYOUTS[kind]
    if kind in HANDLES:
        return 'handle'
    return 'address' if kind in ADDRESSES else 'integer'


class Place:
    def __init__(self, path, line):
        self.path, self.line = path, line

    def fail(self, column, message, function=None, parameter=None):
        where = f'{function}: ' if function else ''
        where += f'{parameter}: ' if parameter else ''
        raise TableError(f'{self.path}:{self.line}:{column + 1}: {where}{message}')


class Domain:
    def __init__(self, name, ctype, index):
        self.name, self.ctype, self.index, self.members = name, ctype, index, []

    @property
    def is_pointer(self):
        return self.ctype.endswith('*') or self.ctype == 'function'

    @property
    def is_of_handles(self):
        return self.ctype != 'int' and self.ctype in HANDLES.values()


class Constant:
    def __init__(self, name, number, domain):
        self.name, self.id, self.domain = name, number, domain

    @property
    def is_null_handle(self):
        return self.domain.is_of_handles and self.domain.members[0] is self


class Parameter:
    """One parameter as the table has it, with what follows from its kind and C type."""

    def __init__(self, name, ctype, kind, direction):
        self.name, self.ctype, self.kind, self.direction = name, ctype, kind, direction
        self.flags, self.effect, self.special = set(), 'none', None
        self.texts = {}  # 'len', 'cap', 'if', 'valid' -> (text, column)
        self.trees = {}
        self.of = None  # (count text, type name, times text)
        self.count_index = self.type_index = self.times_index = None

    def derive(self):
        base = self.ctype.removeprefix('const ')
        stem = re.match(r'\w+|\.\.\.', base).group()
        indirect = base != stem
        if self.kind in BUFFERS or self.kind == 'attribute' and self.direction == 'in':
            self.passing = 'buffer'
        elif self.kind == 'string':
            self.passing = 'string'
        elif self.kind == 'string_array':
            self.passing = 'argv_array' if base in ('char***', 'char**[]') else 'string_array'
        elif indirect:
            self.passing = 'array' if '[' in base or 'len' in self.texts and self.kind != 'pointer_out' else 'pointer'
        else:
            self.passing = 'value'
        self.element = ELEMENTS.get(stem, 'handle' if stem in HANDLES.values() else 'none')
        if stem.startswith('MPI_T_') and self.element == 'handle':
            self.element = 'pointer'  # whatever size the other handles have
        if self.kind in ('attribute', 'pointer_out') or self.passing == 'buffer':
            self.element = 'pointer'
        self.layout = layout_of(self.kind)
        self.is_indirect = self.passing in ('pointer', 'array') and self.element in ('i32', 'i64', 'handle')
        self.is_pointer = self.passing != 'value'
        self.read_before = self.direction == 'inout' and self.passing in ('pointer', 'array', 'argv_array')


class Function:
    def __init__(self, name, number, place):
        self.name, self.id, self.place = name, number, place
        self.ret, self.returns, self.since, self.over = 'int', None, '1.0', None
        self.large = self.collective = self.persistent = False
        self.polls = self.drains = self.status = self.beyond = None  # (text, column) of such an attribute
        self.asked = {}  # of a status(message): 'source', 'tag', 'buffer' -> index of the parameter
        self.removed = self.deprecated = None
        self.also = None  # the name under which libraries had it before it was one of the standard
        self.parameters = []
        self.large_of = None  # the function this is the large-count form of, when both stand in one block

    @property
    def gives_status(self):
        """Which parameter is the status, or the statuses, that it gives; Fortran has it at the same place. None: none."""
        return next((i for i, p in enumerate(self.parameters) if p.kind == 'status' and p.direction == 'out'), None)


class Table:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.domains, self.constants, self.functions, self.lets, self.kinds = {}, {}, {}, {}, []
        self.read_kinds()
        self.read_constants(self.root / 'constants.txt')
        for path in sorted((self.root / 'functions').glob('*.txt')):
            FileReader(self, path).read()
        self.check_ids()
        for function in self.by_id:
            self.resolve(function)

    @property
    def by_id(self):
        return sorted(self.functions.values(), key=lambda f: f.id)

    def inputs(self):
        return [self.root / 'constants.txt', self.root / 'kinds.inc', *sorted((self.root / 'functions').glob('*.txt'))]

    def read_kinds(self):
        text = (self.root / 'kinds.inc').read_text()
        self.kinds = re.findall(r'^CAIRN_KIND\((\w+)\)', text, re.M)

    def read_constants(self, path):
        domain = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            place, text = Place(path, number), line.split('#')[0].rstrip()
            if not text:
                continue
            if match := re.fullmatch(r'domain (\w+) of (\w+\**)', text):
                domain = Domain(match[1], match[2], len(self.domains) + 1)
                if match[1] in self.domains:
                    place.fail(7, f'domain {match[1]} twice')
                self.domains[match[1]] = domain
            elif domain and (match := re.fullmatch(r' += (MPI_\w+)', text)):
                if match[1] not in self.constants:
                    place.fail(match.start(1), f'{match[1]} is introduced by no domain above')
                domain.members.append(self.constants[match[1]])
            elif domain and (match := re.fullmatch(r' *(\d+) (MPI_\w+)', text)):
                if match[2] in self.constants:
                    place.fail(match.start(2), f'{match[2]} twice')
                if domain.is_of_handles and not domain.members and not match[2].endswith('_NULL'):
                    place.fail(match.start(2), f'{match[2]}: the first constant of handles is the null handle')
                constant = Constant(match[2], int(match[1]), domain)
                self.constants[match[2]] = constant
                domain.members.append(constant)
            else:
                place.fail(0, 'neither "domain NAME of TYPE", "ID NAME" nor "= NAME"')

    def check_ids(self):
        for what, entries in (('constant', self.constants), ('function', self.functions)):
            taken = {}
            for entry in entries.values():
                if entry.id in taken:
                    raise TableError(f'{self.root}: {what} id {entry.id} is that of {taken[entry.id]} and {entry.name}')
                taken[entry.id] = entry.name
            missing = sorted(set(range(len(taken))) - set(taken))
            if missing:
                raise TableError(f'{self.root}: no {what} has id {missing[0]}: ids are dense, the next free is '
                                 f'{missing[0]}')

    def resolve(self, function):
        """Derives, then parses every expression of a function."""
        for parameter in function.parameters:
            parameter.derive()
        scope = language.Scope(function.parameters, self.constants, self.lets)
        for parameter in function.parameters:
            if parameter.of:
                self.resolve_of(function, parameter, scope)
            for what, (text, column) in parameter.texts.items():
                parameter.trees[what] = self.parse(function, parameter, text, column, scope)
            self.resolve_domain(function, parameter)
            if 'raw' in parameter.flags and (parameter.layout != 'address' or parameter.passing not in ('value', 'buffer')):
                parameter.place.fail(0, 'raw: one address', function.name, parameter.name)
        names = [p.name for p in function.parameters]
        if function.over not in (None, 'world', 'pair') and function.over not in names:
            function.place.fail(0, f'over({function.over}): no such parameter', function.name)
        self.check_requests(function)
        self.check_status(function)

    def check_requests(self, function):
        """polls(P), drains(P), and that a function which needs one of them has it."""
        def fail(attribute, why):
            text, column = getattr(function, attribute)
            function.place.fail(column, f'{attribute}({text}): {why}', function.name)
        outputs = {p.name: p for p in function.parameters if p.direction == 'out'}
        completing = [p for p in function.parameters if p.effect == 'complete']
        if function.polls:
            answer = outputs.get(function.polls[0])
            if not answer or answer.passing != 'pointer' or answer.layout != 'integer':
                fail('polls', 'no integer that the call gives')
        if function.drains:
            which = outputs.get(function.drains[0])
            if not which or which.kind != 'index':
                fail('drains', 'no index that the call gives')
            if not completing or completing[0].passing != 'array':
                fail('drains', 'no array of requests that the call completes')
            behind = function.parameters[function.parameters.index(completing[0]) + 1:]
            if any(p.direction != 'out' for p in behind):
                fail('drains', 'not all behind the array are outputs')
        for parameter in completing:
            if any(p.kind == 'index' for p in outputs.values()) and not function.drains:
                parameter.place.fail(0, 'which of them completed? needs drains(INDEX)', function.name, parameter.name)
            if 'valid' in parameter.texts and not (function.polls or function.drains):
                parameter.place.fail(0, 'what says whether they completed? needs polls(FLAG)', function.name,
                                     parameter.name)

    def check_status(self, function):
        """status(WHAT): finds the parameters by which the call said what it asks for. beyond(WHAT)."""
        if function.beyond:
            text, column = function.beyond
            if text not in BEYOND or (text == 'comm' and function.over in (None, 'world', 'pair')):
                function.place.fail(column, f'beyond({text}): comm, of over(COMM), or world', function.name)
        if not function.status:
            return
        text, column = function.status
        if text not in STATUSES:
            function.place.fail(column, f'status({text}): one of {", ".join(STATUSES)}', function.name)
        if not any(p.kind == 'status' and p.direction == 'out' or p.kind == 'request' and p.effect == 'create'
                   for p in function.parameters):
            function.place.fail(column, f'status({text}): neither a status nor a new request', function.name)
        if text != 'message':
            return
        ranks = [p for p in function.parameters if p.kind == 'rank']
        wanted = {'source': lambda p: p.domain == 'rank_source' or ranks == [p], 'tag': lambda p: p.domain == 'tag',
                  'buffer': lambda p: p.kind in ('buf_out', 'buf_inout')}
        for what, fits in wanted.items():
            found = [i for i, p in enumerate(function.parameters) if fits(p) and p.passing in ('value', 'buffer')]
            if len(found) > 1:
                function.place.fail(column, f'status({text}): more than one {what}', function.name)
            function.asked[what] = found[0] if found else None

    def parse(self, function, parameter, text, column, scope):
        try:
            tree = language.parse(text, scope)
        except language.Reject as reject:
            parameter.place.fail(column + reject.column, f'{reject} in "{text}"', function.name, parameter.name)
        if language.depth(tree) > language.STACK:
            parameter.place.fail(column, f'"{text}" needs more than {language.STACK} places on the stack',
                                 function.name, parameter.name)
        return tree

    def resolve_of(self, function, parameter, scope):
        """of(count, type[, times]): the elements a choice buffer holds, and so, if count is one number, its bytes."""
        (count, count_column), (kind, kind_column), times = parameter.of
        names = [p.name for p in function.parameters]
        if kind not in names or function.parameters[names.index(kind)].kind != 'datatype':
            parameter.place.fail(kind_column, f'{kind} is no datatype parameter', function.name, parameter.name)
        parameter.type_index = names.index(kind)
        if count in names:
            parameter.count_index = names.index(count)
            if function.parameters[parameter.count_index].is_pointer:
                return
        if function.parameters[parameter.type_index].is_pointer:
            parameter.place.fail(kind_column, 'one count with many types', function.name, parameter.name)
        tree = self.parse(function, parameter, count, count_column, scope)
        if times:
            parameter.times_index = names.index(times[0]) if times[0] in names else None
            tree = ('*', tree, self.parse(function, parameter, *times, scope))
        parameter.trees['len'] = ('*', tree, ('query', 'extent', parameter.type_index))

    def resolve_domain(self, function, parameter):
        default = DOMAINS.get(parameter.kind)
        parameter.domain, parameter.pointer_domain = default, None
        if parameter.special:
            name, column = parameter.special
            if name not in self.domains:
                parameter.place.fail(column, f'no domain {name}', function.name, parameter.name)
            if self.domains[name].is_pointer and parameter.layout != 'address':
                parameter.pointer_domain = name
                parameter.domain = 'status_source' if parameter.kind == 'status' else default
            else:
                parameter.domain = name
        elif parameter.kind == 'status':
            parameter.domain = 'status_source'
        elif parameter.kind == 'enumeration':
            parameter.place.fail(0, 'an enumeration needs special(DOMAIN)', function.name, parameter.name)


class FileReader:
    """One file of functions: blocks of a header line and a line for each parameter, and `let` lines."""
    HEADER = re.compile(r'(?:(int|double|MPI_\w+) )?(MPIX?_\w+) (\d+)(?= |$)')
    PARAMETER = re.compile(r' +((?:const )?(?:\w+(?:\|\w+)?|\.\.\.)[*]*(?:\[\d*\])*) +(\w+) +(\w+) +(inout|in|out)(?= |$)')

    def __init__(self, table, path):
        self.table, self.path, self.block = table, path, []

    def read(self):
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            place, text = Place(self.path, number), line.split('#')[0].rstrip()
            if not text:
                continue
            if text.startswith('let '):
                self.let(place, text)
            elif text.startswith(' '):
                self.parameter(place, text)
            else:
                self.header(place, text)

    def let(self, place, text):
        match = re.fullmatch(r'let (\w+) = (.+)', text)
        if not match:
            place.fail(0, 'not of the form "let NAME = EXPRESSION"')
        if match[1] in self.table.lets:
            place.fail(4, f'{match[1]} is defined twice')
        self.table.lets[match[1]] = match[2]

    def header(self, place, text):
        match = self.HEADER.match(text)
        if not match:
            place.fail(0, 'neither "[TYPE] MPI_Name ID …" nor an indented parameter')
        function = Function(match[2], int(match[3]), place)
        function.ret = match[1] or 'int'
        self.block = [function]
        for word, value, column in attributes(place, text, match.end(), function.name, None):
            if word == 'since':
                function.since = value
            elif word == 'returns':
                function.returns = value
            elif word == 'over':
                function.over, function.collective = value, True
            elif word in ('deprecated', 'removed', 'also') and value is not None:
                setattr(function, word, value)
            elif word in ('polls', 'drains', 'status', 'beyond') and value is not None:
                setattr(function, word, (value, column))
            elif word in ('persistent', 'large') and value is None:
                setattr(function, word, True)
            elif word == 'large' and (form := re.fullmatch(r'(\d+) since (\S+)', value)):
                other = Function(function.name + '_c', int(form[1]), place)
                other.since, other.large, other.large_of = form[2], True, function
                self.block.append(other)
            else:
                place.fail(column, f'unknown attribute {word}', function.name)
        for entry in self.block:
            if entry is not function:
                for name in ('ret', 'returns', 'over', 'collective', 'deprecated', 'removed', 'persistent', 'polls', 'drains',
                             'status', 'beyond'):
                    setattr(entry, name, getattr(function, name))
            if entry.name in self.table.functions:
                place.fail(0, f'{entry.name} twice')
            self.table.functions[entry.name] = entry

    def parameter(self, place, text):
        match = self.PARAMETER.match(text)
        name = self.block[0].name if self.block else None
        if not match or not self.block:
            place.fail(0, 'a parameter reads "  TYPE NAME KIND DIRECTION …"', name)
        if match[3] not in self.table.kinds:
            place.fail(match.start(3), f'no kind {match[3]} in kinds.inc', name, match[2])
        entries = list(attributes(place, text, match.end(), name, match[2]))
        for function in self.block:
            large = function is not self.block[0]
            ctype = re.sub(r'(\w+)\|(\w+)', r'\2' if large else r'\1', match[1])
            parameter = Parameter(match[2], ctype, match[3], match[4])
            parameter.place = place
            for word, value, column in entries:
                if not self.apply(parameter, word, value, column, text):
                    place.fail(column, f'unknown attribute {word}', name, match[2])
            if any(p.name == parameter.name for p in function.parameters):
                place.fail(match.start(2), 'the name stands twice', name, match[2])
            function.parameters.append(parameter)

    @staticmethod
    def apply(parameter, word, value, column, text):
        inside = column + len(word) + 1
        if word in ('len', 'cap', 'if', 'valid') and value is not None:
            parameter.texts[word] = (value, inside)
        elif word == 'of' and value is not None:
            parts, start = [], 0
            for part in split_arguments(value):
                parts.append((part.strip(), inside + start + len(part) - len(part.lstrip())))
                start += len(part) + 1
            if len(parts) not in (2, 3):
                return False
            parameter.of = (parts[0], parts[1], parts[2] if len(parts) == 3 else None)
        elif word == 'special' and value is not None:
            parameter.special = (value, inside)
        elif word in ('null', 'async', 'sums', 'raw') and value is None:
            parameter.flags.add(word)
        elif word in EFFECTS and value is None:
            parameter.effect = EFFECTS[word]
        else:
            return False
        return True


def split_arguments(text):
    """At commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in '([') - (c in ')]')
        if c == ',' and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def attributes(place, text, at, function, parameter):
    """Yields (word, text in its parentheses or None, column) for `word` and `word(…)` from column `at` on."""
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        match = re.compile(r'[a-z_]+').match(text, at)
        if not match:
            place.fail(at, f'unexpected {text[at]!r}', function, parameter)
        start, at, value = at, match.end(), None
        if at < len(text) and text[at] == '(':
            depth, end = 0, at
            while end < len(text):
                depth += (text[end] == '(') - (text[end] == ')')
                if depth == 0:
                    break
                end += 1
            if depth:
                place.fail(at, 'unclosed parenthesis', function, parameter)
            value, at = text[at + 1:end], end + 1
        yield match.group(), value, start


def load(root):
    try:
        return Table(root)
    except TableError as error:
        sys.exit(str(error))
