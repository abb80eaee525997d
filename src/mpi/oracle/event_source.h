// EventSource: the decoded events that `verify` compares with the raw logs. A trace is one; tests put their own in
// between to change single values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/read/call_reader.h"
#include "trace/read/trace.h"

namespace cairn::oracle {

/// A call site as it is the same in all sequences: module (index into the trace's), offset, and caller (1 + index into
/// the trace's sites, or 0).
struct SiteKey {
  uint64_t module = UINT64_MAX;  ///< UINT64_MAX: the unknown site
  uint64_t offset = 0;
  uint64_t caller = 0;
  auto operator<=>(const SiteKey &) const = default;
};

/// A sequence expanded.
struct Calls {
  std::vector<uint32_t> order;       ///< the calls, as indices into `distinct`
  std::vector<trace::Row> distinct;  ///< each with all its values, in order of first occurrence
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  [[nodiscard]] virtual uint32_t rank_count() const = 0;
  [[nodiscard]] virtual std::vector<uint32_t> ranks() const = 0;
  /// False: the recording of this rank ends before the program did.
  [[nodiscard]] virtual bool complete(uint32_t rank) const = 0;
  /// In order of (thread, segment).
  [[nodiscard]] virtual std::vector<trace::SequenceView> sequences(uint32_t rank) const = 0;
  [[nodiscard]] virtual Calls calls(const trace::SequenceView &sequence) const = 0;
  [[nodiscard]] virtual std::vector<SiteKey> sites(const trace::SequenceView &sequence) const = 0;
};

class TraceSource : public EventSource {
 public:
  explicit TraceSource(const trace::Trace &trace) : trace_(trace) {}
  [[nodiscard]] uint32_t rank_count() const override { return trace_.rank_count(); }
  [[nodiscard]] std::vector<uint32_t> ranks() const override { return trace_.ranks(); }
  [[nodiscard]] bool complete(uint32_t rank) const override { return trace_.rank_info(rank).complete; }
  [[nodiscard]] std::vector<trace::SequenceView> sequences(uint32_t rank) const override {
    return trace_.sequences(rank);
  }
  [[nodiscard]] Calls calls(const trace::SequenceView &sequence) const override {
    Calls all;
    trace::CallReader reader(trace_, sequence);
    for (grammar::Symbol call = reader.next(); call != grammar::kNoSymbol; call = reader.next()) {
      if (call == all.distinct.size()) all.distinct.push_back(reader.call(call));
      all.order.push_back(call);
    }
    return all;
  }
  [[nodiscard]] std::vector<SiteKey> sites(const trace::SequenceView &sequence) const override {
    std::vector<SiteKey> keys;
    for (const trace::Site &site : trace_.sites(sequence.class_index)) {
      keys.push_back(keys.empty() ? SiteKey{} : SiteKey{site.module, site.offset, site.caller});
    }
    return keys;
  }

 private:
  const trace::Trace &trace_;
};

}  // namespace cairn::oracle
