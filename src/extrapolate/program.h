// Program: what several runs did, as one program whose loops, branches and arguments are laws of rank and number of
// ranks: what all is learned from, and what the calls of any rank of any number of ranks are made of again.
//
// Learned for each item of the course (course.h): how often it turns; of a call, what each field holds. A field may be
// the same everywhere, atoms with a law each, or a list whose length has one. What has no law is
// *drawn*: taken over from a rank of the largest run that lies at a like place (at an edge if this one does), ranks of
// partners moved along. All of that is told: `Certainty`.
//
// One thread. Cost: the calls of all runs, and for each item and field what Fit costs. Of a call of many turns the law
// is found, and holds, on some thousand samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "extrapolate/catalogue.h"
#include "extrapolate/course.h"
#include "extrapolate/law.h"

namespace cairn::extrapolate {

struct AtomRule {
  enum class Kind : uint8_t { law, drawn, drawn_rank };
  Kind kind = Kind::law;
  Law law;
  bool negative = true;  ///< it may be; nothing that was never is made so
  double growth = 0;     ///< drawn: the mean goes as this power of the runs' size
};

/// A field of a call.
struct FieldRule {
  enum class Kind : uint8_t { same, atoms, list, drawn };
  Kind kind = Kind::drawn;
  bool turning = false;  ///< differs from turn to turn
  trace::Field value;    ///< same
  /// Which of `shapes` it has; their numbers of atoms are all different.
  Law shape;
  std::vector<std::vector<AtomRule>> shapes;
  Law length;  ///< list: elements
  std::vector<AtomRule> element;
};

struct CallRule {
  uint32_t call = 0;  ///< kind
  std::vector<FieldRule> fields;
  [[nodiscard]] bool turning() const;
  /// Of which loops' turns it takes notice, as in terms.h; all bits where what it holds is drawn, call by call.
  uint8_t loops = 0;
  bool by_innermost = false;  ///< what it holds is told by the rank and the turn of the innermost loop
  void set_loops();
};

struct ItemRule {
  std::optional<Law> count;  ///< nothing: drawn
  CallRule call;             ///< if it is no loop
};

/// How sure what was learned is.
struct Certainty {
  uint64_t exact = 0;              ///< rules that give every value of every run
  uint64_t constant = 0;           ///< of these, the same on all ranks of all runs
  uint64_t addresses = 0;          ///< without a law: where buffers lie
  std::vector<std::string> drawn;  ///< "dest of MPI_Send at a.c:12"
};

class Program {
 public:
  /// Of runs in ascending order of their ranks (or scales), read with that catalogue.
  static Result<Program> learn(const std::vector<Run> &runs, const Catalogue &catalogue);

  [[nodiscard]] const Certainty &certainty() const { return certainty_; }
  [[nodiscard]] const Course &course() const { return course_; }
  [[nodiscard]] const std::vector<ItemRule> &rules() const { return rules_; }
  [[nodiscard]] const Catalogue &catalogue() const { return *catalogue_; }

  /// The rank of the last run that stands for this one where something is drawn.
  [[nodiscard]] uint32_t donor_of(const Coordinates &of) const;
  /// How often the item turns on that rank of the last run; -1: not asked.
  [[nodiscard]] int64_t donor_count(const CourseItem &item, uint32_t donor) const;
  /// The calls that the donor made there, in order; of another rank if it made none.
  [[nodiscard]] const std::vector<uint32_t> &donor_calls(const CourseItem &item, uint32_t donor) const;
  /// How often the innermost loop around the call turns in the last run, on some rank; at least 1.
  [[nodiscard]] size_t donor_turns(const CourseItem &item) const { return donor_turns_[item.number]; }
  [[nodiscard]] const Run &largest() const { return runs_->back(); }
  [[nodiscard]] size_t runs() const { return runs_->size(); }

 private:
  friend class Learning;
  const std::vector<Run> *runs_ = nullptr;
  const Catalogue *catalogue_ = nullptr;
  Course course_;
  std::vector<ItemRule> rules_;                     ///< by the item's number
  std::vector<std::vector<uint32_t>> sequence_of_;  ///< by run and rank
  /// By item and rank of the last run; empty where it has none.
  std::vector<std::unordered_map<uint32_t, std::vector<uint32_t>>> donated_;
  std::vector<size_t> donor_turns_;  ///< by item
  Certainty certainty_;
};

}  // namespace cairn::extrapolate
