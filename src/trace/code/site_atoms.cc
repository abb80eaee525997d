#include "trace/code/site_atoms.h"

#include <algorithm>

#include "trace/code/row_code.h"

namespace cairn::trace {
namespace {

/// Numbers of sites are small; what is larger is something else.
constexpr Atom kLargest = Atom{1} << 31;

}  // namespace

std::optional<Atom> SiteAtoms::told(Atom atom, uint32_t site) {
  if (is_special(atom)) return atom;
  if (atom > kLargest || atom < -kLargest) return std::nullopt;
  return atom - Atom{site};
}

Atom SiteAtoms::moved(Atom atom, int64_t by) {
  return is_special(atom) ? atom : static_cast<Atom>(static_cast<uint64_t>(atom) + static_cast<uint64_t>(by));
}

void SiteAtoms::compare(const ClassRow &a, const ClassRow &b) {
  uint32_t slot_a = 0;
  uint32_t slot_b = 0;
  for (uint32_t field = 0; field < a.heads.size(); ++field) {
    const FieldHead &ours = a.heads[field];
    const FieldHead &theirs = b.heads[field];
    const uint32_t count_a = ours.kind == FieldHead::atoms ? ours.count : 0;
    const uint32_t count_b = theirs.kind == FieldHead::atoms ? theirs.count : 0;
    if (ours == theirs) {
      for (uint32_t i = 0; i < count_a; ++i) {
        const Atom x = a.atoms[slot_a + i];
        const Atom y = b.atoms[slot_b + i];
        const bool stays = x == y;
        const bool moves = !is_special(x) && told(x, a.site) == told(y, b.site);
        if (stays == moves) continue;
        votes_[{a.function, static_cast<uint32_t>(a.heads.size()), field, i}] += moves ? 1 : -1;
      }
    }
    slot_a += count_a;
    slot_b += count_b;
  }
}

void SiteAtoms::add(const std::vector<RowPointer> &rows, const std::vector<uint32_t> &sites) {
  for (const RowPointer &row : rows) {
    RowPointer &last = last_[{site_in_trace(row->site, sites), row->function, row->heads.size()}];
    // Of columns the row has zeros, on both sides: they stay, and are never told so.
    if (last != nullptr && last->site != row->site) compare(*last, *row);
    last = row;
  }
}

bool SiteAtoms::empty() const {
  return std::none_of(votes_.begin(), votes_.end(), [](const auto &vote) { return vote.second > 0; });
}

bool SiteAtoms::moves(const Place &place) const {
  const auto found = votes_.find(place);
  return found != votes_.end() && found->second > 0;
}

}  // namespace cairn::trace
