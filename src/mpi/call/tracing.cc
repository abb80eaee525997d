#include "mpi/call/tracing.h"

#include <fnmatch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "mpi/call/encoder.h"
#include "mpi/call/facts.h"
#include "spec/ids.h"

namespace cairn::recorder {
namespace {

namespace function_id = spec::function_id;
using spec::Effect;
using spec::Kind;
using spec::Parameter;

constexpr std::string_view kCommunicator = "comm:";

bool left_out[function_id::kCount];         ///< by CAIRN_EXCLUDE
bool follows_handles[function_id::kCount];  ///< the function makes, ends or changes some
int8_t communicator_of[function_id::kCount];
bool some_communicators;  ///< are left out by their names

/// Whether `name`, a function's or a communicator's, is matched by one of the patterns of that sort.
bool is_named(const char *patterns, bool communicators, const char *name) {
  for (const char *at = patterns; *at != '\0';) {
    const size_t length = strcspn(at, ",");
    std::string_view pattern(at, length);
    at += length + (at[length] == ',' ? 1 : 0);
    if (pattern.starts_with(kCommunicator) != communicators) continue;
    if (communicators) pattern.remove_prefix(kCommunicator.size());
    char text[256];
    if (pattern.empty() || pattern.size() >= sizeof text) continue;
    memcpy(text, pattern.data(), pattern.size());
    text[pattern.size()] = '\0';
    if (fnmatch(text, name, 0) == 0) return true;
  }
  return false;
}

int8_t first_communicator(const spec::Function &function) {
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const Parameter &p = function.parameters[i];
    if (p.kind == Kind::comm && p.passing == spec::Passing::value) return static_cast<int8_t>(i);
  }
  return -1;
}

Communicator *communicator(const Process &of, uint64_t word) {
  const HandleEntry *entry = of.names.handles->find(Kind::comm, word);
  return entry == nullptr ? nullptr : entry->comm;
}

bool on_left_out_communicator(const Process &of, const Frame &frame) {
  const int8_t at = communicator_of[frame.function];
  const Communicator *comm = at < 0 ? nullptr : communicator(of, frame.argument[at]);
  return comm != nullptr && comm->left_out;
}

}  // namespace

void prepare_tracing(Process &of) {
  const char *patterns = of.run.config.exclude;
  snprintf(of.run.excluded, sizeof of.run.excluded, "%s", patterns);
  for (const spec::Function &function : spec::functions()) {
    for (unsigned i = 0; i < function.parameter_count; ++i) {
      if (function.parameters[i].effect != Effect::none) follows_handles[function.id] = true;
    }
    communicator_of[function.id] = first_communicator(function);
    left_out[function.id] = is_named(patterns, false, function.name);
  }
  some_communicators = strstr(patterns, kCommunicator.data()) != nullptr;
  for (const auto &[name, id] : {std::pair("MPI_COMM_WORLD", spec::constant_id::k_COMM_WORLD),
                                 {"MPI_COMM_SELF", spec::constant_id::k_COMM_SELF}}) {
    uint64_t value = 0;
    Communicator *comm = local_constant(id, &value) ? communicator(of, value) : nullptr;
    if (comm != nullptr) comm->left_out = is_named(patterns, true, name);
  }
}

Switch switch_of(const Frame &frame) {
  if (frame.function == function_id::Pcontrol) {
    const auto level = static_cast<int>(frame.argument[0]);
    return level == 0 ? Switch::off : level == 1 ? Switch::on : Switch::none;
  }
  if (frame.function != function_id::Info_set) return Switch::none;
  const auto *key = reinterpret_cast<const char *>(frame.argument[1]);
  const auto *value = reinterpret_cast<const char *>(frame.argument[2]);
  if (key == nullptr || value == nullptr || strcmp(key, "CAIRN_TRACING") != 0) return Switch::none;
  if (strcmp(value, "ON") == 0) return Switch::on;
  return strcmp(value, "OFF") == 0 ? Switch::off : Switch::none;
}

void turn_tracing(Process &of, Switch to) {
  const Phase phase = of.phase.load();
  if (to == Switch::off && phase == Phase::recording) of.enter(Phase::paused);
  if (to == Switch::on && phase == Phase::paused) of.enter(Phase::recording);
}

bool is_kept(const Thread &thread, const Frame &frame) {
  const Process &of = *thread.process;
  if ((frame.flags & kFrameKept) != 0) return true;
  if (of.phase.load(std::memory_order_relaxed) == Phase::paused || left_out[frame.function]) return false;
  return !some_communicators || !on_left_out_communicator(of, frame);
}

void leave_out(Thread &thread, Frame &frame, bool returned) {
  Process &of = *thread.process;
  const bool paused = of.phase.load(std::memory_order_relaxed) == Phase::paused;
  of.losses.note(paused ? Loss::paused : Loss::excluded);
  if (!follows_handles[frame.function]) return;
  Outcome outcome;
  encode(thread, frame, returned, &outcome, Keep::handles);
}

void note_name(Process &of, const Frame &frame) {
  if (!some_communicators) return;
  Communicator *comm = communicator(of, frame.argument[0]);
  const auto *name = reinterpret_cast<const char *>(frame.argument[1]);
  if (comm == nullptr || name == nullptr) return;
  comm->left_out = is_named(of.run.excluded, true, name);
  of.names.handles->end_epoch();  // calls on it are not to be recognised
}

}  // namespace cairn::recorder
