// AT: the mean temperature of each layer of the atmosphere, over all times and cells. Ranks have contiguous shares of
// the cells and read one time after the other; only one sum a layer is communicated.
//   at FILE
#ifndef CLIMATE  // a benchmark has another
#define CLIMATE "climate.h"
#endif
#include CLIMATE

int main(int argc, char **argv) {
  const World world(&argc, &argv);
  Arguments arguments(argc, argv);
  const std::string path = arguments.finish(1, 1, "at FILE")[0];
  Clock input;
  Clock analysis;
  const double begin = MPI_Wtime();
  const Climate climate(path);
  const double opened = MPI_Wtime() - begin;
  const Share mine = share_of(climate.cells, world.rank, world.ranks);
  const auto layers = static_cast<size_t>(climate.layers);
  std::vector<double> sums(layers);
  std::vector<float> values;
  for (MPI_Offset t = 0; t < climate.times; ++t) {
    input.time([&] { climate.read({t, 1}, mine, values); });
    analysis.time([&] {
      for (size_t i = 0; i < values.size(); ++i) sums[i % layers] += static_cast<double>(values[i]);
    });
  }
  input.time([&] { climate.close(); });
  analysis.time(
      [&] { MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(layers), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
  const double read = input.max() + opened;
  const double analysed = analysis.max();
  if (world.rank == 0) {
    const double each = static_cast<double>(climate.times) * static_cast<double>(climate.cells);
    for (size_t z = 0; z < layers; ++z) std::printf("layer %zu: %.6f K\n", z, sums[z] / each);
    std::printf("seconds: analysis %.3f, input %.3f\n", analysed, read);
  }
  return 0;
}
