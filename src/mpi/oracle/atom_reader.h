// AtomReader: the atoms of one field, value by value. Reading past the end gives `missing`, never a crash.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/spec.h"
#include "trace/values/atom.h"

namespace cairn::oracle {

/// One value: an ordinary one, or a special by its code.
struct AtomValue {
  bool missing = false;
  bool special = false;
  uint16_t code = 0;
  int64_t value = 0;

  [[nodiscard]] bool is(trace::Atom wanted) const { return special && trace::special(code) == wanted; }
  /// The id of the named constant, or -1.
  [[nodiscard]] int constant() const {
    return special && code >= trace::kFirstConstant ? code - trace::kFirstConstant : -1;
  }
};

inline std::string to_text(const AtomValue &value) {
  if (value.missing) return "nothing";
  if (!value.special) return std::to_string(value.value);
  const int id = value.constant();
  if (id >= 0 && static_cast<size_t>(id) < spec::constants().size()) {
    return spec::constants()[static_cast<size_t>(id)].name;
  }
  return "special " + std::to_string(value.code);
}

class AtomReader {
 public:
  explicit AtomReader(const std::vector<trace::Atom> &atoms) : atoms_(atoms) {}

  AtomValue next() {
    AtomValue value;
    if (at_ >= atoms_.size()) {
      value.missing = true;
      return value;
    }
    const trace::Atom atom = atoms_[at_++];
    if (!trace::is_special(atom)) {
      value.value = atom;
    } else if (atom == trace::kRaw && atoms_.size() - at_ >= 2) {
      value.value = static_cast<int64_t>((static_cast<uint64_t>(atoms_[at_]) << 32) |
                                         (static_cast<uint64_t>(atoms_[at_ + 1]) & 0xffffffff));
      at_ += 2;
    } else {
      value.special = true;
      value.code = trace::special_code(atom);
    }
    return value;
  }
  [[nodiscard]] bool at_end() const { return at_ >= atoms_.size(); }

 private:
  const std::vector<trace::Atom> &atoms_;
  size_t at_ = 0;
};

}  // namespace cairn::oracle
