// The recording that a rank of a run of any size would have left, made of a program that was learned from smaller runs.
//
// Cost: the items of the course, and the turns of loops in which something differs from turn to turn. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "extrapolate/peers.h"
#include "extrapolate/program.h"
#include "extrapolate/times.h"
#include "trace/model/record.h"

namespace cairn::extrapolate {

class RankRecording {
 public:
  /// `times`: nullptr where the trace is to have none.
  RankRecording(const Program &program, const Times *times, const Coordinates &of, Peers *peers);
  trace::ProcessRecord record();
  /// How often a law gave what no call can have (no whole number, a negative count), and a recorded value stood in.
  [[nodiscard]] uint64_t failed() const { return failed_; }
  /// How often one did not come out even, and was rounded up.
  [[nodiscard]] uint64_t rounded() const { return rounded_; }

 private:
  using Body = grammar::Body;
  int64_t count_of(const CourseItem &item);
  /// What the list gives, as terms of the rule.
  void append(const std::vector<CourseItem> &list, const Moment &moment, Body *out);
  /// Whether what the item makes depends on the turn of a loop around it: of `level` loops between, the next.
  [[nodiscard]] bool notices(const CourseItem &item, unsigned level) const;
  /// On its own turns.
  [[nodiscard]] bool notices_its_own(const CourseItem &item) const;
  uint32_t symbol_of(const CourseItem &item, const Moment &moment);
  trace::Row row_of(const CourseItem &item, const Moment &moment);
  void fill(const FieldRule &rule, const Moment &moment, trace::Field *field);
  trace::Atom atom_of(const AtomRule &rule, const Moment &moment, const trace::Field &donated, size_t place);
  /// Where what is received has no law, it is what the others send: of the call that stands at `place` among a donor's.
  void receive_what_is_sent(const CourseItem &item, const Moment &moment, size_t place, trace::Row *row);
  uint32_t local_site(uint32_t site);

  const Program &program_;
  const Times *times_;
  const Coordinates &of_;
  Peers &peers_;
  uint32_t donor_;
  std::vector<grammar::Body> rules_;
  std::unordered_map<std::string, uint32_t> symbols_;
  std::unordered_map<uint32_t, uint32_t> steady_;  ///< by item: the symbol of a call that is the same each turn
  std::unordered_map<uint32_t, size_t> drawn_;     ///< by item: the next of the donor's calls
  std::unordered_map<uint32_t, uint32_t> local_sites_;
  trace::SequenceRecord sequence_;
  std::vector<uint32_t> kind_of_symbol_;
  uint64_t written_out_ = 0;  ///< turns
  uint64_t failed_ = 0;
  uint64_t rounded_ = 0;
};

}  // namespace cairn::extrapolate
