// Facts about functions and constants that follow from spec/ and the local MPI's ABI, worked out once when the recorder
// is attached and then read by any thread: which parameters play which part, and what value each named constant has
// here.
#pragma once

#include <cstdint>

#include "mpi/call/mpi_calls.h"
#include "mpi/names/handles.h"
#include "mpi/names/local_values.h"
#include "mpi/names/memo.h"
#include "spec/spec.h"

namespace cairn::recorder {

/// How the encoder comes from a parameter to its field.
enum class FieldPlan : uint8_t {
  general,  ///< by all that the table says
  nothing,  ///< is absent
  // What most parameters are, where they are significant: passed by value.
  integer,
  comm,
  handle,  ///< one that the call leaves as it is
  buffer,
  // One handle through a pointer, but of requests and messages.
  held,  ///< given to the call, which may end it
  made,  ///< by the call, or looked up
};

/// Parameters by the part they play; -1 where a function has none.
struct FunctionFacts {
  MemoKind memo;
  bool read_before;     ///< the call may overwrite what must be kept
  uint16_t outputs;     ///< integer outputs whose values a memo compares
  bool waits;           ///< MPI_Wait, MPI_Test, MPI_Waitall, MPI_Testall: nothing but their requests is kept
  bool receives;        ///< its status, or its request's, carries an envelope
  bool transfers_file;  ///< its status, or its request's, carries bytes
  bool tells_outcome;   ///< its status is of a receive, of a transfer of a file, or of a request that is looked at
  int8_t request;       ///< creates a request
  int8_t requests;      ///< requests that may complete
  int8_t request_count;
  int8_t request_in;  ///< a request only looked at (Request_get_status)
  int8_t message;     ///< matched message consumed
  int8_t index;       ///< which requests completed (Waitany, …)
  int8_t status;
  int8_t source;
  int8_t tag;
  int8_t count;
  int8_t datatype;
  bool releases;      ///< an object ends if it succeeds
  bool ends_objects;  ///< some handle or memory may end with the call
  bool placing;       ///< the call counts among those that heap segments are placed by (store/heap_log.h)
  bool saves;         ///< `save_before` keeps something of a parameter that has no plan, or an array's length is bound
  uint16_t conditional;  ///< bit i: parameter i, which has a plan, is significant only if its expression says so
  uint16_t copied;       ///< bit i: the field of parameter i follows from its value alone (last_rows.h)
  FieldPlan plan[spec::kMaxParameters];
};
extern FunctionFacts function_facts[];

/// All ones where a memo compares an argument as it is; else 0.
struct alignas(64) ComparedArguments {
  uint64_t mask[spec::kMaxParameters];
};
extern ComparedArguments compared_arguments[];

/// Resolves what the ABI tables leave to run time from `library`, and works out everything above. False if the library
/// lacks something the recorder cannot do without.
bool prepare_facts(void *library, mpi::Constants *constants);
/// All of it that who reads the arena from outside needs.
const LocalValues &local_values();
/// Enters predefined handles into the table; false without memory.
bool enter_predefined(HandleTable &handles);

/// The value of a constant in the local MPI as a word; false if it has none.
bool local_constant(uint16_t id, uint64_t *value);
/// The id of the constant of `domain` that has this value, or -1.
int constant_of(uint8_t domain, uint64_t value);
/// Bytes of one element in memory, and its value as a word.
size_t element_size(const spec::Parameter &parameter);
uint64_t element_word(const spec::Parameter &parameter, const void *array, size_t index);

/// A null handle: asking MPI about it would call the program's error handler.
bool is_null_handle(const HandleEntry &entry);

}  // namespace cairn::recorder
