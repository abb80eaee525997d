// Losses: what a rank's recording could not keep as it was asked to, and what that did to it.
//
// They travel and lie in a trace as a text for each rank, a line a reason: `!` if calls or their arguments are missing,
// `-` if calls are left out on request, how often if that was counted, and what happened, as in "!130699 a call stands
// without arguments". What an earlier version wrote is a reason without a count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::trace {

struct Loss {
  std::string reason;
  uint64_t count = 0;    ///< how often; 0: not counted
  bool missing = false;  ///< calls, or arguments of calls, are not in the trace
  bool asked = false;    ///< calls are not in the trace because somebody wanted that

  /// Calls are not in the trace, whoever wanted that.
  [[nodiscard]] bool lacks_calls() const { return missing || asked; }
  bool operator==(const Loss &) const = default;
};

std::string write_losses(const std::vector<Loss> &losses);
/// Of any text: at worst it is one reason.
std::vector<Loss> read_losses(std::string_view text);

}  // namespace cairn::trace
