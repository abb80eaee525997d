// SiteAtoms: which atoms of rows are better told as distances from the row's own call site.
//
// Handles are named by the site that created them, as the class numbers it: where one class has a site less than
// another, all later numbers differ, in the rows' own sites and in the names alike. Nothing says which atoms are such
// numbers; what is known is that at one site, in classes that number it otherwise, they move with it. Those that mostly
// do are chosen, for a function's rows everywhere. Made for one file; proportional to the rows of all classes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/model/class_part.h"

namespace cairn::trace {

class SiteAtoms {
 public:
  /// Atom `atom` of field `field` of a row.
  struct Place {
    uint32_t function = 0;
    uint32_t fields = 0;  ///< of the row
    uint32_t field = 0;
    uint32_t atom = 0;
    auto operator<=>(const Place &) const = default;
  };

  /// Rows of one class; `sites` as in ClassPart.
  void add(const std::vector<RowPointer> &rows, const std::vector<uint32_t> &sites);
  [[nodiscard]] bool empty() const;
  [[nodiscard]] bool moves(const Place &place) const;

  /// `atom` of a row at `site` as its distance from it. Specials are told as they are; nothing for an atom that cannot
  /// be told so.
  static std::optional<Atom> told(Atom atom, uint32_t site);
  /// What becomes of an atom, if it is no special, when the site's number grows by so much.
  static Atom moved(Atom atom, int64_t by);

 private:
  void compare(const ClassRow &a, const ClassRow &b);

  std::map<Place, int64_t> votes_;                                     ///< above 0: it moves
  std::map<std::tuple<uint32_t, uint32_t, size_t>, RowPointer> last_;  ///< by trace's site, function, fields
};

}  // namespace cairn::trace
