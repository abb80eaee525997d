"""Loads MPI late, by dlopen, as mpi4py does: a ring, reductions and pickled objects."""
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
received = comm.sendrecv({'from': rank, 'words': ['a'] * rank}, dest=(rank + 1) % size, source=(rank - 1) % size)
assert received['from'] == (rank - 1) % size
assert comm.allreduce(rank) == size * (size - 1) // 2
half = comm.Split(rank % 2, rank)
everybody = half.allgather(rank)
assert everybody == list(range(rank % 2, size, 2))
half.Free()
buffer = bytearray(8)
comm.Bcast([buffer if rank else bytearray(b'01234567'), MPI.BYTE], root=0)
if rank == 0:
    print('ok', MPI.Get_version()[0] >= 3)
sys.stdout.flush()
