#include "extrapolate/learning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "extrapolate/row_parts.h"
#include "trace/values/atom.h"

namespace cairn::extrapolate {
namespace {

constexpr size_t kMostShapes = 4;
constexpr size_t kMostElements = 20000;  // of lists, that are looked at

Fit fit_of(const std::vector<Sample> &samples) {
  std::vector<Moment> moments;
  std::vector<uint32_t> runs;
  for (const Sample &sample : samples) {
    moments.push_back(sample.moment);
    runs.push_back(sample.run);
  }
  return Fit(std::move(moments), std::move(runs));
}

}  // namespace

Fit *Fits::of(const std::vector<Sample> &samples) {
  const bool turning =
      std::any_of(samples.begin(), samples.end(), [](const Sample &s) { return s.moment.turns[0] != 0; });
  if (turning) {
    if (turning_of_ != &samples) turning_ = std::make_unique<Fit>(fit_of(samples));
    turning_of_ = &samples;
    return turning_.get();
  }
  std::vector<std::pair<const Coordinates *, uint32_t>> key;
  key.reserve(samples.size());
  for (const Sample &sample : samples) key.emplace_back(sample.moment.of, sample.run);
  std::unique_ptr<Fit> &fit = by_rank_[key];
  if (fit == nullptr) fit = std::make_unique<Fit>(fit_of(samples));
  return fit.get();
}

FieldRule FieldLearning::learn(uint32_t kind, size_t field, const std::vector<Sample> &samples) {
  kind_ = kind;
  field_ = field;
  Fields fields;
  fields.reserve(samples.size());
  const trace::Field absent;
  for (const Sample &sample : samples) {
    const trace::Row &row = catalogue_.calls()[sample.call];
    fields.push_back(field < row.fields.size() ? &row.fields[field] : &absent);
  }
  FieldRule rule;
  if (std::all_of(fields.begin(), fields.end(), [&](const trace::Field *each) { return *each == *fields[0]; })) {
    rule.kind = FieldRule::Kind::same;
    rule.value = *fields[0];
    ++certainty_->exact;
    ++certainty_->constant;
    return rule;
  }
  const bool texts = std::any_of(fields.begin(), fields.end(), [](const trace::Field *each) { return each->is_bytes; });
  if (!texts && (shapes(&rule, samples, fields) || list(&rule, samples, fields))) return rule;
  rule = FieldRule();
  drawn(layout_of(catalogue_.kinds()[kind].function, field) == spec::Layout::address);
  return rule;
}

bool FieldLearning::shapes(FieldRule *rule, const std::vector<Sample> &samples, const Fields &fields) {
  std::map<size_t, std::set<uint32_t>> runs;
  std::set<uint32_t> all;
  for (size_t s = 0; s < samples.size(); ++s) {
    runs[fields[s]->atoms.size()].insert(samples[s].run);
    all.insert(samples[s].run);
    if (runs.size() > kMostShapes) return false;
  }
  const size_t least = std::min<size_t>(2, all.size());
  if (std::any_of(runs.begin(), runs.end(), [&](const auto &each) { return each.second.size() < least; })) return false;
  rule->kind = FieldRule::Kind::atoms;
  if (runs.size() == 1) {
    rule->shape = Law::constant(0);
    rule->shapes.push_back(atoms(samples, fields, fields[0]->atoms.size()));
    return true;
  }
  std::vector<int64_t> numbers;
  for (const trace::Field *field : fields) {
    numbers.push_back(std::distance(runs.begin(), runs.find(field->atoms.size())));
  }
  const std::optional<Law> law = fits_->of(samples)->law(numbers);
  if (!law) return false;
  rule->shape = *law;
  ++certainty_->exact;
  for (const auto &[count, ignored] : runs) {
    std::vector<Sample> some;
    Fields of_some;
    for (size_t s = 0; s < samples.size(); ++s) {
      if (fields[s]->atoms.size() != count) continue;
      some.push_back(samples[s]);
      of_some.push_back(fields[s]);
    }
    rule->shapes.push_back(atoms(some, of_some, count));
    fits_->forget_turning();
  }
  return true;
}

bool FieldLearning::list(FieldRule *rule, const std::vector<Sample> &samples, const Fields &fields) {
  const size_t each = atoms_of(layout_of(catalogue_.kinds()[kind_].function, field_));
  std::vector<int64_t> lengths;
  size_t sum = 0;
  for (const trace::Field *field : fields) {
    if (field->atoms.size() % each != 0) return false;
    lengths.push_back(static_cast<int64_t>(field->atoms.size() / each));
    sum += field->atoms.size() / each;
  }
  const std::optional<Law> length = fits_->of(samples)->law(lengths);
  if (!length || sum == 0) return false;
  rule->kind = FieldRule::Kind::list;
  rule->length = *length;
  ++certainty_->exact;
  std::vector<Moment> moments;
  std::vector<uint32_t> runs;
  std::vector<std::vector<int64_t>> values(each);
  const size_t step = 1 + sum / kMostElements;
  size_t place = 0;
  for (size_t s = 0; s < samples.size(); ++s) {
    for (size_t e = 0; e < fields[s]->atoms.size() / each; ++e) {
      if (place++ % step != 0) continue;
      Moment moment = samples[s].moment;
      moment.element = static_cast<int32_t>(e);
      moment.elements = static_cast<int32_t>(lengths[s]);
      moments.push_back(moment);
      runs.push_back(samples[s].run);
      for (size_t a = 0; a < each; ++a) values[a].push_back(fields[s]->atoms[e * each + a]);
    }
  }
  Fit fit(std::move(moments), std::move(runs));
  for (size_t a = 0; a < each; ++a) rule->element.push_back(atom(&fit, values[a], a, false));
  return true;
}

std::vector<AtomRule> FieldLearning::atoms(const std::vector<Sample> &samples, const Fields &fields, size_t count) {
  std::vector<AtomRule> rules;
  for (size_t a = 0; a < count; ++a) {
    std::vector<int64_t> values;
    values.reserve(fields.size());
    for (const trace::Field *field : fields) values.push_back(field->atoms[a]);
    const bool is_static = a % 3 == 2 && fields[0]->atoms[a - 2] == trace::kStatic;
    rules.push_back(atom(fits_->of(samples), values, a, is_static));
  }
  return rules;
}

AtomRule FieldLearning::atom(Fit *fit, const std::vector<int64_t> &values, size_t place, bool is_static) {
  AtomRule rule;
  if (std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == values[0]; })) {
    rule.law = Law::constant(values[0]);
    ++certainty_->exact;
    ++certainty_->constant;
    return rule;
  }
  const uint32_t function = catalogue_.kinds()[kind_].function;
  const bool address = layout_of(function, field_) == spec::Layout::address && place % 3 == 2;
  rule.negative = std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; });
  // Where the linker puts what lies in a program that is built for each size is no matter of laws.
  const bool elsewhere = is_static && catalogue_.rebuilt();
  if (!elsewhere) {
    if (const std::optional<Law> law = fit->law(values)) {
      rule.law = *law;
      ++certainty_->exact;
      return rule;
    }
  }
  const spec::Parameter *parameter = parameter_of(function, field_);
  rule.kind =
      parameter != nullptr && parameter->kind == spec::Kind::rank ? AtomRule::Kind::drawn_rank : AtomRule::Kind::drawn;
  if (parameter != nullptr && parameter->kind == spec::Kind::count) rule.growth = growth_of(*fit, values);
  drawn(address);
  return rule;
}

double FieldLearning::growth_of(const Fit &fit, const std::vector<int64_t> &values) const {
  std::map<uint32_t, std::pair<double, double>> sums;  // by run: of values, and how many
  std::map<uint32_t, double> sizes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (trace::is_special(values[i])) return 0;
    auto &[sum, count] = sums[fit.runs()[i]];
    sum += static_cast<double>(values[i]);
    ++count;
    sizes[fit.runs()[i]] = static_cast<double>(fit.moments()[i].of->scale);
  }
  // Between the smallest and the largest run.
  const auto &[first, last] = std::pair(*sums.begin(), *sums.rbegin());
  if (first.first == last.first || first.second.first <= 0 || last.second.first <= 0) return 0;
  const double grown = (last.second.first / last.second.second) / (first.second.first / first.second.second);
  return std::log(grown) / std::log(sizes[last.first] / sizes[first.first]);
}

void FieldLearning::drawn(bool address) {
  if (address) {
    ++certainty_->addresses;
    return;
  }
  const spec::Parameter *parameter = parameter_of(catalogue_.kinds()[kind_].function, field_);
  std::string text =
      fmt::format("{} of {}", parameter != nullptr ? parameter->name : "what is returned", catalogue_.text(kind_));
  if (std::find(certainty_->drawn.begin(), certainty_->drawn.end(), text) == certainty_->drawn.end()) {
    certainty_->drawn.push_back(std::move(text));
  }
}

}  // namespace cairn::extrapolate
