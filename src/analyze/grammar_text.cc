#include "analyze/grammar_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/decode.h"

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

/// `first` with every argument that `other` has otherwise replaced: by its difference to the rank, or by "*".
class Folder {
 public:
  Folder(Call first, uint32_t rank) : first_(std::move(first)), rank_(rank), states_(first_.arguments.size()) {}

  void add(const Call &other, uint32_t rank) {
    for (size_t i = 0; i < states_.size() && i < other.arguments.size(); ++i) {
      const Value &a = first_.arguments[i].value;
      const Value &b = other.arguments[i].value;
      if (a == b && states_[i] != State::relative) continue;
      const bool numbers = a.kind == Value::Kind::integer && b.kind == Value::Kind::integer;
      const bool shifted = numbers && b.number - rank == a.number - rank_;
      if (states_[i] == State::same && shifted && only_first_) {
        states_[i] = State::relative;
      } else if (states_[i] != State::relative || !shifted) {
        states_[i] = State::various;
      }
    }
    only_first_ = false;
  }
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
  Call first_;
  int64_t rank_;
  bool only_first_ = true;
  std::vector<State> states_;
};

std::string class_text(const trace::Trace &trace, const Decoder &decoder, uint32_t index) {
  const trace::ClassView view = trace.class_view(index);
  std::string text = fmt::format("class {}: {} {}, thread {}", index, view.ranks.size() == 1 ? "rank" : "ranks",
                                 ranks_text(view.ranks), view.thread);
  if (view.segment == trace::SequenceRecord::kEpilogue) {
    text += ", after MPI_Finalize";
  } else if (view.segment != 0) {
    text += fmt::format(", segment {}", view.segment);
  }
  text += fmt::format(", {} calls each\n", view.calls->length());
  const auto &rules = view.calls->rules();
  for (size_t rule = 0; rule < rules.size(); ++rule) text += fmt::format("  R{} ->{}\n", rule, rule_text(rules[rule]));
  for (uint32_t row = 0; row < view.rows && !view.ranks.empty(); ++row) {
    Folder folder(decoder.decode(index, trace.row(index, row, view.ranks[0])), view.ranks[0]);
    for (size_t i = 1; i < view.ranks.size(); ++i) {
      folder.add(decoder.decode(index, trace.row(index, row, view.ranks[i])), view.ranks[i]);
    }
    text += fmt::format("  {:>4}: {}\n", row, call_text(folder.result()));
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
