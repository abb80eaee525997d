// FoldColumn: one value for each member of a set of ranks, in rank order, as nested runs.
//
// The column is a sequence of tokens: an ordinary atom is the difference from the last ordinary atom before it, a
// special is itself and leaves "the last ordinary atom" alone. Terms are (token or interned body, count). The first
// ordinary atom stands for itself, so a constant column is one atom and one run, and so is 0, 1, 2, ….
//
// Two columns concatenate in time proportional to the right one's terms: its terms are appended and folded at the
// seam. The last term stays open (its count may still grow) and takes no part in folds. A tail equal to the body of
// the loop before it raises that loop's count; a repeated tail becomes a loop; an incoming loop is tried unrolled, up
// to six copies, so that it can join a loop that is out of phase with it. What a column holds never depends on
// how it was put together; its terms may. Sequitur in its place keeps seams: 4 → 15 nodes on a
// transposed exchange, 7 → 423 on a butterfly.
//
// Columns with more than 256 terms and a quarter of their values are kept as varints with an index every 64. In a file
// the values of an irregular column may take as many bytes each.
//
// What comes again at a distance but for a shift (the skewed rows of a multipartition, of Cannon's algorithm) would
// take some terms a row. Where that pays, a column is kept *lagged*: the first `lag` values, then differences from the
// value `lag` before, as a fold column. Appending to a lagged one goes once through its values.
//
// In the domain `symbols`, values are numbers that mean nothing arithmetically (indices of a table): all tokens
// stand for themselves and can be renamed without expanding.
//
// Plain value; concurrent const use is fine. `at` is O(depth · log terms) on a parsed column, size / lag times that
// on a lagged one.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/boxed.h"
#include "base/bytes.h"
#include "trace/values/atom.h"

namespace cairn::trace {

/// The most members that anything along ranks may have.
constexpr uint64_t kMaxRanks = uint64_t{1} << 24;
/// The greatest distance at which a column may be kept as differences, and how often it may fit into the column.
constexpr uint64_t kLongestLag = uint64_t{1} << 16;
constexpr uint64_t kMostLags = 4096;

class FoldColumn {
 public:
  enum class Domain : uint8_t { atoms, symbols };

  explicit FoldColumn(Domain domain = Domain::atoms) : domain_(domain) {}
  static FoldColumn constant(Atom value, uint64_t count, Domain domain = Domain::atoms);

  /// Room for so many terms, where about as many will come.
  void reserve(size_t terms) { terms_.reserve(terms); }
  void append(Atom value, uint64_t count = 1);
  void append(const FoldColumn &right);

  [[nodiscard]] uint64_t size() const { return length_; }
  [[nodiscard]] Domain domain() const { return domain_; }
  /// The value at `index`, which must be below size().
  [[nodiscard]] Atom at(uint64_t index) const;
  [[nodiscard]] std::vector<Atom> expand() const;
  /// The values as runs of equal ones, (value, how many); nothing if they are more than `most`. Proportional to them
  /// and to the terms.
  [[nodiscard]] std::optional<std::vector<std::pair<Atom, uint64_t>>> runs(size_t most) const;
  /// Value if it is the same everywhere; costs O(1), and may miss a constant column that was built oddly.
  [[nodiscard]] std::optional<Atom> constant_value() const;
  /// The same terms. Columns of equal values may have others.
  [[nodiscard]] bool same(const FoldColumn &other) const;
  /// Ordinary atoms only, from 0, each greater than the one before, none above `limit`.
  [[nodiscard]] bool ascending_up_to(uint64_t limit) const;
  [[nodiscard]] size_t top_terms() const { return terms_.size(); }
  /// Top-level terms and terms of bodies in use: what the column costs.
  [[nodiscard]] size_t terms() const;
  /// About what it takes of memory. Proportional to its bodies.
  [[nodiscard]] size_t bytes() const;
  [[nodiscard]] bool irregular() const { return static_cast<bool>(raw_); }
  /// The distance at which values are kept as differences. 0: not so.
  [[nodiscard]] uint64_t lag() const;

  /// Domain `symbols` only: every value v becomes to[v]. `to` must be injective on the values that occur.
  void rename(const std::vector<uint32_t> &to);
  /// Domain `symbols` only: all values are below `count`.
  [[nodiscard]] bool symbols_below(uint64_t count) const;

  void write(ByteWriter &out) const;
  /// In whichever form takes fewer bytes. Not for a column that will be appended to: what was written as plain values
  /// is never folded again.
  void write_smallest(ByteWriter &out) const;
  /// `in` fails on malformed bytes and on more than `limit` values.
  static FoldColumn parse(ByteReader &in, Domain domain, uint64_t limit = kMaxRanks);
  /// The column of these values as it is kept where they are irregular: nothing is folded.
  static FoldColumn irregular_of(const std::vector<Atom> &values);

  /// Reads the values in order, amortised O(1) each.
  class Cursor {
   public:
    explicit Cursor(const FoldColumn &column);
    /// Call at most size() times.
    Atom next();

   private:
    Atom next_folded();
    const FoldColumn &column_;  ///< of a lagged column its differences
    struct Position {
      const void *terms;  // const std::vector<Term> *
      size_t term = 0;
      uint64_t done = 0;  // copies of a loop begun, or values of a run given
    };
    std::vector<Position> stack_;
    uint64_t last_ = 0;
    size_t raw_position_ = 0;
    std::vector<uint64_t> before_;  ///< the last values, where they are lagged: as many as the lag
    size_t oldest_ = 0;
  };

 private:
  struct Term {
    enum Kind : uint8_t { delta, symbol, first, loop };
    Term() = default;
    Term(Kind of, int64_t what, uint64_t times) : value(what), count(static_cast<uint32_t>(times)), kind(of) {}
    int64_t value = 0;   ///< difference, code of a special or symbol, first value, or number of a body
    uint32_t count = 1;  ///< at most kMaxRanks; a trace may have millions of terms
    Kind kind = delta;
    bool same_token(const Term &other) const { return kind == other.kind && value == other.value; }
    bool operator==(const Term &other) const = default;
  };
  /// Of many terms that were parsed: where each begins, and the sum of the differences before it.
  struct Index {
    std::vector<uint64_t> starts;
    std::vector<uint64_t> sums;
    void add(uint64_t start, uint64_t sum) {
      starts.push_back(start);
      sums.push_back(sum);
    }
  };
  struct Raw {
    static constexpr uint64_t kIndexEvery = 64;
    Bytes values;                 ///< a varint each
    std::vector<uint32_t> index;  ///< where every kIndexEvery-th begins, without the first
  };
  struct Body {
    std::vector<Term> terms;
    uint64_t length = 0;  ///< tokens in one copy
    uint64_t sum = 0;     ///< of its differences, modulo 2^64
    uint64_t hash = 0;
    bool moves = false;  ///< holds a difference
    bool operator==(const Body &other) const { return terms == other.terms; }
    Boxed<Index> index;
  };

  /// What holds between calls: a column is kept in one form, loops refer to bodies before them, and the terms are as
  /// many values as its length says. For `assert`.
  [[nodiscard]] bool is_sound() const;
  [[nodiscard]] uint64_t token_length(const Term &term) const;
  [[nodiscard]] uint64_t token_sum(const Term &term) const;
  [[nodiscard]] Atom value_of(const Term &symbol) const;
  uint32_t intern(std::vector<Term> terms);
  [[nodiscard]] uint32_t number_of(const Body &body) const;
  std::vector<uint32_t> intern_bodies(const FoldColumn &right);
  void describe(Body *body) const;
  void push(const Term &term, bool unroll);
  void push_loop(const Term &term);
  bool unroll(const Term &term);
  void fold_tail();
  void drop_unused_bodies();
  [[nodiscard]] std::vector<uint32_t> body_use() const;
  void give_up_if_irregular();
  void make_raw();
  void append_raw(Atom value);
  void index_terms();
  bool parse_terms(ByteReader &in, size_t bodies, bool top, uint64_t limit, std::vector<Term> *out);
  static FoldColumn parse_folded(ByteReader &in, Domain domain, uint64_t head, uint64_t limit);
  static FoldColumn parse_lagged(ByteReader &in, uint64_t limit);

  struct Lagged;
  void push_value(Atom value, uint64_t count);
  [[nodiscard]] bool has_specials() const;
  [[nodiscard]] uint64_t likely_lag() const;
  void lag_if_it_pays();
  bool append_lagged(const FoldColumn &right);
  void append_all_but(uint64_t skip, const FoldColumn &right);
  void push_all_but(uint64_t *skip, const FoldColumn &right, const std::vector<Term> &terms,
                    const std::vector<uint32_t> &number);
  [[nodiscard]] FoldColumn unlagged() const;
  [[nodiscard]] Atom at_lagged(uint64_t index) const;
  static void write_term(const Term &term, const std::vector<uint32_t> &numbers, ByteWriter &out);

  Domain domain_;
  bool has_first_ = false;
  uint32_t bodies_kept_ = 0;  ///< after the last clean-up
  uint64_t length_ = 0;
  uint64_t last_ = 0;  ///< the last ordinary value
  std::vector<Term> terms_;
  std::vector<Body> bodies_;  ///< loops in bodies refer to lower numbers
  Boxed<Index> index_;        ///< of terms_
  Boxed<Raw> raw_;            ///< the values, if irregular; then there are no terms
  Boxed<Lagged> lagged_;      ///< the values, if lagged; then there are no terms
};

/// Ordinary values only. `differences` is folded: neither irregular nor lagged.
struct FoldColumn::Lagged {
  uint64_t lag = 0;  ///< less than the number of values
  FoldColumn differences;
};

inline uint64_t FoldColumn::lag() const { return lagged_ ? lagged_->lag : 0; }

}  // namespace cairn::trace
