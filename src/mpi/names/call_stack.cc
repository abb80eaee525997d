#include "mpi/names/call_stack.h"

#include <cstring>

#include "mpi/names/loaded_object.h"
#include "mpi/names/mixed.h"

namespace cairn::recorder {
namespace {

/// No address of code has it.
constexpr uintptr_t kPythonLine = uintptr_t{1} << 63;

uint64_t hash_of(const uintptr_t *addresses, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; ++i) hash = mixed(hash ^ addresses[i]);
  return hash;
}

uintptr_t word_at(uintptr_t address) {
  uintptr_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void *>(address), sizeof word);
  return word;
}

/// Whether a word lies wholly on what is left of the stack.
bool is_on(uintptr_t address, uintptr_t low, uintptr_t high) {
  return address >= low && address < high && high - address >= sizeof(uintptr_t) && address % sizeof(uintptr_t) == 0;
}

}  // namespace

size_t push_folded(uintptr_t *addresses, size_t count, uintptr_t address) {
  addresses[count++] = address;
  for (size_t cycle = 1; cycle <= kLongestCycle && 2 * cycle <= count; ++cycle) {
    const uintptr_t *last = addresses + count - cycle;
    if (last[cycle - 1] != last[-1]) continue;
    if (std::memcmp(last - cycle, last, cycle * sizeof *last) == 0) return count - cycle;
  }
  return count;
}

CallStacks::CallStacks(Arena &arena, Modules &modules, SiteTable &plain, PythonSites &python,
                       const volatile uint32_t *module_epoch)
    : arena_(arena),
      modules_(modules),
      plain_(plain),
      python_(python),
      module_epoch_(module_epoch),
      seen_epoch_(*module_epoch) {}

uint64_t CallStacks::Rule::hash() const { return mixed(address); }

template <typename Entry>
Entry *CallStacks::Table<Entry>::room(Arena &arena, uint64_t hash) {
  const auto free_place = [](Entry *in, size_t within, uint64_t from) {
    size_t at = from & within;
    while (!in[at].is_empty()) at = (at + 1) & within;
    return &in[at];
  };
  if (entries == nullptr || used * 2 > mask) {
    const size_t size = entries == nullptr ? 64 : (mask + 1) * 2;
    auto *grown = arena.allocate_array<Entry>(size);
    if (grown == nullptr) return nullptr;
    for (size_t i = 0; entries != nullptr && i <= mask; ++i) {
      if (!entries[i].is_empty()) *free_place(grown, size - 1, entries[i].hash()) = entries[i];
    }
    if (entries != nullptr) arena.release_array(entries, mask + 1);
    entries = grown;
    mask = size - 1;
  }
  ++used;
  return free_place(entries, mask, hash);
}

template <typename Entry>
void CallStacks::Table<Entry>::clear() {
  if (entries != nullptr) std::memset(static_cast<void *>(entries), 0, (mask + 1) * sizeof *entries);
  used = 0;
}

/// Addresses of code mean something else once an object has been closed.
void CallStacks::forget_closed() {
  if (*module_epoch_ == seen_epoch_) return;
  seen_epoch_ = *module_epoch_;
  rules_.clear();
  known_.clear();
}

CallStacks::Rule CallStacks::rule(uintptr_t address) {
  const uint64_t hash = mixed(address);
  for (size_t i = hash & rules_.mask; rules_.entries != nullptr && !rules_.entries[i].is_empty();
       i = (i + 1) & rules_.mask) {
    if (rules_.entries[i].address == address) return rules_.entries[i];
  }
  Rule found = {address, FrameRule::at(address - 1), false};  // a call that never returns may end its function
  const int module = modules_.find(address - 1);
  if (module >= 0 && (modules_[module].binding == Binding::python || is_python_name(modules_[module].path))) {
    python_.look_for_python();
    found.left_out = python_.knows_python();
  }
  if (Rule *fresh = rules_.room(arena_, hash); fresh != nullptr) *fresh = found;
  return found;
}

/// The frames of one loop.
void CallStacks::add_python(const cpython::Loop &loop) {
  for (const cpython::Frame *frame = loop.frame; frame != nullptr && count_ < kMaxFolded; frame = frame->previous) {
    if (const Site *site = python_.site(*frame)) {
      count_ = push_folded(folded_, count_, reinterpret_cast<uintptr_t>(site) | kPythonLine);
    }
    if (frame->is_entry) return;
  }
}

/// Into folded_: the innermost return address first.
void CallStacks::walk(uintptr_t frame_address, const ThreadStack &stack) {
  count_ = 0;
  if (frame_address < stack.low || !is_on(frame_address + sizeof(uintptr_t), frame_address, stack.high)) return;
  // The wrapper keeps a frame pointer: the caller's rbp, and above it the return address.
  uintptr_t rbp = word_at(frame_address);
  uintptr_t address = word_at(frame_address + sizeof(uintptr_t));
  uintptr_t rsp = frame_address + 2 * sizeof(uintptr_t);
  const cpython::Loop *loop = python_.loop();
  while (address != 0 && (address & kPythonLine) == 0 && count_ < kMaxFolded) {
    const Rule here = rule(address);
    const FrameRule &next = here.rule;
    if (!here.left_out) count_ = push_folded(folded_, count_, address);
    if (next.base == FrameRule::none) return;
    uintptr_t frame = (next.base == FrameRule::rsp ? rsp : rbp) + static_cast<uintptr_t>(intptr_t{next.offset});
    if (next.base == FrameRule::at_rbp) {
      if (!is_on(frame, rsp, stack.high)) return;
      frame = word_at(frame);
    }
    if (frame <= rsp || !is_on(frame - sizeof(uintptr_t), rsp, stack.high)) return;
    if (next.saved != FrameRule::kept) {
      const uintptr_t base = next.saved == FrameRule::at_frame ? frame : rbp;
      const uintptr_t saved = base + static_cast<uintptr_t>(intptr_t{next.saved_offset});
      if (!is_on(saved, rsp, stack.high)) return;
      rbp = word_at(saved);
    }
    const auto of_loop = reinterpret_cast<uintptr_t>(loop);
    if (of_loop >= rsp && of_loop < frame) {
      add_python(*loop);
      loop = loop->outer;
    }
    address = word_at(frame - sizeof(uintptr_t));
    rsp = frame;
  }
}

/// The Sites of folded_, each with its caller; the innermost.
Site *CallStacks::chain(Site *plain) {
  const auto line = [&](size_t i) {
    const bool is_line = (folded_[i] & kPythonLine) != 0;
    return is_line ? reinterpret_cast<Site *>(folded_[i] & ~kPythonLine) : nullptr;
  };
  const auto plain_site = [&](size_t i) {
    Site *site = line(i);
    return site != nullptr ? site : plain_.find(folded_[i]);
  };
  const auto is_program = [&](size_t i) {
    const Site *site = plain_site(i);
    return site != nullptr && !site->internal && site->binding != Binding::fortran;
  };
  const auto in_libc = [&](size_t i) {
    if (line(i) != nullptr) return false;
    const int module = modules_.find(folded_[i] - 1);
    return module >= 0 && is_c_library_name(modules_[module].path);
  };
  size_t first = 0;
  while (first < count_ && !is_program(first)) ++first;
  // The walk began elsewhere than at the call, or never came out of the binding.
  if (first == count_ || plain_site(first) != plain) return plain;
  // Out of main leads the C library, and out of that the program's own _start, or nothing in a thread.
  size_t end = count_;
  if (end > first + 2 && !in_libc(end - 1) && in_libc(end - 2)) --end;
  while (end > first + 1 && in_libc(end - 1)) --end;
  Site *caller = nullptr;
  for (size_t i = end; i-- > first;) {
    if (!is_program(i)) continue;
    Site *site = line(i) != nullptr ? modules_.script_site(*line(i), caller) : modules_.site(folded_[i], caller);
    if (site == nullptr) return plain;
    caller = site;
  }
  return caller;
}

Site *CallStacks::remember(uint64_t hash, Site *plain) {
  Site *site = chain(plain);
  auto *addresses = arena_.allocate_array<uintptr_t>(count_);
  if (addresses == nullptr) return site;
  std::memcpy(addresses, folded_, count_ * sizeof *addresses);
  if (Known *fresh = known_.room(arena_, hash); fresh != nullptr) {
    *fresh = {hash, addresses, count_, site};
  } else {
    arena_.release_array(addresses, count_);
  }
  return site;
}

Site *CallStacks::find(Site *plain, uintptr_t frame_address, const ThreadStack &stack) {
  forget_closed();
  const bool knew_python = python_.knows_python();
  walk(frame_address, stack);
  if (python_.knows_python() != knew_python) walk(frame_address, stack);
  if (count_ == 0) return plain;
  const uint64_t hash = hash_of(folded_, count_);
  for (size_t i = hash & known_.mask; known_.entries != nullptr && !known_.entries[i].is_empty();
       i = (i + 1) & known_.mask) {
    const Known &known = known_.entries[i];
    if (known.value == hash && known.count == count_ &&
        std::memcmp(known.addresses, folded_, count_ * sizeof *folded_) == 0) {
      return known.site;
    }
  }
  return remember(hash, plain);
}

}  // namespace cairn::recorder
