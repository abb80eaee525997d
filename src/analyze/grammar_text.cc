#include "analyze/grammar_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyze/decode.h"
#include "text/rank_list.h"
#include "trace/read/events.h"

namespace cairn::analyze {
namespace {

std::string rule_text(const std::vector<grammar::Term> &body) {
  std::string text;
  for (const grammar::Term &term : body) {
    text += fmt::format(" {}{}", term.is_rule ? "R" : "", term.id);
    if (term.count != 1) text += fmt::format("^{}", term.count);
  }
  return text;
}

/// Calls of one row, on several ranks or at several times, as one: every argument that others have otherwise than the
/// first is replaced: by its difference to the rank, or by "*".
class Folder {
 public:
  void add(Call other, uint32_t rank) {
    if (!begun_) {
      begun_ = true;
      first_ = std::move(other);
      rank_ = rank;
      states_.resize(first_.arguments.size());
      return;
    }
    for (size_t i = 0; i < states_.size() && i < other.arguments.size(); ++i) {
      const Value &a = first_.arguments[i].value;
      const Value &b = other.arguments[i].value;
      if (a == b && states_[i] != State::relative) continue;
      const bool numbers = a.kind == Value::Kind::integer && b.kind == Value::Kind::integer;
      const bool shifted = numbers && b.number - rank == a.number - rank_;
      if (states_[i] == State::same && shifted && one_rank_) {
        states_[i] = State::relative;
      } else if (states_[i] != State::relative || !shifted) {
        states_[i] = State::various;
      }
    }
    if (!(first_.result == other.result)) first_.result = Value::symbol("*");
    one_rank_ = one_rank_ && rank == rank_;
  }
  [[nodiscard]] bool begun() const { return begun_; }
  Call result() {
    for (size_t i = 0; i < states_.size(); ++i) {
      Value &value = first_.arguments[i].value;
      if (states_[i] == State::various) value = Value::symbol("*");
      if (states_[i] != State::relative) continue;
      const int64_t difference = value.number - rank_;
      value = Value::symbol(difference == 0 ? "rank" : fmt::format("rank{:+}", difference));
    }
    return std::move(first_);
  }

 private:
  enum class State : uint8_t { same, relative, various };
  bool begun_ = false;
  Call first_;
  int64_t rank_ = 0;
  bool one_rank_ = true;  ///< so far
  std::vector<State> states_;
};

std::string calls_text(uint64_t calls) { return fmt::format("{} call{}", calls, calls == 1 ? "" : "s"); }

std::string class_text(const trace::Trace &trace, const Decoder &decoder, uint32_t index) {
  const trace::ClassView view = trace.class_view(index);
  std::string text = fmt::format("class {}: {} {}, thread {}", index, view.ranks.size() == 1 ? "rank" : "ranks",
                                 ranks_text(view.ranks), view.thread);
  if (view.segment == trace::SequenceRecord::kEpilogue) {
    text += ", after MPI_Finalize";
  } else if (view.segment != 0) {
    text += fmt::format(", segment {}", view.segment);
  }
  const std::vector<uint64_t> counts = trace.row_counts(index);
  if (view.counted) {
    text += ", " + calls_text(std::accumulate(counts.begin(), counts.end(), uint64_t{0})) + " together\n";
  } else {
    text += ", " + calls_text(view.calls->length()) + " each\n";
  }
  const trace::Structure structure = trace::structure_of(trace, index);
  for (size_t rule = 0; rule < structure.rules->size(); ++rule) {
    text += fmt::format("  R{} ->{}\n", rule, rule_text((*structure.rules)[rule]));
  }
  std::vector<Folder> rows(view.rows);
  for (const uint32_t rank : view.ranks) {
    for (const trace::CountedRow &call : trace.counted_rows({rank, view.thread, view.segment, index, 0})) {
      if (call.class_row < rows.size()) rows[call.class_row].add(decoder.decode(index, call.row), rank);
    }
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    const bool many = structure.rows[row].many;
    if (rows[row].begun()) {
      const std::string times = many ? fmt::format("({} times in all) ", counts[row]) : "";
      text += fmt::format("  {:>4}: {}{}\n", row, times, call_text(rows[row].result()));
    } else if (many) {
      const Call call = decoder.decode(index, trace.row(index, static_cast<uint32_t>(row), view.ranks[0]));
      text += fmt::format("  {:>4}: (never) {}\n", row, call_text(call));
    }
  }
  return text;
}

}  // namespace

std::string grammar_text(const trace::Trace &trace, const Sources &sources, const Filter &filter) {
  const Decoder decoder(trace, sources);
  std::string text;
  uint64_t shown = 0;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    if (filter.limit && shown == *filter.limit) break;
    const trace::ClassView view = trace.class_view(index);
    const bool wanted = std::any_of(view.ranks.begin(), view.ranks.end(), [&](uint32_t rank) {
      return std::binary_search(filter.ranks.begin(), filter.ranks.end(), rank);
    });
    if (!wanted) continue;
    ++shown;
    text += class_text(trace, decoder, index);
  }
  return text;
}

}  // namespace cairn::analyze
