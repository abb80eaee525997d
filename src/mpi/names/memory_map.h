// The process's mappings, read from /proc/self/maps without allocating anything.
//
// Any thread. Costs some 100 microseconds in a process with a few hundred mappings. Where /proc can't be read, there
// are no mappings.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::recorder {

struct MapEntry {
  uintptr_t low;
  uintptr_t high;
  bool executable;
  uint64_t file_offset;
  const char *path;  ///< "" for anonymous memory; valid during the visit only
};

/// Calls `visit(entry, context)` in order of addresses until it returns false.
void visit_mappings(bool (*visit)(const MapEntry &entry, void *context), void *context);

/// As above, for anything callable.
template <typename Visitor>
void for_each_mapping(Visitor visitor) {
  visit_mappings([](const MapEntry &entry, void *context) { return (*static_cast<Visitor *>(context))(entry); },
                 &visitor);
}

}  // namespace cairn::recorder
