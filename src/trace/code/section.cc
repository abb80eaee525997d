#include "trace/code/section.h"

#include <algorithm>
#include <iterator>

namespace cairn::trace {
namespace {

struct Name {
  SectionKind kind;
  const char *name;
};
constexpr Name kNames[] = {
    {SectionKind::meta, "meta"},
    {SectionKind::sites, "sites"},
    {SectionKind::grammars, "grammars"},
    {SectionKind::columns, "columns"},
    {SectionKind::rows, "rows"},
    {SectionKind::order, "order"},
    {SectionKind::timing, "timing"},
    {SectionKind::source, "source"},
    {SectionKind::streams, "streams"},
    {SectionKind::callers, "callers"},
    {SectionKind::cost, "cost"},
    {SectionKind::offsets, "offsets"},
    {SectionKind::gpu, "gpu"},
    {SectionKind::warps, "warps"},
    {SectionKind::blocks, "blocks"},
    {SectionKind::bundles, "bundles"},
    {SectionKind::clocks, "clocks"},
    {SectionKind::sums, "sums"},
    {SectionKind::gaps, "gaps"},
    {SectionKind::corrections, "corrections"},
    {SectionKind::heap, "heap"},
    {SectionKind::memory, "memory"},
    {SectionKind::job, "job"},
    {SectionKind::jobs, "jobs"},
    {SectionKind::packed_classes, "packed classes"},
};

}  // namespace

std::string section_name(uint8_t kind) {
  const auto *found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const Name &each) { return static_cast<uint8_t>(each.kind) == kind; });
  return found != std::end(kNames) ? found->name : "section " + std::to_string(kind);
}

Error section_error(const SectionView &section, size_t position, const std::string &what) {
  Error error;
  error.kind = ErrorKind::unreadable;
  error.message = "section '" + section_name(section.kind) + "' " + what;
  error.offset = section.offset;
  if (section.compressed) {
    error.message += " (byte " + std::to_string(position) + " of its decoded content)";
  } else {
    error.offset += position;
  }
  error.hint = "the file is damaged: copy it again or record again";
  return error;
}

}  // namespace cairn::trace
