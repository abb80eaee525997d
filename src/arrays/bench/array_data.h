// The data on which array codecs are measured: 16 real variables from Debian's packages (ferret-datasets,
// libncarg-data), and fields that are computed here, always the same: a smooth one with noise, heat, and the atoms of a
// liquid.
#pragma once

#include <string>
#include <vector>

#include "arrays/codec/array_codec.h"

namespace cairn::bench {

struct Array {
  std::string name;
  codec::Element element = codec::Element::f32;
  std::vector<uint64_t> shape;
  Bytes values;
  Bytes reference;  ///< one time step earlier, or empty

  [[nodiscard]] codec::Grid grid() const { return {element, shape, reference}; }
};

/// As stored, without scaling. What cannot be read is named in `missing`.
std::vector<Array> real_arrays(std::vector<std::string> *missing);

/// 32 x 256 x 512 cells, in Kelvin: 288 - 60 z - 40 sin^2 y, eight smooth waves, and normal noise.
Array smooth_field(double noise);

/// 96 x 128 x 128 cells, 200 explicit steps from 60 hot balls of radius 3 in 300 K.
Array heat(codec::Element element);

/// 131,072 Lennard-Jones atoms (density 0.8442, temperature 1.44, cutoff 2.5, step 0.005), melting from a face-centred
/// cubic lattice, at step 100: N x 3 coordinates, or 3 x N.
/// The reference is step `earlier`, if that is not 0.
Array atoms(bool interleaved, int earlier);

/// What repeats: bounds of cells of a row (N x 2), corners of the cells of a curvilinear grid (N x M x 4) and of
/// triangles (N x 3), the numbers of those corners, and time stamps that 20 values each share.
std::vector<Array> repeating_arrays();

}  // namespace cairn::bench
