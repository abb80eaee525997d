#include "estimate/same_program.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "analyze/decode.h"
#include "analyze/sources.h"
#include "trace/read/events.h"

namespace cairn::estimate {
namespace {

std::set<std::string> called_in(const trace::Trace &trace, bool with_lines) {
  const auto sources = analyze::Sources::in_trace(trace);
  std::set<std::string> called;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    for (const auto &row : trace::structure_of(trace, index).rows) {
      std::string text = analyze::function_name(row.function);
      const analyze::Position position = with_lines ? sources.position(index, row.site) : analyze::Position();
      called.insert(position.file.empty() ? text : text + " at " + position.brief());
    }
  }
  return called;
}

bool has_lines(const trace::Trace &trace) {
  const auto &sites = trace.all_sites();
  return std::any_of(sites.begin(), sites.end(), [&](const trace::Site &site) {
    const auto source = trace.source(site);
    return source && !source->file.empty();
  });
}

}  // namespace

Shared compare_programs(const trace::Trace &first, const trace::Trace &second) {
  const bool with_lines = has_lines(first) && has_lines(second);
  const std::set<std::string> one = called_in(first, with_lines);
  const std::set<std::string> other = called_in(second, with_lines);
  const auto only = [](const std::set<std::string> &of, const std::set<std::string> &but) {
    std::vector<std::string> found;
    std::set_difference(of.begin(), of.end(), but.begin(), but.end(), std::back_inserter(found));
    return found;
  };
  const std::vector<std::string> in_first = only(one, other);
  const std::vector<std::string> in_second = only(other, one);
  Shared shared;
  shared.common = one.size() - in_first.size();
  shared.only_first = in_first.size();
  shared.only_second = in_second.size();
  shared.of_first = !in_first.empty();
  if (!in_first.empty() || !in_second.empty()) shared.example = (shared.of_first ? in_first : in_second).front();
  return shared;
}

}  // namespace cairn::estimate
