// CommunicatorIds: whether the ids that a rank's communicators were created with (spec/README.md, "Communicators") tell
// them apart. Those who have the same id must be one communicator, and whoever has the smallest rank of two is in both:
// so it is enough to look at each rank alone.
//
// One rank each; `add` for each of its distinct calls, in any order. What was created over a communicator without a
// name of its own is judged by how often one had that number. Plain value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/model/record.h"

namespace cairn::analyze {

class CommunicatorIds {
 public:
  void add(const trace::Row &row, uint64_t count);
  /// A line for each id that several have. `complete`: no call of the rank is missing.
  [[nodiscard]] std::vector<std::string> repeated(bool complete) const;

 private:
  /// Parent, or function and tags; then what the new communicator's field says.
  struct Id {
    trace::Atom parent = 0;  ///< number or constant; kUnknown: the counter is not its
    uint32_t function = 0;
    std::vector<trace::Atom> tags;
    Bytes text;
    std::vector<trace::Atom> identity;
    auto operator<=>(const Id &) const = default;
  };
  std::map<Id, uint64_t> created_;
  std::map<trace::Atom, uint64_t> with_number_;
};

}  // namespace cairn::analyze
