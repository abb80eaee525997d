// For tests: makes traces that no writer wrote, and says what the reader on this machine answers of each.
//
//   reader_mutants FOLDER COUNT TRACE...
//
// Writes FOLDER/0.cairn, 1.cairn, … behind right checksums, and prints a line for each question: the number of the
// file, the question, and of what is answered a hash (FNV-1a of 32 bits over the block), or "error" and what
// reader_error says. reader_test_mutants.mjs asks reader.wasm the same.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "reader/answer.h"
#include "reader/reader.h"
#include "trace/testing/mutants.h"

namespace {

using namespace cairn;
using reader::Answer;

uint32_t hash_of(reader_result block) {
  constexpr uint32_t kPrime = 16777619;
  uint32_t hash = 2166136261;
  uint32_t size = 0;
  std::memcpy(&size, block + 4, sizeof(size));
  for (uint32_t i = 0; i < size; ++i) hash = (hash ^ block[i]) * kPrime;
  return hash;
}

void ask(int file, const char *question, reader_result result) {
  if (result != nullptr) {
    std::printf("%d %s %u\n", file, question, hash_of(result));
  } else {
    std::printf("%d %s error %s\n", file, question, Answer(reader_error()).text(0).c_str());
  }
}

/// The same questions in the same order as reader_test_mutants.mjs.
void ask_all(int file) {
  constexpr uint32_t kAll = UINT32_MAX;
  ask(file, "run", reader_run(1));
  ask(file, "classes", reader_classes());
  ask(file, "groups", reader_groups());
  const reader_result classes = reader_classes();
  double calls = 0;
  std::vector<uint32_t> runs;
  if (classes != nullptr) {
    for (const double each : Answer(classes).doubles(6)) calls += each;
    runs = Answer(classes).numbers(4);
  }
  // A few bytes can tell of more calls than anybody waits for.
  constexpr double kMany = 1e5;
  if (classes != nullptr && calls < kMany) {
    ask(file, "durations", reader_durations());
    ask(file, "matrix", reader_matrix(nullptr, 0, 1));
    ask(file, "summary", reader_summary(1));
    ask(file, "sizes", reader_sizes(0, 1));
    ask(file, "loops", reader_loops());
    ask(file, "strip", reader_strip(0, nullptr, 0, 0, 0, 1e300, 10, 3, 1e6));
  }
  if (runs.empty()) return;
  for (const uint32_t rank : {runs[0], runs[runs.size() - 2]}) {
    const reader_result count = reader_count(rank);
    ask(file, "count", count);
    const double all = count == nullptr ? 100 : Answer(count).doubles(0)[0];
    ask(file, "calls", reader_calls(rank, kAll, 0, 100, 1000, nullptr, 0, nullptr, 0));
    ask(file, "middle", reader_calls(rank, kAll, std::floor(all / 2), 10, 1000, nullptr, 0, nullptr, 0));
    ask(file, "at", reader_call_at(rank, 1e6));
  }
}

Bytes read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const std::string folder = argv[1];
  const int count = std::atoi(argv[2]);
  std::mt19937_64 random(17);
  for (int i = 0; i < count; ++i) {
    const Bytes mutant = trace::mutant_of(read(argv[3 + i % (argc - 3)]), &random);
    std::ofstream out(folder + "/" + std::to_string(i) + ".cairn", std::ios::binary);
    out.write(reinterpret_cast<const char *>(mutant.data()), static_cast<std::streamsize>(mutant.size()));
    if (reader::open(mutant)) {
      ask_all(i);
    } else {
      ask(i, "open", nullptr);
    }
  }
  return 0;
}
