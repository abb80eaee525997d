"""The little language of lengths and conditions: text to syntax tree, checked against the function it stands in.

spec/README.md defines it. A tree is nested tuples:
  ('number', n) ('constant', name) ('argument', i) ('dereference', i) ('element', i, tree) ('sum', i, tree)
  ('query', name, i) ('query2', name, i, tree) ('not', a) ('if', c, a, b) (operator, a, b)
with operator one of + - * / == != < <= > >= and or min max; i counts the function's parameters from 0.
"""
import re


class Reject(Exception):
    """What can't be parsed: a message and the column (from 0) in the expression where it went wrong."""

    def __init__(self, column, message):
        super().__init__(message)
        self.column = column


# name -> (kinds its first argument may have, number of arguments). What each gives stands in spec/README.md.
QUERIES = {
    'rank': (('comm',), 1),
    'local_size': (('comm',), 1),
    'peer_size': (('comm',), 1),
    'inter': (('comm',), 1),
    'indegree': (('comm',), 1),
    'outdegree': (('comm',), 1),
    'weighted': (('comm',), 1),
    'cart_ndims': (('comm',), 1),
    'graph_nnodes': (('comm',), 1),
    'graph_nedges': (('comm',), 1),
    'graph_neighbors_count': (('comm',), 2),
    'extent': (('datatype',), 1),
    'envelope_integers': (('datatype',), 1),
    'envelope_addresses': (('datatype',), 1),
    'envelope_large_counts': (('datatype',), 1),
    'envelope_datatypes': (('datatype',), 1),
    'group_rank': (('group',), 1),
    'category_cvars': (('index',), 1),
    'category_pvars': (('index',), 1),
    'category_categories': (('index',), 1),
    'category_events': (('index',), 1),
}

TOKEN = re.compile(r'\s*(?:(\d+)|(\w+)|(==|!=|<=|>=|[-+*/<>(),\[\]]))')
LEVELS = [('or',), ('and',), None, ('==', '!=', '<', '<=', '>', '>='), ('+', '-'), ('*', '/')]
MAX_NUMBER = (1 << 23) - 1


class Scope:
    """What names mean in one function: its parameters, the constants of the standard, and the shared conditions."""

    def __init__(self, parameters, constants, lets):
        self.parameters = {p.name: (i, p) for i, p in enumerate(parameters)}
        self.constants = constants
        self.lets = lets


class Parser:
    def __init__(self, text, scope, expanding=()):
        self.text, self.scope, self.expanding = text, scope, expanding
        self.tokens, position = [], 0
        while text[position:].strip():
            match = TOKEN.match(text, position)
            if not match:
                start = position + len(text[position:]) - len(text[position:].lstrip())
                raise Reject(start, f'unexpected character {text[start]!r}')
            self.tokens.append((match.group(match.lastindex), match.start(match.lastindex), match.lastindex))
            position = match.end()
        self.at = 0

    def whole(self):
        tree = self.binary(0)
        if self.at != len(self.tokens):
            raise Reject(self.column(), f'unexpected {self.peek()!r} after the expression')
        return tree

    def peek(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def column(self):
        return self.tokens[self.at][1] if self.at < len(self.tokens) else len(self.text)

    def take(self, wanted=None):
        token = self.peek()
        if token is None:
            raise Reject(self.column(), f'the expression ends where {wanted or "a value"} is wanted')
        if wanted is not None and token != wanted:
            raise Reject(self.column(), f'{wanted!r} wanted, not {token!r}')
        self.at += 1
        return token

    def binary(self, level):
        if level == len(LEVELS):
            return self.value()
        if LEVELS[level] is None:  # `not` binds weaker than comparisons
            if self.peek() == 'not':
                self.take()
                return ('not', self.number(self.binary(level), self.column()))
            return self.binary(level + 1)
        column = self.column()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            operator = self.take()
            right_column = self.column()
            right = self.binary(level + 1)
            if level == 3:
                self.comparable(operator, left, right, column)
                if self.peek() in LEVELS[level]:
                    raise Reject(self.column(), 'comparisons do not chain')
            else:
                self.number(left, column)
                self.number(right, right_column)
            left = (operator, left, right)
        return left

    def value(self):
        column = self.column()
        token = self.take()
        kind = self.tokens[self.at - 1][2]
        if kind == 1:
            if int(token) > MAX_NUMBER:
                raise Reject(column, f'number above {MAX_NUMBER}')
            return ('number', int(token))
        if token == '(':
            tree = self.binary(0)
            self.take(')')
            return tree
        if token == '*':
            index, parameter = self.parameter(column)
            if not parameter.is_indirect:
                raise Reject(column, f'*{parameter.name}: {parameter.name} is no pointer to a value')
            return ('dereference', index)
        if kind != 2:
            raise Reject(column, f'a value wanted, not {token!r}')
        if self.peek() == '(':
            return self.call(token, column)
        if token == 'NULL':
            return ('number', 0)
        if token.startswith('MPI_'):
            if token not in self.scope.constants:
                raise Reject(column, f'no constant {token}')
            return ('constant', token)
        if token in self.scope.lets and token not in self.scope.parameters:
            if token in self.expanding:
                raise Reject(column, f'{token} is defined by itself')
            try:
                return Parser(self.scope.lets[token], self.scope, self.expanding + (token,)).whole()
            except Reject as inner:
                raise Reject(column, f'in {token}: {inner}') from None
        self.at -= 1
        index, parameter = self.parameter(column)
        if self.peek() == '[':
            if not parameter.is_indirect:
                raise Reject(column, f'{parameter.name} is no array')
            self.take()
            position = self.number(self.binary(0), self.column())
            self.take(']')
            return ('element', index, position)
        return ('argument', index)

    def call(self, name, column):
        self.take('(')
        if name in ('min', 'max'):
            arguments = [self.number(self.binary(0), self.column())]
            while self.peek() == ',':
                self.take()
                arguments.append(self.number(self.binary(0), self.column()))
            self.take(')')
            if len(arguments) != 2:
                raise Reject(column, f'{name} takes two values')
            return (name, *arguments)
        if name == 'if':
            condition = self.number(self.binary(0), column)
            self.take(',')
            first = self.number(self.binary(0), column)
            self.take(',')
            second = self.number(self.binary(0), column)
            self.take(')')
            return ('if', condition, first, second)
        if name != 'sum' and name not in QUERIES:
            raise Reject(column, f'no function {name}')
        at = self.column()
        index, parameter = self.parameter(at)
        if name == 'sum':
            if not parameter.is_indirect:
                raise Reject(at, f'{parameter.name} is no array')
            self.take(',')
            tree = ('sum', index, self.number(self.binary(0), at))
        else:
            kinds, count = QUERIES[name]
            if parameter.kind not in kinds or parameter.is_indirect:
                raise Reject(at, f'{name} wants a {" or ".join(kinds)} passed by value, and {parameter.name} is none')
            tree = ('query', name, index)
            if count == 2:
                self.take(',')
                tree = ('query2', name, index, self.number(self.binary(0), at))
        self.take(')')
        return tree

    def parameter(self, column):
        name = self.take()
        if name not in self.scope.parameters:
            raise Reject(column, f'no parameter {name}')
        return self.scope.parameters[name]

    def is_pointer(self, tree):
        return tree[0] == 'argument' and self.by_index(tree[1]).is_pointer

    def by_index(self, index):
        return next(p for i, p in self.scope.parameters.values() if i == index)

    def number(self, tree, column):
        """A pointer is no number: only comparing it with a constant makes sense."""
        if self.is_pointer(tree):
            raise Reject(column, f'{self.by_index(tree[1]).name} is a pointer: *{self.by_index(tree[1]).name} meant?')
        return tree

    def comparable(self, operator, left, right, column):
        if self.is_pointer(left) or self.is_pointer(right):
            other = right if self.is_pointer(left) else left
            if operator not in ('==', '!=') or other[0] not in ('constant', 'number') or other[0] == 'number' and other[1]:
                raise Reject(column, 'a pointer can only be == or != to a constant or NULL')


def parse(text, scope):
    return Parser(text, scope).whole()


# Bytecode: one int32 an instruction, operation in the low byte, operand above it. Kept in step with spec/expression.h.
OPERATIONS = ['number', 'argument', 'dereference', 'element', 'sum', 'constant', 'query', 'query2', 'add', 'subtract',
              'multiply', 'divide', 'equal', 'unequal', 'less', 'less_equal', 'greater', 'greater_equal', 'minimum',
              'maximum', 'negate', 'jump', 'jump_if_zero', 'and_jump', 'or_jump']
BINARY = {'+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide', '==': 'equal', '!=': 'unequal', '<': 'less',
          '<=': 'less_equal', '>': 'greater', '>=': 'greater_equal', 'min': 'minimum', 'max': 'maximum'}
STACK = 16


def word(operation, operand=0):
    return OPERATIONS.index(operation) | (operand << 8)


def compile_tree(tree, constant_ids):
    """Instructions of a tree. Jumps are relative to the next instruction and only go forward: evaluation ends."""
    kind = tree[0]
    sub = lambda t: compile_tree(t, constant_ids)
    if kind == 'number':
        return [word('number', tree[1])]
    if kind == 'constant':
        return [word('constant', constant_ids[tree[1]])]
    if kind in ('argument', 'dereference'):
        return [word(kind, tree[1])]
    if kind in ('element', 'sum'):
        return sub(tree[2]) + [word(kind, tree[1])]
    if kind == 'query':
        return [word('query', list(QUERIES).index(tree[1]) | tree[2] << 8)]
    if kind == 'query2':
        return sub(tree[3]) + [word('query2', list(QUERIES).index(tree[1]) | tree[2] << 8)]
    if kind == 'not':
        return sub(tree[1]) + [word('negate')]
    if kind in ('and', 'or'):
        right = sub(tree[2])
        return sub(tree[1]) + [word(kind + '_jump', len(right))] + right
    if kind == 'if':
        first, second = sub(tree[2]), sub(tree[3])
        return sub(tree[1]) + [word('jump_if_zero', len(first) + 1)] + first + [word('jump', len(second))] + second
    return sub(tree[1]) + sub(tree[2]) + [word(BINARY[kind])]


def depth(tree):
    """How much stack a tree needs."""
    kind = tree[0]
    if kind in ('number', 'constant', 'argument', 'dereference', 'query'):
        return 1
    if kind in ('element', 'sum', 'query2', 'not'):
        return depth(tree[-1])
    if kind in ('and', 'or'):
        return max(depth(tree[1]), depth(tree[2]))
    if kind == 'if':
        return max(depth(t) for t in tree[1:])
    return max(depth(tree[1]), 1 + depth(tree[2]))


def names(tree):
    """Every query and constant a tree uses."""
    if not isinstance(tree, tuple):
        return set()
    found = {(tree[0], tree[1])} if tree[0] in ('query', 'query2', 'constant') else set()
    for part in tree[1:]:
        found |= names(part)
    return found


def uses(tree):
    """Indices of the parameters that a tree reads, with how: 'argument', 'dereference', 'element', 'sum', 'query'."""
    if not isinstance(tree, tuple):
        return set()
    found = set()
    if tree[0] in ('argument', 'dereference', 'element', 'sum'):
        found.add((tree[0], tree[1]))
    elif tree[0] in ('query', 'query2'):
        found.add((tree[0], tree[2]))
    for part in tree[1:]:
        found |= uses(part)
    return found
