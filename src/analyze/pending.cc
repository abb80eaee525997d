#include "analyze/pending.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analyze/communicators.h"
#include "analyze/request_makers.h"
#include "analyze/selected_calls.h"
#include "trace/model/losses.h"
#include "trace/read/call_reader.h"
#include "trace/read/events.h"

namespace cairn::analyze {
namespace {

using spec::Kind;
using trace::SequenceView;
using trace::Trace;

bool did_not_return(const trace::Row &row) {
  return !row.fields.empty() && row.fields.back().atoms == std::vector<trace::Atom>{trace::kNoReturn};
}

/// The rows of the last calls of a sequence of the rank, the last first. At most so many.
std::vector<uint32_t> last_rows(const Trace &trace, const SequenceView &sequence, size_t most) {
  std::vector<uint32_t> rows;
  const trace::ClassView view = trace.class_view(sequence.class_index);
  if (view.counted) {  // some rows may stand for no call there
    trace::CallReader reader(trace, sequence);
    const uint64_t calls = reader.count();
    reader.seek(calls - std::min<uint64_t>(calls, most));
    for (auto call = reader.next(); call != grammar::kNoSymbol; call = reader.next()) {
      rows.push_back(reader.class_row(call));
    }
  } else {
    const uint64_t length = view.calls->length();
    grammar::Walker walker(*view.calls, length - std::min<uint64_t>(length, most));
    for (auto row = walker.next(); row != grammar::kNoSymbol; row = walker.next()) rows.push_back(row);
  }
  std::reverse(rows.begin(), rows.end());
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

/// What says whom or what a call waits for: "from 2 tag 30", and "on MPI_COMM_WORLD".
struct About {
  std::string whom;
  std::string where;

  [[nodiscard]] std::string text() const { return whom.empty() || where.empty() ? whom + where : whom + ' ' + where; }
};

constexpr size_t kShown = 4;

/// Without the requests, unless `with_requests`.
About about(const Call &call, bool with_requests) {
  About result;
  if (call.function == nullptr) return result;
  for (const Argument &argument : call.arguments) {
    const spec::Parameter *parameter = argument.parameter;
    const char *word = word_for(*parameter);
    const Value &value = argument.value;
    if (word == nullptr || value.kind == Value::Kind::absent || value == Value::symbol("unknown")) continue;
    const bool request = parameter->kind == Kind::request;
    if (request && !with_requests) continue;
    const bool object = spec::is_handle(parameter->layout);
    std::string &to = object && !request && parameter->kind != Kind::message ? result.where : result.whom;
    if (!to.empty()) to += ' ';
    to += word;
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
  return result;
}

/// "MPI_Irecv from 2 tag 30 on MPI_COMM_WORLD (halo.c:10)"; of several requests "3 requests: " and the first of those
/// that differ, "on" what they all are only once.
std::string about_makers(const std::vector<const Call *> &makers) {
  std::vector<std::pair<About, std::string>> different;  // and where they were made
  bool more = false;
  for (const Call *call : makers) {
    About whom = about(*call, false);
    const std::string at = call->position.brief();
    const std::string function = function_name(call->function_id);
    whom.whom = whom.whom.empty() ? function : function + ' ' + whom.whom;
    const bool known = std::any_of(different.begin(), different.end(), [&](const auto &each) {
      return each.first.whom == whom.whom && each.first.where == whom.where && each.second == at;
    });
    if (known) continue;
    more = different.size() == kShown;
    if (more) break;
    different.emplace_back(std::move(whom), at);
  }
  const std::string &where = different.front().first.where;
  const bool same_where =
      std::all_of(different.begin(), different.end(), [&](const auto &each) { return each.first.where == where; });
  std::string text = makers.size() == 1 ? "for " : fmt::format("for {} requests: ", makers.size());
  const bool once = same_where && different.size() > 1;
  for (size_t i = 0; i < different.size(); ++i) {
    const auto &[whom, at] = different[i];
    text += (i == 0 ? "" : ", ") + (once ? whom.whom : whom.text());
    const bool same_place = i + 1 < different.size() && different[i + 1].second == at;
    if (!at.empty() && !same_place) text += " (" + at + ")";
  }
  if (more) text += ", …";
  return once && !where.empty() ? text + ' ' + where : text;
}

/// One thread's, with what tells it from others.
class OfThread {
 public:
  OfThread(const Trace &trace, const Sources &sources)
      : trace_(trace), sources_(sources), decoder_(trace, sources), names_(trace), makers_(trace, sources) {}

  /// `segments`: of one thread of a rank, in order. Nothing if its end says nothing.
  std::optional<PendingCall> at_end_of(const std::vector<SequenceView> &segments, std::optional<uint64_t> end_ns) {
    const SequenceView &last = segments.back();
    if (trace_.class_view(last.class_index).calls->empty()) return outside(segments, end_ns);
    const std::vector<uint32_t> rows = last_rows(trace_, last, 2);
    if (rows.empty()) return std::nullopt;
    const trace::Row row = trace_.row(last.class_index, rows[0], last.rank);
    if (!did_not_return(row)) return std::nullopt;
    PendingCall pending;
    pending.ranks = {last.rank};
    pending.thread = last.thread;
    // Names may cost a look at all calls of the rank, and most hang in MPI_COMM_WORLD.
    CommunicatorNames names(trace_, last.rank);
    const bool names_one = decoder_.decode(last.class_index, row, &names).names_version != 0;
    if (names_one || !makers_.given(last.class_index, row).empty()) names = names_.of(last.rank);
    pending.call = decoder_.decode(last.class_index, row, &names);
    pending.function = function_name(row.function);
    pending.about = about_requests(last, row, names);
    if (pending.about.empty()) pending.about = about(pending.call, true).text();
    pending.position = pending.call.position;
    if (row.depth > 0 && rows.size() > 1) {
      const trace::Row outer = trace_.row(last.class_index, rows[1], last.rank);
      if (did_not_return(outer)) pending.within = function_name(outer.function);
    }
    // Such calls are all that there is in the segment of a killed process, which begins with the outermost.
    const auto all = trace::structure_of(trace_, last.class_index).rows.size();
    if (last.segment > 0 && all <= size_t{row.depth} + 1) pending.since = since(end_ns, last.begin_ns);
    return pending;
  }

  /// Of a thread whose process ended itself, in no call.
  PendingCall ended(const std::vector<SequenceView> &segments) {
    PendingCall pending;
    pending.ranks = {segments.back().rank};
    pending.thread = segments.back().thread;
    pending.inside = false;
    pending.ended = true;
    set_last_call(segments.back(), &pending);
    return pending;
  }

 private:
  /// Whom the requests are for that a call waits for; empty unless the calls that made them are known.
  std::string about_requests(const SequenceView &sequence, const trace::Row &row, const CommunicatorNames &names) {
    const std::vector<HandleName> requests = makers_.given(sequence.class_index, row);
    if (requests.empty()) return {};
    const std::map<HandleName, Call> makers = makers_.of(sequence.rank, requests, &names);
    std::vector<const Call *> calls;
    for (const HandleName &request : requests) {
      const auto maker = makers.find(request);
      if (maker == makers.end()) return {};
      calls.push_back(&maker->second);
    }
    return about_makers(calls);
  }

  static std::optional<PendingCall::Range> since(std::optional<uint64_t> end_ns, uint64_t begin_ns) {
    if (!end_ns || *end_ns <= begin_ns) return std::nullopt;
    return PendingCall::Range{*end_ns - begin_ns, *end_ns - begin_ns};
  }

  std::optional<PendingCall> outside(const std::vector<SequenceView> &segments, std::optional<uint64_t> end_ns) {
    PendingCall pending;
    pending.ranks = {segments.back().rank};
    pending.thread = segments.back().thread;
    pending.inside = false;
    pending.since = since(end_ns, segments.back().begin_ns);
    if (segments.size() > 1) {
      set_last_call(segments[segments.size() - 2], &pending);
      // The recorder ends that call when the ranks' recordings are put together, which they wait in.
      pending.inside = pending.function == "MPI_Finalize";
    }
    return pending;
  }

  void set_last_call(const SequenceView &sequence, PendingCall *pending) {
    const std::vector<uint32_t> rows = last_rows(trace_, sequence, 1);
    if (rows.empty()) return;
    const trace::Row head = trace_.row_head(sequence.class_index, rows[0]);
    pending->function = function_name(head.function);
    pending->position = sources_.position(sequence.class_index, head.site);
  }

  const Trace &trace_;
  const Sources &sources_;
  Decoder decoder_;
  LastNames names_;
  RequestMakers makers_;
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
class PendingGroups {
 public:
  explicit PendingGroups(Key key) : key_(key) {}

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

/// The segments of each thread of a rank, in order.
using Threads = std::map<uint32_t, std::vector<SequenceView>>;

Threads threads_of(const Trace &trace, uint32_t rank) {
  Threads threads;
  for (const SequenceView &sequence : trace.sequences(rank)) {
    if (sequence.segment != trace::SequenceRecord::kEpilogue) threads[sequence.thread].push_back(sequence);
  }
  return threads;
}

/// When the rank's recording ended. Nothing where nobody saw the process end: then it is taken to have ended when the
/// last of what is known of it began.
std::optional<uint64_t> end_of(const Threads &threads, uint64_t wall_ns) {
  const bool seen = std::all_of(threads.begin(), threads.end(),
                                [&](const auto &thread) { return thread.second.back().begin_ns < wall_ns; });
  return seen ? std::optional(wall_ns) : std::nullopt;
}

/// Else, and if it did not reach MPI_Finalize, the process handed over its recording when it ended by exit, at the end
/// of main, or in MPI_Abort.
bool was_killed(const Trace::RankInfo &info) {
  const std::vector<trace::Loss> losses = trace::read_losses(info.degraded);
  return std::any_of(losses.begin(), losses.end(), [](const auto &loss) { return loss.reason.starts_with("killed:"); });
}

}  // namespace

std::vector<PendingCall> pending_calls(const Trace &trace, const Sources &sources) {
  PendingGroups groups([](const PendingCall &call) {
    return std::tuple(call.thread, call.inside, call.ended, call.function, call.position.text(), call.about,
                      call.within);
  });
  OfThread reader(trace, sources);
  for (const uint32_t rank : trace.ranks()) {
    const Trace::RankInfo info = trace.rank_info(rank);
    if (info.complete) continue;
    const Threads threads = threads_of(trace, rank);
    const std::optional<uint64_t> end_ns = end_of(threads, info.wall_ns);
    std::vector<uint32_t> silent;  // threads
    bool within_call = false;      // the process ended itself, in MPI_Abort or through a callback
    for (const auto &[thread, segments] : threads) {
      std::optional<PendingCall> pending = reader.at_end_of(segments, end_ns);
      if (!pending) silent.push_back(thread);
      if (!pending) continue;
      // What the other threads were in when a process ended itself has segments of its own, which say since when.
      within_call = within_call || (pending->inside && !pending->since);
      pending->several_threads = threads.size() > 1;
      groups.add(*std::move(pending));
    }
    // The main thread, by exit or at the end of main; or another one, if there is but one that it can have been.
    const bool known = !silent.empty() && (silent.front() == 0 || silent.size() == 1);
    if (!known || within_call || was_killed(info)) continue;
    PendingCall ended = reader.ended(threads.at(silent.front()));
    ended.several_threads = threads.size() > 1;
    groups.add(std::move(ended));
  }
  return groups.take();
}

std::vector<uint32_t> in_finalize(const trace::Trace &trace) {
  std::vector<uint32_t> ranks;
  for (const uint32_t rank : trace.ranks()) {
    if (trace.rank_info(rank).complete) continue;
    const std::vector<SequenceView> sequences = trace.sequences(rank);
    const bool called = std::any_of(sequences.begin(), sequences.end(), [&](const SequenceView &sequence) {
      return SelectedCalls::has(trace, sequence.class_index, [](const spec::Function &function) {
        return std::string_view(function.name) == "MPI_Finalize";
      });
    });
    if (called) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<PendingCall> gathered(std::vector<PendingCall> calls, size_t most) {
  if (calls.size() <= most) return calls;
  PendingGroups groups([](const PendingCall &call) {
    return std::tuple(call.thread, call.inside, call.ended, call.function, call.position.text(), call.within);
  });
  for (PendingCall &call : calls) groups.add(std::move(call));
  return groups.take();
}

}  // namespace cairn::analyze
