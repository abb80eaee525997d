// EventSource: the decoded events that `verify` compares with the raw logs. A trace is one; tests put their own in
// between to change single values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace cairn::oracle {

/// A call site as it is the same in all sequences: module (index into the trace's) and offset.
struct SiteKey {
  uint64_t module = UINT64_MAX;  ///< UINT64_MAX: the unknown site
  uint64_t offset = 0;
  auto operator<=>(const SiteKey &) const = default;
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
  [[nodiscard]] virtual const grammar::Grammar &calls(const trace::SequenceView &sequence) const = 0;
  [[nodiscard]] virtual trace::Row row(const trace::SequenceView &sequence, uint32_t row) const = 0;
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
  [[nodiscard]] const grammar::Grammar &calls(const trace::SequenceView &sequence) const override {
    return *trace_.class_view(sequence.class_index).calls;
  }
  [[nodiscard]] trace::Row row(const trace::SequenceView &sequence, uint32_t row) const override {
    return trace_.row(sequence.class_index, row, sequence.rank);
  }
  [[nodiscard]] std::vector<SiteKey> sites(const trace::SequenceView &sequence) const override {
    std::vector<SiteKey> keys;
    for (const trace::Site &site : trace_.sites(sequence.class_index)) {
      keys.push_back(keys.empty() ? SiteKey{} : SiteKey{site.module, site.offset});
    }
    return keys;
  }

 private:
  const trace::Trace &trace_;
};

}  // namespace cairn::oracle
