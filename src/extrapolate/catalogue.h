// Catalogue: the calls of several runs of a program under common names. A trace numbers call sites, modules and rows
// for itself; here each site has one number in all runs (by module and offset where the runs had the same binary, else
// by source line), and so has each distinct call. `Run` is one trace read so: what each rank called, in order.
//
// Polls that found nothing are left out, since how often a program asks is chance. Cost: the calls, 4 bytes each.
// One thread. A Run borrows its trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "extrapolate/coordinates.h"
#include "trace/read/trace.h"

namespace cairn::extrapolate {

/// What tells calls apart whatever their values are.
struct CallKind {
  uint32_t function = 0;
  uint32_t site = 0;  ///< of the catalogue
  uint32_t depth = 0;
  auto operator<=>(const CallKind &) const = default;
};

class Catalogue {
 public:
  explicit Catalogue(const std::vector<const trace::Trace *> &traces);

  /// The site and module numbers in a row of that class become the catalogue's. Gives the number of the call.
  uint32_t number(size_t run, uint32_t class_index, trace::Row row);
  /// The site of the catalogue that a class's site is.
  uint32_t site(size_t run, uint32_t class_index, uint64_t number);

  [[nodiscard]] const std::vector<trace::Row> &calls() const { return calls_; }
  [[nodiscard]] const std::vector<CallKind> &kinds() const { return kinds_; }
  [[nodiscard]] std::optional<uint32_t> kind(const CallKind &kind) const {
    const auto found = by_kind_.find(kind);
    return found == by_kind_.end() ? std::nullopt : std::optional<uint32_t>(found->second);
  }
  [[nodiscard]] uint32_t kind_of(uint32_t call) const { return kind_of_call_[call]; }
  /// "MPI_Send at cg.f:1001".
  [[nodiscard]] std::string text(uint32_t kind) const;
  [[nodiscard]] const std::string &site_name(uint32_t site) const { return names_[site]; }
  /// Of the last run that has it: where it lies, in the numbers of that run.
  struct Origin {
    size_t run = 0;
    trace::Site site;
  };
  [[nodiscard]] const std::vector<Origin> &origins() const { return origins_; }
  [[nodiscard]] const std::vector<trace::Module> &modules() const { return modules_; }
  /// The number here of a run's module.
  [[nodiscard]] uint32_t module_of(size_t run, uint32_t module) const { return module_numbers_[run][module]; }
  /// The runs' binaries are not the same: static addresses lie elsewhere in each.
  [[nodiscard]] bool rebuilt() const { return rebuilt_; }

 private:
  [[nodiscard]] std::string key_of(size_t run, const trace::Site &site, const std::string &name) const;

  std::vector<const trace::Trace *> traces_;
  std::vector<std::vector<std::vector<uint32_t>>> sites_;  ///< by run, class and the class's number
  std::vector<std::string> names_;
  std::vector<Origin> origins_;
  std::map<std::string, uint32_t> by_key_;
  std::vector<trace::Module> modules_;
  std::vector<std::vector<uint32_t>> module_numbers_;
  bool rebuilt_ = false;
  std::vector<trace::Row> calls_;
  std::vector<uint32_t> kind_of_call_;
  std::unordered_map<std::string, uint32_t> by_packed_;
  std::vector<CallKind> kinds_;
  std::map<CallKind, uint32_t> by_kind_;
};

struct Run {
  const trace::Trace *trace = nullptr;
  uint32_t ranks = 0;
  int64_t scale = 0;
  std::vector<Coordinates> coordinates;      ///< by rank
  std::vector<std::vector<uint32_t>> calls;  ///< by rank: numbers of the catalogue's calls
};

/// Fails where a rank is missing or its threads are several: their order is chance.
Result<Run> read_run(const trace::Trace &trace, size_t number, int64_t scale, Catalogue *catalogue);

}  // namespace cairn::extrapolate
