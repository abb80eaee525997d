#include "analyze/communicator_names.h"

#include <fmt/format.h>

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

const NewCommunicator *CommunicatorNames::see(const trace::Row &row) {
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
  std::string own = fmt::format("{}@{}", number_text(counter), number_text(smallest));
  const unsigned over = spec::counting_parent(function);
  if (over != 0 && over <= row.fields.size()) {
    const AtomValue parent = trace::AtomReader(row.fields[over - 1].atoms).next();
    if (parent.constant() == spec::constant_id::k_COMM_SELF) {
      made_.parent = "MPI_COMM_SELF";
      own = "self." + own;
    } else if (parent.constant() >= 0) {
      made_.parent = constant_name(parent.constant());
    } else if (const std::string *known = parent.special ? nullptr : name(parent.value)) {
      made_.parent = *known;
      own = shortened(known->substr(known->find('(') + 1, known->rfind(')') - known->find('(') - 1)) + "." + own;
    } else {
      own = "?." + own;
    }
  } else {
    const std::string_view made_by = std::string_view(function.name).substr(4);  // without "MPI_"
    own = fmt::format("{}{}: {}", made_by, tags_text(function, row), own);
    if (!atoms.at_end()) own += " of " + members_text(atoms.next());
  }
  made_.name = "comm(" + own + ")";
  std::string &known = names_[number.value];
  if (known != made_.name) {
    known = made_.name;
    ++version_;
  }
  return &made_;
}

const std::string *CommunicatorNames::name(int64_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? nullptr : &found->second;
}

}  // namespace cairn::analyze
