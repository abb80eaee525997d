#include "tell/loops_json.h"

#include "analyze/decode.h"
#include "text/utf8.h"
#include "trace/read/exactness.h"

namespace cairn::cli {

using analyze::KindOfRank;
using analyze::Loop;
using analyze::LoopItem;
using nlohmann::ordered_json;

namespace {

ordered_json json_of(const Loop &loop, const KindOfRank &kind) {
  const LoopItem &item = *loop.item;
  const Turn turn(loop, kind.ranks.size());
  ordered_json out;
  if (loop.is_call()) out["function"] = analyze::function_name(kind.places[item.symbol].function);
  out["place"] = valid_utf8(analyze::text_of(loop, kind.places));
  out["times"] = item.times;
  out["turns"] = item.turns;
  out["least_turns"] = item.least;
  out["most_turns"] = item.most;
  out["calls_a_turn"] = loop.calls / turn.turns;
  out["bytes_a_turn"] = loop.bytes / turn.turns;
  out["bytes_known"] = turn.all_sized;
  out["seconds_a_turn"] = loop.time_ns ? ordered_json(*loop.time_ns / turn.turns / 1e9) : ordered_json();
  out["is_time_step"] = loop.is_step;
  if (loop.is_call()) return out;
  out["further_turns"] = loop.further_turns;
  out["body"] = ordered_json::array();
  for (const Loop &inner : loop.body) out["body"].push_back(json_of(inner, kind));
  if (loop.left_out != 0) out["body_further"] = loop.left_out;
  return out;
}

ordered_json json_of(const KindOfRank &kind) {
  ordered_json out;
  out["ranks"] = kind.ranks;
  out["thread"] = kind.thread;
  out["calls"] = kind.all.calls / static_cast<double>(kind.ranks.size());
  out["items"] = ordered_json::array();
  for (const Loop &loop : kind.all.body) out["items"].push_back(json_of(loop, kind));
  if (kind.all.left_out != 0) out["items_further"] = kind.all.left_out;
  return out;
}

}  // namespace

ordered_json loops_json(const std::string &file, const trace::Trace &trace, const std::vector<KindOfRank> &kinds) {
  ordered_json json;
  json["schema"] = "cairn.loops/1";
  json["file"] = valid_utf8(file);
  const std::string within = trace::exactness(trace);
  json["times_are"] = within.empty() ? "exact" : within;
  json["kinds"] = ordered_json::array();
  for (const KindOfRank &kind : kinds) json["kinds"].push_back(json_of(kind));
  return json;
}

}  // namespace cairn::cli
