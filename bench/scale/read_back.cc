#include "scale/read_back.h"

#include <set>

#include "trace/model/derived_values.h"
#include "trace/model/request_arrays.h"
#include "trace/read/call_reader.h"

namespace cairn::scale {
namespace {

class Comparison {
 public:
  Comparison(const trace::Trace &trace, Source *source) : trace_(trace), source_(*source) {}

  /// Empty, or how the rank differs.
  std::string rank(uint32_t rank, uint64_t *calls) {
    record_ = source_.record(rank);
    const std::vector<trace::SequenceView> sequences = trace_.sequences(rank);
    if (sequences.size() != 1) return "has " + std::to_string(sequences.size()) + " sequences";
    if (trace_.rank_info(rank).host != record_.host) return "ran on another host";
    sites_ = trace_.sites(sequences[0].class_index);
    rows_.clear();
    for (const Bytes &packed : record_.sequences[0].rows) {
      ByteReader in(packed);
      rows_.push_back(*trace::unpack_row(in));
      trace::expand_prefix_sums(&rows_.back());
    }
    trace::CallReader reader(trace_, sequences[0]);
    std::set<std::pair<uint32_t, uint32_t>> equal;
    trace::RequestArrays arrays;
    for (const uint32_t expected : source_.calls(rank)) {
      const grammar::Symbol number = reader.next();
      if (number == grammar::kNoSymbol) return "ends at call " + std::to_string(*calls);
      if (const auto drained = trace::DrainedField::of(rows_[expected])) {
        // Another call each time.
        trace::Row whole = rows_[expected];
        arrays.leave(*drained, arrays.complete(&whole, *drained, arrays.found(whole, *drained)));
        const std::string problem = row(whole, reader.call(number));
        if (!problem.empty()) return "call " + std::to_string(*calls) + ": " + problem;
      } else if (!equal.contains({expected, number})) {
        const std::string problem = row(rows_[expected], reader.call(number));
        if (!problem.empty()) return "call " + std::to_string(*calls) + ": " + problem;
        equal.emplace(expected, number);
      }
      ++*calls;
    }
    return reader.next() == grammar::kNoSymbol ? "" : "goes on after its last call";
  }

 private:
  [[nodiscard]] std::string row(const trace::Row &expected, const trace::Row &found) const {
    if (expected.function != found.function) return "another function";
    if (expected.depth != found.depth) return "another depth";
    if (!same_site(expected.site, found.site)) return "another call site";
    if (expected.fields.size() != found.fields.size()) return "another number of fields";
    for (size_t f = 0; f < expected.fields.size(); ++f) {
      if (!same_field(expected.fields[f], found.fields[f])) {
        return "function " + std::to_string(expected.function) + ", field " + std::to_string(f);
      }
    }
    return {};
  }

  [[nodiscard]] bool same_module(uint64_t recorded, uint64_t found) const {
    return recorded < record_.modules.size() && found < trace_.modules().size() &&
           record_.modules[recorded] == trace_.modules()[found];
  }
  [[nodiscard]] bool same_site(uint32_t recorded, uint32_t found) const {
    if (recorded == 0 || found == 0) return recorded == found;
    const std::vector<trace::Site> &sites = record_.sequences[0].sites;
    if (recorded >= sites.size() || found >= sites_.size()) return false;
    return sites[recorded].offset == sites_[found].offset && same_module(sites[recorded].module, sites_[found].module);
  }
  [[nodiscard]] bool same_field(const trace::Field &expected, const trace::Field &found) const {
    if (expected.is_bytes != found.is_bytes || expected.bytes != found.bytes ||
        expected.atoms.size() != found.atoms.size()) {
      return false;
    }
    for (size_t i = 0; i < expected.atoms.size(); ++i) {
      const Atom recorded = expected.atoms[i];
      if (i != 0 && expected.atoms[i - 1] == trace::kStatic) {
        if (!same_module(static_cast<uint64_t>(recorded), static_cast<uint64_t>(found.atoms[i]))) return false;
      } else if (recorded != found.atoms[i]) {
        return false;
      }
    }
    return true;
  }

  const trace::Trace &trace_;
  Source &source_;
  trace::ProcessRecord record_;
  std::vector<trace::Row> rows_;
  std::vector<trace::Site> sites_;
};

}  // namespace

ReadBack read_back(const trace::Trace &trace, Source *source, std::span<const uint32_t> ranks) {
  ReadBack result;
  Comparison comparison(trace, source);
  for (const uint32_t rank : ranks) {
    uint64_t calls = 0;
    const std::string problem = comparison.rank(rank, &calls);
    result.calls += calls;
    if (!problem.empty()) {
      result.problem = "rank " + std::to_string(rank) + ": " + problem;
      break;
    }
  }
  return result;
}

}  // namespace cairn::scale
