// The temperatures of a climate file, opened for reading by all ranks.
#pragma once

#include <array>

#include "example.h"

struct Climate {
  int file = -1;
  int temperature = -1;
  MPI_Offset times = 0;
  MPI_Offset cells = 0;
  MPI_Offset layers = 0;

  explicit Climate(const std::string &path) {
    nc(ncmpi_open(MPI_COMM_WORLD, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file), path.c_str());
    nc(ncmpi_inq_varid(file, "temperature", &temperature), "temperature");
    int rank = 0;
    nc(ncmpi_inq_varndims(file, temperature, &rank), "dimensions");
    if (rank != 3) fail(path + ": temperature: not over (time, cell, layer)");
    std::array<int, 3> dims{};
    nc(ncmpi_inq_vardimid(file, temperature, dims.data()), "dimensions");
    nc(ncmpi_inq_dimlen(file, dims[0], &times), "times");
    nc(ncmpi_inq_dimlen(file, dims[1], &cells), "cells");
    nc(ncmpi_inq_dimlen(file, dims[2], &layers), "layers");
    if (times == 0 || cells == 0 || layers == 0) fail(path + ": temperature: no values");
  }

  /// Collective: all layers of some cells at some times.
  void read(const Share &when, const Share &where, std::vector<float> &values) const {
    values.resize(static_cast<size_t>(when.count * where.count * layers));
    const std::array<MPI_Offset, 3> start = {when.first, where.first, 0};
    const std::array<MPI_Offset, 3> count = {when.count, where.count, layers};
    nc(ncmpi_get_vara_float_all(file, temperature, start.data(), count.data(), values.data()), "read");
  }

  void close() const { nc(ncmpi_close(file), "close"); }
};
