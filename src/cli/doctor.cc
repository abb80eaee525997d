// cairn doctor: looks at what recording needs here, and says what is missing and what to do about it.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "analyze/integrity.h"
#include "cli/recording.h"
#include "cli/verbs.h"
#include "spec/spec.h"
#include "terminal/child.h"
#include "terminal/executable.h"
#include "terminal/installation.h"
#include "terminal/listing.h"
#include "terminal/mpi_libraries.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "trace/merge/part.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

struct Check {
  enum class Verdict : uint8_t { good, note, bad };
  std::string name;
  Verdict verdict = Verdict::good;
  std::string text;
  std::optional<uint64_t> free_bytes{};
};
using Verdict = Check::Verdict;

const char *word(Verdict verdict) {
  switch (verdict) {
    case Verdict::good:
      return "ok";
    case Verdict::note:
      return "note";
    case Verdict::bad:
      break;
  }
  return "bad";
}

/// A process recorded in memory, written and read back.
Check self_test() {
  trace::ProcessRecord process;
  const spec::Function *function = spec::find_function("MPI_Barrier");
  if (function == nullptr) return {"self test", Verdict::bad, "the table of MPI functions is empty"};
  trace::Row row;
  row.function = function->id;
  row.fields.resize(size_t{function->parameter_count} + 1);
  row.fields.back().atoms = {0};
  ByteWriter packed;
  trace::pack_row(row, packed);
  trace::SequenceRecord sequence;
  sequence.rows = {packed.take()};
  sequence.calls = grammar::Grammar::from_symbols(std::vector<grammar::Symbol>(1000, 0));
  process.sequences.push_back(std::move(sequence));
  const auto part = trace::Part::of(process);
  if (!part) return {"self test", Verdict::bad, error_line(part.error())};
  auto file = part->to_file({});
  if (!file) return {"self test", Verdict::bad, error_line(file.error())};
  const auto trace = trace::Trace::from_bytes(*std::move(file), "self test");
  if (!trace) return {"self test", Verdict::bad, error_line(trace.error())};
  const analyze::Integrity integrity = analyze::check_integrity(*trace);
  const bool good = integrity.calls == 1000 && integrity.fault_count == 0;
  return {"self test", good ? Verdict::good : Verdict::bad,
          good ? "1,000 calls written and read back" : "what was written is not what was read; please report it"};
}

Check preload_check(const std::string &library) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return {"preload", Verdict::bad, "cannot make a pipe"};
  const int saved = dup(STDERR_FILENO);
  dup2(pipe_ends[1], STDERR_FILENO);
  close(pipe_ends[1]);
  const auto code = run_child({"/bin/sh", "-c", ":"}, {{"LD_PRELOAD", preload_value(library)}});
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text(512, '\0');
  const ssize_t got = read(pipe_ends[0], text.data(), text.size());
  close(pipe_ends[0]);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  if (!code || *code != 0) return {"preload", Verdict::bad, "a shell with " + library + " preloaded fails"};
  if (!text.empty()) return {"preload", Verdict::bad, text.substr(0, text.find('\n'))};
  return {"preload", Verdict::good, library};
}

Check folder_check() {
  const std::string probe = fmt::format(".cairn-doctor.{}", getpid());
  std::error_code error;
  fs::create_directory(probe, error);
  const fs::space_info space = fs::space(".", error);
  const bool made = fs::remove(probe, error);
  if (!made) return {"folder", Verdict::bad, "this folder cannot be written; use -o and --spool to write elsewhere"};
  return {"folder", space.available < (64U << 20) ? Verdict::note : Verdict::good,
          fmt::format("can be written, {} free", bytes_text(space.available)), space.available};
}

Check shared_memory_check() {
  struct statvfs info {};
  if (statvfs("/dev/shm", &info) != 0 || access("/dev/shm", W_OK) != 0) {
    return {"/dev/shm", Verdict::note, "cannot be written; some MPI libraries need it between the processes of a node"};
  }
  const uint64_t available = uint64_t{info.f_bavail} * info.f_frsize;
  return {"/dev/shm", Verdict::good, fmt::format("{} free", bytes_text(available)), available};
}

/// Which MPI the programs of a command use, and whether there is a recorder for it.
std::vector<Check> program_checks(const std::vector<std::string> &command, const std::vector<Recorder> &recorders) {
  std::vector<Check> checks;
  if (!can_run(command.front())) {
    return {{"program", Verdict::bad, command.front() + " cannot be executed, or is not there; check its path"}};
  }
  for (const Executable &program : executables_of(command)) {
    const std::string mpi = mpi_of(program);
    const std::string why = why_not_recorded(program, recorders);
    if (mpi.empty() && (why.empty() || !program.is_certain)) continue;
    checks.push_back({"program", why.empty() ? Verdict::good : Verdict::bad,
                      why.empty() ? fmt::format("{} uses {}", program.path, mpi) : why});
  }
  if (checks.empty()) {
    checks.push_back(
        {"program", Verdict::note,
         fmt::format("{} is not linked to an MPI library; if it loads one, as Python does with mpi4py, that is "
                     "found when it is recorded",
                     shell_quoted(command))});
  }
  return checks;
}

std::vector<Check> all_checks(const std::vector<std::string> &command) {
  std::vector<Check> checks;
  checks.push_back({"cairn", Verdict::good, CAIRN_VERSION});
  checks.push_back({"MPI table", Verdict::good, plural(spec::functions().size(), "function")});
  const auto library = find_library();
  std::vector<Recorder> recorders;
  if (library) {
    checks.push_back(preload_check(*library));
    recorders = find_recorders(*library);
  } else {
    checks.push_back({"preload", Verdict::bad, error_line(library.error())});
  }
  if (recorders.empty()) {
    checks.push_back({"recorder", Verdict::bad, "there is none; build cairn where an MPI library is installed"});
  }
  for (const Recorder &recorder : recorders) checks.push_back({"recorder", Verdict::good, "for " + recorder.soname});
  for (const MpiLibrary &each : find_mpi_libraries()) {
    const Recorder *serves = recorder_for(each.soname, recorders);
    const std::string why =
        serves == nullptr ? ": no recorder for it; build one with -DCAIRN_MPICC=/path/to/mpicc"
        : serves->soname == each.soname
            ? ": recorded by the recorder for it"
            : fmt::format(": recorded by that for {}, which has the same binary interface", serves->soname);
    checks.push_back({"MPI library", serves != nullptr ? Verdict::good : Verdict::note,
                      fmt::format("{} ({}){}", each.soname, each.path, why)});
  }
  if (!command.empty()) {
    std::vector<Check> found = program_checks(command, recorders);
    std::move(found.begin(), found.end(), std::back_inserter(checks));
  }
  checks.push_back(folder_check());
  checks.push_back(shared_memory_check());
  checks.push_back(self_test());
  return checks;
}

int doctor(bool json, const std::vector<std::string> &command) {
  const std::vector<Check> checks = all_checks(command);
  const bool good =
      std::none_of(checks.begin(), checks.end(), [](const Check &check) { return check.verdict == Verdict::bad; });
  Output out;
  if (json) {
    Listing list({{nullptr, "name"}, {nullptr, "verdict"}, {nullptr, "text"}, {nullptr, "free_bytes"}});
    for (const Check &check : checks) {
      list.add(
          {words(check.name), words(word(check.verdict)), words(check.text), {"", cli::json_of(check.free_bytes)}});
    }
    nlohmann::ordered_json object{{"schema", "cairn.doctor/1"}, {"ok", good}, {"checks", list.json()}};
    out.write(object.dump(2) + "\n");
  } else {
    for (const Check &check : checks) {
      const bool plain = check.verdict == Verdict::good;
      out.write(fmt::format("{}{:<5}{}{:<13}{}\n", plain ? "" : out.warning(), word(check.verdict),
                            plain ? "" : out.plain(), check.name, check.text));
    }
  }
  const int written = out.finish();
  return good ? written : kEnvironment;
}

}  // namespace

Action declare_doctor(Options &verb) {
  auto json = std::make_shared<bool>(false);
  verb.flag("--json", *json, "Print JSON, with the name of its schema");
  return [json, &verb] { return doctor(*json, verb.command); };
}

}  // namespace cairn::cli
