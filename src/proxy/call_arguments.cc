#include "proxy/call_parts.h"

namespace cairn::proxy {

// ---- the call

void CallWriter::make() {
  arguments_.assign(function_.parameter_count, "0");
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    if (function_.parameters[i].layout != Layout::none) argument(i);
  }
  if (program_.attaches) windows();
  if (!succeeded_) subset();
  if (succeeded_) {
    force();
  } else if (!place_.empty()) {
    out_.before.push_back(fmt::format("looked_at({}, arrays, {});", array_, place_));
  }
  std::string text;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (std::string_view(function_.parameters[i].ctype) == "...") continue;
    text += (text.empty() ? "" : ", ") + arguments_[i];
  }
  text = fmt::format("{}({})", function_.name, text);
  if (program_.settings.random_payload) fill();
  namespace id = spec::function_id;
  const uint32_t which = row_.function;
  const bool threads = program_.several_threads;
  if (threads && (which == id::Init || which == id::Init_thread || which == id::Session_init))
    out_.after.emplace_back("start_threads();");
  if (threads && which == id::Finalize) out_.before.emplace_back("join_threads();");
  if (scope_.turns) out_.before.insert(out_.before.begin(), gives_up() ? "last_turn();" : "turn();");
  if (spec::is_handle(function_.return_layout)) {
    keep_returned(&text);
  }
  const FieldView &result = fields_[function_.parameter_count];
  if (function_.returns == spec::ReturnKind::fint && is_number_of_handle(function_.return_kind) &&
      result.kind == FieldView::atoms && !result.slots.empty()) {
    text = fmt::format("number_given({}, {}, {})", other_end(), number(result.slots[0]), text);
  }
  if (!succeeded_ && program_.keyvals) {
    out_.before.emplace_back("fails(1);");
    out_.after.insert(out_.after.begin(), "fails(0);");
  }
  if (condition_.empty()) {
    out_.call = text + ";";
  } else {
    out_.before.push_back(fmt::format("if ({}) {{", condition_));
    out_.call = text + ";";
    out_.after.emplace_back("}");
  }
  if (loop_.empty()) return;
  out_.before.emplace_back("do {");
  out_.after.insert(out_.after.begin(), fmt::format("}} while (!*(int *){});", loop_));
}

bool CallWriter::gives_up() const {
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    const Parameter &each = function_.parameters[i];
    const bool shared =
        each.kind == Kind::comm || each.kind == Kind::window || each.kind == Kind::file || each.kind == Kind::session;
    if (shared && each.effect == Effect::release) return true;
  }
  return false;
}

void CallWriter::keep_returned(std::string *text) {
  const FieldView &result = fields_[function_.parameter_count];
  if (result.kind != FieldView::atoms || result.slots.empty() || result.slots[0].is_special()) return;
  const bool comm = function_.return_layout == Layout::comm;
  if (!comm && result.slots.size() < 2) return;
  Parameter returned{};
  returned.kind = function_.return_kind;
  returned.layout = function_.return_layout;
  returned.direction = Direction::out;
  *text = keep(result.slots[0], comm ? nullptr : &result.slots[1], returned, *text);
}

void CallWriter::fill() {
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    const Parameter &parameter = function_.parameters[i];
    const bool sent = parameter.kind == Kind::buf_in || parameter.kind == Kind::buf_inout;
    if (!sent || parameter.count_parameter == 0 || parameter.type_parameter == 0 || fields_[i].absent()) continue;
    const size_t count = parameter.count_parameter - 1U;
    const size_t type = parameter.type_parameter - 1U;
    if (function_.parameters[count].passing != Passing::value || function_.parameters[type].passing != Passing::value)
      continue;
    out_.before.push_back(fmt::format("fill({}, {}, {});", arguments_[i], arguments_[count], arguments_[type]));
  }
}

int CallWriter::other_end() const {
  const bool made = function_.returns == spec::ReturnKind::handle;
  return static_cast<int>(made ? function_.return_kind : function_.parameters[0].kind);
}

bool CallWriter::is_number_of_handle(Kind kind) { return kind == Kind::fint_handle || kind == Kind::int_handle; }

analyze::HandleName CallWriter::name_of(const Slot &slot, Layout layout) const {
  return analyze::handle_name(slot.column == nullptr ? slot.atom : 0, 0, layout, scope_.scope);
}

std::string CallWriter::number(const Slot &slot) {
  return slot.column == nullptr ? plain_value(slot.atom) : columns_.value(*slot.column);
}

void CallWriter::argument(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  const FieldView &view = fields_[i];
  std::string &text = arguments_[i];
  const bool pointer = parameter.passing != Passing::value;
  const bool lone = view.kind == FieldView::atoms && view.slots.size() == 1 && view.slots[0].is_special();
  if (parameter.passing == Passing::argv_array || parameter.layout == Layout::strings) {
    if (lone) {
      text = "NULL";
    } else if (parameter.passing == Passing::argv_array) {
      text = "program_argv";
    } else if (view.kind == FieldView::text) {
      strings(i);
    } else {
      scope_.problems->push_back(fmt::format("{}: {} differs between calls or ranks", where(), parameter.name));
    }
    return;
  }
  if (parameter.passing == Passing::pointer && std::string_view(parameter.name) == "argc") {
    text = lone ? "NULL" : "program_argc";
    return;
  }
  if (view.kind == FieldView::text) return string(i);
  if (lone && pointer && view.slots[0].is(trace::kNull) &&
      (!is_handle(parameter) || parameter.may_be_null || (is_out(i) && !succeeded_))) {
    text = "NULL";
    return;
  }
  const bool constant = !view.dynamic() && !view.slots.empty() && view.slots[0].constant() >= 0 &&
                        (lone || (parameter.layout == Layout::status && view.slots.size() % 5 == 1));
  if (constant && pointer && (parameter.pointer_domain != 0 || parameter.layout == Layout::string)) {
    text = plain_value(view.slots[0].atom);
    return;
  }
  if (is_handle(parameter)) return handle(i);
  if (is_out(i)) return output(i);
  if (view.absent()) {
    if (pointer) text = parameter.direction == Direction::in ? "no_elements()" : result(i, 8);
    return;
  }
  switch (parameter.layout) {
    case Layout::address:
      return address(i);
    case Layout::status:
      return status(i);
    case Layout::string:
      text = view.dynamic() ? fmt::format("{}->text", local(i)) : "NULL";
      if (view.dynamic() && meaning(i).is_file) text = file(text);
      if (view.dynamic() && !std::string_view(parameter.ctype).starts_with("const")) {
        text = "(char *)(uintptr_t)" + text;
      }
      return;
    default:
      return numbers(i);
  }
}

std::string CallWriter::result(size_t i, size_t count) const {
  return count <= 8 ? fmt::format("result({})", i) : fmt::format("results({}, {})", i, count);
}

void CallWriter::string(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  if (parameter.direction == Direction::out) {
    arguments_[i] = result(i, kStringRoom);
    return;
  }
  const std::string value(fields_[i].bytes->begin(), fields_[i].bytes->end());
  if (!meaning(i).is_file) {
    arguments_[i] = string_literal(value);
    if (!std::string_view(parameter.ctype).starts_with("const")) {
      arguments_[i] = "(char *)(uintptr_t)" + arguments_[i];
    }
    return;
  }
  arguments_[i] = file(string_literal(scratch_name(value)));
}

void CallWriter::strings(size_t i) {
  ByteReader in(*fields_[i].bytes);
  std::string list;
  for (uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
    const uint64_t length = in.varint();
    if (length == 0) {
      list += "NULL, ";
      continue;
    }
    const ByteView text = in.raw(length - 1);
    list += "(char *)" + string_literal({reinterpret_cast<const char *>(text.data()), text.size()}) + ", ";
  }
  out_.before.push_back(fmt::format("static char *{}[] = {{{}NULL}};", local(i), list));
  arguments_[i] = local(i);
}

std::string CallWriter::file(const std::string &name) const {
  if (std::string_view(function_.name) != "MPI_File_open" || !succeeded_) return fmt::format("scratch({})", name);
  if (!has_mode("MPI_MODE_CREATE")) return fmt::format("provided({})", name);
  // The program has removed it before.
  if (has_mode("MPI_MODE_EXCL")) return fmt::format("removed({}, {})", name, arguments_[0]);
  return fmt::format("scratch({})", name);
}

bool CallWriter::has_mode(std::string_view mode) const {
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    const Parameter &parameter = function_.parameters[i];
    if (parameter.kind != Kind::mode || fields_[i].kind != FieldView::atoms || fields_[i].slots.empty()) continue;
    const auto flags = spec::domain(parameter.domain);
    for (size_t bit = 0; bit < flags.size() && bit < 64; ++bit) {
      if (std::string_view(spec::constants()[flags[bit]].name) == mode) {
        return (static_cast<uint64_t>(fields_[i].slots[0].atom) >> bit & 1U) != 0;
      }
    }
  }
  return false;
}

std::string CallWriter::room(size_t recorded, size_t words_each) const {
  size_t most = recorded;
  std::string more;
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    const Parameter &each = function_.parameters[i];
    if (each.passing != Passing::value || each.layout != Layout::integer) continue;
    const FieldView &view = fields_[i];
    if (view.dynamic()) {
      more += fmt::format(" + {}{}", words_each == 1 ? "" : fmt::format("{} * ", words_each), local(i));
      continue;
    }
    if (view.slots.empty()) continue;
    Atom value = view.slots[0].atom;
    if (view.slots[0].column != nullptr) {
      const auto all = view.slots[0].column->expand();
      value = *std::max_element(all.begin(), all.end());
    }
    constexpr Atom kMost = Atom{1} << 24;
    if (value > 0 && value < kMost) most = std::max(most, static_cast<size_t>(value));
  }
  return fmt::format("{}{}", (most + kSpareElements) * words_each, more);
}

void CallWriter::output(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  const FieldView &view = fields_[i];
  if (parameter.layout == Layout::string || parameter.passing == Passing::string) {
    arguments_[i] = result(i, kStringRoom);
    return;
  }
  const size_t each = parameter.layout == Layout::status ? 3 : 1;
  const std::string count = parameter.passing == Passing::array || parameter.passing == Passing::buffer
                                ? room(view.slots.size(), each)
                                : std::string();
  if (view.dynamic() && is_needed(i) && (parameter.layout == Layout::status || parameter.pointer_domain != 0)) {
    arguments_[i] = fmt::format("output_in({}, {}, {})", local(i), i, count.empty() ? "8" : count);
  } else {
    arguments_[i] = count.empty() ? fmt::format("result({})", i) : fmt::format("results({}, {})", i, count);
  }
  if (parameter.kind != Kind::pointer_out) return;
  if (view.dynamic()) {
    out_.after.push_back(fmt::format("bind_in({}, *(void **){});", local(i), arguments_[i]));
  } else if (view.slots.size() == 3 && view.slots[0].is(trace::kMpiMemory)) {
    out_.after.push_back(
        fmt::format("bind_memory({}, {}, *(void **){});", number(view.slots[1]), number(view.slots[2]), arguments_[i]));
  }
}

}  // namespace cairn::proxy
