// split_request: what a program writes in one go, cut into the splits that are compressed one by one.
//
// Bytes of one variable stay together (a request over several interleaved record variables is taken apart), a split is
// a box of whole outer rows where that is possible, and small pieces (single elements, say) share a split. Source:
// Bicer, Yin, Agrawal, III.B. Cost: linear in the request's regions and splits.
#pragma once

#include <functional>

#include "arrays/file/header.h"
#include "arrays/file/index.h"

namespace cairn::arrays {

struct Slice {
  uint64_t position = 0;  ///< in the request's data
  uint64_t bytes = 0;
};

struct Split {
  int variable = -1;  ///< -1: of none
  codec::Element element = codec::Element::u8;
  Regions regions;            ///< in file order
  std::vector<Slice> slices;  ///< where their bytes are, one after the other
  uint64_t bytes = 0;
};

/// `limit` gives the bytes of a split for a variable (or -1): at least 8.
std::vector<Split> split_request(std::span<const Region> request, const Layout &layout, const Header &header,
                                 const std::function<uint64_t(int)> &limit);

/// Whether all of the regions are whole elements of a variable.
bool whole_elements(std::span<const Region> regions, const Layout &layout, uint64_t record_size, size_t element);

/// The split's values, little-endian: as many bytes as it has.
void gather(const Split &split, const uint8_t *data, uint8_t *values);

}  // namespace cairn::arrays
