"""A ring of messages of random sizes with mpi4py, and now and then an Allreduce, a bcast and a gather of objects:
neighbours.py [steps]."""
import random
import sys

from mpi4py import MPI

MOST_BYTES = 32768
world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
sizes, own = random.Random(5), random.Random(rank)  # everyone agrees on sizes, nobody on how long to work
sent, received = bytearray(MOST_BYTES), bytearray(MOST_BYTES)
mine, greatest = bytearray(8), bytearray(8)
for step in range(int(sys.argv[1]) if len(sys.argv) > 1 else 2500):
    size = sizes.randrange(1, MOST_BYTES)
    requests = [world.Isend([sent, size, MPI.BYTE], (rank + 1) % ranks, step % 50),
                world.Irecv([received, MOST_BYTES, MPI.BYTE], (rank - 1) % ranks, step % 50)]
    work = sum(range(own.randrange(10, 3000)))
    MPI.Request.Waitall(requests)
    if step % 3 == 0:
        world.Allreduce([mine, 8, MPI.BYTE], [greatest, 8, MPI.BYTE], MPI.MAX)
    if step % 7 == 0:
        world.bcast({"step": step, "list": list(range(step % 40))}, root=step % ranks)
    if step % 11 == 0:
        world.gather(work, root=0)
