#include "analyze/calls_on.h"

#include <tuple>

namespace cairn::analyze {

Result<const CallsOn::InClass *> CallsOn::of(uint32_t rank, uint32_t class_index) {
  if (known_ != rank) {
    known_.reset();
    classes_.clear();
    if (auto done = read(rank, &classes_); !done) return tl::unexpected(done.error());
    known_ = rank;
  }
  return &classes_[class_index];
}

Result<void> CallsOn::read(uint32_t rank, std::map<uint32_t, InClass> *classes) const {
  struct Known {
    uint64_t version = 0;  ///< of the names that `wanted` holds for
    bool wanted = false;
    size_t place = SIZE_MAX;  ///< in InClass::calls
  };
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<Known>> known;  // by thread, segment, class; then call
  CommunicatorNames names(trace_, rank);
  trace::Events events(trace_, rank);
  while (const trace::Event *event = events.next()) {
    const trace::Row &row = *event->values;
    names.see(row);
    std::vector<Known> &calls = known[{event->thread, event->segment, event->class_index}];
    if (event->call >= calls.size()) calls.resize(size_t{event->call} + 1);
    Known &call = calls[event->call];
    if (call.version != names.version()) {
      call.version = names.version();
      call.wanted = wanted_.wants(event->class_index, row, &names);
    }
    InClass &here = (*classes)[event->class_index];
    if (event->damaged) here.damaged.add(1, events.end().error());
    if (event->timed) here.times[event->row].add(event->duration_ns, call.wanted);
    if (!call.wanted) {
      here.others.insert({row.function, row.site});
      continue;
    }
    if (call.place == SIZE_MAX) {
      call.place = here.calls.size();
      here.calls.push_back({row, event->row, 0});
    }
    ++here.calls[call.place].count;
  }
  return events.end_of_calls();
}

}  // namespace cairn::analyze
