#include "analyze/request_makers.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analyze/selected_calls.h"
#include "trace/read/call_reader.h"

namespace cairn::analyze {
namespace {

/// The parameter that a function gives the request that it makes; nullptr: it makes none.
const spec::Parameter *made_by(const spec::Function &function) {
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.kind == spec::Kind::request && parameter.effect == spec::Effect::create) return &parameter;
  }
  return nullptr;
}

/// For each distinct call of a sequence, by its number: which of the requests it makes.
class MakersIn {
 public:
  MakersIn(const RowScope &scope, const std::set<HandleName> &wanted) : scope_(scope), wanted_(wanted) {}

  const HandleName *made(grammar::Symbol call, const trace::Row &row) {
    if (call >= known_.size()) known_.resize(size_t{call} + 1);
    std::optional<const HandleName *> &known = known_[call];
    if (!known) known = look(row);
    return *known;
  }

 private:
  const HandleName *look(const trace::Row &row) const {
    const RowAccess access(row, scope_);
    const spec::Parameter *parameter = access.function() == nullptr ? nullptr : made_by(*access.function());
    if (parameter == nullptr) return nullptr;
    const std::optional<HandleName> request = access.handle(parameter->name);
    const auto found = request ? wanted_.find(*request) : wanted_.end();
    return found == wanted_.end() ? nullptr : &*found;
  }

  const RowScope &scope_;
  const std::set<HandleName> &wanted_;
  std::vector<std::optional<const HandleName *>> known_;
};

}  // namespace

RequestMakers::RequestMakers(const trace::Trace &trace, const Sources &sources)
    : trace_(trace), decoder_(trace, sources), classes_(trace.class_count()) {
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    classes_[index] =
        SelectedCalls::has(trace, index, [](const spec::Function &function) { return made_by(function) != nullptr; });
  }
}

std::vector<HandleName> RequestMakers::given(uint32_t class_index, const trace::Row &row) const {
  const RowScope scope{trace_.sites(class_index), trace_.class_view(class_index).thread};
  const RowAccess access(row, scope);
  std::vector<HandleName> requests;
  if (access.function() == nullptr) return requests;
  for (unsigned i = 0; i < access.function()->parameter_count; ++i) {
    const spec::Parameter &parameter = access.function()->parameters[i];
    if (parameter.kind != spec::Kind::request || parameter.direction == spec::Direction::out) continue;
    for (const HandleName &request : access.handles(parameter.name)) {
      if (request.special == 0) requests.push_back(request);
    }
  }
  return requests;
}

std::map<HandleName, Call> RequestMakers::of(uint32_t rank, const std::vector<HandleName> &requests,
                                             const CommunicatorNames *names) {
  std::map<HandleName, Call> makers;
  std::set<HandleName> wanted(requests.begin(), requests.end());
  std::vector<trace::SequenceView> sequences = trace_.sequences(rank);
  std::reverse(sequences.begin(), sequences.end());
  for (const trace::SequenceView &sequence : sequences) {
    const bool made_here = std::any_of(wanted.begin(), wanted.end(),
                                       [&](const HandleName &each) { return each.thread == sequence.thread; });
    if (!made_here || !classes_[sequence.class_index]) continue;
    // What a sequence before this one says of a request may be of an earlier one of the same name.
    const uint64_t calls = trace_.class_view(sequence.class_index).calls->length();
    if (calls > calls_left_) break;
    calls_left_ -= calls;
    const RowScope scope = RowScope::of(trace_, sequence);
    MakersIn makers_here(scope, wanted);
    std::map<const HandleName *, grammar::Symbol> last;
    trace::CallReader reader(trace_, sequence);
    for (grammar::Symbol call = reader.next(); call != grammar::kNoSymbol; call = reader.next()) {
      if (const HandleName *made = makers_here.made(call, reader.call(call))) last[made] = call;
    }
    for (const auto &[made, call] : last) {
      makers.emplace(*made, decoder_.decode(sequence.class_index, reader.call(call), names));
      wanted.erase(wanted.find(*made));
    }
  }
  return makers;
}

}  // namespace cairn::analyze
