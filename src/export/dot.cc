#include "export/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/communicators.h"
#include "analyze/decode.h"
#include "analyze/filter.h"
#include "analyze/selected_calls.h"
#include "export/walk.h"
#include "simgrid/calls.h"
#include "spec/ids.h"
#include "text/rank_list.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

struct Sent {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};
using Edges = std::map<std::pair<uint32_t, uint32_t>, Sent>;

std::string quoted(const std::string &text) {
  std::string quoted = "\"";
  for (const char each : valid_utf8(text)) {
    if (each == '"' || each == '\\') quoted += '\\';
    quoted += each == '\n' ? ' ' : each;
  }
  return quoted + '"';
}

std::string bytes_of(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  const char *unit = " kMGTPE";
  auto value = static_cast<double>(bytes);
  for (; value >= 1000; value /= 1000) ++unit;
  return fmt::format("{:.3g} {}B", value, *unit);
}

bool is_send(const spec::Function &function) {
  const std::string_view name = function.name;
  return analyze::is_message_call(function) && name.find("end") != name.npos;  // Send, Isend, Bsend, Sendrecv, …
}

/// What a rank sends, from its distinct calls.
class FromRows {
 public:
  explicit FromRows(const Scope &scope)
      : scope_(scope),
        selected_(
            *scope.trace,
            [](const spec::Function &function) { return is_send(function) || analyze::Sizes::is_creator(function); }),
        names_(*scope.trace) {
    for (uint32_t index = 0; index < scope.trace->class_count(); ++index) {
      gives_up_.push_back(analyze::SelectedCalls::has(*scope.trace, index, [](const spec::Function &function) {
        return function.id == spec::function_id::Comm_free || function.id == spec::function_id::Comm_disconnect;
      }));
    }
  }

  /// False: they do not say it. Then nothing was added.
  bool add(uint32_t rank, Edges *edges, GraphCounts *counts) const {
    const auto calls = selected_.of(rank);
    const analyze::Sizes sizes(scope_.trace->job_of(rank).size, calls);
    const bool keeps_all =
        std::none_of(calls.begin(), calls.end(), [&](const auto &sequence) { return gives_up_[sequence.class_index]; });
    std::optional<analyze::CommunicatorNames> names;
    Edges found;
    for (const auto &sequence : calls) {
      for (const trace::CountedRow &call : sequence.calls) {
        const spec::Function &function = spec::functions()[call.row.function];
        if (!is_send(function)) continue;
        const auto made = simgrid::simulated_call(call.row, *sequence.scope, sizes);
        if (!made.messages || made.unfinished || !made.messages->send) continue;
        if (function.persistent || !made.sent) return false;
        const auto &communicator = made.messages->communicator;
        const auto &peer = made.messages->send->rank;
        std::optional<uint32_t> to;
        if (communicator && peer && communicator->special != 0) {
          to = in_predefined(*communicator, *peer, rank);
        } else if (communicator && peer && keeps_all) {
          if (!names) names = names_.of(rank);
          const std::string *name = names->name(communicator->number);
          const auto view = name == nullptr ? std::nullopt : scope_.groups.view(*name, rank);
          if (view) to = view->in_world(*peer);
        }
        if (!to) return false;
        Sent &sent = found[{rank, *to}];
        sent.messages += call.count;
        sent.bytes += call.count * *made.sent;
      }
    }
    for (const auto &[ends, sent] : found) {
      Sent &edge = (*edges)[ends];
      edge.messages += sent.messages;
      edge.bytes += sent.bytes;
      counts->messages += sent.messages;
    }
    return true;
  }

 private:
  [[nodiscard]] std::optional<uint32_t> in_predefined(const analyze::HandleName &communicator, int64_t peer,
                                                      uint32_t rank) const {
    if (communicator.constant() == spec::constant_id::k_COMM_WORLD) return scope_.groups.world(rank).in_world(peer);
    if (communicator.constant() == spec::constant_id::k_COMM_SELF) return scope_.groups.self(rank).in_world(peer);
    return std::nullopt;
  }

  const Scope &scope_;
  analyze::SelectedCalls selected_;
  analyze::LastNames names_;
  std::vector<bool> gives_up_;  ///< by class: communicators, whose numbers others may have then
};

Result<void> add_by_calls(Scope *scope, uint32_t rank, Edges *edges, GraphCounts *counts) {
  ++counts->expanded;
  Walk walk(scope, rank, &counts->left_out);
  while (const Call *call = walk.next()) {
    for (const MessageEnd &end : call->ends) {
      if (end.kind != MessageEnd::Kind::send && end.kind != MessageEnd::Kind::isend) continue;
      Sent &edge = (*edges)[{rank, end.peer_in_world}];
      ++edge.messages;
      edge.bytes += end.bytes;
      ++counts->messages;
    }
  }
  return walk.end();
}

}  // namespace

Result<void> write_message_graph(Scope *scope, OutFile *out, GraphCounts *counts) {
  Edges edges;
  Result<void> done;
  const FromRows rows(*scope);
  const bool all_calls = !scope->wanted.window && scope->wanted.functions.empty();
  for (const uint32_t rank : scope->wanted.ranks) {
    if (all_calls && rows.add(rank, &edges, counts)) continue;
    auto end = add_by_calls(scope, rank, &edges, counts);
    if (done) done = std::move(end);
  }
  std::erase_if(edges, [&](const auto &edge) { return !scope->wanted.has_rank(edge.first.second); });
  uint64_t most = 1;
  for (const auto &[ends, sent] : edges) most = std::max(most, sent.bytes);
  out->write("digraph messages {\n  graph [overlap=false, splines=true];\n  node [shape=circle];\n");
  for (const uint32_t rank : scope->wanted.ranks) {
    out->write(fmt::format("  r{} [label=\"{}\"];\n", rank, rank));
    ++counts->nodes;
  }
  for (const auto &[ends, sent] : edges) {
    const double share = std::log2(1 + static_cast<double>(sent.bytes)) / std::log2(1 + static_cast<double>(most));
    out->write(fmt::format("  r{} -> r{} [label=\"{} x, {}\", messages={}, bytes={}, penwidth={:.2f}];\n", ends.first,
                           ends.second, sent.messages, bytes_of(sent.bytes), sent.messages, sent.bytes,
                           0.5 + 3.5 * share));
    ++counts->edges;
    counts->bytes += sent.bytes;
  }
  out->write("}\n");
  return done;
}

void write_grammar_graph(Scope *scope, OutFile *out, GraphCounts *counts) {
  const trace::Trace &trace = *scope->trace;
  out->write("digraph grammar {\n  node [shape=box];\n");
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const trace::ClassView view = trace.class_view(index);
    const bool wanted =
        std::any_of(view.ranks.begin(), view.ranks.end(), [&](uint32_t rank) { return scope->wanted.has_rank(rank); });
    if (!wanted) continue;
    const trace::Structure structure = trace::structure_of(trace, index);
    out->write(
        fmt::format("  subgraph cluster_{} {{\n    label={};\n", index,
                    quoted(fmt::format("class {}: ranks {}, thread {}", index, ranks_text(view.ranks), view.thread))));
    std::vector<bool> shown(structure.rows.size());
    const auto &rules = *structure.rules;
    for (size_t rule = 0; rule < rules.size(); ++rule) {
      out->write(fmt::format("    c{}r{} [label=\"R{}\", shape=ellipse];\n", index, rule, rule));
      ++counts->nodes;
      size_t order = 0;
      for (const grammar::Term &term : rules[rule]) {
        std::string to;
        if (term.is_rule) {
          to = fmt::format("c{}r{}", index, term.id);
        } else {
          const uint32_t row = term.id;
          to = fmt::format("c{}t{}", index, row);
          if (row < shown.size() && !shown[row]) {
            shown[row] = true;
            ++counts->nodes;
            const auto &head = structure.rows[row];
            const std::string place = scope->sources->position(index, head.site).brief();
            out->write(fmt::format("    {} [label={}];\n", to,
                                   quoted(analyze::function_name(head.function) + (place.empty() ? "" : " " + place))));
          }
        }
        ++order;
        out->write(fmt::format("    c{}r{} -> {} [label=\"{}{}\"];\n", index, rule, to, order,
                               term.count == 1 ? "" : fmt::format(": {} x", term.count)));
        ++counts->edges;
      }
    }
    out->write("  }\n");
  }
  out->write("}\n");
}

}  // namespace cairn::exporting
