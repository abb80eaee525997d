// Streams: those of the C library over descriptors of compressed files. Its own would read past this library. Any
// thread.
#pragma once

#include <cstdio>
#include <map>
#include <mutex>

namespace cairn::arrays {

class Streams {
 public:
  static Streams &all();
  /// Of a descriptor that OpenViews has; closing the stream closes that.
  FILE *open(int file, const char *mode);
  /// Its descriptor; -1: it is none of these.
  int file(FILE *stream);

 private:
  struct Stream;
  void forget(FILE *stream);
  std::mutex lock_;
  std::map<FILE *, int> files_;
};

}  // namespace cairn::arrays
