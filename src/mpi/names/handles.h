// HandleTable: which object a raw handle value means, and its name.
//
// One a process; memory from the arena. An MPI may hand out the *same* value for several outstanding requests (MPICH
// does, for eager sends and for MPI_PROC_NULL), and with threads a value may be reused before the thread that completed
// its last bearer got to say so: entries of one value queue up, the oldest is found first. A thread that is about to
// free an object *claims* it: from then on the others do not find it under that value, which the library may have given
// to one of them already. Predefined handles are entries that never end. Locks (16 shards) are not taken once MPI says
// that threads do not call it at the same time. A lookup costs about 3 ns warm.
//
// Most requests are completed soon after they were made, by a call that was expected. While a process has one thread
// and all its living requests were made by calls that a memo recognised, they are *fresh*: a short list in the order of
// their creation. Whatever asks the table for a request (or changes it) first puts them into it, with memory set aside
// before. When each went into the table, a call that makes a request took some 45 instructions more, and one that waits
// for two some 65 (docs/benchmarks.md).
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <optional>

#include "base/arena.h"
#include "mpi/names/memo.h"
#include "mpi/names/places.h"
#include "mpi/names/posted.h"
#include "mpi/names/sites.h"
#include "mpi/names/spin_lock.h"
#include "spec/spec.h"

namespace cairn::recorder {

/// What is known of a communicator beyond its name.
struct Communicator {
  uint32_t number;  ///< lowest free local number
  int32_t size;     ///< of the local group; -1: nobody has asked
  int32_t rank;     ///< in it
  bool inter;
  uint32_t creations;  ///< collective creations over it so far
  bool left_out;       ///< calls on it are, on request
};

struct HandleEntry {
  // What a request that comes and goes touches: two cache lines.
  HandleEntry *next;      ///< oldest of another value in the bucket
  HandleEntry *younger;   ///< the next with the same value
  HandleEntry *youngest;  ///< of that value; in the oldest only, as are `searched` and `searched_mark`
  uint64_t raw;
  Site *site;       ///< that created it; nullptr: predefined, or never seen created
  uint32_t place;   ///< among the living of its site; a running number if it was never seen created
  uint32_t thread;  ///< that created it
  uint64_t mark;    ///< the last array of handles that named it (Encoder)
  PlacePool *pool;  ///< where `place` goes back to; nullptr: nowhere
  Posted posted;    ///< requests
  spec::Kind kind;
  bool persistent;   ///< a persistent request: completion does not end it
  int16_t constant;  ///< constant id in spec/, or -1
  uint32_t references;
  uint32_t claimed;          ///< 1 + the thread that is about to free it; 0: none is
  Communicator *comm;        ///< communicators
  Communicator *pending;     ///< a request of MPI_Comm_idup…: what the new handle will mean
  const void *pending_comm;  ///< where it will appear
  HandleEntry
      *searched;  ///< where the last search with a mark ended: an array of n equal values costs n steps, not n * n
  uint64_t searched_mark;
};

/// A living request that is not in the table.
struct FreshRequest {
  uint64_t raw;
  const Memo *memo;  ///< of the call that made it: its name, and what it posted
};

class HandleTable {
 public:
  explicit HandleTable(Arena &arena) : arena_(arena) {}

  /// From now on several threads may be here at once.
  void share() {
    settle();
    shared_ = true;
    fresh_room_ = 0;
  }
  /// MPI promised that only one at a time is.
  void unshare() {
    shared_ = false;
    make_room();
  }
  [[nodiscard]] bool shared() const { return shared_; }

  static constexpr uint32_t kAnyThread = UINT32_MAX;
  /// The oldest living object of that kind and value, if possible one that `thread` created (two threads may both have
  /// got MPICH's one handle for eager sends) and that isn't marked `mark`; nullptr if there is none. What other threads
  /// have claimed comes last.
  HandleEntry *find(spec::Kind kind, uint64_t raw, uint32_t thread = kAnyThread, uint64_t mark = 0);
  /// What was looked up at `site` may be known already, and then lives until it was released as often: one more has the
  /// object of that value. Else it is a new one, of one of `places`; nullptr without memory. Constants are not counted.
  HandleEntry *look_up(spec::Kind kind, uint64_t raw, uint32_t thread, Site *site, PlacePool *places);
  /// One less has it. The object if that was the last one, for `remove`; else nullptr.
  HandleEntry *release(spec::Kind kind, uint64_t raw, uint32_t thread);
  /// `thread` is going to give the value back: the object that it means keeps its name for that thread alone.
  void claim(spec::Kind kind, uint64_t raw, uint32_t thread);
  /// It was not given back after all.
  static void unclaim(HandleEntry *entry) { __atomic_store_n(&entry->claimed, 0, __ATOMIC_RELAXED); }
  /// The `nth` living object of that kind and value, from 0, in the order in which `find` gives them; nullptr if there
  /// is none. For who reads the table of a dead or living process from outside: takes no lock, changes nothing, and
  /// ends though the table be damaged.
  struct Found {
    const Site *site = nullptr;  ///< as in HandleEntry
    uint32_t place = 0;
    uint32_t thread = 0;
    int16_t constant = -1;
    const Communicator *comm = nullptr;
  };
  [[nodiscard]] std::optional<Found> living(spec::Kind kind, uint64_t raw, uint32_t thread, size_t nth = 0) const;
  static bool is_claimed(const HandleEntry *entry) { return __atomic_load_n(&entry->claimed, __ATOMIC_RELAXED) != 0; }
  /// Takes what `wanted(entry)` is true of, a request of MPI_Comm_idup…, the communicator that it will make; nullptr if
  /// there is none. Searches everything.
  template <typename Wanted>
  Communicator *take_pending(const Wanted &wanted);
  /// Takes the communicator that the request `entry` makes, if it makes one and nobody has taken it.
  static Communicator *take_pending(HandleEntry *entry) {
    if (__atomic_load_n(&entry->pending, __ATOMIC_ACQUIRE) == nullptr) return nullptr;
    return __atomic_exchange_n(&entry->pending, static_cast<Communicator *>(nullptr), __ATOMIC_ACQ_REL);
  }
  /// A new object of that kind and value; nullptr without memory. The caller fills in its name.
  HandleEntry *add(spec::Kind kind, uint64_t raw);
  /// Ends `entry`: its place is free again.
  void remove(HandleEntry *entry);

  // The same for the common case that one thread at a time is here and nothing else has this value.
  /// nullptr if there is none or there are several.
  [[nodiscard]] HandleEntry *find_only(spec::Kind kind, uint64_t raw) const;
  /// nullptr also where `add` would have more to do.
  HandleEntry *add_only(spec::Kind kind, uint64_t raw);
  /// `entry`, which `find_only` gave, is a request.
  void remove_only(HandleEntry *entry);

  // Fresh requests.
  static constexpr uint32_t kMostFresh = 8;
  /// The process has a second thread. Those that are fresh stay so until their thread comes here again.
  void end_freshness() {
    one_thread_.store(false);
    __atomic_store_n(&fresh_room_, 0, __ATOMIC_SEQ_CST);
  }
  /// All living requests are fresh.
  [[nodiscard]] bool all_fresh() const { return __atomic_load_n(&fresh_room_, __ATOMIC_RELAXED) != 0; }
  [[nodiscard]] uint32_t fresh_count() const { return fresh_count_; }
  [[nodiscard]] const FreshRequest &fresh(uint32_t i) const { return fresh_[i]; }
  /// A new one, with its place. False, and nothing has changed, if it has to be entered in the table or has another
  /// name.
  bool add_fresh(uint64_t raw, const Memo &memo) {
    const uint32_t count = fresh_count_;
    if (count >= __atomic_load_n(&fresh_room_, __ATOMIC_RELAXED) || !memo.pool->take_only(memo.place)) return false;
    assert(count < kMostFresh && raw != null_request_);
    fresh_[count] = {raw, &memo};
    fresh_count_ = count + 1;
    return true;
  }
  /// All of them completed.
  void end_all_fresh() {
    for (uint32_t i = 0; i < fresh_count_; ++i) fresh_[i].memo->pool->give_back_only(fresh_[i].memo->place);
    fresh_count_ = 0;
  }
  /// Bit i of `ended`: fresh request i completed.
  void end_fresh(uint32_t ended) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fresh_count_; ++i) {
      if ((ended >> i & 1) != 0) {
        fresh_[i].memo->pool->give_back_only(fresh_[i].memo->place);
      } else {
        fresh_[kept++] = fresh_[i];
      }
    }
    fresh_count_ = kept;
  }
  /// Enters them in the table. Before a memo that they refer to is freed; `find`, `add` and `remove` do it themselves.
  void settle() {
    if (fresh_count_ != 0) [[unlikely]]
      settle_all();
  }

  /// The value of MPI_REQUEST_NULL, once `enter_predefined` is done; it counts living requests from there.
  [[nodiscard]] uint64_t null_request() const { return null_request_; }
  void set_null_request(uint64_t raw) {
    null_request_ = raw;
    requests_ = 0;
  }

  /// Grows whenever an object other than a request or message ends: raw values remembered before may mean another
  /// object now.
  void end_epoch() { epoch_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

  /// A running number for objects never seen created.
  uint32_t next_unknown() { return unknown_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr int kShards = 16;
  struct Shard {
    SpinLock lock;
    HandleEntry **buckets = nullptr;
    uint32_t capacity = 0;  ///< power of two
    uint32_t values = 0;    ///< distinct ones
    HandleEntry *free = nullptr;
  };

  static uint64_t mix(spec::Kind kind, uint64_t raw) {
    const uint64_t hash = (raw ^ (static_cast<uint64_t>(kind) << 56)) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
  }
  bool grow(Shard &shard);
  void make_room();
  void settle_all();
  /// One request more or less in the table.
  void count_request(uint32_t change) {
    if (shared_) {
      requests_.fetch_add(change, std::memory_order_relaxed);
      return;
    }
    const uint32_t left = requests_.load(std::memory_order_relaxed) + change;
    requests_.store(left, std::memory_order_relaxed);
    if (left == 0) {
      make_room();
    } else {
      __atomic_store_n(&fresh_room_, 0, __ATOMIC_RELAXED);
    }
  }
  static void insert(Shard &shard, uint64_t hash, HandleEntry *entry, spec::Kind kind, uint64_t raw);
  /// `find` and `add`, with the shard's lock.
  HandleEntry *find_here(Shard &shard, uint64_t hash, spec::Kind kind, uint64_t raw, uint32_t thread, uint64_t mark);
  HandleEntry *add_here(Shard &shard, uint64_t hash, spec::Kind kind, uint64_t raw);
  /// Where the oldest entry of that value hangs, or would.
  static HandleEntry **place_of(Shard &shard, uint64_t hash, spec::Kind kind, uint64_t raw);

  // What a call that a memo recognises touches.
  alignas(64) std::atomic<uint32_t> epoch_{0};
  uint32_t fresh_room_ = 0;  ///< 0 while they are shared, or others than fresh ones live
  uint32_t fresh_count_ = 0;
  bool shared_ = true;  ///< until MPI says otherwise: sessions and Fortran may begin without our seeing it
  std::atomic<bool> one_thread_{true};
  uint64_t null_request_ = 0;
  FreshRequest fresh_[kMostFresh] = {};

  std::atomic<uint32_t> requests_{0};  ///< living ones in the table
  std::atomic<uint32_t> unknown_{0};
  HandleEntry *reserve_ = nullptr;  ///< entries for fresh requests
  uint32_t reserved_ = 0;
  Arena &arena_;
  Shard shards_[kShards];
};

template <typename Wanted>
Communicator *HandleTable::take_pending(const Wanted &wanted) {
  for (Shard &shard : shards_) {
    const SpinGuard guard(shard.lock, shared_);
    for (uint32_t i = 0; i < shard.capacity; ++i) {
      for (HandleEntry *oldest = shard.buckets[i]; oldest != nullptr; oldest = oldest->next) {
        if (oldest->kind != spec::Kind::request) continue;
        for (HandleEntry *entry = oldest; entry != nullptr; entry = entry->younger) {
          if (__atomic_load_n(&entry->pending, __ATOMIC_ACQUIRE) == nullptr || !wanted(*entry)) continue;
          if (Communicator *taken = take_pending(entry)) return taken;
        }
      }
    }
  }
  return nullptr;
}

inline HandleEntry *HandleTable::find_only(spec::Kind kind, uint64_t raw) const {
  const uint64_t hash = mix(kind, raw);
  const Shard &shard = shards_[hash % kShards];
  if (shard.capacity == 0) return nullptr;
  HandleEntry *entry = shard.buckets[(hash / kShards) & (shard.capacity - 1)];
  while (entry != nullptr && (entry->raw != raw || entry->kind != kind)) entry = entry->next;
  return entry == nullptr || entry->younger != nullptr ? nullptr : entry;
}

inline HandleEntry *HandleTable::add_only(spec::Kind kind, uint64_t raw) {
  const uint64_t hash = mix(kind, raw);
  Shard &shard = shards_[hash % kShards];
  HandleEntry *entry = shard.free;
  if (entry == nullptr || shard.values >= shard.capacity) return nullptr;
  HandleEntry **bucket = &shard.buckets[(hash / kShards) & (shard.capacity - 1)];
  for (const HandleEntry *other = *bucket; other != nullptr; other = other->next) {
    if (other->raw == raw && other->kind == kind) return nullptr;
  }
  shard.free = entry->next;
  ++shard.values;
  // No free entry is anything but a plain request (handles.cc): the caller sets the rest.
  entry->next = *bucket;
  entry->youngest = entry;
  entry->raw = raw;
  entry->kind = kind;
  *bucket = entry;
  count_request(1);
  return entry;
}

inline void HandleTable::remove_only(HandleEntry *entry) {
  const uint64_t hash = mix(entry->kind, entry->raw);
  Shard &shard = shards_[hash % kShards];
  HandleEntry **at = &shard.buckets[(hash / kShards) & (shard.capacity - 1)];
  while (*at != entry) at = &(*at)->next;
  *at = entry->next;
  --shard.values;
  if (entry->pool != nullptr) entry->pool->give_back(entry->place, false);
  entry->next = shard.free;
  shard.free = entry;
  count_request(UINT32_MAX);
}

}  // namespace cairn::recorder
