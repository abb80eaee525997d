#include "proxy/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "analyze/attached.h"

namespace cairn::proxy {

using spec::Kind;

std::string kind_word(Kind kind) {
  switch (kind) {
    case Kind::comm:
    case Kind::group:
    case Kind::request:
    case Kind::message:
    case Kind::info:
    case Kind::errhandler:
    case Kind::file:
    case Kind::window:
    case Kind::op:
    case Kind::datatype:
    case Kind::keyval:
    case Kind::session:
    case Kind::t_enum:
    case Kind::t_cvar_handle:
    case Kind::t_pvar_handle:
    case Kind::t_pvar_session:
      return spec::kind_name(kind);
    default:
      return {};
  }
}

std::string kind_null(Kind kind) {
  if (kind == Kind::keyval) return "MPI_KEYVAL_INVALID";
  std::string type = kind_type(kind);
  std::transform(type.begin(), type.end(), type.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
  return type + "_NULL";
}

std::string kind_type(Kind kind) {
  switch (kind) {
    case Kind::window:
      return "MPI_Win";
    case Kind::keyval:
      return "int";
    default: {
      std::string word = kind_word(kind);
      if (word.starts_with("t_")) return "MPI_T" + word.substr(1);
      if (!word.empty()) word[0] = static_cast<char>(word[0] - 'a' + 'A');
      return "MPI_" + word;
    }
  }
}

std::optional<std::string> Program::single(Kind kind, const analyze::HandleName &name) {
  const HandleKey key = handle_key(kind, name);
  const auto made = singles.find(key);
  if (made == singles.end()) return std::nullopt;
  const auto [entry, added] = variables_.try_emplace(key);
  if (added) entry->second = names.unique(kind_word(kind) + "_" + identifier(made->second));
  return entry->second;
}

std::string Program::handles(Kind kind, const analyze::HandleName &name) {
  if (kind == Kind::comm) return "comms";
  const auto [entry, added] = handles_.try_emplace({kind, without_number(name)});
  if (added) {
    std::string wanted = kind_word(kind) + "_" + identifier(sources.position(name.site).brief());
    if (name.thread != 0) wanted += fmt::format("_thread_{}", name.thread);
    entry->second = {handles_.size() - 1, names.unique(wanted)};
  }
  return entry->second.second;
}

size_t Program::handles_number(Kind kind, const analyze::HandleName &name) {
  handles(kind, name);
  return handles_.at({kind, without_number(name)}).first;
}

void Program::looks_up(trace::Atom atom) {
  if (!trace::is_special(atom) || trace::special_code(atom) < trace::kFirstConstant) return;
  const int id = trace::special_code(atom) - trace::kFirstConstant;
  const auto all = spec::constants();
  if (static_cast<size_t>(id) >= all.size()) return;
  static const std::set<std::string_view> kPointers = {
      "buffer",      "buffer_in_place", "attached_buffer", "weights",       "status",
      "statuses",    "f_status",        "f08_status",      "errcodes",      "argv",
      "argvs",       "comm_copy",       "comm_delete",     "type_copy",     "type_delete",
      "window_copy", "window_delete",   "keyval_copy",     "keyval_delete", "conversion"};
  const std::string_view domain = spec::domain_name(all[static_cast<size_t>(id)].domain);
  Kind kind = kPointers.contains(domain) ? Kind::pointer : Kind::integer;
  for (const Kind each : {Kind::comm, Kind::group, Kind::request, Kind::message, Kind::info, Kind::errhandler,
                          Kind::file, Kind::window, Kind::op, Kind::datatype, Kind::keyval, Kind::session, Kind::t_enum,
                          Kind::t_cvar_handle, Kind::t_pvar_handle, Kind::t_pvar_session}) {
    if (domain == spec::kind_name(each)) kind = each;
  }
  constants_.insert({id, kind});
}

std::vector<std::string> Program::unmade() const {
  std::vector<std::string> all;
  for (const auto &[key, where] : used_) {
    if (!made_.contains(key))
      all.push_back(fmt::format("{} uses a {} that nothing makes", where, spec::kind_name(key.first)));
  }
  return all;
}

std::string Program::header(const std::vector<std::string> &parts) const {
  std::string out =
      "/* What the parts of this program share: the handles that their calls make, each named after what\n"
      " * made it. */\n#ifndef PROGRAM_H\n#define PROGRAM_H\n\n#include \"proxy.h\"\n\n";
  for (const auto &[key, variable] : variables_) out += fmt::format("extern {} {};\n", kind_type(key.first), variable);
  for (const auto &[key, what] : handles_) out += fmt::format("extern struct handles {};\n", what.second);
  out += "\n";
  for (const std::string &part : parts) out += fmt::format("void {}(void);\n", part);
  return out + "\n#endif\n";
}

std::string Program::definitions() const {
  std::string out =
      "/* The handles of this program, and its constants by their numbers. */\n#include \"program.h\"\n\n";
  std::vector<std::string> all(handles_.size());
  for (const auto &[key, variable] : variables_) {
    out += fmt::format("{} {} = {};\n", kind_type(key.first), variable, kind_null(key.first));
  }
  for (const auto &[key, what] : handles_) {
    out += fmt::format("struct handles {};\n", what.second);
    all[what.first] = "&" + what.second;
  }
  all.emplace_back("NULL");
  out += fmt::format(
      "\nstruct handles *handles_of(long long number) {{\n  static struct handles *const all[] = {{\n{}}};\n"
      "  return all[number];\n}}\n\n",
      list_text(all));
  std::string numbers;
  std::string pointers;
  std::string objects;
  for (const auto &[id, kind] : constants_) {
    const char *name = spec::constants()[static_cast<size_t>(id)].name;
    if (!kind_word(kind).empty()) {
      objects += fmt::format("    case {}: *({} *)to = {}; break;\n", id, kind_type(kind), name);
    } else if (kind == Kind::pointer) {
      pointers += fmt::format("    case {}: return (void *)(intptr_t){};\n", id, name);
    } else {
      numbers += fmt::format("    case {}: return {};\n", id, name);
    }
  }
  out += "long long constant_of(int id) {\n  switch (id) {\n" + numbers + "    default: return 0;\n  }\n}\n\n";
  out += "void *pointer_constant_of(int id) {\n  switch (id) {\n" + pointers + "    default: return NULL;\n  }\n}\n\n";
  out += "void handle_constant(int id, void *to) {\n  (void)to;\n  switch (id) {\n" + objects +
         "    default: break;\n  }\n}\n";
  if (attaches) out += attached();
  if (kept != nullptr) out += members();
  return out;
}

std::string Program::members() const {
  std::string out =
      "\n/* Of each communicator's ranks in the recording, the ranks that they are now; -1: left out. */\n";
  std::vector<std::string> all;
  for (const std::vector<int64_t> &each : kept->members()) {
    std::vector<std::string> now;
    now.reserve(each.size());
    for (const int64_t rank : each) now.push_back(fmt::format("{}", rank));
    out += fmt::format("static const int members_{}[] = {{\n{}}};\n", all.size(), list_text(now));
    all.push_back(fmt::format("{{{}, members_{}}}", each.size(), all.size()));
  }
  return out + fmt::format(
                   "\nconst struct members *members_of(long long number) {{\n"
                   "  static const struct members all[] = {{\n{}}};\n  return &all[number];\n}}\n",
                   list_text(all));
}

std::string Program::attached() const {
  std::string out = "\n/* What each rank attached to dynamic windows: where it lay, and how many bytes. */\n";
  std::map<std::string, std::string> known;
  std::vector<std::string> ranks;
  for (uint32_t rank = 0; rank < trace.rank_count(); ++rank) {
    std::vector<std::string> all;
    for (const analyze::Segment &each : analyze::attached_segments(trace, rank)) {
      std::string text = fmt::format("{{{}U, {}U}}", each.raw, each.size);
      if (each.raw != 0 && std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
    }
    all.emplace_back("{0, 0}");
    const auto [entry, added] = known.try_emplace(list_text(all), fmt::format("attached_{}", rank));
    if (added) out += fmt::format("static const struct segment {}[] = {{\n{}}};\n", entry->second, entry->first);
    ranks.push_back(entry->second);
  }
  return out + fmt::format(
                   "\nconst struct segment *attached_by(long long of) {{\n"
                   "  static const struct segment *const all[] = {{\n{}}};\n  return all[of];\n}}\n",
                   list_text(ranks));
}

}  // namespace cairn::proxy
