// AtomReader: the atoms of a field, value by value: an ordinary number (three atoms when it looks like a special, see
// atom.h) or a special. Reading past the end gives `missing`, never a crash.
#pragma once

#include <span>

#include "trace/values/atom.h"

namespace cairn::trace {

struct AtomValue {
  bool missing = false;
  bool special = false;
  int64_t value = 0;  ///< the number, or the special atom itself
  [[nodiscard]] bool is(Atom atom) const { return special && value == atom; }
  /// Id of a named constant, or -1.
  [[nodiscard]] int constant() const {
    return special && special_code(value) >= kFirstConstant ? special_code(value) - kFirstConstant : -1;
  }
};

class AtomReader {
 public:
  explicit AtomReader(std::span<const Atom> atoms) : atoms_(atoms) {}

  AtomValue next() {
    if (at_ >= atoms_.size()) return missing();
    const Atom atom = atoms_[at_++];
    if (atom != kRaw) return {false, is_special(atom), atom};
    if (atoms_.size() - at_ < 2) return missing();
    const auto high = static_cast<uint64_t>(atoms_[at_]) << 32;
    const auto low = static_cast<uint64_t>(atoms_[at_ + 1]) & 0xffffffffU;
    at_ += 2;
    return {false, false, static_cast<int64_t>(high | low)};
  }
  [[nodiscard]] bool at_end() const { return at_ >= atoms_.size(); }
  /// A value was missing.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  AtomValue missing() {
    failed_ = true;
    at_ = atoms_.size();
    return {true, false, 0};
  }

  std::span<const Atom> atoms_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace cairn::trace
