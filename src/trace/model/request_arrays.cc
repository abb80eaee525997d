#include "trace/model/request_arrays.h"

#include <utility>

#include "base/as_size.h"

namespace cairn::trace {
namespace {

/// The array that is written out in the row.
std::vector<Atom> written(const Row &row, const DrainedField &drained) {
  const std::vector<Atom> &atoms = row.fields[drained.requests].atoms;
  return {atoms.begin() + 1, atoms.end()};
}

/// The place of the request before which `number` others are there; past the end if there are not so many.
size_t place_of(std::span<const Atom> array, uint64_t number) {
  size_t place = 0;
  for (; 2 * place < array.size(); ++place) {
    if (array[2 * place] == kRequestNull) continue;
    if (number == 0) break;
    --number;
  }
  return place;
}

/// Numbers of what completed become places in the array, where nothing of them is left.
void take_completed(std::vector<Atom> *array, Field *indices) {
  for (Atom &index : indices->atoms) {
    if (is_special(index)) continue;
    const size_t place = index < 0 ? array->size() : place_of(*array, static_cast<uint64_t>(index));
    if (2 * place >= array->size()) return;
    index = static_cast<Atom>(place);
    remove_request(*array, place);
  }
}

}  // namespace

std::optional<DrainedField> DrainedField::of(const Row &row) {
  for (size_t f = 0; f + 1 < row.fields.size(); ++f) {
    const Field &field = row.fields[f];
    if (field.is_bytes || field.atoms.size() < 2 || !is_special(field.atoms[0])) continue;
    const Atom distance = field.atoms[0] - kRequests;
    if (distance < 1 || distance > kMostDistance || f + static_cast<size_t>(distance) >= row.fields.size()) continue;
    DrainedField result;
    result.requests = f;
    result.indices = f + static_cast<size_t>(distance);
    if (field.atoms.size() == 2) {
      if (field.atoms[1] < 0) continue;
      result.place = static_cast<uint64_t>(field.atoms[1]);
    } else if (field.atoms.size() % 2 == 0) {
      continue;
    }
    return result;
  }
  return std::nullopt;
}

uint32_t RequestArrays::number_of(std::vector<Atom> array) {
  const auto [entry, added] = numbers_.try_emplace(std::move(array), static_cast<uint32_t>(arrays_.size()));
  if (added) arrays_.push_back(&entry->first);
  return entry->second;
}

uint32_t RequestArrays::found(const Row &row, const DrainedField &drained) {
  if (!drained.place) return number_of(written(row, drained));
  return *drained.place < places_.size() ? places_[as_size(*drained.place)] : kNone;
}

uint32_t RequestArrays::complete(Row *row, const DrainedField &drained, uint32_t found) {
  if (found == kNone) return kNone;
  std::vector<Atom> array = *arrays_[found];
  row->fields[drained.requests].atoms = array;
  take_completed(&array, &row->fields[drained.indices]);
  return number_of(std::move(array));
}

void RequestArrays::leave(const DrainedField &drained, uint32_t left) {
  if (drained.place && *drained.place < places_.size()) {
    places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(*drained.place));
  }
  places_.insert(places_.begin(), left);
  if (places_.size() > kRememberedArrays) places_.pop_back();
}

void expand_requests(Row *row) {
  const std::optional<DrainedField> drained = DrainedField::of(*row);
  if (!drained) return;
  Field &indices = row->fields[drained->indices];
  if (drained->place) {
    row->fields[drained->requests].atoms = {kAsLeft};
    for (Atom &index : indices.atoms) index = is_special(index) ? index : kUnknown;
    return;
  }
  std::vector<Atom> array = written(*row, *drained);
  row->fields[drained->requests].atoms = array;
  take_completed(&array, &indices);
}

}  // namespace cairn::trace
