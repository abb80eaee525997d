// Names of functions as people know them.
#include "analyze/debug_info.h"

#include <gtest/gtest.h>

namespace cairn::analyze {
namespace {

TEST(Demangled, OnlyWhatIsMangled) {
  EXPECT_EQ(demangled("_ZN4grid4stepEi"), "grid::step(int)");
  // C functions whose names are also the codes of types: float, int, void, pointers to them, std::string.
  for (const char *name : {"f", "i", "v", "Pv", "PKc", "Ss", "main", "_start", ""}) EXPECT_EQ(demangled(name), name);
}

}  // namespace
}  // namespace cairn::analyze
