#include "timing/zfp_coder.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/as_size.h"
#include "timing/series.h"
#include "timing/zfp_library.h"

namespace cairn::timing {
namespace {

constexpr uint64_t kGreat = uint64_t{1} << 52;
constexpr double kLeastTolerance = 0.25;

enum Kind : uint8_t { exact = 0, by_zfp = 1 };

/// Calls of one bound, in the order in which they are coded.
struct Part {
  uint64_t bound;
  std::vector<uint32_t> calls;
};
std::vector<Part> parts_of(const BlockCalls &calls, Order order) {
  std::vector<Part> parts;
  std::unordered_map<uint64_t, size_t> number;
  for (const uint32_t call : order_of(calls, order)) {
    const uint64_t bound = calls.bounds[calls.groups[call]];
    const auto [at, is_new] = number.emplace(bound, parts.size());
    if (is_new) parts.push_back({bound, {}});
    parts[at->second].calls.push_back(call);
  }
  return parts;
}

double tolerance_of(uint64_t bound) { return std::max(static_cast<double>(std::min(bound, kGreat)), kLeastTolerance); }

/// The whole number next to it.
uint64_t time_of(double value) {
  if (!(value > 0)) return 0;
  constexpr double kAbove = 18446744073709551616.0;  // 2^64
  const double rounded = std::round(value);
  return rounded < kAbove ? static_cast<uint64_t>(rounded) : UINT64_MAX;
}

bool encode_by_zfp(const Part &part, std::span<const CallTime> times, Member series, ByteWriter &out) {
  std::vector<double> values;
  values.reserve(part.calls.size());
  ByteWriter great;
  uint64_t count = 0;
  size_t expected = 0;
  for (size_t i = 0; i < part.calls.size(); ++i) {
    const uint64_t time = times[part.calls[i]].*series;
    if (time < kGreat) {
      values.push_back(static_cast<double>(time));
      continue;
    }
    values.push_back(values.empty() ? 0 : values.back());
    great.varint(i - expected);
    great.varint(time);
    expected = i + 1;
    ++count;
  }
  Bytes coded;
  if (!zfp_compress_within(values, tolerance_of(part.bound), &coded)) return false;
  out.byte(by_zfp);
  out.varint(count);
  out.raw(great.view());
  out.blob(coded);
  return true;
}

bool decode_by_zfp(const Part &part, ByteReader &in, std::span<CallTime> times, Member series) {
  struct Great {
    uint64_t place;
    uint64_t time;
  };
  std::vector<Great> great(in.count(2));
  uint64_t expected = 0;
  for (Great &each : great) {
    const uint64_t skipped = in.varint();
    each.time = in.varint();
    if (in.failed() || skipped >= part.calls.size() - expected) return false;
    each.place = expected + skipped;
    expected = each.place + 1;
  }
  const ByteView coded = in.blob();
  if (in.failed()) return false;
  std::vector<double> values(part.calls.size());
  if (!zfp_decompress(coded, tolerance_of(part.bound), values)) return false;
  for (size_t i = 0; i < values.size(); ++i) times[part.calls[i]].*series = time_of(values[i]);
  for (const Great &each : great) times[part.calls[as_size(each.place)]].*series = each.time;
  return true;
}

bool decode_zfp(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times, Order order);

void encode_zfp(const BlockCalls &calls, std::span<CallTime> times, Order order, Bytes *out) {
  const size_t start = out->size();
  for (const Part &part : parts_of(calls, order)) {
    for (const Member series : kSeries) {
      ByteWriter bytes;
      if (!encode_by_zfp(part, times, series, bytes)) {
        ByteWriter words;
        for (const uint32_t call : part.calls) words.fixed64(times[call].*series);
        bytes.byte(exact);
        Bytes packed;
        put_packed(words.view(), &packed);
        bytes.raw(packed);
      }
      out->insert(out->end(), bytes.view().begin(), bytes.view().end());
    }
  }
  // The times become what they are read back as.
  [[maybe_unused]] const bool good = decode_zfp(calls, ByteView(*out).subspan(start), times, order);
  assert(good);
}

bool decode_zfp(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times, Order order) {
  if (!well_formed(calls, times.size())) return false;
  ByteReader in(bytes);
  for (const Part &part : parts_of(calls, order)) {
    for (const Member series : kSeries) {
      const uint8_t kind = in.byte();
      if (in.failed() || kind > by_zfp) return false;
      if (kind == by_zfp) {
        if (!decode_by_zfp(part, in, times, series)) return false;
        continue;
      }
      const Bytes plain = take_packed(in, 8 * part.calls.size());
      if (in.failed()) return false;
      ByteReader words(plain);
      for (const uint32_t call : part.calls) times[call].*series = words.fixed64();
    }
  }
  return in.at_end();
}

}  // namespace

void encode_zfp(const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  encode_zfp(calls, times, Order::as_called, out);
}
bool decode_zfp(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times) {
  return decode_zfp(calls, bytes, times, Order::as_called);
}
void encode_zfp_clustered(const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
  encode_zfp(calls, times, Order::by_group, out);
}
bool decode_zfp_clustered(const BlockCalls &calls, ByteView bytes, std::span<CallTime> times) {
  return decode_zfp(calls, bytes, times, Order::by_group);
}

}  // namespace cairn::timing
