// AtomReader: the atoms of a field one logical value at a time: an ordinary number (three atoms when it looks like a
// special, see trace/atom.h) or a special. Never reads past the end: then `failed()`.
#pragma once

#include <span>

#include "trace/values/atom.h"

namespace cairn::analyze {

class AtomReader {
 public:
  explicit AtomReader(std::span<const trace::Atom> atoms) : atoms_(atoms) {}

  struct Logical {
    bool special = false;
    int64_t value = 0;  ///< the number, or the special atom itself
    [[nodiscard]] bool is(trace::Atom atom) const { return special && value == atom; }
    /// Id of a named constant, or -1.
    [[nodiscard]] int constant() const {
      if (!special || trace::special_code(value) < trace::kFirstConstant) return -1;
      return trace::special_code(value) - trace::kFirstConstant;
    }
  };

  Logical next() {
    if (position_ >= atoms_.size()) {
      failed_ = true;
      return {};
    }
    const trace::Atom atom = atoms_[position_++];
    if (atom != trace::kRaw) return {trace::is_special(atom), atom};
    if (atoms_.size() - position_ < 2) {
      failed_ = true;
      position_ = atoms_.size();
      return {};
    }
    const auto high = static_cast<uint64_t>(atoms_[position_]) << 32;
    const auto low = static_cast<uint64_t>(atoms_[position_ + 1]) & 0xffffffffU;
    position_ += 2;
    return {false, static_cast<int64_t>(high | low)};
  }
  [[nodiscard]] bool at_end() const { return position_ >= atoms_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::span<const trace::Atom> atoms_;
  size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace cairn::analyze
