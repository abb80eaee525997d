// Seldom: a vector that is empty nearly always: a pointer then, where a std::vector takes three words. For what most of
// many small objects have none of. What a std::vector of that name does, it does as well. Plain value; one heap block
// more than a std::vector's where there is something.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/boxed.h"

namespace cairn {

template <typename T>
class Seldom {
 public:
  [[nodiscard]] size_t size() const { return all_ ? all_->size() : 0; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  const T &operator[](size_t place) const { return (*all_)[place]; }
  [[nodiscard]] const T *begin() const { return all_ ? all_->data() : nullptr; }
  [[nodiscard]] const T *end() const { return all_ ? all_->data() + all_->size() : nullptr; }
  [[nodiscard]] T *begin() { return all_ ? all_->data() : nullptr; }
  [[nodiscard]] T *end() { return all_ ? all_->data() + all_->size() : nullptr; }
  [[nodiscard]] const T &back() const { return all_->back(); }

  void reserve(size_t count) {
    if (count != 0) own().reserve(count);
  }
  void push_back(T value) { own().push_back(std::move(value)); }
  template <typename... Parts>
  T &emplace_back(Parts &&...parts) {
    return own().emplace_back(std::forward<Parts>(parts)...);
  }
  template <typename Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    if (first != last) own().assign(first, last);
  }
  void clear() { all_.reset(); }

  bool operator==(const Seldom &other) const {
    return size() == other.size() && std::equal(begin(), end(), other.begin());
  }

 private:
  std::vector<T> &own() { return all_ ? *all_.operator->() : all_.emplace(); }

  Boxed<std::vector<T>> all_;
};

}  // namespace cairn
