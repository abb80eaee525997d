/* The library that keeps what kernels recorded, libcairn-gpu.so, as C sees it. Programs don't link it: launch.h loads
 * it when the first traced kernel is launched, so that a traced program runs, untraced, where Cairn is not installed.
 *
 * Thread-safe. What it is given is copied before a call returns, and written into a file `*.gpu` that outlives a
 * process which is killed. At the end of the process it writes
 *   $CAIRN_GPU_OUTPUT, if set; else, under `cairn record`, the rest of that file, which becomes a section of that
 * trace; else NAME.cairn, NAME being the program's, in its folder at that time (NAME-2.cairn, ... if it exists).
 * Failures are a line on stderr; the program goes on. */
#ifndef CAIRN_GPU_COLLECT_H
#define CAIRN_GPU_COLLECT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 2: there are accesses to memory among a program's points. A library takes what is not newer than itself. */
#define CAIRN_GPU_COLLECT_VERSION 2

/** A trace point in the source. `kind`: cairn::gpu::Kind. */
struct cairn_gpu_location {
  uint16_t id;
  uint8_t kind;
  const char *function;
  const char *file;
  uint32_t line;
  uint32_t column; /* of an access, counted from 1; 0: not told, as of all before there was this */
};

/** What `cairn instrument` made of one source file. */
struct cairn_gpu_program {
  const char *file;
  uint64_t source_hash;
  const struct cairn_gpu_location *locations;
  uint32_t location_count;
  const char *const *kernels;
  uint32_t kernel_count;
  const uint16_t *successors; /* pairs, see guesses.h; ends with 0, 0; or null */
};

/** One warp's stream (cairn::gpu::WarpRecord). */
struct cairn_gpu_warp {
  uint64_t events;
  uint64_t lost;
  uint64_t all;
  uint32_t index;
  uint32_t offset;
  uint32_t words;
  uint32_t chunks;
};

/** A launch that has ended. */
struct cairn_gpu_launch {
  const struct cairn_gpu_program *program; /* lives as long as the process */
  uint32_t kernel;                         /* of the program's */
  uint32_t device;
  uint64_t stream; /* a number that tells streams apart */
  uint32_t grid[3];
  uint32_t block[3];
  uint8_t coder; /* 0 raw, 2 predict */
  uint8_t location_bits;
  uint8_t lanes;
  uint8_t policy; /* 0 stop or drain, 1 ring */
  uint32_t first_block;
  uint32_t end_block;
  uint32_t one_in;
  const struct cairn_gpu_warp *warps;
  uint32_t warp_count;
  const uint32_t *words;
  uint64_t word_count;
};

/** When a launch was made and when its kernel ran, as CLOCK_MONOTONIC tells nanoseconds, and where it stands among the
 * MPI calls of the process. */
struct cairn_gpu_moment {
  uint64_t made_ns;  /* 0: nothing is known */
  uint64_t begin_ns; /* of the kernel; 0: it is not known when it ran */
  uint64_t end_ns;
  uint64_t calls;  /* MPI calls of the thread that the recorder had kept by then */
  uint32_t thread; /* by the recorder's numbers; UINT32_MAX: it has made none */
};

/** When and where a warp ran. Cycles of its multiprocessor's own clock, which says nothing of another's. */
struct cairn_gpu_clock {
  uint64_t begin;
  uint64_t end;
  uint32_t processor;
  uint32_t told; /* 0: nothing; 1: not when it ended; 2: all */
};

/** Why no warp of a launch is in the trace. The numbers stand in files. */
enum cairn_gpu_why {
  CAIRN_GPU_NOT_TOLD = 0, /* as of all before there was this */
  CAIRN_GPU_MEMORY = 1,   /* there was too little memory for it */
  CAIRN_GPU_GRAPH = 2,    /* it was captured into a graph: told once, however often that is launched */
  CAIRN_GPU_FAILED = 3,   /* its device failed, or was reset, before its trace was fetched */
  CAIRN_GPU_KILLED = 4    /* its process ended before its trace was fetched */
};

/** 0, or -1 if nothing can be kept. Every version of the library has it. */
int cairn_gpu_open(uint32_t version);
/** 0, or -1 if the launch could not be kept. */
int cairn_gpu_collect(const struct cairn_gpu_launch *launch);
/** Sets what is so now: `made_ns`, `calls` and `thread`; the rest is 0. Some 50 ns. Not there in libraries before. */
void cairn_gpu_now(struct cairn_gpu_moment *moment);
/** As cairn_gpu_now, before the launch, which need have no warps yet: if the process ends before that has been
 * collected, the trace has it as one that was in flight. It is collected with this moment, by which it is known. 0, or
 * -1 if it could not be kept. Some us. Not there in libraries before. */
int cairn_gpu_begin(const struct cairn_gpu_launch *launch, struct cairn_gpu_moment *moment);
/** As cairn_gpu_collect, with the launch's moment. Not there in libraries before. */
int cairn_gpu_collect_at(const struct cairn_gpu_launch *launch, const struct cairn_gpu_moment *moment);
/** As cairn_gpu_collect_at, with as many clocks as the launch has warps, and the number of multiprocessors of its
 * device, 0 if that is not known. Not there in libraries before. */
int cairn_gpu_collect_clocks(const struct cairn_gpu_launch *launch, const struct cairn_gpu_moment *moment,
                             const struct cairn_gpu_clock *clocks, uint32_t processors);
/** As cairn_gpu_collect_at, of a launch without warps. Not there in libraries before. */
int cairn_gpu_collect_untraced(const struct cairn_gpu_launch *launch, const struct cairn_gpu_moment *moment,
                               uint32_t why);
/** Writes now what was collected; also called at exit. 0, or -1. What is collected afterwards goes into the next file.
 */
int cairn_gpu_write(void);

#ifdef __cplusplus
}
#endif

#endif
