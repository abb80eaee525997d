// Boxed: a T that its owner need not have, apart from it: a pointer where there is none. It is copied with its owner,
// as a member would be. For what most of many small objects lack. Plain value; one heap block if there is a T.
#pragma once

#include <memory>
#include <utility>

namespace cairn {

template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(const Boxed &other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed &&other) noexcept = default;
  Boxed &operator=(const Boxed &other) {
    if (this != &other) value_ = other ? std::make_unique<T>(*other) : nullptr;
    return *this;
  }
  Boxed &operator=(Boxed &&other) noexcept = default;
  ~Boxed() = default;

  explicit operator bool() const { return value_ != nullptr; }
  const T &operator*() const { return *value_; }
  const T *operator->() const { return value_.get(); }
  T *operator->() { return value_.get(); }
  /// A new one, in place of what there was.
  T &emplace() {
    value_ = std::make_unique<T>();
    return *value_;
  }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace cairn
