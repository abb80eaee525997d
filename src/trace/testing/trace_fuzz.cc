// libFuzzer on a whole file. The checksums would stop nearly every mutation, so the input is the sections, kind byte
// and length first, from which a file with right checksums is made; an input that begins like a file is one.
#include "trace/file/file.h"
#include "trace/testing/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace cairn;
  using namespace cairn::trace;
  Bytes file(data, data + size);
  if (size > 0 && data[0] != 0x89) {
    ByteReader in({data, size});
    std::vector<Section> sections;
    std::vector<StoredSection> stored;
    while (!in.at_end() && !in.failed()) {
      const auto kind = static_cast<SectionKind>(in.byte());
      const ByteView bytes = in.blob();
      if (kind == SectionKind::blocks) {
        stored.push_back(absent_blocks(bytes.size()));
        stored.back().bytes = bytes;
        continue;
      }
      sections.push_back({kind, {bytes.begin(), bytes.end()}, true});
    }
    file = write_file(sections, stored);
  }
  const auto low = [](uint32_t least, uint32_t /*greatest*/) { return least < 2; };
  if (const Result<Trace> some = Trace::from_bytes(file, "fuzz", 0, std::string(), low)) (void)exercise(*some);
  const Result<Trace> trace = Trace::from_bytes(std::move(file), "fuzz");
  if (trace) (void)exercise(*trace);
  return 0;
}
