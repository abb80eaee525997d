// RowKind: what a row of a class stands for, each time that it stands in the sequence.
//
// *Single call*: one call of the program, as nearly all rows do.
//
// *Counted* (poll_fold.h): calls that found nothing, one after the other. The row has one more field than its call,
// which has always moved: how often the call was made. With a cycle above 1, this row and the next cycle - 1, which are
// counted alike, were made in turn, that many times.
//
// *Draining* (drain_fold.h): calls that take requests out of one array, one after the other: as many as the last field
// says, which has always moved. So have the fields from first_output on, whose streams have a value for each call; one
// value alone stands for all of them. Of a poll, there is one more such stream, in the field before the last: how often
// it found nothing before each call. The array is as the first call finds it.
//
// *Optional* (branch_fold.h): a call that the program makes where it goes one way, and leaves out where it goes
// another. Like a counted row it has one more field, which has always moved: how often it was made, 0 or 1 times.
//
// Plain values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

namespace cairn::trace {

struct SingleCall {
  auto operator<=>(const SingleCall &) const = default;
};

struct Counted {
  static constexpr uint32_t kLongestCycle = 16;
  uint32_t cycle = 1;  ///< 1 to kLongestCycle
  auto operator<=>(const Counted &) const = default;
};

struct Draining {
  static constexpr uint32_t kMostFields = 255;
  uint32_t first_output = 0;  ///< 1 to kMostFields
  uint32_t answer = 0;        ///< of a poll, the field that says whether it found something; else 0
  [[nodiscard]] bool polls() const { return answer != 0; }
  auto operator<=>(const Draining &) const = default;
};

struct Optional {
  auto operator<=>(const Optional &) const = default;
};

using RowKind = std::variant<SingleCall, Counted, Draining, Optional>;

inline bool is_call(const RowKind &kind) { return std::holds_alternative<SingleCall>(kind); }

/// How many fields a row of this kind has beside the call's.
inline size_t fields_added(const RowKind &kind) {
  const auto *draining = std::get_if<Draining>(&kind);
  return is_call(kind) ? 0 : draining != nullptr && draining->polls() ? 2 : 1;
}

/// A row of this kind may have so many fields.
inline bool may_have(const RowKind &kind, size_t fields) {
  if (const auto *counted = std::get_if<Counted>(&kind)) {
    return counted->cycle != 0 && counted->cycle <= Counted::kLongestCycle && fields != 0;
  }
  if (std::holds_alternative<Optional>(kind)) return fields != 0;
  const auto *draining = std::get_if<Draining>(&kind);
  if (draining == nullptr) return true;
  const auto [first, answer] = *draining;
  const size_t added = fields_added(kind);
  return first != 0 && first <= Draining::kMostFields && first + added < fields &&
         (answer == 0 || (answer >= first && answer + added < fields));
}

/// The kind as one number: for hashes, and where rows travel. `kind_of_number` is the way back; nothing for numbers
/// that no kind has.
constexpr unsigned kKindBits = 2;
constexpr unsigned kFieldBits = 8;
inline uint32_t number_of(const RowKind &kind) {
  uint32_t more = 0;
  if (const auto *counted = std::get_if<Counted>(&kind)) more = counted->cycle;
  if (const auto *draining = std::get_if<Draining>(&kind)) {
    more = draining->first_output << kFieldBits | draining->answer;
  }
  return more << kKindBits | static_cast<uint32_t>(kind.index());
}
inline std::optional<RowKind> kind_of_number(uint64_t number) {
  const uint64_t more = number >> kKindBits;
  if (more >> (2 * kFieldBits) != 0) return std::nullopt;
  const auto small = static_cast<uint32_t>(more);
  switch (number & ((1U << kKindBits) - 1)) {
    case 0:
      return more == 0 ? std::optional<RowKind>(SingleCall()) : std::nullopt;
    case 1:
      return Counted{small};
    case 2:
      return Draining{small >> kFieldBits, small & ((1U << kFieldBits) - 1)};
    default:
      return more == 0 ? std::optional<RowKind>(Optional()) : std::nullopt;
  }
}

}  // namespace cairn::trace
