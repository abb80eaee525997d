// Content: what one call says to those on its other side: the type signatures of what it sends and has room for, and
// of a collective call who is the root and how values are combined. Equal ones of all ranks are one object, so that
// whether two sides fit together is found out once.
//
// Immutable. A table is one thread's; memory for the distinct contents.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/messages.h"
#include "check/signatures.h"

namespace cairn::check {

struct Content : analyze::Mark {
  /// nullopt: not known.
  using Part = std::optional<Stretch>;
  std::vector<Part> sends;     ///< empty: sends nothing, or what is in its receive buffer; one: to each; else by rank
  std::vector<Part> receives;  ///< the same
  std::optional<int64_t> root;
  bool is_root = false;  ///< MPI_ROOT, between two groups
  /// The constant's name; "" without one; kOwnOperator.
  std::string op;
  bool nonblocking = false;
  [[nodiscard]] static const Part &of(const std::vector<Part> &parts, size_t rank) {
    static const Part nothing;
    return parts.size() == 1 ? parts[0] : rank < parts.size() ? parts[rank] : nothing;
  }
};
/// What the member's call of a meeting says; nothing where that is not known.
const Content &content_of(const analyze::Meeting &meeting, size_t member);
constexpr const char *kOwnOperator = "an operator of the program";
using ContentPointer = std::shared_ptr<const Content>;

class Contents {
 public:
  ContentPointer of(const trace::Row &row, const analyze::RowScope &scope, const RankTypes &types);

 private:
  std::map<std::string, ContentPointer> all_;
};

}  // namespace cairn::check
