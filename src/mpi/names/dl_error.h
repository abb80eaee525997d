// KeptDlError: while one lives, requests to the dynamic linker leave no trace in what dlerror gives the program.
//
// The preload does it (preload.h); without one, as in unit tests and in readers, nothing happens.
#pragma once

#include "mpi/preload/preload.h"

namespace cairn::recorder {

/// Of the process that is recorded; set once, before there are threads of ours.
inline constinit const CairnPreload *dl_error_keeper = nullptr;

class KeptDlError {
 public:
  KeptDlError() {
    if (dl_error_keeper != nullptr) dl_error_keeper->keep_dl_error();
  }
  ~KeptDlError() {
    if (dl_error_keeper != nullptr) dl_error_keeper->restore_dl_error();
  }
  KeptDlError(const KeptDlError &) = delete;
  KeptDlError &operator=(const KeptDlError &) = delete;
};

}  // namespace cairn::recorder
