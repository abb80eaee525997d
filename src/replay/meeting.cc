#include "replay/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "spec/ids.h"
#include "trace/values/atom_reader.h"

namespace cairn::replay {
namespace {

namespace id = spec::function_id;

std::optional<uint8_t> place_of(const spec::Function &function, std::string_view name) {
  for (uint8_t i = 0; i < function.parameter_count; ++i) {
    if (name == function.parameters[i].name) return i;
  }
  return std::nullopt;
}

/// This program.
std::string own_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

/// `words` has to live as long as the pointers.
std::vector<char *> pointers_to(std::vector<std::string> *words) {
  std::vector<char *> pointers;
  for (std::string &word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::optional<Meeting> meeting_of(const trace::Row &row, bool succeeded) {
  const spec::Function &function = spec::functions()[row.function];
  Meeting meeting;
  if (row.function == id::Comm_spawn || row.function == id::Comm_spawn_multiple) {
    const bool many = row.function == id::Comm_spawn_multiple;
    meeting.how = succeeded ? Meeting::How::spawns : Meeting::How::fails_to_spawn;
    meeting.parameter = *place_of(function, many ? "array_of_commands" : "command");
    meeting.arguments = *place_of(function, many ? "array_of_argv" : "argv");
    trace::AtomReader atoms(row.fields[*place_of(function, many ? "count" : "maxprocs")].atoms);
    if (atoms.at_end()) return std::nullopt;  // not the root
    if (many) meeting.commands = static_cast<size_t>(std::max<int64_t>(atoms.next().value, 0));
    return meeting;
  }
  const auto name = place_of(function, "port_name");
  if (!name || row.function == id::Lookup_name || row.fields[*name].bytes.empty()) return std::nullopt;
  const bool meets = row.function == id::Comm_accept || row.function == id::Comm_connect;
  meeting.how = row.function == id::Open_port ? Meeting::How::opens
                : meets                       ? Meeting::How::awaits
                                              : Meeting::How::names;
  meeting.parameter = *name;
  meeting.port.assign(row.fields[*name].bytes.begin(), row.fields[*name].bytes.end());
  return meeting;
}

Result<void> prepare(Meeting *meeting, OtherJobs *jobs, const std::vector<std::string> &settings, Word *words) {
  const auto give = [words](uint8_t parameter, const void *to) { words[parameter] = reinterpret_cast<Word>(to); };
  switch (meeting->how) {
    case Meeting::How::opens:
      return {};
    case Meeting::How::names:
    case Meeting::How::awaits:
      meeting->now = {jobs->port(meeting->port, meeting->how == Meeting::How::awaits)};
      give(meeting->parameter, meeting->now[0].c_str());
      return {};
    case Meeting::How::fails_to_spawn:
      meeting->program = jobs->folder() + "/no such program";
      break;
    case Meeting::How::spawns: {
      const auto next = jobs->next();
      if (!next) return tl::unexpected(next.error());
      meeting->program = own_program();
      meeting->now = {next->file, jobs->folder()};
      meeting->now.insert(meeting->now.end(), settings.begin(), settings.end());
      meeting->now.push_back(fmt::format("job={}", next->job));
      meeting->now.push_back(fmt::format("first={}", next->first));
    }
  }
  meeting->argv = pointers_to(&meeting->now);
  if (meeting->commands == 0) {
    give(meeting->parameter, meeting->program.c_str());
    give(meeting->arguments, meeting->argv.data());
    return {};
  }
  meeting->programs.assign(meeting->commands, meeting->program.data());
  meeting->argvs.assign(meeting->commands, meeting->argv.data());
  give(meeting->parameter, meeting->programs.data());
  give(meeting->arguments, meeting->argvs.data());
  return {};
}

Result<void> conclude(const Meeting &meeting, OtherJobs *jobs, const Word *words) {
  if (meeting.how != Meeting::How::opens) return {};
  return jobs->tell_port(meeting.port, reinterpret_cast<const char *>(words[meeting.parameter]));
}

}  // namespace cairn::replay
