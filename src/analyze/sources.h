// Sources: call sites, (module, offset), as file, line and demangled function. Taken from the trace where `cairn
// record` put them, else read from the modules' debug information, else from their symbols, else shown as
// module+offset.
//
// A module on this machine is only believed when its build-id is the recorded one; otherwise it is *stale* and its
// sites stay module+offset. Resolved on construction; const afterwards. Never fails: what can't be resolved says why.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/model/script_module.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// Where a call site lies.
struct Position {
  std::string module;    ///< base name of the module, "" if the site is unknown
  uint64_t offset = 0;   ///< in the module
  std::string function;  ///< demangled, or empty
  std::string file;      ///< as the compiler was given it, or empty
  uint32_t line = 0;
  /// "main.c:42 in exchange()", "app+0x1234 in exchange()", "app+0x1234" or "".
  [[nodiscard]] std::string text() const;
  /// The same without the parameters of C++ functions, which are long: "main.cc:42 in mesh::exchange()".
  [[nodiscard]] std::string short_text() const;
  /// "mesh::exchange()", or "" if that is not known.
  [[nodiscard]] std::string function_text() const;
  /// "main.c:42" or "app+0x1234", short; "MPI_Isend" of handles in a trace without call sites.
  [[nodiscard]] std::string brief() const;
};

/// "mesh::exchange<int>" of "mesh::exchange<int>(int) const".
std::string without_parameters(const std::string &function);

/// Whether it was recorded with call stacks.
bool has_call_stacks(const trace::Trace &trace);

/// What became of one module.
struct ModuleState {
  enum class Kind : uint8_t { unused, found, missing, stale, anonymous };
  Kind kind = Kind::unused;
  bool has_lines = false;
};

class Sources {
 public:
  enum class Look { in_trace_only, in_modules_too };
  explicit Sources(const trace::Trace &trace, Look look = Look::in_modules_too);
  /// Look::in_trace_only. Who calls nothing else needs none of the libraries that read modules.
  static Sources in_trace(const trace::Trace &trace);

  /// Of a site as a frame of the stack: where it calls.
  [[nodiscard]] Position position(const trace::Site &site) const;
  /// Where MPI is called, of site `number` of a class: where what the site calls jumped on to MPI, if that is known
  /// (tail_calls.h), else the site's own; empty if there is none.
  [[nodiscard]] Position position(uint32_t class_index, uint64_t number) const;
  /// To name by what was made there: where it lies, briefly; "main.c:42/2" is the second of several call sites on that
  /// line, or of several callers' (by their place in the program). "" if there is none.
  [[nodiscard]] std::string name(uint32_t class_index, uint64_t number) const;
  /// The callers of that position, the innermost first; empty unless the trace has call stacks, or that is a jump: then
  /// the site.
  [[nodiscard]] std::vector<Position> callers(uint32_t class_index, uint64_t number) const;
  /// The frame with that number and what called it, as Site::caller has it; empty for 0.
  [[nodiscard]] std::vector<Position> frames(uint32_t caller) const;
  /// All resolved sites, for Trace::with_sources; those in scripts say it themselves.
  [[nodiscard]] std::vector<std::pair<trace::Site, trace::Source>> resolved() const;
  [[nodiscard]] const std::vector<ModuleState> &modules() const { return states_; }
  /// One line a stale module, to be shown to the user.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  using ReadModules = void (Sources::*)(const std::vector<std::set<uint64_t>> &wanted);
  Sources(const trace::Trace &trace, ReadModules read);
  void read_modules(const std::vector<std::set<uint64_t>> &wanted);
  [[nodiscard]] std::map<std::pair<uint32_t, uint64_t>, std::set<std::string>> functions_of_sites() const;
  /// Of a site from which MPI is called, or nullptr.
  [[nodiscard]] const trace::Source *tail_call(const trace::Site &site) const;
  [[nodiscard]] Position position_of(const trace::Site &site, const trace::Source &source) const;
  [[nodiscard]] Position innermost(const trace::Site &site) const;
  void count_sites();

  const trace::Trace *trace_;
  std::vector<std::vector<trace::Site>> class_sites_;
  std::map<std::pair<uint32_t, uint64_t>, trace::Source> found_;
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint32_t>
      ordinals_;                                       ///< of sites that others have the brief text of, from 1
  std::map<uint32_t, trace::ScriptFunction> scripts_;  ///< by module: a site in it is a line of it
  std::vector<ModuleState> states_;
  /// Recorded without call sites: handles are named by the function that made them, whose id stands for the offset in a
  /// module without a name.
  bool by_function_ = false;
};

}  // namespace cairn::analyze
