#include "check/signatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyze/sizes.h"
#include "analyze/type_parts.h"
#include "spec/ids.h"

namespace cairn::check {
namespace {

namespace ids = spec::constant_id;

std::string_view type_name(uint16_t type) { return spec::constants()[type].name; }

bool is_packed(const Signature &signature) {
  return std::any_of(signature.runs.begin(), signature.runs.end(),
                     [](const Run &run) { return run.type == ids::k_PACKED; });
}

/// Goes along a stretch, run by run.
class Along {
 public:
  explicit Along(const Stretch &stretch) : stretch_(stretch), left_(stretch.signature->runs[0].count) {}
  [[nodiscard]] bool at_end() const { return turn_ == stretch_.times; }
  [[nodiscard]] uint16_t type() const { return runs()[run_].type; }
  [[nodiscard]] uint64_t left() const { return left_; }
  void skip(uint64_t count) {
    left_ -= count;
    if (left_ != 0) return;
    if (++run_ == runs().size()) {
      run_ = 0;
      ++turn_;
    }
    left_ = runs()[run_].count;
  }

 private:
  [[nodiscard]] const std::vector<Run> &runs() const { return stretch_.signature->runs; }
  const Stretch &stretch_;
  size_t run_ = 0;
  uint64_t turn_ = 0;
  uint64_t left_;
};

Match by_length(const Stretch &first, const Stretch &second) {
  if (first.elements() == second.elements()) return Match::same;
  return first.elements() < second.elements() ? Match::shorter : Match::longer;
}

}  // namespace

std::string Stretch::text() const {
  if (elements() == 0) return "nothing";
  if (signature->runs.size() == 1) return fmt::format("{} {}", elements(), type_name(signature->runs[0].type));
  constexpr size_t kShown = 4;
  std::string out = times == 1 ? "{" : fmt::format("{} x {{", times);
  for (size_t i = 0; i < signature->runs.size() && i < kShown; ++i) {
    if (i != 0) out += ", ";
    out += fmt::format("{} {}", signature->runs[i].count, type_name(signature->runs[i].type));
  }
  if (signature->runs.size() > kShown) out += ", …";
  return out + '}';
}

Match match(const Stretch &first, const Stretch &second) {
  if (first.elements() == 0 || second.elements() == 0) return by_length(first, second);
  if (first.signature == second.signature) return by_length(first, second);
  if (is_packed(*first.signature) || is_packed(*second.signature)) return Match::unknown;
  constexpr size_t kMostSteps = size_t{1} << 16;
  Along a(first);
  Along b(second);
  for (size_t step = 0; step < kMostSteps; ++step) {
    if (a.at_end() || b.at_end()) return by_length(first, second);
    if (a.type() != b.type()) return Match::differs;
    const uint64_t both = std::min(a.left(), b.left());
    a.skip(both);
    b.skip(both);
  }
  return Match::unknown;
}

const Signature *Signatures::of(std::vector<Run> runs) {
  auto &entry = all_[runs];
  if (!entry) {
    entry = std::make_unique<Signature>();
    for (const Run &run : runs) {
      entry->elements += run.count;
      entry->bytes += run.count * static_cast<uint64_t>(analyze::predefined_size(type_name(run.type)).value_or(0));
    }
    entry->runs = std::move(runs);
  }
  return entry.get();
}

std::optional<Stretch> Signatures::predefined(int constant) {
  // Of two types together (MPI 4.1, 6.9.4).
  struct Pair {
    uint16_t type;
    uint16_t first;
    uint16_t second;
  };
  static constexpr Pair kPairs[] = {
      {ids::k_FLOAT_INT, ids::k_FLOAT, ids::k_INT},
      {ids::k_DOUBLE_INT, ids::k_DOUBLE, ids::k_INT},
      {ids::k_LONG_INT, ids::k_LONG, ids::k_INT},
      {ids::k_2INT, ids::k_INT, ids::k_INT},
      {ids::k_SHORT_INT, ids::k_SHORT, ids::k_INT},
      {ids::k_LONG_DOUBLE_INT, ids::k_LONG_DOUBLE, ids::k_INT},
      {ids::k_2REAL, ids::k_REAL, ids::k_REAL},
      {ids::k_2DOUBLE_PRECISION, ids::k_DOUBLE_PRECISION, ids::k_DOUBLE_PRECISION},
      {ids::k_2INTEGER, ids::k_INTEGER, ids::k_INTEGER},
      {ids::k_2COMPLEX, ids::k_COMPLEX, ids::k_COMPLEX},
  };
  const auto all = spec::constants();
  if (constant < 0 || static_cast<size_t>(constant) >= all.size()) return std::nullopt;
  auto type = static_cast<uint16_t>(constant);
  if (type == ids::k_LB || type == ids::k_UB) return Stretch{of({}), 0};
  for (const Pair &pair : kPairs) {
    if (pair.type != type) continue;
    if (pair.first == pair.second) return Stretch{of({{pair.first, 2}}), 1};
    return Stretch{of({{pair.first, 1}, {pair.second, 1}}), 1};
  }
  if (type == ids::k_LONG_LONG_INT) type = ids::k_LONG_LONG;
  if (type == ids::k_C_FLOAT_COMPLEX) type = ids::k_C_COMPLEX;
  if (analyze::predefined_size(type_name(type)).value_or(0) == 0) return std::nullopt;
  return Stretch{of({{type, 1}}), 1};
}

bool RankTypes::see(const trace::Row &row, const analyze::RowScope &scope) {
  if (!analyze::Sizes::is_creator(row.function)) return false;
  const analyze::RowAccess access(row, scope);
  const auto type = access.handle("newtype");
  if (!type || type->special != 0 || !access.succeeded()) return false;
  std::optional<Stretch> stretch = made(access);
  const auto [entry, fresh] = derived_.try_emplace(*type, stretch);
  const auto same = [](const std::optional<Stretch> &a, const std::optional<Stretch> &b) {
    return a.has_value() == b.has_value() && (!a || (a->signature == b->signature && a->times == b->times));
  };
  if (fresh || same(entry->second, stretch)) return false;
  entry->second = stretch;
  return true;
}

std::optional<Stretch> RankTypes::of(const analyze::HandleName &type) const {
  if (type.special != 0) return table_->predefined(type.constant());
  const auto found = derived_.find(type);
  return found == derived_.end() ? std::nullopt : found->second;
}

std::optional<Stretch> RankTypes::of(const analyze::HandleName &type, int64_t count) const {
  auto stretch = of(type);
  if (count < 0 || !stretch) return std::nullopt;
  uint64_t elements = 0;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(stretch->times, static_cast<uint64_t>(count), &stretch->times) ||
      __builtin_mul_overflow(stretch->times, stretch->signature->elements, &elements) ||
      __builtin_mul_overflow(stretch->times, stretch->signature->bytes, &bytes)) {
    return std::nullopt;
  }
  return stretch;
}

std::optional<Stretch> RankTypes::made(const analyze::RowAccess &row) const {
  const auto parts = analyze::type_parts(row);
  if (!parts) return std::nullopt;
  std::vector<Stretch> stretches;
  for (const analyze::TypePart &part : *parts) {
    const auto stretch = of(part.type, part.count);
    if (!stretch) return std::nullopt;
    if (stretch->elements() != 0) stretches.push_back(*stretch);
  }
  if (stretches.empty()) return Stretch{table_->of({}), 0};
  if (stretches.size() == 1) return stretches[0];
  std::vector<Run> runs;
  for (const Stretch &stretch : stretches) {
    const std::vector<Run> &of = stretch.signature->runs;
    const bool uniform = of.size() == 1;
    const uint64_t turns = uniform ? 1 : stretch.times;
    if (turns > Signatures::kMostRuns) return std::nullopt;
    for (uint64_t turn = 0; turn < turns; ++turn) {
      for (const Run &run : of) {
        const uint64_t count = uniform ? stretch.elements() : run.count;
        if (!runs.empty() && runs.back().type == run.type) {
          runs.back().count += count;
        } else {
          runs.push_back({run.type, count});
        }
      }
      if (runs.size() > Signatures::kMostRuns) return std::nullopt;
    }
  }
  return Stretch{table_->of(std::move(runs)), 1};
}

}  // namespace cairn::check
