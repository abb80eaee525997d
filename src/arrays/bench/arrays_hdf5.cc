// What src/arrays/examples/write_bench does, through parallel HDF5 with its own compression: the baseline for the layer
// over PnetCDF. Chunks are pieces; every write is collective, which filters in parallel need (since HDF5 1.10.2). The
// filter bitshuffle + zstd is c-blosc's, registered in this process. Prints one line of JSON.
//   arrays_hdf5 FILE [--bytes 16M] [--piece 4M] [--iterations 4] [--filter none|bitshuffle|gzip] [--noise 0.5] [--read]
#include <blosc.h>
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "arrays/examples/example.h"
#include "arrays/examples/field.h"

namespace {

constexpr const char *kUsage =
    "arrays_hdf5 FILE [--bytes N] [--piece N] [--iterations N] [--filter none|bitshuffle|gzip] [--noise K] [--read]";
constexpr H5Z_filter_t kFilter = 300;  // of the range for tests
constexpr int kLevel = 5;              // blosc's default

template <class T>
T good(T result, const char *what) {
  if (result < 0) fail(std::string(what) + ": HDF5 says no");
  return result;
}

size_t filter(unsigned flags, size_t, const unsigned *, size_t bytes, size_t *room, void **buffer) {
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

void register_filter() {
  static const H5Z_class2_t kClass = {H5Z_CLASS_T_VERS, kFilter, 1, 1, "bitshuffle+zstd", nullptr, nullptr, filter};
  good(H5Zregister(&kClass), "filter");
}

hid_t chunked(hsize_t piece, const std::string &name) {
  const hid_t properties = good(H5Pcreate(H5P_DATASET_CREATE), "properties");
  const std::array<hsize_t, 2> chunk = {1, piece};
  good(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), "fill time");
  good(H5Pset_alloc_time(properties, name == "none" ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_INCR), "allocation time");
  if (name == "none") return properties;  // contiguous, as PnetCDF's
  good(H5Pset_chunk(properties, 2, chunk.data()), "chunk");
  if (name == "gzip") {
    good(H5Pset_shuffle(properties), "shuffle");
    good(H5Pset_deflate(properties, 4), "deflate");
  } else if (name == "bitshuffle") {
    good(H5Pset_filter(properties, kFilter, H5Z_FLAG_MANDATORY, 0, nullptr), "filter");
  } else {
    fail("--filter: none, bitshuffle or gzip, not " + name);
  }
  return properties;
}

struct Where {
  hsize_t iteration;
  hsize_t place;
  hsize_t count;
};

/// One collective call for one piece.
template <class Move>
void move(hid_t data, const Where &where, hid_t transfer, Move &&call) {
  const std::array<hsize_t, 2> start = {where.iteration, where.place};
  const std::array<hsize_t, 2> count = {1, where.count};
  const hid_t file_space = good(H5Dget_space(data), "space");
  good(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "selection");
  const hid_t memory = good(H5Screate_simple(1, &where.count, nullptr), "space");
  good(call(memory, file_space, transfer), "transfer");
  H5Sclose(memory);
  H5Sclose(file_space);
}

void flush(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || fsync(file) != 0) fail(path + ": cannot be flushed");
  ::close(file);
}

}  // namespace

int main(int argc, char **argv) {
  const World world(&argc, &argv);
  Arguments arguments(argc, argv);
  const auto values = static_cast<hsize_t>(arguments.number("--bytes", 16 << 20) / 4);
  const auto piece = static_cast<hsize_t>(arguments.number("--piece", 4 << 20) / 4);
  const auto iterations = static_cast<hsize_t>(arguments.number("--iterations", 4));
  const std::string name = arguments.text("--filter", "bitshuffle");
  const double noise = arguments.real("--noise", 0.5);
  const bool reads = arguments.flag("--read");
  const std::string path = arguments.finish(1, 1, kUsage)[0];
  if (piece == 0 || values % piece != 0) fail("--bytes: a multiple of --piece, so that no chunk is shared");
  const auto rank = static_cast<hsize_t>(world.rank);
  const std::vector<float> written = field(values + iterations * kDrift, rank * values, noise);
  std::vector<float> got(reads ? values : 0);
  register_filter();
  const hid_t access = good(H5Pcreate(H5P_FILE_ACCESS), "access");
  good(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "MPI-IO");
  const hid_t transfer = good(H5Pcreate(H5P_DATASET_XFER), "transfer");
  good(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "collective");
  const hid_t properties = chunked(piece, name);

  Clock opening;
  Clock moving;
  Clock syncing;
  Clock closing;
  hid_t file = -1;
  hid_t data = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  opening.time([&] {
    if (reads) {
      file = good(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), path.c_str());
      data = good(H5Dopen2(file, "temperature", H5P_DEFAULT), "data set");
      return;
    }
    const std::array<hsize_t, 2> shape = {iterations, values * static_cast<hsize_t>(world.ranks)};
    file = good(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), path.c_str());
    const hid_t space = good(H5Screate_simple(2, shape.data(), nullptr), "space");
    data = good(H5Dcreate2(file, "temperature", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                "data set");
    H5Sclose(space);
  });
  moving.time([&] {
    for (hsize_t i = 0; i < iterations; ++i) {
      const float *from = written.data() + i * kDrift;
      for (hsize_t at = 0; at < values; at += piece) {
        move(data, {i, rank * values + at, piece}, transfer, [&](hid_t memory, hid_t space, hid_t how) {
          return reads ? H5Dread(data, H5T_NATIVE_FLOAT, memory, space, how, got.data() + at)
                       : H5Dwrite(data, H5T_NATIVE_FLOAT, memory, space, how, from + at);
        });
      }
      if (reads && std::memcmp(got.data(), from, values * sizeof(float)) != 0) fail("read: not what was written");
    }
  });
  if (!reads) syncing.time([&] { good(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush"); });
  closing.time([&] {
    H5Dclose(data);
    good(H5Fclose(file), "close");
    if (!reads && world.rank == 0) flush(path);
  });
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  const double opened = opening.max();
  const double moved = moving.max();
  const double synced = syncing.max();
  const double closed = closing.max();
  if (world.rank == 0) {
    const auto all = static_cast<unsigned long long>(values * 4 * static_cast<hsize_t>(world.ranks) * iterations);
    std::printf(
        "{\"operation\": \"%s\", \"filter\": \"%s\", \"ranks\": %d, \"bytes\": %llu, \"seconds\": %.6f, \"open\": "
        "%.6f, "
        "\"%s\": %.6f, \"sync\": %.6f, \"close\": %.6f}\n",
        reads ? "read" : "write", name.c_str(), world.ranks, all, seconds, opened, reads ? "read" : "write", moved,
        synced, closed);
  }
  H5Pclose(properties);
  H5Pclose(transfer);
  H5Pclose(access);
  return 0;
}
