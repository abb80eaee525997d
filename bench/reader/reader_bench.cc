// How quickly the reader of pages (src/reader) opens traces and goes through their calls, on this machine itself:
//
//   reader_bench TRACE...
//
// reader_bench.mjs measures the same of its module. One line a trace: milliseconds to open it, and millions of calls a
// second of rank 0, without texts and with them.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "reader/reader.h"

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Millions a second.
double speed(int texts) {
  const double begin = seconds();
  const reader_result result = reader_walk(0, texts);
  const double took = seconds() - begin;
  if (result == nullptr) return 0;
  uint32_t offset = 0;
  std::memcpy(&offset, result + 16, sizeof offset);  // of the first column
  double calls = 0;
  std::memcpy(&calls, result + offset, sizeof calls);
  return calls / took / 1e6;
}

}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    uint8_t *block = reader_alloc(bytes.size());
    std::memcpy(block, bytes.data(), bytes.size());
    const double begin = seconds();
    if (reader_open(block, bytes.size()) != 0) return 1;
    const double opened = seconds() - begin;
    speed(0);
    const double walked = speed(0);
    std::printf("%-24s %10.1f ms %8.2f M/s %8.2f M/s\n",
                std::strrchr(argv[i], '/') ? std::strrchr(argv[i], '/') + 1 : argv[i], opened * 1e3, walked, speed(1));
  }
}
