#include "analyze/communicator_ids.h"

#include <fmt/format.h>

#include <utility>

#include "analyze/value.h"
#include "spec/spec.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {

using spec::Kind;
using trace::AtomReader;

void CommunicatorIds::add(const trace::Row &row, uint64_t count) {
  if (row.function >= spec::functions().size()) return;
  const spec::Function &function = spec::functions()[row.function];
  Id id;
  id.parent = trace::kUnknown;
  const unsigned over = spec::counting_parent(function);
  if (over != 0 && over <= row.fields.size() && row.fields[over - 1].atoms.size() == 1) {
    id.parent = row.fields[over - 1].atoms[0];
  } else {
    id.function = row.function;
  }
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    const trace::Field &field = row.fields[i];
    if (id.parent == trace::kUnknown && function.parameters[i].kind == Kind::tag) {
      id.tags.insert(id.tags.end(), field.atoms.begin(), field.atoms.end());
    }
    if (id.parent == trace::kUnknown && function.parameters[i].kind == Kind::string) id.text = field.bytes;
  }
  constexpr size_t kIdentity = 4;  // with the communicator's own number, at least
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    const trace::Field &field = row.fields[i];
    if (function.parameters[i].layout != spec::Layout::comm || field.is_bytes) continue;
    if (field.atoms.size() < kIdentity || trace::is_special(field.atoms[0])) continue;
    id.identity.assign(field.atoms.begin() + 1, field.atoms.end());
    id.identity.erase(id.identity.begin() + 1);  // the rank's own place there
    created_[id] += count;
    with_number_[field.atoms[0]] += count;
  }
}

std::vector<std::string> CommunicatorIds::repeated(bool complete) const {
  std::vector<std::string> lines;
  for (const auto &[id, count] : created_) {
    uint64_t most = 1;
    if (id.parent != trace::kUnknown && !trace::is_special(id.parent)) {
      // One communicator after the other may have had the parent's number. Some are never seen created.
      const auto found = with_number_.find(id.parent);
      if (!complete || found == with_number_.end()) continue;
      most = found->second;
    }
    if (count <= most) continue;
    const std::string from = id.parent == trace::kUnknown ? spec::functions()[id.function].name
                             : trace::is_special(id.parent)
                                 ? constant_name(AtomReader({&id.parent, 1}).next().constant())
                                 : fmt::format("comm#{}", id.parent);
    lines.push_back(
        fmt::format("{} communicators are number {} of {}, of the same smallest rank", count, id.identity[0], from));
  }
  return lines;
}

}  // namespace cairn::analyze
