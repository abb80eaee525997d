#include "extrapolate/row_parts.h"

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
