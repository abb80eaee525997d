"""Columns that C++ filled as data frames. Nothing but these needs pandas."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

UNKNOWN = -(2**63)
OF_CALLS = ('rank', 'thread', 'index', 'function', 'site', 'depth', 'begin_ns', 'duration_ns', 'gap_ns')


def whole(values: Any, unknown: int) -> Any:
    """Whole numbers of which some are not known."""
    import pandas

    return pandas.arrays.IntegerArray(values, values == unknown)


def names(codes: Any, of: list[str]) -> Any:
    import numpy
    import pandas

    return pandas.Categorical.from_codes(numpy.where(codes < 0, -1, codes), of)


def of_calls(chunk: dict[str, Any], functions: list[str], sites: list[str], with_bytes: bool = False) -> pandas.DataFrame:
    import numpy
    import pandas

    found: dict[str, Any] = {}
    for name in (*OF_CALLS, *(('bytes',) if with_bytes or 'bytes' in chunk else ())):
        values = chunk.get(name, numpy.empty(0, 'int64'))
        if name in ('function', 'site'):
            found[name] = names(values, functions if name == 'function' else sites)
        else:
            found[name] = whole(values, -1) if name.endswith('_ns') or name == 'bytes' else values
    return pandas.DataFrame(found, copy=False)


def of_table(filled: dict[str, Any]) -> pandas.DataFrame:
    """Of numbers, or of texts: their numbers and what these mean."""
    import pandas

    return pandas.DataFrame({name: names(*values) if isinstance(values, tuple) else whole(values, UNKNOWN)
                             for name, values in filled.items()}, copy=False)
