#include "mpi/call/encoder.h"

#include "mpi/call/call_encoder.h"

namespace cairn::recorder {

using spec::Function;
using spec::Parameter;
using spec::Passing;

bool save_before(Thread &thread, Frame &frame) {
  const Function &function = spec::functions()[frame.function];
  Arena &arena = *thread.process->arena;
  Environment environment(frame, false);
  size_t end = thread.before.size();
  frame.scratch = static_cast<uint32_t>(end);
  const auto append = [&](const void *bytes, size_t size) {
    const size_t room = Saved::padded(size);
    if (!thread.before.reserve(arena, end + room)) return false;
    if (size != 0) memcpy(thread.before.data() + end, bytes, size);
    end += room;
    thread.before.resize(end);
    return true;
  };
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const Parameter &p = function.parameters[i];
    if (p.capacity) {
      const int64_t capacity = spec::evaluate(p.capacity, environment);
      if (!append(&capacity, 8)) return false;
    }
    if (!p.read_before) continue;
    const uint64_t word = frame.argument[i];
    int64_t n = word == 0 ? 0 : p.passing == Passing::array && p.length ? spec::evaluate(p.length, environment) : 1;
    if (p.significant && spec::evaluate(p.significant, environment) == 0) n = 0;
    if (p.passing != Passing::array && p.passing != Passing::pointer) n = 0;
    if (constant_of(p.pointer_domain, word) >= 0) n = 0;
    if (n < 0) n = 0;
    const auto count = static_cast<uint64_t>(n);
    if (!append(&count, 8) || !append(reinterpret_cast<const void *>(word), count * element_size(p))) return false;
  }
  frame.flags |= kFrameSaved;
  return true;
}

bool encode_bare(Thread &thread, const Frame &frame) {
  const uint32_t fields = spec::functions()[frame.function].parameter_count + 1u;
  const size_t most = 4 * kMaxVarint + fields;
  if (!thread.row.reserve(*thread.process->arena, most)) return false;
  uint8_t *const start = thread.row.data();
  uint8_t *at = put_varint(start, frame.function);
  at = put_varint(at, CallNames(thread).local_site(frame.site));
  at = put_varint(at, frame.depth);
  at = put_varint(at, fields);
  memset(at, 0, fields);  // that many absent fields
  thread.row.resize(static_cast<size_t>(at - start) + fields);
  return true;
}

bool encode(Thread &thread, Frame &frame, bool returned, Outcome *outcome, Keep keep) {
  CallEncoder encoder(thread, frame, returned, *outcome);
  // Arrays that are drained are remembered by what rows say of them.
  return encoder.run(keep == Keep::row);
}

}  // namespace cairn::recorder
