// libFuzzer on parts: what can be parsed must serialise to something that parses, and merge with an honest part or
// fail.
#include <cstdlib>

#include "trace/part_body.h"
#include "trace/synthetic.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace cairn;
  using namespace cairn::trace;
  static const Bytes honest = Part::of(random_program(3, 7)[1])->serialise();
  Result<Part> part = Part::parse({data, size});
  if (!part) return 0;
  if (!part->body().ranks.empty() && part->body().ranks.size() > 10000) return 0;  // slow, not wrong
  if (!Part::parse(part->serialise())) std::abort();
  (void)Part::merge(*std::move(part), *Part::parse(honest));
  return 0;
}
