#include "tell/sizes_list.h"

#include "base/saturating.h"
#include "terminal/words.h"
#include "text/utf8.h"
#include "trace/read/exactness.h"

namespace cairn::cli {

using nlohmann::ordered_json;
using traffic::SizeGroup;
using traffic::SizeLine;

namespace {

std::string size_text(const SizeLine &line) {
  if (!line.known) return "unknown";
  if (line.least == line.most) return bytes_text(line.least);
  return bytes_text(line.least) + " up";
}

}  // namespace

Listing sizes_list(const SizeGroup &group, bool timed, uint64_t all) {
  const bool calls = group.collective;
  Listing list({{"size", nullptr, true},
                {nullptr, "least"},
                {nullptr, "most"},
                {calls ? "calls" : "messages", calls ? "calls" : "messages"},
                {calls ? "%calls" : "%messages", "share"},
                {"bytes", "bytes"},
                {timed ? "time in MPI" : nullptr, timed ? "seconds" : nullptr},
                {nullptr, timed ? "all_timed" : nullptr}});
  for (const SizeLine &line : group.lines) {
    Cell time = line.ns ? duration(*line.ns) : nothing();
    if (line.ns && line.some_untimed) time.text = ">= " + time.text;
    list.add({words(size_text(line)), line.known ? count(line.least) : nothing(),
              line.known ? count(line.most) : nothing(), count(line.messages), share(line.messages, all),
              line.known ? Cell{bytes_text(line.bytes), line.bytes} : nothing(), std::move(time),
              Cell{"", !line.some_untimed && line.ns.has_value()}});
  }
  return list;
}

uint64_t messages_of(const SizeGroup &group) {
  uint64_t all = 0;
  for (const SizeLine &line : group.lines) add_to(&all, line.messages);
  return all;
}
uint64_t bytes_of(const SizeGroup &group) {
  uint64_t all = 0;
  for (const SizeLine &line : group.lines) add_to(&all, line.bytes);
  return all;
}

ordered_json sizes_json(const std::string &file, const std::string &by, bool exact, const trace::Trace &trace,
                        const traffic::MessageSizes &sizes) {
  ordered_json json;
  json["schema"] = "cairn.sizes/1";
  json["file"] = valid_utf8(file);
  json["by"] = by;
  json["exact"] = exact;
  if (sizes.timed) {
    const std::string within = trace::exactness(trace);
    json["times_are"] = within.empty() ? "exact" : within;
  }
  json["unknown_processes"] = sizes.seen.nowhere;
  json["expanded_ranks"] = sizes.seen.expanded_ranks;
  json["groups"] = ordered_json::array();
  for (const SizeGroup &group : sizes.groups) {
    const uint64_t all = messages_of(group);
    ordered_json one;
    one["name"] = valid_utf8(group.name);
    one["collective"] = group.collective;
    one[group.collective ? "calls" : "messages"] = all;
    one["bytes"] = bytes_of(group);
    one["sizes"] = sizes_list(group, sizes.timed, all).json();
    json["groups"].push_back(std::move(one));
  }
  return json;
}

}  // namespace cairn::cli
