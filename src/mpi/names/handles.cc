#include "mpi/names/handles.h"

#include <algorithm>

namespace cairn::recorder {

namespace {

/// As a new one. `add_only` counts on free entries being like this, or being requests that `remove_only` ended.
void clear(HandleEntry &entry) {
  entry = HandleEntry{};
  entry.constant = -1;
  entry.references = 1;
}

}  // namespace

HandleEntry **HandleTable::place_of(Shard &shard, uint64_t hash, spec::Kind kind, uint64_t raw) {
  HandleEntry **at = &shard.buckets[(hash / kShards) & (shard.capacity - 1)];
  while (*at != nullptr && ((*at)->raw != raw || (*at)->kind != kind)) at = &(*at)->next;
  return at;
}

HandleEntry *HandleTable::find(spec::Kind kind, uint64_t raw, uint32_t thread, uint64_t mark) {
  if (kind == spec::Kind::request) settle();
  // Nearly always: one thread at a time, and nothing else has this value.
  HandleEntry *only = mark == 0 && !shared() ? find_only(kind, raw) : nullptr;
  if (only != nullptr) return only;
  const uint64_t hash = mix(kind, raw);
  Shard &shard = shards_[hash % kShards];
  const SpinGuard guard(shard.lock, shared_);
  return find_here(shard, hash, kind, raw, thread, mark);
}

HandleEntry *HandleTable::find_here(Shard &shard, uint64_t hash, spec::Kind kind, uint64_t raw, uint32_t thread,
                                    uint64_t mark) {
  if (shard.capacity == 0) return nullptr;
  HandleEntry *oldest = *place_of(shard, hash, kind, raw);
  if (oldest == nullptr) return nullptr;
  const bool any_thread = !shared_ || thread == kAnyThread;
  HandleEntry *unmarked = nullptr;
  HandleEntry *of_others = nullptr;
  // Everything before the place where the last search with this mark ended is marked.
  HandleEntry *start = mark != 0 && oldest->searched_mark == mark ? oldest->searched : oldest;
  for (HandleEntry *entry = start; entry != nullptr; entry = entry->younger) {
    if (mark != 0 && entry->mark == mark) continue;
    // What another thread, the last that has it, is giving back, or has given back.
    if (entry->references == 0 || (entry->references == 1 && is_claimed(entry) && entry->claimed != thread + 1)) {
      if (of_others == nullptr) of_others = entry;
      continue;
    }
    if (any_thread || entry->thread == thread) {
      if (any_thread && mark != 0) {
        oldest->searched_mark = mark;
        oldest->searched = entry;
      }
      return entry;
    }
    if (unmarked == nullptr) unmarked = entry;
  }
  if (unmarked == nullptr) unmarked = of_others;
  return unmarked != nullptr ? unmarked : oldest;
}

std::optional<HandleTable::Found> HandleTable::living(spec::Kind kind, uint64_t raw, uint32_t thread,
                                                      size_t nth) const {
  constexpr size_t kMost = size_t{1} << 24;
  if (kind == spec::Kind::request) {
    size_t skipped = 0;
    for (uint32_t i = 0; i < std::min(fresh_count_, kMostFresh); ++i) {
      const FreshRequest &fresh = fresh_[i];
      if (fresh.raw != raw || skipped++ != nth) continue;
      return Found{fresh.memo->site, fresh.memo->place, fresh.memo->thread, -1, nullptr};
    }
  }
  const uint64_t hash = mix(kind, raw);
  const Shard &shard = shards_[hash % kShards];
  if (shard.capacity == 0) return std::nullopt;
  size_t steps = 0;
  const HandleEntry *oldest = shard.buckets[(hash / kShards) & (shard.capacity - 1)];
  while (oldest != nullptr && (oldest->raw != raw || oldest->kind != kind) && ++steps < kMost) oldest = oldest->next;
  const HandleEntry *last = nullptr;
  for (const bool own : {true, false}) {
    size_t skipped = 0;
    for (const HandleEntry *entry = oldest; entry != nullptr && ++steps < kMost; entry = entry->younger) {
      if (entry->constant < 0 && shared_ && own != (entry->thread == thread)) continue;
      last = entry;
      if (skipped++ == nth || entry->constant >= 0) break;
    }
    if (last != nullptr) break;
  }
  if (last == nullptr) return std::nullopt;
  return Found{last->site, last->place, last->thread, last->constant, last->comm};
}

HandleEntry *HandleTable::look_up(spec::Kind kind, uint64_t raw, uint32_t thread, Site *site, PlacePool *places) {
  const uint64_t hash = mix(kind, raw);
  Shard &shard = shards_[hash % kShards];
  const SpinGuard guard(shard.lock, shared_);
  HandleEntry *entry = find_here(shard, hash, kind, raw, thread, 0);
  if (entry != nullptr && entry->references != 0) {  // else its last holder is just ending it
    if (entry->constant < 0) ++entry->references;
    return entry;
  }
  if (places == nullptr) return nullptr;
  if (entry != nullptr) end_epoch();
  entry = add_here(shard, hash, kind, raw);
  if (entry == nullptr) return nullptr;
  entry->site = site;
  entry->thread = thread;
  entry->place = places->take(arena_, shared_);
  entry->pool = entry->place == PlacePool::kNone ? nullptr : places;
  return entry;
}

HandleEntry *HandleTable::release(spec::Kind kind, uint64_t raw, uint32_t thread) {
  const uint64_t hash = mix(kind, raw);
  Shard &shard = shards_[hash % kShards];
  const SpinGuard guard(shard.lock, shared_);
  HandleEntry *entry = find_here(shard, hash, kind, raw, thread, 0);
  if (entry == nullptr || entry->constant >= 0 || entry->references == 0) return nullptr;
  if (--entry->references == 0) return entry;
  unclaim(entry);
  return nullptr;
}

void HandleTable::claim(spec::Kind kind, uint64_t raw, uint32_t thread) {
  HandleEntry *entry = find(kind, raw, thread);
  if (entry == nullptr || entry->constant >= 0 || is_claimed(entry)) return;
  __atomic_store_n(&entry->claimed, thread + 1, __ATOMIC_RELAXED);
}

bool HandleTable::grow(Shard &shard) {
  const uint32_t capacity = shard.capacity == 0 ? 32 : shard.capacity * 2;
  auto **buckets = arena_.allocate_array<HandleEntry *>(capacity);
  if (buckets == nullptr) return shard.capacity != 0;  // longer chains, no loss
  for (uint32_t i = 0; i < shard.capacity; ++i) {
    for (HandleEntry *entry = shard.buckets[i]; entry != nullptr;) {
      HandleEntry *next = entry->next;
      HandleEntry **bucket = &buckets[(mix(entry->kind, entry->raw) / kShards) & (capacity - 1)];
      entry->next = *bucket;
      *bucket = entry;
      entry = next;
    }
  }
  arena_.release_array(shard.buckets, shard.capacity);
  shard.buckets = buckets;
  shard.capacity = capacity;
  return true;
}

void HandleTable::insert(Shard &shard, uint64_t hash, HandleEntry *entry, spec::Kind kind, uint64_t raw) {
  clear(*entry);
  entry->raw = raw;
  entry->kind = kind;
  HandleEntry **at = place_of(shard, hash, kind, raw);
  if (*at == nullptr) {
    *at = entry->youngest = entry;
    ++shard.values;
  } else {
    (*at)->youngest->younger = entry;
    (*at)->youngest = entry;
  }
}

/// So that settling never needs memory. What is set aside is used where a shard has no free entry of its own, and then
/// becomes one: this happens a few times in a process.
void HandleTable::make_room() {
  if (reserved_ < kMostFresh) {
    for (Shard &shard : shards_) {
      if (shard.capacity == 0 && !grow(shard)) return;
    }
    while (reserved_ < kMostFresh) {
      auto *entry = arena_.allocate_array<HandleEntry>(1);
      if (entry == nullptr) break;
      entry->next = reserve_;
      reserve_ = entry;
      ++reserved_;
    }
  }
  if (shared_ || !one_thread_ || requests_.load(std::memory_order_relaxed) != 0) return;
  __atomic_store_n(&fresh_room_, reserved_, __ATOMIC_SEQ_CST);
  if (!one_thread_) __atomic_store_n(&fresh_room_, 0, __ATOMIC_RELAXED);  // a second thread came meanwhile
}

void HandleTable::settle_all() {
  const uint32_t count = fresh_count_;
  fresh_count_ = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const FreshRequest &fresh = fresh_[i];
    const uint64_t hash = mix(spec::Kind::request, fresh.raw);
    Shard &shard = shards_[hash % kShards];
    HandleEntry *&from = shard.free != nullptr ? shard.free : reserve_;
    if (&from == &reserve_) --reserved_;
    HandleEntry *entry = from;
    assert(entry != nullptr);  // `make_room` set as many aside as may be fresh
    from = entry->next;
    insert(shard, hash, entry, spec::Kind::request, fresh.raw);
    entry->site = fresh.memo->site;
    entry->thread = fresh.memo->thread;
    entry->place = fresh.memo->place;
    entry->pool = fresh.memo->pool;
    entry->posted = fresh.memo->posted;
    count_request(1);
  }
}

HandleEntry *HandleTable::add(spec::Kind kind, uint64_t raw) {
  if (kind == spec::Kind::request) settle();
  const uint64_t hash = mix(kind, raw);
  Shard &shard = shards_[hash % kShards];
  const SpinGuard guard(shard.lock, shared_);
  HandleEntry *entry = add_here(shard, hash, kind, raw);
  if (entry != nullptr && kind == spec::Kind::request) count_request(1);
  return entry;
}

HandleEntry *HandleTable::add_here(Shard &shard, uint64_t hash, spec::Kind kind, uint64_t raw) {
  if (shard.values >= shard.capacity && !grow(shard)) return nullptr;
  HandleEntry *entry = shard.free;
  if (entry != nullptr) {
    shard.free = entry->next;
  } else {
    entry = arena_.allocate_array<HandleEntry>(1);
    if (entry == nullptr) return nullptr;
  }
  insert(shard, hash, entry, kind, raw);
  return entry;
}

void HandleTable::remove(HandleEntry *entry) {
  const uint64_t hash = mix(entry->kind, entry->raw);
  Shard &shard = shards_[hash % kShards];
  const SpinGuard guard(shard.lock, shared_);
  HandleEntry **at = place_of(shard, hash, entry->kind, entry->raw);
  HandleEntry *oldest = *at;
  if (oldest == nullptr) return;
  if (oldest == entry) {
    HandleEntry *heir = entry->younger;
    if (heir == nullptr) {
      *at = entry->next;
      --shard.values;
    } else {
      heir->next = entry->next;
      heir->youngest = entry->youngest;
      heir->searched = entry->searched == entry ? heir : entry->searched;
      heir->searched_mark = entry->searched_mark;
      *at = heir;
    }
  } else {
    HandleEntry *elder = oldest;
    while (elder != nullptr && elder->younger != entry) elder = elder->younger;
    if (elder == nullptr) return;
    elder->younger = entry->younger;
    if (oldest->youngest == entry) oldest->youngest = elder;
    if (oldest->searched == entry) oldest->searched_mark = 0;
  }
  if (entry->pool != nullptr) entry->pool->give_back(entry->place, shared_);
  if (entry->kind == spec::Kind::request) {
    count_request(UINT32_MAX);
  } else if (entry->kind != spec::Kind::message) {
    end_epoch();
  }
  clear(*entry);
  entry->next = shard.free;
  shard.free = entry;
}

}  // namespace cairn::recorder
