// How many elements of a dimension each process has, against giving them out one by one.
#include "analyze/darray.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace cairn::analyze {
namespace {

TEST(Darray, EachElementBelongsToOneProcess) {
  for (int64_t side = 1; side < 20; ++side) {
    for (int64_t parts = 1; parts < 6; ++parts) {
      for (int64_t block = 1; block < 8; ++block) {
        std::vector<int64_t> given(static_cast<size_t>(parts));
        for (int64_t element = 0; element < side; ++element) ++given[static_cast<size_t>(element / block % parts)];
        for (int64_t place = 0; place < parts; ++place) {
          const int64_t own = given[static_cast<size_t>(place)];
          EXPECT_EQ((DarrayDimension{side, parts, place, block, true}.elements()), own);
          if (block * parts < side) continue;  // then one block each is not enough
          EXPECT_EQ((DarrayDimension{side, parts, place, block, false}.elements()), own);
        }
      }
    }
  }
}

}  // namespace
}  // namespace cairn::analyze
