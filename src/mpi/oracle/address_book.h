// AddressBook: whether named addresses and raw ones of one process can mean the same memory, while its events are
// replayed.
//
// A named address is (class, number, offset). Raw minus offset is one base for each (class, number) as long as the
// segment lives, and no two living segments reach into each other. When a segment of the heap dies the log can't know;
// it knows, at best, that nothing was freed between two calls (the epoch). Then a change of base is an error; otherwise
// it is the end of the old segment. Without epochs every call may have freed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "trace/values/atom.h"

namespace cairn::oracle {

struct NamedAddress {
  trace::Atom kind = trace::kNull;
  int64_t number = 0;
  int64_t offset = 0;
};

class AddressBook {
 public:
  /// Empty if `raw` can be what `named` says, else what contradicts it. `thread` is the caller's, whose stack it is.
  /// `when` is a number that stays the same while nothing can have been freed.
  std::string check(const NamedAddress &named, uint64_t raw, uint64_t thread, uint64_t when);
  /// Memory that MPI just gave (the segment begins at `raw`), or takes back.
  void mpi_memory(uint64_t raw, bool given);

 private:
  struct Segment {
    uint64_t base = 0;
    uint64_t low = 0;  ///< of the addresses seen in it
    uint64_t high = 0;
    uint64_t when = 0;
    bool over = false;
  };
  using Key = std::pair<trace::Atom, int64_t>;

  std::string in_segment(const Key &key, uint64_t base, uint64_t raw, uint64_t when, bool mortal);

  std::map<Key, Segment> segments_;
  std::map<uint64_t, Key> by_low_;  ///< living segments by the lowest address seen
  std::map<uint64_t, uint64_t> stack_of_thread_;
  std::map<int64_t, uint64_t> unknown_;
};

}  // namespace cairn::oracle
