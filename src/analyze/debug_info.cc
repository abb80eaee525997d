#include "analyze/debug_info.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace cairn::analyze {

struct DebugInfo::Body {
  Dwfl *dwfl = nullptr;
  Dwfl_Module *module = nullptr;
  GElf_Addr bias = 0;
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
    Dwarf_Attribute attribute;
    const char *text = nullptr;
    for (const unsigned at : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
      if (text == nullptr) text = dwarf_formstring(dwarf_attr_integrate(&scopes[i], at, &attribute));
    }
    if (text != nullptr) name = demangled(text);
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
  if (dwfl_module_getelf(info->body_->module, &info->body_->bias) == nullptr) return nullptr;
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

bool DebugInfo::has_lines() const {
  Dwarf_Addr bias = 0;
  return dwfl_module_getdwarf(body_->module, &bias) != nullptr;
}

std::optional<trace::Source> DebugInfo::find(uint64_t offset) const {
  if (offset == 0) return std::nullopt;
  // A return address may be the first of the next line, or of the next function: the call ends one byte before.
  const GElf_Addr address = offset - 1 + body_->bias;
  trace::Source source;
  if (Dwfl_Line *line = dwfl_module_getsrc(body_->module, address)) {
    int number = 0;
    if (const char *file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr)) {
      // Compilers name a file as they were told to.
      const char *folder = *file == '/' ? nullptr : dwfl_line_comp_dir(line);
      source.file = folder == nullptr ? file : (std::filesystem::path(folder) / file).lexically_normal().string();
      source.line = number > 0 ? static_cast<uint32_t>(number) : 0;
    }
  }
  Dwarf_Addr bias = 0;
  if (Dwarf_Die *unit = dwfl_module_addrdie(body_->module, address, &bias)) {
    source.function = scope_name(unit, address - bias);
  }
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

}  // namespace cairn::analyze
