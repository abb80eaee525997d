"""Calls one by one, in the order of a rank, from the compressed trace."""
from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from cairn import _core, columns
from cairn.errors import UsageError

if TYPE_CHECKING:
    import pandas


class Site(NamedTuple):
    """Where a call was made. What nobody knows is None."""

    file: str | None
    line: int | None
    function: str | None
    module: str  #: the program or shared library
    offset: int  #: in it
    text: str  #: as `cairn` prints it, "halo.c:12 in exchange()"

    def __str__(self) -> str:
        return self.text


class Call:
    """One call as one rank made it. Read-only: equal calls share their arguments."""

    __slots__ = ('_own', '_shared')

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self._own, self._shared = parts, parts[8]

    @property
    def rank(self) -> int:
        return self._own[0]

    @property
    def thread(self) -> int:
        return self._own[1]

    @property
    def index(self) -> int:
        """Its place among the calls of its rank, from 0 on."""
        return self._own[2]

    @property
    def step(self) -> int | None:
        """Which turn of the main loop; None unless steps were asked for."""
        return self._own[3]

    @property
    def after_finalize(self) -> bool:
        return self._own[4]

    @property
    def begin_ns(self) -> int | None:
        """When it began, from the beginning of the run; None if the trace has no times of single calls. Likewise below."""
        return self._own[5]

    @property
    def duration_ns(self) -> int | None:
        return self._own[6]

    @property
    def gap_ns(self) -> int | None:
        """How long before it its thread was in no call."""
        return self._own[7]

    @property
    def function(self) -> str:
        return self._shared[0]

    @property
    def depth(self) -> int:
        """In how many other calls of MPI it was made."""
        return self._shared[1]

    @property
    def arguments(self) -> Mapping[str, Any]:
        """By parameter: numbers, texts, lists, and dicts, as `cairn dump --json` has them."""
        return MappingProxyType(self._shared[2])

    @property
    def result(self) -> Any:
        return self._shared[3]

    @property
    def returned(self) -> bool:
        return self._shared[4]

    @property
    def malformed(self) -> bool:
        """It holds what its function cannot have: the trace was made with another table of MPI, or is damaged."""
        return self._shared[5]

    @property
    def site(self) -> Site | None:
        return self._shared[6]

    @property
    def callers(self) -> list[Site]:
        """Outwards from the site, where `record --callsites stack` was asked for."""
        return list(self._shared[7])

    def __getitem__(self, parameter: str) -> Any:
        return self._shared[2][parameter]

    def __str__(self) -> str:
        """As `cairn dump` prints it."""
        return self._shared[8]

    def __repr__(self) -> str:
        return f'<rank {self.rank}, call {self.index}: {self}>'

    def __eq__(self, other: object) -> bool:
        return self._own == other._own if isinstance(other, Call) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


class Calls(Sequence[Call]):
    """Calls of a rank, in order. Nothing is read until it is asked for; any call costs the logarithm of their number, the
    one behind the last that was asked for less. One slice shares the place of reading with the calls that it is of."""

    def __init__(self, run: _core.Run, rank: int, place: _core.Place | None = None, chosen: range | None = None) -> None:
        self._run, self._rank = run, rank
        self._place = place if place is not None else _core.Place(run, rank)
        self._range = chosen

    @property
    def _chosen(self) -> range:
        if self._range is None:
            self._range = range(self._place.count())
        return self._range

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> Calls: ...

    def __getitem__(self, index: int | slice) -> Call | Calls:
        if isinstance(index, slice):
            return Calls(self._run, self._rank, self._place, self._chosen[index])
        at = operator.index(index)
        if self._range is None and at >= 0:  # nobody need count them
            parts = self._place.at(at)
        else:
            try:
                parts = self._place.at(self._chosen[at])
            except IndexError:
                parts = None
        if parts is None:
            raise IndexError(f'rank {self._rank} has {len(self)} calls here, and no call {at}')
        return Call(parts)

    def __iter__(self) -> Iterator[Call]:
        place = _core.Place(self._run, self._rank)  # its own: several loops may go on at once
        for index in self._chosen:
            parts = place.at(index)
            assert parts is not None
            yield Call(parts)

    def at(self, ns: int) -> Call:
        """The first call of the rank that ends at that moment or later. IndexError if there is none, or no times are known."""
        ns = operator.index(ns)
        if ns < 0:
            raise UsageError(f'at({ns}): it is no number from 0 on')
        index = self._place.index_at(ns) if ns < 2**64 else None
        if index is None:
            raise IndexError(f'rank {self._rank} has no call that is known to end at {ns} ns or later')
        parts = self._place.at(index)
        assert parts is not None
        return Call(parts)

    def __repr__(self) -> str:
        return f'<calls of rank {self._rank}>'


class Selection:
    """The calls of a run that filters choose, rank by rank. Each loop over it reads the trace anew, in constant memory."""

    def __init__(self, run: _core.Run, words: dict[str, Any]) -> None:
        self._run, self._words = run, words

    def __iter__(self) -> Iterator[Call]:
        cursor = _core.Cursor(self._run, self._words, False)
        while (parts := cursor.next()) is not None:
            yield Call(parts)

    def frames(self, rows: int = 1_000_000, bytes: bool = False) -> Iterator[pandas.DataFrame]:
        """As data frames of at most so many rows: rank, thread, index, function, site, depth, begin_ns, duration_ns, gap_ns;
        with `bytes` also how many bytes each moves. What is not known is NA."""
        if rows < 1:
            raise ValueError(f'rows={rows}: it must be 1 at least')
        cursor = _core.Cursor(self._run, self._words, bytes)
        while (chunk := cursor.fill(rows)) is not None:
            yield columns.of_calls(chunk, cursor.functions(), cursor.sites())

    def frame(self, bytes: bool = False) -> pandas.DataFrame:
        """All of them in one."""
        cursor = _core.Cursor(self._run, self._words, bytes)
        chunk = cursor.fill(2**62)
        cursor.next()  # there is none; but if times are damaged, this says so
        return columns.of_calls(chunk or {}, cursor.functions(), cursor.sites(), bytes)
