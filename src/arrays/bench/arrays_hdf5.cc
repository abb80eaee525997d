// What src/arrays/examples/write_bench does, through parallel HDF5 with its own compression: the baseline for the layer
// over PnetCDF. Chunks are pieces; every write is collective. Prints one line of JSON.
//   arrays_hdf5 FILE [--bytes 16M] [--piece 4M] [--iterations 4] [--filter none|bitshuffle|gzip] [--noise 0.5] [--read]
#include <cstring>
#include <optional>

#include "arrays/bench/hdf5_file.h"
#include "arrays/examples/field.h"

namespace {

constexpr const char *kUsage =
    "arrays_hdf5 FILE [--bytes N] [--piece N] [--iterations N] [--filter none|bitshuffle|gzip] [--noise K] [--read]";

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

  Clock opening;
  Clock moving;
  Clock syncing;
  Clock closing;
  std::optional<hdf5::File> file;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  opening.time([&] {
    file.emplace(path, !reads);
    if (reads) return file->open("temperature");
    file->define("temperature", {iterations, values * static_cast<hsize_t>(world.ranks)}, {1, piece}, name);
  });
  moving.time([&] {
    for (hsize_t i = 0; i < iterations; ++i) {
      const float *from = written.data() + i * kDrift;
      for (hsize_t at = 0; at < values; at += piece) {
        if (reads) {
          file->read({i, rank * values + at}, {1, piece}, got.data() + at);
        } else {
          file->write({i, rank * values + at}, {1, piece}, from + at);
        }
      }
      if (reads && std::memcmp(got.data(), from, values * sizeof(float)) != 0) fail("read: not what was written");
    }
  });
  if (!reads) syncing.time([&] { file->sync(); });
  closing.time([&] {
    file->close();
    if (!reads && world.rank == 0) hdf5::flush(path);
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
  return 0;
}
