// What the sequences of traces would take as a model's coded symbols instead of grammars, and what reading them would
// cost: `coded_sequences TRACE...` prints a line each, over those sequences that hardly repeat.
//
// The model is the one of times (timing/mixed_bits.h): each bit of a symbol from what followed the last 0 to 8 symbols,
// mixed. A symbol that is new is 0, since symbols are numbered in order of first occurrence. `parsing` is what a reader
// would spend beside decoding to have rules again, by which everything that reads a trace goes.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <vector>

#include "grammar/grammar.h"
#include "grammar/product.h"
#include "timing/bit_coder.h"
#include "timing/mixed_bits.h"
#include "trace/file/file.h"

namespace {

using namespace cairn;
using grammar::Grammar;
using grammar::Symbol;

constexpr size_t kFewestTerms = 32;
constexpr uint64_t kMostRepeated = 32;  // symbols a term, above which a sequence is loops

/// Of CPU.
double seconds_since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

size_t coded(const std::vector<Symbol> &symbols) {
  std::vector<uint32_t> numbers;
  numbers.reserve(symbols.size());
  Symbol fresh = 0;
  for (const Symbol symbol : symbols) {
    numbers.push_back(symbol == fresh ? 0 : symbol + 1);
    if (symbol == fresh) ++fresh;
  }
  int bits = 1;
  while (fresh >> bits != 0) ++bits;
  Bytes out;
  timing::BitEncoder encoder(&out);
  timing::MixedBits model(symbols.size());
  constexpr size_t kOrders[timing::MixedBits::kContexts] = {2, 1, 3, 4, 5, 6, 8, 0};
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint64_t before[9] = {1};
    for (size_t order = 1; order < std::size(before); ++order) {
      const uint64_t symbol = i >= order ? numbers[i - order] + 1 : 0;
      before[order] = (before[order - 1] * 0x9E3779B97F4A7C15U ^ symbol) * 0xBF58476D1CE4E5B9U;
      before[order] ^= before[order] >> 29;
    }
    timing::MixedBits::Contexts contexts{};
    for (size_t k = 0; k < contexts.size(); ++k) contexts[k] = before[kOrders[k]] + k;
    model.code(encoder, contexts, numbers[i], bits, 0);
  }
  encoder.finish();
  return out.size();
}

struct Sums {
  uint64_t symbols = 0;
  size_t terms = 0;
  size_t as_grammars = 0;
  size_t as_codes = 0;
  double reading = 0;
  double coding = 0;
  double parsing = 0;
};

void add(const Grammar &grammar, double reading, Sums *sums) {
  const size_t terms = term_count(grammar);
  if (terms < kFewestTerms || grammar.length() > kMostRepeated * terms) return;
  const std::vector<Symbol> symbols = grammar.expand();
  ByteWriter out;
  grammar.write(out);
  sums->symbols += symbols.size();
  sums->terms += terms;
  sums->reading += reading;
  sums->as_grammars += out.size();
  std::clock_t start = std::clock();
  sums->as_codes += coded(symbols);
  sums->coding += seconds_since(start);
  start = std::clock();
  const Grammar parsed = Grammar::from_symbols(symbols);
  sums->parsing += seconds_since(start);
}

bool tell(const char *path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> raw{std::istreambuf_iterator<char>(in), {}};
  const auto sections = trace::read_file({reinterpret_cast<const uint8_t *>(raw.data()), raw.size()});
  if (!sections) return false;
  Sums sums;
  size_t stored = 0;
  for (const trace::StoredSection &section : *sections) {
    if (section.kind != static_cast<uint8_t>(trace::SectionKind::grammars)) continue;
    stored = section.bytes.size();
    Allowance allowance(uint64_t{1} << 34);
    Bytes decoded;
    const auto view = trace::decompressed(section, &decoded, &allowance);
    if (!view) return false;
    ByteReader reader(view->bytes);
    for (size_t left = reader.count(); left != 0; --left) {
      const std::clock_t start = std::clock();
      const Result<Grammar> grammar = Grammar::parse(reader);
      if (!grammar) return false;
      add(*grammar, seconds_since(start), &sums);
    }
  }
  const double each = sums.symbols == 0 ? 0 : 1e9 / static_cast<double>(sums.symbols);
  std::printf(
      "%s: %zu bytes of grammars in the file; of these that hardly repeat, %llu symbols as %zu terms, %zu bytes\n"
      "  before they are packed, coded %zu; reading grammars %.1f ns a symbol, coding %.0f, parsing %.0f\n",
      path, stored, static_cast<unsigned long long>(sums.symbols), sums.terms, sums.as_grammars, sums.as_codes,
      sums.reading * each, sums.coding * each, sums.parsing * each);
  return true;
}

}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (!tell(argv[i])) {
      std::fprintf(stderr, "coded_sequences: %s: not a sound trace\n", argv[i]);
      return 4;
    }
  }
  return 0;
}
