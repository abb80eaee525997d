#include "analyze/paired_calls.h"

#include <array>
#include <set>
#include <string_view>

#include "analyze/cancellations.h"
#include "base/as_size.h"
#include "spec/ids.h"
#include "trace/model/status_field.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

using spec::Direction;
using spec::Effect;
using spec::Kind;
using spec::Layout;
using spec::Parameter;
using trace::AtomReader;
using trace::AtomValue;
using trace::Field;
using trace::Row;

bool is_equal(const AtomValue &a, const AtomValue &b) {
  return a.missing == b.missing && a.special == b.special && a.value == b.value;
}

/// A value that differs from run to run, whatever the program does.
bool is_of_the_run(const spec::Function &function, const Parameter &parameter) {
  if (is_number_of_handle(parameter.kind)) return true;
  const std::string_view name = function.name;
  // The program of a job that is spawned: in a replay the one that replays it.
  if (name == "MPI_Comm_spawn" || name == "MPI_Comm_spawn_multiple") {
    return parameter.layout == Layout::string || parameter.layout == Layout::strings;
  }
  if (name == "MPI_Init" || name == "MPI_Init_thread") return parameter.direction == Direction::inout;
  const bool told = parameter.direction == Direction::out && parameter.layout != Layout::handle;
  return told && (name == "MPI_Get_processor_name" || name.starts_with("MPI_Get_library_version") ||
                  name.starts_with("MPI_Error_string") || name.starts_with("MPI_T_"));
}

/// One call on both sides.
class Pair {
 public:
  Pair(const SideCall &first, const SideCall &second, Meanings *meanings)
      : a_(first.row),
        b_(second.row),
        a_scope_(first.scope),
        b_scope_(second.scope),
        function_(spec::functions()[first.row.function]),
        meanings_(*meanings) {}

  /// The arguments that differ.
  std::vector<std::string> compare() {
    std::vector<std::string> names;
    find_wild();
    if (!same_result()) names.emplace_back("return");
    const bool succeeded =
        a_.fields.back().atoms == std::vector<trace::Atom>{0} || function_.returns != spec::ReturnKind::error_code;
    for (size_t i = 0; i < function_.parameter_count; ++i) {
      const Parameter &parameter = function_.parameters[i];
      if (parameter.layout == Layout::none || is_of_the_run(function_, parameter)) continue;
      if (parameter.direction == Direction::out && asks_environment()) continue;
      if (!same(i, parameter, a_.fields[i], b_.fields[i])) names.emplace_back(parameter.name);
    }
    if (names.empty() && succeeded) change();
    return names;
  }
  [[nodiscard]] bool forced() const { return wild_source_ || wild_tag_; }

 private:
  /// MPI_INFO_ENV: how the job was started.
  [[nodiscard]] bool asks_environment() const {
    if (function_.parameter_count == 0 || function_.parameters[0].kind != Kind::info) return false;
    return AtomReader(a_.fields[0].atoms).next().constant() == spec::constant_id::k_INFO_ENV;
  }
  /// The first side asks for anybody, and the second does not.
  void find_wild() {
    if (function_.asked_source == 0) return;
    const auto asks = [](const Row &row, unsigned place, uint16_t constant) {
      AtomReader atoms(row.fields[place].atoms);
      return atoms.next().constant() == constant;
    };
    const unsigned source = function_.asked_source - 1U;
    wild_source_ =
        asks(a_, source, spec::constant_id::k_ANY_SOURCE) && !asks(b_, source, spec::constant_id::k_ANY_SOURCE);
    if (function_.asked_tag == 0) return;
    const unsigned tag = function_.asked_tag - 1U;
    wild_tag_ = asks(a_, tag, spec::constant_id::k_ANY_TAG) && !asks(b_, tag, spec::constant_id::k_ANY_TAG);
    unheard_ = function_.nonblocking && !function_.persistent && asked(function_.asked_tag) == kNobodysTag &&
               a_.fields[tag] != b_.fields[tag];
  }
  [[nodiscard]] std::optional<int64_t> asked(unsigned one_more) const {
    if (one_more == 0) return std::nullopt;
    AtomReader atoms(b_.fields[one_more - 1].atoms);
    const AtomValue value = atoms.next();
    return value.special ? std::nullopt : std::optional(value.value);
  }

  bool same_result() {
    const Field &a = a_.fields.back();
    const Field &b = b_.fields.back();
    switch (function_.returns) {
      case spec::ReturnKind::wall_time:
        return true;
      case spec::ReturnKind::fint:
        return is_number_of_handle(function_.return_kind) || a == b;
      case spec::ReturnKind::error_code:
        return (a.atoms.empty() ? 0 : a.atoms[0]) == (b.atoms.empty() ? 0 : b.atoms[0]);
      case spec::ReturnKind::handle:
        return same_made(function_.return_kind, function_.return_layout, a, b);
      default:
        return function_.return_layout == Layout::address ? same_addresses(Kind::address, a, b, false) : a == b;
    }
  }

  bool same(size_t place, const Parameter &parameter, const Field &a, const Field &b) {
    if (a.is_bytes != b.is_bytes) return false;
    if (a.is_bytes) return same_text(parameter, a, b);
    if (unheard_ && place + 1 == function_.asked_tag) return true;
    if ((wild_source_ && place + 1 == function_.asked_source) || (wild_tag_ && place + 1 == function_.asked_tag))
      return true;
    switch (parameter.layout) {
      case Layout::handle:
      case Layout::comm:
        return parameter.direction == Direction::out ? same_made(parameter.kind, parameter.layout, a, b)
                                                     : same_used(parameter, a, b);
      case Layout::address:
        return same_remote(parameter, a, b) ||
               same_addresses(parameter.kind, a, b, parameter.effect == Effect::map_memory, parameter.keeps_raw);
      case Layout::status:
        // What a program fills itself began as what lay there.
        return parameter.direction == Direction::inout || (same_statuses(a, b) && are_cancelled(b));
      case Layout::error:
        return same_errors(a, b);
      default:
        return a == b || (parameter.kind == Kind::displacement && parameter.direction == Direction::out && is_far(a) &&
                          is_far(b));
    }
  }
  /// Where a type begins that has absolute addresses.
  static bool is_far(const Field &field) {
    AtomReader atoms(field.atoms);
    const AtomValue value = atoms.next();
    return !value.special && static_cast<uint64_t>(value.value) >> 32U != 0 && atoms.at_end();
  }

  bool same_text(const Parameter &parameter, const Field &a, const Field &b) {
    const std::string_view name = parameter.name;
    const std::string first(a.bytes.begin(), a.bytes.end());
    const std::string second(b.bytes.begin(), b.bytes.end());
    if (name == "port_name") return meanings_.same_port(first, second, parameter.direction == Direction::out);
    if (first == second) return true;
    if (name != "filename") return false;
    return second.ends_with(first.substr(first.rfind('/') + 1));
  }

  struct Handle {
    AtomValue first;
    HandleName name;
    [[nodiscard]] bool is_object() const { return !first.special; }
  };
  static std::vector<Handle> handles(const Field &field, Layout layout, const RowScope &scope, bool one) {
    std::vector<Handle> all;
    AtomReader atoms(field.atoms);
    while (!atoms.at_end()) {
      const AtomValue first = atoms.next();
      const bool lone = layout == Layout::comm && !first.is(trace::kUnknown);
      const AtomValue second = lone || atoms.at_end() ? AtomValue{} : atoms.next();
      all.push_back({first, handle_name(first.value, second.value, layout, scope)});
      if (one) break;
    }
    return all;
  }
  bool same_handle(Kind kind, const Handle &a, const Handle &b) {
    if (a.is_object() != b.is_object()) return false;
    if (!a.is_object()) return a.first.value == b.first.value;
    return meanings_.find(kind, a.name, b.name) != nullptr;
  }

  /// Which places of an array the call completed; nothing: all.
  [[nodiscard]] std::optional<std::set<size_t>> completed(const Parameter &parameter) const {
    if (parameter.kind != Kind::request || function_.completed == 0) return std::nullopt;
    std::set<size_t> places;
    AtomReader atoms(a_.fields[function_.completed - 1U].atoms);
    while (!atoms.at_end()) {
      const AtomValue index = atoms.next();
      if (!index.special && index.value >= 0) places.insert(as_size(index.value));
    }
    return places;
  }

  bool same_used(const Parameter &parameter, const Field &a, const Field &b) {
    const bool one = parameter.passing != spec::Passing::array;
    const std::vector<Handle> first = handles(a, parameter.layout, a_scope_, one);
    const std::vector<Handle> second = handles(b, parameter.layout, b_scope_, one);
    if (first.size() != second.size()) return false;
    const auto only = completed(parameter);
    for (size_t i = 0; i < first.size(); ++i) {
      if (only && !only->contains(i)) continue;
      if (!same_handle(parameter.kind, first[i], second[i])) return false;
      const bool ends = parameter.effect == Effect::release || parameter.effect == Effect::consume ||
                        parameter.effect == Effect::complete;
      if (first[i].is_object() && ends) ends_.push_back({&parameter, first[i].name, second[i].name});
      if (parameter.effect == Effect::complete) completes_.push_back({&parameter, first[i].name, second[i].name});
    }
    return true;
  }

  /// What a call gives: bound once the whole call is the same.
  bool same_made(Kind kind, Layout layout, const Field &a, const Field &b) {
    if (a.atoms.empty() != b.atoms.empty()) return false;
    const bool comm = layout == Layout::comm;
    const std::vector<Handle> first = handles(a, layout, a_scope_, comm);
    const std::vector<Handle> second = handles(b, layout, b_scope_, comm);
    if (first.size() != second.size()) return false;
    for (size_t i = 0; i < first.size(); ++i) {
      if (first[i].is_object() != second[i].is_object()) return false;
      if (!first[i].is_object() && first[i].first.value != second[i].first.value) return false;
      if (first[i].is_object()) made_.push_back({kind, first[i].name, second[i].name});
    }
    // Of a communicator what all its members agree on follows.
    return !comm || std::equal(a.atoms.begin() + (a.atoms.empty() ? 0 : 1), a.atoms.end(),
                               b.atoms.begin() + (b.atoms.empty() ? 0 : 1), b.atoms.end());
  }

  /// A displacement in a dynamic window, which is an address of another process.
  bool same_remote(const Parameter &parameter, const Field &a, const Field &b) {
    if (!parameter.keeps_raw || parameter.kind != Kind::rma_displacement) return false;
    const auto first = raw_address(a);
    const auto second = raw_address(b);
    return first && second && meanings_.same_attached(*first, *second);
  }

  /// `raw`: behind a name there is the number, which differs in every run.
  bool same_addresses(Kind kind, const Field &a, const Field &b, bool moves, bool raw = false) {
    AtomReader first(a.atoms);
    AtomReader second(b.atoms);
    while (!first.at_end() && !second.at_end()) {
      const AtomValue of = first.next();
      const AtomValue in = second.next();
      const bool place = of.special && of.constant() < 0 && !of.is(trace::kNull) && !of.is(trace::kInteger);
      const int64_t number = first.next().value;
      const int64_t other = second.next().value;
      const int64_t offset = first.next().value;
      const int64_t there = second.next().value;
      const bool known = in.special && in.constant() < 0 && !in.is(trace::kNull) && !in.is(trace::kInteger);
      if (raw && place) (void)first.next();
      if (raw && known) (void)second.next();
      if (place != known) return false;
      if (kind == Kind::callback && place) continue;
      if (!place) {
        if (of.value != in.value || offset != there) return false;
        continue;
      }
      const auto region = [](const AtomValue &what, int64_t which, const RowScope &scope) {
        return Meanings::Region{what.value, which, what.is(trace::kStack) ? scope.thread : 0};
      };
      if (!meanings_.same_place(region(of, number, a_scope_), offset, region(in, other, b_scope_), there, moves)) {
        return false;
      }
    }
    return first.at_end() && second.at_end();
  }

  static bool same_errors(const Field &a, const Field &b) {
    AtomReader first(a.atoms);
    AtomReader second(b.atoms);
    while (!first.at_end() && !second.at_end()) {
      const AtomValue code = first.next();
      const AtomValue other = second.next();
      if (code.value != other.value) return false;
      if (code.special) (void)first.next();
      if (other.special) (void)second.next();
    }
    return first.at_end() && second.at_end();
  }

  /// Whether those are that nobody can have heard on that side.
  [[nodiscard]] bool are_cancelled(const Field &statuses) const {
    AtomReader atoms(trace::StatusField::of(statuses).atoms);
    for (const Ended &ended : completes_) {
      std::array<AtomValue, 5> status;
      for (AtomValue &part : status) part = atoms.at_end() ? AtomValue{} : atoms.next();
      const Meanings::Bound *bound = meanings_.find(ended.parameter->kind, ended.first, ended.second);
      if (bound != nullptr && bound->unheard && !is_cancelled(status)) return false;
    }
    return true;
  }
  static bool is_cancelled(const std::array<AtomValue, 5> &status) {
    return !status[4].special && status[4].value != 0;
  }
  [[nodiscard]] bool is_unheard(size_t i) const {
    if (i >= completes_.size()) return false;
    const Ended &ended = completes_[i];
    const Meanings::Bound *bound = meanings_.find(ended.parameter->kind, ended.first, ended.second);
    return bound != nullptr && bound->unheard;
  }
  /// What a status says that is something else than what was asked for.
  bool same_statuses(const Field &a, const Field &b) {
    if (a.atoms == b.atoms) return true;
    const auto before = trace::StatusField::of(a);
    const auto after = trace::StatusField::of(b);
    if (before.is_there != after.is_there || before.ignored != after.ignored) return false;
    AtomReader first(before.atoms);
    AtomReader second(after.atoms);
    const bool all_first = before.implied;
    const bool all_second = after.implied;
    for (size_t i = 0; (!all_first && !first.at_end()) || (!all_second && !second.at_end()); ++i) {
      std::array<AtomValue, 5> of;
      std::array<AtomValue, 5> in;
      for (size_t part = 0; part < of.size(); ++part) {
        const AtomValue implied{false, true, trace::kImplied};
        of[part] = all_first ? implied : first.next();
        in[part] = all_second ? implied : second.next();
      }
      if (!same_status(i, of, in, after.ignored && after.implied)) return false;
    }
    return true;
  }
  /// `untold`: what the second side got is not known, beyond what it asked for.
  bool same_status(size_t i, const std::array<AtomValue, 5> &of, const std::array<AtomValue, 5> &in, bool untold) {
    // Codes are the library's. Of what is pending, and of `cancelled` of probes and files, the rest is what lay there.
    const bool classes = of[2].constant() >= 0 && in[2].constant() >= 0;
    if (classes && of[2].value != in[2].value) return false;
    if (classes && of[2].constant() == spec::constant_id::k_ERR_PENDING) return true;
    // The rest of what was cancelled means nothing.
    if (is_unheard(i)) return is_cancelled(of) && is_cancelled(in);
    for (const size_t part : {size_t{0}, size_t{1}, size_t{3}}) {
      if (is_equal(of[part], in[part]) || (untold && part == 3)) continue;
      const bool asked = part < 2 && in[part].is(trace::kImplied) && !of[part].special;
      if (!asked || !is_forced(i, part, of[part].value)) return false;
    }
    return true;
  }
  /// Whether the second side asked for that.
  [[nodiscard]] bool is_forced(size_t i, size_t part, int64_t value) {
    if (part == 0 ? wild_source_ : wild_tag_) {
      return asked(part == 0 ? function_.asked_source : function_.asked_tag) == value;
    }
    if (i >= completes_.size()) return false;
    const Ended &ended = completes_[i];
    const Meanings::Bound *bound = meanings_.find(ended.parameter->kind, ended.first, ended.second);
    if (bound == nullptr) return false;
    return (part == 0 ? bound->source : bound->tag) == value;
  }

  /// What names mean once the call is made.
  void change() {
    for (const Ended &ended : ends_) {
      const Meanings::Bound *bound = meanings_.find(ended.parameter->kind, ended.first, ended.second);
      const bool stays = ended.parameter->effect == Effect::complete && bound != nullptr && bound->persistent;
      if (!stays) meanings_.give_up(ended.parameter->kind, ended.first, ended.second);
    }
    for (const Made &made : made_) {
      Meanings::Bound bound{made.second, function_.persistent, std::nullopt, std::nullopt, unheard_};
      if (wild_source_) bound.source = asked(function_.asked_source);
      if (wild_tag_) bound.tag = asked(function_.asked_tag);
      meanings_.bind(made.kind, made.first, bound);
    }
  }

  struct Ended {
    const Parameter *parameter;
    HandleName first;
    HandleName second;
  };
  struct Made {
    Kind kind;
    HandleName first;
    HandleName second;
  };
  const Row &a_;
  const Row &b_;
  const RowScope &a_scope_;
  const RowScope &b_scope_;
  const spec::Function &function_;
  Meanings &meanings_;
  std::vector<Ended> ends_;
  std::vector<Ended> completes_;
  std::vector<Made> made_;
  bool wild_source_ = false;
  bool wild_tag_ = false;
  bool unheard_ = false;
};

}  // namespace

bool is_number_of_handle(Kind kind) { return kind == Kind::fint_handle || kind == Kind::int_handle; }

Paired pair_calls(const SideCall &first, const SideCall &second, Meanings *meanings) {
  Pair pair(first, second, meanings);
  Paired paired{pair.compare(), false};
  paired.forced = pair.forced();
  return paired;
}

}  // namespace cairn::analyze
