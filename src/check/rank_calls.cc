#include "check/rank_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyze/outcome.h"
#include "analyze/row_access.h"
#include "check/arguments.h"
#include "check/living_objects.h"
#include "spec/ids.h"

namespace cairn::check {
namespace {

using analyze::CallTime;
using analyze::HandleName;
using analyze::MessageCall;
using spec::Effect;

constexpr uint64_t kSeveral = UINT64_MAX;

/// MPI gives such types committed, or as they were.
bool gives_committed(std::string_view function) {
  return function.starts_with("MPI_Type_create_f90_") || function == "MPI_Type_match_size" ||
         function.starts_with("MPI_Type_get_") || function == "MPI_Type_f2c";
}

/// Whether its datatypes have to be committed: of those with buffers, all that move data to or from somewhere else.
bool moves_data(std::string_view function) {
  return !function.starts_with("MPI_Pack") && !function.starts_with("MPI_Unpack") && function != "MPI_Reduce_local";
}

}  // namespace

bool RankCalls::see(const trace::Event &event, const analyze::RowScope &scope) {
  const bool changed = learn(*event.values, scope);
  if (changed) known_.clear();
  const Facts &facts = facts_of(event, scope);
  if (facts.says_nothing) {
    LastCall &last = last_[event.thread];
    if (last.in != LastCall::In::finalize) last.in = LastCall::In::nothing;
    return changed;
  }
  const CallTime call{event.rank, event.index, 0, 0, event.class_index, event.values->function, event.values->site};
  if (event.values->depth == 0) handles(facts, call);
  types(facts, call);
  requests(facts, call);
  if (facts.window) {
    CallTime timed = call;
    if (event.timed) {
      timed.begin_ns = event.begin_ns;
      timed.end_ns = event.end_ns;
    }
    shared_.windows.see(*facts.window, timed);
  }
  note_last(event, scope, facts, call);
  return changed;
}

bool RankCalls::learn(const trace::Row &row, const analyze::RowScope &scope) {
  bool changed = types_.see(row, scope);
  if (!kinds_.has(Kind::buffers) && !kinds_.has(Kind::windows)) return changed;
  changed = layouts_.see(row, scope) || changed;
  changed = own_ranks_.see(row) || changed;
  return (analyze::Sizes::is_creator(row.function) && sizes_.see(row, scope)) || changed;
}

bool RankCalls::writes_twice(const Region &region) const {
  if (!region.writes || region.layout->dense) return false;
  const auto [known, fresh] = shared_.written.try_emplace(region.layout, false);
  if (fresh) known->second = objects::repeats_bytes(*region.layout).value_or(false);
  return known->second;
}

const RankCalls::Facts &RankCalls::facts_of(const trace::Event &event, const analyze::RowScope &scope) {
  Known &known = known_[event.thread];
  if (known.class_index != event.class_index || known.segment != event.segment) {
    known = {};
    known.class_index = event.class_index;
    known.segment = event.segment;
  }
  if (const auto found = known.calls.find(event.call); found != known.calls.end()) return *found->second;
  if (known.calls.size() >= most_known_) known.calls.clear();
  auto facts = look_at(*event.values, scope);
  facts->read_and_written = buffers_.read_and_written(facts->regions);
  return *known.calls.emplace(event.call, std::move(facts)).first->second;
}

std::unique_ptr<RankCalls::Facts> RankCalls::look_at(const trace::Row &row, const analyze::RowScope &scope) const {
  auto facts = std::make_unique<Facts>();
  const auto all = spec::functions();
  if (row.function >= all.size()) return facts;
  const spec::Function &function = all[row.function];
  const analyze::Outcome outcome = analyze::outcome_of(row);
  facts->returned = outcome.kind != analyze::Outcome::Kind::pending;
  facts->failed = outcome.kind == analyze::Outcome::Kind::failed;
  facts->message = analyze::message_call(row, scope);
  const analyze::RowAccess access(row, scope);
  const bool good = access.succeeded();
  const auto use_types = [&](std::string_view name, Facts::TypeUse::What what, std::optional<int64_t> copied) {
    for (const HandleName &type : access.handles(name)) {
      if (type.special == 0) facts->types.push_back({what, type.number, copied});
    }
  };
  using What = Facts::TypeUse::What;
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.type_parameter != 0 && moves_data(function.name)) {
      use_types(function.parameters[parameter.type_parameter - 1U].name, What::moves, std::nullopt);
    }
    if (!spec::is_handle(parameter.layout)) continue;
    if (good && parameter.kind == spec::Kind::datatype && parameter.effect != Effect::none) {
      if (makes(parameter.effect) && !gives_committed(function.name)) {
        const auto like = std::string_view(function.name) == "MPI_Type_dup" ? access.handle("oldtype") : std::nullopt;
        use_types(parameter.name, What::makes,
                  like ? std::optional(like->special == 0 ? like->number : -1) : std::nullopt);
      }
      if (parameter.effect == Effect::commit) use_types(parameter.name, What::commits, std::nullopt);
      if (parameter.effect == Effect::release) use_types(parameter.name, What::frees, std::nullopt);
    }
    const bool given = parameter.direction != spec::Direction::out;
    for (const HandleName &handle : access.handles(parameter.name)) {
      const bool communicator = parameter.layout == spec::Layout::comm;
      // The attributes of a key that was freed stay, and may be asked for and deleted (MPI 4.1, 7.7.2).
      const bool key = parameter.kind == spec::Kind::keyval && parameter.effect == Effect::none;
      if (given && !key && handle.special == trace::kUnknown) facts->unknown.push_back(parameter.kind);
      if (handle.special != 0) continue;
      if (given && communicator) facts->communicators.push_back(handle.number);
      if (good && makes(parameter.effect) && communicator) facts->new_communicators.push_back(handle.number);
      if (good && parameter.effect == Effect::release && communicator) {
        facts->freed_communicators.push_back(handle.number);
      }
      if (facts->failed && parameter.effect == Effect::complete) facts->perhaps_complete.push_back(handle);
      if (good && (parameter.effect == Effect::release || parameter.effect == Effect::complete)) {
        facts->frees.push_back(parameter.kind);
      }
      if (makes(parameter.effect) && parameter.kind == spec::Kind::request && (good || !facts->returned)) {
        facts->request = handle;
      }
    }
  }
  if (kinds_.has(Kind::buffers) && !facts->failed) {
    facts->regions = regions_of(row, scope, layouts_, sizes_, own_ranks_);
    facts->writes_twice = std::any_of(facts->regions.begin(), facts->regions.end(),
                                      [this](const Region &region) { return writes_twice(region); });
  }
  if (kinds_.has(Kind::windows)) facts->window = window_call(row, scope, layouts_);
  facts->says_nothing = facts->returned && facts->message == nullptr && !facts->request && facts->regions.empty() &&
                        !facts->window && facts->unknown.empty() && facts->communicators.empty() &&
                        facts->new_communicators.empty() && facts->frees.empty() && facts->types.empty() &&
                        facts->perhaps_complete.empty() && row.function != spec::function_id::Finalize;
  using Does = MessageCall::Does;
  const bool of_requests =
      facts->message != nullptr && (facts->message->does == Does::start || facts->message->does == Does::complete ||
                                    facts->message->does == Does::release);
  if (!of_requests) facts->message.reset();  // many are kept, and it is large
  return facts;
}

void RankCalls::handles(const Facts &facts, const CallTime &call) {
  const auto stale = [&](spec::Kind kind) {
    if (!kinds_.has(Kind::handles)) return;
    // MPIs give all sends that are complete at once, of whatever thread, one handle.
    if (kind == spec::Kind::request && !one_thread_) return;
    const auto freed = freed_.find(kind);
    if (freed == freed_.end()) return;
    const bool request = kind == spec::Kind::request;
    findings_.add({Kind::handles, facts.failed,
                   fmt::format("the {} was {} before, perhaps by the other call, or never made", object_name(kind),
                               request ? "completed" : "freed")},
                  call, freed->second);
  };
  for (const spec::Kind kind : facts.unknown) stale(kind);
  for (const int64_t number : facts.communicators) {
    if (communicators_.count(number) == 0) stale(spec::Kind::comm);
  }
  for (const int64_t number : facts.new_communicators) communicators_.insert(number);
  for (const int64_t number : facts.freed_communicators) communicators_.erase(number);
  for (const spec::Kind kind : facts.frees) freed_[kind] = call;
}

/// MPI 4.1, 5.1.9.
void RankCalls::types(const Facts &facts, const CallTime &call) {
  for (const Facts::TypeUse &use : facts.types) {
    switch (use.what) {
      case Facts::TypeUse::What::makes:
        if (use.copied && uncommitted_.count(*use.copied) == 0) {
          uncommitted_.erase(use.number);
        } else {
          uncommitted_[use.number] = call;
        }
        break;
      case Facts::TypeUse::What::commits:
      case Facts::TypeUse::What::frees:
        uncommitted_.erase(use.number);
        break;
      case Facts::TypeUse::What::moves:
        const auto made = uncommitted_.find(use.number);
        if (made == uncommitted_.end() || !one_thread_ || !kinds_.has(Kind::handles)) break;
        findings_.add({Kind::handles, true, "the datatype that the other call made is not committed", ""}, call,
                      made->second);
        break;
    }
  }
}

void RankCalls::requests(const Facts &facts, const CallTime &call) {
  using Does = MessageCall::Does;
  const spec::Function &function = spec::functions()[call.function];
  if (facts.writes_twice) {
    findings_.add(
        {Kind::buffers, true, "what it writes to has bytes that overlap: parts of its datatype, or for its ranks", ""},
        call);
  }
  if (facts.read_and_written != 0) {
    findings_.add({Kind::buffers, true,
                   fmt::format("it reads memory that it writes to: {} {}", facts.read_and_written,
                               facts.read_and_written == 1 ? "byte" : "bytes"),
                   "both"},
                  call);
  }
  if (facts.request && function.persistent) {
    persistent_[*facts.request] = facts.regions;
  } else {
    if (!facts.regions.empty() || facts.request) tell_overlaps(buffers_.use(facts.regions, call, facts.request), call);
    if (facts.request) makers_[*facts.request] = call.call;
  }
  for (const HandleName &request : facts.perhaps_complete) {
    buffers_.complete(request);
    makers_.erase(request);
  }
  if (facts.message == nullptr) return;
  switch (facts.message->does) {
    case Does::start:
      for (const HandleName &request : facts.message->requests) {
        const auto made = persistent_.find(request);
        if (made == persistent_.end()) continue;
        tell_overlaps(buffers_.use(made->second, call, request), call);
        // Of several that one call starts nobody can tell which waits for what.
        makers_[request] = facts.message->requests.size() == 1 ? call.call : kSeveral;
      }
      break;
    case Does::complete:
    case Does::release:
      for (const HandleName &request : facts.message->requests) {
        buffers_.complete(request);
        makers_.erase(request);
        if (facts.message->does == Does::release) persistent_.erase(request);
      }
      break;
    default:
      break;
  }
}

void RankCalls::tell_overlaps(const std::vector<PendingBuffers::Overlap> &overlaps, const CallTime &call) {
  for (const PendingBuffers::Overlap &overlap : overlaps) {
    findings_.add({Kind::buffers, true,
                   fmt::format("{} memory that the other is still to {}: {} {}", overlap.writes ? "writes to" : "reads",
                               overlap.pending_writes ? "write to" : "read", overlap.bytes,
                               overlap.bytes == 1 ? "byte" : "bytes"),
                   overlap.writes ? "" : "reads"},
                  call, overlap.pending);
  }
}

void RankCalls::note_last(const trace::Event &event, const analyze::RowScope &scope, const Facts &facts,
                          const CallTime &call) {
  LastCall &last = last_[event.thread];
  if (last.in == LastCall::In::finalize) return;
  last = {};
  last.call = call;
  const auto all = spec::functions();
  if (call.function >= all.size()) return;
  const spec::Function &function = all[call.function];
  if (call.function == spec::function_id::Finalize) last.in = LastCall::In::finalize;
  if (facts.returned || last.in == LastCall::In::finalize) return;
  const analyze::RowAccess access(*event.values, scope);
  if (!argument_fault(access, sizes_).empty()) return;  // MPI ended the run for that: it waits for nobody
  const std::string_view name = function.name;
  if (name == "MPI_Probe" || name == "MPI_Mprobe") {
    const auto communicator = access.handle("comm");
    if (!communicator || communicator->constant() != spec::constant_id::k_COMM_WORLD) return;
    last.in = LastCall::In::probe;
    last.source = access.number("source");
    if (!last.source && access.constant("source") != "MPI_ANY_SOURCE") last.in = LastCall::In::nothing;
    last.tag = access.number("tag");
    if (!last.tag && access.constant("tag") != "MPI_ANY_TAG") last.in = LastCall::In::nothing;
    return;
  }
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.kind != spec::Kind::request || parameter.effect != Effect::complete || function.answer != 0) continue;
    last.in = LastCall::In::requests;
    last.any = function.completed != 0;
    for (const HandleName &request : access.handles(parameter.name)) {
      const auto maker = makers_.find(request);
      if (maker != makers_.end() && maker->second == kSeveral) {
        last.in = LastCall::In::nothing;
      } else if (maker != makers_.end()) {
        last.makers.push_back(maker->second);
      } else if (request.special == trace::kUnknown) {
        last.in = LastCall::In::nothing;  // who knows what that waits for
      }
    }
    return;
  }
  if (function.nonblocking || function.answer != 0) return;
  last.in = LastCall::In::call;
}

}  // namespace cairn::check
