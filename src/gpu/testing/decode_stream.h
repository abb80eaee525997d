// A stream's events, all in memory, for tests.
#pragma once

#include <span>
#include <vector>

#include "gpu/file/streams.h"

namespace cairn::gpu {

/// An error of more events than memory is meant to hold.
inline Result<std::vector<Event>> decode_stream(const StreamForm &form, std::span<const uint32_t> words,
                                                uint64_t events, uint64_t all) {
  if (events > most_at_once(form))
    return fail(ErrorKind::unreadable, "a stream has too many events to hold them at once");
  std::vector<Event> out;
  auto done = visit_stream(form, words, events, all, [&out](const Event &event) { out.push_back(event); });
  if (!done) return tl::unexpected(done.error());
  return out;
}

}  // namespace cairn::gpu
