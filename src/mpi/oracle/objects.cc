#include "mpi/oracle/objects.h"

#include <algorithm>

namespace cairn::oracle {

Object *Objects::find(spec::Kind kind, uint64_t raw, const Name &name) {
  const auto found = by_name_.find({kind, name});
  if (found == by_name_.end()) return nullptr;
  for (Object *object : found->second) {
    if (object->raw_known && object->raw == raw) return object;
  }
  return nullptr;
}

Object *Objects::with_raw(spec::Kind kind, uint64_t raw) {
  const auto found = by_raw_.find({kind, raw});
  return found == by_raw_.end() || found->second.empty() ? nullptr : found->second.front();
}

Object *Objects::with_name(spec::Kind kind, const Name &name) {
  const auto found = by_name_.find({kind, name});
  return found == by_name_.end() || found->second.empty() ? nullptr : found->second.front();
}

Object *Objects::add(spec::Kind kind, uint64_t raw, const Name &name, bool raw_known) {
  Object *object = &all_.emplace_back();
  object->kind = kind;
  object->raw = raw;
  object->name = name;
  object->serial = next_serial_++;
  place_[object] = std::prev(all_.end());
  object->raw_known = raw_known;
  by_name_[{kind, name}].push_back(object);
  if (raw_known) by_raw_[{kind, raw}].push_back(object);
  return object;
}

void Objects::learn_raw(Object *object, uint64_t raw) {
  object->raw = raw;
  object->raw_known = true;
  by_raw_[{object->kind, raw}].push_back(object);
}

void Objects::drop(List &list, const Object *object) {
  list.erase(std::remove(list.begin(), list.end(), object), list.end());
}

void Objects::remove(Object *object) {
  const auto name = by_name_.find({object->kind, object->name});
  drop(name->second, object);
  if (name->second.empty()) by_name_.erase(name);
  if (object->raw_known) {
    const auto raw = by_raw_.find({object->kind, object->raw});
    drop(raw->second, object);
    if (raw->second.empty()) by_raw_.erase(raw);
  }
  const auto place = place_.find(object);
  all_.erase(place->second);
  place_.erase(place);
}

}  // namespace cairn::oracle
