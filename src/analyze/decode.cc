#include "analyze/decode.h"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "analyze/row_access.h"
#include "base/as_size.h"
#include "spec/ids.h"
#include "text/utf8.h"
#include "trace/model/status_field.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {

using spec::Kind;
using spec::Layout;

namespace {

/// How handles of a kind are introduced: type(main.c:9 #0), req(…).
const char *handle_word(Kind kind) {
  switch (kind) {
    case Kind::datatype:
      return "type";
    case Kind::request:
      return "req";
    case Kind::window:
      return "win";
    default:
      return spec::kind_name(kind);
  }
}

std::string base_name(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

/// The values of one field, read off its atoms.
class FieldDecoder {
 public:
  FieldDecoder(const Decoder &decoder, uint32_t class_index, Kind kind, uint8_t domain, const trace::Field &field,
               const CommunicatorNames *names)
      : decoder_(decoder),
        class_index_(class_index),
        kind_(kind),
        domain_(domain),
        atoms_(field.atoms),
        names_(names) {}

  Value element(Layout layout) {
    switch (layout) {
      case Layout::integer:
        return integer();
      case Layout::comm:
        return communicator();
      case Layout::handle:
        return handle();
      case Layout::address:
        return address();
      case Layout::status:
        return status();
      case Layout::flags:
        return flags();
      case Layout::error:
        return error();
      case Layout::floating:
        return Value::floating(std::bit_cast<double>(atoms_.next().value));
      default:
        atoms_.next();
        malformed_ = true;
        return Value::symbol("?");
    }
  }
  /// "heap#0+16" becomes "heap#0+16 at 0x5581c0de0010".
  void add_raw(Value *place) {
    const Logical raw = atoms_.next();
    malformed_ = malformed_ || raw.special || place->kind != Value::Kind::symbol;
    place->text += fmt::format(" at {:#x}", static_cast<uint64_t>(raw.value));
  }
  [[nodiscard]] bool at_end() const { return atoms_.at_end(); }
  [[nodiscard]] bool malformed() const { return malformed_ || atoms_.failed(); }
  /// A name was asked of the rank's.
  [[nodiscard]] bool used_names() const { return used_names_; }

 private:
  using Logical = trace::AtomValue;

  [[nodiscard]] std::string constant(int id) const {
    return id == spec::constant_id::k_COMM_WORLD ? decoder_.world_of(class_index_) : constant_name(id);
  }
  /// A special that is no constant of MPI, or a constant; never a number.
  Value special_value(const Logical &logical) {
    if (const int id = logical.constant(); id >= 0) return Value::symbol(constant(id));
    if (logical.is(trace::kNull)) return Value::symbol("NULL");
    if (logical.is(trace::kImplied)) return Value::symbol(kImplied);
    if (logical.is(trace::kAsLeft)) return Value::symbol("as left by the call before");
    if (logical.is(trace::kHole)) return {};
    if (logical.is(trace::kUnknown)) return Value::symbol("unknown");
    malformed_ = true;
    return Value::symbol("?");
  }
  Value number_or_special() {
    const Logical logical = atoms_.next();
    return logical.special ? special_value(logical) : Value::integer(logical.value);
  }

  Value integer() {
    Value value = number_or_special();
    if (kind_ == Kind::boolean && value.kind == Value::Kind::integer && (value.number == 0 || value.number == 1)) {
      return Value::boolean(value.number != 0);
    }
    return value;
  }

  Value communicator() {
    const Logical local = atoms_.next();
    std::string name;
    if (const int id = local.constant(); id >= 0) {
      name = constant(id);
    } else if (local.is(trace::kUnknown)) {
      name = fmt::format("comm(unknown #{})", atoms_.at_end() ? 0 : atoms_.next().value);
    } else if (local.special) {
      return special_value(local);
    } else {
      const std::string *known = names_ == nullptr ? nullptr : names_->name(local.value);
      name = known != nullptr ? *known : fmt::format("comm#{}", local.value);
      used_names_ = true;
    }
    if (atoms_.at_end()) return Value::symbol(std::move(name));
    // A communicator just created brings the id that all its members agree on.
    Value record;
    record.kind = Value::Kind::record;
    record.keys = {"comm", "counter", "place", "smallest"};
    record.items.push_back(Value::symbol(std::move(name)));
    for (int i = 0; i < 3; ++i) record.items.push_back(number_or_special());
    if (!atoms_.at_end()) {
      record.keys.emplace_back("members");
      record.items.push_back(number_or_special());
    }
    return record;
  }

  Value handle() {
    const Logical site = atoms_.next();
    const Logical place = atoms_.next();
    if (const int id = site.constant(); id >= 0) return Value::symbol(constant_name(id));
    if (site.is(trace::kNull)) return Value::symbol("NULL");
    if (site.is(trace::kUnknown)) {
      return Value::symbol(fmt::format("{}(unknown #{})", handle_word(kind_), place.value));
    }
    if (site.special || place.special || site.value < 0) {
      malformed_ = true;
      return Value::symbol("?");
    }
    const CreationSite creation = CreationSite::of(site.value);
    std::string where = decoder_.sources_->name(class_index_, creation.site);
    if (where.empty()) where = fmt::format("site {}", creation.site);
    const uint32_t thread = creation.thread.value_or(decoder_.thread_of(class_index_));
    const std::string made_on = thread != 0 ? fmt::format(" t{}", thread) : std::string();
    return Value::symbol(fmt::format("{}({} #{}{})", handle_word(kind_), where, place.value, made_on));
  }

  Value address() {
    const Logical kind = atoms_.next();
    const Logical number = atoms_.next();
    const Logical offset = atoms_.next();
    if (const int id = kind.constant(); id >= 0) return Value::symbol(constant_name(id));
    if (kind.is(trace::kNull)) return Value::symbol("NULL");
    if (kind.is(trace::kInteger)) return Value::integer(offset.value);
    const auto place = [&](const char *word) {
      return Value::symbol(fmt::format("{}#{}{:+}", word, number.value, offset.value));
    };
    if (kind.is(trace::kHeap)) return place("heap");
    if (kind.is(trace::kMapping)) return place("mapping");
    if (kind.is(trace::kMpiMemory)) return place("mpi");
    if (kind.is(trace::kDevice)) return place("device");
    if (kind.is(trace::kUnknown)) return place("unknown");
    if (kind.is(trace::kStack)) return Value::symbol(fmt::format("stack{:+}", offset.value));
    if (kind.is(trace::kStatic)) {
      const auto &modules = decoder_.trace_->modules();
      const auto index = static_cast<uint64_t>(number.value);
      std::string name = index < modules.size() ? base_name(modules[as_size(index)].path) : std::string();
      if (name.empty()) name = fmt::format("module#{}", number.value);
      return Value::symbol(fmt::format("{}+{:#x}", name, static_cast<uint64_t>(offset.value)));
    }
    malformed_ = true;
    return Value::symbol("?");
  }

  Value status() {
    Value record;
    record.kind = Value::Kind::record;
    record.keys = {"source", "tag", "error", "bytes", "cancelled"};
    for (int i = 0; i < 5; ++i) record.items.push_back(number_or_special());
    Value &cancelled = record.items[4];
    if (cancelled.kind == Value::Kind::integer) cancelled = Value::boolean(cancelled.number != 0);
    Value &code = record.items[2];
    if (code.kind == Value::Kind::integer && code.number == 0) code = Value::symbol("MPI_SUCCESS");
    return record;
  }

  Value flags() {
    const Logical bits = atoms_.next();
    const Logical rest = atoms_.next();
    if (bits.special) return special_value(bits);
    std::string text;
    const auto add = [&](const std::string &word) { text += (text.empty() ? "" : "|") + word; };
    const auto names = spec::domain(domain_);
    auto left = static_cast<uint64_t>(bits.value);
    for (size_t bit = 0; bit < names.size() && bit < 64; ++bit) {
      if ((left >> bit & 1U) == 0) continue;
      add(constant_name(names[bit]));
      left &= ~(uint64_t{1} << bit);
    }
    if (left != 0) malformed_ = true;
    if (rest.value != 0) add(fmt::format("{:#x}", static_cast<uint64_t>(rest.value)));
    return text.empty() ? Value::integer(0) : Value::symbol(std::move(text));
  }

  Value error() {
    const Logical first = atoms_.next();
    if (!first.special && first.value == 0) return Value::symbol("MPI_SUCCESS");
    if (first.is(trace::kImplied)) return Value::symbol("MPI_SUCCESS");
    const Logical code = atoms_.next();
    const int id = first.constant();
    return Value::symbol(fmt::format("{}({})", id >= 0 ? constant_name(id) : "MPI error", code.value));
  }

  const Decoder &decoder_;
  uint32_t class_index_;
  Kind kind_;
  uint8_t domain_;
  trace::AtomReader atoms_;
  const CommunicatorNames *names_;
  bool used_names_ = false;
  bool malformed_ = false;
};

namespace {

std::string text_of(ByteView bytes) { return {reinterpret_cast<const char *>(bytes.data()), bytes.size()}; }

/// varint n, then n times (varint length + 1, bytes), or 0 for NULL; where lists nest, n such lists.
Value string_list(ByteReader &in, int levels) {
  const size_t count = in.count();
  std::vector<Value> items;
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    if (levels > 1) {
      items.push_back(string_list(in, levels - 1));
    } else if (const uint64_t length = in.varint(); length == 0) {
      items.push_back(Value::symbol("NULL"));
    } else {
      items.push_back(Value::string(text_of(in.raw(length - 1))));
    }
  }
  return Value::list(std::move(items));
}

bool is_array(const spec::Parameter &parameter) { return parameter.passing == spec::Passing::array; }

/// The values before the call are followed by those after it, if it succeeded. Of handles only the former are kept.
bool is_updated(const spec::Parameter &parameter) {
  return parameter.direction == spec::Direction::inout && parameter.layout != Layout::handle &&
         parameter.layout != Layout::comm;
}

}  // namespace

Decoder::Decoder(const trace::Trace &trace, const Sources &sources) : trace_(&trace), sources_(&sources) {}

Value Decoder::value(uint32_t class_index, const spec::Parameter &parameter, const trace::Field &field, bool succeeded,
                     const CommunicatorNames *names, Call *call) const {
  if (field.is_bytes) {
    if (parameter.layout == Layout::strings) {
      const bool nested = parameter.passing == spec::Passing::argv_array && parameter.direction == spec::Direction::in;
      ByteReader in(field.bytes);
      Value list = string_list(in, nested ? 2 : 1);
      if (in.failed() || !in.at_end()) call->malformed = true;
      return list;
    }
    if (parameter.layout != Layout::string) call->malformed = true;
    return Value::string(text_of(field.bytes));
  }
  if (field.atoms.empty()) return {};
  if (const auto statuses = trace::StatusField::of(field);
      parameter.layout == Layout::status && statuses.ignored && !statuses.implied) {
    trace::Field told;
    told.atoms.assign(statuses.atoms.begin(), statuses.atoms.end());
    const int constant = trace::AtomReader(field.atoms).next().constant();
    return Value::change(Value::symbol(constant_name(constant)),
                         value(class_index, parameter, told, succeeded, names, call));
  }
  // A whole array can be one special: MPI_STATUSES_IGNORE, MPI_UNWEIGHTED, NULL, an outcome as implied.
  const bool lone_special = field.atoms.size() == 1 && trace::is_special(field.atoms[0]);
  const bool text = parameter.layout == Layout::string || parameter.layout == Layout::strings;
  FieldDecoder decoder(*this, class_index, parameter.kind, parameter.domain, field, names);
  Value result;
  if (lone_special || text) {
    result = decoder.element(Layout::integer);
  } else if (is_array(parameter)) {
    std::vector<Value> items;
    while (!decoder.at_end()) items.push_back(decoder.element(parameter.layout));
    result = Value::list(std::move(items));
  } else {
    result = decoder.element(parameter.layout);
    if (!decoder.at_end() && parameter.keeps_raw) decoder.add_raw(&result);
    if (!decoder.at_end() && is_updated(parameter)) result = Value::change(result, decoder.element(parameter.layout));
  }
  if (is_array(parameter) && is_updated(parameter) && succeeded && result.items.size() % 2 == 0) {
    const auto middle = result.items.begin() + static_cast<std::ptrdiff_t>(result.items.size() / 2);
    result = Value::change(Value::list({result.items.begin(), middle}), Value::list({middle, result.items.end()}));
  }
  if (decoder.malformed() || !decoder.at_end()) call->malformed = true;
  if (decoder.used_names()) call->names_version = names == nullptr ? 0 : names->version();
  return result;
}

Call Decoder::decode(uint32_t class_index, const trace::Row &row, const CommunicatorNames *names) const {
  Call call;
  call.function_id = row.function;
  call.depth = row.depth;
  call.position = sources_->position(class_index, row.site);
  call.callers = sources_->callers(class_index, row.site);
  const auto all = spec::functions();
  if (row.function >= all.size()) {
    call.malformed = true;
    return call;
  }
  const spec::Function &function = all[row.function];
  call.function = &function;
  if (row.fields.size() != size_t{function.parameter_count} + 1) call.malformed = true;
  const bool succeeded = row.fields.size() > function.parameter_count &&
                         row.fields[function.parameter_count].atoms == std::vector<trace::Atom>{0};
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.layout == Layout::none && row.fields[i].atoms.empty() && !row.fields[i].is_bytes) continue;
    call.arguments.push_back(
        {parameter.name, value(class_index, parameter, row.fields[i], succeeded, names, &call), &parameter});
  }
  if (row.fields.size() <= function.parameter_count) return call;
  const trace::Field &returned = row.fields[function.parameter_count];
  if (returned.atoms.size() == 1 && returned.atoms[0] == trace::kNoReturn) {
    call.returned = false;
    return call;
  }
  if (returned.is_bytes || returned.atoms.empty()) return call;
  const Kind kind = function.returns == spec::ReturnKind::handle ? function.return_kind : Kind::integer;
  const Layout layout = function.return_layout == Layout::none ? Layout::integer : function.return_layout;
  FieldDecoder decoder(*this, class_index, kind, function.return_domain, returned, names);
  call.result = returned.atoms.size() == 1 && trace::is_special(returned.atoms[0]) && layout != Layout::error
                    ? decoder.element(Layout::integer)
                    : decoder.element(layout);
  if (decoder.malformed() || !decoder.at_end()) call.malformed = true;
  if (decoder.used_names()) call.names_version = names == nullptr ? 0 : names->version();
  return call;
}

std::string function_name(uint32_t id) {
  const auto all = spec::functions();
  return id < all.size() ? std::string(all[id].name) : fmt::format("function#{}", id);
}

std::string function_at(uint32_t id, const std::string &where) {
  return where.empty() ? function_name(id) : function_name(id) + " at " + where;
}

std::string call_text(const Call &call) {
  std::string out = function_name(call.function_id) + '(';
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (i != 0) out += ", ";
    out += call.arguments[i].name;
    out += '=';
    call.arguments[i].value.append_text(out);
  }
  out += ')';
  if (!call.returned) {
    out += " did not return";
  } else if (call.result.kind != Value::Kind::absent) {
    out += " = ";
    call.result.append_text(out);
  }
  if (call.malformed) out += " [malformed]";
  const std::string where = call.position.text();
  if (!where.empty()) out += "  " + where;
  return out;
}

std::string stack_text(const Call &call) {
  std::string out;
  for (const Position &caller : call.callers) out += "\n            called at " + caller.text();
  return out;
}

namespace {

nlohmann::ordered_json position_json(const Position &position) {
  nlohmann::ordered_json site;
  site["module"] = position.module;
  site["offset"] = position.offset;
  if (!position.function.empty()) site["function"] = valid_utf8(position.function);
  if (!position.file.empty()) {
    site["file"] = valid_utf8(position.file);
    site["line"] = position.line;
  }
  return site;
}

}  // namespace

nlohmann::ordered_json call_json(const Call &call, bool with_stack) {
  nlohmann::ordered_json object;
  object["function"] = function_name(call.function_id);
  if (call.depth != 0) object["depth"] = call.depth;
  auto arguments = nlohmann::ordered_json::object();
  for (const Argument &argument : call.arguments) arguments[argument.name] = argument.value.json();
  object["args"] = std::move(arguments);
  if (call.objects.kind != Value::Kind::absent) object["objects"] = call.objects.json();
  if (call.returned) {
    object["return"] = call.result.json();
  } else {
    object["returned"] = false;
  }
  if (call.malformed) object["malformed"] = true;
  if (!call.position.module.empty()) object["site"] = position_json(call.position);
  if (with_stack) {
    auto callers = nlohmann::ordered_json::array();
    for (const Position &caller : call.callers) callers.push_back(position_json(caller));
    object["callers"] = std::move(callers);
  }
  return object;
}

}  // namespace cairn::analyze
