#include "analyze/communicator_names.h"

#include <fmt/format.h>

#include <utility>

#include "analyze/spawned.h"
#include "analyze/value.h"
#include "base/hash.h"
#include "spec/ids.h"
#include "text/utf8.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

using trace::AtomValue;

std::string number_text(const AtomValue &value) { return value.special ? "?" : fmt::format("{}", value.value); }

/// "4 by 2" of four ranks two apart; else a number that all members agree on.
std::string members_text(const AtomValue &told) {
  constexpr unsigned kStepBits = 24;
  constexpr int64_t kHashed = int64_t{1} << 48;
  if (told.special) return "?";
  if (told.value >= kHashed) return fmt::format("{:x}", told.value - kHashed);
  return fmt::format("{} by {}", told.value >> kStepBits, told.value & ((int64_t{1} << kStepBits) - 1));
}

/// What tells the calls of a function apart whose members no parent counts: " 7" of a tag, " mine" of a text.
std::string tags_text(const spec::Function &function, const trace::Row &row) {
  std::string text;
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    const trace::Field &field = row.fields[i];
    if (function.parameters[i].kind == spec::Kind::tag) {
      text += " " + number_text(trace::AtomReader(field.atoms).next());
    }
    if (function.parameters[i].kind == spec::Kind::string && field.is_bytes) {
      text += " " + valid_utf8(std::string(field.bytes.begin(), field.bytes.end()));
    }
  }
  return text;
}

/// What a chain of duplicates makes longer and longer is the same on all members, and so is a hash of it.
std::string shortened(const std::string &parent) {
  constexpr size_t kLongest = 60;
  if (parent.size() <= kLongest) return parent;
  return fmt::format("#{:016x}", hash64({reinterpret_cast<const uint8_t *>(parent.data()), parent.size()}));
}

std::string prefix_of(uint32_t job) { return job == 0 ? "" : fmt::format("{}:", job + 1); }

/// The field of a communicator that was made; nullptr: none was.
const trace::Field *made_in(const spec::Function &function, const trace::Row &row) {
  constexpr size_t kIdentity = 4;  // its number, counter, place, smallest rank
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    const trace::Field &field = row.fields[i];
    if (!spec::is_new_communicator(function.parameters[i]) || field.is_bytes) continue;
    if (field.atoms.size() >= kIdentity && !trace::is_special(field.atoms[0])) return &field;
  }
  return nullptr;
}

}  // namespace

bool CommunicatorNames::makes_some(uint32_t function) {
  static const std::vector<bool> all = [] {
    std::vector<bool> found;
    for (const spec::Function &each : spec::functions()) found.push_back(spec::makes_communicator(each));
    return found;
  }();
  return function < all.size() && all[function];
}

std::optional<CommunicatorNames::Numbers> CommunicatorNames::numbers(const trace::Row &row) {
  if (!makes_some(row.function)) return std::nullopt;
  const spec::Function &function = spec::functions()[row.function];
  const trace::Field *field = made_in(function, row);
  if (field == nullptr) return std::nullopt;
  Numbers result{trace::AtomReader(field->atoms).next().value, std::nullopt};
  const unsigned over = spec::counting_parent(function);
  if (over == 0 || over > row.fields.size()) return result;
  const AtomValue parent = trace::AtomReader(row.fields[over - 1].atoms).next();
  if (!parent.special) result.over = parent.value;
  return result;
}

CommunicatorNames::CommunicatorNames(const trace::Trace &trace, uint32_t rank) {
  const std::vector<trace::Job> &jobs = trace.run().jobs;
  if (jobs.empty()) return;
  const uint32_t job = trace.job_of(rank).number;
  *this = CommunicatorNames(job, jobs[job].parent);
}

CommunicatorNames::CommunicatorNames(uint32_t job, std::string parent)
    : job_(prefix_of(job)), parent_(std::move(parent)), several_jobs_(true) {}

std::string CommunicatorNames::world_of(uint32_t job) { return prefix_of(job) + "MPI_COMM_WORLD"; }

void CommunicatorNames::see_joint(const spec::Function &function, const trace::Row &row, const Known &parent,
                                  const std::string &counter, std::string *own) {
  // What is made of them all together has the counter alone, and so has all that has the same color.
  namespace id = spec::function_id;
  switch (function.id) {
    case id::Comm_split: {
      if (row.fields.size() < 2) return;
      made_.joint = true;
      *own = fmt::format("{} color {}", counter, number_text(trace::AtomReader(row.fields[1].atoms).next()));
      break;
    }
    case id::Comm_dup:
    case id::Comm_dup_with_info:
    case id::Comm_idup:
    case id::Comm_idup_with_info:
    case id::Intercomm_merge:
    case id::Cart_create:
    case id::Graph_create:
    case id::Dist_graph_create:
    case id::Dist_graph_create_adjacent:
      made_.joint = true;
      *own = counter;
      break;
    default:
      made_.has_strangers = true;
      *own = job_ + *own;
  }
  made_.second = parent.inter && function.id != id::Intercomm_merge && parent.second;
}

const NewCommunicator *CommunicatorNames::see(const trace::Row &row) {
  namespace id = spec::function_id;
  if (!makes_some(row.function)) return nullptr;
  const spec::Function &function = spec::functions()[row.function];
  const trace::Field *field = made_in(function, row);
  if (field == nullptr) return nullptr;
  trace::AtomReader atoms(field->atoms);
  const AtomValue number = atoms.next();
  const AtomValue counter = atoms.next();
  const AtomValue place = atoms.next();
  const AtomValue smallest = atoms.next();
  made_ = {};
  made_.function = row.function;
  if (!place.special) {
    made_.second = place.value < 0;
    made_.rank = made_.second ? -1 - place.value : place.value;
  }
  bool inter = false;
  std::string own = fmt::format("{}@{}", number_text(counter), number_text(smallest));
  const unsigned over = spec::counting_parent(function);
  if (over != 0 && over <= row.fields.size()) {
    const AtomValue parent = trace::AtomReader(row.fields[over - 1].atoms).next();
    if (parent.constant() == spec::constant_id::k_COMM_SELF) {
      made_.parent = "MPI_COMM_SELF";
      own = job_ + "self." + own;
    } else if (parent.constant() >= 0) {
      made_.parent = job_ + constant_name(parent.constant());
      own = job_ + own;
    } else if (const Known *found = parent.special ? nullptr : known(parent.value)) {
      made_.parent = found->name;
      if (found->joint) see_joint(function, row, *found, number_text(counter), &own);
      made_.has_strangers = made_.has_strangers || found->has_strangers;
      inter = found->inter && row.function != id::Intercomm_merge;
      const std::string &text = found->name;
      own = shortened(text.substr(text.find('(') + 1, text.rfind(')') - text.find('(') - 1)) + "." + own;
    } else {
      own = job_ + "?." + own;
    }
  } else {
    const std::string_view made_by = std::string_view(function.name).substr(4);  // without "MPI_"
    own = fmt::format("{}{}{}: {}", job_, made_by, tags_text(function, row), own);
    inter = row.function == id::Intercomm_create || row.function == id::Intercomm_create_from_groups;
    if (!atoms.at_end()) {
      const AtomValue members = atoms.next();
      made_.has_strangers = members.special;
      own += " of " + members_text(members);
    }
  }
  made_.name = "comm(" + own + ")";
  const bool spawns = spawns_jobs(row.function);
  if (several_jobs_ && (spawns || (row.function == id::Comm_get_parent && !parent_.empty()))) {
    made_.joint = inter = true;
    made_.has_strangers = false;
    made_.second = !spawns;
    if (!spawns) made_.name = parent_;
  }
  made_.inter = inter;
  const Known seen{made_.name, made_.joint, inter, made_.second, made_.has_strangers};
  Known &now = names_[number.value];
  if (now.name != seen.name) ++version_;
  now = seen;
  return &made_;
}

const CommunicatorNames::Known *CommunicatorNames::known(int64_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? nullptr : &found->second;
}

const std::string *CommunicatorNames::name(int64_t number) const {
  const Known *found = known(number);
  return found == nullptr ? nullptr : &found->name;
}

}  // namespace cairn::analyze
