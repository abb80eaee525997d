// FieldLearning: the rule of one field of one call, from what it holds on all ranks of all runs (program.h says what
// rules there are). One thread; cost: Fit's (law.h) for each atom that differs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "extrapolate/program.h"

namespace cairn::extrapolate {

/// What a call held somewhere.
struct Sample {
  uint32_t run = 0;
  Moment moment;
  uint32_t call = 0;  ///< of the catalogue
};

/// Fits by the moments that they are of, since most calls are made by the same ranks.
class Fits {
 public:
  Fit *of(const std::vector<Sample> &samples);
  /// To be called before samples that turn end: others may come to lie in their place.
  void forget_turning() { turning_of_ = nullptr; }

 private:
  std::map<std::vector<std::pair<const Coordinates *, uint32_t>>, std::unique_ptr<Fit>> by_rank_;
  std::unique_ptr<Fit> turning_;
  const std::vector<Sample> *turning_of_ = nullptr;
};

class FieldLearning {
 public:
  FieldLearning(const Catalogue &catalogue, Fits *fits, Certainty *certainty)
      : catalogue_(catalogue), fits_(fits), certainty_(certainty) {}

  FieldRule learn(uint32_t kind, size_t field, const std::vector<Sample> &samples);

 private:
  using Fields = std::vector<const trace::Field *>;
  bool shapes(FieldRule *rule, const std::vector<Sample> &samples, const Fields &fields);
  bool list(FieldRule *rule, const std::vector<Sample> &samples, const Fields &fields);
  std::vector<AtomRule> atoms(const std::vector<Sample> &samples, const Fields &fields, size_t count);
  [[nodiscard]] double growth_of(const Fit &fit, const std::vector<int64_t> &values) const;
  AtomRule atom(Fit *fit, const std::vector<int64_t> &values, size_t place, bool is_static);
  void drawn(bool address);

  const Catalogue &catalogue_;
  Fits *fits_;
  Certainty *certainty_;
  uint32_t kind_ = 0;
  size_t field_ = 0;
};

}  // namespace cairn::extrapolate
