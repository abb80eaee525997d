#include "extrapolate/row_parts.h"

#include <algorithm>
#include <string_view>

namespace cairn::extrapolate {

using spec::Layout;
using trace::Atom;

const spec::Parameter *parameter_of(uint32_t function, size_t field) {
  const auto all = spec::functions();
  if (function >= all.size() || field >= all[function].parameter_count) return nullptr;
  return &all[function].parameters[field];
}

Layout layout_of(uint32_t function, size_t field) {
  if (const spec::Parameter *parameter = parameter_of(function, field)) return parameter->layout;
  const auto all = spec::functions();
  return function < all.size() ? all[function].return_layout : Layout::none;
}

size_t atoms_of(Layout layout) {
  switch (layout) {
    case Layout::handle:
    case Layout::flags:
      return 2;
    case Layout::address:
      return 3;
    case Layout::status:
      return 5;
    default:
      return 1;
  }
}

std::optional<Exchange> exchange_of(uint32_t function) {
  const auto all = spec::functions();
  if (function >= all.size()) return std::nullopt;
  const spec::Function &known = all[function];
  // Those of neighbours say nothing of the others.
  if (std::string_view(known.name).find("lltoallv") == std::string_view::npos ||
      std::string_view(known.name).find("eighbor") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto place = [&known](std::string_view name) {
    size_t i = 0;
    while (i < known.parameter_count && known.parameters[i].name != name) ++i;
    return i;
  };
  const Exchange found = {place("sendcounts"), place("sendtype"), place("recvcounts"), place("recvtype"),
                          place("comm")};
  const size_t last = std::max({found.sent, found.type, found.received, found.received_type, found.comm});
  return last < known.parameter_count ? std::optional<Exchange>(found) : std::nullopt;
}

void renumber(trace::Row *row, const MapNumber &site, const MapNumber &module) {
  for (size_t f = 0; f < row->fields.size(); ++f) {
    const Layout layout = layout_of(row->function, f);
    std::vector<Atom> &atoms = row->fields[f].atoms;
    if (layout == Layout::handle && atoms.size() % 2 == 0) {
      for (size_t i = 0; i < atoms.size(); i += 2) {
        if (trace::is_special(atoms[i]) || atoms[i] < 0) continue;
        const auto number = static_cast<uint32_t>(atoms[i] & 0xffffffff);
        atoms[i] = (atoms[i] >> 32) << 32 | static_cast<Atom>(site(number));
      }
    }
    if (layout == Layout::address && atoms.size() % 3 == 0) {
      for (size_t i = 0; i < atoms.size(); i += 3) {
        if (atoms[i] != trace::kStatic || atoms[i + 1] < 0) continue;
        atoms[i + 1] = static_cast<Atom>(module(static_cast<uint32_t>(atoms[i + 1])));
      }
    }
  }
}

}  // namespace cairn::extrapolate
