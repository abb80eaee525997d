#include "proxy/call_parts.h"

namespace cairn::proxy {
namespace {

bool is_null_handle(int constant) {
  const auto all = spec::constants();
  return constant < 0 || static_cast<size_t>(constant) >= all.size() || all[static_cast<size_t>(constant)].null_handle;
}

}  // namespace

// ---- handles

std::string CallWriter::any_of(const Parameter &parameter) const {
  if (parameter.kind == Kind::datatype) return "MPI_BYTE";
  if (parameter.kind == Kind::op) return "MPI_SUM";
  return null_of(parameter.kind);
}

std::optional<std::string> CallWriter::single(const Slot &first, const Parameter &parameter) {
  if (first.column != nullptr) return std::nullopt;
  auto variable = program_.single(parameter.kind, name_of(first, parameter.layout));
  if (variable && parameter.layout != Layout::comm) named(first, parameter);
  return variable;
}

std::string CallWriter::reach(const char *how, const Slot &first, const Slot *second, const Parameter &parameter) {
  const bool itself = std::string_view(how) == "of";
  if (const auto variable = single(first, parameter)) return (itself ? "" : "&") + *variable;
  return fmt::format("{}_{}({})", kind_word(parameter.kind), how, variable_and_place(first, second, parameter));
}

std::string CallWriter::keep(const Slot &first, const Slot *second, const Parameter &parameter,
                             const std::string &value) {
  if (const auto variable = single(first, parameter)) return fmt::format("{} = {}", *variable, value);
  return fmt::format("{}_keep({}, {})", kind_word(parameter.kind), variable_and_place(first, second, parameter), value);
}

std::string CallWriter::variable_and_place(const Slot &first, const Slot *second, const Parameter &parameter) {
  if (parameter.layout == Layout::comm) return fmt::format("&comms, {}", number(first));
  const Slot zero;
  const std::string place = number(second == nullptr ? zero : *second);
  if (first.column == nullptr) {
    return fmt::format("&{}, {}", program_.handles(parameter.kind, named(first, parameter)), place);
  }
  // Made by another call on each rank.
  std::vector<Atom> numbers;
  for (const Atom each : first.column->expand()) {
    const Slot slot{each, nullptr};
    numbers.push_back(trace::is_special(each)
                          ? each
                          : static_cast<Atom>(program_.handles_number(parameter.kind, named(slot, parameter))));
  }
  return fmt::format("handles_of({}), {}", columns_.value(numbers, true), place);
}

analyze::HandleName CallWriter::named(const Slot &slot, const Parameter &parameter) {
  analyze::HandleName name = name_of(slot, parameter.layout);
  if (parameter.direction == Direction::out) {
    program_.makes(parameter.kind, name);
  } else if (parameter.effect != Effect::release || parameter.kind != Kind::keyval) {
    program_.uses(parameter.kind, name, where());
  }
  return name;
}

bool CallWriter::is_mixed(const Slot &slot) {
  if (slot.column == nullptr) return false;
  const auto all = slot.column->expand();
  return std::any_of(all.begin(), all.end(), trace::is_special);
}

void CallWriter::handle(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  const FieldView &view = fields_[i];
  std::string &text = arguments_[i];
  const std::string word = kind_word(parameter.kind);
  if (word.empty()) {
    text = result(i, 8);
    return;
  }
  if (parameter.passing == Passing::array) return handle_array(i);
  const bool by_pointer = is_indirect(parameter);
  if (view.dynamic() || (!view.slots.empty() && is_mixed(view.slots[0]))) {
    std::string from = local(i);
    if (!view.dynamic()) from = literal(view, parameter);
    if (parameter.direction == Direction::out) {
      text = fmt::format("{}_new_in({}, 0)", word, from);
    } else {
      text = fmt::format("{}{}_in({}, 0)", by_pointer ? "" : "*", word, from);
      if (!by_pointer && view.dynamic() && (parameter.kind == Kind::datatype || parameter.kind == Kind::op)) {
        text = fmt::format("({}->count == 0 ? {} : {})", from, any_of(parameter), text);
      }
    }
    return;
  }
  if (parameter.direction == Direction::out) {
    if (view.slots.empty() || view.slots[0].is_special()) {
      text = result(i, 8);
    } else {
      text = reach("new", view.slots[0], second(view), parameter);
    }
    return;
  }
  if (view.slots.empty()) {
    text = by_pointer ? fmt::format("{}_null()", word) : any_of(parameter);
    return;
  }
  const Slot &first = view.slots[0];
  if (first.is_special()) {
    const bool null = first.constant() < 0 || is_null_handle(first.constant());
    const std::string constant = first.constant() < 0 ? null_of(parameter.kind) : plain_value(first.atom);
    text = !by_pointer ? constant : null ? fmt::format("{}_null()", word) : fmt::format("{}_copy({})", word, constant);
    return;
  }
  const char *how = !by_pointer ? "of" : parameter.effect == Effect::release ? "last" : "at";
  text = reach(how, first, second(view), parameter);
}

std::string CallWriter::literal(const FieldView &view, const Parameter &parameter) {
  std::string atoms;
  for (size_t k = 0; k < view.slots.size(); ++k) {
    const Slot &slot = view.slots[k];
    const bool made = parameter.layout == Layout::handle && k % 2 == 0;
    std::vector<Atom> values =
        slot.column == nullptr ? std::vector<Atom>(columns_.ranks().size(), slot.atom) : slot.column->expand();
    for (Atom &value : values) {
      program_.looks_up(value);
      if (made && !trace::is_special(value)) {
        value = static_cast<Atom>(program_.handles_number(parameter.kind, named(Slot{value, nullptr}, parameter)));
      }
    }
    atoms += (atoms.empty() ? "" : ", ") + columns_.value(values, true);
  }
  return fmt::format("FIELD({}, {})", view.slots.size(), atoms.empty() ? "0" : atoms);
}

void CallWriter::add_names(const std::vector<Slot> &slots, size_t from, const Parameter &parameter,
                           const std::string &to) {
  const auto flush = [&](const std::string &name, Atom place, Atom step, size_t count) {
    if (count == 1 && name != "NULL") {
      out_.before.push_back(fmt::format("add_request({}, {}, {});", to, name, place));
    } else {
      out_.before.push_back(fmt::format("add_requests({}, {}, {}, {}, {});", to, name, place, step, count));
    }
  };
  size_t k = from;
  while (k + 1 < slots.size()) {
    const Slot &first = slots[k];
    const Slot &place = slots[k + 1];
    if (is_mixed(first)) {
      FieldView one;
      one.slots = {first, place};
      out_.before.push_back(fmt::format("add_requests_in({}, {});", to, literal(one, parameter)));
      k += 2;
      continue;
    }
    if (first.column != nullptr || place.column != nullptr) {
      out_.before.push_back(fmt::format("add_request({}, {});", to, variable_and_place(first, &place, parameter)));
      k += 2;
      continue;
    }
    const auto continues = [&](size_t at, Atom step) {
      return at + 1 < slots.size() && slots[at].column == nullptr && slots[at].atom == first.atom &&
             slots[at + 1].column == nullptr && (first.is_special() || slots[at + 1].atom == slots[at - 1].atom + step);
    };
    size_t end = k + 2;
    Atom step = 0;
    if (end + 1 < slots.size() && slots[end].column == nullptr && slots[end + 1].column == nullptr) {
      step = slots[end + 1].atom - place.atom;
    }
    while (continues(end, step)) end += 2;
    const size_t count = (end - k) / 2;
    if (first.is_special()) {
      flush("NULL", 0, 0, count);
    } else {
      flush("&" + program_.handles(parameter.kind, named(first, parameter)), place.atom, count == 1 ? 0 : step, count);
    }
    k = end;
  }
}

void CallWriter::handle_array(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  const FieldView &view = fields_[i];
  const std::string word = kind_word(parameter.kind);
  const std::string name = local(i);
  if (parameter.direction == Direction::out) {
    arguments_[i] = fmt::format("results({}, {})", i, room(view.slots.size(), 1));
    const std::string type = kind_type(parameter.kind);
    if (view.dynamic()) {
      out_.after.push_back(
          fmt::format("for (int i = 0; 2 * i + 1 < {}->count; ++i) "
                      "*{}_new_in({}, 2 * i) = (({} *){})[i];",
                      name, word, name, type, arguments_[i]));
      return;
    }
    const size_t width = parameter.layout == Layout::comm ? 1 : 2;
    for (size_t k = 0; k + width <= view.slots.size(); k += width) {
      if (view.slots[k].is_special()) continue;
      out_.after.push_back(keep(view.slots[k], width == 2 ? &view.slots[k + 1] : nullptr, parameter,
                                fmt::format("(({} *){})[{}]", type, arguments_[i], k / width)) +
                           ";");
    }
    return;
  }
  if (parameter.kind == Kind::request) {
    array_ = given_array_.empty() ? "requests" : given_array_;
    if (given_array_.empty()) {
      out_.before.push_back(fmt::format("struct requests *{} = no_requests();", array_));
      if (function_.completed != 0) {
        place_ = add_drained(i, array_);
        if (view.dynamic()) {
          out_.before.push_back(fmt::format("const int place = {};", place_));
          place_ = "place";
        }
      } else if (view.dynamic()) {
        out_.before.push_back(fmt::format("add_requests_in({}, {});", array_, name));
      } else {
        add_names(view.slots, 0, parameter, array_);
      }
    } else {
      place_ = given_place_;
    }
    arguments_[i] = fmt::format("given({})", array_);
    if (parameter.direction != Direction::in) out_.after.push_back(fmt::format("settle({});", array_));
    return;
  }
  const std::string type = kind_type(parameter.kind);
  if (view.dynamic()) {
    const size_t width = parameter.layout == Layout::comm ? 1 : 2;
    const std::string room = fmt::format("room_{}", i);
    out_.before.push_back(
        fmt::format("{0} *{1} = ({0} *)calloc((size_t){2}->count + 1, sizeof *{1});", type, room, name));
    out_.before.push_back(fmt::format("for (int i = 0; {} * i < {}->count; ++i) {}[i] = *{}_in({}, {} * i);", width,
                                      name, room, word, name, width));
    arguments_[i] = room;
    return;
  }
  const size_t width = parameter.layout == Layout::comm ? 1 : 2;
  const size_t count = view.slots.size() / width;
  out_.before.push_back(fmt::format("static {} {}[{}];", type, name, std::max<size_t>(count, 1)));
  for (size_t k = 0; k < count;) {
    const Slot &first = view.slots[k * width];
    size_t end = k + 1;
    while (end < count && first.is_special() && view.slots[end * width].is(first.atom)) ++end;
    std::string value;
    if (is_mixed(first)) {
      FieldView one;
      one.slots.assign(view.slots.begin() + static_cast<std::ptrdiff_t>(k * width),
                       view.slots.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
      value = fmt::format("*{}_in({}, 0)", word, literal(one, parameter));
    } else if (first.is_special()) {
      value = first.constant() < 0 ? null_of(parameter.kind) : plain_value(first.atom);
    } else {
      value = reach("of", first, width == 2 ? &view.slots[k * width + 1] : nullptr, parameter);
    }
    if (end - k > 2) {
      out_.before.push_back(fmt::format("for (int i = {}; i < {}; ++i) {}[i] = {};", k, end, name, value));
    } else {
      for (size_t each = k; each < end; ++each) out_.before.push_back(fmt::format("{}[{}] = {};", name, each, value));
    }
    k = end;
  }
  arguments_[i] = name;
}

}  // namespace cairn::proxy
