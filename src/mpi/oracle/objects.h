// Objects: which names and raw handles of one process mean the same living object, while its events are replayed.
//
// A raw value may belong to several requests at once (MPICH). With several threads the order in which objects end and
// begin is known only roughly, so that one name may for a moment belong to two objects, too.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/spec.h"

namespace cairn::oracle {

/// A name in canonical form: {creating thread, module, offset, place}, {-1, n} for one never seen created, {-2, number}
/// for communicators.
using Name = std::array<uint64_t, 4>;

/// What the status of a request, or of a call, implies.
struct Implied {
  enum class Form : uint8_t {
    nothing,    ///< every field is written out
    undefined,  ///< MPI says nothing about source, tag and bytes (sends, collectives, …)
    file,       ///< only bytes mean something, and are written out
    envelope,   ///< a receive
    empty,      ///< no active request: any source, any tag, nothing received
  };
  Form form = Form::nothing;
  std::optional<int64_t> source;  ///< as asked
  std::optional<int64_t> tag;
  std::optional<int64_t> count;  ///< elements of `type`
  uint64_t type = 0;             ///< Object::serial, or the id of a predefined type
};

struct Object {
  spec::Kind kind = spec::Kind::integer;
  uint64_t raw = 0;
  Name name{};
  uint64_t serial = 0;  ///< unlike any other's, larger than every constant's id
  uint32_t references = 1;
  bool raw_known = true;     ///< false: made by a call that hasn't told its handle yet (MPI_Comm_idup)
  bool may_be_over = false;  ///< a call failed that may have ended it
  uint32_t being_freed = 0;  ///< calls that may end it have begun: another thread's may have got its handle already
  uint64_t recorded = 0;     ///< looked up: the ticket by which the recorder knew it
  Implied implied;           ///< requests and messages
  std::string identity;      ///< communicators: the same on all members
  uint64_t creations = 0;    ///< communicators: made over it so far
};

class Objects {
 public:
  /// The object that has both; nullptr if there is none.
  Object *find(spec::Kind kind, uint64_t raw, const Name &name);
  /// Any that has one of them.
  Object *with_raw(spec::Kind kind, uint64_t raw);
  Object *with_name(spec::Kind kind, const Name &name);
  Object *add(spec::Kind kind, uint64_t raw, const Name &name, bool raw_known = true);
  void learn_raw(Object *object, uint64_t raw);
  void remove(Object *object);

 private:
  using List = std::vector<Object *>;
  static void drop(List &list, const Object *object);

  std::list<Object> all_;
  std::map<Object *, std::list<Object>::iterator> place_;
  std::map<std::pair<spec::Kind, uint64_t>, List> by_raw_;
  std::map<std::pair<spec::Kind, Name>, List> by_name_;
  uint64_t next_serial_ = 1 << 16;
};

}  // namespace cairn::oracle
