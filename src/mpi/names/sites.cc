#include "mpi/names/sites.h"

#include <atomic>
#include <cstring>

#include "base/hash.h"
#include "mpi/names/loaded_object.h"
#include "mpi/names/memory_map.h"
#include "mpi/names/spin_lock.h"

namespace cairn::recorder {
namespace {

constexpr int kMaxModules = 4096;
constexpr int kModulesInChunk = 64;
constexpr uint32_t kMaxScripts = 16384;
constexpr uint32_t kScriptsInChunk = 64;

struct Listed {
  ModuleInfo info;
  bool live;  ///< known to be where `info` says
};

size_t site_hash(uint32_t module, uint64_t offset, const Site *caller) {
  const uint64_t under = caller == nullptr ? 0 : (uint64_t{caller->id} + 1) * 0xff51afd7ed558ccdU;
  return static_cast<size_t>(((offset + (uint64_t{module} << 40) + under) * 0x9e3779b97f4a7c15U) >> 20);
}

}  // namespace

struct Modules::State {
  Arena &arena;
  uintptr_t mpi_function;
  const volatile uint32_t *module_epoch;
  uint32_t seen_epoch;
  SpinLock lock;
  std::atomic<int> count;
  Listed *chunks[kMaxModules / kModulesInChunk];
  Site **sites;  ///< open addressing by (module, offset)
  size_t site_mask;
  uint32_t site_count;
  std::atomic<uint32_t> script_count;
  uint32_t *script_numbers;  ///< by hash, one more than the number; nullptr until there is a script
  ScriptFunction *scripts[kMaxScripts / kScriptsInChunk];

  ScriptFunction &script(uint32_t number) { return scripts[number / kScriptsInChunk][number % kScriptsInChunk]; }

  Listed &listed(int number) { return chunks[number / kModulesInChunk][number % kModulesInChunk]; }

  /// With the lock held. Nothing is where it was for certain once an object has been closed.
  void notice_closed() {
    if (module_epoch != nullptr && *module_epoch == seen_epoch) return;
    if (module_epoch != nullptr) seen_epoch = *module_epoch;
    for (int i = 0; i < count.load(std::memory_order_relaxed); ++i) listed(i).live = false;
  }

  int holding(uintptr_t address) {
    for (int i = 0; i < count.load(std::memory_order_relaxed); ++i) {
      const Listed &module = listed(i);
      if (module.live && address >= module.info.low && address < module.info.high) return i;
    }
    return -1;
  }

  /// With the lock held: lists what was found, or recognises it.
  int enter(const LoadedObject &object) {
    int number = holding(object.low);
    if (number >= 0) return number;
    const int known = count.load(std::memory_order_relaxed);
    for (int i = 0; i < known; ++i) {
      Listed &old = listed(i);
      if (old.live || std::strcmp(old.info.path, object.path) != 0) continue;
      if (old.info.build_id_size != object.build_id_size) continue;
      if (std::memcmp(old.info.build_id, object.build_id, object.build_id_size) != 0) continue;
      if (object.path[0] == '\0' && old.info.low != object.low) continue;
      place(old, object);
      return i;
    }
    number = known;
    if (number == kMaxModules) return -1;
    Listed *&chunk = chunks[number / kModulesInChunk];
    if (chunk == nullptr) chunk = arena.allocate_array<Listed>(kModulesInChunk);
    if (chunk == nullptr) return -1;
    const size_t path_size = std::strlen(object.path) + 1;
    auto *path = arena.allocate_array<char>(path_size);
    if (path == nullptr) return -1;
    std::memcpy(path, object.path, path_size);
    Listed &fresh = listed(number);
    fresh.info.path = path;
    fresh.info.build_id_size = object.build_id_size;
    std::memcpy(fresh.info.build_id, object.build_id, sizeof fresh.info.build_id);
    // A program that holds its own MPI would otherwise have no calls at all.
    fresh.info.internal = !object.is_executable &&
                          ((mpi_function >= object.low && mpi_function < object.high) || is_internal_name(object.path));
    fresh.info.binding = object.is_executable                   ? Binding::none
                         : is_fortran_binding_name(object.path) ? Binding::fortran
                         : is_python_binding_name(object.path)  ? Binding::python
                                                                : Binding::none;
    place(fresh, object);
    count.store(number + 1, std::memory_order_release);
    return number;
  }

  static void place(Listed &module, const LoadedObject &object) {
    module.info.low = object.low;
    module.info.high = object.high;
    module.info.load_base = object.load_base;
    module.live = true;
  }

  bool grow_sites() {
    const size_t size = sites == nullptr ? 256 : (site_mask + 1) * 2;
    auto *grown = arena.allocate_array<Site *>(size);
    if (grown == nullptr) return false;
    for (size_t i = 0; sites != nullptr && i <= site_mask; ++i) {
      Site *const site = sites[i];
      if (site == nullptr) continue;
      size_t at = site_hash(site->module, site->offset, site->caller) & (size - 1);
      while (grown[at] != nullptr) at = (at + 1) & (size - 1);
      grown[at] = site;
    }
    if (sites != nullptr) arena.release_array(sites, site_mask + 1);
    sites = grown;
    site_mask = size - 1;
    return true;
  }

  Site *site_at(uint32_t module, uint64_t offset, Site *caller) {
    if ((sites == nullptr || site_count * 2 > site_mask) && !grow_sites() && sites == nullptr) return nullptr;
    size_t at = site_hash(module, offset, caller) & site_mask;
    for (; sites[at] != nullptr; at = (at + 1) & site_mask) {
      Site *known = sites[at];
      if (known->module == module && known->offset == offset && known->caller == caller) return known;
    }
    if (site_count == site_mask) return nullptr;  // growing failed, and one slot must stay empty
    auto *site = arena.create<Site>();
    if (site == nullptr) return nullptr;
    *site = {site_count++, module, offset, false, Binding::none, caller};
    if (module < kScripts) {
      const ModuleInfo &info = listed(static_cast<int>(module)).info;
      site->internal = info.internal;
      site->binding = info.binding;
    }
    return sites[at] = site;
  }

  const char *kept(const char *text) {
    const size_t size = std::strlen(text) + 1;
    auto *copy = arena.allocate_array<char>(size);
    if (copy != nullptr) std::memcpy(copy, text, size);
    return copy;
  }

  /// With the lock held: the number of a function of a script; kNoModule if it can't be listed.
  uint32_t script_number(const char *file, const char *name) {
    const auto hash_of = [](const char *text, uint64_t seed) {
      return hash64({reinterpret_cast<const uint8_t *>(text), std::strlen(text)}, seed);
    };
    const uint64_t hash = hash_of(name, hash_of(file, 0));
    const uint32_t known = script_count.load(std::memory_order_relaxed);
    constexpr size_t kSlots = size_t{2} * kMaxScripts;
    static_assert((kSlots & (kSlots - 1)) == 0);
    if (script_numbers == nullptr) script_numbers = arena.allocate_array<uint32_t>(kSlots);
    if (script_numbers == nullptr) return kNoModule;
    size_t slot = hash % kSlots;
    for (; script_numbers[slot] != 0; slot = (slot + 1) % kSlots) {
      const ScriptFunction &old = script(script_numbers[slot] - 1);
      if (old.hash == hash && std::strcmp(old.file, file) == 0 && std::strcmp(old.name, name) == 0) {
        return script_numbers[slot] - 1;
      }
    }
    if (known == kMaxScripts) return kNoModule;
    ScriptFunction *&chunk = scripts[known / kScriptsInChunk];
    if (chunk == nullptr) chunk = arena.allocate_array<ScriptFunction>(kScriptsInChunk);
    const char *kept_file = kept(file);
    const char *kept_name = kept(name);
    if (chunk == nullptr || kept_file == nullptr || kept_name == nullptr) return kNoModule;
    script(known) = {kept_file, kept_name, hash};
    script_numbers[slot] = known + 1;
    script_count.store(known + 1, std::memory_order_release);
    return known;
  }
};

namespace {

/// Code in no object that the linker lists: made at run time, or loaded into another namespace.
bool locate_code(uintptr_t address, LoadedObject &object) {
  bool found = false;
  for_each_mapping([&](const MapEntry &entry) {
    if (address >= entry.high) return true;
    if (address < entry.low || !entry.executable) return false;
    object.low = entry.low;
    object.high = entry.high;
    object.load_base = entry.path[0] == '/' ? entry.low - entry.file_offset : entry.low;
    object.is_executable = false;
    object.build_id_size = 0;
    std::strncpy(object.path, entry.path[0] == '/' ? entry.path : "", sizeof object.path - 1);
    object.path[sizeof object.path - 1] = '\0';
    found = true;
    return false;
  });
  return found;
}

}  // namespace

Modules::Modules(Arena &arena, const void *mpi_function) : state_(static_cast<State *>(arena.allocate(sizeof(State)))) {
  if (state_ == nullptr) return;
  new (state_) State{.arena = arena,
                     .mpi_function = reinterpret_cast<uintptr_t>(mpi_function),
                     .module_epoch = nullptr,
                     .seen_epoch = 0,
                     .lock = {},
                     .count = 0,
                     .chunks = {},
                     .sites = nullptr,
                     .site_mask = 0,
                     .site_count = 0,
                     .script_count = 0,
                     .script_numbers = nullptr,
                     .scripts = {}};
  LoadedObject program;
  if (program.locate_executable()) state_->enter(program);
}

void Modules::use_epoch(const volatile uint32_t *module_epoch) {
  if (state_ == nullptr) return;
  const SpinGuard guard(state_->lock);
  state_->module_epoch = module_epoch;
  state_->seen_epoch = *module_epoch - 1;  // look again at everything once
}

int Modules::find_listed(uintptr_t address) {
  if (state_ == nullptr) return -1;
  const SpinGuard guard(state_->lock);
  state_->notice_closed();
  return state_->holding(address);
}

int Modules::find_object(uintptr_t address) {
  const int known = find_listed(address);
  LoadedObject object;
  if (known >= 0 || state_ == nullptr || !object.locate(address)) return known;
  const SpinGuard guard(state_->lock);
  return state_->enter(object);
}

int Modules::find(uintptr_t address) {
  const int known = find_object(address);
  LoadedObject code;
  if (known >= 0 || state_ == nullptr || !locate_code(address, code)) return known;
  const SpinGuard guard(state_->lock);
  return state_->enter(code);
}

int Modules::listed_at(uintptr_t address) const { return state_ == nullptr ? -1 : state_->holding(address); }

int Modules::count() const { return state_ == nullptr ? 0 : state_->count.load(std::memory_order_acquire); }

const ModuleInfo &Modules::operator[](int number) const { return state_->listed(number).info; }

Site *Modules::site(uintptr_t return_address, Site *caller) {
  // A call that never returns may be the last instruction of its module.
  const int module = find(return_address - 1);
  if (module < 0) return nullptr;
  const SpinGuard guard(state_->lock);
  return state_->site_at(static_cast<uint32_t>(module), return_address - state_->listed(module).info.load_base, caller);
}

Site *Modules::script_site(const char *file, const char *function, uint64_t line) {
  if (state_ == nullptr) return nullptr;
  const SpinGuard guard(state_->lock);
  const uint32_t number = state_->script_number(file, function);
  return number == kNoModule ? nullptr : state_->site_at(kScripts + number, line, nullptr);
}

Site *Modules::script_site(const Site &site, Site *caller) {
  const SpinGuard guard(state_->lock);
  return state_->site_at(site.module, site.offset, caller);
}

uint32_t Modules::script_count() const {
  return state_ == nullptr ? 0 : state_->script_count.load(std::memory_order_acquire);
}

const ScriptFunction &Modules::script(uint32_t number) const { return state_->script(number); }

SiteTable::SiteTable(Arena &arena, Modules &modules, const volatile uint32_t *module_epoch)
    : seen_epoch_(*module_epoch), module_epoch_(module_epoch), arena_(arena), modules_(modules) {}

bool SiteTable::grow() {
  const size_t size = entries_ == nullptr ? 64 : (mask_ + 1) * 2;
  auto *grown = arena_.allocate_array<Entry>(size);
  if (grown == nullptr) return false;
  Entry *old = entries_;
  const size_t old_size = entries_ == nullptr ? 0 : mask_ + 1;
  mask_ = size - 1;
  for (size_t i = 0; i < old_size; ++i) {
    if (old[i].address == 0) continue;
    size_t at = slot(old[i].address);
    while (grown[at].address != 0) at = (at + 1) & mask_;
    grown[at] = old[i];
  }
  entries_ = grown;
  if (old != nullptr) arena_.release_array(old, old_size);
  return true;
}

Site *SiteTable::find_slowly(uintptr_t return_address) {
  if (*module_epoch_ != seen_epoch_) {
    seen_epoch_ = *module_epoch_;
    if (entries_ != nullptr) std::memset(static_cast<void *>(entries_), 0, (mask_ + 1) * sizeof *entries_);
    used_ = 0;
  }
  Site *site = modules_.site(return_address);
  // Without memory to remember it in, it is found the slow way again.
  if (site == nullptr || return_address == 0) return site;
  if ((entries_ == nullptr || used_ * 2 > mask_) && !grow()) return site;
  size_t at = slot(return_address);
  while (entries_[at].address != 0) {
    if (entries_[at].address == return_address) return site;  // was here before the epoch was checked
    at = (at + 1) & mask_;
  }
  entries_[at] = {return_address, site};
  ++used_;
  return site;
}

}  // namespace cairn::recorder
