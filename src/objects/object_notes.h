// ObjectNotes: calls with the number of the call that made each object: "req(a.c:12 #0)@205", of a persistent request
// that is under way with that of the call that started it besides, "req(a.c:9 #0)@12/205". A datatype that is made is
// told with its size and bounds in bytes: "type(a.c:9 #0)@12 {size 24, extent 40}".
//
// In JSON the arguments stay as they are, and stand once more in "objects": {"request": {"made": 12, "started": 205}},
// of an array a list, with null for what is no object of the program's.
//
// Borrows the trace and the layouts. One rank, one thread.
#pragma once

#include <cstdint>
#include <map>

#include "analyze/call_texts.h"
#include "objects/rank_objects.h"

namespace cairn::objects {

class ObjectNotes : public analyze::CallNotes {
 public:
  ObjectNotes(const trace::Trace &trace, TypeLayouts *layouts, bool json)
      : trace_(trace), objects_(layouts), json_(json) {}
  void note(const trace::Event &event, analyze::Call *call) override;

 private:
  const trace::Trace &trace_;
  RankObjects objects_;
  bool json_;
  std::map<uint32_t, analyze::RowScope> scopes_;  ///< by class
};

}  // namespace cairn::objects
