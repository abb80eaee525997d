// Inline PTX for the emulator: `cairn instrument --emulator` makes of `asm("text" : "=r"(x) : "l"(p))` a call
// `ptx("text", outputs(x), p)`. Known is what kernels say in PTX because CUDA C++ has, or had, no word for it: special
// registers of a lane, loads and stores with their kinds of caching and ordering, fences, barriers, prefetches, traps.
// Anything else ends the process with a line when it is come to.
#pragma once

#include <chrono>
#include <string>
#include <tuple>

#include "warp_functions.h"

namespace cairn::emulator {

template <typename... Out>
struct PtxOutputs {
  std::tuple<Out &...> all;
};
template <typename... Out>
PtxOutputs<Out...> outputs(Out &...out) {
  return {std::tie(out...)};
}

/// "ld.global.u32 %0, [%1]": the opcode up to its first full stop, all of it, what follows it.
struct PtxInstruction {
  std::string kind;
  std::string opcode;
  std::string operands;
  explicit PtxInstruction(const std::string &text) {
    const size_t begin = text.find_first_not_of(" \t\n{}");
    if (begin == std::string::npos) return;
    const size_t end = std::min(text.size(), text.find_first_of(" \t\n", begin));
    opcode = text.substr(begin, end - begin);
    kind = opcode.substr(0, opcode.find('.'));
    for (const char c : text.substr(end)) {
      if (c != ' ' && c != '\t' && c != '\n' && c != '}') operands += c;
    }
  }
  bool says(const char *word) const { return operands.find(word) != std::string::npos; }
};

inline bool ptx_register(const PtxInstruction &what, uint64_t &value) {
  const unsigned own = 1u << lane_index();
  const unsigned below = own - 1;
  if (what.kind != "mov") return false;
  if (what.says("%laneid")) return value = lane_index(), true;
  if (what.says("%lanemask_lt")) return value = below, true;
  if (what.says("%lanemask_le")) return value = below | own, true;
  if (what.says("%lanemask_eq")) return value = own, true;
  if (what.says("%lanemask_gt")) return value = ~(below | own), true;
  if (what.says("%lanemask_ge")) return value = ~below, true;
  if (what.says("%warpid")) {
    const Place &here = place();
    value = (here.thread.x + here.block_dim.x * (here.thread.y + here.block_dim.y * here.thread.z)) / 32;
    return true;
  }
  if (what.says("%smid")) return value = processor(), true;
  if (what.says("%nsmid")) return value = processor_count(), true;
  if (what.says("%clock")) return value = static_cast<uint64_t>(clock64()), true;
  if (what.says("%globaltimer")) {
    pause();
    return value = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()), true;
  }
  return false;
}

template <typename... Out, typename... In>
void ptx(const char *text, PtxOutputs<Out...> out, In... in) {
  const std::string whole = text;
  for (size_t begin = 0; begin < whole.size();) {
    const size_t end = std::min(whole.size(), whole.find(';', begin));
    const PtxInstruction what(whole.substr(begin, end - begin));
    begin = end + 1;
    if (what.kind.empty() || what.kind == "membar" || what.kind == "fence" || what.kind == "prefetch" ||
        what.kind == "prefetchu" || what.kind == "discard") {
      pause();
      continue;
    }
    if (what.kind == "trap") __trap();
    if (what.opcode == "bar.sync" || what.opcode == "barrier.sync") {
      __syncthreads();
      continue;
    }
    if constexpr (sizeof...(Out) == 1) {
      auto &to = std::get<0>(out.all);
      using To = std::remove_reference_t<decltype(to)>;
      uint64_t value = 0;
      if (ptx_register(what, value)) {
        to = static_cast<To>(value);
        continue;
      }
      if constexpr (sizeof...(In) == 1) {
        auto from = std::get<0>(std::make_tuple(in...));
        if constexpr (sizeof(from) == sizeof(void *)) {
          if (what.kind == "ld" && what.operands == "%0,[%1]") {
            pause();
            std::memcpy(static_cast<void *>(&to), (const void *)from, sizeof(To));  // NOLINT: a number or a pointer
            continue;
          }
        }
      }
    }
    if constexpr (sizeof...(Out) == 0 && sizeof...(In) == 2) {
      const auto all = std::make_tuple(in...);
      const auto to = std::get<0>(all);
      const auto value = std::get<1>(all);
      if constexpr (sizeof(to) == sizeof(void *)) {
        if (what.kind == "st" && what.operands == "[%0],%1") {
          pause();
          std::memcpy((void *)to, &value, sizeof value);  // NOLINT: a number or a pointer
          continue;
        }
      }
    }
    refuse(("inline PTX that is not known here: " + whole).c_str());
  }
}

}  // namespace cairn::emulator
