// Arrays of requests that are drained, call after call, and what rows say of them.
//
// MPI_Waitany, Waitsome, Testany and Testsome over one array mostly find it as the last of them left it: what completed
// is MPI_REQUEST_NULL. So a sequence remembers the arrays that such calls left, most recent first, at most
// kRememberedArrays of them, and the field of the requests begins with special kRequests + d, which means: remember
// what this call leaves. After it comes the array, two atoms a request, or one atom, the place of the remembered array
// that this call found. The d-th field after this one says which requests completed, each as the number of requests
// that stood before it when those named before it had gone. In an array that drains in order that is 0 all the way.
//
// Recorders write this (mpi/store/drained_arrays.h), CallReader reads it, in a sequence's order. Who reads rows out of
// order (Trace::row, counted_rows) sees an array where it is written out, else kAsLeft, and kUnknown for its indices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "trace/model/record.h"

namespace cairn::trace {

constexpr unsigned kRememberedArrays = 8;

/// How many of the requests before place `end` are there.
inline uint64_t requests_before(std::span<const Atom> array, size_t end) {
  uint64_t count = 0;
  for (size_t i = 0; i < end; ++i) count += array[2 * i] == kRequestNull ? 0 : 1;
  return count;
}

inline void remove_request(std::span<Atom> array, size_t place) {
  array[2 * place] = kRequestNull;
  array[2 * place + 1] = 0;
}

/// Where a row speaks of an array that is remembered.
struct DrainedField {
  size_t requests = 0;            ///< the field
  size_t indices = 0;             ///< the field that says what completed
  std::optional<uint64_t> place;  ///< of the remembered array; nullopt: it is written out

  static std::optional<DrainedField> of(const Row &row);
};

/// What a reader of one sequence remembers. Equal arrays have one number. One thread at a time; memory in proportion to
/// the different arrays.
class RequestArrays {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;  ///< there is no such array: the trace contradicts itself

  /// The array that the next call, of which `drained` was said, finds.
  uint32_t found(const Row &row, const DrainedField &drained);
  /// Writes that array and the places of what completed into the row; gives what the call leaves.
  uint32_t complete(Row *row, const DrainedField &drained, uint32_t found);
  /// The call left that.
  void leave(const DrainedField &drained, uint32_t left);
  /// What a reader remembers who begins in the middle of the sequence: it knows none of the arrays that there may be.
  void forget() { places_.assign(kRememberedArrays, kNone); }
  /// What a reader remembers at the sequence's begin.
  void clear() { places_.clear(); }
  /// The numbers of those that are remembered, most recent first; kNone where that is not known.
  [[nodiscard]] const std::vector<uint32_t> &remembered() const { return places_; }

 private:
  uint32_t number_of(std::vector<Atom> array);

  std::map<std::vector<Atom>, uint32_t> numbers_;
  std::vector<const std::vector<Atom> *> arrays_;  ///< by number
  std::vector<uint32_t> places_;                   ///< most recent first
};

/// For a row by itself: as much of the above as it holds.
void expand_requests(Row *row);

}  // namespace cairn::trace
