#include <algorithm>
#include <memory>
#include <utility>

#include "trace/pool_reader.h"
#include "trace/row_code.h"
#include "trace/row_counts.h"
#include "trace/sections.h"
#include "trace/site_atoms.h"

namespace cairn::trace {
namespace {

class Decoder {
 public:
  explicit Decoder(const std::vector<SectionView> &sections) : sections_(sections) {
    decoded_.body = std::make_unique<Part::Body>();
  }

  Result<Decoded> run() {
    const bool good =
        read(SectionKind::sites, true, &Decoder::sites) && read(SectionKind::callers, false, &Decoder::callers) &&
        read(SectionKind::grammars, true, &Decoder::grammars) && read(SectionKind::columns, true, &Decoder::columns) &&
        read_rows() && read(SectionKind::streams, false, &Decoder::streams) && check_moved() &&
        read(SectionKind::meta, true, &Decoder::meta) && read(SectionKind::order, false, &Decoder::order) &&
        read(SectionKind::timing, false, &Decoder::timing) && read(SectionKind::cost, false, &Decoder::cost) &&
        read(SectionKind::offsets, false, &Decoder::offsets);
    if (!good) return tl::unexpected(std::move(error_));
    for (ClassPart &part : body().classes) body().set_key(&part);
    return std::move(decoded_);
  }

 private:
  Part::Body &body() { return *decoded_.body; }

  [[nodiscard]] bool has(SectionKind kind) const {
    return std::any_of(sections_.begin(), sections_.end(),
                       [kind](const SectionView &section) { return section.kind == static_cast<uint8_t>(kind); });
  }

  bool read_rows() {
    old_rows_ = has(SectionKind::rows_1);
    return read(old_rows_ ? SectionKind::rows_1 : SectionKind::rows, true, &Decoder::rows);
  }

  bool read(SectionKind kind, bool required, bool (Decoder::*parse)(ByteReader &)) {
    const auto found = std::find_if(sections_.begin(), sections_.end(), [kind](const SectionView &section) {
      return section.kind == static_cast<uint8_t>(kind);
    });
    if (found == sections_.end()) {
      if (!required) return missing(kind);
      error_ = {
          ErrorKind::unreadable, "section '" + section_name(static_cast<uint8_t>(kind)) + "' is missing", {}, 0, {}};
      return false;
    }
    ByteReader in(found->bytes);
    what_ = "is malformed";
    if ((this->*parse)(in) && !in.failed() && in.at_end()) return true;
    error_ = section_error(*found, in.position(), what_);
    return false;
  }

  bool missing(SectionKind kind) {
    if (kind == SectionKind::offsets) body().offset = FoldColumn::constant(kNoBlock, body().ranks.size());
    if (kind != SectionKind::order) return true;
    for (ClassPart &part : body().classes) {
      part.order = ValuesColumn::constant({}, part.ranks.size());
      part.first_ticket = FoldColumn::constant(0, part.ranks.size());
    }
    return true;
  }

  bool bad(std::string what) {
    what_ = std::move(what);
    return false;
  }

  bool callers(ByteReader &in) {
    for (size_t i = 0; i < body().sites.size(); ++i) {
      const uint64_t caller = in.varint();
      // Below it in the list, so that no stack is endless.
      if (caller > i) return bad("has a caller that does not stand before its site");
      body().sites[i].caller = static_cast<uint32_t>(caller);
    }
    return true;
  }

  bool sites(ByteReader &in) {
    const size_t modules = in.count(2);
    for (size_t i = 0; i < modules && !in.failed(); ++i) {
      Module module;
      const ByteView id = in.blob();
      module.build_id.assign(id.begin(), id.end());
      module.path = in.text();
      body().modules.push_back(std::move(module));
    }
    const size_t sites = in.count();
    std::vector<uint64_t> last(modules);
    while (body().sites.size() < sites && !in.failed()) {
      const uint64_t module = in.varint();
      const uint64_t run = in.varint();
      if (module >= modules) return bad("refers to a module that does not exist");
      if (run == 0 || run > sites - body().sites.size()) return bad("has a run of sites that is too long");
      for (uint64_t i = 0; i < run && !in.failed(); ++i) {
        last[module] += static_cast<uint64_t>(in.signed_varint());
        body().sites.push_back({static_cast<uint32_t>(module), last[module], 0});
      }
    }
    has_maps_ = in.byte() != 0;
    if (!has_maps_) return true;
    body().module_maps = ValuesColumn::parse(in);
    for (const Bytes &map : body().module_maps.values()) {
      ByteReader numbers(map);
      while (!numbers.at_end() && !numbers.failed()) {
        if (numbers.varint() >= modules) return bad("maps to a module that does not exist");
      }
      if (numbers.failed()) return false;
    }
    return true;
  }

  bool grammars(ByteReader &in) {
    const size_t count = in.count();
    for (size_t i = 0; i < count && !in.failed(); ++i) {
      Result<grammar::Grammar> grammar = grammar::Grammar::parse(in);
      if (!grammar) return bad("is malformed: " + grammar.error().message);
      uint64_t symbols = 0;
      for (const grammar::Body &rule : grammar->rules()) {
        for (const grammar::Term &term : rule) {
          if (!term.is_rule) symbols = std::max<uint64_t>(symbols, uint64_t{term.id} + 1);
        }
      }
      grammars_.push_back(std::make_shared<const grammar::Grammar>(*std::move(grammar)));
      symbols_.push_back(symbols);
    }
    return true;
  }

  bool columns(ByteReader &in) { return pool_reader_.read(in) || bad(pool_reader_.what()); }

  bool rank_set(ByteReader &in, RankSet *out) {
    const uint64_t number = in.varint();
    if (in.failed()) return false;
    if (number >= pool_.columns.size()) return bad("refers to a column that does not exist");
    std::optional<RankSet> set = RankSet::of(*pool_.columns[number]);
    if (!set || set->empty()) return bad("has a set of ranks that are not ascending");
    *out = *std::move(set);
    return true;
  }

  bool add_row(RowPointer row, ClassPart *part) {
    if (row == nullptr) return false;
    if (row->site > part->sites.size()) return bad("has a row with a site that its class lacks");
    row = pool_reader_.with_ranks(std::move(row), part->ranks);
    if (row == nullptr) return bad("has columns from the ranks of too many");
    if (!has_columns_of(*row, part->ranks.size())) return bad("has a row whose column has the wrong length");
    part->rows.push_back(std::move(row));
    return true;
  }

  struct KnownRow {
    RowPointer row;
    uint32_t site;                 ///< as all classes name it
    std::vector<uint32_t> moving;  ///< atoms that move with the class's number of it
  };

  bool add_known_row(const KnownRow &known, const SitesOfClass &sites, size_t position, ClassPart *part) {
    if (old_rows_) return add_row(known.row, part);
    const std::optional<uint32_t> site = sites.number(known.site);
    if (!site) return bad("has a row with a site that its class lacks");
    if (*site == known.row->site) return add_row(known.row, part);
    // One large row in many classes would multiply.
    copied_atoms_ += known.row->atoms.size() + known.row->heads.size();
    if (copied_atoms_ > 1'000'000 + 1000 * static_cast<uint64_t>(position)) return bad("has too large rows");
    auto row = std::make_shared<ClassRow>(*known.row);
    const int64_t by = int64_t{*site} - int64_t{row->site};
    for (const uint32_t slot : known.moving) row->atoms[slot] = SiteAtoms::moved(row->atoms[slot], by);
    row->site = *site;
    return add_row(std::move(row), part);
  }

  bool class_rows(ByteReader &in, ClassPart *part) {
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
          RowPointer row = rows_reader_.read(in, part->sites, !old_rows_);
          if (row == nullptr) return bad(rows_reader_.what());
          known_rows_.push_back({row, site_in_trace(row->site, part->sites), rows_reader_.moving()});
          if (!add_row(std::move(row), part)) return false;
        } else {
          if (again == 0) {
            const uint64_t word = in.varint();
            if (old_rows_) {
              next_known = word;
            } else {
              next_known += static_cast<uint64_t>(unzigzag(word >> 1));
              if ((word & 1) != 0) again = in.varint() + 1;
            }
          } else {
            --again;
          }
          if (in.failed() || next_known >= known_rows_.size()) return bad("refers to a row that does not exist");
          // A run of two bytes can name many rows.
          if (++named_rows_ > 1'000'000 + 1000 * static_cast<uint64_t>(in.position())) return bad("has too many rows");
          if (!add_known_row(known_rows_[next_known++], sites, in.position(), part)) return false;
        }
      }
      if (again != 0) return bad("has a run of rows that is too long");
      fresh = !fresh;
    }
    return true;
  }

  bool site_list(ByteReader &in, ClassPart *part) {
    const size_t runs = in.count(2);
    for (size_t i = 0; i < runs && !in.failed(); ++i) {
      const uint64_t first = in.varint();
      const uint64_t length = in.varint();
      const uint64_t sites = body().sites.size();
      if (first >= sites || length > sites - first) return bad("has a class with a site that does not exist");
      listed_sites_ += length;
      if (listed_sites_ > 1'000'000 + 1000 * static_cast<uint64_t>(in.position())) return bad("has too many sites");
      for (uint64_t site = first; site < first + length; ++site) part->sites.push_back(static_cast<uint32_t>(site));
    }
    return !in.failed();
  }

  bool rows(ByteReader &in) {
    if (!rows_reader_.read_shapes(in)) return bad(rows_reader_.what());
    if (!rank_set(in, &body().ranks)) return false;
    const size_t classes = in.count(6);
    for (size_t i = 0; i < classes; ++i) {
      ClassPart part;
      const uint64_t thread = in.varint();
      const uint64_t segment = in.varint();
      const uint64_t grammar = in.varint();
      if (thread > UINT32_MAX || segment > UINT32_MAX) return bad("has a thread or segment out of range");
      if (in.failed() || grammar >= grammars_.size()) return bad("refers to a grammar that does not exist");
      part.thread = static_cast<uint32_t>(thread);
      part.segment = static_cast<uint32_t>(segment) - 1;
      part.calls = grammars_[grammar];
      pool_reader_.begin_class();
      if (!rank_set(in, &part.ranks) || !site_list(in, &part) || !class_rows(in, &part)) return false;
      if (symbols_[grammar] > part.rows.size()) return bad("has a class whose grammar names a row that does not exist");
      body().classes.push_back(std::move(part));
    }
    return true;
  }

  bool streams(ByteReader &in) {
    if (!stream_reader_.read_shapes(in)) return bad(stream_reader_.what());
    for (ClassPart &part : body().classes) {
      const size_t count = in.count(4);
      if (count == 0) continue;
      const RowGroups groups(part.rows);
      std::vector<uint64_t> calls(groups.count());
      const std::vector<uint64_t> multiplicities = part.calls->multiplicities();
      for (size_t row = 0; row < multiplicities.size(); ++row) calls[groups.of_row[row]] += multiplicities[row];
      for (size_t i = 0; i < count; ++i) {
        Stream stream;
        const uint64_t group = in.varint();
        const uint64_t field = in.varint();
        if (in.failed() || group >= groups.count() || field >= part.rows[groups.first_row[group]]->heads.size()) {
          return bad("has a stream of a field that does not exist");
        }
        stream.group = static_cast<uint32_t>(group);
        stream.field = static_cast<uint32_t>(field);
        if (!part.streams.empty() &&
            std::pair(part.streams.back().group, part.streams.back().field) >= std::pair(stream.group, stream.field)) {
          return bad("has streams out of order");
        }
        stream.variants.resize(in.count(2));
        if (stream.variants.empty()) return bad("has a stream without values");
        std::vector<const RankSet *> ranks;
        for (StreamVariant &variant : stream.variants) {
          if (stream.variants.size() == 1) {
            variant.ranks = part.ranks;
          } else if (!rank_set(in, &variant.ranks)) {
            return false;
          }
          ranks.push_back(&variant.ranks);
          if (!read_variant(in, calls[group], &variant)) return false;
          if (field == count_field(*part.rows[groups.first_row[group]]) && !are_counts(variant)) {
            return bad("has counts that are no numbers");
          }
        }
        if (ranks.size() > 1 && !is_partition(part.ranks, ranks))
          return bad("has a stream of other ranks than its class");
        part.streams.push_back(std::move(stream));
      }
    }
    return true;
  }

  bool read_variant(ByteReader &in, uint64_t calls, StreamVariant *variant) {
    const uint64_t word = in.varint();
    const uint64_t rows = in.varint();
    const uint64_t grammar = word >> 1;
    if (in.failed() || grammar >= grammars_.size()) return bad("refers to a grammar that does not exist");
    variant->differences = (word & 1) != 0;
    variant->order = grammars_[grammar];
    if (variant->order->length() != calls)
      return bad("has a stream with another number of values than there are calls");
    if (rows == 0) {
      const uint64_t number = in.varint();
      if (in.failed() || number >= pool_.columns.size()) return bad("refers to a column that does not exist");
      const FoldColumn &column = *pool_.columns[number];
      if (column.size() != symbols_[grammar]) return bad("has a stream with values that it does not use");
      for (const Atom atom : column.expand()) {
        auto row = std::make_shared<ClassRow>();
        row->heads.push_back({FieldHead::atoms, 1});
        row->atoms.push_back(atom);
        variant->values.push_back(std::move(row));
      }
    } else {
      if (rows != symbols_[grammar]) return bad("has a stream with values that it does not use");
      for (uint64_t i = 0; i < rows; ++i) {
        RowPointer row = stream_reader_.read(in, {}, true);
        if (row == nullptr) return bad(stream_reader_.what());
        if (row->heads.size() != 1 || row->heads[0].kind == FieldHead::moved)
          return bad("has a value of several fields");
        if (!has_columns_of(*row, variant->ranks.size())) return bad("has a value whose column has the wrong length");
        variant->values.push_back(std::move(row));
      }
    }
    variant->set_key();
    return true;
  }

  static bool are_counts(const StreamVariant &variant) {
    return !variant.differences && std::all_of(variant.values.begin(), variant.values.end(), [](const RowPointer &row) {
      return row->heads[0] == FieldHead{FieldHead::atoms, 1};
    });
  }

  static bool has_columns_of(const ClassRow &row, uint64_t members) {
    return std::all_of(row.varied.begin(), row.varied.end(),
                       [members](const VariedAtom &varied) { return varied.column->size() == members; }) &&
           std::all_of(row.tables.begin(), row.tables.end(),
                       [members](const TablePointer &table) { return table->size() == members; });
  }

  /// A field has a stream if and only if it has moved out of all rows of its group.
  bool check_moved() {
    for (const ClassPart &part : body().classes) {
      const RowGroups groups(part.rows);
      std::vector<std::vector<uint32_t>> moved(groups.count());
      for (const Stream &stream : part.streams) moved[stream.group].push_back(stream.field);
      for (size_t i = 0; i < part.rows.size(); ++i) {
        const std::vector<FieldHead> &heads = part.rows[i]->heads;
        std::vector<uint32_t> fields;
        for (uint32_t f = 0; f < heads.size(); ++f) {
          if (heads[f].kind == FieldHead::moved) fields.push_back(f);
        }
        if (fields == moved[groups.of_row[i]]) continue;
        error_ = {ErrorKind::unreadable,
                  "section 'streams' does not hold the fields that have moved out of the rows",
                  {},
                  0,
                  "the file is damaged: copy it again or record again"};
        return false;
      }
    }
    return true;
  }

  bool along(ByteReader &in, uint64_t size, FoldColumn *out) {
    *out = FoldColumn::parse(in, FoldColumn::Domain::atoms);
    if (in.failed()) return false;
    return out->size() == size || bad("has a column of the wrong length");
  }

  bool along(ByteReader &in, uint64_t size, ValuesColumn *out) {
    *out = ValuesColumn::parse(in);
    if (in.failed()) return false;
    return out->size() == size || bad("has a column of the wrong length");
  }

  bool meta(ByteReader &in) {
    RunInfo &run = decoded_.run;
    run.command = in.text();
    run.mpi = in.text();
    run.recorder = in.text();
    run.timing = in.text();
    run.status = in.text();
    run.start_unix_ns = in.signed_varint();
    run.wall_ns = in.varint();
    const uint64_t world = in.varint();
    const uint64_t size = in.varint();
    if (in.failed()) return false;
    if (world > UINT32_MAX || size > kMaxRanks) return bad("has a number of ranks that is too large");
    body().world = static_cast<uint32_t>(world);
    body().size = static_cast<uint32_t>(size);
    const uint64_t ranks = body().ranks.size();
    if (body().ranks.back() >= size) return bad("has a rank outside its world");
    if (!along(in, ranks, &body().hosts) || !along(in, ranks, &body().degraded) ||
        !along(in, ranks, &body().complete) || !along(in, ranks, &body().wall_ns) ||
        !along(in, ranks, &body().mpi_ns) || !along(in, ranks, &body().peak_memory)) {
      return false;
    }
    if (!has_maps_) body().module_maps = ValuesColumn::constant({}, ranks);
    if (body().module_maps.size() != ranks) return bad("and section 'sites' disagree on the number of ranks");
    return std::all_of(body().classes.begin(), body().classes.end(),
                       [&](ClassPart &part) { return along(in, part.ranks.size(), &part.begin_ns); });
  }

  bool order(ByteReader &in) {
    for (ClassPart &part : body().classes) {
      part.order = ValuesColumn::constant({}, part.ranks.size());
      part.first_ticket = FoldColumn::constant(0, part.ranks.size());
      if (in.byte() == 0) continue;
      if (!along(in, part.ranks.size(), &part.order) || !along(in, part.ranks.size(), &part.first_ticket)) return false;
      for (const Bytes &value : part.order.values()) {
        if (value.empty()) continue;
        ByteReader bytes(value);
        const Result<grammar::Grammar> grammar = grammar::Grammar::parse(bytes);
        if (!grammar || !bytes.at_end()) return bad("has a malformed grammar");
        // Where polls are counted, members differ in how many calls they made: `verify` looks at each.
        if (!has_counted_rows(part) && grammar->length() != part.calls->length())
          return bad("orders another number of calls than there are");
      }
    }
    return true;
  }

  bool read_stats(ByteReader &in, bool blocks, ClassPart *part) {
    std::vector<uint64_t> calls = part->calls->multiplicities();
    calls.resize(part->rows.size());
    part->stats.resize(blocks ? in.count(3) : 1);
    std::vector<const RankSet *> ranks;
    for (StatsBlock &block : part->stats) {
      size_t slots = 0;
      if (blocks) {
        if (!rank_set(in, &block.ranks)) return false;
        slots = in.count();
        for (size_t i = 0; i < slots && !in.failed(); ++i) {
          std::vector<uint32_t> &rows = block.rows.emplace_back(in.count());
          uint64_t next = 0;
          for (uint32_t &row : rows) {
            next += in.varint();
            if (next >= part->rows.size()) return bad("has statistics of a row that does not exist");
            row = static_cast<uint32_t>(next++);
          }
        }
      } else {
        block.ranks = part->ranks;
      }
      if (slots == 0) slots = part->rows.size();
      for (size_t slot = 0; slot < slots && !in.failed(); ++slot) {
        block.slots.push_back(RankStats::parse(in, block.calls_of(slot, calls)));
      }
      if (in.failed()) return false;
      ranks.push_back(&block.ranks);
    }
    return (blocks ? is_partition(part->ranks, ranks) : true) || bad("has statistics of other ranks than its class");
  }

  bool timing(ByteReader &in) {
    for (ClassPart &part : body().classes) {
      const uint8_t what = in.byte();
      if (in.failed() || what > 6 || (what & 5) == 5) return bad("is malformed");
      if ((what & 5) != 0 && !read_stats(in, (what & 4) != 0, &part)) return false;
      if ((what & 2) == 0) continue;
      const size_t blobs = in.count(2);
      uint64_t next = 0;
      for (size_t i = 0; i < blobs && !in.failed(); ++i) {
        next += in.varint();
        const ByteView bytes = in.blob();
        if (next > UINT32_MAX || !part.ranks.index_of(static_cast<uint32_t>(next))) {
          return bad("has times of a rank that its class lacks");
        }
        part.lossless.emplace_back(static_cast<uint32_t>(next), Bytes(bytes.begin(), bytes.end()));
        ++next;
      }
    }
    return true;
  }

  /// Where they lead is looked at when a block is read.
  bool offsets(ByteReader &in) { return along(in, body().ranks.size(), &body().offset); }

  bool cost(ByteReader &in) {
    MergeCost &merge = decoded_.run.merge;
    merge.ranks = in.varint();
    merge.sum_ns = in.varint();
    merge.most_ns = in.varint();
    if (in.failed()) return false;
    const bool possible = merge.ranks != 0 && merge.ranks <= kMaxRanks && merge.most_ns <= merge.sum_ns &&
                          merge.sum_ns / merge.ranks <= merge.most_ns;
    return possible || bad("has times that contradict each other");
  }

  const std::vector<SectionView> &sections_;
  Decoded decoded_;
  Error error_;
  std::string what_;
  bool has_maps_ = false;
  std::vector<GrammarPointer> grammars_;
  std::vector<uint64_t> symbols_;  ///< of each grammar: largest + 1
  Pool pool_;
  PoolReader pool_reader_{pool_};
  RowReader rows_reader_{pool_};
  RowReader stream_reader_{pool_};
  std::vector<KnownRow> known_rows_;
  uint64_t listed_sites_ = 0;
  uint64_t named_rows_ = 0;
  uint64_t copied_atoms_ = 0;
  bool old_rows_ = false;  ///< of version 1
};

}  // namespace

Error section_error(const SectionView &section, size_t position, const std::string &what) {
  Error error;
  error.kind = ErrorKind::unreadable;
  error.message = "section '" + section_name(section.kind) + "' " + what;
  error.offset = section.offset;
  if (section.compressed) {
    error.message += " (byte " + std::to_string(position) + " of its decoded content)";
  } else {
    error.offset += position;
  }
  error.hint = "the file is damaged: copy it again or record again";
  return error;
}

Result<Decoded> decode(const std::vector<SectionView> &sections) { return Decoder(sections).run(); }

}  // namespace cairn::trace
