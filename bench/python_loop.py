#!/usr/bin/env python3
"""Nanoseconds an iteration of two loops of mpi4py, the least of TURNS turns of N iterations each: Get_rank, which is one
call of MPI, and a message to oneself, which is five (two ask for the extent of a type, and Isend, Recv and Wait).

    python_loop.py N TURNS
"""
import sys
import time

from mpi4py import MPI

comm = MPI.COMM_SELF
count, turns = int(sys.argv[1]), int(sys.argv[2])
out, into = [bytearray(8), MPI.BYTE], [bytearray(8), MPI.BYTE]
ranks, messages = [], []
for turn in range(turns):
    start = time.perf_counter_ns()
    for _ in range(count):
        comm.Get_rank()
    between = time.perf_counter_ns()
    for _ in range(count):
        request = comm.Isend(out, 0, 1)
        comm.Recv(into, 0, 1)
        request.Wait()
    end = time.perf_counter_ns()
    ranks.append((between - start) / count)
    messages.append((end - between) / count)
print(f'{min(ranks):.1f} {min(messages):.1f}')
