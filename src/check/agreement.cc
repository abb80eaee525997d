#include "check/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "analyze/decode.h"
#include "analyze/filter.h"
#include "analyze/volume.h"
#include "spec/spec.h"
#include "text/rank_list.h"

namespace cairn::check {
namespace {

using analyze::Meeting;

std::string operation_of(const analyze::CallTime &call) {
  const auto all = spec::functions();
  return call.function < all.size() ? analyze::operation(all[call.function]) : std::string();
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void Agreement::over(const Meeting &meeting, const std::vector<uint32_t> &members, size_t first_group) {
  if (broken_.count(meeting.communicator) != 0) return;
  if (meeting.broken) {
    broken_.insert(meeting.communicator);
    return operations(meeting);
  }
  if (std::find(meeting.came.begin(), meeting.came.end(), false) != meeting.came.end()) {
    broken_.insert(meeting.communicator);
    return missing(meeting, members);
  }
  std::string key(reinterpret_cast<const char *>(&meeting.operation), sizeof meeting.operation);
  const analyze::Mark *last = nullptr;
  for (const analyze::MarkPointer &each : meeting.contents) {
    const analyze::Mark *mark = each.get();
    if (mark != last || key.size() <= sizeof meeting.operation) {
      const uint64_t place = static_cast<uint64_t>(&each - meeting.contents.data());
      key.append(reinterpret_cast<const char *>(&place), sizeof place);
      key.append(reinterpret_cast<const char *>(&mark), sizeof mark);
    }
    last = mark;
  }
  const size_t size = meeting.contents.size();
  for (const size_t each : {size, first_group}) key.append(reinterpret_cast<const char *>(&each), sizeof each);
  if (looked_at_.count(key) != 0) return;
  const uint64_t left_out = findings_.count();
  const auto all = spec::functions();
  const std::string operation = meeting.operation < all.size() ? analyze::operation(all[meeting.operation]) : "";
  if (first_group == 0) {
    look_at(meeting, operation);
  } else {
    look_at_groups(meeting, first_group, operation);
  }
  if (findings_.count() != left_out) return;  // so that each such call is counted
  if (looked_at_.size() >= kMost) looked_at_.clear();
  looked_at_.insert(std::move(key));
}

std::vector<uint32_t> Agreement::who_came(const Meeting &meeting) {
  std::vector<uint32_t> ranks;
  for (size_t i = 0; i < meeting.came.size(); ++i) {
    if (meeting.came[i]) ranks.push_back(meeting.begins[i].rank);
  }
  return ranks;
}

void Agreement::operations(const Meeting &meeting) {
  if (!kinds_.has(Kind::collectives)) return;
  size_t first = meeting.came.size();
  for (size_t i = 0; i < meeting.came.size(); ++i) {
    if (!meeting.came[i]) continue;
    if (first == meeting.came.size()) first = i;
    if (operation_of(meeting.begins[i]) == operation_of(meeting.begins[first])) continue;
    findings_.add({.kind = Kind::collectives,
                   .text = fmt::format("members of {} make different calls: rank {} this one, rank {} the other",
                                       name_(meeting.communicator), meeting.begins[first].rank, meeting.begins[i].rank),
                   .sort = "",
                   .others = who_came(meeting)},
                  meeting.begins[first], meeting.begins[i]);
    return;
  }
}

void Agreement::missing(const Meeting &meeting, const Members &members) {
  if (!kinds_.has(Kind::collectives)) return;
  std::vector<uint32_t> absent;
  for (size_t i = 0; i < meeting.came.size(); ++i) {
    if (!meeting.came[i]) absent.push_back(members[i]);
  }
  // One that was killed might have made it yet.
  if (!std::all_of(absent.begin(), absent.end(), complete_)) return;
  const std::string who = fmt::format("{} {}", absent.size() == 1 ? "rank" : "none of ranks", ranks_text(absent));
  for (size_t i = 0; i < meeting.came.size(); ++i) {
    if (!meeting.came[i]) continue;
    findings_.add({.kind = Kind::collectives,
                   .text = fmt::format("{} {} on {}", who, absent.size() == 1 ? "never makes it" : "makes it",
                                       name_(meeting.communicator)),
                   .sort = "",
                   .others = absent},
                  meeting.begins[i]);
  }
}

void Agreement::look_at(const Meeting &meeting, std::string_view operation) {
  const Content &first = content_of(meeting, 0);
  const size_t members = meeting.contents.size();
  for (size_t i = 1; i < members; ++i) {
    const Content &other = content_of(meeting, i);
    const auto differ = [&](const std::string &what) {
      if (!kinds_.has(Kind::collectives)) return;
      findings_.add({.kind = Kind::collectives,
                     .text = fmt::format("ranks {} and {} of {} {}", meeting.begins[0].rank, meeting.begins[i].rank,
                                         name_(meeting.communicator), what),
                     .sort = what,
                     .others = who_came(meeting)},
                    meeting.begins[0], meeting.begins[i]);
    };
    if (first.nonblocking != other.nonblocking) return differ("make a blocking and a nonblocking call together");
    if (first.root != other.root) {
      return differ(fmt::format("name different roots, {} and {}", first.root.value_or(-1), other.root.value_or(-1)));
    }
    if (first.op != other.op) return differ(fmt::format("use different operators, {} and {}", first.op, other.op));
  }
  if (kinds_.has(Kind::types)) data(meeting, operation);
}

void Agreement::data(const Meeting &meeting, std::string_view operation) {
  const size_t members = meeting.contents.size();
  const Content &first = content_of(meeting, 0);
  const auto root = static_cast<size_t>(first.root.value_or(0));
  if (first.root && root >= members) return;
  const auto of = [](const std::vector<Content::Part> &parts, size_t rank) -> const Content::Part & {
    return Content::of(parts, rank);
  };
  if (one_of(operation, {"Bcast", "Scatter", "Scatterv"})) {
    for (size_t i = 0; i < members; ++i) {
      if (i != root &&
          !pair(meeting, root, of(content_of(meeting, root).sends, i), i, of(content_of(meeting, i).receives, 0)))
        return;
    }
  } else if (one_of(operation, {"Gather", "Gatherv"})) {
    for (size_t i = 0; i < members; ++i) {
      if (i != root &&
          !pair(meeting, i, of(content_of(meeting, i).sends, 0), root, of(content_of(meeting, root).receives, i)))
        return;
    }
  } else if (one_of(operation, {"Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block"})) {
    for (size_t i = 1; i < members; ++i) {
      const std::vector<Content::Part> &others = content_of(meeting, i).receives;
      for (size_t k = 0; k < others.size(); ++k) {
        if (!pair(meeting, 0, of(first.receives, k), i, others[k])) return;
      }
    }
  } else if (one_of(operation, {"Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"})) {
    // What is equal for all is looked at once.
    const bool same = std::all_of(meeting.contents.begin(), meeting.contents.end(),
                                  [&](const auto &each) { return each == meeting.contents[0]; });
    const bool alike = same && first.sends.size() <= 1 && first.receives.size() <= 1;
    const bool gathers = operation.starts_with("Allgather");
    for (size_t i = 0; i < members; ++i) {
      const Content &sender = content_of(meeting, i);
      // In place: what it receives from itself is what it sends.
      const bool in_place = sender.sends.empty();
      for (size_t k = 0; k < members; ++k) {
        const Content::Part &sent = in_place ? of(sender.receives, gathers ? i : k) : of(sender.sends, k);
        if (!pair(meeting, i, sent, k, of(content_of(meeting, k).receives, i))) return;
        if (alike) return;
      }
    }
  }
}

bool Agreement::pair(const Meeting &meeting, size_t from, const Content::Part &sent, size_t to,
                     const Content::Part &expected) {
  if (!sent || !expected) return true;
  const Match found = match(*sent, *expected);
  if (found == Match::same || found == Match::unknown) return true;
  findings_.add({.kind = Kind::types,
                 .text = fmt::format("rank {} gives {}, rank {} expects {}", meeting.begins[from].rank, sent->text(),
                                     meeting.begins[to].rank, expected->text()),
                 .sort = "",
                 .others = who_came(meeting)},
                meeting.begins[from], meeting.begins[to]);
  return false;
}

}  // namespace cairn::check
