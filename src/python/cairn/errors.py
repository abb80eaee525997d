"""What goes wrong: what `cairn` would say in its one line, as exceptions."""
from __future__ import annotations


class Error(Exception):
    """Its text is the line that `cairn` prints. `what`, `path`, `offset` (a byte of that file) and `hint` (what to do)
    are its parts; `path` and `hint` are '' and `offset` is None where there are none."""

    def __init__(self, line: str, what: str = '', path: str = '', offset: int | None = None, hint: str = '') -> None:
        super().__init__(line)
        self.what, self.path, self.offset, self.hint = what, path, offset, hint


class UsageError(Error, ValueError):
    """A wrong word, or a question that this trace cannot answer, as of times that it does not have."""


class UnreadableError(Error):
    """A file that is missing, truncated, damaged, no trace, or of a newer version."""


class EnvironmentProblem(Error):
    """A file, tool or permission that is missing."""


KINDS = {'usage': UsageError, 'unreadable': UnreadableError, 'environment': EnvironmentProblem}


def of(line: str, kind: str, what: str, path: str, offset: int | None, hint: str) -> Error:
    """For the C++ side."""
    return KINDS.get(kind, Error)(line, what, path, offset, hint)
