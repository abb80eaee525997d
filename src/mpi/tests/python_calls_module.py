"""What python_calls.py calls from another file."""
from mpi4py import MPI


class Grid:
    def __init__(self, comm):
        self.comm = comm

    def wait(self):
        self.comm.Barrier()  # 2 MPI_Barrier: Grid.wait < <module>

    def each(self):
        return [self.comm.Barrier() for _ in range(2)]  # 2 MPI_Barrier: Grid.each.<locals>.<listcomp> < Grid.each < <module>


def add(first, second, datatype):
    MPI.Get_processor_name()  # some MPI_Get_processor_name: add < reduce < <module>


def reduce(comm):
    operation = MPI.Op.Create(add)
    comm.Allreduce(bytearray(8), bytearray(8), operation)  # 1 MPI_Allreduce: reduce < <module>
    operation.Free()
