"""What chooses calls, as the options of `cairn dump` do, from keywords."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cairn.errors import UsageError

#: Texts, as on the command line; a number, or several of either.
TEXTS = ('rank', 'thread', 'step')
LISTS = ('function', 'site', 'peer', 'tag', 'comm', 'result')
OTHERS = {'errors': bool, 'step_at': str, 'time': str, 'start': int, 'limit': int}


def _several(value: Any) -> list[str]:
    if isinstance(value, (str, int)):
        return [str(value)]
    if isinstance(value, Iterable):
        return [str(each) for each in value]
    raise TypeError(f'{value!r} is neither a text, nor a number, nor several of them')


def words(chosen: dict[str, Any], allowed: Iterable[str] | None = None) -> dict[str, Any]:
    """As the C++ side takes them. None chooses nothing. `allowed`: names of filters that this question takes."""
    known = (*TEXTS, *LISTS, *OTHERS)
    taken = known if allowed is None else tuple(allowed)
    found: dict[str, Any] = {}
    for name, value in chosen.items():
        if name not in taken:
            raise TypeError(f'there is no filter {name!r} here; there are {", ".join(taken)}')
        if value is None:
            continue
        if name in OTHERS:
            kind = OTHERS[name]
            if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
                raise TypeError(f'{name}={value!r}: it takes {kind.__name__}')
            if kind is int and value < 0:
                raise UsageError(f'{name}={value}: it is no number from 0 on')
            if kind is int and value >= 2**64:
                raise UsageError(f'{name}={value}: it is beyond 2^64 - 1, the greatest there is')
            found[name] = value
            continue
        texts = _several(value)
        if name in TEXTS and (value == '' or (not isinstance(value, (str, int)) and not texts)):
            raise UsageError(f'{name}={value!r}: it is empty')
        found[name] = ','.join(texts) if name in TEXTS else texts
    return found


#: Of questions about calls as a whole; and about calls one by one.
OF_SUMS = ('rank', 'thread', *LISTS, 'errors')
OF_CALLS = (*TEXTS, *LISTS, *OTHERS)
