#include "analyze/gatherings.h"

namespace cairn::analyze {

GatheringPointer Gatherings::of(const Key &key, uint32_t operation) {
  GatheringPointer &gathering = under_way_[key];
  if (!gathering) {
    const size_t members = counted_ ? 0 : scope_.places[key.communicator].size();
    gathering = std::make_shared<Gathering>();
    gathering->meeting.number = next_++;
    gathering->meeting.operation = operation;
    gathering->meeting.begins.resize(members);
    gathering->meeting.communicator = key.communicator;
    gathering->meeting.marks.resize(members);
    gathering->meeting.contents.resize(members);
    gathering->meeting.came.resize(members);
    gathering->missing = members;
    gathering->inside = members;
    keys_[gathering->meeting.number] = key;
  }
  gathering->meeting.broken = gathering->meeting.broken || gathering->meeting.operation != operation;
  return gathering;
}

void Gatherings::left(const GatheringPointer &gathering, Arrivals *arrivals) {
  if (--gathering->inside != 0) return;
  arrivals->over(gathering->meeting);
  const auto key = keys_.find(gathering->meeting.number);
  under_way_.erase(key->second);
  keys_.erase(key);
}

void Gatherings::finish(Arrivals *arrivals) {
  for (const auto &[key, gathering] : under_way_) arrivals->over(gathering->meeting);
}

}  // namespace cairn::analyze
