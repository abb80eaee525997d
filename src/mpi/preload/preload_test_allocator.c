// Another allocator in the preload chain, unlike glibc's: blocks of 8 and 16 bytes lie side by side, and it knows its
// own sizes. Powers of two from 8 bytes to 512 MiB, a gigabyte of address space for each.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { kClasses = 27 };
static char *base;
static void *given_back[kClasses];
static size_t used[kClasses];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int class_of(size_t size) {
  int class = 0;
  while (((size_t)8 << class) < size) ++class;
  return class;
}

size_t malloc_usable_size(void *block) {
  return block == NULL ? 0 : (size_t)8 << (((uintptr_t)block - (uintptr_t)base) >> 30);
}

void *malloc(size_t size) {
  const int class = class_of(size);
  if (class >= kClasses) {
    errno = ENOMEM;
    return NULL;
  }
  pthread_mutex_lock(&mutex);
  if (base == NULL) {
    char *memory = mmap(NULL, (size_t)(kClasses + 1) << 30, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base = (char *)(((uintptr_t)memory + (1 << 30) - 1) >> 30 << 30);
  }
  void *block = given_back[class];
  if (block != NULL) {
    given_back[class] = *(void **)block;
  } else if (used[class] + ((size_t)8 << class) <= (size_t)1 << 30) {
    block = base + ((size_t) class << 30) + used[class];
    used[class] += (size_t)8 << class;
  }
  pthread_mutex_unlock(&mutex);
  return block;
}

void free(void *block) {
  if (block == NULL) return;
  const uintptr_t class = ((uintptr_t)block - (uintptr_t)base) >> 30;
  if (class >= kClasses) __builtin_trap();  // not ours: somebody mixed up allocators
  pthread_mutex_lock(&mutex);
  *(void **)block = given_back[class];
  given_back[class] = block;
  pthread_mutex_unlock(&mutex);
}

void *calloc(size_t count, size_t size) {
  void *block = malloc(count * size);
  return block == NULL ? NULL : memset(block, 0, count * size);
}

void *realloc(void *block, size_t size) {
  if (block != NULL && size <= malloc_usable_size(block)) return block;
  void *fresh = malloc(size);
  if (fresh != NULL && block != NULL) memcpy(fresh, block, malloc_usable_size(block));
  if (fresh != NULL) free(block);
  return fresh;
}

void *reallocarray(void *block, size_t count, size_t size) { return realloc(block, count * size); }
void *memalign(size_t alignment, size_t size) { return malloc(size < alignment ? alignment : size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
void *valloc(size_t size) { return memalign(4096, size); }
void *pvalloc(size_t size) { return memalign(4096, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}
