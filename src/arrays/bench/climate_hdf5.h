// What src/arrays/examples/climate.h has, through parallel HDF5: with it the same examples are the baseline for the
// layer over PnetCDF. Chunks are what a rank writes at a time, through the filter of the environment variable
// HDF5_FILTER.
#pragma once

#include <array>

#include "arrays/bench/hdf5_file.h"

struct Climate {
  MPI_Offset times = 0;
  MPI_Offset cells = 0;
  MPI_Offset layers = 0;

  explicit Climate(const std::string &path) : file(path, false) {
    file.open("temperature");
    const std::vector<hsize_t> shape = file.shape();
    if (shape.size() != 3) fail(path + ": temperature: not over (time, cell, layer)");
    times = static_cast<MPI_Offset>(shape[0]);
    cells = static_cast<MPI_Offset>(shape[1]);
    layers = static_cast<MPI_Offset>(shape[2]);
  }

  void read(const Share &when, const Share &where, std::vector<float> &values) const {
    values.resize(static_cast<size_t>(when.count * where.count * layers));
    file.read({static_cast<hsize_t>(when.first), static_cast<hsize_t>(where.first), 0},
              {static_cast<hsize_t>(when.count), static_cast<hsize_t>(where.count), static_cast<hsize_t>(layers)},
              values.data());
  }

  void close() const { file.close(); }

  hdf5::File file;
};

/// The temperatures alone: the places and times beside them are a hundredth of it.
struct ClimateOutput {
  ClimateOutput(const std::string &path, MPI_Offset times, MPI_Offset cells, MPI_Offset layers, int ranks)
      : file(path, true), deep(static_cast<hsize_t>(layers)) {
    const char *filter = std::getenv("HDF5_FILTER");
    file.define("temperature", {static_cast<hsize_t>(times), static_cast<hsize_t>(cells), deep},
                {1, static_cast<hsize_t>(share_of(cells, 0, ranks).count), deep},
                filter == nullptr ? "bitshuffle" : filter);
  }
  void places(const Share &, const std::vector<float> &, const std::vector<float> &, const std::vector<float> &) {}
  void step(MPI_Offset t, const Share &mine, const std::vector<float> &temperatures) {
    file.write({static_cast<hsize_t>(t), static_cast<hsize_t>(mine.first), 0},
               {1, static_cast<hsize_t>(mine.count), deep}, temperatures.data());
  }
  void close() { file.close(); }

  hdf5::File file;
  hsize_t deep;
};
