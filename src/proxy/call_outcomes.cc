#include "proxy/call_parts.h"

namespace cairn::proxy {

bool may_be(const trace::ClassPart &part, uint32_t group, size_t field, const FieldView &view, uint16_t constant) {
  const Atom atom = trace::constant_atom(constant);
  const auto has = [atom](const FieldView &of) {
    if (of.kind == FieldView::table) return true;
    if (of.slots.empty()) return false;
    if (of.slots[0].column == nullptr) return of.slots[0].atom == atom;
    const auto all = of.slots[0].column->expand();
    return std::find(all.begin(), all.end(), atom) != all.end();
  };
  if (view.kind != FieldView::moved) return has(view);
  for (const trace::Stream &stream : part.streams) {
    if (stream.group != group || stream.field != field) continue;
    for (const trace::StreamVariant &variant : stream.variants) {
      for (const trace::RowPointer &value : variant.values) {
        if (has(fields_of(*value)[0])) return true;
      }
    }
  }
  return false;
}

// ---- what did not repeat by itself

void CallWriter::force() {
  outcome();
  subset();
  const bool asks = function_.answer != 0;
  if (asks) {
    const FieldView &answer = field(function_.answer);
    const size_t i = function_.answer - 1U;
    if (answer.dynamic()) {
      condition_ = fmt::format("number_in({}, 0) != 0", local(i));
    } else if (!answer.slots.empty() && answer.slots[0].column != nullptr) {
      condition_ = fmt::format("{} != 0", number(answer.slots[0]));
    }
  }
  bool awaited = false;
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    const Parameter &parameter = function_.parameters[i];
    if (parameter.kind != Kind::request || parameter.direction == Direction::out) continue;
    if (std::string_view(function_.name).starts_with("MPI_Parrived")) {
      wait(fmt::format("wait_for_partition({}, {});", arguments_[i], arguments_[1]));
    } else if (function_.completed != 0) {
      completed();
    } else if (asks && !array_.empty()) {
      wait(fmt::format("wait_for_all({});", array_));
    } else if (asks) {
      wait(is_indirect(parameter) ? fmt::format("wait_for({});", arguments_[i])
                                  : fmt::format("wait_for(request_copy({}));", arguments_[i]));
    } else {
      continue;
    }
    awaited = true;
  }
  expect();  // behind what waits: that may ask for the status, too
  if (!asks || awaited) return;
  if (function_.status_tells == spec::StatusTells::message) {
    wait(fmt::format("wait_for_message({}, {}, {});", arguments_[0], arguments_[1], arguments_[2]));
  } else {
    loop_ = arguments_[function_.answer - 1U];
  }
}

void CallWriter::wait(const std::string &text) {
  out_.before.push_back(condition_.empty() ? text : fmt::format("if ({}) {}", condition_, text));
}

void CallWriter::completed() {
  const size_t i = function_.completed - 1U;
  const FieldView &view = fields_[i];
  const std::string place = place_.empty() ? "-2" : place_;
  scope_.drains = true;
  if (!condition_.empty()) {
    out_.before.push_back(fmt::format("if (!({})) looked_at({}, arrays, {});", condition_, array_, place));
  }
  if (view.dynamic()) {
    wait(fmt::format("only_left({}, arrays, {}, {}->count, {}->atoms);", array_, place, local(i), local(i)));
    return;
  }
  std::string list;
  for (const Slot &slot : view.slots) list += (list.empty() ? "" : ", ") + (slot.is_special() ? "-1" : number(slot));
  if (list.empty()) list = "-1";
  wait(fmt::format("only_left({}, arrays, {}, {}, LIST({}));", array_, place, std::max<size_t>(view.slots.size(), 1),
                   list));
}

void CallWriter::expect() {
  if (!program_.grequests) return;
  bool completes = false;
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    completes = completes || function_.parameters[i].effect == Effect::complete ||
                std::string_view(function_.name) == "MPI_Request_get_status";
  }
  for (size_t i = 0; completes && i < function_.parameter_count; ++i) {
    const FieldView view = told(fields_[i]);
    if (function_.parameters[i].layout != Layout::status || !is_out(i)) continue;
    if (view.dynamic()) {
      out_.before.push_back(fmt::format("expect_statuses({});", local(i)));
    } else if (view.slots.size() >= 5) {
      Parameter plain{};
      plain.layout = Layout::status;
      out_.before.push_back(fmt::format("expect_statuses({});", literal(view, plain)));
    }
  }
}

void CallWriter::outcome() {
  if (function_.status_tells != spec::StatusTells::message || function_.asked_source == 0 || function_.persistent)
    return;
  const size_t source = function_.asked_source - 1U;
  const bool has_tag = function_.asked_tag != 0;
  const size_t tag = has_tag ? function_.asked_tag - 1U : source;
  const Asked from = asked(source, spec::constant_id::k_ANY_SOURCE);
  const Asked under = has_tag ? asked(tag, spec::constant_id::k_ANY_TAG) : Asked::known;
  if (from == Asked::known && under == Asked::known) return;
  if (function_.nonblocking) {
    if (scope_.heard.empty()) return;
    std::string when;
    if (from != Asked::wild && under != Asked::wild) {
      if (from == Asked::either) when = fmt::format("{} == MPI_ANY_SOURCE", arguments_[source]);
      if (under == Asked::either)
        when += fmt::format("{}{} == MPI_ANY_TAG", when.empty() ? "" : " || ", arguments_[tag]);
    }
    const std::string next = fmt::format("next_field({})", scope_.heard);
    if (when.empty()) {
      out_.before.push_back(fmt::format("const struct field *heard_ = {};", next));
    } else {
      out_.before.push_back(fmt::format("const struct field *heard_ = {} ? {} : NULL;", when, next));
    }
    const std::string there = when.empty() ? "" : "heard_ != NULL && ";
    const auto set = [&](size_t i, Asked how, int which, const char *any) {
      if (how == Asked::known) return;
      const std::string value = fmt::format("(int)number_in(heard_, {})", which);
      if (how == Asked::wild && when.empty()) {
        arguments_[i] = value;
      } else {
        arguments_[i] = fmt::format("{}{} == {} ? {} : (int)({})", there, arguments_[i], any, value, arguments_[i]);
      }
    };
    set(source, from, 0, "MPI_ANY_SOURCE");
    if (has_tag) set(tag, under, 1, "MPI_ANY_TAG");
    return;
  }
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    const FieldView view = told(fields_[i]);
    if (function_.parameters[i].layout != Layout::status || !is_out(i)) continue;
    const auto set = [&](size_t argument, Asked how, int which, const char *any) {
      if (how == Asked::known) return;
      std::string value;
      if (view.dynamic()) {
        value = fmt::format("heard_in({}, {}, {})", local(i), which, how == Asked::wild ? any : arguments_[argument]);
      } else if (view.slots.size() >= 5) {
        const Slot &slot = view.slots[static_cast<size_t>(which)];
        if (slot.is_special() && slot.constant() < 0) return;
        value = number(slot);
        if (is_mixed(slot)) {
          Parameter plain{};
          plain.layout = Layout::status;
          value = fmt::format("heard_in({}, {}, {})", literal(view, plain), which,
                              how == Asked::wild ? any : arguments_[argument]);
        }
      } else {
        return;
      }
      arguments_[argument] =
          how == Asked::wild ? value
                             : fmt::format("{0} == {1} ? (int)({2}) : (int)({0})", arguments_[argument], any, value);
    };
    set(source, from, 0, "MPI_ANY_SOURCE");
    if (has_tag) set(tag, under, 1, "MPI_ANY_TAG");
    return;
  }
}

CallWriter::Asked CallWriter::asked(size_t i, uint16_t constant) const {
  const FieldView &view = fields_[i];
  if (!view.dynamic() && !view.slots.empty() && view.slots[0].constant() == constant) return Asked::wild;
  return may_be(*scope_.part, group_, i, view, constant) ? Asked::either : Asked::known;
}

}  // namespace cairn::proxy
