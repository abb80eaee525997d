// Stands in for the CUDA driver: two device allocations of 4,096 bytes, and a page of pinned host memory after them,
// all in one mapping.
#define _DEFAULT_SOURCE
#include <stddef.h>
#include <sys/mman.h>

enum { kBlock = 8192, kSize = 4096, kBlocks = 2 };

static char *memory(void) {
  static char *mapped;
  if (mapped == NULL) {
    mapped = mmap(NULL, (kBlocks + 1) * kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  return mapped;
}

void *names_fake_device(void) { return memory(); }
void *names_fake_pinned(void) { return memory() + kBlocks * kBlock; }

/// Start of the device allocation that holds `address`, or 0.
static unsigned long long allocation(unsigned long long address) {
  const unsigned long long start = (unsigned long long)memory();
  if (address < start || address >= start + kBlocks * kBlock || (address - start) % kBlock >= kSize) return 0;
  return address - (address - start) % kBlock;
}

int cuPointerGetAttribute(void *value, int attribute, unsigned long long address) {
  const unsigned long long pinned = (unsigned long long)names_fake_pinned();
  if (allocation(address) == 0 && (address < pinned || address >= pinned + kBlock)) return 1;
  *(unsigned *)value = attribute == 2 ? (allocation(address) != 0 ? 2U : 1U) : 0U;
  return 0;
}

int cuMemGetAddressRange_v2(unsigned long long *start, size_t *size, unsigned long long address) {
  *start = allocation(address);
  *size = kSize;
  return *start == 0 ? 1 : 0;
}
