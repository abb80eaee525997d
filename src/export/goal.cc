#include "export/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "export/reach.h"
#include "export/walk.h"
#include "simgrid/neighbor_parts.h"
#include "simgrid/rank_calls.h"
#include "timing/mode.h"

namespace cairn::exporting {
namespace {

using analyze::Collective;
using analyze::HandleName;
using analyze::MessageCall;
using simgrid::Part;
using simgrid::Tags;
using simgrid::View;

/// Numbers of tags, the same on all ranks.
class GoalTags {
 public:
  /// `pair`: of MessageEnd.
  uint32_t of(uint32_t communicator, int64_t tag, Tags::Of what, uint32_t pair = 0) {
    if (what == Tags::Of::messages && communicator == simgrid::Groups::kWorld && tag >= 0 && tag < kFirst) {
      return static_cast<uint32_t>(tag);
    }
    const auto next = static_cast<uint32_t>(kFirst + static_cast<int64_t>(numbered_.size()));
    return numbered_.try_emplace({communicator, what, tag, pair}, next).first->second;
  }

 private:
  static constexpr int64_t kFirst = int64_t{1} << 30;
  std::map<std::tuple<uint32_t, Tags::Of, int64_t, uint32_t>, uint32_t> numbered_;
};

/// Lines in order, of which some are filled in later.
class Lines {
 public:
  explicit Lines(OutFile *out) : out_(*out) {}
  void add(std::string line) {
    if (held_.empty()) return out_.write(line);
    held_.emplace_back(std::move(line));
  }
  /// A line to come; its number for `fill`.
  uint64_t hold() {
    held_.emplace_back(std::nullopt);
    return first_ + held_.size() - 1;
  }
  void fill(uint64_t number, std::string line) {
    held_[number - first_] = std::move(line);
    while (!held_.empty() && held_.front()) {
      out_.write(*held_.front());
      held_.pop_front();
      ++first_;
    }
  }

 private:
  OutFile &out_;
  uint64_t first_ = 0;
  std::deque<std::optional<std::string>> held_;
};

class RankSchedule {
 public:
  RankSchedule(Scope *scope, uint32_t rank, bool gaps, GoalTags *tags, OutFile *out, GoalCounts *counts)
      : walk_(scope, rank, &counts->left_out),
        events_(*scope->trace, rank),
        calls_(*scope->trace, scope->groups, scope->rows, rank),
        neighbors_(calls_, scope->rows),
        tags_(*tags),
        lines_(out),
        counts_(*counts),
        gaps_(gaps) {
    const trace::Trace &trace = *scope->trace;
    if (gaps && !timing::keeps_times(trace.run().timing)) mean_gap_ns_ = trace.mean_gap_ns(rank);
  }

  Result<void> write() {
    while (const Call *call = walk_.next()) {
      const trace::Event *event = events_.next();
      if (event == nullptr) return events_.end();
      const simgrid::SimulatedCall &simulated = calls_.see(*event);
      neighbors_.see(*event);
      pass_time(*call);
      messages(*call);
      if (!simulated.unfinished) collectives(simulated, *call);
    }
    for (const auto &[request, posted] : std::map(posted_)) {
      drop(request, posted);
      ++counts_.unfinished;
    }
    compute();
    return walk_.end();
  }

 private:
  /// What the next operation needs: that it is complete, or has begun.
  struct Need {
    uint64_t label;
    bool begun;
  };
  /// A receive to be filled in.
  struct Posted {
    uint64_t number;
    uint64_t label;
  };

  void pass_time(const Call &call) {
    double gap = mean_gap_ns_;
    if (call.timed && gaps_) {
      gap = 0;
      if (begun_ && call.begin_ns > last_end_ns_) gap = static_cast<double>(call.begin_ns - last_end_ns_);
      last_end_ns_ = std::max(last_end_ns_, call.end_ns);
      begun_ = true;
    }
    to_compute_ns_ += gap;
  }

  void messages(const Call &call) {
    using Kind = MessageEnd::Kind;
    std::vector<Need> blocking;
    for (const MessageEnd &end : call.ends) {
      switch (end.kind) {
        case Kind::send:
          ++counts_.sends;
          blocking.push_back({send(end), false});
          break;
        case Kind::isend:
          if (!end.is_message) {
            requests_[end.request] = {operation("calc 0")};
            break;
          }
          ++counts_.sends;
          requests_[end.request] = {send(end)};
          break;
        case Kind::receive:
          blocking.push_back({operation(recv_text(end)), false});
          needs_.assign(1, {blocking.back().label, true});
          break;
        case Kind::receive_posted:
          post(end.request);
          break;
        case Kind::receive_done:
          receive_done(end);
          break;
        case Kind::isend_done:
        case Kind::collective_done:
          complete(end.request);
          break;
        case Kind::cancelled:
          cancel(end.request);
          break;
        case Kind::collective:
        case Kind::collective_begun:
          break;
      }
    }
    // Both sides of an MPI_Sendrecv begin together; what follows needs both.
    if (!blocking.empty()) needs_ = std::move(blocking);
  }

  uint64_t send(const MessageEnd &end) {
    const uint64_t label = operation(
        fmt::format("send {}b to {} tag {}", std::max<uint64_t>(1, end.bytes), end.peer_in_world, tag_of(end)));
    needs_.assign(1, {label, true});
    return label;
  }

  std::string recv_text(const MessageEnd &end) {
    return fmt::format("recv {}b from {} tag {}", std::max<uint64_t>(1, end.bytes), end.peer_in_world, tag_of(end));
  }
  uint32_t tag_of(const MessageEnd &end) {
    return tags_.of(end.communicator, end.tag, end.pair != 0 ? Tags::Of::partitions : Tags::Of::messages, end.pair);
  }

  void post(uint64_t request) {
    compute();
    const Posted posted{lines_.hold(), ++last_label_};
    posted_[request] = posted;
    needs_of_[posted.number] = needs_;
    requests_[request] = {posted.label};
    needs_.assign(1, {posted.label, true});
  }

  void receive_done(const MessageEnd &end) {
    const auto found = posted_.find(end.request);
    if (found == posted_.end()) return;
    const Posted posted = found->second;
    posted_.erase(found);
    std::string text = fmt::format("l{}: {}\n", posted.label, recv_text(end));
    for (const Need &need : needs_of_[posted.number]) text += need_text(posted.label, need);
    needs_of_.erase(posted.number);
    ++counts_.operations;
    lines_.fill(posted.number, std::move(text));
    complete(end.request);
  }

  /// A receive that never was is a calc of no time, so that what needs it can stand as it is.
  void drop(uint64_t request, const Posted &posted) {
    std::string text = fmt::format("l{}: calc 0\n", posted.label);
    for (const Need &need : needs_of_[posted.number]) text += need_text(posted.label, need);
    needs_of_.erase(posted.number);
    requests_.erase(request);
    ++counts_.operations;
    lines_.fill(posted.number, std::move(text));
  }

  void cancel(uint64_t request) {
    ++counts_.cancelled;
    const auto found = posted_.find(request);
    if (found == posted_.end()) return complete(request);
    drop(request, found->second);
    posted_.erase(found);
  }

  void complete(uint64_t request) {
    const auto found = requests_.find(request);
    if (found == requests_.end()) return;
    for (const uint64_t label : found->second) needs_.push_back({label, false});
    requests_.erase(found);
  }

  void collectives(const simgrid::SimulatedCall &call, const Call &told) {
    std::vector<uint64_t> begun;
    for (const MessageEnd &end : told.ends) {
      if (end.kind == MessageEnd::Kind::collective_begun) begun.push_back(end.request);
    }
    if (call.collective) {
      const std::optional<View> view = calls_.view_of(call.collective->communicator);
      if (!view) return;  // the walk counts it
      if (call.collective->persistent) {
        if (call.collective->request) {
          persistent_[*call.collective->request] = {std::make_shared<const Collective>(*call.collective), *view};
        }
        return;
      }
      part(*call.collective, *view, begun.empty() ? std::nullopt : std::optional(begun.front()));
      return;
    }
    if (!call.messages) return;
    if (call.messages->does == MessageCall::Does::release) {
      for (const HandleName &name : call.messages->requests) persistent_.erase(name);
    }
    if (call.messages->does != MessageCall::Does::start) return;
    size_t next = 0;
    for (const HandleName &name : call.messages->requests) {
      const auto found = persistent_.find(name);
      if (found == persistent_.end() || next == begun.size()) continue;
      part(*found->second.first, found->second.second, begun[next++]);
    }
  }

  /// With `request`, all at once, to be completed later.
  void part(const Collective &collective, const View &view, std::optional<uint64_t> request) {
    const bool neighbors = collective.operation == simgrid::Operation::neighbors;
    if (view.own->size() == 1 && view.other == nullptr && !neighbors) return;
    ++counts_.collectives;
    const uint32_t tag = tags_.of(view.number, 0, Tags::Of::collectives);
    const auto round = [&](const std::vector<Part> &sends, const std::vector<Part> &receives) {
      std::vector<Need> made;
      const auto add = [&](const Part &part, const char *form) {
        made.push_back(
            {operation(fmt::format(fmt::runtime(form), std::max<uint64_t>(1, part.bytes), part.peer, tag)), false});
        needs_.assign(1, {made.back().label, true});
      };
      for (const Part &part : receives) add(part, "recv {}b from {} tag {}");
      for (const Part &part : sends) add(part, "send {}b to {} tag {}");
      if (!request) {
        if (!made.empty()) needs_ = std::move(made);
        return;
      }
      for (const Need &need : made) requests_[*request].push_back(need.label);
    };
    if (!neighbors) return rounds_of(collective, view, request.has_value(), round);
    std::vector<Part> sends;
    std::vector<Part> receives;
    if (neighbors_.of(collective, view, &sends, &receives)) {
      round(sends, receives);
    } else {
      ++counts_.strange;
    }
  }

  /// Its label.
  uint64_t operation(const std::string &text) {
    compute();
    return put(text);
  }
  uint64_t put(const std::string &text) {
    const uint64_t label = ++last_label_;
    std::string lines = fmt::format("l{}: {}\n", label, text);
    for (const Need &need : needs_) lines += need_text(label, need);
    ++counts_.operations;
    lines_.add(std::move(lines));
    return label;
  }
  static std::string need_text(uint64_t label, const Need &need) {
    return fmt::format("l{} {} l{}\n", label, need.begun ? "irequires" : "requires", need.label);
  }
  void compute() {
    const auto whole = static_cast<uint64_t>(to_compute_ns_);
    if (whole == 0) return;
    to_compute_ns_ -= static_cast<double>(whole);
    counts_.computed_ns += whole;
    needs_.assign(1, {put(fmt::format("calc {}", whole)), false});
  }

  Walk walk_;
  trace::Events events_;
  simgrid::RankCalls calls_;
  simgrid::NeighborParts neighbors_;
  GoalTags &tags_;
  Lines lines_;
  GoalCounts &counts_;
  bool gaps_;
  double mean_gap_ns_ = 0;
  bool begun_ = false;
  uint64_t last_end_ns_ = 0;
  double to_compute_ns_ = 0;
  uint64_t last_label_ = 0;
  std::vector<Need> needs_;
  std::map<uint64_t, std::vector<uint64_t>> requests_;  ///< labels, by Walk's numbers
  std::map<uint64_t, Posted> posted_;                   ///< the same
  std::map<uint64_t, std::vector<Need>> needs_of_;      ///< by number of the line
  std::map<HandleName, std::pair<std::shared_ptr<const Collective>, View>> persistent_;
};

}  // namespace

Result<void> write_goal(Scope *scope, bool gaps, OutFile *out, GoalCounts *counts) {
  if (auto done = learn_received_sizes(scope); !done) return done;
  GoalTags tags;
  out->write(fmt::format("num_ranks {}\n", scope->wanted.ranks.size()));
  for (const uint32_t rank : scope->wanted.ranks) {
    out->write(fmt::format("\nrank {} {{\n", rank));
    RankSchedule schedule(scope, rank, gaps, &tags, out, counts);
    if (auto done = schedule.write(); !done) return done;
    out->write("}\n");
    if (out->is_closed() || out->failed()) break;
  }
  return {};
}

}  // namespace cairn::exporting
