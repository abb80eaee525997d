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

/// Those that take what has completed out of an array of requests, call after call.
constexpr std::array<std::string_view, 4> kDrains = {"MPI_Waitany", "MPI_Waitsome", "MPI_Testany", "MPI_Testsome"};

/// Function id → index of the first parameter behind the array of requests.
std::unordered_map<uint32_t, uint32_t> first_outputs() {
  std::unordered_map<uint32_t, uint32_t> found;
  for (const std::string_view name : kDrains) {
    const Function *function = spec::find_function(name);
    for (uint32_t p = 0; function != nullptr && p < function->parameter_count; ++p) {
      if (function->parameters[p].name == std::string_view("array_of_requests")) found.emplace(function->id, p + 1);
    }
  }
  return found;
}

bool succeeded(const trace::Row &row) {
  const size_t parameters = spec::functions()[row.function].parameter_count;
  const std::vector<trace::Atom> success = {0};
  return row.fields.size() == parameters + 1 && row.fields[parameters].atoms == success;
}

Poll poll_of(trace::Row row, size_t answer) {
  const Function &function = spec::functions()[row.function];
  const size_t parameters = function.parameter_count;
  if (!succeeded(row) || row.fields[answer].atoms.size() != 1) return {};
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
  const std::unordered_map<uint32_t, uint32_t> outputs = first_outputs();
  std::vector<Poll> polls;
  for (size_t i = 0; i < rows.size(); ++i) {
    // The function comes first: nearly all rows are seen to be something else by it.
    ByteReader head(rows[i]);
    const auto function = static_cast<uint32_t>(head.varint());
    const auto answer = known.find(function);
    const auto output = outputs.find(function);
    if (head.failed() || (answer == known.end() && output == outputs.end())) continue;
    ByteReader in(rows[i]);
    Result<trace::Row> row = trace::unpack_row(in);
    if (!row) continue;
    const bool drains = output != outputs.end() && succeeded(*row);
    Poll poll = answer != known.end() ? poll_of(*std::move(row), answer->second) : Poll();
    if (drains && (poll.kind != Poll::none || answer == known.end())) {
      poll.first_output = output->second;
      poll.answer = answer != known.end() ? static_cast<uint32_t>(answer->second) : 0;
    }
    if (poll.kind == Poll::none && poll.first_output == 0) continue;
    polls.resize(rows.size());
    polls[i] = std::move(poll);
  }
  return polls;
}

}  // namespace cairn::recorder
