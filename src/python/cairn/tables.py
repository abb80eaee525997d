"""What `cairn`'s verbs tell, as tables that a notebook shows and pandas takes."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from cairn import _core

if TYPE_CHECKING:
    import numpy
    import pandas

#: So many lines are shown in a notebook.
SHOWN = 50


def _shown(value: Any) -> str:
    if value is None:
        return ''
    if isinstance(value, float):
        return f'{value:.4g}'
    if isinstance(value, list):
        return f'{len(value)} …' if len(value) > 8 else ', '.join(map(_shown, value))
    if isinstance(value, dict):
        return ' '.join(_shown(each) for each in value.values() if each is not None)
    return str(value)


class Table(Sequence[dict[str, Any]]):
    """Lines, each a dict with the same keys. What is not known is None. Times are in nanoseconds."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: Any) -> Any:
        return Table(self._lines[index]) if isinstance(index, slice) else self._lines[index]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._lines)

    def __repr__(self) -> str:
        return f'<table of {len(self)} lines: {", ".join(self._lines[0]) if self._lines else ""}>'

    def frame(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame(self._lines)

    def _repr_html_(self) -> str:
        if not self._lines:
            return '<p>nothing</p>'
        head = ''.join(f'<th>{escape(name)}</th>' for name in self._lines[0])
        body = ''.join('<tr>' + ''.join(f'<td>{escape(_shown(value))}</td>' for value in line.values()) + '</tr>'
                       for line in self._lines[:SHOWN])
        more = len(self) - SHOWN
        return (f'<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
                + (f'<p>and {more} more</p>' if more > 0 else ''))


class Loops(Table):
    """Kinds of ranks, each with what these repeat: nested, in `items` and each one's `body`."""

    def frame(self) -> pandas.DataFrame:
        """A row for each loop and call, in order, with the ranks of its kind and how deep it lies in other loops."""
        import pandas

        rows: list[dict[str, Any]] = []

        def add(kind: dict[str, Any], items: list[dict[str, Any]], depth: int) -> None:
            for item in items:
                rows.append({'ranks': kind['ranks'], 'thread': kind['thread'], 'depth': depth, 'function': None,
                             **{name: value for name, value in item.items() if name != 'body'}})
                add(kind, item.get('body', []), depth + 1)

        for kind in self:
            add(kind, kind['items'], 0)
        return pandas.DataFrame(rows)


class Report(dict[str, Any]):
    """What a verb tells by names: numbers, and tables of lines."""

    def __init__(self, found: dict[str, Any]) -> None:
        super().__init__({name: Table(value) if isinstance(value, list) else value for name, value in found.items()})

    def _repr_html_(self) -> str:
        single = {name: value for name, value in self.items() if not isinstance(value, (Table, dict))}
        parts = [Table([{'': name, ' ': value} for name, value in single.items()])._repr_html_()]
        parts += [f'<h4>{escape(name)}</h4>{value._repr_html_()}' for name, value in self.items() if isinstance(value, Table)]
        return ''.join(parts)


class Matrix:
    """Who sent how much to whom."""

    def __init__(self, core: _core.Matrix) -> None:
        self._core = core

    @property
    def ranks(self) -> int:
        return self._core.ranks()

    @property
    def collectives(self) -> Table:
        """Collective operations, which have no single receiver."""
        return Table(self._core.collectives())

    def frame(self) -> pandas.DataFrame:
        """A line for each pair of ranks and kind of message, of each group where pairs are told apart by communicator or
        site: group, from, to, kind, messages, bytes, and of how many messages the size is unknown."""
        import pandas

        cells, groups, kinds = self._core.cells(), self._core.groups(), _core.kinds()
        cells['group'] = pandas.Categorical.from_codes(cells['group'], groups)
        cells['kind'] = pandas.Categorical.from_codes(cells['kind'], kinds)
        return pandas.DataFrame(cells, copy=False)

    def array(self, messages: bool = False, most: int = 4096) -> numpy.ndarray:
        """Bytes, or messages, from each rank (down) to each (across). Where there are more ranks than `most`, each line and
        column is of several neighbours (`ranks_per_line`)."""
        return self._core.blocks(most, messages)[1]

    def ranks_per_line(self, most: int = 4096) -> int:
        return -(-self.ranks // most)

    def _repr_html_(self) -> str:
        return self._core.svg(False)

    def plot(self, ax: Any = None, messages: bool = False, most: int = 512) -> Any:
        """A picture of it, on axes of matplotlib's, which are returned."""
        from cairn import plots

        return plots.matrix(self, ax, messages, most)


class Timeline:
    """How ranks spent a window of time, in columns of equal length."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.axis: str = found['axis']  #: 'measured'; 'estimated' from means; 'calls', each of which takes 1000 ns
        self.begin_ns: int = found['begin_ns']
        self.end_ns: int = found['end_ns']
        self.ranks: list[list[int]] = found['ranks']  #: of each line
        self.doings: list[str] = found['doings']  #: sorts of calls, and what is outside of them
        self.times: numpy.ndarray = found['times']  #: ns by line, column and doing

    def plot(self, ax: Any = None) -> Any:
        """What each line did most, on axes of matplotlib's, which are returned."""
        from cairn import plots

        return plots.timeline(self, ax)
