/* What the program computed between its calls: spinning, or blocks of arithmetic and of walks through memory, of which
 * so many are made that it takes as long as it did. How long a block takes is measured once, and again as it goes on.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <time.h>

#include "proxy.h"

enum { kWords = 1 << 18, kStep = 64 / sizeof(double) };

static _Thread_local double ended; /* when the last call ended, in ns */
static _Thread_local double *memory;
static _Thread_local double ns_a_block;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

void called(void) { ended = now(); }

static void block(void) {
  static _Thread_local unsigned place;
  double x = memory[place % kWords];
  for (int i = 0; i < 64; ++i) x = x * 0.999 + 0.001;
  for (int i = 0; i < 16; ++i) memory[(place += kStep) % kWords] += x;
}

void compute(double ns) {
  const double until = (ended == 0 ? now() : ended) + ns;
#ifdef PROXY_BLOCKS
  if (memory == NULL) {
    memory = (double *)calloc(kWords, sizeof *memory);
    if (memory == NULL) abort();
    const double begin = now();
    for (int i = 0; i < 1000; ++i) block();
    ns_a_block = (now() - begin) / 1000;
  }
  for (double left = until - now(); left > ns_a_block; left = until - now()) {
    for (double blocks = left / ns_a_block / 2; blocks >= 0; --blocks) block();
  }
#else
  (void)block, (void)ns_a_block;
  while (now() < until) {
  }
#endif
}
