#include "proxy/call_parts.h"

namespace cairn::proxy {

// ---- calls that stand for several

Statement CallWriter::polls() {
  out_ = {};
  out_.comment = {};
  const size_t count_field = row_.heads.size() - 1;
  const auto array = request_array();
  std::string count;
  if (scope_.turns || array) count = stream(count_field, "polls", false);
  if (array && is_drained(*array)) {
    // An array is remembered in the order in which it was looked at.
    passed_over_ = "a poll that found nothing";
    found_nothing_ = true;
    read_streams();
    out_.before.push_back(fmt::format("for (long long times = next_number({}); times > 0; --times) {{", count));
    look_at_array();
    out_.before.emplace_back("}");
    if (scope_.turns) scope_.problems->push_back(fmt::format("{}: several threads drain arrays", function_.name));
    return std::move(out_);
  }
  if (scope_.turns) out_.before.push_back(fmt::format("turns(next_number({}));", count));
  return std::move(out_);
}

std::optional<size_t> CallWriter::request_array() const {
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    if (is_request_array(i) && function_.completed != 0) return i;
  }
  return std::nullopt;
}

bool CallWriter::is_drained(size_t i) const {
  const FieldView &view = fields_[i];
  if (view.dynamic()) return true;
  return view.kind == FieldView::atoms && !view.slots.empty() && view.slots[0].is_special() &&
         view.slots[0].atom > trace::kRequests && view.slots[0].atom <= trace::kRequests + trace::kMostDistance;
}

void CallWriter::look_at_array() {
  const auto array = request_array();
  if (!array || !is_drained(*array)) return;
  scope_.drains = true;
  out_.before.emplace_back("struct requests *seen = no_requests();");
  const std::string place = add_drained(*array, "seen");
  out_.before.push_back(fmt::format("looked_at(seen, arrays, {});", place));
}

std::string CallWriter::add_drained(size_t i, const std::string &to) {
  const FieldView &view = fields_[i];
  scope_.drains = true;
  if (view.dynamic()) return fmt::format("recall_in({}, arrays, {})", to, local(i));
  if (!is_drained(i)) {
    add_names(view.slots, 0, function_.parameters[i], to);
    return "-2";
  }
  if (view.slots.size() == 2) {
    out_.before.push_back(fmt::format("recall({}, arrays, (int)({}));", to, number(view.slots[1])));
    return fmt::format("(int)({})", number(view.slots[1]));
  }
  add_names(view.slots, 1, function_.parameters[i], to);
  return "-1";
}

Statement CallWriter::drain(const trace::Draining &draining) {
  const size_t last = row_.heads.size() - 1;
  const auto array = request_array();
  if (!array || !passed_over_.empty()) {
    scope_.problems->push_back(
        fmt::format("{} at {}: what it drains is not known", function_.name, made_where_.brief()));
    return std::move(out_);
  }
  read_streams(false, true);
  const std::string count = stream(last, "calls", false);
  std::string misses;
  if (draining.polls()) misses = stream(last - 1, "misses", false);
  out_.before.push_back("int first = 1;");
  out_.before.push_back(
      fmt::format("for (long long calls = next_number({}); calls > 0; --calls, first = 0) {{", count));
  std::vector<std::string> outside = std::move(out_.before);
  out_.before.clear();
  out_.before.emplace_back("struct requests *requests = no_requests();");
  out_.before.emplace_back("int place = 0;");
  out_.before.emplace_back("if (first) {");
  const std::string place = add_drained(*array, "requests");
  out_.before.push_back(fmt::format("place = {};", place));
  out_.before.emplace_back("} else {");
  out_.before.emplace_back("recall(requests, arrays, 0);");
  out_.before.emplace_back("}");
  if (draining.polls()) {
    out_.before.push_back(fmt::format("const long long missed = next_number({});", misses));
    out_.before.emplace_back("if (missed > 0) {");
    out_.before.emplace_back("looked_at(requests, arrays, place);");
    out_.before.emplace_back("place = 0;");
    out_.before.emplace_back("}");
    if (scope_.turns) out_.before.emplace_back("turns(missed);");
  }
  read_streams(true, false);
  given_array_ = "requests";
  given_place_ = "place";
  make();
  outside.insert(outside.end(), out_.before.begin(), out_.before.end());
  if (!out_.call.empty()) outside.push_back(std::move(out_.call));
  outside.insert(outside.end(), out_.after.begin(), out_.after.end());
  outside.emplace_back("}");
  out_.before = std::move(outside);
  out_.call.clear();
  out_.after.clear();
  return std::move(out_);
}

Statement CallWriter::optional() {
  read_streams();
  out_.before.push_back(fmt::format("if (next_number({}) != 0) {{", stream(row_.heads.size() - 1, "made", false)));
  std::vector<std::string> lines = std::exchange(out_.before, {});
  if (scope_.counts && !spec::varies_by_chance(function_)) out_.before.emplace_back("next_call();");
  make_or_pass_over();
  lines.insert(lines.end(), out_.before.begin(), out_.before.end());
  if (!out_.call.empty()) lines.push_back(std::move(out_.call));
  lines.insert(lines.end(), out_.after.begin(), out_.after.end());
  lines.emplace_back("}");
  return {std::move(lines), {}, {}, std::move(out_.comment)};
}

}  // namespace cairn::proxy
