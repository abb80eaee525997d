#include "trace/read/corrections.h"

#include <algorithm>

namespace cairn::trace {
namespace {

__extension__ using Wide = __int128;  // a product of two times

/// The first one later than that.
auto later(const std::vector<Knot> &knots, uint64_t at_ns) {
  return std::upper_bound(knots.begin(), knots.end(), at_ns,
                          [](uint64_t at, const Knot &knot) { return at < knot.at_ns; });
}

}  // namespace

uint64_t Knots::of(uint64_t at_ns) const {
  const auto next = later(knots_, at_ns);
  if (next == knots_.begin()) return 0;
  const Knot &last = *(next - 1);
  if (next == knots_.end()) return last.shift_ns;
  const Wide rise = Wide{next->shift_ns} - Wide{last.shift_ns};
  const Wide since = Wide{at_ns} - Wide{last.at_ns};
  const Wide length = Wide{next->at_ns} - Wide{last.at_ns};
  return static_cast<uint64_t>(Wide{last.shift_ns} + rise * since / length);
}

bool Knots::add(Knot next) {
  if (next.at_ns > kMost || next.shift_ns > kMost) return false;
  if (!knots_.empty() && next.at_ns <= knots_.back().at_ns) return false;
  knots_.push_back(next);
  return true;
}

void Knots::cut(uint64_t at_ns) {
  while (!knots_.empty() && knots_.back().at_ns >= at_ns) knots_.pop_back();
}

Bytes Corrections::write() const {
  ByteWriter out;
  for (const uint64_t count : {arrivals, reversed, doubtless, moved, left, largest_ns}) out.varint(count);
  for (const RankShift &rank : ranks) {
    for (const Knots *knots : {&rank.after, &rank.before}) {
      out.varint(knots->all().size());
      Knot last;
      for (const Knot &knot : knots->all()) {
        out.varint(knot.at_ns - last.at_ns);
        out.signed_varint(static_cast<int64_t>(knot.shift_ns - last.shift_ns));
        last = knot;
      }
    }
  }
  return out.take();
}

Result<Corrections> Corrections::parse(const SectionView &section, uint64_t ranks, Allowance *allowance) {
  ByteReader in(section.bytes, allowance);
  Corrections read;
  for (uint64_t *count : {&read.arrivals, &read.reversed, &read.doubtless, &read.moved, &read.left, &read.largest_ns}) {
    *count = in.varint();
  }
  for (uint64_t rank = 0; rank < ranks && !in.failed(); ++rank) {
    RankShift shift;
    if (!in.take(1, sizeof shift)) break;
    for (Knots *knots : {&shift.after, &shift.before}) {
      const size_t count = in.count(2);
      if (!in.take(count, 2 * sizeof(Knot))) break;
      Knot knot;
      for (size_t i = 0; i < count; ++i) {
        const uint64_t step = in.varint();
        const int64_t rise = in.signed_varint();
        knot.at_ns = step > Knots::kMost ? UINT64_MAX : knot.at_ns + step;
        knot.shift_ns += static_cast<uint64_t>(rise);
        if (!knots->add(knot))
          return tl::unexpected(section_error(section, in.position(), "has knots out of order or out of bounds"));
      }
    }
    read.ranks.push_back(std::move(shift));
  }
  if (in.failed()) return tl::unexpected(section_error(section, in.position(), "ends too early"));
  if (!in.at_end()) return tl::unexpected(section_error(section, in.position(), "goes on after its end"));
  return read;
}

}  // namespace cairn::trace
