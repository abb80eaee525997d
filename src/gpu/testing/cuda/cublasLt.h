// As much of cuBLASLt as programs need that make a handle and use none, for the emulator.
#pragma once

#include "cublas_v2.h"

using cublasLtHandle_t = struct cublasLtContext *;
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
