#include "trace/code/class_reader.h"

#include <algorithm>
#include <utility>

#include "base/as_size.h"
#include "trace/code/site_atoms.h"
#include "trace/model/class_checks.h"
#include "trace/model/class_heap.h"
#include "trace/model/row_counts.h"
#include "trace/values/bounds.h"

namespace cairn::trace {
bool ClassReader::bad(std::string what) {
  what_ = std::move(what);
  return false;
}

bool ClassReader::grammars(ByteReader &in) {
  const size_t count = in.count();
  if (!in.take(count, sizeof(GrammarPointer) + sizeof symbols_[0])) return false;
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    Result<grammar::Grammar> grammar = grammar::Grammar::parse(in);
    if (!grammar) return bad("is malformed: " + grammar.error().message);
    symbols_.push_back(symbols_of(*grammar));
    grammars_.push_back(std::make_shared<const grammar::Grammar>(*std::move(grammar)));
  }
  return true;
}

bool ClassReader::grammar(ByteReader &in, ClassPart *part) {
  const uint64_t number = in.varint();
  if (in.failed() || number >= grammars_.size()) return bad("refers to a grammar that does not exist");
  part->calls = grammars_[as_size(number)];
  symbols_of_calls_ = symbols_[as_size(number)];
  return true;
}

bool ClassReader::columns(ByteReader &in) { return pool_reader_.read(in) || bad(pool_reader_.what()); }

bool ClassReader::row_shapes(ByteReader &in) { return rows_reader_.read_shapes(in) || bad(rows_reader_.what()); }

bool ClassReader::stream_shapes(ByteReader &in) { return stream_reader_.read_shapes(in) || bad(stream_reader_.what()); }

bool ClassReader::rank_set(ByteReader &in, RankSet *out) {
  const uint64_t number = in.varint();
  if (in.failed()) return false;
  if (number >= pool_.columns.size()) return bad("refers to a column that does not exist");
  if (!in.take(pool_.columns[as_size(number)]->bytes())) return false;
  std::optional<RankSet> set = RankSet::of(*pool_.columns[as_size(number)]);
  if (!set || set->empty()) return bad("has a set of ranks that are not ascending");
  *out = *std::move(set);
  return true;
}

bool ClassReader::add_row(RowPointer row, ByteReader *in, ClassPart *part) {
  if (row == nullptr) return false;
  if (row->site > part->sites.size()) return bad("has a row with a site that its class lacks");
  row = pool_reader_.with_ranks(std::move(row), part->ranks, in);
  if (row == nullptr) return bad("has columns from the ranks of too many");
  if (!has_columns_of(*row, part->ranks.size())) return bad("has a row whose column has the wrong length");
  part->rows.push_back(std::move(row));
  return in->take(2 * sizeof(RowPointer));  // in a vector that grows
}

bool ClassReader::add_known_row(const KnownRow &known, const SitesOfClass &sites, ByteReader *in, ClassPart *part) {
  const std::optional<uint32_t> site = sites.number(known.site);
  if (!site) return bad("has a row with a site that its class lacks");
  if (*site == known.row->site) return add_row(known.row, in, part);
  // One large row in many classes would multiply.
  if (!copied_atoms_.add(known.row->atoms.size() + known.row->heads.size(), in->position())) {
    return bad("has too large rows");
  }
  if (!in->take(known.row->bytes())) return false;
  auto row = std::make_shared<ClassRow>(*known.row);
  const int64_t by = int64_t{*site} - int64_t{row->site};
  for (const uint32_t slot : known.moving) row->atoms[slot] = SiteAtoms::moved(row->atoms[slot], by);
  row->site = *site;
  return add_row(std::move(row), in, part);
}

bool ClassReader::rows(ByteReader &in, ClassPart *part) {
  pool_reader_.begin_class();
  const SitesOfClass sites(part->sites);
  const uint64_t count = in.varint();
  bool fresh = true;
  uint64_t next_known = 0;
  while (part->rows.size() < count) {
    uint64_t again = 0;  // of the run of successive numbers
    uint64_t run = in.varint();
    if (in.failed() || run > count - part->rows.size() || (fresh && run > in.remaining())) {
      return bad("has a class whose rows are cut short");
    }
    if (run == 0 && (!fresh || !part->rows.empty())) return bad("has an empty run of rows");
    for (; run > 0; --run) {
      if (fresh) {
        RowPointer row = rows_reader_.read(in, part->sites);
        if (row == nullptr) return bad(rows_reader_.what());
        in.take(2 * sizeof(KnownRow) + rows_reader_.moving().size() * sizeof(uint32_t));
        known_rows_.push_back({row, site_in_trace(row->site, part->sites), rows_reader_.moving()});
        if (!add_row(std::move(row), &in, part)) return false;
      } else {
        if (again == 0) {
          const uint64_t word = in.varint();
          next_known += static_cast<uint64_t>(unzigzag(word >> 1));
          if ((word & 1) != 0) again = in.varint() + 1;
        } else {
          --again;
        }
        if (in.failed() || next_known >= known_rows_.size()) return bad("refers to a row that does not exist");
        // A run of two bytes can name many rows.
        if (++named_rows_ > most_after(in.position())) return bad("has too many rows");
        if (!add_known_row(known_rows_[as_size(next_known++)], sites, &in, part)) return false;
      }
    }
    if (again != 0) return bad("has a run of rows that is too long");
    fresh = !fresh;
  }
  if (symbols_of_calls_ > part->rows.size()) {
    return bad("has a class whose grammar names a row that does not exist");
  }
  return true;
}

bool ClassReader::streams(ByteReader &in, ClassPart *part) {
  const size_t count = in.count(4);
  if (count == 0) return true;
  const StreamCheck check(*part);
  for (size_t i = 0; i < count; ++i) {
    if (!in.take(2 * sizeof(Stream))) return false;
    Stream stream;
    const uint64_t group = in.varint();
    const uint64_t field = in.varint();
    if (in.failed() || group > UINT32_MAX || field > UINT32_MAX) {
      return bad("has a stream of a field that does not exist");
    }
    stream.group = static_cast<uint32_t>(group);
    stream.field = static_cast<uint32_t>(field);
    const size_t variants = in.count(2);
    if (!in.take(variants, sizeof(StreamVariant))) return false;
    stream.variants.resize(variants);
    for (StreamVariant &variant : stream.variants) {
      if (stream.variants.size() == 1) {
        variant.ranks = part->ranks;
      } else if (!rank_set(in, &variant.ranks)) {
        return false;
      }
      if (!read_variant(in, &variant)) return false;
    }
    const char *wrong = check.wrong(stream, part->streams.empty() ? nullptr : &part->streams.back());
    if (wrong != nullptr) return bad(wrong);
    part->streams.push_back(std::move(stream));
  }
  return true;
}

bool ClassReader::read_variant(ByteReader &in, StreamVariant *variant) {
  const uint64_t word = in.varint();
  const uint64_t rows = in.varint();
  const uint64_t grammar = word >> 1;
  if (in.failed() || grammar >= grammars_.size()) return bad("refers to a grammar that does not exist");
  variant->differences = (word & 1) != 0;
  variant->order = grammars_[as_size(grammar)];
  if (rows == 0) {
    const uint64_t number = in.varint();
    if (in.failed() || number >= pool_.columns.size()) return bad("refers to a column that does not exist");
    const FoldColumn &column = *pool_.columns[as_size(number)];
    if (column.size() != symbols_[as_size(grammar)]) return bad("has a stream with values that it does not use");
    if (!in.take(column.size(), sizeof(Atom) + sizeof(RowPointer))) return false;
    variant->values.reserve(as_size(column.size()));
    for (const Atom atom : column.expand()) {
      variant->values.push_back(stream_reader_.value(atom, &in));
      if (variant->values.back() == nullptr) return false;
    }
  } else {
    if (rows != symbols_[as_size(grammar)]) return bad("has a stream with values that it does not use");
    if (!read_values(in, rows, &stream_reader_, &variant->values)) return false;
  }
  return true;
}

bool ClassReader::read_values(ByteReader &in, uint64_t count, RowReader *reader, std::vector<RowPointer> *out) {
  for (uint64_t i = 0; i < count; ++i) {
    RowPointer row = reader->read_value(in);
    if (row == nullptr) return bad(reader->what());
    in.take(2 * sizeof(RowPointer));
    out->push_back(std::move(row));
  }
  return reader->at_end_of_values() || bad("has values that are not used");
}

bool ClassReader::heap_shapes(ByteReader &in) { return heap_reader_.read_shapes(in) || bad(heap_reader_.what()); }

bool ClassReader::heap(ByteReader &in, ClassPart *part) {
  static const auto kNothing = std::make_shared<const grammar::Grammar>();
  const size_t count = in.count();
  if (!in.take(count, sizeof(StreamVariant))) return false;
  part->heap = {kHeapGroup, 0, {}};
  part->heap.variants.resize(count);
  for (StreamVariant &variant : part->heap.variants) {
    if (count == 1) {
      variant.ranks = part->ranks;
    } else if (!rank_set(in, &variant.ranks)) {
      return false;
    }
    const uint64_t values = in.varint();
    if (!read_values(in, values, &heap_reader_, &variant.values)) return false;
    const uint64_t grammar = values == 0 ? 0 : in.varint();
    if (in.failed() || (values != 0 && grammar >= grammars_.size()))
      return bad("refers to a grammar that does not exist");
    variant.order = values == 0 ? kNothing : grammars_[as_size(grammar)];
  }
  const char *wrong = what_is_wrong_with_heap(*part);
  return wrong == nullptr || bad(wrong);
}

bool ClassReader::begin(ByteReader &in, ClassPart *part) {
  part->begin_ns = FoldColumn::parse(in, FoldColumn::Domain::atoms);
  if (in.failed()) return false;
  return part->begin_ns.size() == part->ranks.size() || bad("has a column of the wrong length");
}

void ClassReader::no_order(ClassPart *part) {
  part->order = ValuesColumn::constant({}, part->ranks.size());
  part->first_ticket = FoldColumn::constant(0, part->ranks.size());
}

bool ClassReader::order(ByteReader &in, ClassPart *part) {
  no_order(part);
  if (in.byte() == 0) return true;
  part->order = ValuesColumn::parse(in);
  part->first_ticket = FoldColumn::parse(in, FoldColumn::Domain::atoms);
  if (in.failed()) return false;
  if (part->order.size() != part->ranks.size() || part->first_ticket.size() != part->ranks.size()) {
    return bad("has a column of the wrong length");
  }
  for (const Bytes &value : part->order.values()) {
    if (value.empty()) continue;
    ByteReader bytes(value, in.allowance());
    const Result<grammar::Grammar> grammar = grammar::Grammar::parse(bytes);
    if (!grammar || !bytes.at_end()) return bad("has a malformed grammar");
    // Where polls are counted, members differ in how many calls they made: `verify` looks at each.
    if (!has_counted_rows(*part) && grammar->length() != part->calls->length()) {
      return bad("orders another number of calls than there are");
    }
  }
  return true;
}

bool ClassReader::stats(ByteReader &in, bool blocks, ClassPart *part) {
  std::vector<uint64_t> calls = part->calls->multiplicities();
  calls.resize(part->rows.size());
  const size_t count = blocks ? in.count(3) : 1;
  if (!in.take(count, sizeof(StatsBlock))) return false;
  part->stats.resize(count);
  std::vector<const RankSet *> ranks;
  for (StatsBlock &block : part->stats) {
    size_t slots = 0;
    if (blocks) {
      if (!rank_set(in, &block.ranks)) return false;
      slots = in.count();
      for (size_t i = 0; i < slots && !in.failed(); ++i) {
        if (!in.take(2 * sizeof(size_t))) return false;
        if (!block.rows.read(in, part->rows.size())) return bad("has statistics of a row that does not exist");
      }
    } else {
      block.ranks = part->ranks;
    }
    if (slots == 0) slots = part->rows.size();
    if (!in.take(slots, sizeof(timing::RankStats))) return false;
    block.slots.reserve(slots);
    for (size_t slot = 0; slot < slots && !in.failed(); ++slot) {
      block.slots.push_back(timing::RankStats::parse(in, block.calls_of(slot, calls)));
    }
    if (in.failed()) return false;
    ranks.push_back(&block.ranks);
  }
  return (blocks ? is_partition(part->ranks, ranks) : true) || bad("has statistics of other ranks than its class");
}

bool ClassReader::timing(ByteReader &in, ClassPart *part) {
  const uint8_t what = in.byte();
  if (in.failed() || what > 6 || (what & 5) == 5) return bad("is malformed");
  if ((what & 5) != 0 && !stats(in, (what & 4) != 0, part)) return false;
  return (what & 2) == 0 || times(in, part);
}

bool ClassReader::damaged_times(ByteReader &in, const std::vector<std::vector<uint32_t>> &may_have, ClassHead *part) {
  constexpr uint8_t kTimes = 2;
  const uint8_t what = in.byte();
  if (in.failed() || (what != 0 && what != kTimes)) return false;
  const size_t count = what == 0 ? 0 : in.count(2);
  const auto ranks = std::find_if(may_have.begin(), may_have.end(),
                                  [&](const auto &each) { return !in.failed() && each.size() == count; });
  if (ranks == may_have.end()) return false;
  uint32_t next = 0;
  for (const uint32_t rank : *ranks) {
    const uint64_t skipped = in.varint();
    const ByteView stream = in.blob();
    if (in.failed() || skipped != rank - next || !in.take(stream.size() + sizeof(timing::TimesOfRank))) return false;
    part->times.push_back({rank, Bytes(stream.begin(), stream.end())});
    next = rank + 1;
  }
  return true;
}

bool ClassReader::times(ByteReader &in, ClassHead *part) {
  part->times = timing::parse_rank_times(in);
  if (in.failed()) return false;
  const bool all_here = std::all_of(part->times.begin(), part->times.end(), [&](const timing::TimesOfRank &each) {
    return part->ranks.index_of(each.rank).has_value();
  });
  return all_here || bad("has times of a rank that its class lacks");
}

}  // namespace cairn::trace
