"""Calls MPI from lines of Python. A comment behind a call says how often each rank makes it there, and, under a colon, in
which functions, the innermost first, as call stacks have them; python_lines.py reads them."""
import ctypes
import threading

from mpi4py import MPI
from python_calls_module import Grid, reduce

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def exchange():
    data = [bytearray(8), MPI.BYTE]
    requests = [comm.Isend([bytes(8), MPI.BYTE], (rank + 1) % size, 1),  # 20 MPI_Isend: exchange < <module>
                comm.Irecv(data, (rank - 1) % size, 1)]  # 20 MPI_Irecv: exchange < <module>
    MPI.Request.Waitall(requests)  # 20 MPI_Waitall: exchange < <module>


def deeper(depth):
    if depth == 0:
        comm.Barrier()  # 2 MPI_Barrier: deeper < deeper < <module>
    else:
        deeper(depth - 1)


def by_map(depth):
    if depth == 0:
        return comm.Barrier()  # 2 MPI_Barrier: by_map < by_map < <module>
    return list(map(by_map, range(depth - 1, depth)))


def one_by_one():
    for _ in range(3):
        yield comm.Barrier()  # 3 MPI_Barrier: one_by_one < <module>


def talk(tag):
    for _ in range(5):
        comm.Sendrecv(bytearray(4), rank, tag, bytearray(4), rank, tag)  # 10 MPI_Sendrecv: talk


def through_c():
    handle = ctypes.c_void_p.from_address(MPI._addressof(comm))
    ctypes.CDLL(None).MPI_Barrier(handle)


def très_long(a_name):
    return comm.Barrier(
    )  # the call stands where it begins


for step in range(20):
    exchange()
for depth in (3, 5):
    deeper(depth)
    by_map(depth)
Grid(comm).wait()
Grid(comm).wait()
Grid(comm).each()
list(one_by_one())
reduce(comm)
through_c()
très_long(None)
(lambda: comm.Barrier())()  # 1 MPI_Barrier: <lambda> < <module>
# Code objects that come and go where others were.
for cell in range(9):
    exec(compile('\n' * (cell % 3) + 'comm.Barrier()', f'<cell {cell}>', 'exec'))
threads = [threading.Thread(target=talk, args=(tag,)) for tag in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
