// libFuzzer on fold columns: random access, expansion, concatenation and rewriting agree.
#include <cstdlib>

#include "trace/values/fold_column.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace cairn;
  using namespace cairn::trace;
  ByteReader in({data, size});
  FoldColumn column = FoldColumn::parse(in, FoldColumn::Domain::atoms, 4096);
  if (in.failed() || column.size() == 0) return 0;
  const std::vector<Atom> values = column.expand();
  for (size_t i = 0; i < values.size(); ++i) {
    if (column.at(i) != values[i]) std::abort();
  }
  FoldColumn left(FoldColumn::Domain::atoms);
  left.append(column);
  left.append(column);
  std::vector<Atom> twice = values;
  twice.insert(twice.end(), values.begin(), values.end());
  if (left.expand() != twice) std::abort();
  ByteWriter out;
  left.write(out);
  ByteReader again(out.view());
  if (FoldColumn::parse(again, FoldColumn::Domain::atoms).expand() != twice) std::abort();
  return 0;
}
