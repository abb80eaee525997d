#include "proxy/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analyze/filter.h"
#include "analyze/heard.h"
#include "proxy/call_writer.h"
#include "proxy/gaps.h"
#include "proxy/row_tables.h"
#include "spec/ids.h"
#include "text/rank_list.h"
#include "trace/read/class_structure.h"

namespace cairn::proxy {
namespace {

using grammar::Body;
using grammar::Term;

/// More terms than anybody reads, or a compiler likes.
constexpr size_t kMostTerms = 3000;
constexpr size_t kMostInBody = 1000;
constexpr size_t kDeepest = 4;  ///< loops within each other in one function

class PartWriter {
 public:
  PartWriter(Program *program, uint32_t class_index, std::vector<std::string> *problems)
      : program_(*program),
        part_(trace::class_structure(program->trace, class_index)),
        columns_(
            program, part_.ranks.expand(), [this] { return needs_member_ = true, "member"; }, &tables_, &names_),
        streams_(program, part_, scope_.scope, &columns_, &tables_, &names_),
        scope_{program,
               &part_,
               class_index,
               {program->trace.sites(class_index), part_.thread},
               trace::RowGroups(part_.rows),
               &columns_,
               &streams_,
               false,
               false,
               false,
               {},
               problems} {
    for (const char *each :
         {"rank", "size", "member", "arrays", "comms", "seen", "requests", "place", "first", "calls"}) {
      names_.unique(each);
    }
  }

  PartText write() {
    text_.name = fmt::format("part_{}", scope_.class_index);
    text_.scope = scope_.scope;
    text_.class_index = scope_.class_index;
    nested_ = std::any_of(part_.rows.begin(), part_.rows.end(), [](const auto &row) { return row->depth != 0; });
    scope_.turns = program_.several_threads;
    find_segments();
    find_threads();
    find_heard();
    for (uint32_t row = 0; row < part_.rows.size(); ++row) statements_.push_back(write_call(&scope_, row));
    if (program_.settings.gaps != Gaps::none) {
      auto gaps = mean_gaps(program_.trace, scope_.class_index, [this](uint32_t row) { return is_made(row); });
      if (gaps) {
        gaps_ = *std::move(gaps);
      } else {
        scope_.problems->push_back(gaps.error().message);
      }
    }
    const std::string skips = scope_.turns ? streams_.plain(part_.order, "skips") : std::string();
    count_uses();
    write_rows();
    Source body;
    write_order(&body);
    assemble(skips, body);
    for (const uint64_t count : program_.trace.row_counts(scope_.class_index)) text_.calls += count;
    const std::vector<uint32_t> members = columns_.ranks();
    text_.ranks = static_cast<size_t>(std::count_if(members.begin(), members.end(), [this](uint32_t rank) {
      return program_.kept == nullptr || program_.kept->has(rank);
    }));
    if (program_.kept != nullptr && !members.empty()) text_.calls = text_.calls / members.size() * text_.ranks;
    return std::move(text_);
  }

 private:
  /// Where one thread has all calls: how the program's segments of the heap are made. Calls are counted for that only
  /// where a segment ends before another begins, and each call is made where it stands.
  void find_segments() {
    if (program_.several_threads || !tells_of(false)) return;
    segments_ = streams_.variable(part_.heap, {}, "segments", false);
    scope_.counts = !nested_ && std::any_of(part_.heap.variants.begin(), part_.heap.variants.end(), changes);
  }
  /// Where several threads have calls: where they begin and end.
  void find_threads() {
    if (!scope_.turns || !tells_of(true)) return;
    threads_ = streams_.variable(part_.heap, {}, "threads", false);
  }
  /// Whether some events of this part may be those of threads, or of segments.
  [[nodiscard]] bool tells_of(bool threads) const {
    return std::any_of(part_.heap.variants.begin(), part_.heap.variants.end(), [&](const auto &variant) {
      return std::any_of(variant.values.begin(), variant.values.end(), [&](const trace::RowPointer &value) {
        return differs(*value, kNumber) || is_of_thread(*value) == threads;
      });
    });
  }
  static constexpr uint32_t kNumber = 1;  // of an event's atoms
  static constexpr uint32_t kBytes = 2;
  static bool is_of_thread(const trace::ClassRow &value) {
    return !differs(value, kNumber) && value.atoms[kNumber] < 0;
  }
  /// From rank to rank.
  static bool differs(const trace::ClassRow &value, uint32_t atom) {
    return std::any_of(value.varied.begin(), value.varied.end(),
                       [&](const trace::VariedAtom &varied) { return varied.slot == atom; });
  }
  static bool changes(const trace::StreamVariant &variant) {
    grammar::Walker walker(*variant.order);
    bool ended = false;
    for (grammar::Symbol each = walker.next(); each != grammar::kNoSymbol; each = walker.next()) {
      const trace::ClassRow &value = *variant.values[each];
      if (is_of_thread(value)) continue;
      const bool ends = value.atoms[kBytes] == 0 && !differs(value, kBytes);
      if (ended && !ends) return true;
      ended = ended || ends;
    }
    return false;
  }

  void find_heard() {
    bool wild = false;
    for (uint32_t row = 0; row < part_.rows.size() && !wild; ++row) wild = posts_wild(part_, scope_.groups, row);
    if (!wild) return;
    std::vector<std::vector<std::pair<trace::Atom, trace::Atom>>> by_rank;
    for (const uint32_t rank : columns_.ranks()) by_rank.push_back(heard_by(rank));
    scope_.heard = streams_.pairs(by_rank, "heard");
  }

  /// (source, tag) of each receive from anybody that a rank posts in this class.
  [[nodiscard]] std::vector<std::pair<trace::Atom, trace::Atom>> heard_by(uint32_t rank) const {
    std::vector<trace::SequenceView> sequences = program_.trace.sequences(rank);
    std::erase_if(sequences, [&](const trace::SequenceView &each) { return each.thread != part_.thread; });
    analyze::Heard heard(program_.trace, std::move(sequences));
    std::vector<std::pair<trace::Atom, trace::Atom>> found;
    while (const auto receive = heard.next()) {
      if (receive->class_index != scope_.class_index) continue;
      found.emplace_back(receive->heard.rank.value_or(trace::constant_atom(spec::constant_id::k_ANY_SOURCE)),
                         receive->heard.tag.value_or(trace::constant_atom(spec::constant_id::k_ANY_TAG)));
    }
    return found;
  }

  void count_uses() {
    const auto &rules = part_.calls->rules();
    row_uses_.assign(part_.rows.size(), 0);
    rule_uses_.assign(rules.size(), 0);
    size_t longest = 0;
    for (const Body &body : rules) {
      terms_ += body.size();
      longest = std::max(longest, body.size());
      for (const Term &term : body) ++(term.is_rule ? rule_uses_ : row_uses_)[term.id];
    }
    as_table_ = terms_ > kMostTerms || longest > kMostInBody;
  }

  [[nodiscard]] bool is_made(uint32_t row) const { return !statements_[row].nothing(); }
  /// Lines that a row takes where it stands.
  void statement(const Statement &of, uint32_t row, Source *out) const {
    const bool gap = !gaps_.empty() && part_.rows[row]->depth == 0;
    const bool encloses = nested_ && part_.rows[row]->depth == 0;
    const std::string remark = of.comment;
    if (gap && gaps_[row] >= 1) out->line(fmt::format("compute({:.0f});", gaps_[row]));
    for (const std::string &line : of.before) out->code(line);
    if (encloses) out->line("enclose();");
    if (!of.call.empty()) out->statement(of.call, remark);
    if (encloses) out->line("enclosed();");
    for (const std::string &line : of.after) out->code(line);
    if (gap) out->line("called();");
  }
  [[nodiscard]] bool is_function(uint32_t row) const {
    const Statement &of = statements_[row];
    if (part_.rows[row]->depth != 0 || as_table_) return true;
    const size_t lines = of.before.size() + of.after.size() + 1;
    return row_uses_[row] * lines > 4 && row_uses_[row] > 1;
  }

  std::string row_name(uint32_t row) {
    std::string name = spec::functions()[part_.rows[row]->function].name;
    name = name.substr(name.find('_') + 1);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    const analyze::Position position = program_.sources.position(scope_.class_index, part_.rows[row]->site);
    return names_.unique(identifier(position.file.empty() ? name : name + "_" + position.brief()));
  }
  /// Of the calls of one line, which are many and differ only in numbers and texts: one function.
  void write_row_tables() {
    constexpr size_t kFew = 16;
    const bool plain = as_table_ && !nested_ && gaps_.empty();
    std::map<std::pair<uint32_t, std::string>, std::vector<uint32_t>> alike;  // of one group, and as long lines
    for (uint32_t row = 0; plain && row < part_.rows.size(); ++row) {
      if (!statements_[row].simple() || row_uses_[row] == 0) continue;
      alike[{scope_.groups.of_row[row], shape_of(statements_[row].call)}].push_back(row);
    }
    for (const auto &[group, rows] : alike) {
      if (rows.size() < kFew) continue;
      std::vector<std::string> calls;
      for (const uint32_t row : rows) calls.push_back(statements_[row].call);
      const auto table = row_table(calls);
      if (!table) continue;
      const std::string name = row_name(rows[0]);
      functions_.open(fmt::format("static void {}(int row)", name));
      proxy::write_table(*table, &functions_);
      for (size_t i = 0; i < rows.size(); ++i) tabled_[rows[i]] = {name, i};
      functions_.statement(table->call, statements_[rows[0]].comment);
      functions_.close();
      functions_.line();
    }
  }
  void write_rows() {
    row_names_.resize(part_.rows.size());
    write_row_tables();
    for (uint32_t row = 0; row < part_.rows.size(); ++row) {
      if (!is_made(row) || row_uses_[row] == 0 || !is_function(row) || tabled_.contains(row)) continue;
      row_names_[row] = row_name(row);
      functions_.open(fmt::format("static void {}(void)", row_names_[row]));
      statement(statements_[row], row, &functions_);
      functions_.close();
      functions_.line();
    }
  }

  // ---- rules

  [[nodiscard]] bool is_inlined(uint32_t rule) const { return rule_uses_[rule] == 1; }
  static std::string loop(uint64_t count, size_t depth) {
    const std::string name = depth == 0 ? "i" : depth == 1 ? "j" : depth == 2 ? "k" : "l";
    return fmt::format("for (long long {0} = 0; {0} < {1}; ++{0})", name, count);
  }
  void row_term(uint32_t row, uint64_t count, size_t depth, Source *out) {
    if (!is_made(row)) return;
    const Statement &of = statements_[row];
    const bool call = !row_names_[row].empty();
    const bool alone = call || (of.simple() && !nested_ && gaps_.empty());
    if (count > 1) out->open(loop(count, depth));
    if (call) {
      const uint32_t nesting = part_.rows[row]->depth;
      out->line(nesting != 0 ? fmt::format("later({}, {});", nesting, row_names_[row]) : row_names_[row] + "();");
    } else {
      if (!alone && count <= 1) out->open("");
      statement(of, row, out);
      if (!alone && count <= 1) out->close();
    }
    if (count > 1) out->close();
  }
  void body(uint32_t rule, size_t depth, Source *out) {
    for (const Term &term : part_.calls->rules()[rule]) {
      if (!term.is_rule) {
        row_term(term.id, term.count, depth, out);
        continue;
      }
      const bool inside = rule_names_[term.id].empty();
      if (term.count > 1) out->open(loop(term.count, depth));
      if (inside) {
        body(term.id, depth + (term.count > 1 ? 1 : 0), out);
      } else {
        out->line(rule_names_[term.id] + "();");
      }
      if (term.count > 1) out->close();
    }
  }
  /// A function of the program, if all calls of the rule were made there.
  std::string rule_name(uint32_t rule) {
    std::string function;
    uint32_t first = UINT32_MAX;
    bool one = true;
    std::vector<uint32_t> open{rule};
    while (!open.empty() && one) {
      const uint32_t at = open.back();
      open.pop_back();
      for (const Term &term : part_.calls->rules()[at]) {
        if (term.is_rule) {
          open.push_back(term.id);
          continue;
        }
        const analyze::Position position = program_.sources.position(scope_.class_index, part_.rows[term.id]->site);
        if (function.empty()) function = position.function;
        one = one && function == position.function && !function.empty();
        first = std::min(first, position.line);
      }
    }
    if (!one) return names_.unique(fmt::format("rule_{}", rule));
    return names_.unique(identifier(fmt::format("{}_{}", analyze::without_parameters(function), first)));
  }
  void write_order(Source *main) {
    const auto &rules = part_.calls->rules();
    rule_names_.assign(rules.size(), "");
    if (as_table_) return write_table(main);
    // How deep the loops of a rule are where they stand in it: those that get too deep are functions of their own.
    std::vector<size_t> deep(rules.size(), 0);
    for (uint32_t rule = static_cast<uint32_t>(rules.size()); rule-- > 0;) {
      for (const Term &term : rules[rule]) {
        const size_t inner = term.is_rule && is_inlined(term.id) ? deep[term.id] : 0;
        deep[rule] = std::max(deep[rule], inner + (term.count > 1 ? 1 : 0));
      }
      if (rule == 0) break;
      if (is_inlined(rule) && deep[rule] + 1 < kDeepest) continue;
      rule_names_[rule] = rule_name(rule);
      deep[rule] = 0;
    }
    for (uint32_t rule = static_cast<uint32_t>(rules.size()); rule-- > 1;) {
      if (rule_names_[rule].empty()) continue;
      functions_.open(fmt::format("static void {}(void)", rule_names_[rule]));
      body(rule, 0, &functions_);
      functions_.close();
      functions_.line();
    }
    body(0, 0, main);
  }
  void write_table(Source *main) {
    std::vector<std::string> calls;
    bool idle = false;
    for (uint32_t row = 0; row < part_.rows.size(); ++row) {
      if (const auto tabled = tabled_.find(row); tabled != tabled_.end()) {
        calls.push_back(fmt::format("{{NULL, {}, {}}}", tabled->second.first, tabled->second.second));
      } else if (row_names_[row].empty()) {
        calls.emplace_back("{nothing, NULL, 0}");
        idle = true;
      } else if (part_.rows[row]->depth == 0) {
        calls.push_back(fmt::format("{{{}, NULL, 0}}", row_names_[row]));
      } else {
        const std::string name = names_.unique("later_" + row_names_[row]);
        functions_.line(
            fmt::format("static void {}(void) {{ later({}, {}); }}", name, part_.rows[row]->depth, row_names_[row]));
        calls.push_back(fmt::format("{{{}, NULL, 0}}", name));
      }
    }
    if (idle) functions_.line("static void nothing(void) {}\n");
    functions_.raw(
        fmt::format("/* The order of the calls, which is too irregular to be read as loops. */\n"
                    "static const struct call calls[] = {{\n{}}};\nstatic const struct term order[] = {{\n{}}};\n\n",
                    list_text(calls), terms_text(*part_.calls)));
    main->line("play(order, calls);");
  }

  void assemble(const std::string &skips, const Source &order) {
    std::vector<uint32_t> members = columns_.ranks();
    if (program_.kept != nullptr) std::erase_if(members, [this](uint32_t rank) { return !program_.kept->has(rank); });
    const std::string ranks = ranks_text(members);
    std::string head = fmt::format("/* {} {}{}. */\n#include \"program.h\"\n\n", members.size() == 1 ? "Rank" : "Ranks",
                                   ranks, part_.thread == 0 ? "" : fmt::format(", thread {}", part_.thread));
    if (ranks.size() > 80) {
      head = fmt::format("/* {} ranks, the first of them {}. */\n#include \"program.h\"\n\n", members.size(),
                         members.front());
    }
    std::string member;
    if (scope_.turns) first_ticket_ = columns_.value(part_.first_ticket);
    if (needs_member_ || opening_needs_member()) member = member_text();
    if (!member.empty()) head += "static long long member; /* the place of this rank among them */\n";
    if (scope_.drains) head += "static struct arrays *arrays; /* of requests, as calls left them */\n";
    if (!member.empty() || scope_.drains) head += "\n";
    text_.text = head + tables_.text() + (tables_.text().empty() ? "" : "\n");
    text_.place = text_.text.size();
    for (size_t k = 0; k < 256; ++k) {
      const auto kind = static_cast<spec::Kind>(k);
      if (k > static_cast<size_t>(spec::Kind::window)) break;
      if (!kind_word(kind).empty() && streams_.opening().find(kind_word(kind) + "_numbers") != std::string::npos) {
        text_.kinds.push_back(kind);
      }
    }
    Source main;
    main.open(fmt::format("void {}(void)", text_.name));
    if (!member.empty()) main.statement("member = " + member + ";");
    if (!streams_.opening().empty()) main.line("open_streams();");
    if (scope_.drains) main.line("arrays = new_arrays();");
    if (scope_.turns) main.statement(fmt::format("begin_turns({}, {});", first_ticket_, skips));
    if (!threads_.empty()) main.line(fmt::format("threads_change({});", threads_));
    if (!segments_.empty()) {
      main.line(fmt::format("segments_{}({});", scope_.counts ? "change" : "stay", segments_));
    }
    const std::string &lines = order.text();
    // One brace deeper than it was written.
    for (size_t at = 0; at < lines.size();) {
      const size_t end = lines.find('\n', at);
      main.line(lines.substr(at, end - at));
      at = end + 1;
    }
    if (scope_.counts) main.line("last_call();");
    if (!threads_.empty()) main.line("last_turn_of_part();");
    main.close();
    text_.text += streams_.opening() + functions_.text() + main.text();
  }
  [[nodiscard]] bool opening_needs_member() const { return streams_.opening().find("member") != std::string::npos; }
  std::string member_text() {
    std::vector<trace::Atom> place_of(program_.trace.rank_count(), 0);
    for (size_t i = 0; i < columns_.ranks().size(); ++i) place_of[columns_.ranks()[i]] = static_cast<trace::Atom>(i);
    std::vector<trace::Atom> own(columns_.ranks().size());
    for (size_t i = 0; i < own.size(); ++i) own[i] = static_cast<trace::Atom>(i);
    std::vector<uint32_t> all(program_.trace.rank_count());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    Columns among(
        &program_, columns_.ranks(), [] { return std::string(); }, &tables_, &names_);
    Columns world(
        &program_, all, [] { return std::string("rank"); }, &tables_, &names_);
    Source unused;
    Columns laws(
        &program_, columns_.ranks(), [] { return std::string(); }, &unused, &names_);
    const std::string law = laws.value(own);
    return law.find("along(") == std::string::npos ? law : world.value(place_of);
  }

  Program &program_;
  const trace::ClassPart &part_;
  Identifiers names_;
  Source tables_;
  bool needs_member_ = false;
  Columns columns_;
  Streams streams_;
  PartScope scope_;
  PartText text_;
  std::vector<Statement> statements_;
  std::vector<size_t> row_uses_;
  std::vector<size_t> rule_uses_;
  std::vector<std::string> row_names_;                         ///< of those that are functions
  std::vector<std::string> rule_names_;                        ///< the same
  std::map<uint32_t, std::pair<std::string, size_t>> tabled_;  ///< rows that are a row of a function's table
  std::vector<double> gaps_;  ///< what the calls of each row wait for before they are made, in ns; empty: nothing
  std::string first_ticket_;
  std::string threads_;   ///< the stream of where threads begin and end; empty: nothing is known
  std::string segments_;  ///< the stream of what becomes of segments of the heap; empty: nothing is known
  Source functions_;
  size_t terms_ = 0;
  bool as_table_ = false;
  bool nested_ = false;
};

}  // namespace

PartText write_part(Program *program, uint32_t class_index, std::vector<std::string> *problems) {
  return PartWriter(program, class_index, problems).write();
}

}  // namespace cairn::proxy
