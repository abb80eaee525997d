#include "analyze/tail_calls.h"

#include <dwarf.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace cairn::analyze {
namespace {

constexpr int kMostJumps = 8;    // one behind another
constexpr int kMostLevels = 64;  // of blocks in blocks

/// The entry that one of the attributes refers to.
std::optional<Dwarf_Die> referred(Dwarf_Die *die, std::initializer_list<unsigned> attributes) {
  for (const unsigned name : attributes) {
    Dwarf_Attribute attribute;
    Dwarf_Die found;
    if (dwarf_attr(die, name, &attribute) != nullptr && dwarf_formref_die(&attribute, &found) != nullptr) return found;
  }
  return std::nullopt;
}

std::optional<Dwarf_Addr> address_in(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Addr found = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr || dwarf_formaddr(&attribute, &found) != 0) return std::nullopt;
  return found;
}

bool has_flag(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  bool set = false;
  return dwarf_attr(die, name, &attribute) != nullptr && dwarf_formflag(&attribute, &set) == 0 && set;
}

/// "mpi_send" of MPI_Send, PMPI_Send, and mpi_send_ as Fortran calls it; "" if it is no name of MPI's.
std::string mpi_name(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); });
  if (lower.starts_with("pmpi_")) lower.erase(0, 1);
  if (!lower.starts_with("mpi_")) return {};
  while (lower.ends_with('_')) lower.pop_back();
  for (const std::string_view ending : {"_f08ts", "_f08"}) {
    if (lower.ends_with(ending)) lower.resize(lower.size() - ending.size());
  }
  return lower;
}

}  // namespace

void TailCalls::add_calls(Dwarf_Die *within, int levels, std::vector<CallSite> *calls) {
  Dwarf_Die child;
  if (levels == 0 || dwarf_child(within, &child) != 0) return;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_call_site:
      case DW_TAG_GNU_call_site: {
        CallSite &call = calls->emplace_back();
        call.back = address_in(&child, DW_AT_call_return_pc);
        if (!call.back) call.back = address_in(&child, DW_AT_low_pc);
        call.at = address_in(&child, DW_AT_call_pc);
        call.is_jump = has_flag(&child, DW_AT_call_tail_call) || has_flag(&child, DW_AT_GNU_tail_call);
        call.callee = referred(&child, {DW_AT_call_origin, DW_AT_abstract_origin});
        break;
      }
      case DW_TAG_lexical_block:
      case DW_TAG_inlined_subroutine:
        add_calls(&child, levels - 1, calls);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

const std::vector<TailCalls::CallSite> &TailCalls::calls_of(Dwarf_Die *function) {
  const auto [calls, is_new] = calls_.try_emplace(dwarf_dieoffset(function));
  if (is_new) add_calls(function, kMostLevels, &calls->second);
  return calls->second;
}

const TailCalls::Functions &TailCalls::functions_of(Dwarf_Die *unit) {
  const auto [functions, is_new] = functions_.try_emplace(dwarf_dieoffset(unit));
  if (!is_new) return functions->second;
  const auto add = [](Dwarf_Die *function, void *to) {
    auto *all = static_cast<Functions *>(to);
    const bool has_code = all->code.add(*function);
    std::optional<Dwarf_Die> origin = referred(function, {DW_AT_abstract_origin, DW_AT_specification});
    if (has_code && origin) all->coded.emplace(dwarf_dieoffset(&*origin), *function);
    return static_cast<int>(DWARF_CB_OK);
  };
  dwarf_getfuncs(unit, add, &functions->second, 0);
  functions->second.code.sort();
  return functions->second;
}

std::optional<Dwarf_Addr> TailCalls::symbol(const std::string &name) {
  if (!knows_symbols_) {
    knows_symbols_ = true;
    const int count = dwfl_module_getsymtab(module_);
    for (int i = 1; i < count; ++i) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      GElf_Word section = 0;
      const char *text = dwfl_module_getsym_info(module_, i, &symbol, &address, &section, nullptr, nullptr);
      if (text == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || section == SHN_UNDEF) continue;
      if (GELF_ST_BIND(symbol.st_info) != STB_LOCAL) symbols_.emplace(text, address - bias_);
    }
  }
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Dwarf_Die> TailCalls::function_at(Dwarf_Addr address) {
  std::optional<Dwarf_Die> unit = units_->at(address);
  const Dwarf_Die *found = unit ? functions_of(&*unit).code.find(address) : nullptr;
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Dwarf_Die> TailCalls::definition(Dwarf_Die function) {
  Dwarf_Addr entry = 0;
  if (dwarf_entrypc(&function, &entry) == 0) return function;
  Dwarf_Die unit;
  if (dwarf_diecu(&function, &unit, nullptr, nullptr) != nullptr) {
    const auto &coded = functions_of(&unit).coded;
    const auto found = coded.find(dwarf_dieoffset(&function));
    if (found != coded.end()) return found->second;
  }
  const std::optional<Dwarf_Addr> there = symbol(linker_name(&function));
  return there ? function_at(*there) : std::nullopt;
}

void TailCalls::collect(Dwarf_Die function, const std::string &wanted, int depth, std::set<Dwarf_Off> *known,
                        std::vector<Dwarf_Addr> *jumps) {
  std::optional<Dwarf_Die> defined = depth == 0 ? std::nullopt : definition(function);
  if (!defined || !known->insert(dwarf_dieoffset(&*defined)).second) return;
  for (CallSite call : calls_of(&*defined)) {
    if (!call.is_jump || !call.callee) continue;
    const std::string name = mpi_name(linker_name(&*call.callee));
    if (name.empty()) {
      collect(*call.callee, wanted, depth - 1, known, jumps);
    } else if (name == wanted && (call.at || call.back)) {
      jumps->push_back(call.at ? *call.at : *call.back - 1);
    }
  }
}

std::vector<Dwarf_Addr> TailCalls::before(Dwarf_Addr back, const std::string &wanted) {
  std::vector<Dwarf_Addr> jumps;
  std::optional<Dwarf_Die> caller = function_at(back - 1);
  if (!caller) return jumps;
  std::set<Dwarf_Off> known;
  for (CallSite call : calls_of(&*caller)) {
    if (call.is_jump || call.back != back || !call.callee) continue;
    if (mpi_name(linker_name(&*call.callee)).empty())
      collect(*call.callee, mpi_name(wanted), kMostJumps, &known, &jumps);
  }
  return jumps;
}

}  // namespace cairn::analyze
