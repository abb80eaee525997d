#include "mpi/store/harvest.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <tuple>

#include "mpi/store/arena_file.h"
#include "mpi/store/pending.h"
#include "mpi/store/polls.h"
#include "spec/spec.h"
#include "trace/model/script_module.h"

namespace cairn::recorder {
namespace {

using timing::CallStats;
using trace::ProcessRecord;
using trace::SequenceRecord;

CallStats stats_of(const Signature &signature) {
  CallStats stats;
  stats.count = signature.count;
  stats.sum = signature.sum;
  stats.minimum = signature.minimum;
  stats.maximum = signature.maximum;
  if (signature.histogram != nullptr) {
    for (size_t i = 0; i < CallStats::kBuckets; ++i) {
      if (signature.histogram[i] != 0) stats.histogram[i] = signature.histogram[i];
    }
  } else if (signature.count == 1) {
    stats.histogram[static_cast<size_t>(CallStats::bucket(signature.sum))] = 1;
  }
  return stats;
}

timing::GapStats gaps_of(const GapCounters *counters) {
  timing::GapStats stats;
  if (counters == nullptr) return stats;
  stats.sum = counters->sum;
  for (size_t i = 0; i < CallStats::kBuckets; ++i) {
    if (counters->counts[i] != 0) stats.histogram.append({static_cast<uint8_t>(i), counters->counts[i]});
  }
  return stats;
}

/// Where a dead process's arena lies here; nothing for the living.
struct Remains {
  uintptr_t base = 0;
  size_t readable = 0;
  [[nodiscard]] TimingLog::Owner owner() const {
    return readable == 0 ? TimingLog::Owner::living : TimingLog::Owner::dead;
  }
  /// Whether the object lay in what the disk had no room for: that reads as zeros, which no such object is.
  template <typename Object>
  [[nodiscard]] bool is_hole(const Object &object) const {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&object);
    return readable != 0 && std::all_of(bytes, bytes + sizeof object, [](uint8_t byte) { return byte == 0; });
  }
};

Result<grammar::Grammar> read_grammar(const grammar::Builder &builder, const Remains &remains) {
  return remains.readable == 0 ? grammar::Grammar::from(builder)
                               : grammar::Grammar::from(builder, remains.base, remains.readable);
}

grammar::Grammar zeros(uint64_t count) {
  if (count == 0) return {};
  Result<grammar::Grammar> repeated = grammar::Grammar::from_rules({{grammar::Term{0, false, count}}});
  return repeated ? std::move(*repeated) : grammar::Grammar();
}

/// An order of as many symbols as there are calls: zeros in front for those made while there was one thread, and behind
/// for those that `order` lacks, which memory did not suffice for, or whose thread was killed before it had said when
/// they came. Nothing if it cannot be of these calls.
grammar::Grammar whole_order(const grammar::Grammar &order, uint64_t unordered, uint64_t calls) {
  if (unordered > calls || order.length() > calls - unordered) return {};
  const grammar::Grammar known = grammar::Grammar::concatenated(zeros(unordered), order);
  return grammar::Grammar::concatenated(known, zeros(calls - unordered - order.length()));
}

/// A sequence where it lies.
struct Recorded {
  uint32_t thread;
  const Sequence *sequence;
  const TimingLog *timing;
  uint64_t last_end;  ///< in ticks

  /// By which its times are told.
  [[nodiscard]] CalibratedClock clock(const Process &of, const Remains &remains) const {
    if (timing->is_open()) return timing->clock(remains.owner());
    CalibratedClock clock = of.calibrated;
    if (remains.owner() == TimingLog::Owner::living) clock.calibrate();
    return clock;
  }
};

Result<SequenceRecord> harvest_sequence(const Process &of, const Recorded &recorded, const Remains &remains,
                                        CallFrames *frames, timing::TimesCost *cost) {
  const Sequence &sequence = *recorded.sequence;
  SequenceRecord record;
  record.thread = recorded.thread;
  record.segment = sequence.segment;
  Result<grammar::Grammar> calls = read_grammar(*sequence.calls, remains);
  if (!calls) return tl::unexpected(calls.error());
  record.calls = std::move(*calls);
  const uint32_t rows = sequence.signatures.size();
  record.rows.reserve(rows);
  if (of.run.config.statistics) record.stats.reserve(rows);
  for (uint32_t id = 0; id < rows; ++id) {
    const Signature &signature = sequence.signatures[id];
    record.rows.emplace_back(signature.bytes, signature.bytes + signature.size);
    if (of.run.config.statistics) record.stats.push_back(stats_of(signature));
  }
  record.polls = polls_of(record.rows);
  for (size_t i = 0; i < sequence.sites.size(); ++i) record.sites.push_back(frames->of(sequence.sites[i]));
  for (size_t i = 0; i < sequence.gaps.size(); ++i) record.gaps.push_back(gaps_of(sequence.gaps[i]));
  if (sequence.order != nullptr) {
    Result<grammar::Grammar> order = read_grammar(*sequence.order, remains);
    if (!order) return tl::unexpected(order.error());
    record.order = whole_order(*order, sequence.unordered, record.calls.length());
  } else if (of.thread_count.load() > 1) {
    record.order = zeros(record.calls.length());
  }
  if (sequence.heap.order != nullptr) {
    Result<grammar::Grammar> heap = read_grammar(*sequence.heap.order, remains);
    if (!heap) return tl::unexpected(heap.error());
    record.heap = std::move(*heap);
    for (uint32_t id = 0; id < sequence.heap.events.size(); ++id) {
      record.heap_events.push_back(heap_event_of(sequence.heap.events[id]));
    }
  }
  record.first_ticket = sequence.first_ticket;
  const uint64_t begin = recorded.clock(of, remains).clock().at(sequence.begin);
  record.begin_ns = of.run.since_begin(begin);
  if (of.run.config.times) {
    if (auto setting = timing::parse_setting(of.run.timing)) {
      record.times = recorded.timing->read(*setting, remains.owner(), true, cost);
    }
  }
  return record;
}

bool makes_communicator(ByteView row) {
  const uint64_t id = ByteReader(row).varint();
  return id < spec::functions().size() && spec::makes_communicator(spec::functions()[id]);
}

/// The symbols of a grammar, each once, in the order of where they stand last, the latest first. Cost: the rules.
std::vector<grammar::Symbol> latest_first(const grammar::Grammar &grammar) {
  const std::vector<grammar::Body> &rules = grammar.rules();
  std::vector<grammar::Symbol> symbols;
  std::set<grammar::Symbol> seen;
  std::vector<bool> walked(rules.size());
  struct At {
    uint32_t rule;
    size_t left;  ///< of its terms
  };
  std::vector<At> stack = {{0, rules[0].size()}};
  while (!stack.empty()) {
    At &at = stack.back();
    if (at.left == 0) {
      stack.pop_back();
      continue;
    }
    const grammar::Term &term = rules[at.rule][--at.left];
    if (!term.is_rule) {
      if (seen.insert(term.id).second) symbols.push_back(term.id);
    } else if (!walked[term.id]) {  // else all that it holds stands later, too
      walked[term.id] = true;
      stack.push_back({term.id, rules[term.id].size()});
    }
  }
  return symbols;
}

/// The parameter of a function with a request that it makes, or else, not `made`, that it is given; -1: it has none.
int request_parameter(uint64_t function, bool made) {
  if (function >= spec::functions().size()) return -1;
  const spec::Function &known = spec::functions()[function];
  for (unsigned i = 0; i < known.parameter_count; ++i) {
    const spec::Parameter &parameter = known.parameters[i];
    const bool is_made = parameter.effect == spec::Effect::create;
    const bool out = parameter.direction == spec::Direction::out;
    if (parameter.kind == spec::Kind::request && (made ? is_made : !out)) return static_cast<int>(i);
  }
  return -1;
}

bool waits_for_requests(const SequenceRecord &pending) {
  return std::any_of(pending.rows.begin(), pending.rows.end(),
                     [](const Bytes &row) { return request_parameter(ByteReader(row).varint(), false) >= 0; });
}

/// Which calls of a thread are told with what it is in.
struct Telling {
  bool last = false;            ///< the one that it made last
  bool makes_requests = false;  ///< of each request the last one that made it
};

/// Of what a thread has in memory, as a sequence: the calls that made communicators, which pending calls name, each
/// once; and those that `telling` says.
Result<SequenceRecord> telling_calls(const RecordedThread &thread, const Remains &remains, Telling telling,
                                     CallFrames *frames) {
  const Sequence &sequence = thread.sequence;
  SequenceRecord record;
  record.thread = thread.number;
  record.segment = sequence.segment;
  if (sequence.calls == nullptr || sequence.calls->length() == 0) return record;
  const uint32_t rows = sequence.signatures.size();
  const auto bytes_of = [&](uint32_t id) -> ByteView {
    return {sequence.signatures[id].bytes, sequence.signatures[id].size};
  };
  uint32_t last = UINT32_MAX;
  std::set<uint32_t> told;
  if (telling.last || telling.makes_requests) {
    const Result<grammar::Grammar> calls = read_grammar(*sequence.calls, remains);
    if (!calls) return tl::unexpected(calls.error());
    const std::vector<grammar::Symbol> latest = latest_first(*calls);
    if (telling.last && !latest.empty()) last = latest.front();
    std::set<std::vector<trace::Atom>> requests;
    for (const grammar::Symbol id : latest) {
      if (!telling.makes_requests) break;
      const int made = id < rows ? request_parameter(ByteReader(bytes_of(id)).varint(), true) : -1;
      if (made < 0) continue;
      ByteReader in(bytes_of(id));
      const Result<trace::Row> row = trace::unpack_row(in);
      const auto field = static_cast<size_t>(made);
      if (row && field < row->fields.size() && requests.insert(row->fields[field].atoms).second) told.insert(id);
    }
  }
  for (uint32_t id = 0; id < rows; ++id) {
    if (id != last && (makes_communicator(bytes_of(id)) || told.contains(id)))
      record.rows.emplace_back(bytes_of(id).begin(), bytes_of(id).end());
  }
  if (last < rows) record.rows.emplace_back(bytes_of(last).begin(), bytes_of(last).end());
  std::vector<grammar::Symbol> each(record.rows.size());
  std::iota(each.begin(), each.end(), 0);
  record.calls = grammar::Grammar::from_symbols(each);
  for (size_t i = 0; i < sequence.sites.size(); ++i) record.sites.push_back(frames->of(sequence.sites[i]));
  return record;
}

/// Rounded up to a power of two, so that most ranks say the same: then it costs a trace nothing.
trace::RankClock clock_of(const Process &of, uint64_t wall_ns, uint64_t told_within_ns) {
  const uint64_t within = told_within_ns == 0 ? 0 : std::bit_ceil(std::min(told_within_ns, uint64_t{1} << 62));
  return of.run.common.of(of.clock.origin() + of.run.begin_ns, wall_ns, within);
}

/// Everything but the sequences.
ProcessRecord frame_of(const Process &of, uint64_t end_ns, ListedModules modules) {
  ProcessRecord record;
  record.rank = of.run.told_rank();
  record.size = of.run.told_size();
  record.host = of.run.host;
  record.losses = of.losses.told();
  for (trace::Loss &loss : record.losses) {
    if (loss.reason == reason_of(Loss::excluded)) loss.reason += std::string(" ") + of.run.excluded;
  }
  record.complete = of.progress.complete;
  record.wall_ns = of.run.since_begin(end_ns);
  record.peak_memory = of.arena->peak();
  record.clock = clock_of(of, record.wall_ns, of.calibrated.uncertainty(0));
  for (uint32_t i = 0; i < modules.objects; ++i) {
    const ModuleInfo &module = (*of.names.modules)[static_cast<int>(i)];
    record.modules.push_back({Bytes(module.build_id, module.build_id + module.build_id_size), module.path});
  }
  for (uint32_t i = 0; i < modules.scripts; ++i) {
    const ScriptFunction &script = of.names.modules->script(i);
    record.modules.push_back(trace::script_module(script.file, script.name));
  }
  if (!of.run.config.call_sites) record.modules.push_back({});  // what pseudo-sites of functions lie in
  return record;
}

/// What is in memory: threads' own sequences, and the one that is closed but not in the spool. Until it has its new one
/// a thread still has the closed one, too.
/// `lost`: some of it lay in what the disk had no room for.
std::vector<Recorded> all_recorded(const Process &of, const Remains &remains, bool *lost) {
  std::vector<Recorded> all;
  const ClosedSequence *closed = of.spilling.closed.load();
  if (closed != nullptr && remains.is_hole(*closed)) {
    *lost = true;
    closed = nullptr;
  }
  if (closed != nullptr && closed->file.load() < of.spilling.spilled.load()) closed = nullptr;
  if (closed != nullptr) all.push_back({closed->thread, &closed->sequence, &closed->timing, closed->last_end});
  for (const RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    if (thread->wants_epilogue) continue;  // what it holds has been handed over
    const grammar::Builder *calls = thread->sequence.calls;
    *lost = *lost || (calls != nullptr && remains.is_hole(*calls));
    if (calls == nullptr || calls->length() == 0) continue;
    if (closed != nullptr && calls == closed->sequence.calls) continue;
    all.push_back({thread->number, &thread->sequence, &thread->timing, thread->last_end});
  }
  std::sort(all.begin(), all.end(), [](const Recorded &a, const Recorded &b) {
    return std::tuple(a.thread, a.sequence->segment) < std::tuple(b.thread, b.sequence->segment);
  });
  return all;
}

Result<ProcessRecord> harvest_process(const Process &of, uint64_t end_ns, const Remains &remains) {
  const ListedModules modules = ListedModules::of(*of.names.modules);
  ProcessRecord record = frame_of(of, end_ns, modules);
  CallFrames frames(&record.frames, modules);
  for (const RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    if (!thread->wants_epilogue) record.mpi_ns += thread->mpi_ns;
  }
  // Without saying how long: so ranks say the same.
  if (const uint64_t calls = of.spilling.slowed_calls.load(); calls != 0) {
    record.losses.push_back({"a call waited for the spool", calls});
  }
  record.times_cost = of.spilling.times_cost;
  bool no_times = false;
  uint64_t told_within_ns = of.calibrated.uncertainty(0);
  constexpr const char *kMissing = "a thread's calls are missing: ";
  constexpr const char *kNoRoom = "the disk of the spool had no room for them";
  bool lost = false;
  for (const Recorded &recorded : all_recorded(of, remains, &lost)) {
    told_within_ns = std::max(told_within_ns, recorded.clock(of, remains).uncertainty(recorded.last_end));
    no_times = no_times || (of.run.config.times && recorded.timing->stopped(remains.owner()));
    Result<SequenceRecord> sequence = harvest_sequence(of, recorded, remains, &frames, &record.times_cost);
    if (!sequence) {
      const bool cut = remains.readable != 0 && of.run.cut;
      record.losses.push_back({kMissing + (cut ? kNoRoom : sequence.error().message), 0, true});
      continue;
    }
    record.sequences.push_back(std::move(*sequence));
  }
  if (lost) record.losses.push_back({std::string(kMissing) + kNoRoom, 0, true});
  record.clock = clock_of(of, record.wall_ns, told_within_ns);
  if (no_times) record.losses.push_back({"no room for the timing of all calls", 0, false});
  if (remains.readable != 0 && of.progress.ending != Ending::exited) {
    add_pending(of, end_ns, reopen_finalize(of, &record), &record, &frames);
  } else if (!of.progress.complete) {
    add_pending(of, end_ns, false, &record, &frames);  // of the other threads
  }
  return record;
}

}  // namespace

Result<ProcessRecord> harvest(const Process &of, uint64_t end_ns) { return harvest_process(of, end_ns, {}); }

Bytes spool_file_of(const Process &of, SpoolHeader::Kind kind, const char *status, const trace::Part &part) {
  SpoolHeader header;
  header.kind = kind;
  header.job = of.run.job;
  header.start_unix_ns = static_cast<uint64_t>(of.run.start_unix_ns);
  header.rank = of.run.told_rank();
  header.size = of.run.told_size();
  header.host = of.run.host;
  header.command = of.run.command;
  header.mpi = of.run.mpi_version;
  header.recorder = of.run.recorder;
  header.timing = of.run.timing;
  header.status = status;
  header.launcher_job = of.run.launcher_job;
  header.spawned_by = of.run.spawned_by;
  Bytes bytes = write_spool_header(header);
  const Bytes body = part.serialise();
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

Result<ProcessRecord> harvest_closed(const Process &of, const ClosedSequence &closed) {
  const ListedModules modules = ListedModules::of(*of.names.modules);
  ProcessRecord record = frame_of(of, of.clock.at(closed.last_end), modules);
  CallFrames frames(&record.frames, modules);
  Result<SequenceRecord> sequence = harvest_sequence(
      of, {closed.thread, &closed.sequence, &closed.timing, closed.last_end}, {}, &frames, &record.times_cost);
  if (!sequence) return tl::unexpected(sequence.error());
  record.sequences.push_back(std::move(*sequence));
  return record;
}

Result<ProcessRecord> harvest_dead(const Process &of, size_t readable, std::optional<int64_t> ended_unix_ns) {
  uint64_t end_ns = of.run.begin_ns;
  if (ended_unix_ns && *ended_unix_ns > of.run.start_unix_ns) {
    end_ns = std::max(end_ns, static_cast<uint64_t>(*ended_unix_ns - of.run.start_unix_ns));
  }
  for (const RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    if (thread->last_end != 0) end_ns = std::max(end_ns, of.clock.at(thread->last_end));
    for (const Frame *frame : calls_in_flight(*thread, true)) end_ns = std::max(end_ns, of.clock.at(frame->begin));
  }
  const auto base = reinterpret_cast<uintptr_t>(of.self) + arena_front();
  Result<ProcessRecord> record = harvest_process(of, end_ns, {base, readable - arena_front()});
  const Ending ending = of.progress.ending;
  if (!record || ending == Ending::exited) return record;
  record->complete = false;
  record->losses.push_back({ending == Ending::left
                                ? "ended by _exit, quick_exit or exec: recorded up to the last call that ended"
                                : "killed: recorded up to the last call that ended",
                            0, false});
  return record;
}

ProcessRecord identity_of(const Process &of) {
  ProcessRecord record = frame_of(of, of.clock.now(), ListedModules::of(*of.names.modules));
  record.complete = false;
  return record;
}

Result<ProcessRecord> harvest_living(const Process &of, size_t readable) {
  const uint64_t now = of.clock.now();
  const ListedModules modules = ListedModules::of(*of.names.modules);
  ProcessRecord record = frame_of(of, now, modules);
  record.complete = false;
  CallFrames frames(&record.frames, modules);
  add_pending(of, now, true, &record, &frames);
  const auto base = reinterpret_cast<uintptr_t>(of.self) + arena_front();
  std::vector<SequenceRecord> before;
  const bool requests = std::any_of(record.sequences.begin(), record.sequences.end(), waits_for_requests);
  for (const SequenceRecord &pending : record.sequences) {
    const RecordedThread *thread = of.threads.first.load();
    while (thread != nullptr && thread->number != pending.thread) thread = thread->next;
    if (thread == nullptr) continue;
    Result<SequenceRecord> calls =
        telling_calls(*thread, {base, readable - arena_front()}, {pending.calls.empty(), requests}, &frames);
    if (!calls) return tl::unexpected(calls.error());
    if (!calls->calls.empty()) before.push_back(*std::move(calls));
  }
  for (SequenceRecord &calls : before) record.sequences.push_back(std::move(calls));
  return record;
}

}  // namespace cairn::recorder
