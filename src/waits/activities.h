// Activities: what a rank does between two moments, by a number each: it computes before a call, is in other calls
// before it, or is in it. Calls of one function at one place in the source are one.
//
// Example: a rank that goes through a loop of MPI_Send at app.c:9 has the activities "outside MPI before MPI_Send
// app.c:9" and "in MPI_Send app.c:9".
//
// One thread. Cost of a look-up: one of a hash table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/messages.h"
#include "analyze/sources.h"

namespace cairn::waits {

/// A function, called at one place of the program.
struct Place {
  uint32_t function = 0;
  analyze::Position position;
};

enum class Doing : uint8_t {
  outside,  ///< of MPI, before a call
  others,   ///< in calls that have to do with no other rank, before a call
  inside,   ///< of a call
};

/// Three for each place, in the order of Doing.
using Activity = uint32_t;
constexpr Activity kUnknownActivity = UINT32_MAX;
constexpr Activity activity(uint32_t place, Doing doing) { return 3 * place + static_cast<Activity>(doing); }
constexpr uint32_t place_of(Activity activity) { return activity / 3; }
constexpr Doing doing(Activity activity) { return static_cast<Doing>(activity % 3); }

class Places {
 public:
  explicit Places(const analyze::Sources &sources) : sources_(sources) {}
  uint32_t of(const analyze::CallTime &call);
  [[nodiscard]] const std::vector<Place> &all() const { return all_; }

 private:
  struct Key {
    uint32_t class_index;
    uint32_t function;
    uint32_t site;
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &key) const;
  };
  const analyze::Sources &sources_;
  std::unordered_map<Key, uint32_t, Hash> known_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> by_text_;
  std::vector<Place> all_;
};

}  // namespace cairn::waits
