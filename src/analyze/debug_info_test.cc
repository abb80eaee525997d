// Names of functions as people know them, and files where they are.
#include "analyze/debug_info.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

namespace cairn::analyze {
namespace {

TEST(Demangled, OnlyWhatIsMangled) {
  EXPECT_EQ(demangled("_ZN4grid4stepEi"), "grid::step(int)");
  // C functions whose names are also the codes of types: float, int, void, pointers to them, std::string.
  for (const char *name : {"f", "i", "v", "Pv", "PKc", "Ss", "main", "_start", ""}) EXPECT_EQ(demangled(name), name);
}

TEST(Demangled, ProceduresOfFortranModules) {
  EXPECT_EQ(demangled("__plib_module_MOD_testsome"), "plib_module::testsome");
  EXPECT_EQ(demangled("__a_MOD_b.3"), "a::b");  // contained in a procedure of the module
  EXPECT_EQ(demangled("inner.0"), "inner");
  EXPECT_EQ(demangled("_QMplib_modulePtestsome"), "plib_module::testsome");   // flang
  EXPECT_EQ(demangled("plib_module_mp_testsome_"), "plib_module::testsome");  // Intel's
  for (const char *name : {"__MOD_", "__a_MOD_", "__x_MODE_y", "_QM", "_QMP", "QueueMP_mp_Push_", "_mp_", "a_mp_", ".5",
                           "f.", "f.isra", "f.5a"}) {
    EXPECT_EQ(demangled(name), name);
  }
}

/// Build tools mostly name files by relative paths, this one too.
TEST(DebugInfo, FilesHaveTheirWholePath) {
  Dl_info self{};
  const auto here = reinterpret_cast<uintptr_t>(&demangled);
  ASSERT_NE(dladdr(reinterpret_cast<void *>(here), &self), 0);
  const auto info = DebugInfo::open("/proc/self/exe");
  ASSERT_NE(info, nullptr);
  const auto source = info->find(here - reinterpret_cast<uintptr_t>(self.dli_fbase) + 1);
  ASSERT_TRUE(source.has_value());
  if (source->file.empty()) GTEST_SKIP() << "built without debug information";
  EXPECT_EQ(source->file.front(), '/') << source->file;
  EXPECT_EQ(source->file.find("/../"), std::string::npos) << source->file;
  struct stat status {};
  EXPECT_EQ(stat(source->file.c_str(), &status), 0) << source->file;
}

}  // namespace
}  // namespace cairn::analyze
