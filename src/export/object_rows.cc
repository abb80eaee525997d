#include "export/object_rows.h"

#include <string_view>
#include <vector>

namespace cairn::exporting {
namespace {

using Does = objects::ObjectUse::Does;
using Of = Column::Type;

const Table kObjects{"objects",
                     {{"rank", Of::integer},
                      {"kind", Of::text},
                      {"made_call", Of::integer},
                      {"ended_call", Of::integer},
                      {"size", Of::integer},
                      {"lower_bound", Of::integer},
                      {"extent", Of::integer},
                      {"true_lower_bound", Of::integer},
                      {"true_extent", Of::integer}}};
const Table kRequests{"requests",
                      {{"rank", Of::integer},
                       {"made_call", Of::integer},
                       {"posted_call", Of::integer},
                       {"completed_call", Of::integer},
                       {"persistent", Of::integer}}};

/// A request that may be completed.
bool is_under_way(const objects::Object &of) {
  return of.kind == spec::Kind::request && (of.started || !of.persistent);
}
/// It has a row among objects.
bool is_lasting(const objects::Object &of) { return of.kind != spec::Kind::request || of.persistent; }

Cell index_of(const trace::Event *event) { return event == nullptr ? Cell() : cell(event->index); }

}  // namespace

const Table &ObjectRows::objects_table() { return kObjects; }
const Table &ObjectRows::requests_table() { return kRequests; }

void ObjectRows::see(const trace::Event &event) {
  for (const objects::ObjectUse &use : objects_.see(event, scope_.rows[event.class_index])) {
    const bool begins = use.does == Does::makes || use.does == Does::starts;
    if (begins && scope_.wanted.window && event.timed)
      ++began_.try_emplace(event.index, Begin{event.begin_ns}).first->second.open;
    if (use.does != Does::completes && use.does != Does::ends) continue;
    const objects::Object &of = use.object;
    if (is_under_way(of)) request(of, &event);
    if (use.is_gone()) {
      if (is_lasting(of)) object(of, &event);
      forget(of.made);
    }
    if (of.started) forget(*of.started);
  }
}

/// One of those that began with that call.
void ObjectRows::forget(uint64_t call) {
  const auto began = began_.find(call);
  if (began != began_.end() && --began->second.open == 0) began_.erase(began);
}

void ObjectRows::finish() {
  for (const auto &[name, of] : objects_.living()) {
    if (is_under_way(of)) request(of, nullptr);
    if (is_lasting(of)) object(of, nullptr);
  }
}

bool ObjectRows::is_wanted(uint64_t since, const trace::Event *ended) const {
  const auto &window = scope_.wanted.window;
  if (!window) return true;
  const auto began = began_.find(since);
  if (began == began_.end() || began->second.ns > window->end_ns) return false;
  return ended == nullptr || (ended->timed && ended->end_ns >= window->begin_ns);
}

void ObjectRows::request(const objects::Object &object, const trace::Event *ended) {
  const uint64_t posted = object.started.value_or(object.made);
  if (!is_wanted(posted, ended)) return;
  row(kRequests, {cell(rank_), cell(object.made), cell(posted), index_of(ended), cell(object.persistent ? 1 : 0)});
}

void ObjectRows::object(const objects::Object &object, const trace::Event *ended) {
  if (!is_wanted(object.made, ended)) return;
  std::vector<Cell> cells{cell(rank_), std::string_view(spec::kind_name(object.kind)), cell(object.made),
                          index_of(ended)};
  if (const objects::TypeLayout *layout = object.layout; layout != nullptr) {
    cells.insert(cells.end(), {layout->size, layout->lower_bound, layout->extent(), layout->true_lower_bound,
                               layout->true_extent()});
  }
  cells.resize(kObjects.columns.size());
  row(kObjects, cells);
}

void ObjectRows::row(const Table &table, const std::vector<Cell> &cells) {
  if (auto done = writer_.begin(table); !done) {
    end_ = done;
    return;
  }
  writer_.row(cells);
}

}  // namespace cairn::exporting
