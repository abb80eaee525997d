#include "timeline/kinds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyze/decode.h"
#include "timeline/doing.h"
#include "trace/read/class_structure.h"

namespace cairn::timeline {
namespace {

using RowHead = trace::Structure::RowHead;

/// Functions, or functions at sites, numbered as they come, and how often each stands in the sequences.
struct Named {
  std::vector<std::string> names;
  std::vector<double> times;
  std::vector<std::vector<size_t>> of_row;  ///< by class and row

  uint32_t add(std::string name) {
    names.push_back(std::move(name));
    times.push_back(0);
    return static_cast<uint32_t>(names.size() - 1);
  }
};

class Naming {
 public:
  Naming(const trace::Trace &trace, const analyze::Sources &sources, By by)
      : trace_(trace), sources_(sources), by_(by) {}

  Named all() {
    for (uint32_t index = 0; index < trace_.class_count(); ++index) {
      const trace::ClassPart &part = trace::class_structure(trace_, index);
      if (by_ == By::site) sites_ = trace_.sites(index);
      std::vector<uint64_t> times = part.calls->multiplicities();
      times.resize(part.rows.size());
      std::vector<size_t> &numbers = named_.of_row.emplace_back();
      for (uint32_t row = 0; row < part.rows.size(); ++row) {
        const uint32_t number = number_of(index, part.rows[row]->function, part.rows[row]->site);
        numbers.push_back(number);
        named_.times[number] += static_cast<double>(times[row]) * static_cast<double>(part.ranks.size());
      }
    }
    return std::move(named_);
  }

 private:
  uint32_t number_of(uint32_t class_index, uint32_t function, uint32_t site) {
    trace::Site at;
    if (by_ == By::site && site < sites_.size()) at = sites_[site];
    const auto [known, fresh] = numbers_.try_emplace({function, at.module, at.offset});
    if (!fresh) return known->second;
    std::string name = analyze::function_name(function);
    if (by_ == By::site) {
      const std::string where = sources_.position(class_index, site).short_text();
      if (!where.empty()) name += " at " + where;
    }
    const auto [same, named] = by_name_.try_emplace(name);
    if (named) same->second = named_.add(std::move(name));
    return known->second = same->second;
  }

  const trace::Trace &trace_;
  const analyze::Sources &sources_;
  By by_;
  std::vector<trace::Site> sites_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> numbers_;
  std::map<std::string, uint32_t> by_name_;
  Named named_;
};

/// Numbers of kinds by class and row: what is no name's is "other".
Kinds limited(std::vector<std::string> names, const std::vector<std::vector<size_t>> &numbers) {
  Kinds kinds;
  kinds.names = std::move(names);
  kinds.names.resize(std::clamp<size_t>(kinds.names.size(), 1, Kinds::kMost - 1));
  kinds.names[0] = name_of(Doing::outside);
  const size_t other = kinds.names.size();
  bool others = false;
  for (const std::vector<size_t> &of_class : numbers) {
    std::vector<uint8_t> &of_row = kinds.of_row.emplace_back();
    for (const size_t number : of_class) {
      const bool known = number != 0 && number < other;
      others = others || !known;
      of_row.push_back(static_cast<uint8_t>(known ? number : other));
    }
  }
  if (others) kinds.names.emplace_back(name_of(Doing::other));
  return kinds;
}

}  // namespace

Kinds kinds_of(const trace::Trace &trace, std::vector<std::string> names, const KindOfRow &kind) {
  std::vector<std::vector<size_t>> numbers;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    std::vector<size_t> &of_row = numbers.emplace_back();
    for (const RowHead &head : trace::structure_of(trace, index).rows) of_row.push_back(kind(index, head));
  }
  return limited(std::move(names), numbers);
}

Kinds kinds_of(const trace::Trace &trace, const analyze::Sources &sources, By by) {
  if (by == By::sort) {
    std::vector<std::string> names;
    for (size_t doing = 0; doing < kDoings; ++doing) names.emplace_back(name_of(static_cast<Doing>(doing)));
    return kinds_of(trace, std::move(names),
                    [](uint32_t, const RowHead &head) { return static_cast<size_t>(doing_of(head.function)); });
  }
  Named named = Naming(trace, sources, by).all();
  std::vector<uint32_t> order(named.names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return named.times[a] > named.times[b]; });
  std::vector<size_t> kind_of(order.size());
  std::vector<std::string> names(1);
  for (const uint32_t number : order) {
    kind_of[number] = names.size();
    names.push_back(std::move(named.names[number]));
  }
  for (std::vector<size_t> &of_row : named.of_row) {
    for (size_t &number : of_row) number = kind_of[number];
  }
  return limited(std::move(names), named.of_row);
}

}  // namespace cairn::timeline
