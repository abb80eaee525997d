// Handles, communicators and what statuses imply: the part of Comparer that follows objects through their lives.
#include <algorithm>

#include "mpi/oracle/compare.h"
#include "spec/ids.h"
#include "trace/model/status_field.h"

namespace cairn::oracle {

using spec::Direction;
using spec::Effect;
using spec::Kind;
using spec::Parameter;

namespace con = spec::constant_id;

namespace {

constexpr uint64_t kNeverCreated = UINT64_MAX;
constexpr uint64_t kCommunicator = UINT64_MAX - 1;

bool creates(Effect effect) { return effect == Effect::create || effect == Effect::create_if; }

}  // namespace

Name Comparer::canonical(trace::Atom site, int64_t place) const {
  const auto packed = static_cast<uint64_t>(site);
  const uint64_t creator = packed >> 32 == 0 ? event_->thread : (packed >> 32) - 1;
  const size_t local = packed & UINT32_MAX;
  const SiteKey key = local < event_->sites->size() ? (*event_->sites)[local] : SiteKey{};
  return {creator, key.module, key.offset, static_cast<uint64_t>(place)};
}

std::string Comparer::bind(Kind kind, uint64_t raw, const Name &name, Effect effect, Object **found) {
  Object *object = objects_.find(kind, raw, name);
  if (!creates(effect) && object != nullptr) {
    if (effect == Effect::lookup) ++object->references;
    *found = object;
    return "";
  }
  Object *same_name = objects_.with_name(kind, name);
  Object *same_raw = objects_.with_raw(kind, raw);
  if (!creates(effect)) {
    if (same_name != nullptr && !same_name->raw_known && same_raw == nullptr) {
      objects_.learn_raw(same_name, raw);
      *found = same_name;
      return "";
    }
    const auto is_same = [&](const Released &each) { return each == Released{kind, raw, same_raw->name}; };
    // Two threads may have looked it up in one order, and been recorded in the other.
    const bool passed_on = effect == Effect::lookup && same_raw != nullptr &&
                           (same_raw->being_freed != 0 || same_raw->recorded > ended_ ||
                            std::any_of(perhaps_released_.begin(), perhaps_released_.end(), is_same));
    if (same_raw != nullptr && !same_raw->may_be_over && !passed_on) return "it is logged as another object's handle";
    if (same_name != nullptr && !same_name->may_be_over) return "it is the name of an object with another handle";
    const bool may_begin_here = effect == Effect::lookup || name[0] >= kCommunicator;
    if (!may_begin_here) return "no such object was created";
  } else {
    // Requests (and messages) may share a handle. What else had it ended without a call of its own.
    if (same_raw != nullptr && kind != Kind::request && kind != Kind::message && !several_threads_) {
      if (same_raw == same_name) same_name = nullptr;
      objects_.remove(same_raw);
    }
    if (same_name != nullptr && same_name->may_be_over) {
      objects_.remove(same_name);
      same_name = nullptr;
    }
    if (same_name != nullptr && !several_threads_) return "the name belongs to a living object";
  }
  *found = objects_.add(kind, raw, name);
  if (effect == Effect::lookup) (*found)->recorded = recorded_;
  return "";
}

std::string Comparer::handle(unsigned i, AtomReader &in, uint64_t word, Kind kind, Effect effect, uint8_t domain) {
  const AtomValue first = in.next();
  const AtomValue second = in.next();
  Named named;
  named.raw = word;
  std::string problem;
  if (second.missing || second.special) {
    problem = "no handle: " + to_text(first);
  } else if (first.constant() >= 0) {
    named.constant = static_cast<uint16_t>(first.constant());
    if (constant(*named.constant) != word || second.value != 0) problem = "traced " + to_text(first) + ", logged ";
  } else if (const auto id = constant_of(domain, word)) {
    problem = std::string("traced an object, logged ") + spec::constants()[*id].name + ", ";
  } else if (first.special && !first.is(trace::kUnknown)) {
    problem = "traced " + to_text(first) + ", logged ";
  } else {
    const Name name = first.special ? Name{kNeverCreated, static_cast<uint64_t>(second.value), 0, 0}
                                    : canonical(first.value, second.value);
    if (creates(effect) && !first.special && static_cast<uint64_t>(first.value) != event_->row->site) {
      problem = "the name isn't of this call site, ";
    } else if (creates(effect) && first.special) {
      problem = "the call creates it, ";
    } else {
      const bool known = objects_.find(kind, word, name) != nullptr;
      problem = bind(kind, word, name, effect, &named.object);
      if (!problem.empty()) problem += ", ";
      // What converts a handle (MPI_Group_f2c) gives no second one to be freed.
      if (known && i >= function_->parameter_count && named.object != nullptr) --named.object->references;
    }
    if (named.object != nullptr && creates(effect)) named.object->implied = implied_by_call();
  }
  if (i < named_.size()) named_[i].push_back(named);
  if (problem.empty()) return "";
  char raw[32];
  snprintf(raw, sizeof raw, "0x%llx", static_cast<unsigned long long>(word));
  return "(" + to_text(first) + ", " + to_text(second) + "): " + problem + raw;
}

std::string Comparer::comm(unsigned i, AtomReader &in, uint64_t word, Effect effect, uint8_t domain) {
  const AtomValue first = in.next();
  Named named;
  named.raw = word;
  std::string problem;
  const bool makes = creates(effect) || effect == Effect::lookup;
  const auto count = makes ? count_creation() : std::nullopt;
  // What a non-blocking call creates is there only later.
  const bool pending = creates(effect) && parameter_with(Effect::create, Kind::request) >= 0;
  if (first.missing) {
    problem = "no communicator";
  } else if (first.constant() >= 0) {
    named.constant = static_cast<uint16_t>(first.constant());
    if (constant(*named.constant) != word && !pending) problem = "traced " + to_text(first);
  } else if (const auto id = constant_of(domain, word); id && !pending) {
    problem = "traced " + to_text(first) + ", logged " + spec::constants()[*id].name;
  } else if (first.special) {
    problem = "traced " + to_text(first);
  } else {
    const Name name = {kCommunicator, static_cast<uint64_t>(first.value), 0, 0};
    if (pending) {
      if (objects_.with_name(Kind::comm, name) != nullptr && !several_threads_) {
        problem = "the name belongs to a living object";
      } else {
        named.object = objects_.add(Kind::comm, 0, name, false);
      }
    } else {
      problem = bind(Kind::comm, word, name, effect, &named.object);
    }
    if (makes && !in.at_end() && problem.empty()) problem = new_comm(i, in, named.object, count);
    if (creates(effect) && in.at_end() && problem.empty() && named.object->identity.empty()) {
      problem = "a new communicator without identity";
    }
  }
  if (i < named_.size()) named_[i].push_back(named);
  if (problem.empty()) return "";
  char raw[32];
  snprintf(raw, sizeof raw, "0x%llx", static_cast<unsigned long long>(word));
  return "communicator " + to_text(first) + ": " + problem + ", logged " + raw;
}

/// For functions that are collective over a communicator and make one: the how-manieth over it this is.
std::optional<uint64_t> Comparer::count_creation() {
  const unsigned over = function_->scope;
  if (over == 0 || over > function_->parameter_count || function_->parameters[over - 1].kind != Kind::comm ||
      function_->members == spec::Members::beyond_scope || named_[over - 1].empty()) {
    return {};
  }
  const Named &parent = named_[over - 1][0];
  return creations_[parent.object != nullptr ? parent.object->serial : parent.constant.value_or(0)]++;
}

std::string Comparer::new_comm(unsigned i, AtomReader &in, Object *made, std::optional<uint64_t> count) {
  const AtomValue counter = in.next();
  const AtomValue place = in.next();
  const AtomValue smallest = in.next();
  if (smallest.missing || counter.special) return "its identity is cut short";
  std::string who;
  const unsigned parameter = function_->scope;
  const bool whole = parameter != 0 && parameter <= function_->parameter_count &&
                     function_->parameters[parameter - 1].kind == Kind::comm &&
                     function_->members != spec::Members::beyond_scope;
  const AtomValue told = whole ? AtomValue{} : in.next();
  if (!whole) {
    if (told.missing) return "it does not say who its members are";
    who = "." + to_text(told);
  }
  const bool dynamic = function_->members == spec::Members::beyond_world;
  if (count && static_cast<uint64_t>(counter.value) != *count) {
    return "it is number " + to_text(counter) + " over its parent, and should be " + std::to_string(*count);
  }
  made->identity = "?";
  const LogValue *members = logged(kMembers + i, true);
  constexpr size_t kTold = 3;
  if (members != nullptr && members->words.size() == kTold) {
    const auto own = static_cast<int64_t>(members->words[2]);
    if (place.special || place.value != own) {
      return "this process's place is traced as " + to_text(place) + ", logged as " + std::to_string(own);
    }
  }
  if (dynamic) return "";
  CommSighting sighting{"", rank_, smallest.special ? -1 : smallest.value, -1};
  if (members != nullptr && members->words.size() == kTold) {
    sighting.members = static_cast<int64_t>(members->words[0]);
    const auto least = static_cast<int64_t>(members->words[1]);
    constexpr int64_t kHashed = int64_t{1} << 48;
    if (!whole && !told.special && told.value < kHashed && told.value >> 24 != sighting.members) {
      return "it is said to have " + std::to_string(told.value >> 24) + " members, and has " +
             std::to_string(sighting.members);
    }
    if (smallest.special ? least >= 0 || !smallest.is(trace::kUnknown) : least != smallest.value) {
      return "its smallest rank is traced as " + to_text(smallest) + ", logged as " + std::to_string(least);
    }
  }
  std::string parent;
  const unsigned over = function_->scope;
  if (count && over != 0 && over <= function_->parameter_count) {
    const Named &of = named_[over - 1][0];
    if (of.object != nullptr) {
      parent = of.object->identity;
    } else {
      parent = of.constant && *of.constant == con::k_COMM_SELF ? "self" + std::to_string(rank_) : "world";
    }
    if (parent == "?") return "";
  } else {
    const auto tag = argument(static_cast<unsigned>(parameter_with(Effect::none, Kind::tag) + 1));
    parent = std::string(function_->name) + (tag ? std::to_string(*tag) : "");
  }
  made->identity = "(" + parent + "." + to_text(counter) + "." + to_text(smallest) + who + ")";
  sighting.identity = made->identity;
  comms_.push_back(sighting);
  return "";
}

Implied Comparer::implied_by_call() {
  Implied implied;
  if (function_->status_tells == spec::StatusTells::message) {
    implied.form = Implied::Form::envelope;
    implied.source = argument(function_->asked_source);
    implied.tag = argument(function_->asked_tag);
    if (function_->asked_buffer == 0) return implied;
    const Parameter &buffer = function_->parameters[function_->asked_buffer - 1];
    implied.count = argument(buffer.count_parameter);
    if (const auto times = argument(buffer.times_parameter); times && implied.count) *implied.count *= *times;
    if (const std::vector<Named> &type = named_[buffer.type_parameter - 1U]; !type.empty()) {
      implied.type = type[0].object != nullptr ? type[0].object->serial : type[0].constant.value_or(0);
    }
  } else if (function_->status_tells == spec::StatusTells::bytes) {
    implied.form = Implied::Form::file;
  } else if (parameter_with(Effect::create, Kind::request) >= 0) {
    implied.form = Implied::Form::undefined;
  }
  return implied;
}

Implied Comparer::implied_by(unsigned i, size_t k) {
  int requests = parameter_with(Effect::complete, Kind::request);
  if (requests < 0) {
    for (int at = 0; at < function_->parameter_count; ++at) {
      const Parameter &p = function_->parameters[at];
      if (p.kind == Kind::request && p.direction == Direction::in) requests = at;
    }
  }
  if (requests < 0) return function_->parameters[i].direction == Direction::out ? implied_by_call() : Implied{};
  size_t which = k;
  for (int at = 0; at < function_->parameter_count; ++at) {
    const Parameter &p = function_->parameters[at];
    if (p.kind != Kind::index || p.direction != Direction::out) continue;
    const LogValue *indices = logged(static_cast<unsigned>(at), true);
    which = indices != nullptr && k < indices->words.size() ? indices->words[k] : SIZE_MAX;
  }
  const auto &given = named_[static_cast<size_t>(requests)];
  if (which >= given.size()) return Implied{Implied::Form::empty, {}, {}, {}, 0};
  if (given[which].constant) return Implied{Implied::Form::empty, {}, {}, {}, 0};
  return given[which].object != nullptr ? given[which].object->implied : Implied{};
}

std::string Comparer::statuses_problem(unsigned i, const trace::Field &field, const std::vector<uint64_t> &words) {
  const Parameter &p = function_->parameters[i];
  const auto traced = trace::StatusField::of(field);
  const auto may_be_ignored = spec::domain(p.pointer_domain);
  // What the program ignores was told to the recorder, and so to the oracle.
  if (traced.ignored && AtomReader(field.atoms).next().constant() != may_be_ignored[0])
    return "traced another constant";
  AtomReader in(traced.atoms);
  const bool all_implied = traced.implied;
  for (size_t k = 0; k * 5 < words.size(); ++k) {
    const Implied implied = p.direction == Direction::out ? implied_by(i, k) : Implied{};
    std::string problem = status(all_implied ? nullptr : &in, &words[k * 5], implied);
    if (!problem.empty()) return words.size() > 5 ? "[" + std::to_string(k) + "] " + problem : problem;
  }
  return all_implied || in.at_end() ? "" : "traced more statuses than logged";
}

std::string Comparer::status(AtomReader *in, const uint64_t *logged, const Implied &implied) {
  using Form = Implied::Form;
  const bool to_nobody = implied.form == Form::envelope && implied.source &&
                         constant(con::k_PROC_NULL) == static_cast<uint64_t>(*implied.source);
  const bool empty = implied.form == Form::empty;
  const bool undefined = implied.form == Form::undefined || implied.form == Form::file;
  const auto wrong = [&](const char *what, uint64_t value) {
    return std::string(what) + " traced as implied, logged " + std::to_string(static_cast<int64_t>(value));
  };
  static const char *const names[] = {"source", "tag", "error", "bytes", "cancelled"};
  for (int f = 0; f < 5; ++f) {
    AtomReader peek = in == nullptr ? AtomReader({}) : *in;
    const AtomValue atom = in == nullptr ? AtomValue{} : peek.next();
    if (in != nullptr && !atom.is(trace::kImplied)) {
      const std::string problem = integer(*in, logged[f], 0, true);
      if (!problem.empty()) return std::string(names[f]) + " " + problem;
      continue;
    }
    if (in != nullptr) in->next();
    const uint64_t value = logged[f];
    switch (f) {
      case 0:
        if (undefined) break;
        if (empty || to_nobody ? constant(to_nobody ? con::k_PROC_NULL : con::k_ANY_SOURCE) != value
                               : !implied.source || static_cast<uint64_t>(*implied.source) != value) {
          return wrong(names[f], value);
        }
        break;
      case 1:
        if (undefined) break;
        if (empty || to_nobody ? constant(con::k_ANY_TAG) != value
                               : !implied.tag || static_cast<uint64_t>(*implied.tag) != value) {
          return wrong(names[f], value);
        }
        break;
      case 2:
        if (in_status_ && value != 0) return wrong(names[f], value);
        break;
      case 3:
        if (implied.form == Form::undefined) break;
        if (empty || to_nobody) {
          if (value != 0) return wrong(names[f], value);
        } else if (std::string problem = implied_bytes(implied, value); !problem.empty()) {
          return problem;
        }
        break;
      default:
        if (value != 0) return wrong(names[f], value);
    }
  }
  return "";
}

/// A receive that got all it had room for. The log has no sizes of types: the first such receive tells, and all later
/// ones must agree.
std::string Comparer::implied_bytes(const Implied &implied, uint64_t logged) {
  if (implied.form != Implied::Form::envelope || !implied.count) return "nothing implies how many bytes came";
  const auto count = static_cast<uint64_t>(*implied.count);
  const auto size = type_sizes_.find(implied.type);
  const bool fits = count == 0                  ? logged == 0
                    : size != type_sizes_.end() ? size->second * count == logged
                                                : logged % count == 0;
  if (!fits)
    return "bytes traced as posted, logged " + std::to_string(logged) + " for a count of " + std::to_string(count);
  if (count != 0) type_sizes_[implied.type] = logged / count;
  return "";
}

bool Comparer::has_effect(const Event &event, Effect effect) {
  const uint32_t number = event.row->function;
  if (number >= spec::functions().size()) return false;
  const spec::Function &function = spec::functions()[number];
  return std::any_of(function.parameters, function.parameters + function.parameter_count,
                     [effect](const Parameter &p) { return p.effect == effect; });
}

std::vector<Comparer::Released> Comparer::released(const Event &event, const LogFile &log, const LogRecord &record) {
  std::vector<Released> all;
  event_ = &event;
  const trace::Row &row = *event.row;
  if (row.function != record.function) return all;
  const spec::Function &function = spec::functions()[row.function];
  for (const LogValue &value : log.values(record)) {
    if (value.parameter >= function.parameter_count || value.parameter >= row.fields.size() || value.words.empty()) {
      continue;
    }
    const Parameter &p = function.parameters[value.parameter];
    const std::vector<trace::Atom> &atoms = row.fields[value.parameter].atoms;
    if (p.effect != Effect::release || value.after || atoms.empty()) continue;
    Name name = {kCommunicator, static_cast<uint64_t>(atoms[0]), 0, 0};
    if (p.layout != spec::Layout::comm) {
      if (atoms.size() != 2) continue;
      const bool known = atoms[0] != trace::kUnknown;
      name = known ? canonical(atoms[0], atoms[1]) : Name{kNeverCreated, static_cast<uint64_t>(atoms[1]), 0, 0};
    }
    all.push_back({p.kind, value.words[0], name});
  }
  return all;
}

void Comparer::begins(const Event &event, const LogFile &log, const LogRecord &record) {
  for (const Released &each : released(event, log, record)) {
    if (Object *object = objects_.find(each.kind, each.raw, each.name)) ++object->being_freed;
  }
}

void Comparer::may_come_before(const Event &event, const LogFile &log, const LogRecord &record) {
  for (const Released &each : released(event, log, record)) perhaps_released_.push_back(each);
}

void Comparer::end_objects() {
  for (unsigned i = 0; i < function_->parameter_count; ++i) {
    const Parameter &p = function_->parameters[i];
    const LogValue *after = logged(i, true);
    const LogValue *before = logged(i, false);
    if (p.effect == Effect::unmap_memory && succeeded_ && before != nullptr && !before->words.empty()) {
      addresses_.mpi_memory(before->words[0], false);
    }
    if (p.effect != Effect::release && p.effect != Effect::complete && p.effect != Effect::consume) continue;
    std::vector<Object *> ended;
    for (size_t k = 0; k < named_[i].size(); ++k) {
      Object *object = named_[i][k].object;
      if (object == nullptr) continue;
      if (p.effect == Effect::release) {
        if (object->being_freed != 0) --object->being_freed;
        if (!succeeded_ || --object->references > 0) continue;
      } else if (after == nullptr) {
        if (!succeeded_) object->may_be_over = true;
        continue;
      } else if (k >= after->words.size() || after->words[k] == named_[i][k].raw) {
        continue;
      }
      if (std::find(ended.begin(), ended.end(), object) == ended.end()) ended.push_back(object);
    }
    for (Object *object : ended) objects_.remove(object);
  }
}

}  // namespace cairn::oracle
