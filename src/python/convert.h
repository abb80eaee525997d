// What becomes of Cairn's values in Python: errors exceptions, texts str, arguments of calls what `cairn dump --json`
// says of them, columns numpy arrays that own their memory.
//
// All of it needs the interpreter's lock but `unlocked`, which gives it away while C++ works.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/decode.h"
#include "analyze/sources.h"
#include "analyze/value.h"
#include "base/result.h"

namespace cairn::python {

namespace py = pybind11;

/// As an exception of the package (cairn/errors.py), which says what `cairn` says of it. `path`: the file it is about,
/// where the error does not know; "": none.
[[noreturn]] void raise(Error error, const std::string &path);

template <typename T>
T taken(Result<T> result, const std::string &path) {
  if (!result) raise(result.error(), path);
  return *std::move(result);
}

/// `work` without the interpreter's lock: it must touch nothing of Python's.
template <typename Work>
auto unlocked(const Work &work) {
  const py::gil_scoped_release release;
  return work();
}

py::str text(std::string_view text);
py::object value(const analyze::Value &value);
/// None if nothing is known.
py::object position(const analyze::Position &position);
py::list positions(const std::vector<analyze::Position> &positions);
py::list numbers(const std::vector<uint32_t> &numbers);

/// Numbers for names, in the order in which they are met. Only `names` needs the lock.
class Codes {
 public:
  int32_t of(std::string_view name);
  [[nodiscard]] py::list names() const;

 private:
  std::map<std::string, int32_t, std::less<>> numbers_;
  std::vector<std::string> names_;
};

template <typename T>
py::object maybe(const std::optional<T> &value) {
  return value ? py::cast(*value) : py::none();
}

/// None unless it is known.
template <typename T>
py::object if_known(bool known, const T &value) {
  return known ? py::cast(value) : py::none();
}

template <typename T>
py::array column(std::vector<T> values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  const py::capsule keeps(owner.get(), [](void *vector) { delete static_cast<std::vector<T> *>(vector); });
  std::vector<T> *kept = owner.release();
  return py::array_t<T>(static_cast<py::ssize_t>(kept->size()), kept->data(), keeps);
}

}  // namespace cairn::python
