// Fewest edits: which items of two sequences are left out so that what is left of both is alike, as few as can be.
// E. W. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1 (1986).
//
// Stateless; any thread. Cost: the items of both times the edits; memory the items times the edits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace cairn::analyze {

enum class Edit : uint8_t {
  both,    ///< the next items of both, which are alike
  first,   ///< the next one of the first is left out
  second,  ///< the next one of the second
};

/// A sequence, or its beginning.
struct EditedPart {
  size_t items = 0;
  bool is_all = true;  ///< nothing follows
};

/// From the beginnings of both in order to the ends of both; or, where something follows in one, to the end of what is
/// given of that one, or of the other if something follows there. `alike` is asked of places in both.
std::vector<Edit> fewest_edits(const EditedPart &first, const EditedPart &second,
                               const std::function<bool(size_t, size_t)> &alike);

}  // namespace cairn::analyze
