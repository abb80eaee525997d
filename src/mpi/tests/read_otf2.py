#!/usr/bin/env python3
"""Prints an OTF2 archive as JSON, a line an event, with the library's own bindings (Debian: python3-otf2):

    read_otf2.py FOLDER/traces.otf2

Each line: rank, thread, kind, time, and what the event says, with definitions by their names; groups as world ranks.
"""
import json
import sys

import otf2


def members_of(communicator):
    """Ranks in MPI_COMM_WORLD by ranks there; None of MPI_COMM_SELF."""
    group = communicator.group
    if group.group_type == otf2.GroupType.COMM_SELF:
        return None
    return [int(member.group.name.split()[-1]) for member in group.members]


def main():
    known = {}
    with otf2.reader.open(sys.argv[1]) as trace:
        for location, event in trace.events:
            kind = type(event).__name__
            told = {'rank': int(location.group.name.split()[-1]), 'thread': location.name, 'kind': kind, 'time': event.time}
            if hasattr(event, 'region'):
                told.update(region=event.region.name, file=event.region.source_file, line=event.region.begin_line_number,
                            role=str(event.region.region_role).split('.')[-1],
                        paradigm=str(event.region.paradigm).split('.')[-1])
            if getattr(event, 'communicator', None) is not None:
                communicator = event.communicator
                if id(communicator) not in known:
                    known[id(communicator)] = members_of(communicator)
                told.update(communicator=communicator.name, members=known[id(communicator)])
            for name in ('receiver', 'sender', 'msg_tag', 'msg_length', 'request_id', 'root', 'size_sent', 'size_received'):
                if hasattr(event, name):
                    value = getattr(event, name)
                    told[name] = value if isinstance(value, int) else str(value)
            if hasattr(event, 'collective_op'):
                told['op'] = str(event.collective_op).split('.')[-1]
            print(json.dumps(told))


if __name__ == '__main__':
    main()
