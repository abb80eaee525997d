#include "simgrid/calls.h"

#include <string>
#include <string_view>

#include "analyze/volume.h"
#include "simgrid/left_out.h"

namespace cairn::simgrid {
namespace {

using analyze::RowAccess;

std::optional<uint64_t> amount(const RowAccess &row, const analyze::Sizes &sizes, const char *count, const char *type) {
  const auto elements = row.number(count);
  const auto handle = row.handle(type);
  if (elements && *elements == 0) return 0;
  const int64_t size = handle ? sizes.datatype(*handle).value_or(-1) : -1;
  int64_t bytes = 0;
  if (!elements || *elements < 0 || size < 0 || __builtin_mul_overflow(*elements, size, &bytes)) return std::nullopt;
  // The messages of a partitioned request have a count each.
  if (const auto partitions = row.number("partitions")) {
    if (*partitions < 0 || __builtin_mul_overflow(bytes, *partitions, &bytes)) return std::nullopt;
  }
  return static_cast<uint64_t>(bytes);
}

bool waits(const spec::Function &function) {
  const std::string_view name = function.name;
  return analyze::is_message_call(function) || is_collective(function) || why_left_out(function) != nullptr ||
         name == "MPI_Probe" || name == "MPI_Iprobe" || name.starts_with("MPI_Init") || name == "MPI_Finalize" ||
         name == "MPI_Comm_free" || name == "MPI_Parrived";
}

}  // namespace

SimulatedCall simulated_call(const trace::Row &row, const analyze::RowScope &scope, const analyze::Sizes &sizes) {
  SimulatedCall made;
  if (row.function >= spec::functions().size()) return made;
  const spec::Function &function = spec::functions()[row.function];
  made.waits = waits(function);
  if (!made.waits) return made;
  made.unfinished = !row.fields.empty() && row.fields.back().atoms == std::vector<trace::Atom>{trace::kNoReturn};
  made.collective = collective_of(row, scope, sizes);
  if (made.collective) return made;
  made.messages = analyze::message_call(row, scope);
  if (!made.messages) return made;
  const RowAccess access(row, scope);
  if (made.messages->does == analyze::MessageCall::Does::partitions) {
    if (access.number("dest")) made.messages->send = {access.number("dest"), access.number("tag")};
    if (access.number("source")) made.messages->receive = {access.number("source"), access.number("tag")};
  }
  made.buffered = analyze::operation(function) == "Bsend";
  const bool apart = access.has("sendtype") || access.has("recvtype");  // MPI_Sendrecv
  made.sent = apart ? amount(access, sizes, "sendcount", "sendtype") : amount(access, sizes, "count", "datatype");
  made.room = apart ? amount(access, sizes, "recvcount", "recvtype") : amount(access, sizes, "count", "datatype");
  return made;
}

}  // namespace cairn::simgrid
