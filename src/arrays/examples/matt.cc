// MATT: the minimum, maximum and mean temperature of each cell and layer over the times. Ranks have contiguous shares
// of the times, so each needs memory for three whole fields, which are then reduced over the ranks: more communication
// than AT. Prints the extremes and the mean of each layer, and where the temperature varies most.
//   matt FILE
#include <algorithm>
#include <limits>

#ifndef CLIMATE  // a benchmark has another
#define CLIMATE "climate.h"
#endif
#include CLIMATE

namespace {

/// What is known of every cell and layer, or after reduce() of this rank's share of them.
struct Fields {
  explicit Fields(size_t size)
      : least(size, std::numeric_limits<float>::infinity()),
        most(size, -std::numeric_limits<float>::infinity()),
        sum(size, 0.0) {}

  void add(const std::vector<float> &values) {
    for (size_t i = 0; i < values.size(); ++i) {
      least[i] = std::min(least[i], values[i]);
      most[i] = std::max(most[i], values[i]);
      sum[i] += static_cast<double>(values[i]);
    }
  }

  template <class T>
  static void share(std::vector<T> &values, MPI_Datatype type, MPI_Op op, const std::vector<int> &counts, int rank) {
    std::vector<T> mine(static_cast<size_t>(counts[static_cast<size_t>(rank)]));
    MPI_Reduce_scatter(values.data(), mine.data(), counts.data(), type, op, MPI_COMM_WORLD);
    values.swap(mine);
  }

  void reduce(const std::vector<int> &counts, int rank) {
    share(least, MPI_FLOAT, MPI_MIN, counts, rank);
    share(most, MPI_FLOAT, MPI_MAX, counts, rank);
    share(sum, MPI_DOUBLE, MPI_SUM, counts, rank);
  }

  std::vector<float> least;
  std::vector<float> most;
  std::vector<double> sum;
};

struct Layers {
  std::vector<float> least;
  std::vector<float> most;
  std::vector<double> sum;
  struct {
    float range;
    int cell;
  } widest{-1, 0};
};

Layers summarize(const Fields &fields, size_t layers, MPI_Offset first_cell) {
  Layers result{std::vector<float>(layers, std::numeric_limits<float>::infinity()),
                std::vector<float>(layers, -std::numeric_limits<float>::infinity()),
                std::vector<double>(layers),
                {-1, 0}};
  for (size_t i = 0; i < fields.sum.size(); ++i) {
    const size_t z = i % layers;
    result.least[z] = std::min(result.least[z], fields.least[i]);
    result.most[z] = std::max(result.most[z], fields.most[i]);
    result.sum[z] += fields.sum[i];
    const float range = fields.most[i] - fields.least[i];
    if (range > result.widest.range)
      result.widest = {range, static_cast<int>(first_cell + static_cast<MPI_Offset>(i / layers))};
  }
  const int count = static_cast<int>(layers);
  MPI_Allreduce(MPI_IN_PLACE, result.least.data(), count, MPI_FLOAT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, result.most.data(), count, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, result.sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &result.widest, 1, MPI_FLOAT_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  return result;
}

}  // namespace

int main(int argc, char **argv) {
  const World world(&argc, &argv);
  Arguments arguments(argc, argv);
  const std::string path = arguments.finish(1, 1, "matt FILE")[0];
  Clock input;
  Clock analysis;
  const double begin = MPI_Wtime();
  const Climate climate(path);
  const double opened = MPI_Wtime() - begin;
  const auto layers = static_cast<size_t>(climate.layers);
  const Share mine = share_of(climate.times, world.rank, world.ranks);
  const MPI_Offset rounds = share_of(climate.times, 0, world.ranks).count;
  Fields fields(static_cast<size_t>(climate.cells) * layers);
  std::vector<float> values;
  for (MPI_Offset round = 0; round < rounds; ++round) {
    // Reading is collective: who has no time left takes part with none.
    const Share when{std::min(mine.first + round, climate.times - 1), round < mine.count ? 1 : 0};
    input.time([&] { climate.read(when, {0, climate.cells}, values); });
    analysis.time([&] { fields.add(values); });
  }
  input.time([&] { climate.close(); });
  Layers answer;
  analysis.time([&] {
    std::vector<int> counts;
    counts.reserve(world.ranks);
    for (int r = 0; r < world.ranks; ++r) {
      counts.push_back(static_cast<int>(share_of(climate.cells, r, world.ranks).count * climate.layers));
    }
    fields.reduce(counts, world.rank);
    answer = summarize(fields, layers, share_of(climate.cells, world.rank, world.ranks).first);
  });
  const double read = input.max() + opened;
  const double analysed = analysis.max();
  if (world.rank == 0) {
    const double each = static_cast<double>(climate.times) * static_cast<double>(climate.cells);
    for (size_t z = 0; z < layers; ++z) {
      std::printf("layer %zu: min %.6f K, max %.6f K, mean %.6f K\n", z, static_cast<double>(answer.least[z]),
                  static_cast<double>(answer.most[z]), answer.sum[z] / each);
    }
    std::printf("widest: cell %d, %.6f K\n", answer.widest.cell, static_cast<double>(answer.widest.range));
    std::printf("seconds: analysis %.3f, input %.3f\n", analysed, read);
  }
  return 0;
}
