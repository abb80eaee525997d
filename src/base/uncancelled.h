// Uncancelled: no pthread_cancel takes effect while one lives.
//
// What runs within other people's programs opens, reads and writes files on its slow paths, which are cancellation
// points; the program's thread must only be cancelled at its own.
#pragma once

#include <pthread.h>

namespace cairn {

class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled &) = delete;
  Uncancelled &operator=(const Uncancelled &) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace cairn
