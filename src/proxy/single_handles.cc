#include "proxy/single_handles.h"

#include <algorithm>
#include <set>
#include <vector>

#include "proxy/fields.h"
#include "proxy/program.h"
#include "trace/read/class_structure.h"

namespace cairn::proxy {
namespace {

using spec::Direction;
using spec::Effect;
using spec::Kind;
using spec::Layout;
using spec::Parameter;
using spec::Passing;
using trace::Atom;

/// How many objects of one name there are after a sequence of calls, more than before; the least and the most on the
/// way.
struct Living {
  int64_t after = 0;
  int64_t least = 0;
  int64_t most = 0;

  void then(const Living &next, uint64_t times) {
    const auto turns = static_cast<int64_t>(std::min<uint64_t>(times, uint64_t{1} << 30));
    const int64_t last = after + (turns - 1) * next.after;  // before the last turn
    least = std::min({least, after + next.least, last + next.least});
    most = std::max({most, after + next.most, last + next.most});
    after += turns * next.after;
  }
  void change(int64_t by) { then({by, std::min<int64_t>(by, 0), std::max<int64_t>(by, 0)}, 1); }
};
using LivingByKey = std::map<HandleKey, Living>;

class SingleHandles {
 public:
  SingleHandles(const trace::Trace &trace, const analyze::Sources &sources) : trace_(trace), sources_(sources) {}

  std::map<HandleKey, std::string> run() {
    for (uint32_t index = 0; index < trace_.class_count(); ++index) {
      const trace::ClassPart &part = trace::class_structure(trace_, index);
      if (part.thread != 0 || part.segment != 0) return {};
      look_for_persistent(index, part);
    }
    for (uint32_t index = 0; index < trace_.class_count(); ++index) look_at(index);
    for (auto entry = made_.begin(); entry != made_.end();) {
      const bool several = several_.contains(entry->first) || several_of_kind_.contains(entry->first.first);
      entry = several ? made_.erase(entry) : std::next(entry);
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] static HandleKey key(Kind kind, Atom first, Layout layout, const analyze::RowScope &scope) {
    return handle_key(kind, analyze::handle_name(first, 0, layout, scope));
  }

  /// Completion does not end requests of these.
  void look_for_persistent(uint32_t index, const trace::ClassPart &part) {
    const analyze::RowScope scope{trace_.sites(index), part.thread};
    for (const auto &row : part.rows) {
      const spec::Function &function = spec::functions()[row->function];
      if (!function.persistent) continue;
      const std::vector<FieldView> fields = fields_of(*row);
      for (size_t i = 0; i < function.parameter_count; ++i) {
        if (function.parameters[i].kind != Kind::request || fields[i].slots.empty()) continue;
        const Slot &first = fields[i].slots[0];
        if (first.is_number()) persistent_.insert(key(Kind::request, first.atom, Layout::handle, scope));
      }
    }
  }

  void look_at(uint32_t index) {
    const trace::ClassPart &part = trace::class_structure(trace_, index);
    scope_ = {trace_.sites(index), part.thread};
    for (const trace::Stream &stream : part.streams) moved(stream, part);
    std::vector<LivingByKey> of_rows;
    for (const auto &row : part.rows) of_rows.push_back(row_of(index, *row));
    const auto &rules = part.calls->rules();
    std::vector<LivingByKey> of_rules(rules.size());
    for (size_t rule = rules.size(); rule-- > 0;) {  // those within come behind
      for (const grammar::Term &term : rules[rule]) {
        for (const auto &[name, living] : (term.is_rule ? of_rules : of_rows)[term.id]) {
          of_rules[rule][name].then(living, term.count);
        }
      }
    }
    if (rules.empty()) return;
    for (const auto &[name, living] : of_rules[0]) {
      if (living.most > 1 || living.least < 0) several_.insert(name);
    }
  }

  void exclude(Kind kind, const std::vector<Atom> &firsts, Layout layout) {
    for (const Atom each : firsts) {
      if (!trace::is_special(each)) several_.insert(key(kind, each, layout, scope_));
    }
  }
  void moved(const trace::Stream &stream, const trace::ClassPart &part) {
    const trace::RowGroups groups(part.rows);
    if (stream.group >= groups.first_row.size()) return;
    const spec::Function &function = spec::functions()[part.rows[groups.first_row[stream.group]]->function];
    if (stream.field >= function.parameter_count) return;
    const Parameter &parameter = function.parameters[stream.field];
    if (spec::is_handle(parameter.layout)) several_of_kind_.insert(parameter.kind);
  }

  LivingByKey row_of(uint32_t index, const trace::ClassRow &row) {
    const spec::Function &function = spec::functions()[row.function];
    const std::vector<FieldView> fields = fields_of(row);
    LivingByKey changes;
    const FieldView &result = fields[function.parameter_count];
    const bool plain = result.kind == FieldView::atoms && !result.slots.empty() && result.slots[0].column == nullptr;
    const bool succeeded = function.returns != spec::ReturnKind::error_code ||
                           (plain && (result.slots[0].is(0) || result.slots[0].is(trace::kImplied)));
    bool found = trace::is_call(row.kind);
    if (function.answer != 0) {
      const FieldView &answer = fields[function.answer - 1U];
      found = found && answer.kind == FieldView::atoms && !answer.slots.empty() && answer.slots[0].is_number() &&
              !answer.slots[0].is(0);
    }
    const std::string where = sources_.position(index, row.site).brief();
    for (size_t i = 0; i < function.parameter_count; ++i) {
      const Parameter &parameter = function.parameters[i];
      if (!spec::is_handle(parameter.layout) || kind_word(parameter.kind).empty()) continue;
      const bool makes = parameter.direction == Direction::out;
      const bool gives_up = parameter.effect == Effect::release || parameter.effect == Effect::complete ||
                            parameter.effect == Effect::consume;
      const int64_t change = makes ? 1 : gives_up && succeeded && found ? -1 : 0;
      field(parameter, fields[i], change, where, row.depth != 0, parameter.effect == Effect::complete, &changes);
    }
    if (spec::is_handle(function.return_layout) && plain && !result.slots[0].is_special()) {
      Parameter returned{};
      returned.kind = function.return_kind;
      returned.layout = function.return_layout;
      returned.passing = Passing::value;
      // It is none more: MPI_Comm_f2c and its like tell of what is there.
      field(returned, result, 0, where, row.depth != 0, false, &changes);
    }
    return changes;
  }

  void field(const Parameter &parameter, const FieldView &view, int64_t change, const std::string &where, bool nested,
             bool completes, LivingByKey *changes) {
    if (view.kind == FieldView::table) {
      several_of_kind_.insert(parameter.kind);
      return;
    }
    const bool is_comm = parameter.layout == Layout::comm;
    const bool is_array = parameter.passing == Passing::array;
    const size_t width = is_comm ? 1 : 2;
    if (is_array && parameter.kind == Kind::request && view.slots.size() % 2 != 0) {  // one that is remembered
      several_of_kind_.insert(Kind::request);
      return;
    }
    for (size_t k = 0; k < view.slots.size(); k += width) {
      const Slot &first = view.slots[k];
      if (first.column != nullptr) {
        exclude(parameter.kind, first.column->expand(), parameter.layout);
      } else if (!first.is_special()) {
        const HandleKey name = key(parameter.kind, first.atom, parameter.layout, scope_);
        const bool queued = (is_array && parameter.kind == Kind::request) || (nested && change != 0) ||
                            (!is_comm && k + 1 < view.slots.size() && !view.slots[k + 1].is(0));
        if (queued) several_.insert(name);
        if (change > 0) made_.try_emplace(name, where);
        if (change != 0 && !(completes && persistent_.contains(name))) (*changes)[name].change(change);
      }
      if (!is_array) break;
    }
  }

  const trace::Trace &trace_;
  const analyze::Sources &sources_;
  analyze::RowScope scope_;
  std::map<HandleKey, std::string> made_;
  std::set<HandleKey> persistent_;
  std::set<HandleKey> several_;
  std::set<Kind> several_of_kind_;
};

}  // namespace

HandleKey handle_key(Kind kind, analyze::HandleName name) {
  if (kind != Kind::comm) {
    name.number = 0;
    return {kind, name};
  }
  analyze::HandleName number;
  number.number = name.number;
  return {kind, number};
}

std::map<HandleKey, std::string> single_handles(const trace::Trace &trace, const analyze::Sources &sources) {
  return SingleHandles(trace, sources).run();
}

}  // namespace cairn::proxy
