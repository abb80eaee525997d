#include "replay/forced_outcome.h"

#include <string_view>

#include "spec/ids.h"
#include "trace/model/status_field.h"

namespace cairn::replay {
namespace {

using spec::Direction;
using spec::Kind;
using spec::Layout;
using spec::Parameter;
using trace::AtomReader;
using trace::AtomValue;
using trace::StatusField;

class Forcing {
 public:
  Forcing(const Surroundings &with, const trace::Row &row, Plan *plan)
      : with_(with), row_(row), plan_(*plan), function_(*plan->function) {}

  void run() {
    outcome();
    const bool asks = function_.answer != 0;
    for (uint8_t i = 0; i < function_.parameter_count; ++i) {
      const Parameter &parameter = function_.parameters[i];
      if (parameter.kind != Kind::request || parameter.direction == Direction::out) continue;
      if (parameter.kind == Kind::request && std::string_view(function_.name).starts_with("MPI_Parrived")) {
        plan_.await = Await::partition;
      } else if (function_.completed != 0) {
        completed(row_.fields[function_.completed - 1U]);
      } else if (asks) {
        plan_.await = Await::all_requests;
      }
    }
    if (!asks || plan_.await != Await::nothing) return;
    plan_.await = function_.status_tells == spec::StatusTells::message ? Await::message : Await::success;
  }

 private:
  void completed(const trace::Field &indices) {
    plan_.await = Await::some_requests;
    AtomReader atoms(indices.atoms);
    while (!atoms.at_end()) {
      const AtomValue index = atoms.next();
      if (!index.special && index.value >= 0) plan_.completed.push_back(static_cast<uint32_t>(index.value));
    }
    if (plan_.completed.empty()) plan_.await = Await::nothing;  // MPI_UNDEFINED: there was none to wait for
  }
  void outcome() {
    if (function_.status_tells != spec::StatusTells::message || function_.asked_source == 0) return;
    const auto asked = static_cast<uint8_t>(function_.asked_source - 1);
    const bool any_source = is_constant(asked, spec::constant_id::k_ANY_SOURCE);
    const auto tag = static_cast<uint8_t>(function_.asked_tag == 0 ? asked : function_.asked_tag - 1);
    const bool any_tag = tag != asked && is_constant(tag, spec::constant_id::k_ANY_TAG);
    plan_.awaited_source = static_cast<int>(plan_.words[asked]);
    plan_.awaited_tag = static_cast<int>(plan_.words[tag]);
    if (!any_source && !any_tag) return;
    if (with_.keep_wild || function_.persistent) return;
    if (function_.nonblocking) {
      plan_.wild_source = any_source ? static_cast<uint8_t>(asked + 1) : 0;
      plan_.wild_tag = any_tag ? static_cast<uint8_t>(tag + 1) : 0;
      return;
    }
    for (uint8_t i = 0; i < function_.parameter_count; ++i) {
      if (function_.parameters[i].layout != Layout::status) continue;
      AtomReader atoms(StatusField::of(row_.fields[i]).atoms);
      if (atoms.at_end()) continue;
      take(atoms.next(), any_source, asked, &plan_.awaited_source);
      take(atoms.next(), any_tag, tag, &plan_.awaited_tag);
      return;
    }
  }
  void take(const AtomValue &got, bool any, uint8_t parameter, int *awaited) {
    std::optional<Word> value;
    if (!got.special) value = static_cast<Word>(got.value);
    if (got.constant() >= 0) value = with_.constant(got.constant());
    if (!any || !value) return;
    plan_.words[parameter] = *value;
    *awaited = static_cast<int>(*value);
  }
  [[nodiscard]] bool is_constant(uint8_t i, uint16_t id) const {
    AtomReader atoms(row_.fields[i].atoms);
    return atoms.next().constant() == id;
  }

  const Surroundings &with_;
  const trace::Row &row_;
  Plan &plan_;
  const spec::Function &function_;
};

}  // namespace

void force_outcome(const Surroundings &with, const trace::Row &row, Plan *plan) { Forcing(with, row, plan).run(); }

}  // namespace cairn::replay
