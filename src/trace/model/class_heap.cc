#include "trace/model/class_heap.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "grammar/product.h"
#include "trace/model/class_checks.h"

namespace cairn::trace {
namespace {

constexpr uint32_t kAtoms = 3;

bool is_event(const ClassRow &value) { return value.heads == std::vector<FieldHead>{{FieldHead::atoms, kAtoms}}; }

}  // namespace

Result<Stream> heap_of(const SequenceRecord &sequence, const RankSet &rank) {
  Stream heap{kHeapGroup, 0, {}};
  if (sequence.heap.empty()) return heap;
  if (symbols_of(sequence.heap) > sequence.heap_events.size()) {
    return fail(ErrorKind::internal, "an event of the heap was not recorded");
  }
  StreamVariant variant;
  variant.ranks = rank;
  std::vector<grammar::Symbol> old;
  variant.order = std::make_shared<const grammar::Grammar>(grammar::renumbered(sequence.heap, &old));
  for (const grammar::Symbol symbol : old) {
    const HeapEvent &event = sequence.heap_events[symbol];
    auto value = std::make_shared<ClassRow>();
    value->heads = {{FieldHead::atoms, kAtoms}};
    value->atoms = {static_cast<Atom>(event.calls), event.number, static_cast<Atom>(event.bytes)};
    variant.values.push_back(std::move(value));
  }
  variant.set_key();
  heap.variants.push_back(std::move(variant));
  return heap;
}

HeapEvent heap_event_at(const ClassRow &value, uint64_t member) {
  std::array<Atom, kAtoms> atoms{};
  std::copy_n(value.atoms.begin(), kAtoms, atoms.begin());
  for (const VariedAtom &varied : value.varied) atoms[varied.slot] = varied.column->at(member);
  return {static_cast<uint64_t>(atoms[0]), atoms[1], static_cast<uint64_t>(atoms[2])};
}

void tell_no_heap(const RankSet &ranks, Stream *heap) {
  if (!heap->variants.empty()) return;
  heap->group = kHeapGroup;
  heap->variants.push_back({ranks, false, std::make_shared<const grammar::Grammar>(), {}, {}});
  heap->variants.back().set_key();
}

const char *what_is_wrong_with_heap(const ClassPart &part) {
  std::vector<const RankSet *> ranks;
  for (const StreamVariant &variant : part.heap.variants) {
    if (variant.differences) return "has differences";
    if (symbols_of(*variant.order) != variant.values.size()) return "has events that do not happen";
    for (const RowPointer &value : variant.values) {
      if (!is_event(*value) || !has_columns_of(*value, variant.ranks.size())) return "has an event that cannot be";
    }
    ranks.push_back(&variant.ranks);
  }
  if (!ranks.empty() && !is_partition(part.ranks, ranks)) return "has events of other ranks than its class";
  return nullptr;
}

}  // namespace cairn::trace
