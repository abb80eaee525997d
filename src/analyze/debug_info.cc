#include "analyze/debug_info.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "analyze/compile_units.h"
#include "analyze/debug_entries.h"
#include "analyze/tail_calls.h"

namespace cairn::analyze {

struct DebugInfo::Body {
  Dwfl *dwfl = nullptr;
  Dwfl_Module *module = nullptr;
  GElf_Addr bias = 0;
  Dwarf *debug = nullptr;     ///< nullptr: it has no debug information
  Dwarf_Addr debug_bias = 0;  ///< what addresses there lack
  CompileUnits units{nullptr};
  std::optional<TailCalls> tail_calls;

  /// What stands at an address of the debug information; empty if that does not say.
  trace::Source at(Dwarf_Addr address);
};

namespace {

char *no_debuginfo_path = nullptr;  // the default search path
const Dwfl_Callbacks kCallbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address,
                                   &no_debuginfo_path};

/// Name of the innermost function, inlined or not, at `address`, which lies in `unit`.
std::string scope_name(Dwarf_Die *unit, Dwarf_Addr address) {
  Dwarf_Die *scopes = nullptr;
  const int count = dwarf_getscopes(unit, address, &scopes);
  std::string name;
  for (int i = 0; i < count && name.empty(); ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
    name = demangled(linker_name(&scopes[i]).c_str());
  }
  std::free(scopes);
  return name;
}

bool is_lower(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == text.npos;
}

/// gfortran: a procedure of a module is __module_MOD_procedure, one contained in another procedure.7. A number stands
/// behind no name of C++, and behind one of C only where the compiler made a copy that is for one place alone.
std::string without_number(std::string_view name) {
  const size_t point = name.rfind('.');
  const bool numbered = point != name.npos && point != 0 && point + 1 < name.size() &&
                        name.find_first_not_of("0123456789", point + 1) == name.npos;
  return std::string(numbered ? name.substr(0, point) : name);
}

/// module::procedure, of a module of Fortran by gfortran, Intel (module_mp_procedure_) or flang (_QMmodulePprocedure);
/// "" if it is none.
std::string fortran_name(std::string_view name) {
  struct Mangling {
    std::string_view begin, between, end;
  };
  for (const Mangling &form : {Mangling{"__", "_MOD_", ""}, Mangling{"_QM", "P", ""}, Mangling{"", "_mp_", "_"}}) {
    const bool fits =
        name.size() > form.begin.size() + form.end.size() && name.starts_with(form.begin) && name.ends_with(form.end);
    if (!fits) continue;
    const std::string_view within = name.substr(form.begin.size(), name.size() - form.begin.size() - form.end.size());
    const size_t at = within.find(form.between);
    if (at == within.npos) continue;
    const std::string module(within.substr(0, at));
    const std::string procedure = without_number(within.substr(at + form.between.size()));
    if (is_lower(module) && is_lower(procedure)) return module + "::" + procedure;
  }
  return {};
}

}  // namespace

std::string demangled(const char *name) {
  // The names of C are their own. Some are also the codes of types, as which `f` would be taken for float.
  if (std::strncmp(name, "_Z", 2) != 0) {
    const std::string fortran = fortran_name(name);
    return fortran.empty() ? without_number(name) : fortran;
  }
  int status = 0;
  char *text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string result = text;
  std::free(text);
  return result;
}

std::unique_ptr<DebugInfo> DebugInfo::open(const std::string &path) {
  // libdebuginfod would be asked otherwise; a trace must not make anyone's machine call out.
  unsetenv("DEBUGINFOD_URLS");
  std::unique_ptr<DebugInfo> info(new DebugInfo);
  info->body_ = std::make_unique<Body>();
  info->body_->dwfl = dwfl_begin(&kCallbacks);
  if (info->body_->dwfl == nullptr) return nullptr;
  info->body_->module = dwfl_report_offline(info->body_->dwfl, path.c_str(), path.c_str(), -1);
  dwfl_report_end(info->body_->dwfl, nullptr, nullptr);
  if (info->body_->module == nullptr) return nullptr;
  Body &body = *info->body_;
  if (dwfl_module_getelf(body.module, &body.bias) == nullptr) return nullptr;
  body.debug = dwfl_module_getdwarf(body.module, &body.debug_bias);
  body.units = CompileUnits(body.debug);
  body.tail_calls.emplace(body.module, body.debug_bias, &body.units);
  return info;
}

DebugInfo::~DebugInfo() {
  if (body_ && body_->dwfl != nullptr) dwfl_end(body_->dwfl);
}

Bytes DebugInfo::build_id() const {
  const unsigned char *bits = nullptr;
  GElf_Addr where = 0;
  const int size = dwfl_module_build_id(body_->module, &bits, &where);
  return size > 0 ? Bytes(bits, bits + size) : Bytes();
}

bool DebugInfo::has_lines() const { return body_->debug != nullptr; }

trace::Source DebugInfo::Body::at(Dwarf_Addr address) {
  trace::Source source;
  std::optional<Dwarf_Die> unit = units.at(address);
  if (!unit) return source;
  source.function = scope_name(&*unit, address);
  Dwarf_Line *line = dwarf_getsrc_die(&*unit, address);
  const char *file = line == nullptr ? nullptr : dwarf_linesrc(line, nullptr, nullptr);
  if (file == nullptr) return source;
  // Compilers name a file as they were told to.
  Dwarf_Attribute attribute;
  const char *folder = *file == '/' ? nullptr : dwarf_formstring(dwarf_attr(&*unit, DW_AT_comp_dir, &attribute));
  source.file = folder == nullptr ? file : (std::filesystem::path(folder) / file).lexically_normal().string();
  int number = 0;
  dwarf_lineno(line, &number);
  source.line = number > 0 ? static_cast<uint32_t>(number) : 0;
  return source;
}

std::optional<trace::Source> DebugInfo::find(uint64_t offset) const {
  if (offset == 0) return std::nullopt;
  // A return address may be the first of the next line, or of the next function: the call ends one byte before.
  const GElf_Addr address = offset - 1 + body_->bias;
  trace::Source source = body_->at(address - body_->debug_bias);
  if (source.function.empty()) {
    GElf_Off into = 0;
    GElf_Sym symbol;
    if (const char *name = dwfl_module_addrinfo(body_->module, address, &into, &symbol, nullptr, nullptr, nullptr)) {
      source.function = demangled(name);
    }
  }
  if (source.file.empty() && source.function.empty()) return std::nullopt;
  return source;
}

std::optional<trace::Source> DebugInfo::find_tail_call(uint64_t offset, const std::set<std::string> &functions) const {
  std::optional<trace::Source> found;
  for (const std::string &function : functions) {
    const auto jumps = body_->tail_calls->before(offset + body_->bias - body_->debug_bias, function);
    if (jumps.empty()) return std::nullopt;
    for (const Dwarf_Addr jump : jumps) {
      trace::Source source = body_->at(jump);
      if (source.line == 0 || (found && (found->file != source.file || found->line != source.line)))
        return std::nullopt;
      found = std::move(source);
    }
  }
  return found;
}

}  // namespace cairn::analyze
