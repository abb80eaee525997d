#include "arrays/file/split.h"

#include <algorithm>
#include <map>

#include "arrays/file/block_code.h"
#include "arrays/file/byte_order.h"

namespace cairn::arrays {
namespace {

struct Piece {
  Region region;
  uint64_t position;
};

/// Pieces of the request, by variable: each wholly in one.
std::map<int, std::vector<Piece>> by_variable(std::span<const Region> request, const Layout &layout) {
  std::map<int, std::vector<Piece>> pieces;
  uint64_t position = 0;
  for (const Region &region : request) {
    if (const std::optional<int> owner = layout.owner(region)) {
      pieces[*owner].push_back({region, position});
    } else {
      for (RunCursor runs(region); !runs.done(); runs.next()) {
        const Run &run = runs.run();
        for (uint64_t at = run.offset; at < run.end();) {
          const Layout::Place place = layout.find(at);
          Region part;
          part.offset = at;
          part.run = std::min(run.end(), place.end) - at;
          pieces[place.variable].push_back({part, position + runs.position() + (at - run.offset)});
          at += part.run;
        }
      }
    }
    position += region.bytes();
  }
  return pieces;
}

/// Values of several bytes where all pieces hold whole ones.
codec::Element element_for(const std::vector<Piece> &pieces, int variable, const Layout &layout, const Header &header) {
  if (variable < 0) return codec::Element::u8;
  const codec::Element element = element_of(header.variables[static_cast<size_t>(variable)].type);
  const bool whole = std::ranges::all_of(pieces, [&](const Piece &piece) {
    return whole_elements({&piece.region, 1}, layout, header.record_size, codec::size_of(element));
  });
  return whole ? element : codec::Element::u8;
}

/// How much of a piece goes into a split that has `room` left: whole iterations of the outermost level that fit, if
/// any.
uint64_t share(const Region &region, uint64_t from, uint64_t room, size_t element) {
  const uint64_t left = region.bytes() - from;
  if (left <= room) return left;
  uint64_t each = region.bytes();
  for (int i = 0; i < region.depth; ++i) {
    each /= region.levels[static_cast<size_t>(i)].count;
    // Only from the beginning of an iteration: what is taken is one box then.
    if (from % each == 0 && room >= each) return room / each * each;
  }
  return room / element * element;
}

class Cutter {
 public:
  Cutter(int variable, codec::Element element, uint64_t limit, std::vector<Split> *out)
      : variable_(variable), element_(element), limit_(limit), out_(out) {}

  void add(const Piece &piece) {
    const uint64_t all = piece.region.bytes();
    for (uint64_t from = 0; from < all;) {
      uint64_t taken = share(piece.region, from, limit_ - split_.bytes, codec::size_of(element_));
      if (taken < all - from && split_.bytes > 0) {
        // It does not fit beside what is there already: a split of its own.
        close();
        taken = share(piece.region, from, limit_, codec::size_of(element_));
      }
      cut(piece.region, from, taken, &split_.regions);
      split_.slices.push_back({piece.position + from, taken});
      split_.bytes += taken;
      from += taken;
      if (split_.bytes >= limit_) close();
    }
  }

  void close() {
    if (split_.bytes == 0) return;
    split_.variable = variable_;
    split_.element = element_;
    split_.regions = fold(split_.regions);
    out_->push_back(std::move(split_));
    split_ = {};
  }

 private:
  int variable_;
  codec::Element element_;
  uint64_t limit_;
  std::vector<Split> *out_;
  Split split_;
};

}  // namespace

bool whole_elements(std::span<const Region> regions, const Layout &layout, uint64_t record_size, size_t element) {
  return std::ranges::all_of(regions, [&](const Region &region) {
    // Records need not be a whole number of elements apart: the values of each begin anew.
    const auto steps_whole = [&](const Level &level) {
      return level.stride % element == 0 || (record_size != 0 && level.stride % record_size == 0);
    };
    return (region.offset - layout.find(region.offset).begin) % element == 0 && region.run % element == 0 &&
           std::all_of(region.levels.begin(), region.levels.begin() + region.depth, steps_whole);
  });
}

std::vector<Split> split_request(std::span<const Region> request, const Layout &layout, const Header &header,
                                 const std::function<uint64_t(int)> &limit) {
  std::vector<Split> splits;
  for (const auto &[variable, pieces] : by_variable(request, layout)) {
    const codec::Element element = element_for(pieces, variable, layout, header);
    Cutter cutter(variable, element, limit(variable), &splits);
    for (const Piece &piece : pieces) cutter.add(piece);
    cutter.close();
  }
  return splits;
}

void gather(const Split &split, const uint8_t *data, uint8_t *values) {
  uint64_t at = 0;
  for (const Slice &slice : split.slices) {
    swap_bytes(data + slice.position, values + at, slice.bytes, codec::size_of(split.element));
    at += slice.bytes;
  }
}

}  // namespace cairn::arrays
