// SettledTerms: the packed front of a sequence that does not repeat.
//
// A node has 32 bytes, and its digram five to seven more; a sequence of signatures that never come again would fill the
// arena with them and find nothing. So what is further back than the Builder's window, if it compressed poorly, leaves
// the rules for this list: some bytes a term, in order, out of reach for later repetitions. Rules that it names are
// pinned. No call is lost by it, only what calls so far apart might have had in common.
//
// Owned by a Builder, memory from its arena, in blocks. Terms only come in at the end; Extraction reads them. A
// term is a varint: (what << 2 | has a count << 1 | is a rule), and varint count - 2 if it has one; "what" is a rule's
// Ref, or the zigzag-mapped difference from the symbol after the last one: a symbol never seen before takes one byte.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "base/bytes.h"
#include "grammar/node.h"

namespace cairn::grammar::detail {

struct SettledBlock {
  static constexpr uint32_t kSize = 4096;
  SettledBlock *next;
  uint32_t used;
  uint8_t bytes[kSize - sizeof(void *) - sizeof(uint32_t)];
};
static_assert(sizeof(SettledBlock) == SettledBlock::kSize);

class SettledTerms {
 public:
  [[nodiscard]] const SettledBlock *first() const { return first_; }

  /// Puts a term after the last one, where it counts once `take_in` is called. False without memory.
  bool add(Arena &arena, bool is_rule, uint32_t id, uint64_t count) {
    if (last_ == nullptr || sizeof(last_->bytes) - last_->used < 2 * kMaxVarint) {
      auto *block = arena.create<SettledBlock>();
      if (block == nullptr) return false;
      (last_ == nullptr ? first_ : last_->next) = block;
      last_ = block;
    }
    const uint64_t what = is_rule ? id : zigzag(int64_t{id} - int64_t{expected_});
    if (!is_rule) expected_ = id + 1;
    uint8_t *end = put_varint(last_->bytes + last_->used, what << 2 | (count > 1 ? 2 : 0) | (is_rule ? 1 : 0));
    if (count > 1) end = put_varint(end, count - 2);
    added_ = static_cast<uint32_t>(end - last_->bytes);
    return true;
  }
  void take_in() { last_->used = added_; }
  /// Gives all blocks back.
  void release(Arena &arena) {
    while (first_ != nullptr) {
      SettledBlock *next = first_->next;
      arena.release(first_, sizeof *first_);
      first_ = next;
    }
    last_ = nullptr;
  }
  /// The word that take_in() changes.
  [[nodiscard]] const void *last_word() const { return &last_->used; }

 private:
  SettledBlock *first_ = nullptr;
  SettledBlock *last_ = nullptr;
  uint32_t expected_ = 0;
  uint32_t added_ = 0;
};

}  // namespace cairn::grammar::detail
