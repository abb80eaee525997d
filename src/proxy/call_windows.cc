#include "proxy/call_parts.h"

namespace cairn::proxy {

// ---- dynamic windows

std::optional<size_t> CallWriter::parameter_of(Kind kind) const {
  for (size_t i = 0; i < function_.parameter_count; ++i) {
    if (function_.parameters[i].kind == kind) return i;
  }
  return std::nullopt;
}

std::string CallWriter::recorded_address(size_t i) {
  const FieldView &view = fields_[i];
  if (view.dynamic()) return fmt::format("recorded_in({})", local(i));
  if (view.slots.size() < 3 || view.slots[0].constant() >= 0 || view.slots[0].is(trace::kNull)) return {};
  if (view.slots.size() > 3) return number(view.slots[3]);
  return view.slots[0].is(trace::kInteger) ? number(view.slots[2]) : std::string();
}

void CallWriter::windows() {
  namespace id = spec::function_id;
  const auto window = parameter_of(Kind::window);
  if (!window) return;
  if (row_.function == id::Win_create_dynamic && succeeded_) {
    out_.after.push_back(fmt::format("open_dynamic(*window_made, {});", arguments_[1]));
    out_.before.push_back(fmt::format("MPI_Win *window_made = {};", arguments_[*window]));
    arguments_[*window] = "window_made";
  } else if (row_.function == id::Win_free) {
    out_.before.push_back(fmt::format("close_dynamic(*{});", arguments_[*window]));
  } else if (row_.function == id::Win_attach) {
    const std::string recorded = recorded_address(1);
    if (recorded.empty()) return;
    out_.before.push_back(
        fmt::format("attaching({}, {}, {}, {});", arguments_[*window], arguments_[1], recorded, arguments_[2]));
  }
  const auto target = parameter_of(Kind::rank);
  for (size_t i = 0; i < function_.parameter_count && target; ++i) {
    const Parameter &parameter = function_.parameters[i];
    if (parameter.kind != Kind::rma_displacement || !parameter.keeps_raw || fields_[i].absent()) continue;
    if (fields_[i].dynamic()) {
      arguments_[i] = fmt::format("aimed_in({}, {}, {})", arguments_[*window], arguments_[*target], local(i));
    } else if (const std::string recorded = recorded_address(i); !recorded.empty()) {
      const bool same = fields_[i].slots[0].is(trace::kInteger);
      arguments_[i] = fmt::format("aimed({}, {}, {}, {})", arguments_[*window], arguments_[*target], recorded,
                                  same ? recorded : arguments_[i]);
    }
  }
}

}  // namespace cairn::proxy
