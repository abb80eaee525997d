/* What the other files know of threads and handles. */
#ifndef PROXY_THREADS_H
#define PROXY_THREADS_H

#include "proxy.h"

extern _Thread_local int this_thread; /* its number: 0 is the first */
extern int several_threads;

/* The requests of that name that are there, in the order in which they are used; NULL behind the last. */
void list_requests(struct handles *of, long long place, int most, struct handle **found);
MPI_Request *place_of_request(struct handle *handle);

#endif
