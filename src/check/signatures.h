// Signatures: of which basic datatypes a message consists, one after the other, whatever lies between them in memory
// (MPI 4.1, 5.1 and 3.3.1): the type signature. Two sides of a message must have the same, as far as the shorter one
// goes; MPI_PACKED matches anything, and MPI_BYTE only itself.
//
// Example: 2 of a struct of an MPI_INT and 3 MPI_DOUBLE is a stretch: the signature {1 MPI_INT, 3 MPI_DOUBLE}, twice.
// Plain values; a table of signatures is one thread's. A derived type of more than kMostRuns runs that is no repetition
// of a shorter one is not known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/row_access.h"

namespace cairn::check {

/// So many of one basic type. `type`: a constant's id in spec/; those that are two names of one type have one.
struct Run {
  uint16_t type = 0;
  uint64_t count = 0;
  auto operator<=>(const Run &) const = default;
};

/// No two runs beside each other have one type; none is empty.
struct Signature {
  std::vector<Run> runs;
  uint64_t elements = 0;
  uint64_t bytes = 0;
};

/// A signature, several times. Signatures of one table are equal if their addresses are.
struct Stretch {
  const Signature *signature = nullptr;
  uint64_t times = 0;
  [[nodiscard]] uint64_t elements() const { return signature->elements * times; }
  [[nodiscard]] uint64_t bytes() const { return signature->bytes * times; }
  /// "3 MPI_INT", "2 x {1 MPI_INT, 3 MPI_DOUBLE}".
  [[nodiscard]] std::string text() const;
};

enum class Match : uint8_t {
  same,
  shorter,  ///< the first is a beginning of the second
  longer,   ///< the other way round
  differs,
  unknown,  ///< one is packed, or a look at all of it would take too long
};
Match match(const Stretch &first, const Stretch &second);

class Signatures {
 public:
  static constexpr size_t kMostRuns = 4096;
  const Signature *of(std::vector<Run> runs);
  /// Of a predefined type, by its id in spec/; nullopt: it has none.
  std::optional<Stretch> predefined(int constant);

 private:
  std::map<std::vector<Run>, std::unique_ptr<Signature>> all_;
};

/// What the datatypes of one rank are, as its calls have said so far.
class RankTypes {
 public:
  explicit RankTypes(Signatures *table) : table_(table) {}
  /// The rank's next call. Whether a name means something else from now on than it did.
  bool see(const trace::Row &row, const analyze::RowScope &scope);
  /// nullopt: not known.
  [[nodiscard]] std::optional<Stretch> of(const analyze::HandleName &type) const;
  [[nodiscard]] std::optional<Stretch> of(const analyze::HandleName &type, int64_t count) const;

 private:
  [[nodiscard]] std::optional<Stretch> made(const analyze::RowAccess &row) const;
  Signatures *table_;
  std::map<analyze::HandleName, std::optional<Stretch>> derived_;
};

}  // namespace cairn::check
