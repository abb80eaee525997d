// Agreement between two groups (MPI 4.1, 6.2.3 and where each operation is): what those of one group send goes to those
// of the other, by their ranks there; of an operation with a root one process says MPI_ROOT, those beside it
// MPI_PROC_NULL, and the others the root's rank.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "check/agreement.h"

namespace cairn::check {

using analyze::Meeting;

void Agreement::look_at_groups(const Meeting &meeting, size_t first_group, std::string_view operation) {
  const size_t members = meeting.contents.size();
  const auto differ = [&](size_t one, size_t other, const std::string &what) {
    if (!kinds_.has(Kind::collectives)) return;
    findings_.add({.kind = Kind::collectives,
                   .text = fmt::format("ranks {} and {} of {} {}", meeting.begins[one].rank, meeting.begins[other].rank,
                                       name_(meeting.communicator), what),
                   .sort = what,
                   .others = who_came(meeting)},
                  meeting.begins[one], meeting.begins[other]);
  };
  for (size_t i = 1; i < members; ++i) {
    if (content_of(meeting, i).nonblocking == content_of(meeting, 0).nonblocking) continue;
    return differ(0, i, "make a blocking and a nonblocking call together");
  }
  std::optional<size_t> root;
  for (size_t i = 0; i < members; ++i) {
    if (!content_of(meeting, i).is_root) continue;
    if (root) return differ(*root, i, "both say that they are the root");
    root = i;
  }
  const auto is_beside_root = [&](size_t member) { return root && (member < first_group) == (*root < first_group); };
  if (root) {
    const auto number = static_cast<int64_t>(*root < first_group ? *root : *root - first_group);
    for (size_t i = 0; i < members; ++i) {
      const std::optional<int64_t> &named = content_of(meeting, i).root;
      if (is_beside_root(i) ? !named : named == number) continue;
      if (!named) return differ(*root, i, "disagree: the first is the root, the other names none");
      return differ(*root, i, fmt::format("name different roots, {} and {}", number, *named));
    }
  }
  // Of those beside the root nobody looks at the operator.
  for (const size_t begin : {size_t{0}, first_group}) {
    const size_t end = begin == 0 ? first_group : members;
    if (is_beside_root(begin)) continue;
    for (size_t i = begin + 1; i < end; ++i) {
      const std::string &one = content_of(meeting, begin).op;
      const std::string &other = content_of(meeting, i).op;
      if (one != other) return differ(begin, i, fmt::format("use different operators, {} and {}", one, other));
    }
  }
  if (kinds_.has(Kind::types)) data_between(meeting, first_group, root, operation);
}

void Agreement::data_between(const Meeting &meeting, size_t first_group, std::optional<size_t> root,
                             std::string_view operation) {
  const size_t members = meeting.contents.size();
  const bool among_all = operation == "Allgather" || operation == "Allgatherv" || operation.starts_with("Alltoall");
  for (size_t one = 0; one < first_group; ++one) {
    for (size_t other = first_group; other < members; ++other) {
      // By the rank in the own group, as the other group counts.
      const size_t number = other - first_group;
      const auto &sends = content_of(meeting, one).sends;
      const auto &receives = content_of(meeting, one).receives;
      const auto &others_sends = content_of(meeting, other).sends;
      const auto &others_receives = content_of(meeting, other).receives;
      if (among_all) {
        if (!pair(meeting, one, Content::of(sends, number), other, Content::of(others_receives, one))) return;
        if (!pair(meeting, other, Content::of(others_sends, one), one, Content::of(receives, number))) return;
      } else if (operation == "Allreduce") {
        if (!pair(meeting, one, Content::of(sends, 0), other, Content::of(others_receives, 0))) return;
      } else if (root == one) {
        if (!data_of_root(meeting, one, other, number, operation)) return;
      } else if (root == other) {
        if (!data_of_root(meeting, other, one, one, operation)) return;
      }
    }
  }
}

/// `number`: the other's rank in its group.
bool Agreement::data_of_root(const Meeting &meeting, size_t root, size_t other, size_t number,
                             std::string_view operation) {
  const Content &of_root = content_of(meeting, root);
  const Content &of_other = content_of(meeting, other);
  if (operation == "Bcast" || operation == "Scatter" || operation == "Scatterv") {
    return pair(meeting, root, Content::of(of_root.sends, number), other, Content::of(of_other.receives, 0));
  }
  if (operation == "Gather" || operation == "Gatherv" || operation == "Reduce") {
    return pair(meeting, other, Content::of(of_other.sends, 0), root, Content::of(of_root.receives, number));
  }
  return true;
}

}  // namespace cairn::check
