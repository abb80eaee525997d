// Text<N>: a short string on the stack, for a library that has no std::string and must not allocate. What doesn't fit
// is cut off and remembered.
#pragma once

#include <stddef.h>
#include <string.h>

namespace cairn::preload {

template <size_t N>
class Text {
 public:
  Text &add(const char *text) { return add(text, strlen(text)); }
  Text &add(const char *text, size_t length) {
    if (length > N - 1 - size_) {
      length = N - 1 - size_;
      cut_ = true;
    }
    memcpy(text_ + size_, text, length);
    size_ += length;
    text_[size_] = '\0';
    return *this;
  }
  Text &add_number(unsigned long number) {
    char digits[24];
    char *first = digits + sizeof digits;
    do {
      *--first = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return add(first, static_cast<size_t>(digits + sizeof digits - first));
  }
  [[nodiscard]] const char *text() const { return text_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool is_cut() const { return cut_; }

 private:
  char text_[N] = {};
  size_t size_ = 0;
  bool cut_ = false;
};

}  // namespace cairn::preload
