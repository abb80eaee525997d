// Environment: where the length and condition expressions of spec/ find their values, for one call in flight.
#pragma once

#include "mpi/call/facts.h"
#include "mpi/call/frame.h"
#include "mpi/call/mpi_calls.h"
#include "spec/expression.h"

namespace cairn::recorder {

class Environment {
 public:
  /// `succeeded`: the call did, so its handles are good even if they were never seen created. MPI is asked about no
  /// other handle: a question about a bad one would reach the program's error handler.
  Environment(const Frame &frame, bool succeeded)
      : frame_(frame), function_(spec::functions()[frame.function]), succeeded_(succeeded) {}

  [[nodiscard]] int64_t argument(unsigned i) const { return static_cast<int64_t>(frame_.argument[i]); }

  [[nodiscard]] int64_t dereference(unsigned i) const { return element(i, 0); }

  [[nodiscard]] int64_t element(unsigned i, int64_t index) const {
    const uint64_t word = frame_.argument[i];
    if (word == 0 || index < 0) return 0;
    const spec::Parameter &parameter = function_.parameters[i];
    // A constant in a pointer's place (MPI_UNWEIGHTED, …) has nothing behind it.
    if (constant_of(parameter.pointer_domain, word) >= 0) return 0;
    return static_cast<int64_t>(
        element_word(parameter, reinterpret_cast<const void *>(word), static_cast<size_t>(index)));
  }

  [[nodiscard]] int64_t constant(uint16_t id) const {
    uint64_t value = 0;
    return local_constant(id, &value) ? static_cast<int64_t>(value) : INT64_MIN;
  }

  [[nodiscard]] int64_t query(spec::Query what, unsigned i) const { return query(what, i, 0); }
  [[nodiscard]] int64_t query(spec::Query what, unsigned i, int64_t second) const;

  /// Size of the datatype in parameter `i`; -1 if it cannot be asked.
  [[nodiscard]] int64_t type_size(unsigned i) const { return may_ask(i) ? mpi::type_size(frame_.argument[i]) : -1; }

 private:
  [[nodiscard]] bool may_ask(unsigned i) const;

  const Frame &frame_;
  const spec::Function &function_;
  bool succeeded_;
};

}  // namespace cairn::recorder
