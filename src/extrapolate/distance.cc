#include "extrapolate/distance.h"

#include <map>
#include <string_view>
#include <utility>

#include "analyze/selected_calls.h"
#include "analyze/volume.h"

namespace cairn::extrapolate {
namespace {

/// Messages and bytes by sender and receiver.
using Matrix = std::map<std::pair<uint32_t, int64_t>, std::pair<uint64_t, uint64_t>>;

/// A call that sends to one process; persistent ones are counted where they are made ready.
bool sends(const spec::Function &function) {
  const std::string_view name = function.name;
  if (name.find("send") == std::string_view::npos && name.find("Send") == std::string_view::npos) return false;
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    if (std::string_view(function.parameters[i].name) == "dest") return true;
  }
  return false;
}

/// In all calls but those that begin and end MPI, which wait for processes to start.
uint64_t communication_ns(const trace::Trace &trace, uint32_t rank) {
  uint64_t frame = 0;
  for (const char *name : {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"}) {
    const spec::Function *function = spec::find_function(name);
    frame += trace.function_ns(rank, function->id).value_or(0);
  }
  const uint64_t all = trace.rank_info(rank).mpi_ns;
  return all > frame ? all - frame : 0;
}

Matrix matrix_of(const trace::Trace &trace, Traffic *traffic) {
  Matrix matrix;
  const analyze::SelectedCalls selected(trace, [](const spec::Function &) { return true; });
  for (const uint32_t rank : trace.ranks()) {
    traffic->mpi_ns += communication_ns(trace, rank);
    const auto sequences = selected.of(rank);
    const analyze::Volumes volumes(trace.rank_count(), sequences);
    for (const auto &sequence : sequences) {
      for (const trace::CountedRow &call : sequence.calls) {
        const analyze::RowAccess row(call.row, *sequence.scope);
        const spec::Function *function = row.function();
        traffic->calls += call.count;
        if (function == nullptr || !analyze::Volumes::may_move(*function)) continue;
        const analyze::Volume volume = volumes.of(call.row, *sequence.scope);
        const uint64_t bytes = static_cast<uint64_t>(volume.bytes.value_or(0)) * call.count;
        if (function->collective) traffic->collective_bytes += bytes;
        const auto dest = row.number("dest");
        if (!sends(*function) || !dest) continue;
        auto &[messages, sum] = matrix[{rank, *dest}];
        messages += call.count;
        sum += bytes;
        traffic->messages += call.count;
        traffic->bytes += bytes;
      }
    }
  }
  return matrix;
}

uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

double share(uint64_t of, uint64_t all) { return all == 0 ? 0 : static_cast<double>(of) / static_cast<double>(all); }

}  // namespace

Distance distance_between(const trace::Trace &first, const trace::Trace &second) {
  Distance result;
  const Matrix a = matrix_of(first, &result.first);
  Matrix b = matrix_of(second, &result.second);
  uint64_t messages = 0;
  uint64_t bytes = 0;
  for (const auto &[pair, sent] : a) {
    const auto other = b[pair];
    messages += apart(sent.first, other.first);
    bytes += apart(sent.second, other.second);
  }
  for (const auto &[pair, sent] : b) {
    if (a.contains(pair)) continue;
    messages += sent.first;
    bytes += sent.second;
  }
  result.messages = share(messages, result.first.messages + result.second.messages);
  result.bytes = share(bytes, result.first.bytes + result.second.bytes);
  return result;
}

}  // namespace cairn::extrapolate
