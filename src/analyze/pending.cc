#include "analyze/pending.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analyze/communicators.h"
#include "trace/read/events.h"

namespace cairn::analyze {
namespace {

using spec::Kind;
using trace::SequenceView;
using trace::Trace;

bool did_not_return(const trace::Row &row) {
  return !row.fields.empty() && row.fields.back().atoms == std::vector<trace::Atom>{trace::kNoReturn};
}

/// The rows at the end of a sequence of the rank, the last first; those of polls that it did not make there are left
/// out. At most so many.
std::vector<uint32_t> last_rows(const Trace &trace, const SequenceView &sequence, size_t most) {
  const trace::ClassView view = trace.class_view(sequence.class_index);
  const std::vector<uint64_t> counts = view.counted ? trace.row_counts(sequence) : std::vector<uint64_t>();
  const uint64_t length = view.calls->length();
  const uint64_t first = length > 64 ? length - 64 : 0;
  std::vector<uint32_t> rows;
  grammar::Walker walker(*view.calls, first);
  for (uint64_t i = first; i < length; ++i) rows.push_back(walker.next());
  if (view.counted) std::erase_if(rows, [&](uint32_t row) { return row < counts.size() && counts[row] == 0; });
  std::reverse(rows.begin(), rows.end());
  if (rows.size() > most) rows.resize(most);
  return rows;
}

const char *word_for(const spec::Parameter &parameter) {
  const std::string_view name = parameter.name;
  switch (parameter.kind) {
    case Kind::rank:
      return name == "source" ? "from " : name == "root" ? "root " : name == "rank" ? "rank " : "to ";
    case Kind::tag:
      return "tag ";
    case Kind::comm:
    case Kind::window:
    case Kind::file:
      return "on ";
    case Kind::request:
    case Kind::message:
      return "of ";
    default:
      return nullptr;
  }
}

/// What says whom or what a call waits for.
std::string about(const Call &call) {
  if (call.function == nullptr) return {};
  constexpr size_t kShown = 4;
  std::string text;
  std::string where;
  for (const Argument &argument : call.arguments) {
    const auto *const end = call.function->parameters + call.function->parameter_count;
    const auto *const parameter = std::find_if(call.function->parameters, end, [&](const spec::Parameter &each) {
      return std::string_view(each.name) == argument.name;
    });
    const char *word = parameter == end ? nullptr : word_for(*parameter);
    const Value &value = argument.value;
    if (word == nullptr || value.kind == Value::Kind::absent || value == Value::symbol("unknown")) continue;
    std::string &to = parameter->layout == spec::Layout::handle || parameter->layout == spec::Layout::comm
                          ? (parameter->kind == Kind::request || parameter->kind == Kind::message ? text : where)
                          : text;
    to += std::string(" ") + word;
    if (value.kind != Value::Kind::list) {
      value.append_text(to);
      continue;
    }
    to += fmt::format("{} {}", value.items.size(), value.items.size() == 1 ? "request" : "requests");
    for (size_t i = 0; i < value.items.size() && i < kShown; ++i) {
      to += i == 0 ? " (" : ", ";
      value.items[i].append_text(to);
    }
    if (value.items.size() > kShown) to += ", …";
    if (!value.items.empty()) to += ")";
  }
  text += where;
  return text.empty() ? text : text.substr(1);
}

/// One thread's, with what tells it from others.
class OfThread {
 public:
  OfThread(const Trace &trace, const Sources &sources)
      : trace_(trace), sources_(sources), decoder_(trace, sources), names_(trace) {}

  /// `segments`: of one thread of a rank, in order. Nothing if its end says nothing.
  std::optional<PendingCall> at_end_of(const std::vector<SequenceView> &segments, uint64_t wall_ns) {
    const SequenceView &last = segments.back();
    if (trace_.class_view(last.class_index).calls->empty()) return outside(segments, wall_ns);
    const std::vector<uint32_t> rows = last_rows(trace_, last, 2);
    if (rows.empty()) return std::nullopt;
    const trace::Row row = trace_.row(last.class_index, rows[0], last.rank);
    if (!did_not_return(row)) return std::nullopt;
    PendingCall pending;
    pending.ranks = {last.rank};
    pending.thread = last.thread;
    const CommunicatorNames names = names_.of(last.rank);
    pending.call = decoder_.decode(last.class_index, row, &names);
    pending.function = function_name(row.function);
    pending.about = about(pending.call);
    pending.position = pending.call.position;
    if (row.depth > 0 && rows.size() > 1) {
      const trace::Row outer = trace_.row(last.class_index, rows[1], last.rank);
      if (did_not_return(outer)) pending.within = function_name(outer.function);
    }
    // Such calls are all that there is in the segment of a killed process, which begins with the outermost.
    const auto all = trace::structure_of(trace_, last.class_index).rows.size();
    if (last.segment > 0 && all <= size_t{row.depth} + 1) pending.since = since(wall_ns, last.begin_ns);
    return pending;
  }

 private:
  static std::optional<PendingCall::Range> since(uint64_t end_ns, uint64_t begin_ns) {
    if (end_ns <= begin_ns) return std::nullopt;
    return PendingCall::Range{end_ns - begin_ns, end_ns - begin_ns};
  }

  std::optional<PendingCall> outside(const std::vector<SequenceView> &segments, uint64_t wall_ns) {
    PendingCall pending;
    pending.ranks = {segments.back().rank};
    pending.thread = segments.back().thread;
    pending.inside = false;
    pending.since = since(wall_ns, segments.back().begin_ns);
    if (segments.size() > 1) {
      const SequenceView &before = segments[segments.size() - 2];
      const std::vector<uint32_t> rows = last_rows(trace_, before, 1);
      if (!rows.empty()) {
        const trace::Row head = trace_.row_head(before.class_index, rows[0]);
        pending.function = function_name(head.function);
        pending.position = sources_.position(before.class_index, head.site);
        // The recorder ends that call when the ranks' recordings are put together, which they wait in.
        pending.inside = pending.function == "MPI_Finalize";
      }
    }
    return pending;
  }

  const Trace &trace_;
  const Sources &sources_;
  Decoder decoder_;
  LastNames names_;
};

void join(PendingCall *to, const PendingCall &from) {
  to->ranks.insert(to->ranks.end(), from.ranks.begin(), from.ranks.end());
  to->several_threads = to->several_threads || from.several_threads;
  if (!to->since || !from.since) {
    to->since = to->since ? to->since : from.since;
    return;
  }
  to->since->least_ns = std::min(to->since->least_ns, from.since->least_ns);
  to->since->most_ns = std::max(to->since->most_ns, from.since->most_ns);
}

/// Calls that are alike, as one. Holds no more than differ.
template <class Key>
class Groups {
 public:
  explicit Groups(Key key) : key_(key) {}

  void add(PendingCall call) {
    const auto [entry, added] = known_.try_emplace(key_(call), groups_.size());
    if (added) {
      groups_.push_back(std::move(call));
      return;
    }
    PendingCall &group = groups_[entry->second];
    join(&group, call);
    if (group.about == call.about) return;
    group.about.clear();
    group.differs = true;
  }

  std::vector<PendingCall> take() {
    for (PendingCall &group : groups_) std::sort(group.ranks.begin(), group.ranks.end());
    return std::move(groups_);
  }

 private:
  Key key_;
  std::vector<PendingCall> groups_;
  std::map<std::invoke_result_t<Key, const PendingCall &>, size_t> known_;
};

}  // namespace

std::vector<PendingCall> pending_calls(const Trace &trace, const Sources &sources) {
  Groups groups([](const PendingCall &call) {
    return std::tuple(call.thread, call.inside, call.function, call.position.text(), call.about, call.within);
  });
  OfThread reader(trace, sources);
  for (const uint32_t rank : trace.ranks()) {
    const Trace::RankInfo info = trace.rank_info(rank);
    if (info.complete) continue;
    std::map<uint32_t, std::vector<SequenceView>> threads;
    for (const SequenceView &sequence : trace.sequences(rank)) {
      if (sequence.segment != trace::SequenceRecord::kEpilogue) threads[sequence.thread].push_back(sequence);
    }
    for (const auto &[thread, segments] : threads) {
      std::optional<PendingCall> pending = reader.at_end_of(segments, info.wall_ns);
      if (!pending) continue;
      pending->several_threads = threads.size() > 1;
      groups.add(*std::move(pending));
    }
  }
  return groups.take();
}

std::vector<PendingCall> gathered(std::vector<PendingCall> calls, size_t most) {
  if (calls.size() <= most) return calls;
  Groups groups([](const PendingCall &call) {
    return std::tuple(call.thread, call.inside, call.function, call.position.text(), call.within);
  });
  for (PendingCall &call : calls) groups.add(std::move(call));
  return groups.take();
}

}  // namespace cairn::analyze
