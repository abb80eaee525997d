// Places: the functions that a run called and where in the program, by a number each. Calls of one function at one
// place in the source are one, whichever class of ranks made them.
//
// Borrows the sources. One thread. Cost of a look-up: two of arrays.
#pragma once

#include <cstdint>
#include <map>
#include <string>
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
  struct AtSite {
    uint32_t function = UINT32_MAX;
    uint32_t place = 0;
  };
  uint32_t find(const CallTime &call);
  const Sources &sources_;
  std::vector<std::vector<AtSite>> known_;  ///< by class, then site: the function that was last asked for there
  std::map<std::pair<uint32_t, std::string>, uint32_t> by_text_;
  std::vector<Place> all_;
};

}  // namespace cairn::analyze
