// Where a thread of the program stands among its MPI calls: what others in the process may ask of libcairn.so and the
// recorder, as libcairn-gpu.so does for launches. In C, since libcairn.so has no C++ run-time library.
//
// libcairn.so exports CAIRN_MPI_PLACE_SYMBOL, a recorder CAIRN_RECORDER_PLACE_SYMBOL, which that leads to. Any thread;
// takes no lock, allocates nothing; some ns. errno stays.
#pragma once

#include <stdint.h>

extern "C" {

struct CairnMpiPlace {
  uint64_t zero_ns;  ///< CLOCK_MONOTONIC when the first call of MPI began that is recorded; before it has, when the
                     ///< recorder was attached
  uint64_t calls;    ///< of the calling thread, kept in the trace so far
  uint32_t thread;   ///< its number in the trace, or kCairnNoThread: then `calls` means nothing
};

/// The calling thread has made no call yet, or MPI_Finalize is over and calls are counted anew.
static const uint32_t kCairnNoThread = UINT32_MAX;

/// 0, or -1: no call of the process has been recorded, or none will be any more.
typedef int (*CairnMpiPlaceOf)(struct CairnMpiPlace *place);
#define CAIRN_MPI_PLACE_SYMBOL "cairn_mpi_place"
#define CAIRN_RECORDER_PLACE_SYMBOL "cairn_recorder_place"
}
