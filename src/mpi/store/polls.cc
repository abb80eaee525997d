#include "mpi/store/polls.h"

#include <algorithm>
#include <utility>

#include "spec/spec.h"

namespace cairn::recorder {
namespace {

using spec::Direction;
using spec::Function;
using trace::Poll;

/// Where a call drains an array, all parameters behind that are outputs (spec/README.md).
uint32_t first_output(const Function &function) {
  uint32_t parameter = 0;
  while (function.parameters[parameter].direction != Direction::out) ++parameter;
  return parameter;
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

/// Makes communicators, types, …: what later calls name by how many there were before.
bool makes_named(const Function &function) {
  return std::any_of(function.parameters, function.parameters + function.parameter_count,
                     [](const spec::Parameter &parameter) {
                       return parameter.direction != Direction::in && spec::is_handle(parameter.layout) &&
                              parameter.kind != spec::Kind::request && parameter.kind != spec::Kind::message;
                     });
}

}  // namespace

std::vector<Poll> polls_of(const std::vector<Bytes> &rows) {
  std::vector<Poll> polls;
  for (size_t i = 0; i < rows.size(); ++i) {
    // The function comes first: nearly all rows are seen to be something else by it.
    ByteReader head(rows[i]);
    const uint64_t id = head.varint();
    if (head.failed() || id >= spec::functions().size()) continue;
    const Function &function = spec::functions()[id];
    if (function.answer == 0 && function.completed == 0) continue;
    ByteReader in(rows[i]);
    Result<trace::Row> row = trace::unpack_row(in);
    if (!row) continue;
    const bool drains = function.completed != 0 && succeeded(*row);
    const uint32_t answer = function.answer == 0 ? 0 : function.answer - 1U;
    Poll poll = function.answer != 0 ? poll_of(*std::move(row), answer) : Poll();
    if (drains && (poll.kind != Poll::none || function.answer == 0)) {
      poll.first_output = first_output(function);
      poll.answer = answer;
    }
    if (poll.kind == Poll::none && poll.first_output == 0) continue;
    polls.resize(rows.size());
    polls[i] = std::move(poll);
  }
  for (size_t i = 0; i < polls.size(); ++i) {
    ByteReader head(rows[i]);
    const uint64_t id = head.varint();
    polls[i].stays = head.failed() || id >= spec::functions().size() || makes_named(spec::functions()[id]);
  }
  return polls;
}

}  // namespace cairn::recorder
