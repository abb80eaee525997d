#include "mpi/store/pending.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "mpi/names/addresses.h"
#include "mpi/names/handles.h"
#include "mpi/names/local_values.h"
#include "spec/expression.h"
#include "trace/model/record_times.h"

namespace cairn::recorder {
namespace {

using spec::Direction;
using spec::Function;
using spec::Kind;
using spec::Layout;
using spec::Parameter;
using spec::Passing;
using trace::Atom;
using trace::SequenceRecord;

/// The sites of a sequence, numbered as its rows name them.
class LocalSites {
 public:
  LocalSites(SequenceRecord *sequence, CallFrames *frames) : sequence_(sequence), frames_(frames) {
    sequence_->sites.push_back({});  // the unknown one
  }
  uint32_t number(const Site *site) {
    if (site == nullptr) return 0;
    const auto [entry, added] = numbers_.try_emplace(site, static_cast<uint32_t>(sequence_->sites.size()));
    if (added) sequence_->sites.push_back(frames_->of(site));
    return entry->second;
  }

 private:
  SequenceRecord *sequence_;
  CallFrames *frames_;
  std::unordered_map<const Site *, uint32_t> numbers_;
};

/// What `begin` saved of a parameter.
struct Saved {
  const uint8_t *elements = nullptr;
  size_t count = 0;
};

std::vector<Saved> saved_of(const Frame &frame, const Function &function, const RecordedThread &thread,
                            const LocalValues &local) {
  std::vector<Saved> saved(function.parameter_count);
  const Growable<uint8_t> &before = *thread.in_flight.before;
  if ((frame.flags & kFrameSaved) == 0) return saved;
  size_t at = frame.scratch;
  const size_t end = std::min(before.size(), before.capacity());
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const Parameter &parameter = function.parameters[i];
    if (parameter.capacity) at += sizeof(uint64_t);
    if (!parameter.read_before) continue;
    uint64_t count = 0;
    if (at > end || end - at < sizeof count) return saved;
    memcpy(&count, before.data() + at, sizeof count);
    at += sizeof count;
    if (count > (end - at) / local.element_size(parameter)) return saved;
    saved[i] = {before.data() + at, count};
    at += (count * local.element_size(parameter) + 7) & ~size_t{7};
  }
  return saved;
}

/// One call on its way to its row.
class PendingCall {
 public:
  PendingCall(const Process &of, const RecordedThread &thread, const Frame &frame, LocalSites *sites)
      : of_(of),
        thread_(thread),
        frame_(frame),
        function_(spec::functions()[frame.function]),
        local_(*of.names.local),
        saved_(saved_of(frame, function_, thread, local_)),
        sites_(sites) {}

  trace::Row row() {
    trace::Row row;
    row.function = frame_.function;
    row.site = sites_->number(frame_.expected != nullptr ? frame_.expected->site : frame_.site);
    row.depth = frame_.depth;
    for (unsigned i = 0; i < function_.parameter_count; ++i) {
      atoms_.clear();
      parameter(i);
      row.fields.push_back({false, atoms_, {}});
    }
    row.fields.push_back({false, {trace::kNoReturn}, {}});
    return row;
  }

  // What expressions of the table ask (spec/expression.h).

  [[nodiscard]] int64_t argument(unsigned i) const { return static_cast<int64_t>(frame_.argument[i]); }
  int64_t dereference(unsigned i) { return element(i, 0); }
  int64_t element(unsigned i, int64_t index) {
    if (frame_.argument[i] == 0 || local_.constant_of(function_.parameters[i].pointer_domain, frame_.argument[i]) >= 0)
      return 0;
    if (index < 0 || static_cast<uint64_t>(index) >= saved_[i].count) return not_known();
    return static_cast<int64_t>(
        local_.element_word(function_.parameters[i], saved_[i].elements, static_cast<size_t>(index)));
  }
  [[nodiscard]] int64_t constant(uint16_t id) const {
    return local_.constants[id].present ? static_cast<int64_t>(local_.constants[id].word) : INT64_MIN;
  }
  int64_t query(spec::Query what, unsigned i) {
    const std::optional<Communicator> comm = communicator(i);
    if (!comm) return not_known();
    switch (what) {
      case spec::Query::rank:
        return comm->rank;
      case spec::Query::local_size:
        return comm->size;
      case spec::Query::inter:
        return comm->inter ? 1 : 0;
      case spec::Query::peer_size:
        return comm->inter ? not_known() : comm->size;
      default:
        return not_known();
    }
  }
  int64_t query(spec::Query /*what*/, unsigned /*i*/, int64_t /*second*/) { return not_known(); }

 private:
  int64_t not_known() {
    known_ = false;
    return 0;
  }
  [[nodiscard]] std::optional<HandleTable::Found> find(Kind kind, uint64_t raw, size_t nth = 0) const {
    return of_.names.handles->living(kind, raw, thread_.number, nth);
  }
  [[nodiscard]] std::optional<Communicator> communicator(unsigned i) const {
    if (function_.parameters[i].kind != Kind::comm) return std::nullopt;
    const auto found = find(Kind::comm, frame_.argument[i]);
    if (!found) return std::nullopt;
    if (found->constant == spec::constant_id::k_COMM_SELF) return Communicator{0, 1, 0, false, 0, false};
    if (found->constant == spec::constant_id::k_COMM_WORLD && of_.run.rank >= 0) {
      return Communicator{0, of_.run.size, of_.run.rank, false, 0, false};
    }
    if (found->constant >= 0 || found->comm == nullptr || found->comm->size < 0) return std::nullopt;
    return *found->comm;
  }

  void atom(Atom value) { atoms_.push_back(value); }
  void integer(int64_t value) {
    if (!trace::is_special(value)) return atom(value);
    atom(trace::kRaw);
    atom(value >> 32);
    atom(value & 0xffffffff);
  }
  void unknown() { atoms_ = {trace::kUnknown}; }

  void parameter(unsigned i) {
    const Parameter &p = function_.parameters[i];
    if (p.layout == Layout::none) return;
    if (p.direction == Direction::out && p.passing != Passing::buffer) return;
    const bool strings = p.passing == Passing::string_array || p.passing == Passing::argv_array;
    if (strings && of_.run.config.no_command) return;
    known_ = true;
    const bool significant = !p.significant || spec::evaluate(p.significant, *this) != 0;
    if (!known_) return unknown();
    if (!significant) return;
    const uint64_t word = frame_.argument[i];
    if (p.passing == Passing::value) return value(p, word, 0);
    if (p.passing == Passing::buffer) return address(p, word);
    if (const int id = local_.constant_of(p.pointer_domain, word); id >= 0) return atom(trace::constant_atom(id));
    if (word == 0) {
      if (p.may_be_null || p.passing != Passing::array) atom(trace::kNull);
      return;
    }
    const bool elements = p.passing == Passing::pointer || p.passing == Passing::array;
    if (!elements || p.layout == Layout::status || saved_[i].elements == nullptr) return unknown();
    std::unordered_map<uint64_t, size_t> times;
    for (size_t k = 0; k < saved_[i].count; ++k) {
      const uint64_t each = local_.element_word(p, saved_[i].elements, k);
      value(p, each, times[each]++);
    }
  }

  /// `nth`: of the objects that have this value.
  void value(const Parameter &p, uint64_t word, size_t nth) {
    switch (p.layout) {
      case Layout::integer: {
        const int id = local_.constant_of(p.domain, word);
        return id >= 0 ? atom(trace::constant_atom(id)) : integer(static_cast<int64_t>(word));
      }
      case Layout::floating:
        return integer(static_cast<int64_t>(word));
      case Layout::flags:
        return flags(p, word);
      case Layout::error:
        if (word == 0) return atom(0);  // MPI_SUCCESS is 0 by the standard
        atom(trace::kUnknown);
        return integer(static_cast<int64_t>(word));
      case Layout::comm: {
        const auto found = find(Kind::comm, word);
        if (!found || (found->constant < 0 && found->comm == nullptr)) return unknown();
        return atom(found->constant >= 0 ? trace::constant_atom(found->constant) : Atom{found->comm->number});
      }
      case Layout::handle:
        return handle(p.kind, word, nth);
      case Layout::address:
        return address(p, word);
      default:
        return unknown();
    }
  }

  void handle(Kind kind, uint64_t word, size_t nth) {
    const auto found = find(kind, word, nth);
    if (!found || (found->constant < 0 && found->site == nullptr)) {
      atom(trace::kUnknown);
      return atom(found ? found->place : 0);
    }
    if (found->constant >= 0) {
      atom(trace::constant_atom(found->constant));
      return atom(0);
    }
    Atom site = sites_->number(found->site);
    if (found->thread != thread_.number) site += (static_cast<Atom>(found->thread) + 1) << 32;
    atom(site);
    atom(found->place);
  }

  void flags(const Parameter &p, uint64_t word) {
    int64_t canonical = 0;
    auto rest = static_cast<int64_t>(word);
    const auto bits = spec::domain(p.domain);
    for (size_t bit = 0; bit < bits.size() && bit < 62; ++bit) {
      const auto [value, is_present] = local_.constants[bits[bit]];
      const auto mask = static_cast<int64_t>(value);
      if (!is_present || mask == 0 || (rest & mask) != mask) continue;
      canonical |= int64_t{1} << bit;
      rest &= ~mask;
    }
    atom(canonical);
    integer(rest);
  }

  void address(const Parameter &p, uint64_t word) {
    Address named = {trace::kNull, 0, 0};
    const bool may_be_integer = p.passing != Passing::buffer || p.kind == Kind::address || p.kind == Kind::attribute ||
                                p.kind == Kind::extra_state;
    if (const int id = local_.constant_of(p.domain, word); id >= 0) {
      named.kind = trace::constant_atom(id);
    } else {
      named = of_.names.addresses->known(word, *thread_.in_flight.stack);
      const bool told = named.kind != trace::kUnknown && named.kind != trace::kNull;
      if (!told && may_be_integer) named = {trace::kInteger, 0, static_cast<int64_t>(word)};
    }
    if (named.kind == trace::kUnknown) return unknown();
    atom(named.kind);
    integer(named.number);
    integer(named.offset);
    const bool has_name = named.kind != trace::kInteger && named.kind != trace::kNull &&
                          trace::special_code(named.kind) < trace::kFirstConstant;
    if (p.keeps_raw && has_name) integer(static_cast<int64_t>(word));
  }

  const Process &of_;
  const RecordedThread &thread_;
  const Frame &frame_;
  const Function &function_;
  const LocalValues &local_;
  std::vector<Saved> saved_;
  LocalSites *sites_;
  std::vector<Atom> atoms_;
  bool known_ = true;
};

timing::CallStats once(uint64_t duration) {
  timing::CallStats stats;
  stats.count = 1;
  stats.sum = stats.minimum = stats.maximum = duration;
  stats.histogram[static_cast<size_t>(timing::CallStats::bucket(duration))] = 1;
  return stats;
}

/// When the thread's last call ended, if it is in none.
std::optional<uint64_t> idle_since(const Process &of, const RecordedThread &thread) {
  const bool records = of.phase.load() == Phase::recording || of.progress.finishing;
  const CallsInFlight &state = *thread.in_flight.state;
  // After MPI_Init, which is recorded then, the recorder itself waits for the other ranks.
  const bool recorded = state.depth == 1 && (thread.in_flight.frames[0].flags & kFrameRecorded) != 0;
  if (!records || (state.busy && !recorded) || state.depth > 1 || thread.last_end == 0) return std::nullopt;
  return thread.last_end;
}

/// It has been recorded, and the recording is being handed over within it.
bool is_open_finalize(const Frame &frame, const Process &of) {
  return frame.function == spec::function_id::Finalize && (frame.flags & kFrameRecorded) != 0 &&
         of.progress.finishing && !of.progress.finished;
}

}  // namespace

bool reopen_finalize(const Process &of, trace::ProcessRecord *record) {
  for (const RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    const InFlight &lies = thread->in_flight;
    if (lies.state == nullptr || lies.state->depth == 0 || !is_open_finalize(lies.frames[0], of)) continue;
    const auto sequence =
        std::find_if(record->sequences.begin(), record->sequences.end(), [&](const SequenceRecord &each) {
          return each.thread == thread->number && each.segment == thread->sequence.segment;
        });
    if (sequence == record->sequences.end()) return false;
    // Its only call, hence the row that came last.
    const uint64_t calls = sequence->calls.length();
    if (grammar::Walker(sequence->calls, calls - 1).next() + 1 != sequence->rows.size()) return false;
    ByteReader row(sequence->rows.back());
    if (row.varint() != spec::function_id::Finalize) return false;
    if (auto setting = timing::parse_setting(of.run.timing); setting && !sequence->times.empty()) {
      sequence->times = thread->timing.read(*setting, TimingLog::Owner::dead, false);
    }
    sequence->calls = sequence->calls.without_last();
    if (!sequence->order.empty()) sequence->order = sequence->order.without_last();
    sequence->rows.pop_back();
    if (!sequence->polls.empty()) sequence->polls.pop_back();
    if (!sequence->stats.empty()) sequence->stats.pop_back();
    return true;
  }
  return false;
}

std::vector<const Frame *> calls_in_flight(const RecordedThread &thread, bool with_finalize) {
  const InFlight &lies = thread.in_flight;
  std::vector<const Frame *> calls;
  if (lies.state == nullptr) return calls;
  const uint32_t depth = std::min(lies.state->depth, kMostFrames);
  for (uint32_t i = 0; i < depth; ++i) {
    const Frame &frame = lies.frames[i];
    if (with_finalize && is_open_finalize(frame, *lies.state->process)) calls.push_back(&frame);
    if ((frame.flags & kFrameRecorded) != 0 || frame.function >= spec::functions().size()) continue;
    if (i + 1 == depth) {
      // The frame of the call before may still say when that began: it has ended since, as may one nested in this one.
      const bool nested = depth < kMostFrames && lies.frames[depth].begin > frame.begin;
      const bool begun = frame.begin >= thread.last_end || nested;
      if (lies.state->busy || !begun) break;
    }
    calls.push_back(&frame);
  }
  return calls;
}

void add_pending(const Process &of, uint64_t end_ns, bool with_finalize, trace::ProcessRecord *record,
                 CallFrames *frames) {
  if (of.progress.finished || of.names.local == nullptr) return;
  uint64_t ticket = of.threads.tickets.load();
  for (const RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    const bool epilogue = thread->wants_epilogue || thread->sequence.segment == SequenceRecord::kEpilogue;
    if (!thread->taken.load() || thread->in_flight.state == nullptr || epilogue) continue;
    const std::vector<const Frame *> calls = calls_in_flight(*thread, with_finalize);
    SequenceRecord pending;
    pending.thread = thread->number;
    pending.segment = thread->sequence.segment + 1;
    LocalSites sites(&pending, frames);
    std::vector<timing::CallTime> times;
    for (const Frame *frame : calls) {
      ByteWriter row;
      trace::pack_row(PendingCall(of, *thread, *frame, &sites).row(), row);
      pending.rows.push_back(row.take());
      const uint64_t begin = of.clock.at(frame->begin);
      times.push_back({0, end_ns > begin ? end_ns - begin : 0});
      if (of.run.config.statistics) pending.stats.push_back(once(times.back().duration));
    }
    if (calls.empty()) {
      const auto since = idle_since(of, *thread);
      if (!since) continue;
      pending.begin_ns = of.run.since_begin(of.clock.at(*since));
    } else {
      const uint64_t first_ns = times.front().duration;
      std::vector<grammar::Symbol> symbols(calls.size());
      for (size_t i = 0; i < calls.size(); ++i) symbols[i] = static_cast<grammar::Symbol>(i);
      pending.calls = grammar::Grammar::from_symbols(symbols);
      pending.begin_ns = of.run.since_begin(of.clock.at(calls.front()->begin));
      if (of.run.config.times) pending.times = trace::exact_times(pending, std::move(times));
      if (calls.front()->depth == 0) record->mpi_ns += first_ns;
    }
    pending.first_ticket = ticket;
    if (of.thread_count.load() > 1 && !calls.empty()) {
      pending.order = grammar::Grammar::from_symbols(std::vector<grammar::Symbol>(calls.size(), 0));
    }
    ticket += calls.size();
    record->sequences.push_back(std::move(pending));
  }
}

}  // namespace cairn::recorder
