#include "mpi/polls.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "spec/spec.h"

namespace cairn::recorder {
namespace {

using spec::Direction;
using spec::Function;
using trace::Poll;

/// Functions that return at once and say in `flag`, or by `outcount`, whether they found something.
constexpr std::array<std::string_view, 12> kPolls = {
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Iprobe",
    "MPI_Improbe",
    "MPI_Request_get_status",
    "MPI_Request_get_status_all",
    "MPI_Request_get_status_any",
    "MPI_Request_get_status_some",
    "MPI_Parrived",
    "MPI_Win_test",
};

/// Function id → index of the parameter that says whether it found something.
std::unordered_map<uint32_t, size_t> answers() {
  std::unordered_map<uint32_t, size_t> found;
  for (const std::string_view name : kPolls) {
    const Function *function = spec::find_function(name);
    if (function == nullptr) continue;
    for (size_t p = 0; p < function->parameter_count; ++p) {
      const std::string_view parameter = function->parameters[p].name;
      if (parameter == "flag" || parameter == "outcount") found.emplace(function->id, p);
    }
  }
  return found;
}

Poll poll_of(trace::Row row, size_t answer) {
  const Function &function = spec::functions()[row.function];
  const size_t parameters = function.parameter_count;
  const std::vector<trace::Atom> success = {0};
  if (row.fields.size() != parameters + 1 || row.fields[parameters].atoms != success) return {};
  if (row.fields[answer].atoms.size() != 1) return {};
  const trace::Atom said = row.fields[answer].atoms[0];
  if (said == 0) return {Poll::unsuccessful, {}};
  if (said < 0 || trace::is_special(said)) return {};  // Testsome of nothing: MPI_UNDEFINED
  for (size_t p = 0; p < parameters; ++p) {
    if (function.parameters[p].direction == Direction::out) row.fields[p] = {};
  }
  row.fields[answer].atoms = {0};
  ByteWriter out;
  trace::pack_row(row, out);
  return {Poll::successful, out.take()};
}

}  // namespace

std::vector<Poll> polls_of(const std::vector<Bytes> &rows) {
  // No static: a process that ends without MPI_Finalize is harvested when those may be gone.
  const std::unordered_map<uint32_t, size_t> known = answers();
  std::vector<Poll> polls;
  for (size_t i = 0; i < rows.size(); ++i) {
    // The function comes first: nearly all rows are seen to be something else by it.
    ByteReader head(rows[i]);
    const auto answer = known.find(static_cast<uint32_t>(head.varint()));
    if (head.failed() || answer == known.end()) continue;
    ByteReader in(rows[i]);
    Result<trace::Row> row = trace::unpack_row(in);
    if (!row) continue;
    Poll poll = poll_of(*std::move(row), answer->second);
    if (poll.kind == Poll::none) continue;
    polls.resize(rows.size());
    polls[i] = std::move(poll);
  }
  return polls;
}

}  // namespace cairn::recorder
