// Any bytes as a stream of any form: an error, or so many events; and what was decoded comes back when it is encoded.
#include <cstdlib>
#include <cstring>

#include "gpu/testing/decode_stream.h"

using namespace cairn;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  gpu::StreamForm form;
  form.coder = static_cast<gpu::CoderKind>(data[0] & 2);
  form.location_bits = (data[0] & 64) != 0 ? 16 : 8;
  form.lanes = (data[0] & 128) != 0 ? 64 : 32;
  const uint16_t pairs[] = {0, data[3], data[3], 2, 2, data[3], 0, 0};
  gpu::add_successors(form.guesses, pairs);
  constexpr uint16_t kValueLocations[] = {2, 7, 200};
  if ((data[0] & 32) != 0) form.value_locations = kValueLocations;
  const uint64_t events = data[1] | uint64_t{data[2]} << 8;
  const uint64_t all = form.lanes == 64 ? ~uint64_t{0} : 0xffffffff;
  std::vector<uint32_t> words((size - 4) / 4);
  if (!words.empty()) std::memcpy(words.data(), data + 4, words.size() * 4);
  const auto decoded = gpu::decode_stream(form, words, events, all);
  if (!decoded) return 0;
  if (decoded->size() != events) std::abort();
  const auto again = gpu::encode_stream(form, *decoded, all);
  const auto back = gpu::decode_stream(form, again, events, all);
  if (!back || *back != *decoded) std::abort();
  return 0;
}
