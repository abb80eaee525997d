// Places: the functions that a run called and where in the program, by a number each. Calls of one function at one
// place in the source are one, whichever class of ranks made them.
//
// Borrows the sources. One thread. Cost of a look-up: one of a hash table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/messages.h"
#include "analyze/sources.h"

namespace cairn::analyze {

/// A function, called at one place of the program.
struct Place {
  uint32_t function = 0;
  Position position;
};

class Places {
 public:
  explicit Places(const Sources &sources) : sources_(sources) {}
  uint32_t of(const CallTime &call);
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
  const Sources &sources_;
  std::unordered_map<Key, uint32_t, Hash> known_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> by_text_;
  std::vector<Place> all_;
};

}  // namespace cairn::analyze
