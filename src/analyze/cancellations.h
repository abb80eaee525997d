// Cancellations: which of a rank's messages MPI_Cancel was called for, and whether they were cancelled. Only the call
// that completes a request says so, and whether it is a message that others can meet has to be known where it begins.
//
// Costs a look at the rows of the rank's classes; of a rank that calls MPI_Cancel all of its calls, and memory for the
// requests that it was called for. Const once it is made; any thread. Borrows nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "trace/read/trace.h"

namespace cairn::analyze {

/// The highest that every MPI library takes: a replay posts receives under it that were cancelled, whatever tag they
/// asked for, so that no message comes before they are.
constexpr int64_t kNobodysTag = 32767;

/// One start of a request that MPI_Cancel was called for.
struct Cancellation {
  enum class Came : uint8_t {
    cancelled,  ///< it is no message
    complete,   ///< it was too late
    unknown,    ///< the trace does not say
  } came = Came::unknown;
  bool receive = false;     ///< else it sends
  bool persistent = false;  ///< each start of the request is another one
};

class Cancellations {
 public:
  Cancellations() = default;
  Cancellations(const trace::Trace &trace, uint32_t rank);

  [[nodiscard]] bool empty() const { return begun_.empty(); }
  /// What became of the `place`-th message that a call begins (MPI_Startall begins several); `call`: its Event::index.
  /// nullptr: nobody tried to cancel it.
  [[nodiscard]] const Cancellation *begun_by(uint64_t call, size_t place = 0) const {
    return find(begun_, {call, place});
  }
  [[nodiscard]] bool is_cancelled(uint64_t call, size_t place = 0) const {
    const Cancellation *found = begun_by(call, place);
    return found != nullptr && found->came == Cancellation::Came::cancelled;
  }
  /// Some message that the rank sent.
  [[nodiscard]] bool has_cancelled_sends() const;
  /// The same by the call's number among those of its thread, from 0, for MPI_Isend and the like.
  [[nodiscard]] const Cancellation *begun_by_thread(uint32_t thread, uint64_t number) const {
    return find(of_threads_, {thread, number});
  }
  /// What a call of MPI_Cancel, by the same, came to.
  [[nodiscard]] const Cancellation *asked_by_thread(uint32_t thread, uint64_t number) const {
    return find(asked_, {thread, number});
  }

  /// A class has calls of MPI_Cancel.
  static bool may_be_in(const trace::Trace &trace, uint32_t class_index);

 private:
  template <typename First, typename Second>
  using Places = std::map<std::pair<First, Second>, Cancellation>;
  template <typename First, typename Second>
  static const Cancellation *find(const Places<First, Second> &in, const std::pair<First, Second> &place) {
    const auto found = in.find(place);
    return found == in.end() ? nullptr : &found->second;
  }

  Places<uint64_t, size_t> begun_;
  Places<uint32_t, uint64_t> of_threads_;
  Places<uint32_t, uint64_t> asked_;
};

}  // namespace cairn::analyze
