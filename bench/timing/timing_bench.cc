// cairn-timing-bench TRACE...: what each way of keeping times makes of the times of traces recorded with
// `--timing lossless`. It codes and decodes each sequence in blocks of kUsualBlockCalls and prints one line of JSON for
// each trace, mode and bound; bench/timing/run.py records the traces and makes tables of the lines.
//
// CR, as in Pilgrim's tables, is against 16 bytes a call: a duration and a gap as doubles. PSNR is 20 log10 of the
// greatest time over the root of the mean squared error; nothing where all times are exact. CPU times are of this
// thread. It fails where a time decodes to anything that its bound does not allow.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "timing/group_numbers.h"
#include "timing/hist_coder.h"
#include "timing/mode.h"
#include "timing/series.h"
#include "timing/stream.h"
#include "trace/read/call_times.h"

namespace {

using namespace cairn;
using timing::CallTime;

struct Sequence {
  std::vector<uint32_t> groups;  ///< of each call, numbered over the sequence
  std::vector<CallTime> times;
};

struct Method {
  std::string name;
  timing::Mode mode;
  uint64_t bound;
};

void encode_hist_of_many(const timing::BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  timing::encode_hist(calls, times, {.code_bits = 8, .samples = 10'000}, out);
}

std::vector<Method> methods() {
  constexpr uint64_t kPercent = 10'000;
  constexpr uint64_t kMicrosecond = 1000;
  std::vector<Method> result;
  for (const timing::Mode &mode : timing::modes()) {
    if (mode.encode == nullptr) continue;
    if (mode.missing != nullptr && mode.missing() != nullptr) {
      std::fprintf(stderr, "cairn-timing-bench: left out: %s\n", mode.missing());
      continue;
    }
    std::vector<uint64_t> bounds = {0};
    if (mode.bounds == timing::Bounds::relative) bounds = {10 * kPercent, kPercent};
    if (mode.bounds == timing::Bounds::absolute) bounds = {10 * kMicrosecond, 1000 * kMicrosecond};
    for (const uint64_t bound : bounds) {
      result.push_back({std::string(mode.name), mode, bound});
      if (mode.encode != static_cast<timing::Encode>(timing::encode_hist)) continue;
      result.push_back({"hist-10000", mode, bound});
      result.back().mode.encode = encode_hist_of_many;
    }
  }
  return result;
}

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

Result<std::vector<Sequence>> read(const trace::Trace &trace) {
  std::vector<Sequence> result;
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::SequenceView &view : trace.sequences(rank)) {
      Result<std::vector<CallTime>> times = trace::all_times(trace, view);
      if (!times) return tl::unexpected(times.error());
      if (times->empty()) continue;
      Sequence sequence{{}, *std::move(times)};
      trace::CallReader calls(trace, view);
      std::map<trace::RowGroup, uint32_t> groups;
      for (size_t i = 0; i < sequence.times.size(); ++i) {
        const trace::Row &row = calls.call(calls.next());
        const auto next = static_cast<uint32_t>(groups.size());
        sequence.groups.push_back(groups.try_emplace(trace::group_of_row(row), next).first->second);
      }
      result.push_back(std::move(sequence));
    }
  }
  return result;
}

/// How far decoded times are off.
class Errors {
 public:
  void add(std::span<const CallTime> exact, std::span<const CallTime> got) {
    for (size_t i = 0; i < exact.size(); ++i) {
      for (size_t s = 0; s < timing::kSeries.size(); ++s)
        add(s, exact[i].*timing::kSeries[s], got[i].*timing::kSeries[s]);
    }
  }
  [[nodiscard]] bool within(const Method &method) const {
    if (method.mode.bounds == timing::Bounds::absolute) return absolute_ <= method.bound;
    return !zero_moved_ && relative_ <= static_cast<double>(method.bound) / 1e6;
  }
  [[nodiscard]] nlohmann::json psnr(size_t series) const {
    const Series &of = series_[series];
    if (of.squares == 0) return nullptr;
    return 20 * std::log10(of.greatest / std::sqrt(of.squares / of.count));
  }
  [[nodiscard]] double relative() const { return relative_; }
  [[nodiscard]] uint64_t absolute() const { return absolute_; }

 private:
  struct Series {
    double greatest = 0;
    double squares = 0;
    double count = 0;
  };
  void add(size_t series, uint64_t exact, uint64_t got) {
    const uint64_t off = exact > got ? exact - got : got - exact;
    absolute_ = std::max(absolute_, off);
    const auto distance = static_cast<double>(off);
    if (exact != 0) relative_ = std::max(relative_, distance / static_cast<double>(exact));
    zero_moved_ = zero_moved_ || (exact == 0 && off != 0);
    Series &of = series_[series];
    of.greatest = std::max(of.greatest, static_cast<double>(exact));
    of.squares += distance * distance;
    ++of.count;
  }
  Series series_[timing::kSeries.size()];
  uint64_t absolute_ = 0;
  double relative_ = 0;
  bool zero_moved_ = false;  ///< 0 has no relative error; it must stay
};

struct Outcome {
  timing::StreamSize size;
  Errors errors;
  double encode_ns = 0;
  double decode_ns = 0;
  bool decodes = true;
};

/// Through the stream's own reader.
bool decode(const timing::BlockCalls &calls, ByteView stream, std::span<const CallTime> exact,
            std::vector<CallTime> *got, double *ns) {
  got->assign(exact.begin(), exact.end());
  const double begin = cpu_ns();
  std::vector<timing::BlockPlace> blocks;
  size_t bad = 0;
  std::vector<timing::PlacedTime> placed;
  const bool good = timing::find_blocks(stream, exact.size(), &blocks, &bad) && blocks.size() == 1 &&
                    timing::decode_block(blocks[0], calls.groups, &placed) == nullptr && placed.size() == exact.size();
  *ns += cpu_ns() - begin;
  if (!good) return false;
  std::transform(placed.begin(), placed.end(), got->begin(), [](const auto &each) { return each.time; });
  return true;
}

Outcome measure(const Method &method, const std::vector<Sequence> &sequences) {
  Outcome outcome;
  timing::GroupNumbers numbers;
  for (const Sequence &sequence : sequences) {
    timing::StreamEnd end;
    for (size_t first = 0; first < sequence.times.size(); first += timing::kUsualBlockCalls) {
      const size_t count = std::min(timing::kUsualBlockCalls, sequence.times.size() - first);
      const std::span<const CallTime> exact = std::span(sequence.times).subspan(first, count);
      numbers.begin_block();
      for (size_t i = first; i < first + count; ++i) numbers.add(sequence.groups[i], method.bound);
      std::vector<CallTime> coded(exact.begin(), exact.end());
      Bytes stream = {timing::kStreamMark};
      const double begin = cpu_ns();
      timing::encode_block(method.mode, numbers.calls(), coded, &end, &stream, &outcome.size);
      outcome.encode_ns += cpu_ns() - begin;
      std::vector<CallTime> got;
      outcome.decodes =
          outcome.decodes && decode(numbers.calls(), stream, exact, &got, &outcome.decode_ns) && got == coded;
      if (!outcome.decodes) return outcome;
      outcome.errors.add(exact, got);
    }
  }
  return outcome;
}

Bytes under_zstd(ByteView plain) {
  Bytes out;
  constexpr int kLevel = 3;
  if (codec::encode(codec::kZstd, plain, kLevel, &out) && out.size() < plain.size()) return out;
  return {plain.begin(), plain.end()};
}

/// (gap, duration) of each call as it comes, or all gaps and then all durations: integers of 64 bits under zstd -3.
size_t whole_size(const Sequence &sequence, bool by_series) {
  ByteWriter out;
  const auto put = [&](uint64_t value) {
    for (int i = 0; i < 8; ++i) out.byte(static_cast<uint8_t>(value >> (8 * i)));
  };
  if (by_series) {
    for (const timing::Member series : timing::kSeries) {
      for (const CallTime &time : sequence.times) put(time.*series);
    }
  } else {
    for (const CallTime &time : sequence.times) {
      put(time.gap);
      put(time.duration);
    }
  }
  return under_zstd(out.view()).size();
}

/// As lossless recordings were before there were blocks (timing/chunks.h).
size_t chunks_size(const Sequence &sequence) {
  constexpr size_t kMostBytes = 65'536;
  constexpr size_t kMostPair = 20;
  ByteWriter out;
  ByteWriter pairs;
  uint64_t calls = 0;
  const auto close = [&] {
    out.varint(calls);
    out.varint(pairs.view().size());
    out.blob(under_zstd(pairs.view()));
    pairs = ByteWriter();
    calls = 0;
  };
  for (const CallTime &time : sequence.times) {
    if (pairs.view().size() + kMostPair > kMostBytes) close();
    pairs.varint(time.gap);
    pairs.varint(time.duration);
    ++calls;
  }
  if (calls != 0) close();
  return out.view().size();
}

constexpr double kPlainBytes = 16;  ///< of a call

nlohmann::json line(const char *trace, const std::string &mode, uint64_t calls, uint64_t bytes) {
  const auto count = static_cast<double>(calls);
  const auto size = static_cast<double>(bytes);
  return {{"trace", trace},
          {"mode", mode},
          {"calls", calls},
          {"bytes", bytes},
          {"bits_per_call", 8 * size / count},
          {"ratio", kPlainBytes * count / size}};
}

void print(const nlohmann::json &line) { std::printf("%s\n", line.dump().c_str()); }

bool measure_all(const char *path) {
  const Result<trace::Trace> trace = trace::Trace::open(path);
  const Result<std::vector<Sequence>> sequences = trace ? read(*trace) : tl::unexpected(trace.error());
  if (!sequences || sequences->empty()) {
    std::fprintf(stderr, "cairn-timing-bench: %s: %s\n", path,
                 sequences ? "it holds no times: record it with --timing lossless" : sequences.error().message.c_str());
    return false;
  }
  uint64_t calls = 0;
  uint64_t by_call = 0;
  uint64_t by_series = 0;
  uint64_t chunks = 0;
  for (const Sequence &sequence : *sequences) {
    calls += sequence.times.size();
    by_call += whole_size(sequence, false);
    by_series += whole_size(sequence, true);
    chunks += chunks_size(sequence);
  }
  print(line(path, "zstd64", calls, by_call));
  print(line(path, "zstd64-series", calls, by_series));
  print(line(path, "chunks", calls, chunks));

  bool good = true;
  for (const Method &method : methods()) {
    const Outcome outcome = measure(method, *sequences);
    if (!outcome.decodes || !outcome.errors.within(method)) {
      std::fprintf(stderr, "cairn-timing-bench: %s: %s with a bound of %llu: %s\n", path, method.name.c_str(),
                   static_cast<unsigned long long>(method.bound),
                   outcome.decodes ? "a time is beyond its bound" : "does not decode to what was coded");
      good = false;
      continue;
    }
    nlohmann::json out = line(path, method.name, calls, outcome.size.bytes);
    const auto count = static_cast<double>(calls);
    const char *unit = method.mode.bounds == timing::Bounds::absolute ? "bound_ns" : "bound_millionths";
    out[unit] = method.bound;
    out["psnr_gaps"] = outcome.errors.psnr(0);
    out["psnr_durations"] = outcome.errors.psnr(1);
    out["relative_error"] = outcome.errors.relative();
    out["absolute_error_ns"] = outcome.errors.absolute();
    out["clock_error_ns"] = outcome.size.clock_error_ns;
    out["encode_ns"] = outcome.encode_ns / count;
    out["decode_ns"] = outcome.decode_ns / count;
    out["encode_mb_per_s"] = kPlainBytes * count * 1e3 / outcome.encode_ns;
    out["decode_mb_per_s"] = kPlainBytes * count * 1e3 / outcome.decode_ns;
    print(out);
  }
  return good;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fputs("usage: cairn-timing-bench TRACE...\n", stderr);
    return 2;
  }
  bool good = true;
  for (int i = 1; i < argc; ++i) good = measure_all(argv[i]) && good;
  return good ? 0 : 1;
}
