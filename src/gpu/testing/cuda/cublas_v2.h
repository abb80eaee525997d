// As much of cuBLAS as programs need whose own kernels are what is looked at, for the emulator: handles and modes, and
// the product of matrices of floats, which is computed on the host as it is defined.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#define CUBLAS_API_H_  // programs ask by cuBLAS's name whether this is there

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasComputeType_t { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
using cudaDataType = cudaDataType_t;
using cublasHandle_t = struct cublasContext *;

inline cublasStatus_t cublasCreate(cublasHandle_t *handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                                  const float *alpha, const float *a, int lda, const float *b, int ldb,
                                  const float *beta, float *c, int ldc) {
  const auto at = [](const float *of, int ld, cublasOperation_t how, int row, int column) {
    return how == CUBLAS_OP_N ? of[row + static_cast<long>(column) * ld] : of[column + static_cast<long>(row) * ld];
  };
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < m; ++row) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += at(a, lda, of_a, row, i) * at(b, ldb, of_b, i, column);
      float &to = c[row + static_cast<long>(column) * ldc];
      to = *alpha * sum + (*beta == 0 ? 0.0f : *beta * to);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
