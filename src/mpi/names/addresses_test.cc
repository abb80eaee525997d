#include "mpi/names/addresses.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "mpi/names/sites.h"

namespace cairn::recorder {
namespace {

using trace::Atom;

int some_static[32];

uintptr_t address_of(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

/// A heap that the test makes up: allocations that `find_allocation` answers for.
struct FakeHeap {
  std::mutex mutex;
  std::map<uintptr_t, size_t> live;
  void (*forget)(uintptr_t) = nullptr;
  uint32_t epoch = 0;
  uint32_t module_epoch = 0;
  uint32_t mapping_epoch = 0;
  std::vector<std::pair<uintptr_t, uintptr_t>> watched;

  void free(uintptr_t start) {
    {
      const std::lock_guard guard(mutex);
      live.erase(start);
    }
    if (forget != nullptr) forget(start);
    ++epoch;
  }
};

FakeHeap *heap;

bool find_fake(uintptr_t address, CairnAllocation *found) {
  const std::lock_guard guard(heap->mutex);
  auto next = heap->live.upper_bound(address);
  if (next == heap->live.begin()) return false;
  --next;
  if (address != next->first && address - next->first >= next->second) return false;
  *found = {next->first, next->second};
  return true;
}

/// Addresses of the fake heap: nothing is ever mapped there, not even by a sanitizer.
constexpr uintptr_t kHeapStart = uintptr_t{1} << 55;

struct AddressesTest : testing::Test {
  AddressesTest() {
    heap = &fake;
    table.version = kCairnPreloadVersion;
    table.find_allocation = find_fake;
    table.forget = &fake.forget;
    table.epoch = &fake.epoch;
    table.module_epoch = &fake.module_epoch;
    table.mapping_epoch = &fake.mapping_epoch;
    table.watch = [](uintptr_t low, uintptr_t high) { heap->watched.emplace_back(low, high); };
    space.emplace(arena, modules, table);
  }
  Address name(uintptr_t address) { return space->name(address, stack); }
  Address name(const void *pointer) { return name(address_of(pointer)); }

  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 20);
  Arena arena{memory.data(), memory.size() * sizeof(uint64_t)};
  FakeHeap fake;
  CairnPreload table = {};
  Modules modules{arena, nullptr};
  std::optional<AddressSpace> space;  ///< made when `table` is filled
  ThreadStack stack = ThreadStack::of_calling_thread(address_of(__builtin_frame_address(0)));
};

TEST_F(AddressesTest, NullIsNull) { EXPECT_EQ(name(nullptr), (Address{trace::kNull, 0, 0})); }

TEST_F(AddressesTest, HeapSegmentsTakeTheLowestFreeNumber) {
  for (uintptr_t i = 0; i < 4; ++i) fake.live[kHeapStart + i * 100] = 100;
  EXPECT_EQ(name(kHeapStart + 210), (Address{trace::kHeap, 0, 10}));
  EXPECT_EQ(name(kHeapStart + 0), (Address{trace::kHeap, 1, 0}));
  EXPECT_EQ(name(kHeapStart + 199), (Address{trace::kHeap, 2, 99}));
  EXPECT_EQ(name(kHeapStart + 200), (Address{trace::kHeap, 0, 0}));
  fake.free(kHeapStart);
  EXPECT_EQ(name(kHeapStart + 300), (Address{trace::kHeap, 1, 0}));
  fake.live[kHeapStart] = 50;
  EXPECT_EQ(name(kHeapStart + 49), (Address{trace::kHeap, 3, 49}));
  EXPECT_EQ(name(kHeapStart + 50).kind, trace::kUnknown);
}

TEST_F(AddressesTest, SegmentThatWasReplacedUnseenIsANewOne) {
  fake.live[kHeapStart] = 100;
  fake.live[kHeapStart + 100] = 100;
  EXPECT_EQ(name(kHeapStart + 100).number, 0);
  EXPECT_EQ(name(kHeapStart).number, 1);
  fake.live.erase(kHeapStart + 100);  // without a word to the address space
  fake.live[kHeapStart] = 200;
  EXPECT_EQ(name(kHeapStart + 150), (Address{trace::kHeap, 0, 150}));
}

TEST_F(AddressesTest, SegmentsAreToldAsTheyBeginAndEnd) {
  static std::vector<std::pair<int64_t, uint64_t>> told;
  told.clear();
  space->tell_segments([](trace::Atom kind, int64_t number, uint64_t bytes) {
    EXPECT_EQ(kind, trace::kHeap);
    told.emplace_back(number, bytes);
  });
  fake.live[kHeapStart] = 100;
  fake.live[kHeapStart + 100] = 50;
  for (const uintptr_t offset : {10, 110, 20}) name(kHeapStart + offset);
  fake.free(kHeapStart);
  fake.live.erase(kHeapStart + 100);  // without a word to the address space
  fake.live[kHeapStart + 50] = 200;
  name(kHeapStart + 120);
  const std::vector<std::pair<int64_t, uint64_t>> all = {{0, 100}, {1, 50}, {0, 0}, {1, 0}, {0, 200}};
  EXPECT_EQ(told, all);
  fake.free(kHeapStart + 7);  // nobody has named it
  space->tell_segments(nullptr);
  fake.free(kHeapStart + 50);
  EXPECT_EQ(told, all);
}

TEST_F(AddressesTest, StaticsAreModuleAndOffset) {
  const Address first = name(&some_static[0]);
  EXPECT_EQ(first.kind, trace::kStatic);
  EXPECT_EQ(first.number, 0);
  EXPECT_EQ(first.offset, static_cast<int64_t>(address_of(some_static) - modules[0].load_base));
  EXPECT_EQ(name(&some_static[3]).offset, first.offset + 12);
  EXPECT_EQ(name("a literal is static, too").kind, trace::kStatic);

  void *plugin = dlopen(NAMES_PLUGIN_WITH_ID, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr);
  const Address other = name(dlsym(plugin, "names_plugin_data"));
  EXPECT_EQ(other.kind, trace::kStatic);
  EXPECT_EQ(other.number, 1);
  const uintptr_t gone = address_of(dlsym(plugin, "names_plugin_data"));
  dlclose(plugin);
  ++fake.module_epoch;
  EXPECT_NE(name(gone).kind, trace::kStatic);
}

TEST_F(AddressesTest, FromOutsideWhatIsKnownHasTheSameName) {
  for (uintptr_t i = 0; i < 2; ++i) fake.live[kHeapStart + i * 100] = 100;
  std::vector<char> given(64);
  space->add_mpi_memory(address_of(given.data()), given.size());
  const uintptr_t met[] = {0, address_of(&met), address_of(some_static), kHeapStart + 10, address_of(&given[3])};
  for (const uintptr_t address : met) {
    const Address named = name(address);
    EXPECT_EQ(space->known(address, stack), named);
  }
  EXPECT_EQ(space->known(kHeapStart + 110, stack).kind, trace::kUnknown);
  fake.free(kHeapStart);
  EXPECT_EQ(space->known(kHeapStart + 10, stack).kind, trace::kUnknown);
}

TEST_F(AddressesTest, StackIsRelativeToTheFirstFrame) {
  int local = 0;
  EXPECT_EQ(name(&local), (Address{trace::kStack, 0, static_cast<int64_t>(address_of(&local) - stack.origin)}));
  EXPECT_LE(stack.low, address_of(&local));
  EXPECT_GT(stack.high, address_of(&local));
}

TEST_F(AddressesTest, MainStackReachesWhereItMayGrow) {
  // Far more than is mapped yet, well within the default limit of 8 MiB.
  EXPECT_EQ(name(stack.origin - (2 << 20)).kind, trace::kStack);
}

TEST_F(AddressesTest, AnotherThreadsStackIsAMapping) {
  Address own = {};
  Address seen_from_here = {};
  ThreadStack theirs;
  std::thread([&] {
    int local = 0;
    theirs = ThreadStack::of_calling_thread(address_of(__builtin_frame_address(0)));
    own = space->name(address_of(&local), theirs);
    seen_from_here = name(&local);
  }).join();
  EXPECT_EQ(own.kind, trace::kStack);
  EXPECT_EQ(seen_from_here.kind, trace::kMapping);
  EXPECT_LT(theirs.high - theirs.low, size_t{1} << 30);
}

ThreadStack seen_by_fiber;
ucontext_t outside;
ucontext_t fiber;

TEST_F(AddressesTest, FiberLivesOnTheThreadsMemory) {
  static char fiber_stack[256 << 10];
  ASSERT_EQ(getcontext(&fiber), 0);
  fiber.uc_stack.ss_sp = fiber_stack;
  fiber.uc_stack.ss_size = sizeof fiber_stack;
  fiber.uc_link = &outside;
  makecontext(
      &fiber, [] { seen_by_fiber = ThreadStack::of_calling_thread(address_of(__builtin_frame_address(0))); }, 0);
  ASSERT_EQ(swapcontext(&outside, &fiber), 0);
  EXPECT_EQ(seen_by_fiber.high, stack.high);
  EXPECT_EQ(seen_by_fiber.origin, stack.high);
  EXPECT_EQ(space->name(address_of(&fiber_stack[1000]), seen_by_fiber).kind, trace::kStatic);
}

TEST_F(AddressesTest, MpiMemoryComesFirst) {
  fake.live[kHeapStart] = 1000;
  EXPECT_EQ(name(kHeapStart + 100).kind, trace::kHeap);
  const uint32_t before = fake.epoch;
  space->add_mpi_memory(kHeapStart + 64, 512);
  EXPECT_NE(fake.epoch, before);
  EXPECT_EQ(name(kHeapStart + 100), (Address{trace::kMpiMemory, 0, 36}));
  EXPECT_EQ(name(kHeapStart + 63).kind, trace::kHeap);
  space->add_mpi_memory(kHeapStart + 5000, 10);
  EXPECT_EQ(name(kHeapStart + 5001), (Address{trace::kMpiMemory, 1, 1}));
  space->remove_mpi_memory(kHeapStart + 64);
  EXPECT_EQ(name(kHeapStart + 100).kind, trace::kHeap);
  space->add_mpi_memory(kHeapStart + 9000, 10);
  EXPECT_EQ(name(kHeapStart + 9000).number, 0);
}

TEST_F(AddressesTest, MappingsKeepTheirNumberWhileMapped) {
  constexpr size_t kSize = 1 << 20;
  const auto map = [](int protection) {
    return static_cast<char *>(mmap(nullptr, kSize, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  };
  char *first = map(PROT_READ | PROT_WRITE);
  char *fence = map(PROT_NONE);
  const Address start = name(first);
  EXPECT_EQ(start.kind, trace::kMapping);
  EXPECT_EQ(name(first + 5000), (Address{trace::kMapping, start.number, start.offset + 5000}));
  ASSERT_FALSE(fake.watched.empty());
  EXPECT_LE(fake.watched.back().first, address_of(first));
  EXPECT_GE(fake.watched.back().second, address_of(first) + kSize);

  // A neighbour that the kernel joins to it is another mapping; the first one's name stays.
  char *second = map(PROT_READ | PROT_WRITE);
  const Address other = name(second + 10);
  EXPECT_EQ(other.kind, trace::kMapping);
  EXPECT_NE(other.number, start.number);
  EXPECT_EQ(name(first), start);

  munmap(first, kSize);
  ++fake.mapping_epoch;
  EXPECT_NE(name(first).kind, trace::kMapping);
  munmap(second, kSize);
  munmap(fence, kSize);
}

TEST_F(AddressesTest, NumberOfAMappingComesBack) {
  constexpr size_t kSize = 1 << 20;
  int64_t number = -1;
  for (int round = 0; round < 5; ++round) {
    void *fence = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *block = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const Address address = name(block);
    ASSERT_EQ(address.kind, trace::kMapping);
    if (round == 0) number = address.number;
    EXPECT_EQ(address.number, number);
    munmap(block, kSize);
    munmap(fence, 4096);
    ++fake.mapping_epoch;
  }
}

TEST_F(AddressesTest, UnknownAddressesAreNumberedByFirstSight) {
  EXPECT_EQ(name(uintptr_t{16}), (Address{trace::kUnknown, 0, 0}));
  EXPECT_EQ(name(kHeapStart), (Address{trace::kUnknown, 1, 0}));
  EXPECT_EQ(name(uintptr_t{16}), (Address{trace::kUnknown, 0, 0}));
  EXPECT_EQ(name(UINTPTR_MAX), (Address{trace::kUnknown, 2, 0}));
  for (uintptr_t i = 0; i < 10000; ++i) EXPECT_EQ(name(i + 1).kind, trace::kUnknown);
}

TEST_F(AddressesTest, DeviceMemoryIsAskedOfTheDriver) {
  void *before = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EQ(name(before).kind, trace::kMapping) << "without a driver it is no device memory";
  void *driver = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(driver, nullptr);
  const auto set_context = reinterpret_cast<int (*)(void *)>(dlsym(driver, "cuCtxSetCurrent"));
  const auto allocate = reinterpret_cast<int (*)(char **, size_t)>(dlsym(driver, "cuMemAlloc_v2"));
  const auto pin = reinterpret_cast<int (*)(char **, size_t, unsigned)>(dlsym(driver, "cuMemHostAlloc"));
  char *device = nullptr;
  char *other = nullptr;
  char *pinned = nullptr;
  set_context(driver);
  ASSERT_EQ(allocate(&device, 4096) | allocate(&other, 100) | pin(&pinned, 4096, 0), 0);
  static std::vector<std::pair<int64_t, uint64_t>> told;
  told.clear();
  space->tell_segments([](trace::Atom kind, int64_t number, uint64_t bytes) {
    EXPECT_EQ(kind, trace::kDevice);
    told.emplace_back(number, bytes);
  });
  EXPECT_EQ(name(device), (Address{trace::kDevice, 0, 0}));
  EXPECT_EQ(name(device + 4000), (Address{trace::kDevice, 0, 4000}));
  EXPECT_EQ(name(other), (Address{trace::kDevice, 1, 0}));
  EXPECT_EQ(told, (std::vector<std::pair<int64_t, uint64_t>>{{0, 4096}, {1, 100}}));
  space->tell_segments(nullptr);
  EXPECT_EQ(name(pinned).kind, trace::kMapping);
  EXPECT_EQ(name(before).kind, trace::kMapping);
  munmap(before, 4096);
}

TEST_F(AddressesTest, IntegersAreNamedOnlyInKnownSegments) {
  int local = 0;
  fake.live[kHeapStart] = 100;
  const auto integer = [](uint64_t value) { return Address{trace::kInteger, 0, static_cast<int64_t>(value)}; };
  const auto named = [this](uint64_t value) { return space->name_integer(value, stack); };
  EXPECT_EQ(named(0), integer(0));
  EXPECT_EQ(named(4096), integer(4096));
  EXPECT_EQ(named(UINT64_MAX), integer(UINT64_MAX));
  EXPECT_EQ(named(kHeapStart + 4), (Address{trace::kHeap, 0, 4})) << "an address inside a type that MPI sees first";
  fake.live[4000] = 100;
  EXPECT_EQ(named(4000), integer(4000)) << "a displacement, most likely";
  EXPECT_EQ(named(kHeapStart + 100), integer(kHeapStart + 100));
  EXPECT_EQ(named(address_of(&local)).kind, trace::kStack);
  EXPECT_EQ(named(address_of(&some_static[1])), name(&some_static[1]));
  space->add_mpi_memory(kHeapStart + 1000, 10);
  EXPECT_EQ(named(kHeapStart + 1003), (Address{trace::kMpiMemory, 0, 3}));
  fake.free(kHeapStart);
  EXPECT_EQ(named(kHeapStart + 4), integer(kHeapStart + 4));
}

TEST_F(AddressesTest, DegradesWithoutMemory) {
  Arena none(memory.data(), 64);
  Modules no_modules(none, nullptr);
  AddressSpace blind(none, no_modules, table);
  int local = 0;
  fake.live[kHeapStart] = 100;
  EXPECT_EQ(blind.name(address_of(&local), stack).kind, trace::kStack);
  EXPECT_EQ(blind.name(kHeapStart, stack).kind, trace::kUnknown);
  EXPECT_EQ(blind.name_integer(kHeapStart, stack).kind, trace::kInteger);
  blind.add_mpi_memory(kHeapStart, 10);
  blind.remove_mpi_memory(kHeapStart);
}

TEST_F(AddressesTest, ThreadsNameAndFree) {
  std::vector<std::thread> threads;
  for (uintptr_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const ThreadStack own = ThreadStack::of_calling_thread(address_of(__builtin_frame_address(0)));
      for (uintptr_t i = 0; i < 5000; ++i) {
        const uintptr_t start = kHeapStart + (t * 1000 + i % 7) * 4096;
        {
          const std::lock_guard guard(fake.mutex);
          fake.live[start] = 1000;
        }
        const Address address = space->name(start + i % 1000, own);
        ASSERT_EQ(address.kind, trace::kHeap);
        ASSERT_LT(address.number, 4);  // no more than four live at once
        ASSERT_EQ(address.offset, static_cast<int64_t>(i % 1000));
        {
          const std::lock_guard guard(fake.mutex);
          fake.live.erase(start);
        }
        fake.forget(start);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace cairn::recorder
