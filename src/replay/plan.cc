#include "replay/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "analyze/attached.h"
#include "analyze/repeatable.h"
#include "replay/forced_outcome.h"
#include "replay/meeting.h"
#include "spec/ids.h"
#include "trace/model/status_field.h"

namespace cairn::replay {
namespace {

using spec::Direction;
using spec::Effect;
using spec::Element;
using spec::Kind;
using spec::Layout;
using spec::Parameter;
using spec::Passing;
using trace::Atom;
using trace::AtomReader;
using trace::AtomValue;
using trace::StatusField;

/// Room behind what a call is known to write.
constexpr size_t kSpareElements = 256;
constexpr size_t kStringRoom = size_t{1} << 16;

size_t element_bytes(const Parameter &parameter) {
  switch (parameter.element) {
    case Element::i32:
      return 4;
    case Element::handle:
      return parameter.kind == Kind::file ? kFileSize : kHandleSize;
    case Element::status:
      return kStatusSize;
    case Element::character:
      return 1;
    default:
      return 8;
  }
}

/// Objects that threads communicate by at the same time.
bool is_shared(Kind kind) {
  return kind == Kind::comm || kind == Kind::window || kind == Kind::file || kind == Kind::session;
}
bool is_handle(const Parameter &parameter) { return spec::is_handle(parameter.layout); }
/// Its place in memory is what the call is given.
bool is_indirect(const Parameter &parameter) {
  return parameter.passing == Passing::pointer || parameter.passing == Passing::array;
}

class Making {
 public:
  Making(const Surroundings &with, const trace::Row &row, const analyze::RowScope &scope, Plan *plan)
      : with_(with), row_(row), scope_(scope), plan_(*plan), function_(*plan->function) {}

  Result<void> run() {
    const trace::Field &result = row_.fields.back();
    plan_.never_returned = result.atoms == std::vector<Atom>{trace::kNoReturn};
    const bool returns_code = function_.returns == spec::ReturnKind::error_code;
    succeeded_ =
        !returns_code || (result.atoms.size() == 1 && (result.atoms[0] == 0 || result.atoms[0] == trace::kImplied));
    plan_.fails = !succeeded_;
    choose();
    if (plan_.passed_over != nullptr) return {};
    plan_.meeting = meeting_of(row_, succeeded_);
    for (uint8_t i = 0; i < function_.parameter_count; ++i) {
      if (function_.parameters[i].layout == Layout::none) continue;
      if (function_.parameters[i].effect == Effect::release && is_shared(function_.parameters[i].kind))
        plan_.gives_up = true;
      if (auto done = argument(i, function_.parameters[i], row_.fields[i]); !done) return done;
    }
    give_no_words();
    if (spec::is_handle(function_.return_layout)) returned_handle(result);
    if (function_.returns == spec::ReturnKind::fint && is_number(function_.return_kind)) returned_number(result);
    if (succeeded_) force_outcome(with_, row_, &plan_);
    if (const auto segment = analyze::attached_by(row_, scope_.thread))
      plan_.attaches = with_.attachments->number(*segment);
    return {};
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const Parameter &parameter, const std::string &why) const {
    return fail(ErrorKind::unreadable, fmt::format("{}: {} {}", function_.name, parameter.name, why));
  }
  [[nodiscard]] const trace::Field *field(unsigned one_more) const {
    return one_more == 0 ? nullptr : &row_.fields[one_more - 1];
  }

  /// Whether the call is made, and what it waits for.
  void choose() {
    if (plan_.never_returned) {
      plan_.passed_over = "never returned";
    } else if (const char *why = analyze::why_not_repeated(function_)) {
      plan_.passed_over = why;
    } else if (plan_.invoke == nullptr) {
      plan_.passed_over = "is not in this MPI library";
    }
    if (function_.answer == 0 || plan_.passed_over != nullptr || !succeeded_) return;
    AtomReader atoms(field(function_.answer)->atoms);
    if (const AtomValue found = atoms.next(); !found.special && found.value == 0) {
      plan_.passed_over = "a poll that found nothing";
    }
  }

  Word constant(int id, bool *known) const {
    const std::optional<Word> value = with_.constant(id);
    *known = value.has_value();
    return value.value_or(0);
  }
  Result<Word> constant(const Parameter &parameter, int id) const {
    bool known = false;
    const Word value = constant(id, &known);
    if (!known) return wrong(parameter, fmt::format("is {}, which this MPI library lacks", spec::constants()[id].name));
    return value;
  }
  /// What stands for no object of that kind.
  [[nodiscard]] Word null_of(const Parameter &parameter) const {
    const auto all = spec::domain(parameter.domain);
    bool known = false;
    if (parameter.kind == Kind::keyval) return constant(spec::constant_id::k_KEYVAL_INVALID, &known);
    return all.empty() || !spec::constants()[all[0]].null_handle ? 0 : constant(all[0], &known);
  }

  /// For a handle that is not significant: some libraries refuse a null one even so.
  [[nodiscard]] Word any_of(const Parameter &parameter) const {
    bool known = false;
    if (parameter.kind == Kind::datatype) return constant(spec::constant_id::k_BYTE, &known);
    if (parameter.kind == Kind::op) return constant(spec::constant_id::k_SUM, &known);
    if (parameter.kind == Kind::group) return constant(spec::constant_id::k_GROUP_EMPTY, &known);
    return null_of(parameter);
  }

  char *own(size_t bytes) {
    plan_.owned.emplace_back(std::max<size_t>(bytes, 1));
    return plan_.owned.back().data();
  }
  void point(uint8_t i, const void *to) { plan_.words[i] = reinterpret_cast<Word>(to); }
  static void store(char *to, size_t bytes, Word value) { std::memcpy(to, &value, bytes); }

  /// How many elements of an output MPI may write, as far as the call's other arguments say.
  [[nodiscard]] size_t room(size_t recorded) const {
    size_t most = recorded;
    for (uint8_t i = 0; i < function_.parameter_count; ++i) {
      const Parameter &each = function_.parameters[i];
      if (each.passing != Passing::value || each.layout != Layout::integer) continue;
      AtomReader atoms(row_.fields[i].atoms);
      const AtomValue value = atoms.next();
      constexpr int64_t kMost = int64_t{1} << 24;
      if (!value.special && value.value > 0 && value.value < kMost)
        most = std::max(most, static_cast<size_t>(value.value));
    }
    return most + kSpareElements;
  }
  void output(uint8_t i, size_t bytes) { plan_.outputs.push_back({i, bytes}); }

  Result<void> argument(uint8_t i, const Parameter &parameter, const trace::Field &field) {
    if (field.is_bytes) return text(i, parameter, field);
    const bool only_out = parameter.direction == Direction::out && parameter.passing != Passing::buffer;
    AtomReader first(field.atoms);
    const AtomValue lone = first.next();
    const bool is_lone = field.atoms.size() == 1 && lone.special;
    const bool pointer = parameter.passing != Passing::value;
    if (is_lone && pointer && lone.is(trace::kNull) &&
        (!is_handle(parameter) || parameter.may_be_null || (only_out && !succeeded_))) {
      return {};
    }
    if (is_lone && pointer && lone.constant() >= 0 &&
        (parameter.pointer_domain != 0 || parameter.layout == Layout::string)) {
      const auto value = constant(parameter, lone.constant());
      if (!value) return tl::unexpected(value.error());
      plan_.words[i] = *value;
      return {};
    }
    if (parameter.layout == Layout::status && only_out && StatusField::of(field).ignored) {
      const auto value = constant(parameter, lone.constant());
      if (!value) return tl::unexpected(value.error());
      plan_.words[i] = *value;
      tell_statuses(field);
      return {};
    }
    if (is_handle(parameter)) return handle(i, parameter, field);
    if (only_out) return only_output(i, parameter, field);
    if (field.atoms.empty()) return insignificant(i, parameter);
    switch (parameter.layout) {
      case Layout::address:
        return address(i, parameter, field);
      case Layout::status:
        return status(i, parameter, field);
      default:
        return numbers(i, parameter, field);
    }
  }

  /// MPI looks at it on other ranks only, and at most to refuse what is NULL.
  Result<void> insignificant(uint8_t i, const Parameter &parameter) {
    if (parameter.passing != Passing::value) output(i, kStringRoom);
    return {};
  }

  Result<void> only_output(uint8_t i, const Parameter &parameter, const trace::Field &field) {
    if (parameter.layout == Layout::string || parameter.passing == Passing::string) {
      output(i, std::max(kStringRoom, room(0)));
      return {};
    }
    output(i, room(field.atoms.size()) * std::max<size_t>(element_bytes(parameter), 8));
    if (parameter.layout == Layout::status) tell_statuses(field);
    if (parameter.kind == Kind::pointer_out && field.atoms.size() == 3 && field.atoms[0] == trace::kMpiMemory) {
      AtomReader atoms(field.atoms);
      atoms.next();
      const int64_t number = atoms.next().value;
      Region *region = with_.memory->region(trace::kMpiMemory, number, scope_.thread);
      plan_.bound.push_back({i, region, atoms.next().value});
    }
    return {};
  }

  Result<void> text(uint8_t i, const Parameter &parameter, const trace::Field &field) {
    if (parameter.layout == Layout::strings) return texts(i, parameter, field);
    if (parameter.direction == Direction::out) {
      output(i, std::max(kStringRoom, room(field.bytes.size())));
      return {};
    }
    std::string value(field.bytes.begin(), field.bytes.end());
    if (parameter.kind == Kind::string && std::string_view(parameter.name) == "filename") {
      value = with_.files->path(value);
      if (std::string_view(function_.name) == "MPI_File_open" && succeeded_) {
        if (!has_mode(spec::constant_id::k_MODE_CREATE)) with_.files->provide(value);
        // The program has removed it before.
        if (has_mode(spec::constant_id::k_MODE_EXCL)) plan_.must_not_exist = value;
      }
    }
    char *to = own(value.size() + 1);
    std::memcpy(to, value.c_str(), value.size() + 1);
    point(i, to);
    return {};
  }
  [[nodiscard]] bool has_mode(uint16_t mode) const {
    for (uint8_t i = 0; i < function_.parameter_count; ++i) {
      if (function_.parameters[i].kind != Kind::mode) continue;
      AtomReader atoms(row_.fields[i].atoms);
      const auto bits = static_cast<uint64_t>(atoms.next().value);
      const auto flags = spec::domain(function_.parameters[i].domain);
      for (size_t bit = 0; bit < flags.size() && bit < 64; ++bit) {
        if (flags[bit] == mode) return (bits >> bit & 1U) != 0;
      }
    }
    return false;
  }

  /// A list of strings that ends with NULL; nothing but these is an input.
  Result<void> texts(uint8_t i, const Parameter &parameter, const trace::Field &field) {
    if (plan_.meeting) return {};
    if (parameter.passing == Passing::argv_array && parameter.direction == Direction::in) {
      return wrong(parameter, "cannot be made again");
    }
    ByteReader in(field.bytes);
    const size_t count = in.count();
    std::vector<char *> list;
    for (size_t k = 0; k < count && !in.failed(); ++k) {
      const uint64_t length = in.varint();
      if (length == 0) {
        list.push_back(nullptr);
        continue;
      }
      const ByteView bytes = in.raw(length - 1);
      char *to = own(bytes.size() + 1);
      std::copy(bytes.begin(), bytes.end(), to);
      list.push_back(to);
    }
    if (in.failed()) return wrong(parameter, "is malformed");
    list.push_back(nullptr);
    char *array = own(list.size() * sizeof(char *));
    std::memcpy(array, list.data(), list.size() * sizeof(char *));
    if (parameter.passing != Passing::argv_array) {
      point(i, array);
      return {};
    }
    plan_.updated.push_back({i, {}});
    plan_.updated.back().before.resize(sizeof array);
    std::memcpy(plan_.updated.back().before.data(), &array, sizeof array);
    return {};
  }

  /// MPI_Init in a trace without the command line (record --no-command): argv is empty, so argc is 0.
  void give_no_words() {
    for (Plan::Updated &argc : plan_.updated) {
      const size_t next = size_t{argc.parameter} + 1;
      if (next >= function_.parameter_count || function_.parameters[next].passing != Passing::argv_array) continue;
      if (!row_.fields[next].is_bytes) std::fill(argc.before.begin(), argc.before.end(), '\0');
    }
  }

  Result<void> handle(uint8_t i, const Parameter &parameter, const trace::Field &field) {
    const size_t bytes = element_bytes(parameter);
    const Word null = null_of(parameter);
    const bool is_array = parameter.passing == Passing::array;
    Plan::HandleArray all{i, static_cast<uint8_t>(bytes), null, {}, {}, parameter.direction != Direction::in};
    AtomReader atoms(field.atoms);
    while (!atoms.at_end()) {
      const AtomValue first = atoms.next();
      const bool one = parameter.layout == Layout::comm && !first.is(trace::kUnknown);
      const AtomValue second = one || atoms.at_end() ? AtomValue{} : atoms.next();
      Slot *slot = nullptr;
      Word value = null;
      if (const int id = first.constant(); id >= 0) {
        const auto found = constant(parameter, id);
        if (!found && parameter.direction != Direction::out) return tl::unexpected(found.error());
        if (found) value = *found;
      } else if (!first.special) {
        slot = with_.slots->slot(parameter.kind,
                                 analyze::handle_name(first.value, second.value, parameter.layout, scope_));
      } else if (!first.is(trace::kNull) && parameter.direction != Direction::out) {
        plan_.passed_over = "uses a handle that nobody saw made";
      }
      all.slots.push_back(slot);
      all.constants.push_back(value);
      if (!is_array) break;
    }
    if (parameter.direction == Direction::out) {
      // MPI_Comm_idup gives it when its request completes.
      const bool in_place = parameter.kind == Kind::comm && function_.nonblocking;
      const size_t count = is_array ? room(all.slots.size()) : 1;
      plan_.made.push_back({i, static_cast<uint8_t>(bytes), count, std::move(all.slots), in_place});
    } else if (is_array) {
      all.buffer.resize(all.slots.size() * bytes + sizeof(Word));
      plan_.handle_arrays.push_back(std::move(all));
    } else if (!all.slots.empty() && all.slots[0] != nullptr) {
      plan_.handles.push_back({i, all.slots[0], is_indirect(parameter), parameter.effect == Effect::release,
                               static_cast<uint8_t>(bytes), null});
    } else if (is_indirect(parameter)) {
      plan_.updated.push_back({i, {}});
      plan_.updated.back().before.resize(8);
      const Word value = all.constants.empty() ? null : all.constants[0];
      std::memcpy(plan_.updated.back().before.data(), &value, sizeof value);
    } else if (all.constants.empty()) {
      plan_.words[i] = any_of(parameter);
    } else {
      plan_.words[i] = all.constants.empty() ? null : all.constants[0];
    }
    return {};
  }

  static bool is_number(Kind kind) { return kind == Kind::fint_handle || kind == Kind::int_handle; }
  /// The kind of what a handle of another language stands for: the function's other end.
  [[nodiscard]] Kind other_end() const {
    return function_.returns == spec::ReturnKind::handle ? function_.return_kind : function_.parameters[0].kind;
  }
  void returned_number(const trace::Field &result) {
    AtomReader atoms(result.atoms);
    const AtomValue number = atoms.next();
    if (!number.special && !number.missing) plan_.returned_number = {other_end(), number.value};
  }

  void returned_handle(const trace::Field &result) {
    AtomReader atoms(result.atoms);
    const AtomValue first = atoms.next();
    if (first.special || first.missing) return;
    const int64_t second = atoms.at_end() ? 0 : atoms.next().value;
    plan_.returned = with_.slots->slot(function_.return_kind,
                                       analyze::handle_name(first.value, second, function_.return_layout, scope_));
  }

  /// An address, or an integer that may be one.
  Result<std::pair<Region *, int64_t>> place(const Parameter &parameter, AtomReader *atoms) {
    const AtomValue kind = atoms->next();
    const int64_t number = atoms->next().value;
    const int64_t offset = atoms->next().value;
    using Place = std::pair<Region *, int64_t>;
    if (const int id = kind.constant(); id >= 0) {
      const auto found = constant(parameter, id);
      if (!found) return tl::unexpected(found.error());
      return Place{nullptr, static_cast<int64_t>(*found)};
    }
    if (kind.is(trace::kNull)) return Place{nullptr, 0};
    if (kind.is(trace::kInteger)) return Place{nullptr, offset};
    if (!kind.special) return wrong(parameter, "is malformed");
    Region *region = with_.memory->region(kind.value, number, scope_.thread);
    if (region == nullptr && kind.is(trace::kDevice)) {
      return wrong(parameter, "lies on a device: " + with_.memory->lack_of_devices());
    }
    if (region == nullptr) return wrong(parameter, "lies in memory that the system has no addresses for");
    return Place{region, offset};
  }
  static Word address_of(const std::pair<Region *, int64_t> &place) {
    if (place.first == nullptr) return static_cast<Word>(place.second);
    return reinterpret_cast<Word>(place.first->origin) + static_cast<Word>(place.second);
  }

  Result<void> address(uint8_t i, const Parameter &parameter, const trace::Field &field) {
    if (parameter.kind == Kind::callback) {
      AtomReader atoms(field.atoms);
      const AtomValue first = atoms.next();
      if (!first.special || (first.constant() < 0 && !first.is(trace::kNull))) {
        plan_.words[i] = stand_in_for(parameter.ctype);
        if (plan_.words[i] == 0) plan_.passed_over = "is given a function that nothing can stand in for";
        return {};
      }
    }
    if (parameter.kind == Kind::rma_displacement && parameter.keeps_raw) remote(i, field);
    AtomReader atoms(field.atoms);
    std::vector<std::pair<Region *, int64_t>> places;
    bool moves = false;
    while (!atoms.at_end()) {
      const auto found = place(parameter, &atoms);
      if (!found) return tl::unexpected(found.error());
      if (atoms.failed()) return wrong(parameter, "is malformed");
      moves = moves || (found->first != nullptr && found->first->moves);
      places.emplace_back(found->first, found->second);
      if (found->first != nullptr && with_.fill && !found->first->is_mpi) fill(i, parameter, *found);
      if (!is_indirect(parameter)) break;
    }
    if (!is_indirect(parameter)) {
      if (moves) {
        plan_.addresses.push_back({i, places[0].first, places[0].second});
      } else {
        plan_.words[i] = address_of(places[0]);
      }
      return {};
    }
    const size_t bytes = places.size() * sizeof(Word) + sizeof(Word);
    plan_.address_arrays.push_back({i, std::move(places), std::vector<char>(bytes)});
    return {};
  }
  void remote(uint8_t i, const trace::Field &field) {
    const auto raw = analyze::raw_address(field);
    if (!raw || !with_.attachments->any()) return;
    Plan::Remote remote{i, 0, 0, *raw};
    for (uint8_t each = 0; each < function_.parameter_count; ++each) {
      if (function_.parameters[each].kind == Kind::window) remote.window = each;
      if (function_.parameters[each].kind == Kind::rank) remote.target = each;
    }
    plan_.remote = remote;
  }
  void fill(uint8_t i, const Parameter &parameter, const std::pair<Region *, int64_t> &place) {
    const bool sent = parameter.kind == Kind::buf_in || parameter.kind == Kind::buf_inout;
    if (!sent || parameter.count_parameter == 0 || parameter.type_parameter == 0) return;
    const auto count = static_cast<uint8_t>(parameter.count_parameter - 1);
    const auto type = static_cast<uint8_t>(parameter.type_parameter - 1);
    if (function_.parameters[count].passing != Passing::value || function_.parameters[type].passing != Passing::value)
      return;
    plan_.filled.push_back({i, place.first, place.second, count, type});
  }

  void tell_statuses(const trace::Field &field) {
    for (AtomReader atoms(StatusField::of(field).atoms); !atoms.at_end();)
      plan_.statuses.push_back(status_values(&atoms));
  }
  StatusValues status_values(AtomReader *atoms) const {
    const auto number = [&] {
      const AtomValue value = atoms->next();
      bool known = false;
      if (value.constant() >= 0) return static_cast<int64_t>(constant(value.constant(), &known));
      return value.special ? 0 : value.value;
    };
    StatusValues values;
    values.source = static_cast<int>(number());
    values.tag = static_cast<int>(number());
    values.error = static_cast<int>(number());
    values.bytes = number();
    values.cancelled = number() != 0;
    return values;
  }

  Result<void> status(uint8_t i, const Parameter &parameter, const trace::Field &field) {
    AtomReader atoms(field.atoms);
    const StatusValues values = field.atoms.size() >= 5 ? status_values(&atoms) : StatusValues{};
    std::vector<char> bytes(kStatusSize);
    write_status(bytes.data(), values);
    if (parameter.direction == Direction::inout) {
      plan_.updated.push_back({i, std::move(bytes)});
    } else {
      plan_.owned.push_back(std::move(bytes));
      point(i, plan_.owned.back().data());
    }
    return {};
  }

  Result<Word> number(const Parameter &parameter, AtomReader *atoms) {
    if (parameter.layout == Layout::flags) {
      const AtomValue bits = atoms->next();
      const AtomValue rest = atoms->next();
      if (bits.special) return bits.constant() >= 0 ? constant(parameter, bits.constant()) : Result<Word>(Word{0});
      Word value = static_cast<Word>(rest.value);
      const auto flags = spec::domain(parameter.domain);
      for (size_t bit = 0; bit < flags.size() && bit < 64; ++bit) {
        if ((static_cast<uint64_t>(bits.value) >> bit & 1U) == 0) continue;
        auto flag = constant(parameter, flags[bit]);
        if (!flag) return flag;
        value |= *flag;
      }
      return value;
    }
    const AtomValue value = atoms->next();
    if (parameter.layout == Layout::error) {
      if (!value.special) return static_cast<Word>(value.value);
      const AtomValue code = atoms->next();
      if (with_.same_library) return static_cast<Word>(code.value);  // a program's own codes are given in order
      return value.constant() >= 0 ? constant(parameter, value.constant())
                                   : Result<Word>(static_cast<Word>(code.value));
    }
    if (!value.special) return static_cast<Word>(value.value);
    if (value.constant() >= 0) return constant(parameter, value.constant());
    return Word{0};
  }

  Result<void> numbers(uint8_t i, const Parameter &parameter, const trace::Field &field) {
    AtomReader atoms(field.atoms);
    if (!is_indirect(parameter)) {
      const auto value = number(parameter, &atoms);
      if (!value) return tl::unexpected(value.error());
      plan_.words[i] = *value;
      if (is_number(parameter.kind)) plan_.numbers.push_back({other_end(), static_cast<int64_t>(*value), i});
      return {};
    }
    std::vector<Word> values;
    while (!atoms.at_end()) {
      const auto value = number(parameter, &atoms);
      if (!value) return tl::unexpected(value.error());
      values.push_back(*value);
    }
    if (atoms.failed()) return wrong(parameter, "is malformed");
    const bool changes = parameter.direction == Direction::inout;
    // What the call changes is there twice, before and after, if it succeeded.
    if (changes && succeeded_ && values.size() % 2 == 0) values.resize(values.size() / 2);
    const size_t each = element_bytes(parameter);
    std::vector<char> bytes((values.size() + (changes ? kSpareElements : 0)) * each + 1);
    for (size_t k = 0; k < values.size(); ++k) store(bytes.data() + k * each, each, values[k]);
    if (changes) {
      plan_.updated.push_back({i, std::move(bytes)});
    } else {
      plan_.owned.push_back(std::move(bytes));
      point(i, plan_.owned.back().data());
    }
    return {};
  }

  const Surroundings &with_;
  const trace::Row &row_;
  const analyze::RowScope &scope_;
  Plan &plan_;
  const spec::Function &function_;
  bool succeeded_ = false;
};

}  // namespace

Result<std::unique_ptr<Plan>> Planner::plan(const trace::Row &row, uint32_t class_index,
                                            const analyze::RowScope &scope) {
  const auto all = spec::functions();
  if (row.function >= all.size() || row.fields.size() != size_t{all[row.function].parameter_count} + 1) {
    return fail(ErrorKind::unreadable,
                fmt::format("a call of function {} that this version does not know", row.function),
                "replay it with the version of cairn that recorded it");
  }
  auto plan = std::make_unique<Plan>();
  plan->function = &all[row.function];
  plan->invoke = (*with_.invokers)[row.function];
  plan->class_index = class_index;
  plan->site = row.site;
  plan->depth = row.depth;
  if (auto made = Making(with_, row, scope, plan.get()).run(); !made) return tl::unexpected(made.error());
  return plan;
}

}  // namespace cairn::replay
