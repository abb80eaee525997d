#include "arrays/reader/streams.h"

#include <memory>

#include "arrays/reader/answers.h"
#include "arrays/reader/next_call.h"
#include "arrays/reader/open_views.h"

namespace cairn::arrays {

struct Streams::Stream {
  int file;
  std::shared_ptr<PlainView> view;
  FILE *itself;
};

Streams &Streams::all() {
  static auto *const streams = new Streams;
  return *streams;
}

FILE *Streams::open(int file, const char *mode) {
  cookie_io_functions_t calls{};
  calls.read = [](void *stream, char *data, size_t size) {
    return read_from(*static_cast<Stream *>(stream)->view, data, size);
  };
  calls.seek = [](void *stream, off64_t *place, int from) {
    const off_t to = seek(*static_cast<Stream *>(stream)->view, *place, from);
    if (to >= 0) *place = to;
    return to < 0 ? -1 : 0;
  };
  calls.close = [](void *stream) {
    const std::unique_ptr<Stream> own(static_cast<Stream *>(stream));
    all().forget(own->itself);
    OpenViews::all().closed(own->file);
    return close_for_real(own->file);
  };
  auto own = std::make_unique<Stream>(Stream{file, OpenViews::all().of(file), nullptr});
  FILE *const made = fopencookie(own.get(), mode, calls);
  if (made == nullptr) return made;
  own->itself = made;
  own.release();  // NOLINT(bugprone-unused-return-value): `close` has it
  const std::lock_guard<std::mutex> lock(lock_);
  files_[made] = file;
  return made;
}

int Streams::file(FILE *stream) {
  const std::lock_guard<std::mutex> lock(lock_);
  const auto found = files_.find(stream);
  return found == files_.end() ? -1 : found->second;
}

void Streams::forget(FILE *stream) {
  const std::lock_guard<std::mutex> lock(lock_);
  files_.erase(stream);
}

}  // namespace cairn::arrays
