#include <algorithm>
#include <memory>
#include <utility>

#include "trace/atom_code.h"
#include "trace/sections.h"

namespace cairn::trace {
namespace {

/// A shape as it was read: the bits say which codes of a field of atoms are columns.
struct Shape {
  struct Head {
    FieldHead field;
    Bytes columns;
  };
  uint32_t function = 0;
  uint32_t depth = 0;
  std::vector<Head> heads;
  uint64_t codes = 0;
  std::vector<uint64_t> last;
};

bool bit(ByteView mask, uint64_t i) { return !mask.empty() && (mask[i / 8] >> (i % 8) & 1) != 0; }

class Decoder {
 public:
  explicit Decoder(const std::vector<SectionView> &sections) : sections_(sections) {
    decoded_.body = std::make_unique<Part::Body>();
  }

  Result<Decoded> run() {
    const bool good =
        read(SectionKind::sites, true, &Decoder::sites) && read(SectionKind::grammars, true, &Decoder::grammars) &&
        read(SectionKind::columns, true, &Decoder::columns) && read(SectionKind::rows, true, &Decoder::rows) &&
        read(SectionKind::meta, true, &Decoder::meta) && read(SectionKind::order, false, &Decoder::order) &&
        read(SectionKind::timing, false, &Decoder::timing) && read(SectionKind::cost, false, &Decoder::cost);
    if (!good) return tl::unexpected(std::move(error_));
    for (ClassPart &part : body().classes) body().set_key(&part);
    return std::move(decoded_);
  }

 private:
  Part::Body &body() { return *decoded_.body; }

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
        body().sites.push_back({static_cast<uint32_t>(module), last[module]});
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

  bool columns(ByteReader &in) {
    values_.resize(in.count());
    for (Bytes &value : values_) {
      const ByteView bytes = in.blob();
      value.assign(bytes.begin(), bytes.end());
    }
    const size_t folds = in.count(2);
    for (size_t i = 0; i < folds && !in.failed(); ++i) {
      columns_.push_back(std::make_shared<const FoldColumn>(FoldColumn::parse(in, FoldColumn::Domain::atoms)));
    }
    const size_t tables = in.count(3);
    for (size_t i = 0; i < tables && !in.failed(); ++i) {
      std::vector<Bytes> values;
      const size_t count = in.count();
      uint64_t size = 0;
      for (size_t v = 0; v < count && !in.failed(); ++v) {
        const uint64_t number = in.varint();
        if (number >= values_.size()) return bad("refers to a value that does not exist");
        size += values_[number].size();
        // Distinct values: a table is never larger than all of them.
        if (size > values_bytes()) return bad("has a table with a value twice");
        values.push_back(values_[number]);
      }
      FoldColumn index = FoldColumn::parse(in, FoldColumn::Domain::symbols);
      auto table = std::make_shared<ValuesColumn>();
      if (in.failed()) return false;
      if (!ValuesColumn::of(std::move(values), std::move(index), table.get())) return bad("has a malformed table");
      for (const Bytes &value : table->values()) {
        ByteReader field(value);
        unpack_field(field);
        if (field.failed() || !field.at_end()) return bad("has a malformed value");
      }
      // Tables of large values that many tables repeat could multiply.
      table_bytes_ += size;
      if (table_bytes_ > 1'000'000 + 1000 * static_cast<uint64_t>(in.position())) return bad("has too large tables");
      tables_.push_back(std::move(table));
    }
    return true;
  }

  uint64_t values_bytes() {
    if (values_bytes_ == 0) {
      for (const Bytes &value : values_) values_bytes_ += value.size();
    }
    return values_bytes_;
  }

  bool rank_set(ByteReader &in, RankSet *out) {
    const uint64_t number = in.varint();
    if (in.failed()) return false;
    if (number >= columns_.size()) return bad("refers to a column that does not exist");
    std::optional<RankSet> set = RankSet::of(*columns_[number]);
    if (!set || set->empty()) return bad("has a set of ranks that are not ascending");
    *out = *std::move(set);
    return true;
  }

  bool read_shape(ByteReader &in, Shape *shape) {
    const uint64_t function = in.varint();
    const uint64_t depth = in.varint();
    if (function > UINT32_MAX || depth > UINT32_MAX) return bad("has a function that cannot be");
    shape->function = static_cast<uint32_t>(function);
    shape->depth = static_cast<uint32_t>(depth);
    shape->heads.resize(in.count());
    for (Shape::Head &head : shape->heads) {
      const uint64_t word = in.varint();
      const uint64_t count = word >> 2;
      if (word == 2 || word == 3) {
        head.field = {word == 2 ? FieldHead::text : FieldHead::table, 1};
        ++shape->codes;
        continue;
      }
      if (count > UINT32_MAX || (word & 2) != 0) return bad("has a malformed shape");
      head.field = {FieldHead::atoms, static_cast<uint32_t>(count)};
      shape->codes += count;
      if ((word & 1) == 0) continue;
      const ByteView mask = in.raw((count + 7) / 8);
      head.columns.assign(mask.begin(), mask.end());
    }
    return !in.failed();
  }

  bool read_codes(ByteReader &in, Shape *shape) {
    if (shape->last.size() != shape->codes) {
      if (shape->codes > in.remaining()) return bad("has a row that is cut short");
      shape->last.resize(shape->codes);
      for (uint64_t &code : shape->last) code = in.varint();
      return !in.failed();
    }
    const ByteView mask = in.raw((shape->codes + 7) / 8);
    if (in.failed()) return bad("has a row that is cut short");
    for (uint64_t i = 0; i < shape->codes; ++i) {
      if (bit(mask, i)) shape->last[i] = in.varint();
    }
    return !in.failed();
  }

  RowPointer read_row(ByteReader &in) {
    const uint64_t shape_number = in.varint();
    const uint64_t site = in.varint();
    if (in.failed()) return nullptr;
    if (shape_number >= shapes_.size()) return bad("has a row of a shape that does not exist"), nullptr;
    if (site > UINT32_MAX) return bad("has a site out of range"), nullptr;
    Shape &shape = shapes_[shape_number];
    if (!read_codes(in, &shape)) return nullptr;
    auto row = std::make_shared<ClassRow>();
    row->function = shape.function;
    row->depth = shape.depth;
    row->site = static_cast<uint32_t>(site);
    const uint64_t *code = shape.last.data();
    for (const Shape::Head &head : shape.heads) {
      row->heads.push_back(head.field);
      if (head.field.kind == FieldHead::text) {
        if (*code >= values_.size()) return bad("has a row that refers to a value that does not exist"), nullptr;
        row->texts.push_back(values_[*code++]);
        row_bytes_ += row->texts.back().size();
        // One large text in many rows would multiply.
        if (row_bytes_ > 1'000'000 + 1000 * static_cast<uint64_t>(in.position())) {
          return bad("has too large texts"), nullptr;
        }
        continue;
      }
      if (head.field.kind == FieldHead::table) {
        if (*code >= tables_.size()) return bad("has a row that refers to a table that does not exist"), nullptr;
        row->tables.push_back(tables_[*code++]);
        continue;
      }
      for (uint32_t i = 0; i < head.field.count; ++i, ++code) {
        if (!bit(head.columns, i)) {
          row->atoms.push_back(atom_of_code(*code));
          continue;
        }
        if (*code >= columns_.size()) return bad("has a row that refers to a column that does not exist"), nullptr;
        row->varied.push_back({static_cast<uint32_t>(row->atoms.size()), columns_[*code]});
        row->atoms.push_back(0);
      }
    }
    return row;
  }

  bool add_row(RowPointer row, ClassPart *part) {
    if (row == nullptr) return false;
    if (row->site > part->sites.size()) return bad("has a row with a site that its class lacks");
    for (const VariedAtom &varied : row->varied) {
      if (varied.column->size() != part->ranks.size()) return bad("has a row whose column has the wrong length");
    }
    for (const TablePointer &table : row->tables) {
      if (table->size() != part->ranks.size()) return bad("has a row whose table has the wrong length");
    }
    part->rows.push_back(std::move(row));
    return true;
  }

  bool class_rows(ByteReader &in, ClassPart *part) {
    const uint64_t count = in.varint();
    bool fresh = true;
    while (part->rows.size() < count) {
      uint64_t run = in.varint();
      if (in.failed() || run > count - part->rows.size() || run > in.remaining()) {
        return bad("has a class whose rows are cut short");
      }
      if (run == 0 && (!fresh || !part->rows.empty())) return bad("has an empty run of rows");
      for (; run > 0; --run) {
        if (fresh) {
          RowPointer row = read_row(in);
          known_rows_.push_back(row);
          if (!add_row(std::move(row), part)) return false;
        } else {
          const uint64_t number = in.varint();
          if (in.failed() || number >= known_rows_.size()) return bad("refers to a row that does not exist");
          if (!add_row(known_rows_[number], part)) return false;
        }
      }
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
    shapes_.resize(in.count(3));
    for (Shape &shape : shapes_) {
      if (!read_shape(in, &shape)) return false;
    }
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
      if (!rank_set(in, &part.ranks) || !site_list(in, &part) || !class_rows(in, &part)) return false;
      if (symbols_[grammar] > part.rows.size()) return bad("has a class whose grammar names a row that does not exist");
      body().classes.push_back(std::move(part));
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
        if (grammar->length() != part.calls->length()) return bad("orders another number of calls than there are");
      }
    }
    return true;
  }

  bool timing(ByteReader &in) {
    for (ClassPart &part : body().classes) {
      const uint8_t what = in.byte();
      if (in.failed() || what > 3) return bad("is malformed");
      if ((what & 1) != 0) {
        std::vector<uint64_t> calls = part.calls->multiplicities();
        calls.resize(part.rows.size());
        for (const uint64_t count : calls) {
          part.stats.push_back(RankStats::parse(in, count * part.ranks.size()));
          if (in.failed()) return false;
        }
      }
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
  std::vector<Bytes> values_;
  std::vector<ColumnPointer> columns_;
  std::vector<TablePointer> tables_;
  std::vector<Shape> shapes_;
  std::vector<RowPointer> known_rows_;
  uint64_t values_bytes_ = 0;
  uint64_t table_bytes_ = 0;
  uint64_t row_bytes_ = 0;
  uint64_t listed_sites_ = 0;
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
