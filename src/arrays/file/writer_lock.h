// WriterLock: one job at a time writes to a file.
//
// A lock of the operating system on one byte far behind any that a file can have, so that it meets no lock of an MPI's
// own. It belongs to the object, not to the process, and goes with it, or with the process, however that ends. Readers
// do not ask for it. One thread at a time.
#pragma once

#include <memory>
#include <string>

namespace cairn::arrays {

class WriterLock {
 public:
  enum class State : uint8_t {
    none,     ///< not asked for, or there is no such file
    held,     ///< by this object
    refused,  ///< another holds it
    unknown,  ///< this file system has no locks, or the file may not be written to
  };
  WriterLock() = default;
  explicit WriterLock(const std::string &path);

  [[nodiscard]] State state() const { return state_; }

 private:
  struct Closer {
    void operator()(const int *file) const;
  };
  State state_ = State::none;
  std::unique_ptr<int, Closer> file_;
};

}  // namespace cairn::arrays
