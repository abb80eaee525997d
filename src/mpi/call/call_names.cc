#include "mpi/call/call_names.h"

#include <cstring>

#include "base/hash.h"
#include "mpi/call/facts.h"

namespace cairn::recorder {

using spec::Kind;

uint32_t CallNames::local_site(Site *site) {
  Sequence &sequence = thread_.sequence;
  if (sequence.sites.size() == 0 && !sequence.sites.push(arena_, nullptr)) return 0;
  if (site == nullptr) return 0;
  if (site->id >= sequence.local_site.size()) {
    const size_t size = sequence.local_site.size();
    if (!sequence.local_site.reserve(arena_, site->id + 1)) return 0;
    const size_t capacity = sequence.local_site.capacity();
    memset(sequence.local_site.data() + size, 0, (capacity - size) * sizeof(uint32_t));
    sequence.local_site.resize(capacity);
  }
  uint32_t &number = sequence.local_site[site->id];
  if (number == 0) {
    if (!sequence.sites.push(arena_, site)) return 0;
    number = static_cast<uint32_t>(sequence.sites.size());  // its number plus one
  }
  return number - 1;
}

PlacePool *CallNames::pool(const Site *site) {
  const size_t size = thread_.pools.size();
  if (site->id >= size) {
    if (!thread_.pools.reserve(arena_, site->id + 1)) return nullptr;
    memset(static_cast<void *>(thread_.pools.data() + size), 0,
           (thread_.pools.capacity() - size) * sizeof(PlacePool *));
    thread_.pools.resize(thread_.pools.capacity());
  }
  PlacePool *&pool = thread_.pools[site->id];
  if (pool == nullptr) pool = arena_.create<PlacePool>();
  return pool;
}

HandleEntry *CallNames::unknown(Kind kind, uint64_t raw) {
  HandleEntry *entry = process_.names.handles->add(kind, raw);
  if (entry != nullptr) entry->place = process_.names.handles->next_unknown();
  return entry;
}

HandleEntry *CallNames::find(Kind kind, uint64_t raw, uint64_t mark) {
  HandleEntry *entry = process_.names.handles->find(kind, raw, thread_.number, mark);
  return entry != nullptr ? entry : unknown(kind, raw);
}

HandleEntry *CallNames::find_comm(uint64_t raw) {
  HandleEntry *entry = process_.names.handles->find(Kind::comm, raw, thread_.number);
  if (entry != nullptr) return entry;
  // Some programs use what MPI_Comm_idup makes before its request completes.
  const auto here = [raw](const HandleEntry &request) { return mpi::read_handle(request.pending_comm) == raw; };
  if (Communicator *early = process_.names.handles->take_pending(here)) return enter_comm(raw, early);
  bool is_new = false;
  return create_comm(raw, true, &is_new);
}

HandleEntry *CallNames::enter_comm(uint64_t raw, Communicator *comm) {
  HandleEntry *entry = process_.names.handles->add(Kind::comm, raw);
  if (entry != nullptr) entry->comm = comm;
  return entry;
}

HandleEntry *CallNames::create(Kind kind, uint64_t raw, Site *site) {
  HandleEntry *living = process_.names.handles->find(kind, raw, thread_.number);
  if (living != nullptr && living->constant >= 0) return living;
  // Only requests (and messages) can be alive twice with one value; anything else died without our seeing it, or is
  // just being freed.
  if (living != nullptr && kind != Kind::request && kind != Kind::message && !outlives(living)) {
    process_.names.handles->remove(living);
  }
  PlacePool *places = pool(site);
  if (places == nullptr) return nullptr;
  HandleEntry *entry = process_.names.handles->add(kind, raw);
  if (entry == nullptr) return nullptr;
  entry->site = site;
  entry->thread = thread_.number;
  entry->place = places->take(arena_, process_.names.handles->shared());
  entry->pool = entry->place == PlacePool::kNone ? nullptr : places;
  return entry;
}

bool CallNames::outlives(const HandleEntry *living) {
  if (!HandleTable::is_claimed(living) && living->references != 0) return false;
  process_.names.handles->end_epoch();  // the value means another object from now on
  return true;
}

HandleEntry *CallNames::look_up(Kind kind, uint64_t raw, Site *site) {
  // Also one that another thread is giving back: what is looked up lives as long as anybody has it.
  return process_.names.handles->look_up(kind, raw, thread_.number, site, pool(site));
}

Communicator *CallNames::new_communicator() {
  auto *made = arena_.create<Communicator>();
  if (made == nullptr) return nullptr;
  made->number = process_.names.comm_numbers.take(arena_, process_.names.handles->shared());
  made->size = -1;
  return made;
}

HandleEntry *CallNames::create_comm(uint64_t raw, bool may_exist, bool *is_new) {
  HandleEntry *living = process_.names.handles->find(Kind::comm, raw, thread_.number);
  *is_new = false;
  if (living != nullptr && (may_exist || living->constant >= 0)) return living;
  if (living != nullptr && !outlives(living)) forget_comm(living);
  HandleEntry *entry = process_.names.handles->add(Kind::comm, raw);
  if (entry == nullptr) return nullptr;
  entry->comm = new_communicator();
  if (entry->comm == nullptr) {
    process_.names.handles->remove(entry);
    return nullptr;
  }
  *is_new = true;
  return entry;
}

void CallNames::release(Kind kind, uint64_t raw) {
  HandleEntry *last = process_.names.handles->release(kind, raw, thread_.number);
  if (last != nullptr) forget_comm(last);
}

void CallNames::forget_comm(HandleEntry *entry) {
  if (entry->comm != nullptr) {
    process_.names.comm_numbers.give_back(entry->comm->number, process_.names.handles->shared());
    arena_.release(entry->comm, sizeof(Communicator));
  }
  process_.names.handles->remove(entry);
}

void CallNames::complete(Kind kind, uint64_t raw) {
  HandleEntry *entry = process_.names.handles->find(kind, raw, thread_.number);
  if (entry == nullptr || entry->constant >= 0) return;
  complete(entry);
}

void CallNames::complete(HandleEntry *entry) {
  if (Communicator *pending = HandleTable::take_pending(entry)) {
    const uint64_t comm = mpi::read_handle(entry->pending_comm);
    HandleEntry *stale = process_.names.handles->find(Kind::comm, comm, thread_.number);
    if (stale == nullptr || stale->constant < 0) {
      if (stale != nullptr && !outlives(stale)) forget_comm(stale);
      enter_comm(comm, pending);
    }
  }
  process_.names.handles->remove(entry);
}

void CallNames::claim(const spec::Function &function, const Frame &frame) {
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &p = function.parameters[i];
    const uint64_t word = frame.argument[i];
    if (p.effect != spec::Effect::release) continue;
    if (p.passing == spec::Passing::value) process_.names.handles->claim(p.kind, word, thread_.number);
    if (p.passing != spec::Passing::pointer || word == 0) continue;
    const auto *at = reinterpret_cast<const void *>(word);
    process_.names.handles->claim(p.kind, element_word(p, at, 0), thread_.number);
  }
}

void CallNames::unclaim(Kind kind, uint64_t raw) {
  HandleEntry *entry = process_.names.handles->find(kind, raw, thread_.number);
  if (entry != nullptr && entry->claimed == thread_.number + 1) HandleTable::unclaim(entry);
}

Communicator *CallNames::counting_parent(const spec::Function &function, const Frame &frame, bool *whole) {
  const unsigned over = spec::counting_parent(function);
  *whole = over != 0;
  if (!*whole) return nullptr;
  const HandleEntry *parent = find_comm(frame.argument[over - 1]);
  return parent == nullptr ? nullptr : parent->comm;
}

void CallNames::skip_creation(const spec::Function &function, const Frame &frame) {
  bool whole = false;
  Communicator *parent = counting_parent(function, frame, &whole);
  if (parent != nullptr) ++parent->creations;
}

int64_t CallNames::creation_number(const spec::Function &function, const Frame &frame, uint64_t members, bool *whole) {
  // Over the whole parent: its counter. Over a group only (create_group, Intercomm_create): the n-th with these members
  // and this tag, for which any communicator's counter would differ between members.
  Communicator *parent = counting_parent(function, frame, whole);
  if (*whole) return parent == nullptr ? 0 : int64_t{parent->creations++};
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;
  uint64_t key = members * kMix + function.id;
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &p = function.parameters[i];
    const uint64_t word = frame.argument[i];
    if (p.kind == Kind::tag) key = key * kMix + word;
    if (p.kind != Kind::string || word == 0) continue;
    const auto *text = reinterpret_cast<const uint8_t *>(word);  // another kind of tag
    key = key * kMix + hash64({text, strlen(reinterpret_cast<const char *>(text))});
  }
  HandleEntry *count = process_.names.handles->find(Kind::varargs, key);  // a kind no handle has
  if (count == nullptr) count = process_.names.handles->add(Kind::varargs, key);
  if (count == nullptr) return 0;
  return count->place++;
}

void CallNames::map_memory(const spec::Function &function, const Frame &frame, uint64_t start) {
  size_t size = 1;
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    if (function.parameters[i].kind == Kind::size && function.parameters[i].passing == spec::Passing::value) {
      size = static_cast<size_t>(frame.argument[i]);
    }
  }
  process_.names.addresses->add_mpi_memory(start, size == 0 ? 1 : size);
}

void CallNames::unmap_memory(const spec::Parameter &parameter, const Frame &frame, unsigned index) {
  if (parameter.passing == spec::Passing::buffer) process_.names.addresses->remove_mpi_memory(frame.argument[index]);
}

Address CallNames::opaque(uint64_t word) {
  constexpr uint64_t kFirstPages = 65536;  // nothing is ever mapped there
  if (word >= kFirstPages) {
    const Address named = process_.names.addresses->name(word, thread_.stack);
    if (named.kind != trace::kUnknown) return named;
  }
  return {trace::kInteger, 0, static_cast<int64_t>(word)};
}

}  // namespace cairn::recorder
