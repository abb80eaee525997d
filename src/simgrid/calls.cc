#include "simgrid/calls.h"

#include <string>
#include <string_view>

#include "analyze/volume.h"
#include "simgrid/left_out.h"

namespace cairn::simgrid {
namespace {

bool waits(const spec::Function &function) {
  const std::string_view name = function.name;
  return analyze::is_message_call(function) || analyze::is_collective(function) || why_left_out(function) != nullptr ||
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
  made.collective = analyze::collective_of(row, scope, sizes);
  if (made.collective) return made;
  made.messages = analyze::message_call(row, scope);
  if (!made.messages) return made;
  const analyze::RowAccess access(row, scope);
  made.buffered = analyze::operation(function) == "Bsend";
  const bool apart = access.has("sendtype") || access.has("recvtype");  // MPI_Sendrecv
  made.sent = apart ? sizes.bytes(access, "sendcount", "sendtype") : sizes.bytes(access, "count", "datatype");
  made.room = apart ? sizes.bytes(access, "recvcount", "recvtype") : sizes.bytes(access, "count", "datatype");
  return made;
}

}  // namespace cairn::simgrid
