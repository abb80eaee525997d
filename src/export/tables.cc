#include "export/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/communicators.h"
#include "analyze/decode.h"
#include "analyze/messages.h"
#include "analyze/volume.h"
#include "export/kernels.h"
#include "export/object_rows.h"
#include "export/reach.h"
#include "export/walk.h"
#include "timing/mode.h"

namespace cairn::exporting {
namespace {

using analyze::Edge;
using Of = Column::Type;

const Table kRun{"run", {{"name", Of::text}, {"value", Of::text}}};
const Table kRanks{"ranks",
                   {{"rank", Of::integer},
                    {"host", Of::text},
                    {"calls", Of::integer},
                    {"wall_ns", Of::integer},
                    {"mpi_ns", Of::integer},
                    {"complete", Of::integer}},
                   "rank"};
const Table kCommunicators{"communicators",
                           {{"communicator", Of::text},
                            {"size", Of::integer},
                            {"members", Of::text},
                            {"other_members", Of::text},
                            {"made_by", Of::text},
                            {"at", Of::text}}};
const Table kSites{"sites",
                   {{"site", Of::integer},
                    {"function", Of::text},
                    {"file", Of::text},
                    {"line", Of::integer},
                    {"within", Of::text},
                    {"module", Of::text},
                    {"offset", Of::integer}},
                   "site"};
const Table kCalls{"calls",
                   {{"rank", Of::integer},
                    {"call", Of::integer},
                    {"thread", Of::integer},
                    {"depth", Of::integer},
                    {"site", Of::integer},
                    {"begin_ns", Of::integer},
                    {"end_ns", Of::integer},
                    {"sent_bytes", Of::integer},
                    {"received_bytes", Of::integer},
                    {"failed", Of::integer}},
                   "rank, call"};
const Table kKernels{"kernels",
                     {{"launch", Of::integer},
                      {"rank", Of::integer},
                      {"kernel", Of::text},
                      {"grid", Of::text},
                      {"block", Of::text},
                      {"device", Of::integer},
                      {"stream", Of::integer},
                      {"thread", Of::integer},
                      {"calls_before", Of::integer},
                      {"made_ns", Of::integer},
                      {"begin_ns", Of::integer},
                      {"end_ns", Of::integer}},
                     "launch"};
const Table kMessages{"messages",
                      {{"sender", Of::integer},
                       {"send_call", Of::integer},
                       {"receiver", Of::integer},
                       {"receive_call", Of::integer},
                       {"communicator", Of::text},
                       {"tag", Of::integer},
                       {"bytes", Of::integer},
                       {"sent_ns", Of::integer},
                       {"received_ns", Of::integer},
                       {"certain", Of::integer}}};

class Tables : public analyze::Arrivals {
 public:
  Tables(Scope *scope, TableWriter *writer, TableCounts *counts)
      : scope_(*scope), trace_(*scope->trace), writer_(*writer), counts_(*counts), layouts_(*scope->trace) {}

  Result<void> write(const gpu::Launches &launches) {
    if (auto done = writer_.begin(kRun); !done) return done;
    const auto &run = trace_.run();
    const std::string ranks = std::to_string(trace_.rank_count());
    for (const auto &[name, value] : {std::pair<const char *, const std::string *>{"command", &run.command},
                                      {"mpi", &run.mpi},
                                      {"recorder", &run.recorder},
                                      {"timing", &run.timing},
                                      {"status", &run.status},
                                      {"ranks", &ranks}}) {
      writer_.row({std::string_view(name), std::string_view(*value)});
    }
    if (auto done = write_ranks(); !done) return done;
    if (auto done = write_communicators(); !done) return done;
    auto calls = write_calls();
    if (auto done = write_sites(); !done) return done;
    if (auto done = write_messages(); !done) return done;
    if (auto done = write_kernels(launches); !done) return done;
    return calls;
  }

  Result<void> write_messages() {
    if (auto done = writer_.begin(kMessages); !done) return done;
    const auto messages = analyze::Messages::of(trace_, *scope_.sources);
    if (!messages) return tl::unexpected(messages.error());
    messages_ = &*messages;
    const auto done = replay_wanted(scope_, *messages, this);
    // Damaged times were told of when the calls were read.
    return done || done.error().kind == ErrorKind::unreadable ? Result<void>() : done;
  }

  void sent(const analyze::CallTime &call, uint32_t to, int64_t /*tag*/, uint64_t /*number*/) override {
    if (is_in_time(call.begin_ns) && scope_.wanted.has_rank(call.rank) && scope_.wanted.has_rank(to)) ++under_way_;
  }

  void message(const Edge &edge) override {
    if (edge.kind != Edge::Kind::message) return;
    const bool among_wanted = scope_.wanted.has_rank(edge.from.rank) && scope_.wanted.has_rank(edge.to.rank);
    if (!among_wanted || !is_in_time(edge.from.begin_ns)) return;
    --under_way_;
    if (scope_.wanted.window && edge.to.end_ns < scope_.wanted.window->begin_ns) return;
    ++counts_.messages;
    const Cell none;
    writer_.row({cell(edge.from.rank), cell(edge.from.call), cell(edge.to.rank), cell(edge.to.call),
                 std::string_view(messages_->name_of(edge.communicator)), edge.tag,
                 edge.bytes ? cell(*edge.bytes) : none, edge.timed ? cell(edge.from.begin_ns) : none,
                 edge.timed ? cell(edge.to.end_ns) : none, cell(edge.exact ? 1 : 0)});
  }
  [[nodiscard]] bool wants_untimed() const override { return !scope_.wanted.window; }
  [[nodiscard]] bool wants_meetings() const override { return false; }
  [[nodiscard]] bool has_enough(uint64_t ns) const override { return !is_in_time(ns) && under_way_ == 0; }

 private:
  [[nodiscard]] bool is_in_time(uint64_t ns) const {
    return !scope_.wanted.window || ns <= scope_.wanted.window->end_ns;
  }

  Result<void> write_ranks() {
    if (auto done = writer_.begin(kRanks); !done) return done;
    const bool timed = !timing::keeps_nothing(trace_.run().timing);
    for (const uint32_t rank : scope_.wanted.ranks) {
      const uint64_t calls = trace_.call_count(rank);
      const auto info = trace_.rank_info(rank);
      writer_.row({cell(rank), std::string_view(info.host), cell(calls), timed ? cell(info.wall_ns) : Cell(),
                   timed ? cell(info.mpi_ns) : Cell(), cell(info.complete ? 1 : 0)});
    }
    return {};
  }

  Result<void> write_communicators() {
    if (auto done = writer_.begin(kCommunicators); !done) return done;
    const auto communicators = analyze::Communicators::of(trace_, *scope_.sources);
    if (!communicators) return tl::unexpected(communicators.error());
    for (const analyze::Communicator &each : communicators->all()) {
      const std::string members = analyze::members_text(each.groups[0]);
      const std::string others = each.groups[1].empty() ? "" : analyze::members_text(each.groups[1]);
      const std::string maker = each.made ? analyze::function_name(each.function) : "";
      const std::string place = each.position.short_text();
      writer_.row({std::string_view(each.name), cell(each.groups[0].size()), std::string_view(members),
                   others.empty() ? Cell() : Cell(std::string_view(others)),
                   maker.empty() ? Cell() : Cell(std::string_view(maker)),
                   place.empty() ? Cell() : Cell(std::string_view(place))});
    }
    return {};
  }

  Result<void> write_calls() {
    for (const Table *table : {&kCalls, &ObjectRows::objects_table(), &ObjectRows::requests_table()}) {
      if (auto done = writer_.begin(*table); !done) return done;
    }
    Result<void> end;
    for (const uint32_t rank : scope_.wanted.ranks) {
      Walk walk(&scope_, rank, &counts_.left_out);
      ObjectRows objects(scope_, rank, &layouts_, &writer_);
      walk.show([&](const trace::Event &event) { objects.see(event); });
      for (const Call *call = walk.next(); call != nullptr && !writer_.failed(); call = walk.next()) {
        if (auto done = writer_.begin(kCalls); !done) return done;
        write(*call);
      }
      objects.finish();
      if (!objects.end()) return objects.end();
      if (end) end = walk.end();
    }
    return end;
  }
  void write(const Call &call) {
    ++counts_.calls;
    uint64_t sent = 0;
    uint64_t received = 0;
    bool sends = false;
    bool receives = false;
    bool known = true;
    for (const MessageEnd &each : call.ends) {
      known = known && each.known;
      const bool part = each.kind == MessageEnd::Kind::collective || each.kind == MessageEnd::Kind::collective_begun;
      if (part || each.kind == MessageEnd::Kind::send || each.kind == MessageEnd::Kind::isend) {
        sent += each.bytes;
        sends = true;
      }
      if (part || each.kind == MessageEnd::Kind::receive || each.kind == MessageEnd::Kind::receive_done) {
        received += part ? each.received : each.bytes;
        receives = true;
      }
    }
    cells_.clear();
    cells_.insert(cells_.end(), {cell(call.rank), cell(call.index), cell(call.thread), cell(call.depth),
                                 cell(call.place), call.timed ? cell(call.begin_ns) : Cell(),
                                 call.timed ? cell(call.end_ns) : Cell(), sends && known ? cell(sent) : Cell(),
                                 receives && known ? cell(received) : Cell(), cell(call.failed ? 1 : 0)});
    writer_.row(cells_);
  }

  /// All launches; of a window those whose kernels ran in it.
  Result<void> write_kernels(const gpu::Launches &launches) {
    if (auto done = writer_.begin(kKernels); !done) return done;
    if (!scope_.wanted.functions.empty()) return {};
    std::vector<analyze::TimedLaunch> all;
    if (scope_.wanted.window) {
      for (const Kernel &kernel : kernels_of(scope_, launches).all) all.push_back(kernel.launch);
    } else {
      all = analyze::launches_in_order(trace_, launches);
    }
    std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.number < b.number; });
    for (const analyze::TimedLaunch &timed : all) {
      const gpu::LaunchRecord &launch = *timed.launch;
      if (!scope_.wanted.has_rank(launch.rank)) continue;
      const gpu::LaunchMoment &at = launch.moment;
      const bool among_calls = at.placed && at.thread != gpu::LaunchMoment::kNoThread;
      const std::string kernel = launches.programs[launch.program].kernel(launch.kernel);
      const std::string grid = analyze::sizes_text(launch.grid);
      const std::string block = analyze::sizes_text(launch.block);
      const auto ns = [](const std::optional<int64_t> &time) { return time ? Cell(*time) : Cell(); };
      const auto end = timed.begin_ns && at.ran ? Cell(*timed.begin_ns + static_cast<int64_t>(at.duration_ns)) : Cell();
      writer_.row({cell(timed.number), cell(launch.rank), std::string_view(kernel), std::string_view(grid),
                   std::string_view(block), cell(launch.device), cell(launch.stream),
                   among_calls ? cell(at.thread) : Cell(), among_calls ? cell(at.calls) : Cell(), ns(timed.made_ns),
                   ns(timed.begin_ns), end});
    }
    return {};
  }

  Result<void> write_sites() {
    if (auto done = writer_.begin(kSites); !done) return done;
    const auto &places = scope_.places();
    for (size_t i = 0; i < places.size(); ++i) {
      const analyze::Position &position = places[i].position;
      const std::string function = analyze::function_name(places[i].function);
      const auto text = [](const std::string &value) { return value.empty() ? Cell() : Cell(std::string_view(value)); };
      writer_.row({cell(i), std::string_view(function), text(position.file),
                   position.line == 0 ? Cell() : cell(position.line), text(position.function), text(position.module),
                   position.module.empty() ? Cell() : cell(position.offset)});
    }
    return {};
  }

  Scope &scope_;
  const trace::Trace &trace_;
  TableWriter &writer_;
  TableCounts &counts_;
  const analyze::Messages *messages_ = nullptr;
  uint64_t under_way_ = 0;  ///< messages that may be wanted
  objects::TypeLayouts layouts_;
  std::vector<Cell> cells_;
};

}  // namespace

Result<void> write_messages(Scope *scope, TableWriter *writer, TableCounts *counts) {
  return Tables(scope, writer, counts).write_messages();
}

Result<void> write_tables(Scope *scope, const gpu::Launches &launches, TableWriter *writer, TableCounts *counts) {
  if (auto done = learn_received_sizes(scope); !done) return done;
  return Tables(scope, writer, counts).write(launches);
}

}  // namespace cairn::exporting
