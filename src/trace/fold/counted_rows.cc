#include "trace/fold/counted_rows.h"

#include <cassert>
#include <memory>
#include <utility>

#include "base/hash.h"

namespace cairn::trace {

CountedRows::CountedRows(const std::vector<Bytes> &packed, const std::vector<RowPointer> &rows)
    : packed_(packed), rows_(rows), old_(rows.size()) {
  for (uint32_t i = 0; i < packed.size(); ++i) known_.number(hash64(packed[i]), [](uint32_t) { return false; });
}

std::optional<uint32_t> CountedRows::base(const Bytes &packed) {
  ByteReader in(packed);
  const uint32_t number = known_.number(hash64(packed), [&](uint32_t other) {
    return packed == (other < packed_.size() ? packed_[other] : added_[other - packed_.size()].packed);
  });
  if (number < packed_.size()) return number;
  if (number == packed_.size() + added_.size()) {
    added_.push_back({packed, std::nullopt});
    std::vector<Atom> scratch;
    if (Result<ClassRow> row = ClassRow::unpacked(in, &scratch)) {
      added_.back().row = static_cast<uint32_t>(rows_.size());
      rows_.push_back(std::make_shared<const ClassRow>(*std::move(row)));
    }
  }
  return added_[number - packed_.size()].row;
}

uint32_t CountedRows::made(uint32_t row, const RowKind &kind, uint64_t times) {
  assert(is_call(rows_[row]->kind));
  const auto [entry, added] = made_.try_emplace(std::tuple(row, kind, times), static_cast<uint32_t>(rows_.size()));
  if (!added) return entry->second;
  auto made = std::make_shared<ClassRow>(*rows_[row]);
  made->kind = kind;
  made->heads.push_back({FieldHead::atoms, 1});
  made->atoms.push_back(static_cast<Atom>(times));
  rows_.push_back(std::move(made));
  counts_.emplace(entry->second, Counts{row, kind});
  if (row < old_) became_[row].push_back(entry->second);
  return entry->second;
}

uint32_t CountedRows::counted(uint32_t row, uint32_t cycle, uint64_t times) { return made(row, Counted{cycle}, times); }

uint32_t CountedRows::present(uint32_t row) { return is_call(rows_[row]->kind) ? made(row, Optional(), 1) : row; }

uint32_t CountedRows::absent(uint32_t row) {
  const auto known = counts_.find(row);
  return known == counts_.end() ? made(row, Optional(), 0) : made(known->second.row, known->second.kind, 0);
}

}  // namespace cairn::trace
