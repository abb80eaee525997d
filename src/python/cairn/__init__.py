"""Traces of parallel programs that `cairn record` made: calls, messages and what `cairn`'s verbs tell of them.

    import cairn
    run = cairn.open('run.cairn')
    print(run.rank(3).calls[1000])

See docs/python.md.
"""
from cairn.calls import Call, Calls, Selection, Site
from cairn.errors import EnvironmentProblem, Error, UnreadableError, UsageError
from cairn.run import Rank, Run, open
from cairn.tables import Matrix, Report, Table, Timeline

__all__ = ['Call', 'Calls', 'EnvironmentProblem', 'Error', 'Matrix', 'Rank', 'Report', 'Run', 'Selection', 'Site', 'Table',
           'Timeline', 'UnreadableError', 'UsageError', 'open']
