// Findings: what `check` found, gathered: one for all that is wrong in the same way at the same pair of calls of the
// program, however often and on however many ranks.
//
// Plain values. Memory for the distinct findings; kMost of them are kept, the others counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/messages.h"
#include "analyze/places.h"

namespace cairn::check {

enum class Kind : uint8_t {
  arguments,    ///< what no call may be given, and calls that returned errors
  leaks,        ///< objects that are there when MPI_Finalize is called
  handles,      ///< handles of objects that are gone, or not ready
  types,        ///< what is sent is not what is expected, by the types of its elements
  truncation,   ///< messages longer than the room for them
  messages,     ///< sent and never received, or the other way round
  collectives,  ///< calls that members of a communicator must make alike and do not
  buffers,      ///< memory that a pending operation uses and another one, too
  deadlock,     ///< ranks that wait for each other at the end
  buffering,    ///< ranks that would, if MPI did not buffer a message
  windows,      ///< one-sided access beyond a window, or to what another one uses
};
constexpr size_t kKinds = 11;
/// "arguments", …: the words of --kinds.
const char *name_of(Kind kind);
/// Which kinds.
class Kinds {
 public:
  static Kinds all() { return Kinds((1U << kKinds) - 1); }
  Kinds() = default;
  [[nodiscard]] bool has(Kind kind) const { return (bits_ >> static_cast<unsigned>(kind) & 1) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  void add(Kind kind) { bits_ |= 1U << static_cast<unsigned>(kind); }
  void remove(Kind kind) { bits_ &= ~(1U << static_cast<unsigned>(kind)); }

 private:
  explicit Kinds(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

/// Where a finding was met first.
struct Met {
  uint32_t rank = 0;
  std::optional<uint64_t> call;  ///< Event::index of that rank
};

struct Finding {
  Kind kind = Kind::arguments;
  bool sure = true;    ///< false: what the trace has does not exclude that all is well
  std::string text;    ///< of the first
  uint32_t place = 0;  ///< of Findings::places
  std::optional<uint32_t> other_place;
  uint64_t count = 0;
  std::set<uint32_t> ranks;   ///< those of `place`
  std::set<uint32_t> others;  ///< that have a part in it otherwise: of `other_place`, members, who waits for these
  Met first;
  std::optional<Met> other_first;
};

class Findings {
 public:
  static constexpr size_t kMost = 4096;
  explicit Findings(const analyze::Sources &sources) : places_(sources) {}

  struct What {
    Kind kind = Kind::arguments;
    bool sure = true;
    std::string text;
    /// What tells it from other findings of the two calls; else the text does.
    std::optional<std::string> sort = std::nullopt;
    uint64_t count = 1;
    bool numbered = true;            ///< CallTime::call is known
    std::vector<uint32_t> ranks{};   ///< that have a part in it besides that of the call
    std::vector<uint32_t> others{};  ///< Finding::others besides that of the other call
  };
  /// From now on what is found at a call counts as often as that says; the call's own number must be known.
  void count_as(std::function<uint64_t(const analyze::CallTime &)> times) { times_ = std::move(times); }
  void add(What what, const analyze::CallTime &call, const std::optional<analyze::CallTime> &other = std::nullopt);
  /// "MPI_Recv at halo.c:12"; "MPI_Recv" where that is not known.
  std::string name(const analyze::CallTime &call);

  [[nodiscard]] const std::vector<analyze::Place> &places() const { return places_.all(); }
  /// By kind, those that are sure first, then by where they were met.
  [[nodiscard]] std::vector<Finding> take();
  [[nodiscard]] uint64_t left_out() const { return left_out_; }
  /// How often something was added.
  [[nodiscard]] uint64_t count() const { return count_; }

 private:
  using Key = std::tuple<Kind, bool, std::string, uint32_t, std::optional<uint32_t>>;
  analyze::Places places_;
  std::map<Key, Finding> all_;
  std::function<uint64_t(const analyze::CallTime &)> times_;
  uint64_t left_out_ = 0;
  uint64_t count_ = 0;
};

}  // namespace cairn::check
