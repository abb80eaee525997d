// StatusField: what the field of a call's statuses says (spec/README.md, layout `status`). A status is five values:
// source, tag, error, bytes, cancelled; one that is what the call implies has none, and neither have all of them
// together. Where the program gave MPI_STATUS_IGNORE (or MPI_STATUSES_IGNORE) that constant stands first, and behind it
// what the statuses would have said, if that is not implied: whom a receive from anybody heard.
//
// Borrows the field's atoms.
#pragma once

#include <span>

#include "trace/model/record.h"
#include "trace/values/atom_reader.h"

namespace cairn::trace {

struct StatusField {
  static constexpr size_t kValues = 5;
  bool is_there = false;          ///< statuses, or a constant that stands for none
  bool ignored = false;           ///< the program asked for none
  bool implied = false;           ///< all are; of ignored ones also where nobody knows
  std::span<const Atom> atoms{};  ///< of the statuses, unless they are implied

  static StatusField of(const Field &field) {
    StatusField found;
    if (field.is_bytes || field.atoms.empty()) return found;
    found.is_there = true;
    AtomReader values(field.atoms);
    const AtomValue first = values.next();
    size_t count = 1;
    for (; !values.at_end(); ++count) values.next();
    found.ignored = count % kValues == 1 && first.constant() >= 0;
    found.implied = count == 1 && (found.ignored || first.is(kImplied));
    if (!found.implied) found.atoms = std::span(field.atoms).subspan(found.ignored ? 1 : 0);
    return found;
  }
};

}  // namespace cairn::trace
