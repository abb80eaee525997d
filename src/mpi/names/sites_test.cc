#include "mpi/names/sites.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mpi/names/loaded_object.h"

namespace cairn::recorder {
namespace {

uintptr_t address_of(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

[[gnu::noinline]] uintptr_t here() { return address_of(__builtin_return_address(0)); }

struct Plugin {
  explicit Plugin(const char *path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) return;
    site = address_of(reinterpret_cast<void *(*)()>(dlsym(handle, "names_plugin_site"))());
    data = address_of(dlsym(handle, "names_plugin_data"));
  }
  void close() {
    dlclose(handle);
    handle = nullptr;
  }
  void *handle;
  uintptr_t site = 0;
  uintptr_t data = 0;
};

struct SitesTest : testing::Test {
  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 20);
  Arena arena{memory.data(), memory.size() * sizeof(uint64_t)};
  uint32_t epoch = 0;
};

TEST_F(SitesTest, ProgramIsTheFirstModule) {
  Modules modules(arena, nullptr);
  modules.use_epoch(&epoch);
  ASSERT_EQ(modules.count(), 1);
  EXPECT_NE(std::string(modules[0].path).find("sites_test"), std::string::npos);
  EXPECT_EQ(modules.find(here()), 0);
  EXPECT_FALSE(modules[0].internal);
  EXPECT_GT(modules[0].build_id_size, 0);
}

TEST_F(SitesTest, ObjectThatHoldsMpiIsInternal) {
  Plugin plugin(NAMES_PLUGIN_WITH_ID);
  ASSERT_NE(plugin.handle, nullptr);
  Modules modules(arena, reinterpret_cast<const void *>(plugin.site));
  EXPECT_TRUE(modules[modules.find(plugin.data)].internal);
  EXPECT_TRUE(modules.site(plugin.site)->internal);
  EXPECT_FALSE(modules.site(here())->internal);
  plugin.close();
}

TEST_F(SitesTest, ProgramThatHoldsMpiIsNot) {
  Modules modules(arena, reinterpret_cast<const void *>(here()));
  EXPECT_FALSE(modules[0].internal);
}

TEST(PythonNames, TellMpi4pyAndTheInterpreterFromOthers) {
  for (const char *path : {"/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so",
                           "/v/site-packages/mpi4py/MPI.mpich.abi3.so"}) {
    EXPECT_TRUE(is_python_binding_name(path)) << path;
    EXPECT_FALSE(is_python_name(path)) << path;
  }
  for (const char *path : {"/usr/bin/python3.11", "python3", "/v/bin/python3.11d", "/usr/lib/libpython3.11.so.1.0"}) {
    EXPECT_TRUE(is_python_name(path)) << path;
    EXPECT_FALSE(is_python_binding_name(path)) << path;
  }
  for (const char *path :
       {"/p/python_solver", "/p/pythonic.so", "/p/MPI.so", "/other4py/MPI.so", "/p/mpi4py/dl.so", "MPI.so", "", "/"}) {
    EXPECT_FALSE(is_python_name(path)) << path;
    EXPECT_FALSE(is_python_binding_name(path)) << path;
  }
}

TEST(InternalName, TellsTheLibraryFromItsBindings) {
  for (const char *path : {"/usr/lib/libmpi.so.40", "libmpich.so.12.2.1", "/x/libopen-pal.so.40",
                           "/x/libopen-rte.so.40", "/usr/lib/openmpi/mca_io_romio321.so", "libmca_common_ompio.so.41",
                           "/p/libcairn.so", "/p/libcairn-recorder.so"}) {
    EXPECT_TRUE(is_internal_name(path)) << path;
  }
  for (const char *path :
       {"/usr/lib/libmpi_mpifh.so.40", "libmpichfort.so.12", "libmpi_usempif08.so.40", "libmpichcxx.so.12",
        "libmpi_cxx.so.40", "/home/u/mca/app", "libscalapack-openmpi.so", "/p/libcairn-arrays.so", "", "/"}) {
    EXPECT_FALSE(is_internal_name(path)) << path;
  }
}

TEST(FortranBindingName, TellsFortranFromTheRest) {
  for (const char *path : {"/usr/lib/libmpichfort.so.12.2.2", "libmpifort.so.12", "/x/libmpi_mpifh.so.40",
                           "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"}) {
    EXPECT_TRUE(is_fortran_binding_name(path)) << path;
  }
  for (const char *path : {"libmpich.so.12", "libmpi.so.40", "libmpichcxx.so.12", "/libmpifort.so/app", "", "/"}) {
    EXPECT_FALSE(is_fortran_binding_name(path)) << path;
  }
}

TEST_F(SitesTest, ReadsBuildIds) {
  Modules modules(arena, nullptr);
  modules.use_epoch(&epoch);
  Plugin with(NAMES_PLUGIN_WITH_ID);
  Plugin without(NAMES_PLUGIN_WITHOUT_ID);
  ASSERT_NE(with.handle, nullptr);
  ASSERT_NE(without.handle, nullptr);
  const ModuleInfo &first = modules[modules.find(with.site)];
  const uint8_t expected[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
  ASSERT_EQ(first.build_id_size, 8);
  EXPECT_EQ(std::memcmp(first.build_id, expected, 8), 0);
  const ModuleInfo &second = modules[modules.find(without.site)];
  EXPECT_EQ(second.build_id_size, 16);
  EXPECT_STREQ(second.path, NAMES_PLUGIN_WITHOUT_ID);

  Modules again(arena, nullptr);
  EXPECT_EQ(std::memcmp(again[again.find(without.site)].build_id, second.build_id, 16), 0);
  with.close();
  without.close();
}

TEST_F(SitesTest, SitesAreUniquePerModuleAndOffset) {
  Modules modules(arena, nullptr);
  modules.use_epoch(&epoch);
  SiteTable one(arena, modules, &epoch);
  SiteTable other(arena, modules, &epoch);
  std::set<Site *> sites;
  const uintptr_t start = here();
  for (uintptr_t i = 0; i < 500; ++i) {
    Site *site = one.find(start + i);
    ASSERT_NE(site, nullptr);
    EXPECT_EQ(site->id, i);
    EXPECT_EQ(site->module, 0U);
    EXPECT_EQ(site->offset, start + i - modules[0].load_base);
    EXPECT_EQ(one.find(start + i), site);
    EXPECT_EQ(other.find(start + i), site);
    sites.insert(site);
  }
  EXPECT_EQ(sites.size(), 500U);
}

TEST_F(SitesTest, ReopenedPluginIsTheSameModule) {
  Modules modules(arena, nullptr);
  modules.use_epoch(&epoch);
  SiteTable table(arena, modules, &epoch);
  Plugin plugin(NAMES_PLUGIN_WITH_ID);
  ASSERT_NE(plugin.handle, nullptr);
  const Site *site = table.find(plugin.site);
  const uintptr_t old_address = plugin.site;
  plugin.close();
  ++epoch;
  // Something else takes the place, so that it comes back elsewhere.
  const uintptr_t page = old_address & ~uintptr_t{4095};
  void *squatter = mmap(reinterpret_cast<void *>(page), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Plugin again(NAMES_PLUGIN_WITH_ID);
  ASSERT_NE(again.handle, nullptr);
  EXPECT_NE(again.site, old_address);
  EXPECT_EQ(table.find(again.site), site);
  EXPECT_EQ(modules[static_cast<int>(site->module)].load_base, again.site - site->offset);
  EXPECT_EQ(modules.count(), 2);
  again.close();
  munmap(squatter, 4096);
}

TEST_F(SitesTest, CodeMadeAtRunTimeIsAModule) {
  Modules modules(arena, nullptr);
  modules.use_epoch(&epoch);
  void *code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  const Site *site = modules.site(address_of(code) + 64);
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->module, 1U);
  EXPECT_STREQ(modules[1].path, "");
  EXPECT_EQ(modules[1].build_id_size, 0);
  EXPECT_EQ(site->offset, address_of(code) + 64 - modules[1].low);
  EXPECT_EQ(modules.find_object(address_of(memory.data())), -1) << "data in a mapping is no module";
  munmap(code, 4096);
}

TEST_F(SitesTest, NothingThereIsNoModule) {
  Modules modules(arena, nullptr);
  modules.use_epoch(&epoch);
  EXPECT_EQ(modules.find(1), -1);
  EXPECT_EQ(modules.find(UINTPTR_MAX), -1);
  EXPECT_EQ(modules.site(8), nullptr);
}

TEST_F(SitesTest, DegradesWithoutMemory) {
  Arena none(memory.data(), 64);
  Modules modules(none, nullptr);
  SiteTable table(none, modules, &epoch);
  EXPECT_EQ(table.find(here()), nullptr);
  EXPECT_EQ(modules.count(), 0);

  // Enough for the list but not for many sites: old ones stay findable.
  Arena little(memory.data(), 40 << 10);
  Modules some(little, nullptr);
  SiteTable few(little, some, &epoch);
  Site *first = few.find(here());
  const uintptr_t start = here();
  int found = 0;
  for (uintptr_t i = 0; i < 5000; ++i) found += few.find(start + i) != nullptr ? 1 : 0;
  EXPECT_LT(found, 5000);
  EXPECT_NE(first, nullptr);
}

TEST_F(SitesTest, ThreadsAgree) {
  Modules modules(arena, nullptr);
  modules.use_epoch(&epoch);
  constexpr int kThreads = 4;
  constexpr uintptr_t kSites = 2000;
  std::vector<std::vector<Site *>> found(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  const uintptr_t start = here();
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      SiteTable table(arena, modules, &epoch);
      for (uintptr_t i = 0; i < kSites; ++i) found[t].push_back(table.find(start + i));
    });
  }
  for (std::thread &thread : threads) thread.join();
  std::set<uint32_t> ids;
  for (uintptr_t i = 0; i < kSites; ++i) {
    ids.insert(found[0][i]->id);
    for (int t = 1; t < kThreads; ++t) ASSERT_EQ(found[t][i], found[0][i]);
  }
  EXPECT_EQ(ids.size(), kSites);
  EXPECT_EQ(*ids.rbegin(), kSites - 1);
}

}  // namespace
}  // namespace cairn::recorder
