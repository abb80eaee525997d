// RankObjects: which object each handle in one rank's calls means. A name (src/analyze/row_access.h) is given again
// once its object is gone, so the object is told by the call that made it.
//
//   call 3: MPI_Isend(…, request=req(a.c:12 #0))    makes the request that call 3 made
//   call 5: MPI_Wait(request=req(a.c:12 #0))        … and completes it
//   call 8: MPI_Isend(…, request=req(a.c:12 #0))    makes another of the same name
//
// Fed with all calls of the rank in their order. Borrows the table of layouts. One thread. Memory for the objects that
// are there, and for some thousand distinct calls. Cost of a call: a look at its handles, and a search for each that is
// no constant.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/row_access.h"
#include "objects/rank_layouts.h"
#include "spec/spec.h"
#include "trace/read/events.h"

namespace cairn::objects {

struct Object {
  spec::Kind kind = spec::Kind::comm;
  uint64_t made = 0;        ///< Event::index of the call that made it
  uint32_t references = 1;  ///< as often the program is to give it up: MPI_Type_get_contents gives one once more
  bool persistent = false;  ///< a request that is started
  std::optional<uint64_t> started;     ///< by which call, if the request is under way
  const TypeLayout *layout = nullptr;  ///< of a datatype, if it is known
};

/// What a call does with an object.
struct ObjectUse {
  enum class Does : uint8_t {
    names,
    makes,
    starts,
    completes,  ///< a request; one that is not persistent is gone
    ends,       ///< the program gave it up
  };
  uint8_t parameter = 0;
  uint32_t place = 0;  ///< in an array
  Does does = Does::names;
  analyze::HandleName name;
  Object object;  ///< as it was when the call began; as it is then where the call makes or starts it
  [[nodiscard]] bool is_gone() const {
    return (does == Does::ends && object.references == 1) || (does == Does::completes && !object.persistent);
  }
};

class RankObjects {
 public:
  explicit RankObjects(TypeLayouts *layouts) : layouts_(layouts) {}
  /// Of the rank's next call, in the order of its parameters; without constants, and without objects that nobody saw
  /// made. Valid until the next call.
  const std::vector<ObjectUse> &see(const trace::Event &event, const analyze::RowScope &scope);
  /// Those that are there.
  [[nodiscard]] std::vector<std::pair<analyze::HandleName, Object>> living() const;

 private:
  /// What equal calls have in common.
  struct Part {
    uint8_t parameter = 0;
    uint32_t place = 0;
    spec::Kind kind = spec::Kind::comm;
    ObjectUse::Does does = ObjectUse::Does::names;
    bool if_new = false;     ///< it makes the object unless it is there
    bool once_more = false;  ///< and if it is there, it is to be given up once more
    analyze::HandleName name;
  };
  using Parts = std::vector<Part>;
  struct Known {
    uint32_t class_index = UINT32_MAX;
    uint32_t segment = UINT32_MAX;
    std::unordered_map<uint32_t, Parts> calls;
  };
  const Parts &parts_of(const trace::Event &event, const analyze::RowScope &scope);

  RankLayouts layouts_;
  std::map<uint32_t, Known> known_;  ///< by thread
  std::map<std::pair<spec::Kind, analyze::HandleName>, Object> objects_;
  std::vector<ObjectUse> uses_;
};

}  // namespace cairn::objects
