// Decoder: a row of a trace becomes a call with named arguments, handles and addresses written symbolically, constants
// by name and ranks as the program gave them.
//
// Borrows the trace and the sources, which must outlive it. Const after construction; any thread may use it. Malformed
// fields are shown as "?" and never trusted.
#pragma once

#include <string>
#include <vector>

#include "analyze/communicator_names.h"
#include "analyze/sources.h"
#include "analyze/value.h"
#include "spec/spec.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct Argument {
  const char *name;
  Value value;
  const spec::Parameter *parameter;
};

struct Call {
  const spec::Function *function = nullptr;  ///< nullptr: an id this version does not know
  uint32_t function_id = 0;
  uint32_t depth = 0;
  std::vector<Argument> arguments;
  Value result;
  bool returned = true;  ///< false: the call never returned (it was left by an exception, longjmp or the end)
  bool malformed = false;
  /// Of the names that it was decoded with, where it has a communicator that the program made; else 0.
  uint64_t names_version = 0;
  Position position;  ///< of the call
  Value objects{};    ///< a record by parameters, where somebody (objects/object_notes.h) told which they are
  std::vector<Position> callers;  ///< of its function and so on outwards, where call stacks were kept
};

class Decoder {
 public:
  Decoder(const trace::Trace &trace, const Sources &sources);

  /// `names`: of the rank, as they are at this call; nullptr: its communicators are "comm#0", by a number that the next
  /// may have once one was freed.
  [[nodiscard]] Call decode(uint32_t class_index, const trace::Row &row,
                            const CommunicatorNames *names = nullptr) const;
  /// One parameter's value, with nothing that the call changed in it apart.
  [[nodiscard]] Value value(uint32_t class_index, const spec::Parameter &parameter, const trace::Field &field,
                            const CommunicatorNames *names = nullptr) const {
    Call ignored;
    return value(class_index, parameter, field, false, names, &ignored);
  }

 private:
  friend class FieldDecoder;
  /// One parameter's value. `succeeded`: the call returned MPI_SUCCESS, so that what it updates is there twice.
  [[nodiscard]] Value value(uint32_t class_index, const spec::Parameter &parameter, const trace::Field &field,
                            bool succeeded, const CommunicatorNames *names, Call *call) const;
  [[nodiscard]] uint32_t thread_of(uint32_t class_index) const {
    return class_index < trace_->class_count() ? trace_->class_thread(class_index) : 0;
  }

  /// What its ranks' MPI_COMM_WORLD is called.
  [[nodiscard]] std::string world_of(uint32_t class_index) const {
    const bool known = class_index < trace_->class_count() && !trace_->run().jobs.empty();
    return CommunicatorNames::world_of(known ? trace_->job_of(trace_->class_ranks(class_index).front()).number : 0);
  }

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
/// "MPI_Recv at halo.c:12"; "MPI_Recv" where `where` is "".
std::string function_at(uint32_t id, const std::string &where);

}  // namespace cairn::analyze
