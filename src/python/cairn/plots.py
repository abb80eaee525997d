"""Pictures, on matplotlib's axes. Nothing but these needs matplotlib."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cairn.tables import Matrix, Timeline


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def matrix(of: Matrix, ax: Any, messages: bool, most: int) -> Any:
    import numpy
    from matplotlib.colors import LogNorm

    ax = _axes(ax)
    values = numpy.ma.masked_equal(of.array(messages, most), 0)
    end = of.ranks - 0.5
    some = values.count() != 0
    drawn = ax.imshow(values, norm=LogNorm() if some else None, interpolation='nearest', extent=(-0.5, end, end, -0.5))
    if some:
        ax.figure.colorbar(drawn, ax=ax, label='messages' if messages else 'bytes')
    ax.set(xlabel='to rank', ylabel='from rank')
    return ax


def timeline(of: Timeline, ax: Any) -> Any:
    import numpy
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    ax = _axes(ax)
    most = numpy.ma.masked_array(of.times.argmax(axis=2), of.times.sum(axis=2) == 0)
    colours = colormaps['tab10'].colors[:len(of.doings)]
    ax.imshow(most, aspect='auto', interpolation='nearest', cmap=ListedColormap(colours), vmin=-0.5, vmax=len(of.doings) - 0.5,
              extent=(of.begin_ns * 1e-9, of.end_ns * 1e-9, len(of.ranks) - 0.5, -0.5))
    used = sorted(set(most.compressed().tolist()))
    ax.legend(handles=[Patch(color=colours[i], label=of.doings[i]) for i in used], loc='upper left', bbox_to_anchor=(1, 1))
    ax.set(xlabel={'measured': 's', 'estimated': 's, estimated', 'calls': 'million calls'}[of.axis], ylabel='ranks, by line')
    return ax
