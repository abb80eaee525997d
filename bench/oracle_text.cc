// What `cairn record --oracle` logged, as text for a compressor that knows nothing of MPI: a line a call, handles and
// addresses renamed to the number of their first occurrence on that rank, without times. What general compression gives
// is compared with by docs/compression.md:
//
//   cairn record --oracle logs -o run.cairn -- mpiexec.mpich -n 4 ./app
//   oracle_text logs | xz -9 | wc -c
#include <cstdint>
#include <iostream>
#include <string>
#include <unordered_map>

#include "mpi/oracle/reader.h"
#include "spec/spec.h"

namespace {

using cairn::oracle::LogFile;
using cairn::oracle::LogRecord;
using cairn::oracle::LogValue;
using cairn::oracle::Tag;

class Names {
 public:
  size_t operator()(uint64_t raw) { return known_.emplace(raw, known_.size()).first->second; }

 private:
  std::unordered_map<uint64_t, size_t> known_;
};

class Text {
 public:
  void add(const LogValue &value) {
    const bool handles = value.tag == Tag::handles;
    const bool addresses = value.tag == Tag::pointer || value.tag == Tag::pointers;
    out_ += ' ';
    out_ += std::to_string(value.parameter) + (value.after ? "'" : "") + "=";
    for (size_t i = 0; i < value.words.size(); ++i) {
      if (i != 0) out_ += ',';
      const uint64_t word = value.words[i];
      if (handles) {
        out_ += "h" + std::to_string(handles_(word));
      } else if (addresses) {
        out_ += "a" + std::to_string(addresses_(word));
      } else {
        out_ += std::to_string(static_cast<int64_t>(word));
      }
    }
    out_ += value.text;
    for (const auto &list : value.lists) {
      for (const auto &each : list) out_ += each.value_or("-") + ";";
    }
  }
  void call(const LogFile &log, const LogRecord &record) {
    out_ += cairn::spec::functions()[record.function].name;
    for (const LogValue &value : log.values(record)) add(value);
    out_ += '\n';
    constexpr size_t kPiece = size_t{1} << 20;
    if (out_.size() > kPiece) flush();
  }
  void flush() {
    std::cout << out_;
    out_.clear();
  }

 private:
  Names handles_;
  Names addresses_;
  std::string out_;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: oracle_text DIR\n";
    return 2;
  }
  const auto logs = cairn::oracle::read_logs(argv[1]);
  if (!logs) {
    std::cerr << "oracle_text: " << logs.error().message << '\n';
    return 3;
  }
  for (const LogFile &log : *logs) {
    Text text;
    for (const LogRecord &record : log.records()) text.call(log, record);
    text.flush();
  }
  return 0;
}
