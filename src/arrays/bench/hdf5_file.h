// Parallel HDF5 as the benchmarks use it: collective calls, and chunks that pass through a filter. bitshuffle + zstd is
// c-blosc's, registered in this process.
#pragma once

#include <blosc.h>
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "arrays/examples/example.h"

namespace hdf5 {

constexpr H5Z_filter_t kFilter = 300;  // of the range for tests
constexpr int kLevel = 5;              // blosc's default

template <class T>
T good(T result, const char *what) {
  if (result < 0) fail(std::string(what) + ": HDF5 says no");
  return result;
}

inline size_t filter(unsigned flags, size_t, const unsigned *, size_t bytes, size_t *room, void **buffer) {
  const bool unpack = (flags & H5Z_FLAG_REVERSE) != 0;
  size_t wanted = bytes + BLOSC_MAX_OVERHEAD;
  if (unpack) {
    size_t packed = 0;
    size_t block = 0;
    blosc_cbuffer_sizes(*buffer, &wanted, &packed, &block);
  }
  void *out = std::malloc(wanted);
  if (out == nullptr) return 0;
  const int got = unpack ? blosc_decompress_ctx(*buffer, out, wanted, 1)
                         : blosc_compress_ctx(kLevel, BLOSC_BITSHUFFLE, sizeof(float), bytes, *buffer, out, wanted,
                                              BLOSC_ZSTD_COMPNAME, 0, 1);
  if (got <= 0) {
    std::free(out);
    return 0;
  }
  std::free(*buffer);
  *buffer = out;
  *room = wanted;
  return static_cast<size_t>(got);
}

/// A file that all ranks have open.
class File {
 public:
  File(const std::string &path, bool create) {
    static const H5Z_class2_t kClass = {H5Z_CLASS_T_VERS, kFilter, 1, 1, "bitshuffle+zstd", nullptr, nullptr, filter};
    good(H5Zregister(&kClass), "filter");
    const hid_t access = good(H5Pcreate(H5P_FILE_ACCESS), "access");
    good(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "MPI-IO");
    file_ = good(create ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)
                        : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access),
                 path.c_str());
    H5Pclose(access);
    transfer_ = good(H5Pcreate(H5P_DATASET_XFER), "transfer");
    good(H5Pset_dxpl_mpio(transfer_, H5FD_MPIO_COLLECTIVE), "collective");
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  /// Floats, contiguous with the filter `none`, else in chunks; collective writes, which filters in parallel need.
  void define(const char *name, const std::vector<hsize_t> &shape, const std::vector<hsize_t> &chunk,
              const std::string &words) {
    const hid_t properties = good(H5Pcreate(H5P_DATASET_CREATE), "properties");
    good(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), "fill time");
    good(H5Pset_alloc_time(properties, words == "none" ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_INCR), "allocation");
    if (words != "none") good(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()), "chunk");
    if (words == "gzip") {
      good(H5Pset_shuffle(properties), "shuffle");
      good(H5Pset_deflate(properties, 4), "deflate");
    } else if (words == "bitshuffle") {
      good(H5Pset_filter(properties, kFilter, H5Z_FLAG_MANDATORY, 0, nullptr), "filter");
    } else if (words != "none") {
      fail("--filter: none, bitshuffle or gzip, not " + words);
    }
    const hid_t space = good(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), "space");
    data_ = good(H5Dcreate2(file_, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT), "data set");
    H5Sclose(space);
    H5Pclose(properties);
  }
  void open(const char *name) { data_ = good(H5Dopen2(file_, name, H5P_DEFAULT), name); }
  [[nodiscard]] std::vector<hsize_t> shape() const {
    const hid_t space = good(H5Dget_space(data_), "space");
    std::vector<hsize_t> shape(static_cast<size_t>(good(H5Sget_simple_extent_ndims(space), "dimensions")));
    good(H5Sget_simple_extent_dims(space, shape.data(), nullptr), "dimensions");
    H5Sclose(space);
    return shape;
  }

  /// One collective call each for a box, which may be of nothing.
  void write(const std::vector<hsize_t> &start, const std::vector<hsize_t> &count, const float *values) {
    move(start, count, [&](hid_t memory, hid_t space) {
      return H5Dwrite(data_, H5T_NATIVE_FLOAT, memory, space, transfer_, values);
    });
  }
  void read(const std::vector<hsize_t> &start, const std::vector<hsize_t> &count, float *values) const {
    move(start, count,
         [&](hid_t memory, hid_t space) { return H5Dread(data_, H5T_NATIVE_FLOAT, memory, space, transfer_, values); });
  }

  void sync() { good(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush"); }
  void close() const {
    H5Dclose(data_);
    H5Pclose(transfer_);
    good(H5Fclose(file_), "close");
  }

 private:
  template <class Move>
  void move(const std::vector<hsize_t> &start, const std::vector<hsize_t> &count, Move &&call) const {
    hsize_t all = 1;
    for (const hsize_t each : count) all *= each;
    const hid_t space = good(H5Dget_space(data_), "space");
    const hid_t memory = good(H5Screate_simple(1, &all, nullptr), "space");
    if (all == 0) {
      good(H5Sselect_none(space), "selection");
      good(H5Sselect_none(memory), "selection");
    } else {
      good(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "selection");
    }
    good(call(memory, space), "transfer");
    H5Sclose(memory);
    H5Sclose(space);
  }

  hid_t file_ = -1;
  hid_t data_ = -1;
  hid_t transfer_ = -1;
};

/// To the disk.
inline void flush(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || fsync(file) != 0) fail(path + ": cannot be flushed");
  ::close(file);
}

}  // namespace hdf5
