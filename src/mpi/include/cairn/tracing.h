/* Tells cairn record which part of a program to keep: nothing between cairn_tracing_off() and cairn_tracing_on(), on
 * the process that calls them. Communicators, requests and other handles that are made or ended meanwhile are followed
 * all the same, so that later calls name them rightly. MPI_Init, MPI_Finalize and these two are always in the trace.
 *
 * They are MPI_Pcontrol(1) and MPI_Pcontrol(0): nothing has to be linked, and a program that is not recorded runs as
 * ever. After MPI_Init. For C and C++; cairn_tracing.f90 has them for Fortran. */
#ifndef CAIRN_TRACING_H
#define CAIRN_TRACING_H

#include <mpi.h>

/* Macros, so that the trace names the program's line. */
#define cairn_tracing_on() ((void)MPI_Pcontrol(1))
#define cairn_tracing_off() ((void)MPI_Pcontrol(0))

#endif
