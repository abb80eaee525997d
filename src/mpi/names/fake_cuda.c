// Stands in for CUDA's driver (libcuda.so.1): blocks of "device" memory are host memory that the driver knows, each
// 8 KiB apart at least; pinned host memory is none of them. One device, or FAKE_CUDA_DEVICES many.
//
// With FAKE_CUDA_LOG=FILE each process appends a line there when it ends: the number of its device, how many blocks it
// was given and how many bytes, how many blocks it gave back, how many bytes were copied, and whether a call came from
// a thread without a context.
//
// Preloaded, it also has the MPI library say that it takes addresses on devices.
#define _DEFAULT_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kOk, kInvalidValue, kOutOfMemory, kNoContext = 201, kNotFound = 500, kMostBlocks = 1024, kBetween = 8192 };

typedef unsigned long long Address;

struct block {
  char *start;
  size_t bytes;
  int pinned;
};
static struct block blocks[kMostBlocks];
static int count;

static int device = -1;
static _Thread_local void *current;
static unsigned long given, given_bytes, freed, copied, without_context;

static const struct block *holding(Address address) {
  for (int i = 0; i < count; ++i) {
    const Address start = (Address)blocks[i].start;
    if (start != 0 && address >= start && address < start + blocks[i].bytes) return &blocks[i];
  }
  return NULL;
}

static char *allocate(size_t bytes, int pinned) {
  if (count == kMostBlocks) return NULL;
  char *start =
      mmap(NULL, bytes + kBetween, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return NULL;
  blocks[count++] = (struct block){start, bytes, pinned};
  return start;
}

static void tell(void) {
  const char *file = getenv("FAKE_CUDA_LOG");
  FILE *to = file == NULL || device < 0 ? NULL : fopen(file, "a");
  if (to == NULL) return;
  fprintf(to, "device %d: given %lu (%lu bytes), freed %lu, copied %lu bytes, without a context %lu\n", device, given,
          given_bytes, freed, copied, without_context);
  fclose(to);
}

int cuInit(unsigned flags) { return flags == 0 ? kOk : kInvalidValue; }

int cuDeviceGetCount(int *devices) {
  const char *many = getenv("FAKE_CUDA_DEVICES");
  *devices = many == NULL ? 1 : atoi(many);
  return kOk;
}

int cuDeviceGet(int *handle, int ordinal) {
  *handle = ordinal;
  return kOk;
}

int cuDevicePrimaryCtxRetain(void **context, int handle) {
  if (device < 0) atexit(tell);
  device = handle;
  *context = &device;
  return kOk;
}

int cuCtxSetCurrent(void *context) {
  current = context;
  return kOk;
}

static int has_context(void) {
  if (current == NULL) ++without_context;
  return current != NULL;
}

int cuMemAlloc_v2(Address *start, size_t bytes) {
  const char *most = getenv("FAKE_CUDA_BYTES");
  if (!has_context()) return kNoContext;
  if (most != NULL && given_bytes + bytes > strtoul(most, NULL, 10)) return kOutOfMemory;
  char *const block = allocate(bytes, 0);
  if (block == NULL) return kOutOfMemory;
  memset(block, 0x5a, bytes);  // whatever was there before
  *start = (Address)block;
  ++given;
  given_bytes += bytes;
  return kOk;
}

int cuMemHostAlloc(void **start, size_t bytes, unsigned flags) {
  (void)flags;
  *start = allocate(bytes, 1);
  return *start == NULL ? kOutOfMemory : kOk;
}

int cuMemFree_v2(Address start) {
  if (!has_context()) return kNoContext;
  for (int i = 0; i < count; ++i) {
    if ((Address)blocks[i].start != start || blocks[i].pinned) continue;
    munmap(blocks[i].start, blocks[i].bytes + kBetween);
    blocks[i].start = NULL;
    ++freed;
    return kOk;
  }
  return kInvalidValue;
}

int cuMemsetD8_v2(Address to, unsigned char value, size_t bytes) {
  if (!has_context()) return kNoContext;
  memset((void *)to, value, bytes);
  return kOk;
}

int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
  const struct block *block = holding(to);
  if (!has_context()) return kNoContext;
  if (block == NULL || to + bytes > (Address)block->start + block->bytes) return kInvalidValue;
  memcpy((void *)to, from, bytes);
  copied += bytes;
  return kOk;
}

int cuPointerGetAttribute(void *value, int attribute, Address address) {
  const struct block *block = holding(address);
  if (block == NULL) return kInvalidValue;
  *(unsigned *)value = attribute == 2 ? (block->pinned ? 1U : 2U) : 0U;
  return kOk;
}

int cuMemGetAddressRange_v2(Address *start, size_t *bytes, Address address) {
  const struct block *block = holding(address);
  if (block == NULL || block->pinned) return kNotFound;
  *start = (Address)block->start;
  *bytes = block->bytes;
  return kOk;
}

int MPIX_Query_cuda_support(void) { return 1; }
