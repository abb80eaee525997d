// Estimates, in bytes of the file (class_writer.cc, before it is packed), of what rows and streams take.
//
// Plain functions; heap memory, one thread.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "trace/model/class_part.h"

namespace cairn::trace {

constexpr size_t kFewestValues = 6;  // fewer values cannot cost more than their differences
constexpr size_t kStreamBytes = 6;   // of a stream beside its order and values

/// What differences may take where values would take that much: clearly less, or ranks that are about as well off with
/// either choose differently, and what would have been one variant for all has holes.
constexpr size_t worth_differences(size_t values) { return values - values / 4; }

/// A list of rows as class_writer.cc writes it: each against the last one of its shape.
class RowBytes {
 public:
  RowBytes() = default;
  RowBytes(const RowBytes &) = delete;
  RowBytes &operator=(const RowBytes &) = delete;
  size_t add(const ClassRow &row);

 private:
  struct Less {
    bool operator()(const std::vector<FieldHead> &a, const std::vector<FieldHead> &b) const;
  };
  std::map<std::vector<FieldHead>, const ClassRow *, Less> last_;
  decltype(last_)::iterator latest_ = last_.end();  ///< of the row before, whose shape the next one mostly has
};

/// Of rows of one field, as a stream keeps them.
size_t values_bytes(const std::vector<RowPointer> &values);

Bytes order_bytes(const grammar::Grammar &order);

/// The orders of some streams, of which equal ones are stored once.
class OrderBytes {
 public:
  [[nodiscard]] size_t cost(const Bytes &order) const { return known_.contains(order) ? 2 : order.size(); }
  void add(Bytes order) { known_.insert(std::move(order)); }

 private:
  std::set<Bytes> known_;
};

}  // namespace cairn::trace
