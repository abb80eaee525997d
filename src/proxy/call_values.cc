#include "proxy/call_parts.h"

namespace cairn::proxy {

namespace {

/// The word that support/proxy.h has for arrays of that type.
std::string array_word(const std::string &type) {
  if (type == "MPI_Aint") return "aints";
  if (type == "MPI_Count" || type == "MPI_Offset") return "counts";
  return "ints";
}

/// What stands in for a function of that C type.
std::string stand_in(std::string_view ctype) {
  std::string name = identifier(ctype);
  if (name == "MPI_Copy_function") return "comm_copy_attr_function";
  if (name == "MPI_Delete_function") return "comm_delete_attr_function";
  if (!name.starts_with("MPI_") && !name.starts_with("MPIX_")) return {};
  name = name.substr(name.find('_') + 1);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  static const std::string_view kThere[] = {"user_function",
                                            "user_function_c",
                                            "comm_copy_attr_function",
                                            "comm_delete_attr_function",
                                            "type_copy_attr_function",
                                            "type_delete_attr_function",
                                            "win_copy_attr_function",
                                            "win_delete_attr_function",
                                            "comm_errhandler_function",
                                            "win_errhandler_function",
                                            "file_errhandler_function",
                                            "session_errhandler_function",
                                            "grequest_query_function",
                                            "grequest_free_function",
                                            "grequest_cancel_function",
                                            "grequest_poll_function",
                                            "grequest_wait_function",
                                            "datarep_extent_function",
                                            "datarep_conversion_function"};
  return std::find(std::begin(kThere), std::end(kThere), name) != std::end(kThere) ? name : std::string();
}

}  // namespace

std::string element_type(std::string_view ctype) {
  if (ctype.starts_with("const ")) ctype.remove_prefix(6);
  return std::string(ctype.substr(0, ctype.find_first_of("[*")));
}

// ---- addresses

std::string CallWriter::place_text(const Slot &kind, const Slot &number_slot, const Slot &offset, bool integer) {
  if (kind.column != nullptr) {
    FieldView one;
    one.slots = {kind, number_slot, offset};
    Parameter plain{};
    plain.layout = Layout::address;
    const std::string text = fmt::format("address_in({}, 0)", literal(one, plain));
    return integer ? fmt::format("AINT({})", text) : text;
  }
  const std::string at = number(number_slot);
  const std::string to = number(offset);
  std::string text;
  if (kind.constant() >= 0) {
    text = plain_value(kind.atom);
  } else if (kind.is(trace::kNull)) {
    text = integer ? "0" : "NULL";
    return text;
  } else if (kind.is(trace::kInteger)) {
    return integer ? to : fmt::format("integer_at({})", to);
  } else if (kind.is(trace::kHeap)) {
    text = fmt::format("heap_at({}, {})", at, to);
  } else if (kind.is(trace::kStatic)) {
    text = fmt::format("data_at({}, {})", at, to);
  } else if (kind.is(trace::kStack)) {
    text = fmt::format("stack_at({})", to);
  } else if (kind.is(trace::kMapping)) {
    text = fmt::format("mapping_at({}, {})", at, to);
  } else if (kind.is(trace::kMpiMemory)) {
    text = fmt::format("mpi_memory_at({}, {})", at, to);
  } else if (kind.is(trace::kUnknown)) {
    text = fmt::format("elsewhere_at({}, {})", at, to);
  } else if (kind.is(trace::kDevice)) {
    text = fmt::format("device_at({}, {})", at, to);
  } else {
    scope_.problems->push_back(fmt::format("{}: an address of an unknown kind", where()));
    text = "NULL";
  }
  return integer ? fmt::format("AINT({})", text) : text;
}

void CallWriter::address(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  const FieldView &view = fields_[i];
  std::string &text = arguments_[i];
  const std::string type = element_type(parameter.ctype);
  const bool integer = parameter.ctype[0] != 'v' && (type == "MPI_Aint" || type == "MPI_Count" || type == "MPI_Offset");
  if (parameter.kind == Kind::callback) {
    const bool program =
        view.dynamic() || view.slots[0].column != nullptr ||
        (view.slots[0].is_special() && view.slots[0].constant() < 0 && !view.slots[0].is(trace::kNull));
    if (program) {
      text = stand_in(parameter.ctype);
      if (text.empty())
        scope_.problems->push_back(fmt::format("{} is given a function that nothing can stand in for", where()));
      return;
    }
  }
  if (parameter.kind == Kind::rma_displacement && !program_.attaches && view.slots.size() == 3 &&
      view.slots[0].is(trace::kInteger)) {
    // In a dynamic window, recorded when traces did not have what was attached.
    constexpr Atom kAddress = Atom{1} << 40;
    const Slot &offset = view.slots[2];
    if ((offset.column == nullptr ? offset.atom : offset.column->at(0)) >= kAddress) {
      scope_.problems->push_back(fmt::format("{}: {} is an address of another process", where(), parameter.name));
    }
  }
  if (parameter.passing == Passing::array) {
    const std::string name = local(i);
    if (view.dynamic()) {
      text = fmt::format("addresses_in({})", name);
      return;
    }
    const size_t count = view.slots.size() / 3;
    out_.before.push_back(fmt::format("static {} {}[{}];", type, name, std::max<size_t>(count, 1)));
    for (size_t k = 0; k < count; ++k) {
      out_.before.push_back(fmt::format(
          "{}[{}] = {};", name, k, place_text(view.slots[3 * k], view.slots[3 * k + 1], view.slots[3 * k + 2], true)));
    }
    text = name;
    return;
  }
  if (view.dynamic()) {
    text = fmt::format("address_in({}, 0)", local(i));
    if (integer) text = fmt::format("AINT({})", text);
  } else if (view.slots.size() >= 3) {
    text = place_text(view.slots[0], view.slots[1], view.slots[2], integer);
  }
  if (parameter.passing == Passing::pointer) {  // an integer behind a pointer
    out_.before.push_back(fmt::format("static {} {};", type, local(i)));
    out_.before.push_back(fmt::format("{} = {};", local(i), text));
    text = "&" + local(i);
  }
}

// ---- statuses

FieldView CallWriter::told(const FieldView &view) {
  FieldView found = view;
  if (found.slots.size() % 5 == 1) found.slots.erase(found.slots.begin());
  return found;
}

void CallWriter::status(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  const FieldView &view = fields_[i];
  std::string text = "status_of(0, 0, 0, 0, 0)";
  if (view.dynamic()) {
    text = fmt::format("status_in({})", local(i));
  } else if (view.slots.size() >= 5) {
    text = "status_of(";
    for (size_t k = 0; k < 5; ++k) text += (k == 0 ? "" : ", ") + number(view.slots[k]);
    text += ")";
  }
  arguments_[i] = parameter.direction == Direction::inout ? fmt::format("given_status({})", text) : text;
}

// ---- numbers

void CallWriter::numbers(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  const FieldView &view = fields_[i];
  std::string &text = arguments_[i];
  if (!is_indirect(parameter)) {
    if (view.dynamic()) {
      text = is_single_number(i) ? local(i) : fmt::format("number_in({}, 0)", local(i));
    } else if (parameter.layout == Layout::flags && view.slots.size() == 2) {
      text = flags(view, parameter);
    } else if (parameter.layout == Layout::error && view.slots.size() == 2 &&
               (view.slots[0].constant() == spec::constant_id::k_ERR_UNKNOWN || view.slots[0].constant() < 0)) {
      text = number(view.slots[1]);  // the program's own codes are given in order
    } else {
      text = number(view.slots[0]);
    }
    if (is_number_of_handle(parameter.kind)) text = fmt::format("number_now({}, {})", other_end(), text);
    return;
  }
  const std::string type = element_type(parameter.ctype);
  const std::string name = local(i);
  const std::string word = array_word(type);
  if (view.dynamic()) {
    text = fmt::format("{}_in({}, {})", word, name, prefix_of(i));
    // What the call writes must not change what the next one is given.
    if (parameter.direction == Direction::inout) {
      text = fmt::format("copy_of({}, {}, {}->count * (long long)sizeof({}))", i, text, name, type);
    }
    return;
  }
  std::vector<Slot> slots = view.slots;
  const bool changes = parameter.direction == Direction::inout;
  if (changes && succeeded_ && slots.size() % 2 == 0) slots.resize(slots.size() / 2);
  if (parameter.passing == Passing::pointer) {
    out_.before.push_back(fmt::format("{} {} = ({}){};", type, name, type, number(slots[0])));
    text = "&" + name;
    return;
  }
  if (slots.size() == 1 && slots[0].is(trace::kPrefixSums)) return sums(i);
  write_array(name, type, slots, changes);
  text = std::string_view(parameter.ctype).ends_with("][3]") ? fmt::format("(int(*)[3])(void *){}", name) : name;
  if (type == "MPI_Offset") text = "(MPI_Offset *)" + text;
}

std::string CallWriter::prefix_of(size_t i) {
  if (i == 0 || !function_.parameters[i].prefix_sums) return "NULL";
  const FieldView &before = fields_[i - 1];
  if (before.dynamic()) return local(i - 1);
  if (before.kind != FieldView::atoms || before.slots.empty()) return "NULL";
  Parameter plain{};
  plain.layout = Layout::integer;
  return literal(before, plain);
}

void CallWriter::sums(size_t i) {
  const Parameter &parameter = function_.parameters[i];
  const std::string type = element_type(parameter.ctype);
  const FieldView &before = fields_[i - 1];
  const bool known = before.kind == FieldView::atoms &&
                     std::all_of(before.slots.begin(), before.slots.end(), [](const Slot &s) { return s.is_number(); });
  if (known) {
    std::vector<Slot> slots;
    Atom sum = 0;
    for (const Slot &count : before.slots) {
      slots.push_back({sum, nullptr});
      sum += count.atom;
    }
    write_array(local(i), type, slots, false);
    arguments_[i] = local(i);
    return;
  }
  arguments_[i] = fmt::format("{}_in(FIELD(1, ATOM(A_PREFIX_SUMS)), {})", array_word(type), prefix_of(i));
}

std::string CallWriter::flags(const FieldView &view, const Parameter &parameter) {
  if (!view.slots[0].is_number()) {
    scope_.problems->push_back(fmt::format("{}: {} differs between ranks", where(), parameter.name));
    return "0";
  }
  std::string text;
  const auto names = spec::domain(parameter.domain);
  for (size_t bit = 0; bit < names.size() && bit < 64; ++bit) {
    if ((static_cast<uint64_t>(view.slots[0].atom) >> bit & 1U) == 0) continue;
    text += (text.empty() ? "" : " | ") + std::string(spec::constants()[names[bit]].name);
  }
  if (text.empty() || !view.slots[1].is(0)) text += (text.empty() ? "" : " | ") + number(view.slots[1]);
  return text;
}

void CallWriter::write_array(const std::string &name, const std::string &type, const std::vector<Slot> &slots,
                             bool changes) {
  const bool constant = std::all_of(slots.begin(), slots.end(), [](const Slot &s) { return s.column == nullptr; });
  const char *storage = changes ? "" : "static ";
  constexpr size_t kShort = 24;
  std::string list;
  if (constant && slots.size() <= kShort) {
    for (const Slot &slot : slots) list += (list.empty() ? "" : ", ") + number(slot);
    out_.before.push_back(fmt::format("{}{} {}[] = {{{}}};", storage, type, name, list.empty() ? "0" : list));
    return;
  }
  out_.before.push_back(fmt::format("{}{} {}[{}];", storage, type, name, std::max<size_t>(slots.size(), 1)));
  for (size_t k = 0; k < slots.size();) {
    size_t end = k + 1;
    Atom step = 0;
    const auto plain = [&](size_t at) { return at < slots.size() && slots[at].is_number(); };
    if (plain(k) && plain(k + 1)) {
      step = slots[k + 1].atom - slots[k].atom;
      while (plain(end) && slots[end].atom == slots[end - 1].atom + step) ++end;
    } else if (slots[k].column != nullptr) {
      const std::string own = number(slots[k]);
      while (end < slots.size() && slots[end].column != nullptr && number(slots[end]) == own) ++end;
    }
    if (list.size() > 800) flush_runs(name, type, &list);
    if (list.empty()) run_begin_ = k;
    list += fmt::format("{}, {}, {}, ", number(slots[k]), step, end - k);
    k = end;
  }
  flush_runs(name, type, &list);
}

void CallWriter::flush_runs(const std::string &name, const std::string &type, std::string *list) {
  if (list->empty()) return;
  out_.before.push_back(fmt::format("fill_{}({}{}, LIST({}0, 0, 0));", array_word(type), name,
                                    run_begin_ == 0 ? "" : fmt::format(" + {}", run_begin_), *list));
  list->clear();
}

}  // namespace cairn::proxy
