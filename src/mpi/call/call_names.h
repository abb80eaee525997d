// CallNames: gives objects their names on behalf of one thread's call, and ends them.
//
// An object is named by the call site that created it and the lowest free place there; communicators by the lowest free
// local number; predefined ones by their constant; what was never seen created by a running number. Everything gives
// nullptr (or a name that says "unknown") without memory, never a failure.
#pragma once

#include "mpi/call/facts.h"
#include "mpi/call/thread.h"

namespace cairn::recorder {

class CallNames {
 public:
  explicit CallNames(Thread &thread) : thread_(thread), process_(*thread.process), arena_(*thread.process->arena) {}

  /// The number of a site in the thread's current sequence; 0 for nullptr or without memory.
  uint32_t local_site(Site *site);

  /// The living object; entered as never seen created if it is not known.
  /// `mark`: not one that has it, if there is another with this value (HandleTable::find).
  HandleEntry *find(spec::Kind kind, uint64_t raw, uint64_t mark = 0);
  HandleEntry *find_comm(uint64_t raw);
  /// A new object created at `site`; a predefined one stays what it is.
  HandleEntry *create(spec::Kind kind, uint64_t raw, Site *site);
  /// One that may be known already, in which case it lives until released as often as looked up.
  HandleEntry *look_up(spec::Kind kind, uint64_t raw, Site *site);
  HandleEntry *create_comm(uint64_t raw, bool may_exist, bool *is_new);
  /// A communicator whose handle is not there yet.
  Communicator *new_communicator();

  /// Before the call: the objects that it releases, if it succeeds, have other threads' values meanwhile
  /// (HandleTable::claim). After it `release` or `unclaim`.
  void claim(const spec::Function &function, const Frame &frame);
  void unclaim(spec::Kind kind, uint64_t raw);
  void release(spec::Kind kind, uint64_t raw);
  /// A request or message ended.
  void complete(spec::Kind kind, uint64_t raw);
  void complete(HandleEntry *entry);

  /// Which creation over its parent this is: with the parent's identity it identifies the new object on all members
  /// alike. Advances the parent's counter. `whole`: all of the parent's processes take part; else it is the how-manieth
  /// with these members.
  int64_t creation_number(const spec::Function &function, const Frame &frame, uint64_t members, bool *whole);
  /// This process isn't in what the call creates: advances the parent's counter, if it is that which counts.
  void skip_creation(const spec::Function &function, const Frame &frame);

  void map_memory(const spec::Function &function, const Frame &frame, uint64_t start);
  void unmap_memory(const spec::Parameter &parameter, const Frame &frame, unsigned index);
  /// An attribute's value or extra state: an address if it is one, else the integer.
  Address opaque(uint64_t word);

  /// The pool that places of objects created by this thread at `site` come from; nullptr without memory.
  PlacePool *pool(const Site *site);

 private:
  /// A communicator that is known by its number now has its handle; nullptr without memory.
  HandleEntry *enter_comm(uint64_t raw, Communicator *comm);
  /// Ends a living object, a communicator's number with it.
  void forget_comm(HandleEntry *entry);
  /// Whether an object of the value stays for the thread that is freeing it, while a new one begins.
  bool outlives(const HandleEntry *living);
  HandleEntry *unknown(spec::Kind kind, uint64_t raw);
  /// The communicator whose counter counts what `function` creates; nullptr if another key does.
  Communicator *counting_parent(const spec::Function &function, const Frame &frame, bool *whole);

  Thread &thread_;
  Process &process_;
  Arena &arena_;
};

}  // namespace cairn::recorder
