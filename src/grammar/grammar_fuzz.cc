// libFuzzer: bytes as a serialized grammar, and bytes as symbols to build one from.
#include <cstdlib>

#include "grammar/grammar.h"
#include "grammar/product.h"
#include "grammar/test_memory.h"

using cairn::ByteReader;
using cairn::ByteWriter;
using cairn::grammar::Builder;
using cairn::grammar::Grammar;
using cairn::grammar::product;
using cairn::grammar::Symbol;
using cairn::grammar::TestMemory;
using cairn::grammar::Walker;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void parse(cairn::ByteView bytes) {
  ByteReader in(bytes);
  const auto grammar = Grammar::parse(in, 1 << 16);
  if (!grammar) return;
  ByteWriter out;
  grammar->write(out);
  ByteReader again(out.view());
  const auto back = Grammar::parse(again);
  check(back && *back == *grammar && again.at_end());
  const Grammar same = grammar->projected([](Symbol) { return true; });
  check(same.sequence_hash() == grammar->sequence_hash() && same.length() == grammar->length());
  check(same.multiplicities() == grammar->multiplicities());
  if (const auto pairs = product(*grammar, same, 10'000)) {
    check(pairs->pairs.length() == grammar->length());
    for (const auto &[left, right] : pairs->of) check(left == right && left < (1U << 16));
  }
  Walker walker(*grammar, grammar->length() / 2);
  for (int i = 0; i < 1000; ++i) walker.next();
}

/// The first bytes choose window and memory, so that packing and a full arena come up too.
void build(cairn::ByteView bytes) {
  if (bytes.size() < 2) return;
  TestMemory memory(bytes[0] < 128 ? size_t{1} << 20 : (bytes[0] & 127U) * 512U);
  Builder builder(memory.arena(),
                  {.cursors = (bytes[1] & 1) == 0, .window = bytes[1] < 128 ? 1U << 17 : bytes[1] & 31U});
  std::vector<Symbol> taken;
  for (const uint8_t symbol : bytes.subspan(2)) {
    if (!builder.append(symbol)) break;
    taken.push_back(symbol);
  }
  const auto grammar = Grammar::from(builder);
  check(grammar && grammar->expand() == taken);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const cairn::ByteView rest{data + 1, size - 1};
  if ((data[0] & 1) != 0) {
    parse(rest);
  } else {
    build(rest);
  }
  return 0;
}
