"""What bench/compression.py measures: programs, ranks, and the figures to compare with.

The figures of Pilgrim are bytes of its trace (a tracer that keeps the same arguments: Wang, Balaji, Snir, IEEE TPDS 2022),
measured on a machine of the same class with the same NPB 3.4 and with programs of the same description as ours. A goal is
what a Cairn trace of the same run may take.
"""

import dataclasses
import pathlib


@dataclasses.dataclass
class Case:
    table: str
    name: str
    ranks: int
    program: str  # a file of bench/ without .c, or the path of a program
    arguments: tuple = ()
    steps: int = 0
    pilgrim: int | None = None
    goal: int | None = None
    success: str = ""  # what a valid run prints
    inputs: tuple = ()  # files that it reads from its folder
    long: bool = False
    seconds: int = 300
    note: str = ""
    timed: bool = False  # --cost measures it: few enough ranks for the machine, and long enough

    @property
    def key(self):
        return f"{self.table}/{self.name}/{self.ranks}/{self.steps}"


NAS_PILGRIM = {
    4: {"CG": 3064, "MG": 11200, "LU": 5680, "IS": 7098, "EP": 740, "FT": 1166, "BT": 9324, "SP": 7430},
    16: {"CG": 6886, "MG": 16440, "LU": 9574, "IS": 21956, "EP": 788, "FT": 1214, "BT": 58540, "SP": 19404},
}
# A third of Pilgrim on 4 ranks, where that is possible at all, and a sixth on 16 for those that grow there.
NAS_GOAL = {
    4: {name: 600 if name == "EP" else 800 if name == "FT" else size // 3 for name, size in NAS_PILGRIM[4].items()},
    16: {name: size // 6 for name, size in NAS_PILGRIM[16].items() if name not in ("EP", "FT")},
}
# Class S of some is too small a grid for more than 16 ranks; class W shows how they grow.
NAS_SERIES = {
    "S": {**{name: (4, 8, 16, 32, 64) for name in ("CG", "MG", "IS", "EP", "FT")}, "LU": (4, 8, 16), "BT": (4, 9, 16),
          "SP": (4, 9, 16)},
    "W": {"LU": (4, 16, 32, 64), "BT": (4, 16, 25, 36, 49, 64), "SP": (4, 16, 25, 36, 49, 64)},
}
STENCIL_PILGRIM = {("2-D", 4): 2436, ("2-D", 64): 3166, ("3-D periodic", 4): 2490, ("3-D periodic", 64): 4770}
COLLECTIVES = ("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather", "gatherv",
               "reduce", "reduce_scatter", "scatter", "scatterv")


def stencils():
    for kind, program, ranks_of in (("2-D", "stencil2d", (4, 9, 16, 36, 64)),
                                    ("3-D periodic", "patterns/stencil3d", (4, 8, 16, 27, 64))):
        for ranks in ranks_of:
            pilgrim = STENCIL_PILGRIM.get((kind, ranks))
            yield Case("stencils", kind, ranks, program, ("100",), 100, pilgrim,
                       pilgrim // 3 if pilgrim and ranks == 4 else None)
        yield Case("stencils", kind, 4, program, ("10000",), 10000, timed=True)
        yield Case("stencils", kind, 16, program, ("1000",), 1000)
        yield Case("stencils", kind + ", one tag", 16, program, ("100", "onetag"), 100)
    yield Case("stencils", "3-D, steps by recursion", 16, "patterns/stencil3d", ("100", "recursive"), 100)
    yield Case("stencils", "3-D, steps by recursion", 16, "patterns/stencil3d", ("1000", "recursive"), 1000)


def patterns():
    for name, program, words, few, many in (
        ("random neighbours, Waitany", "waitany", (), 10, 100),
        ("random neighbours drawn anew each step, Waitany", "waitany", ("1", "changing"), 10, 100),
        ("gather tree, root that talks to all", "tree", (), 10, 100),
        ("gather tree, irregular partners", "tree", ("irregular",), 10, 100),
        ("root sends to 1, 2, …, P-1", "fan", (), 50, 500),
        ("master and workers, polling", "workers", (), 100, 1000),
        ("master and workers, blocking", "workers", ("quiet",), 100, 1000),
        ("wavefront", "wavefront", (), 50, 500),
        ("Alltoallv, counts drift each step", "rebalance", (), 20, 200),
        ("Alltoallv, random counts each step", "rebalance", ("random",), 20, 200),
        ("File_write_at, growing offsets", "file_output", (), 20, 200),
        ("tag and size count the steps", "tags", (), 100, 1000),
        ("transport sweep, Testsome and Test", "sweep", (), 10, 100),
        ("graph search, Testany and Iprobe", "search", (), 10, 100),
        ("stencil that unpacks early, Testall", "overlap", (), 50, 500),
    ):
        for ranks, steps in ((4, few), (4, many), (16, few), (16, many)):
            pilgrim = 73294 if program == "waitany" and (ranks, steps) == (16, 10) else None
            yield Case("patterns", name, ranks, f"patterns/{program}", (str(steps), *words), steps, pilgrim,
                       pilgrim // 5 if pilgrim else None,
                       note="of one of these two" if pilgrim else "", timed=(ranks, steps) == (4, many))


def osu():
    yield Case("osu", "latency", 2, "patterns/latency", ("100",), 100)
    yield Case("osu", "bandwidth", 2, "patterns/bandwidth", ("one", "20"), 20)
    yield Case("osu", "bidirectional bandwidth", 2, "patterns/bandwidth", ("both", "20"), 20)
    for ranks in (4, 16):
        yield Case("osu", "multi-pair bandwidth", ranks, "patterns/bandwidth", ("pairs", "20", "65536"), 20)
    for name in COLLECTIVES:
        for form in (name, "i" + name):
            for ranks in (4, 16):
                yield Case("osu", form, ranks, "patterns/collective", (form, "20", "65536"), 20)


def nas(folder):
    folder = pathlib.Path(folder)
    for name in NAS_PILGRIM[4]:
        for kind, series in NAS_SERIES.items():
            program = folder / f"{name.lower()}.{kind}.x"
            for ranks in series.get(name, ()) if program.exists() else ():
                known = kind == "S"
                yield Case("nas", f"{name} {kind}", ranks, str(program), (), 0,
                           NAS_PILGRIM.get(ranks, {}).get(name) if known else None,
                           NAS_GOAL.get(ranks, {}).get(name) if known else None, success=r"verification\W+successful",
                           timed=ranks == 4)


def scalapack(folder):
    folder = pathlib.Path(folder)
    for name, data, pilgrim, goal, slow, note in (
        ("xdsep", "SEP.dat", 15483765, 400000, False, "twice the untraced time"),
        ("xdllt", "LLT.dat", None, None, True, "not done in 300 s (untraced 14 s)"),
    ):
        if (folder / name).exists():
            yield Case("scalapack", name, 4, str(folder / name), (), 0, pilgrim, goal, success="tests completed",
                       inputs=(str(folder / data),), long=slow, seconds=900, note=note, timed=True)


def overhead():
    """As in Figure 13 of the paper, two block sizes against ranks and against steps: (axis, block, ranks, steps)."""
    for block in (8, 16):
        for ranks in (2, 4, 8, 16, 32):
            yield ("ranks", block, ranks, 500)
        for steps in (100, 1000, 10000, 30000):
            yield ("steps", block, 4, steps)
