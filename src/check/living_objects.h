// LivingObjects: which objects of one rank are there once its calls have been made: communicators, groups, datatypes,
// operators, requests, windows, files, infos, error handlers, keyvals, sessions and attached buffers.
//
// A name is given again only when its object is gone, so the number of calls that made an object of that name, less
// those that ended one, says whether one is left, in whatever order they are told. So it may be fed with distinct
// calls and how often each was made; what such cannot tell (arrays of requests that calls drain; names of communicators
// that several calls gave) makes it unsure, and then it is fed with all calls. Plain values. Memory for the names.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyze/message_calls.h"
#include "analyze/messages.h"
#include "analyze/row_access.h"
#include "spec/spec.h"

namespace cairn::check {

class LivingObjects {
 public:
  /// Calls of that function make or end such objects.
  static bool concerns(uint32_t function);

  /// Some calls of the rank that are equal; `call`: the last of them that was told.
  void see(const trace::Row &row, const analyze::RowScope &scope, const analyze::CallTime &call, uint64_t count);
  /// Whether `left` can be told from what was seen.
  [[nodiscard]] bool sure() const;

  struct Left {
    spec::Kind kind = spec::Kind::comm;  ///< `pointer`: an attached buffer
    bool active = false;                 ///< a persistent request that was started and never completed
    /// Another call may be the one to blame: an MPI may give several requests of sends one handle, and what is looked
    /// up is to be freed as often.
    bool sure = true;
    uint64_t count = 1;      ///< how often: what is looked up is to be freed as often
    analyze::CallTime made;  ///< by the first call since there was none of that name
  };
  [[nodiscard]] std::vector<Left> left() const;

 private:
  using Key = std::pair<spec::Kind, analyze::HandleName>;
  struct Object {
    uint64_t made = 0;
    uint64_t released = 0;
    uint64_t completed = 0;
    uint64_t started = 0;
    bool persistent = false;
    bool sends = false;           ///< a request that fills no buffer
    bool several_sites = false;   ///< made it at some time
    bool unknown = false;         ///< a call that failed may have ended it
    bool several_makers = false;  ///< it was looked up in several places: who knows which of these is to free it
    analyze::CallTime maker;      ///< since it is there
  };
  void make(const Key &key, const trace::Row &row, const analyze::CallTime &call, uint64_t count);

  std::map<Key, Object> objects_;
  std::set<std::pair<uint32_t, uint32_t>> senders_;  ///< classes and sites of calls that make requests of sends
  bool failed_later_ = false;                        ///< a call that completed requests failed
  bool sure_ = true;
};

/// The parameter is given an object that the program did not have before, or has once more.
bool makes(spec::Effect effect);
/// "communicator", "datatype", …
const char *object_name(spec::Kind kind);

}  // namespace cairn::check
