#include "extrapolate/law.h"

#include <fmt/format.h>

#include <cmath>

#include "analyze/value.h"
#include "extrapolate/multipartition.h"
#include "trace/values/atom.h"

namespace cairn::extrapolate {
namespace {

/// The whole number that this is but for rounding.
std::optional<int64_t> whole(double value) {
  const double near = std::nearbyint(value);
  if (!(std::abs(near) < 9e15) || std::abs(value - near) > 1e-9 * std::abs(value) + 1e-6) return std::nullopt;
  return static_cast<int64_t>(near);
}

std::string factor_text(double factor, const char *term, bool first) {
  std::string text = factor < 0 ? (first ? "-" : " - ") : (first ? "" : " + ");
  if (std::abs(factor) != 1) text += fmt::format("{:.10g} * ", std::abs(factor));
  return text + term;
}

std::string offset_text(double offset) {
  if (offset == 0) return "";
  return fmt::format(" {} {:.10g}", offset < 0 ? '-' : '+', std::abs(offset));
}

}  // namespace

int64_t table_place(const Moment &moment, uint16_t by) {
  if (by == kByElement) return moment.elements == 0 ? -1 : moment.element;
  return moment.turns[by] == 0 ? -1 : moment.turn[by];
}

Law Law::constant(int64_t value) {
  Law law;
  law.value = value;
  return law;
}

std::optional<int64_t> Law::at(const Moment &moment) const { return at(moment, false); }
std::optional<int64_t> Law::rounded(const Moment &moment) const { return at(moment, true); }

std::optional<int64_t> Law::at(const Moment &moment, bool round_up) const {
  switch (kind) {
    case Kind::constant:
      return value;
    case Kind::sum: {
      double sum = offset + factor * terms()[first].at(moment);
      if (two) sum += second_factor * terms()[second].at(moment);
      if (std::isnan(sum)) return std::nullopt;
      const std::optional<int64_t> result = whole(sum);
      return result || !round_up ? result : whole(std::ceil(sum));
    }
    case Kind::share: {
      const Division &division = divisions()[first];
      const int64_t parts = division.parts(*moment.of);
      const int64_t share = value / parts + (division.part(*moment.of) < value % parts ? 1 : 0);
      return whole(offset + factor * static_cast<double>(share));
    }
    case Kind::choice:
      return (predicates()[first].holds(moment) ? yes : no)->at(moment, round_up);
    case Kind::table: {
      const auto place = static_cast<size_t>(table_place(moment, first));
      return place < each.size() && each[place] != nullptr ? each[place]->at(moment, round_up) : std::nullopt;
    }
    case Kind::cells:
    case Kind::area: {
      const std::optional<int64_t> a = cell_coordinate(first, moment);
      const std::optional<int64_t> b = cell_coordinate(second, moment);
      if (!a || !b) return std::nullopt;
      const int64_t columns = moment.of->tall.columns;
      if (kind == Kind::cells) return static_cast<int64_t>(offset) + columns * *a + *b;
      const auto side = static_cast<Side>(static_cast<int>(offset));
      return static_cast<int64_t>(factor) * side_of(side, value, columns, *a) * side_of(side, value, columns, *b);
    }
    case Kind::faces:
      return static_cast<int64_t>(factor) * faces_of(first, value, moment.of->tall);
    case Kind::room: {
      const int64_t side = side_of(Side::greatest, value, moment.of->tall.columns, 0);
      return static_cast<int64_t>(factor) * side * side;
    }
  }
  return std::nullopt;
}

uint8_t Law::loops() const {
  switch (kind) {
    case Kind::sum:
      return static_cast<uint8_t>(loops_of_term(first) | (two ? loops_of_term(second) : 0));
    case Kind::choice:
      return static_cast<uint8_t>(loops_of_predicate(first) | yes->loops() | no->loops());
    case Kind::table: {
      unsigned loops = first == kByElement ? 0 : 1U << first;
      for (const auto &law : each) loops |= law == nullptr ? 0U : law->loops();
      return static_cast<uint8_t>(loops);
    }
    case Kind::cells:
    case Kind::area:
      return 1;
    default:
      return 0;
  }
}

std::string Law::text() const {
  switch (kind) {
    case Kind::constant:
      if (!trace::is_special(value)) return std::to_string(value);
      if (const int id = trace::special_code(value) - trace::kFirstConstant; id >= 0) return analyze::constant_name(id);
      return fmt::format("special {}", trace::special_code(value));
    case Kind::sum: {
      std::string text = factor_text(factor, terms()[first].name, true);
      if (two) text += factor_text(second_factor, terms()[second].name, false);
      return text + offset_text(offset);
    }
    case Kind::share:
      return factor_text(factor, "", true) + fmt::format("a share of {} in {}", value, divisions()[first].name) +
             offset_text(offset);
    case Kind::choice:
      return fmt::format("if {}: {}, else {}", predicates()[first].name, yes->text(), no->text());
    case Kind::table: {
      std::string text;
      for (const auto &law : each) text += (text.empty() ? "" : "; ") + (law == nullptr ? "unknown" : law->text());
      return fmt::format("one after the other [{}]", text);
    }
    case Kind::cells:
      return fmt::format("columns * {} + {}{}", cell_coordinate_text(first), cell_coordinate_text(second),
                         offset_text(offset));
    case Kind::area: {
      static constexpr const char *kSides[] = {"a share of", "an inner share of"};
      const char *side = kSides[static_cast<int>(offset)];
      return fmt::format("{:.10g} * {} {} at {} * the same at {}", factor, side, value, cell_coordinate_text(first),
                         cell_coordinate_text(second));
    }
    case Kind::faces:
      return fmt::format("{:.10g} * the faces of cells of {} in direction {}", factor, value, first / 2);
    case Kind::room:
      return fmt::format("{:.10g} * the greatest face of cells of {}", factor, value);
  }
  return "";
}

}  // namespace cairn::extrapolate
