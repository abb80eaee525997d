// StreamReader: the values of one stream as one member of the class has them, in order (docs/format.md, "streams"). One
// thread at a time; borrows the variant. O(1) a value that was met before, else O(its size). The first `seek` or
// `counts_before` makes an index, in one visit of the variant; each then costs the depth of its grammar
// (grammar/prefix_sums.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "grammar/grammar.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

class StreamReader {
 public:
  /// `member`: of the variant's ranks. `stays`: one value stands for all.
  StreamReader(const StreamVariant &variant, uint32_t field, uint64_t member, bool stays);
  StreamReader(StreamReader &&) noexcept;
  StreamReader &operator=(StreamReader &&) noexcept;
  ~StreamReader();
  /// Moves to the next value and adds what tells it from others to `key`.
  void next(ByteWriter *key);
  /// Moves to the next value, which is a count.
  uint64_t next_count();
  /// Value `place`, counted from 0, is the next one.
  void seek(uint64_t place);
  /// The sum of the values before `place`, which are counts; cut where it exceeds 64 bits.
  uint64_t counts_before(uint64_t place);
  [[nodiscard]] uint32_t field() const { return field_; }
  /// The value that `next` moved to.
  [[nodiscard]] const Field &value() const { return *current_; }

 private:
  struct Index;
  void apply(const Field &difference);
  const Field &value_of(grammar::Symbol symbol);
  Index &index();

  const StreamVariant *variant_;
  uint32_t field_;
  uint64_t member_;
  bool stays_;
  grammar::Walker walker_;
  std::vector<std::optional<Field>> values_;
  Field sum_;
  std::vector<uint64_t> last_;
  const Field *current_ = nullptr;
  std::unique_ptr<Index> index_;
};

}  // namespace cairn::trace
