// Peers: all ranks of the run that is made: where each lies, and who stands for it where something is drawn
// (Program::donor_of). For ranks that must say what others say, what is received is what is sent; and for what one rank
// says for all.
//
// Worked out when it is asked for first. Borrows the program. One thread. Cost: some hundred bytes a rank.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "extrapolate/program.h"

namespace cairn::extrapolate {

class Peers {
 public:
  Peers(const Program &program, uint32_t ranks, int64_t scale) : program_(program), ranks_(ranks), scale_(scale) {}
  struct Peer {
    Coordinates of;
    uint32_t donor = 0;
  };
  const std::vector<Peer> &all() {
    for (auto rank = static_cast<uint32_t>(peers_.size()); rank < ranks_; ++rank) {
      const Coordinates of = Coordinates::of(rank, ranks_, scale_);
      peers_.push_back({of, program_.donor_of(of)});
    }
    return peers_;
  }
  /// Whether no rank has told yet what is of all ranks at a site of the catalogue; from now on one has.
  bool tells_first(uint32_t site) { return told_.insert(site).second; }

 private:
  const Program &program_;
  uint32_t ranks_;
  int64_t scale_;
  std::vector<Peer> peers_;
  std::set<uint32_t> told_;
};

}  // namespace cairn::extrapolate
