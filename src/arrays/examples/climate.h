// The temperatures of a climate, in a file that all ranks have open: for reading, and for writing.
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

/// Over (time, cell, layer), time unlimited.
struct ClimateOutput {
  int id = -1;
  int time = -1;
  int height = -1;
  int latitude = -1;
  int longitude = -1;
  int temperature = -1;

  ClimateOutput(const std::string &path, MPI_Offset, MPI_Offset cells, MPI_Offset layers, int) {
    nc(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &id), path.c_str());
    std::array<int, 3> dims{};
    nc(ncmpi_def_dim(id, "time", NC_UNLIMITED, dims.data()), "time");
    nc(ncmpi_def_dim(id, "cell", cells, &dims[1]), "cell");
    nc(ncmpi_def_dim(id, "layer", layers, &dims[2]), "layer");
    nc(ncmpi_def_var(id, "time", NC_DOUBLE, 1, dims.data(), &time), "time");
    nc(ncmpi_def_var(id, "height", NC_FLOAT, 1, &dims[2], &height), "height");
    nc(ncmpi_def_var(id, "latitude", NC_FLOAT, 1, &dims[1], &latitude), "latitude");
    nc(ncmpi_def_var(id, "longitude", NC_FLOAT, 1, &dims[1], &longitude), "longitude");
    nc(ncmpi_def_var(id, "temperature", NC_FLOAT, 3, dims.data(), &temperature), "temperature");
    nc(ncmpi_put_att_text(id, time, "units", 5, "hours"), "units");
    nc(ncmpi_put_att_text(id, height, "units", 2, "km"), "units");
    nc(ncmpi_put_att_text(id, latitude, "units", 13, "degrees_north"), "units");
    nc(ncmpi_put_att_text(id, longitude, "units", 12, "degrees_east"), "units");
    nc(ncmpi_put_att_text(id, temperature, "units", 1, "K"), "units");
    nc(ncmpi_enddef(id), "end of definitions");
  }

  /// Collective, once: where the cells of this rank are; `heights` of all layers, from the rank with the first cell.
  void places(const Share &mine, const std::vector<float> &latitudes, const std::vector<float> &longitudes,
              const std::vector<float> &heights) {
    nc(ncmpi_put_vara_float_all(id, latitude, &mine.first, &mine.count, latitudes.data()), "latitude");
    nc(ncmpi_put_vara_float_all(id, longitude, &mine.first, &mine.count, longitudes.data()), "longitude");
    const Share all{0, mine.first == 0 ? static_cast<MPI_Offset>(heights.size()) : 0};
    nc(ncmpi_put_vara_float_all(id, height, &all.first, &all.count, heights.data()), "height");
  }

  /// Collective: all layers of the cells of this rank at one time.
  void step(MPI_Offset t, const Share &mine, const std::vector<float> &temperatures) {
    const auto hours = static_cast<double>(t);
    const MPI_Offset one = mine.first == 0 ? 1 : 0;
    nc(ncmpi_put_vara_double_all(id, time, &t, &one, &hours), "time");
    const MPI_Offset deep = mine.count == 0 ? 0 : static_cast<MPI_Offset>(temperatures.size()) / mine.count;
    const std::array<MPI_Offset, 3> start = {t, mine.first, 0};
    const std::array<MPI_Offset, 3> count = {1, mine.count, deep};
    nc(ncmpi_put_vara_float_all(id, temperature, start.data(), count.data(), temperatures.data()), "temperature");
  }

  void close() { nc(ncmpi_close(id), "close"); }
};
