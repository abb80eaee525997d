// The MPI standard as data: every function, parameter and named constant, from the table in this folder. The generator
// (spec/generate.py) writes spec_tables.cc into the build folder; nothing generated is committed.
//
// Ids of functions and constants are permanent: they stand in traces. Independent of any MPI library. Static data: any
// thread may read it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cairn::spec {

/// What a parameter means, and with it how its value is laid out in atoms (`layout`).
enum class Kind : uint8_t {
#define CAIRN_KIND(name) name,
#include "spec/kinds.inc"  // one line a kind: CAIRN_KIND(rank) …
#undef CAIRN_KIND
};

/// How one element of a kind becomes atoms. spec/README.md gives each layout in full.
enum class Layout : uint8_t {
  none,      ///< nothing is kept (varargs, timestamps, which belong to the timing)
  integer,   ///< 1 atom: the value, or the special of a constant in the kind's `domain`
  comm,      ///< 1 atom: local number, or constant; a created one has 3 or 4 more (README.md)
  handle,    ///< 2 atoms: (creating site, place), (constant, 0) or (kUnknown, number)
  address,   ///< 3 atoms: (class, number, offset), (constant, 0, 0) or (kNull, 0, 0); see `keeps_raw`
  status,    ///< 5 atoms: source, tag, error, bytes, cancelled; or 1 for the whole array: kImplied or a constant
  flags,     ///< 2 atoms: canonical bits (bit i = i-th constant of the domain), left-over bits as the program gave them
  error,     ///< 1 atom 0 for MPI_SUCCESS; else 2: the error class's constant, and the library's code
  string,    ///< bytes without the terminating NUL; NULL: one kNull atom
  strings,   ///< bytes: varint n, then n times (varint length + 1, bytes) or (0) for NULL; argv arrays nest
  floating,  ///< 1 atom: the bits of the double
};

constexpr bool is_handle(Layout layout) { return layout == Layout::handle || layout == Layout::comm; }

enum class Direction : uint8_t { in, out, inout };

/// How the C parameter carries its value.
enum class Passing : uint8_t {
  value,         ///< in the argument word
  pointer,       ///< points to one element
  array,         ///< points to `length` elements
  buffer,        ///< the address itself is the value (choice buffers, callbacks, extra state)
  string,        ///< char*
  string_array,  ///< char**
  argv_array,    ///< char***: in: `length` lists of strings, each ended by NULL; inout: &argv, `length` strings
};

/// The C type of one element, as far as its size goes.
enum class Element : uint8_t { none, i32, i64, f64, handle, pointer, status, character };

/// What the call does to the handle or memory.
enum class Effect : uint8_t {
  none,
  create,        ///< *p is a new object
  create_if,     ///< new if the parameter's `valid` expression holds
  lookup,        ///< *p is a handle that may or may not be known (Comm_group, Type_get_contents, …)
  release,       ///< the program gives the handle up (Comm_free, Type_free, Request_free, …)
  complete,      ///< requests: those that completed end (persistent ones become inactive and keep their name); `valid`
                 ///< says whether any did
  start,         ///< persistent requests start
  commit,        ///< Type_commit
  consume,       ///< Mrecv, Imrecv: the message handle ends
  map_memory,    ///< out pointer: MPI gave memory (`length` bytes)
  unmap_memory,  ///< MPI memory goes away
};

/// A compiled expression of the little language (spec/README.md): [first, first + count) in expression_code(). count 0:
/// none.
struct Expression {
  uint32_t first = 0;
  uint32_t count = 0;
  explicit operator bool() const { return count != 0; }
};

struct Parameter {
  const char *name;
  const char *ctype;
  Kind kind;
  Layout layout;
  Direction direction;
  Passing passing;
  Element element;
  Effect effect;
  bool may_be_null;     ///< NULL is legal and meaningful
  bool asynchronous;    ///< written or read until the request completes
  bool read_before;     ///< inout through a pointer: its value must be taken before the call
  bool prefix_sums;     ///< displacements: the counts, of which they may be the running sums, are the parameter before
  bool keeps_raw;       ///< an address that other processes are told: the number itself stands behind its name, as one
                        ///< more value, where it has a name (a class of memory)
  uint8_t domain;       ///< index of the constant domain its specials come from, 0 none; of a status: its source's
  Expression length;    ///< elements (or bytes, of strings) of an array; of buffers: bytes spanned, if expressible
  Expression capacity;  ///< upper bound known before the call (cap:x), to be read before the call
  Expression significant;  ///< only then does MPI read or write it at all (root only, ignored if IN_PLACE, …)
  Expression valid;        ///< outputs: after a successful call, only then is it set (flag, outcount, UNDEFINED)
  uint8_t
      pointer_domain;  ///< constants that the pointer itself may equal (MPI_STATUS_IGNORE, MPI_UNWEIGHTED, …): then
                       ///< the field is that one constant. 0 none. (Of Layout::address it is `domain` that does it.)
  uint8_t count_parameter;  ///< of choice buffers: 1 + index of the parameter that counts the elements (an array in the
                            ///< v and w forms), 0 none
  uint8_t type_parameter;   ///< of choice buffers: 1 + index of the datatype (an array in the w forms), 0 none
  uint8_t
      times_parameter;  ///< of choice buffers: 1 + index of a parameter that multiplies the count (partitions), 0 none
};

enum class ReturnKind : uint8_t { error_code, wall_time, aint, handle, fint };

/// What the status that a call gives, or that the request it makes will give, tells besides errors.
enum class StatusTells : uint8_t {
  errors,   ///< nothing: sends, collectives
  message,  ///< source, tag and size of what was received or found
  bytes,    ///< how much of a file was read or written
};

/// Who the members of a communicator are that a call makes.
enum class Members : uint8_t {
  of_scope,      ///< processes of `Function::scope`
  beyond_scope,  ///< others of the same world as well (Intercomm_create)
  beyond_world,  ///< of other worlds as well, or told by a process set (Comm_spawn, Comm_accept, …)
};

struct Function {
  const char *name;  ///< "MPI_Isend"
  uint16_t id;       ///< permanent
  ReturnKind returns;
  uint8_t return_domain;
  Kind return_kind;  ///< of the returned handle
  bool collective;
  bool large_count;      ///< a _c variant
  bool nonblocking;      ///< returns a request by `create`
  bool persistent;       ///< …_init: the request it creates is persistent
  bool creates;          ///< some parameter has create, create_if or lookup
  bool releases;         ///< some parameter has release
  bool any_read_before;  ///< some parameter has read_before
  uint8_t parameter_count;
  const Parameter *parameters;
  uint8_t scope;  ///< collective over the processes of: 1 + index of a parameter (comm, group, window, file), 0 if not
                  ///< collective, kScopeWorld or kScopePair
  Layout return_layout;
  const char *since;  ///< "4.0", the version of the standard that introduced it
  // Which parameters say what, as 1 + index; 0 none.
  uint8_t answer;     ///< the call only asks and returns at once: the output that is 0 if it found nothing
  uint8_t completed;  ///< the call takes some requests out of an array: the output that says which (Waitany, …)
  StatusTells status_tells;
  uint8_t asked_source;  ///< of StatusTells::message: what the call asks for, as far as it says so
  uint8_t asked_tag;
  uint8_t asked_buffer;  ///< what it is received into
  Members members;
};

constexpr uint8_t kScopeWorld = 254;  ///< Init, Init_thread, Finalize
constexpr uint8_t kScopePair = 255;   ///< Comm_join: the two ends of a socket

/// A named constant of the standard.
struct Constant {
  const char *name;  ///< "MPI_PROC_NULL"
  uint16_t id;       ///< permanent; atom special(kFirstConstant + id)
  uint8_t domain;
  bool null_handle;  ///< MPI_COMM_NULL, …: the handle of no object
};

/// A call that succeeds may put a communicator there that the program did not have before.
inline bool is_new_communicator(const Parameter &parameter) {
  return parameter.layout == Layout::comm &&
         (parameter.effect == Effect::create || parameter.effect == Effect::create_if ||
          parameter.effect == Effect::lookup);
}
/// How often such calls are made, and with what outcome, may be chance: they ask whether something has happened, or
/// take what has completed out of many requests (polls(P) and drains(P) of spec/README.md).
inline bool varies_by_chance(const Function &function) { return function.answer != 0 || function.completed != 0; }

inline bool makes_communicator(const Function &function) {
  for (unsigned i = 0; function.creates && i < function.parameter_count; ++i) {
    if (is_new_communicator(function.parameters[i])) return true;
  }
  return false;
}

/// 1 + the parameter whose communicator counts what such calls make over it, all of its members together; 0: none does.
inline unsigned counting_parent(const Function &function) {
  const unsigned over = function.scope;
  const bool counts = over != 0 && over <= function.parameter_count &&
                      function.parameters[over - 1].kind == Kind::comm && function.members != Members::beyond_scope;
  return counts ? over : 0;
}

std::span<const Function> functions();                 ///< index = id
const Function *find_function(std::string_view name);  ///< nullptr if there is none
std::span<const Constant> constants();                 ///< index = id
std::span<const uint16_t> domain(uint8_t index);       ///< constant ids of one domain, in canonical (bit) order
const char *domain_name(uint8_t index);                ///< "" for 0
std::span<const int32_t> expression_code();
const char *kind_name(Kind kind);

constexpr uint16_t kMaxParameters = 16;

}  // namespace cairn::spec
