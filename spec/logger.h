// A logger: a library that may stand between the wrappers of a recorder and MPI, and writes down every call that
// passes.
//
// What a recorder and src/mpi/oracle, which share nothing else, agree upon: the functions that libcairn-oracle.so
// exports, and the table by permanent function id that they pass. Called once, when a recorder is attached, before any
// call.
#pragma once

#include <cstdint>

extern "C" {
/// `pmpi_functions`: by function id, nullptr where the library has none; must stay. `table`: the caller's table by
/// function id, in which the entries of functions that exist become loggers. 0, or -1 if it can't log.
typedef int (*CairnLoggerAttach)(void *const *pmpi_functions, void **table);
/// From now on every record says what *epoch was when the call ended (src/mpi/preload/preload.h: it grows when memory
/// that MPI has seen is freed), so that a reader knows when an address must still mean the same memory.
typedef void (*CairnLoggerWatch)(const volatile uint32_t *epoch);
/// `number` gives the number under which the recorder records the calling thread: a new thread may continue what one
/// that has ended began. The log says it too, so that a reader knows which of its threads is which of the trace's.
typedef void (*CairnLoggerThreads)(uint32_t (*number)());
/// `place` gives a word of the calling thread: the status, or array of statuses, of the call that comes next which the
/// program does not want, although a Fortran binding does. The logger sets it back to nullptr.
typedef void (*CairnLoggerUnwanted)(const void **(*place)());
}
#define CAIRN_LOGGER_LIBRARY "libcairn-oracle.so"
#define CAIRN_LOGGER_ATTACH "cairn_oracle_attach"
#define CAIRN_LOGGER_WATCH "cairn_oracle_watch"
#define CAIRN_LOGGER_THREADS "cairn_oracle_threads"
#define CAIRN_LOGGER_UNWANTED "cairn_oracle_unwanted"
