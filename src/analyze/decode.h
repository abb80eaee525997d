// Decoder: a row of a trace becomes a call with named arguments, handles and addresses written symbolically, constants
// by name and ranks as the program gave them.
//
// Borrows the trace and the sources, which must outlive it. Const after construction; any thread may use it. Malformed
// fields are shown as "?" and never trusted.
#pragma once

#include <string>
#include <vector>

#include "analyze/sources.h"
#include "analyze/value.h"
#include "spec/spec.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct Argument {
  const char *name;
  Value value;
};

struct Call {
  const spec::Function *function = nullptr;  ///< nullptr: an id this version does not know
  uint32_t function_id = 0;
  uint32_t depth = 0;
  std::vector<Argument> arguments;
  Value result;
  bool returned = true;  ///< false: the call never returned (it was left by an exception, longjmp or the end)
  bool malformed = false;
  Position position;              ///< of the call
  std::vector<Position> callers;  ///< of its function and so on outwards, where call stacks were kept
};

class Decoder {
 public:
  Decoder(const trace::Trace &trace, const Sources &sources) : trace_(&trace), sources_(&sources) {}

  [[nodiscard]] Call decode(uint32_t class_index, const trace::Row &row) const;
  /// One parameter's value. `succeeded`: the call returned MPI_SUCCESS, so that what it updates is there twice.
  [[nodiscard]] Value value(uint32_t class_index, const spec::Parameter &parameter, const trace::Field &field,
                            bool succeeded, bool &malformed) const;

 private:
  friend class FieldDecoder;
  const trace::Trace *trace_;
  const Sources *sources_;
};

/// "MPI_Isend(buf=heap#2+0, …) = MPI_SUCCESS  main.c:42 in exchange()"
std::string call_text(const Call &call);
/// A line for each caller: "            called at main.c:50 in main()".
std::string stack_text(const Call &call);
/// {"function": …, "args": {…}, "return": …, "site": {…}}, and with the stack "callers": [{…}, …].
nlohmann::ordered_json call_json(const Call &call, bool with_stack = false);
/// The name of a function, or "function#17" for an id of a newer table.
std::string function_name(uint32_t id);

}  // namespace cairn::analyze
