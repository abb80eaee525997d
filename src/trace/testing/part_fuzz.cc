// libFuzzer on parts: what can be parsed must serialise to something that parses, and merge with an honest part or
// fail, and so must writing it: classes are not looked into before.
#include <cstdlib>

#include "trace/merge/part_body.h"
#include "trace/testing/exercise.h"
#include "trace/testing/synthetic.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace cairn;
  using namespace cairn::trace;
  static const Bytes honest = Part::of(random_program(3, 7)[1])->serialise();
  Result<Part> part = Part::parse({data, size});
  if (!part) return 0;
  if (!part->body().ranks.empty() && part->body().ranks.size() > 10000) return 0;  // slow, not wrong
  if (!Part::parse(part->serialise())) std::abort();
  const Result<Part> merged = Part::merge(*std::move(part), *Part::parse(honest));
  if (!merged) return 0;
  Result<Bytes> file = merged->to_file({});
  if (!file) return 0;
  const Result<Trace> trace = Trace::from_bytes(*std::move(file), "fuzz");
  if (trace) (void)exercise(*trace);
  return 0;
}
