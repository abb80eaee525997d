"""An open trace."""
from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any

from cairn import _core, columns, filters
from cairn.calls import Calls, Selection
from cairn.tables import Loops, Matrix, Report, Table, Timeline

if TYPE_CHECKING:
    import pandas


class Rank:
    """One rank of a run."""

    def __init__(self, run: _core.Run, rank: int) -> None:
        self.rank = rank
        self.info: dict[str, Any] = run.rank_info(rank)  #: host, complete, losses, wall_ns, mpi_ns, threads
        self.calls = Calls(run, rank)

    def __repr__(self) -> str:
        return f'<rank {self.rank}>'


def _one_of(what: str, word: str | None, words: tuple[str | None, ...]) -> str:
    if word not in words:
        raise TypeError(f'{what}={word!r}: it is one of {", ".join(map(repr, words))}')
    return word or ''


class Run:
    """A trace. What filters there are, and what they mean: docs/python.md. Each question reads what it needs; several
    threads may ask at once."""

    def __init__(self, core: _core.Run) -> None:
        self._core = core
        self._ranks: dict[int, Rank] = {}

    @property
    def info(self) -> dict[str, Any]:
        """What `cairn info` tells: command, mpi, timing, hosts, calls, classes, losses, bytes of sections, …"""
        return self._core.metadata()

    @property
    def ranks(self) -> list[int]:
        return self._core.ranks()

    @property
    def classes(self) -> Table:
        """Ranks whose calls are kept together: ranks, thread, after_finalize, rows (distinct calls), rules (of the grammar)."""
        return Table(self._core.classes())

    @property
    def warnings(self) -> list[str]:
        """What is not as it was when the program ran, as a program that has been compiled anew since."""
        return self._core.warnings()

    def rank(self, rank: int) -> Rank:
        rank = operator.index(rank)
        if rank not in self._ranks:
            if rank not in self.ranks:
                raise IndexError(f'there is no rank {rank} in this trace')
            self._ranks[rank] = Rank(self._core, rank)
        return self._ranks[rank]

    def calls(self, **chosen: Any) -> Selection:
        """Calls one by one, as `cairn dump`."""
        return Selection(self._core, filters.words(chosen, filters.OF_CALLS))

    def messages(self, **chosen: Any) -> pandas.DataFrame:
        """Each message: who sent it and who received it, when, where, how much; as `cairn export --to csv`."""
        return columns.of_table(_core.messages(self._core, filters.words(chosen, (*filters.OF_SUMS, 'time'))))

    def matrix(self, by: str | None = None, expanded: bool = False, **chosen: Any) -> Matrix:
        """Who sent how much to whom, as `cairn matrix`: of all, or `by` 'comm' or 'site'. `expanded`: with the messages that
        collective operations mean."""
        by = _one_of('by', by, (None, 'comm', 'site'))
        return Matrix(_core.Matrix(self._core, filters.words(chosen, filters.OF_SUMS), by, expanded))

    def sizes(self, by: str = 'operation', exact: bool = False, times: bool = False, **chosen: Any) -> Table:
        """How large messages are, as `cairn sizes`: `by` 'operation', 'comm' or 'site', in powers of two unless `exact`."""
        by = _one_of('by', by, ('operation', 'comm', 'site'))
        return Table(_core.sizes(self._core, filters.words(chosen, filters.OF_SUMS), by, exact, times))

    def summary(self, by: str = 'function', **chosen: Any) -> Report:
        """Calls, bytes and times as `cairn summary`; its `lines` are `by` 'function', 'site' or 'rank'."""
        by = _one_of('by', by, ('function', 'site', 'rank'))
        return Report(_core.summary(self._core, filters.words(chosen, (*filters.OF_SUMS, 'limit')), by))

    def loops(self, rank: Any = None) -> Loops:
        """What each kind of rank does again and again, as `cairn loops`: nested, in `items` and each one's `body`."""
        return Loops(_core.loops(self._core, filters.words({'rank': rank})))

    def waits(self, **chosen: Any) -> Report:
        """Who waited for whom, and the critical path, as `cairn waits` and `cairn path`: lines, causes, path, ranks. Filters
        choose whose waiting is told; the path is the run's."""
        return Report(_core.waits(self._core, filters.words(chosen, ('rank', 'function', 'site', 'time'))))

    def efficiency(self) -> dict[str, Any]:
        """As `cairn efficiency`: parallel, load_balance, communication, … of 1."""
        return _core.efficiency(self._core)

    def timeline(self, columns: int = 200, lines: int = 64, rank: Any = None, time: str | None = None) -> Timeline:
        """What ranks did when, as `cairn timeline`."""
        if columns < 1 or lines < 1:
            raise ValueError('a timeline has one column and one line at least')
        return Timeline(_core.timeline(self._core, filters.words({'rank': rank, 'time': time}), columns, lines))

    def __repr__(self) -> str:
        return f'<{self.info["path"]}: {self.info["command"]}, {len(self.ranks)} ranks>'

    def _repr_html_(self) -> str:
        shown = ('path', 'command', 'mpi', 'timing', 'status', 'ranks', 'calls', 'classes')
        found = self.info
        return Table([{name: found[name] for name in shown}])._repr_html_()


def open(path: str | os.PathLike[str]) -> Run:
    """The trace there. Raises UnreadableError where there is none."""
    return Run(_core.open(os.fspath(path)))
