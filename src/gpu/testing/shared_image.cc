#include "gpu/testing/shared_image.h"

#include <link.h>

#include <cstring>
#include <span>

#include "gpu/testing/emulated_warp.h"

namespace cairn::emulator {
std::span<uint8_t> thread_local_data() {
  std::span<uint8_t> found;
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *to) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          if (object->dlpi_phdr[i].p_type != PT_TLS || object->dlpi_tls_data == nullptr) continue;
          *static_cast<std::span<uint8_t> *>(to) = {static_cast<uint8_t *>(object->dlpi_tls_data),
                                                    object->dlpi_phdr[i].p_memsz};
        }
        return 1;  // the first is the program
      },
      &found);
  return found;
}

SharedImage::SharedImage(uint8_t *dynamic, size_t dynamic_bytes) : dynamic_(dynamic), dynamic_copy_(dynamic_bytes) {
  copy_.resize(thread_local_data().size());
  take();
}

void SharedImage::put() const {
  Place *const running = current_place;
  const std::span<uint8_t> data = thread_local_data();
  std::memcpy(data.data(), copy_.data(), copy_.size());
  if (!dynamic_copy_.empty()) std::memcpy(dynamic_, dynamic_copy_.data(), dynamic_copy_.size());
  current_place = running;
}

void SharedImage::take() {
  const std::span<uint8_t> data = thread_local_data();
  std::memcpy(copy_.data(), data.data(), copy_.size());
  if (!dynamic_copy_.empty()) std::memcpy(dynamic_copy_.data(), dynamic_, dynamic_copy_.size());
}

}  // namespace cairn::emulator
