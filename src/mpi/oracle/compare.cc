#include "mpi/oracle/compare.h"

#include <cinttypes>

#include "spec/ids.h"
#include "trace/model/status_field.h"

namespace cairn::oracle {

using spec::Direction;
using spec::Effect;
using spec::Kind;
using spec::Layout;
using spec::Parameter;

std::string to_text(const AtomValue &value) {
  if (value.missing) return "nothing";
  if (!value.special) return std::to_string(value.value);
  const int id = value.constant();
  if (id >= 0 && static_cast<size_t>(id) < spec::constants().size())
    return spec::constants()[static_cast<size_t>(id)].name;
  return "special " + std::to_string(trace::special_code(value.value));
}

namespace {

std::string hex(uint64_t value) {
  char buffer[24];
  snprintf(buffer, sizeof buffer, "0x%" PRIx64, value);
  return buffer;
}

std::string traced(const AtomValue &value, uint64_t logged) {
  return "traced " + to_text(value) + ", logged " + std::to_string(static_cast<int64_t>(logged));
}

void write_list(const std::vector<std::optional<std::string>> &list, ByteWriter *out) {
  out->varint(list.size());
  for (const auto &string : list) {
    if (!string) {
      out->varint(0);
      continue;
    }
    out->varint(string->size() + 1);
    out->raw({reinterpret_cast<const uint8_t *>(string->data()), string->size()});
  }
}

std::string as_text(const Bytes &bytes) { return {reinterpret_cast<const char *>(bytes.data()), bytes.size()}; }

}  // namespace

bool Comparer::compare(const Event &event, const LogFile &log, const LogRecord &record, uint64_t recorded) {
  event_ = &event;
  ended_ = record.end;
  recorded_ = recorded;
  ++calls_;
  ++report_.calls;
  const trace::Row &row = *event.row;
  if (row.function >= spec::functions().size() || row.function != record.function) {
    const auto name = [](uint32_t id) {
      return id < spec::functions().size() ? spec::functions()[id].name : "no function";
    };
    function_ = nullptr;
    differ("function", std::string("traced ") + name(row.function) + ", logged " + name(record.function));
    return false;
  }
  function_ = &spec::functions()[row.function];
  log_thread_ = log.header().thread;
  when_ = record.epoch ? *record.epoch : (uint64_t{1} << 63) + calls_;
  values_ = log.values(record);
  named_.assign(size_t{function_->parameter_count} + 1, {});
  if (row.depth != record.depth) {
    differ("depth", "traced " + std::to_string(row.depth) + ", logged " + std::to_string(record.depth));
  }
  const bool returned = record.state == RecordState::returned;
  const LogValue *code = logged(kReturn, true);
  const bool has_code = code != nullptr && code->tag == Tag::errors && code->words.size() == 2;
  succeeded_ = returned && (!has_code || code->words[0] == 0);
  in_status_ = false;
  if (has_code && code->words[0] != 0) {
    error_classes_[code->words[0]] = code->words[1];
    in_status_ = constant(spec::constant_id::k_ERR_IN_STATUS) == code->words[1];
  }
  if (row.fields.size() != size_t{function_->parameter_count} + 1) {
    differ("fields", "the row has " + std::to_string(row.fields.size()));
    return true;
  }
  for (unsigned i = 0; i < function_->parameter_count; ++i) parameter(i, row.fields[i]);
  const trace::Field &result_field = row.fields[function_->parameter_count];
  if (returned) {
    result(result_field);
  } else if (result_field.atoms != std::vector<trace::Atom>{trace::kNoReturn}) {
    differ("result", "traced a return, logged none");
  }
  end_objects();
  perhaps_released_.clear();
  return true;
}

void Comparer::parameter(unsigned i, const trace::Field &field) {
  if (function_->parameters[i].layout == Layout::none) return;
  // Of a call that a killed process was in, what lay in its memory was nowhere to be read.
  const bool left = event_->row->fields.back().atoms == std::vector<trace::Atom>{trace::kNoReturn};
  if (left && field.atoms == std::vector<trace::Atom>{trace::kUnknown}) return;
  ++report_.fields;
  const std::string problem = value_problem(i, field);
  if (!problem.empty()) differ(parameter_name(i), problem);
}

std::string Comparer::value_problem(unsigned i, const trace::Field &field) {
  const Parameter &p = function_->parameters[i];
  const LogValue *before = logged(i, false);
  const LogValue *after = logged(i, true);
  const LogValue *value = before != nullptr ? before : after;
  const bool nothing = !field.is_bytes && field.atoms.empty();
  if (value == nullptr) return nothing ? "" : "traced a value, logged none";
  AtomReader in(field.atoms);
  if (value->tag == Tag::special) {
    const AtomValue atom = in.next();
    const auto id = constant_of(p.layout == Layout::address ? p.domain : p.pointer_domain, value->words[0]);
    const bool same = id && atom.constant() == *id;
    if (p.layout == Layout::address) in.next(), in.next();
    // The oracle stands where a Fortran binding is told what the program ignores, and logs what the program asked for.
    if (same && p.layout == Layout::status && trace::StatusField::of(field).ignored) return "";
    return same && in.at_end() ? ""
                               : "traced " + to_text(atom) + ", logged the special pointer " + hex(value->words[0]);
  }
  if (value->tag == Tag::null) {
    if (nothing && !p.may_be_null) return "";
    return in.next().is(trace::kNull) && !field.is_bytes ? "" : "traced a value, logged NULL";
  }
  if (p.layout == Layout::string || p.layout == Layout::strings) {
    if (value->tag == Tag::strings && p.direction == Direction::inout && after != nullptr && before != nullptr) {
      value = after;
    }
    return strings_problem(field, *value);
  }
  if (field.is_bytes) return "traced bytes where numbers are logged";
  const bool handles = spec::is_handle(p.layout);
  std::vector<uint64_t> words = value->words;
  if (before != nullptr && after != nullptr && !handles) {
    words.insert(words.end(), after->words.begin(), after->words.end());
  }
  if (nothing) return words.empty() ? "" : "traced nothing, logged " + std::to_string(words.size()) + " values";
  if (p.layout == Layout::status) return statuses_problem(i, field, words);
  const size_t stride = p.layout == Layout::error && value->tag == Tag::errors ? 2 : 1;
  for (size_t k = 0; k < words.size(); k += stride) {
    if (in.at_end())
      return "traced " + std::to_string(k / stride) + " values, logged " + std::to_string(words.size() / stride);
    std::string problem = stride == 2 ? error(in, words[k], words[k + 1]) : element(i, in, words[k]);
    if (!problem.empty()) return words.size() > stride ? "[" + std::to_string(k / stride) + "] " + problem : problem;
  }
  return in.at_end() ? "" : "traced more values than logged, which are " + std::to_string(words.size() / stride);
}

std::string Comparer::element(unsigned i, AtomReader &in, uint64_t word) {
  const Parameter &p = function_->parameters[i];
  switch (p.layout) {
    case Layout::integer:
    case Layout::floating:
      return integer(in, word, p.domain, false);
    case Layout::flags:
      return flags(in, word, p.domain);
    case Layout::error:
      return error(in, word, 0);
    case Layout::address: {
      const AtomValue kind = AtomReader(in).next();
      std::string problem = address(in, word, p.domain);
      // Behind a name, the number itself; without one it is there already.
      const bool named = kind.constant() < 0 && !kind.is(trace::kNull) && !kind.is(trace::kInteger);
      if (!problem.empty() || !p.keeps_raw || !named) return problem;
      const AtomValue raw = in.next();
      return raw.special || raw.missing || static_cast<uint64_t>(raw.value) != word ? "raw: " + traced(raw, word) : "";
    }
    case Layout::handle:
      return handle(i, in, word, p.kind, p.effect, p.domain);
    case Layout::comm:
      return comm(i, in, word, p.effect, p.domain);
    default:
      return "";
  }
}

void Comparer::result(const trace::Field &field) {
  const LogValue *value = logged(kReturn, true);
  if (function_->return_layout == Layout::none || function_->returns == spec::ReturnKind::wall_time) return;
  ++report_.fields;
  std::string problem;
  AtomReader in(field.atoms);
  if (value == nullptr || value->words.empty()) {
    problem = "nothing is logged";
  } else if (value->tag == Tag::errors) {
    problem = error(in, value->words[0], value->words[1]);
  } else if (function_->return_layout == Layout::address) {
    problem = address(in, value->words[0], function_->return_domain);
  } else if (function_->return_layout == Layout::handle) {
    problem = handle(function_->parameter_count, in, value->words[0], function_->return_kind, Effect::lookup,
                     function_->return_domain);
  } else if (function_->return_layout == Layout::comm) {
    problem = comm(function_->parameter_count, in, value->words[0], Effect::none, function_->return_domain);
  } else {
    problem = integer(in, value->words[0], function_->return_domain, false);
  }
  if (problem.empty() && !in.at_end()) problem = "traced more than one value";
  if (!problem.empty()) differ("result", problem);
}

std::string Comparer::integer(AtomReader &in, uint64_t word, uint8_t domain, bool any_domain) {
  const AtomValue atom = in.next();
  if (atom.constant() >= 0) {
    const auto id = static_cast<uint16_t>(atom.constant());
    if (!any_domain && (id >= spec::constants().size() || constant_of(domain, word) != id)) return traced(atom, word);
    return constant(id) == word ? "" : traced(atom, word);
  }
  if (atom.missing || atom.special || static_cast<uint64_t>(atom.value) != word) return traced(atom, word);
  return !any_domain && constant_of(domain, word) ? traced(atom, word) + ", which has a name" : "";
}

std::string Comparer::flags(AtomReader &in, uint64_t word, uint8_t domain) {
  const AtomValue canonical = in.next();
  const AtomValue rest = in.next();
  if (canonical.special || rest.missing || rest.special) return traced(canonical, word);
  uint64_t value = 0;
  const auto bits = spec::domain(domain);
  for (size_t bit = 0; bit < bits.size() && bit < 62; ++bit) {
    if ((static_cast<uint64_t>(canonical.value) >> bit & 1) != 0) value |= constant(bits[bit]).value_or(0);
  }
  if ((value | static_cast<uint64_t>(rest.value)) != word || (value & static_cast<uint64_t>(rest.value)) != 0) {
    return "traced " + hex(value) + " and " + hex(static_cast<uint64_t>(rest.value)) + ", logged " + hex(word);
  }
  for (size_t bit = 0; bit < bits.size() && bit < 62; ++bit) {
    const uint64_t flag = constant(bits[bit]).value_or(0);
    if (flag != 0 && (static_cast<uint64_t>(rest.value) & flag) == flag) return "a flag that has a name is left over";
  }
  return canonical.value >> (bits.size() < 62 ? bits.size() : 62) == 0 ? "" : "traced flags that don't exist";
}

std::string Comparer::error(AtomReader &in, uint64_t code, uint64_t error_class) {
  const AtomValue first = in.next();
  if (code == 0) return !first.special && !first.missing && first.value == 0 ? "" : traced(first, code);
  if (!first.special) return traced(first, code);
  const AtomValue second = in.next();
  if (second.special || static_cast<uint64_t>(second.value) != code) return traced(second, code);
  if (error_class == 0) {
    const auto known = error_classes_.find(code);
    if (known == error_classes_.end()) return "";
    error_class = known->second;
  }
  if (first.is(trace::kUnknown)) {  // a class of the program's own
    const auto known = constant_of(spec::domain_id::k_error, static_cast<uint64_t>(error_class));
    if (known) return std::string("traced an unknown class, logged ") + spec::constants()[*known].name;
    return "";
  }
  return first.constant() >= 0 && constant(static_cast<uint16_t>(first.constant())) == error_class
             ? ""
             : traced(first, error_class);
}

std::string Comparer::address(AtomReader &in, uint64_t word, uint8_t domain) {
  const AtomValue kind = in.next();
  const AtomValue number = in.next();
  const AtomValue offset = in.next();
  if (!kind.special || offset.missing || number.special || offset.special) return "no address: " + to_text(kind);
  if (kind.constant() >= 0) {
    const bool same =
        constant(static_cast<uint16_t>(kind.constant())) == word && number.value == 0 && offset.value == 0;
    return same ? "" : "traced " + to_text(kind) + ", logged " + hex(word);
  }
  if (const auto id = constant_of(domain, word)) {
    return std::string("traced an address, logged ") + spec::constants()[*id].name;
  }
  const std::string problem = addresses_.check({kind.value, number.value, offset.value}, word, log_thread_, when_);
  if (problem.empty()) return "";
  return "traced (" + to_text(kind) + ", " + to_text(number) + ", " + to_text(offset) + "), logged " + hex(word) +
         ": " + problem;
}

std::string Comparer::strings_problem(const trace::Field &field, const LogValue &value) {
  if (!field.is_bytes) return "traced no string, logged one";
  if (value.tag == Tag::string) {
    return as_text(field.bytes) == value.text ? ""
                                              : "traced \"" + as_text(field.bytes) + "\", logged \"" + value.text + '"';
  }
  ByteWriter out;
  if (value.tag == Tag::argvs) {
    out.varint(value.lists.size());
    for (const auto &list : value.lists) write_list(list, &out);
  } else if (value.tag == Tag::strings && value.lists.size() == 1) {
    write_list(value.lists[0], &out);
  } else {
    return "traced a string, logged none";
  }
  return out.take() == field.bytes ? "" : "the strings differ";
}

const LogValue *Comparer::logged(unsigned parameter, bool after) const {
  for (const LogValue &value : values_) {
    if (value.parameter == parameter && value.after == after) return &value;
  }
  return nullptr;
}

std::optional<int64_t> Comparer::argument(unsigned one_up) const {
  const LogValue *value = one_up == 0 ? nullptr : logged(one_up - 1, false);
  if (value == nullptr || value->words.empty()) return {};
  return static_cast<int64_t>(value->words[0]);
}

int Comparer::parameter_with(Effect effect, Kind kind) const {
  for (int i = 0; i < function_->parameter_count; ++i) {
    if (function_->parameters[i].effect == effect && function_->parameters[i].kind == kind) return i;
  }
  return -1;
}

std::optional<uint64_t> Comparer::constant(uint16_t id) const {
  return id < constants_.size() ? constants_[id] : std::nullopt;
}

std::optional<uint16_t> Comparer::constant_of(uint8_t domain, uint64_t value) const {
  for (const uint16_t id : spec::domain(domain)) {
    if (constant(id) == value) return id;
  }
  return {};
}

std::string Comparer::parameter_name(unsigned i) const { return function_->parameters[i].name; }

void Comparer::differ(const std::string &what, const std::string &problem) {
  report_.add("rank " + std::to_string(rank_) + " thread " + std::to_string(event_->thread) + " event " +
              std::to_string(event_->number) + (function_ == nullptr ? "" : std::string(" ") + function_->name) + " " +
              what + ": " + problem);
}

}  // namespace cairn::oracle
