// Lists of ranks as people read and write them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn {

/// Ascending numbers as "0-7,12".
std::string ranks_text(const std::vector<uint32_t> &ranks);
/// "rank 3", "ranks 0-7,12".
std::string named_ranks(const std::vector<uint32_t> &ranks);

}  // namespace cairn
