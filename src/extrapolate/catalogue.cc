#include "extrapolate/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/decode.h"
#include "analyze/sources.h"
#include "extrapolate/row_parts.h"
#include "text/paths.h"
#include "trace/read/call_reader.h"

namespace cairn::extrapolate {
namespace {

/// Displacements that are the running sums of the counts before them are said so again: they need no law then.
void fold_sums(trace::Row *row) {
  for (size_t f = 1; f < row->fields.size(); ++f) {
    const spec::Parameter *parameter = parameter_of(row->function, f);
    if (parameter == nullptr || !parameter->prefix_sums) continue;
    const std::vector<trace::Atom> &counts = row->fields[f - 1].atoms;
    std::vector<trace::Atom> &places = row->fields[f].atoms;
    if (places.size() < 2 || places.size() != counts.size()) continue;
    trace::Atom sum = 0;
    bool sums = true;
    for (size_t i = 0; i < places.size() && sums; ++i) {
      sums = places[i] == sum && counts[i] >= 0;
      sum += counts[i];
    }
    if (sums) places.assign(1, trace::kPrefixSums);
  }
}

/// Of "main.c:42/2": which of several places of a line it is depends on how the compiler has unrolled a loop.
std::string without_ordinal(const std::string &name) {
  const size_t slash = name.rfind('/');
  const bool several = slash != std::string::npos && slash + 1 < name.size() &&
                       name.find_first_not_of("0123456789", slash + 1) == std::string::npos;
  return several ? name.substr(0, slash) : name;
}

bool found_nothing(const trace::Row &row) {
  const auto functions = spec::functions();
  if (row.function >= functions.size()) return false;
  const uint8_t answer = functions[row.function].answer;
  if (answer == 0 || row.fields.size() < answer) return false;
  return row.fields[answer - 1U].atoms == std::vector<trace::Atom>{0};
}

}  // namespace

Catalogue::Catalogue(const std::vector<const trace::Trace *> &traces) : traces_(traces) {
  // Whether the runs had one binary.
  std::map<std::string, Bytes> builds;
  for (const trace::Trace *trace : traces_) {
    for (const trace::Module &module : trace->modules()) {
      const auto [entry, fresh] = builds.try_emplace(base_name(module.path), module.build_id);
      rebuilt_ = rebuilt_ || entry->second != module.build_id;
    }
  }
  // A program that was built anew for each size has another name each time: what stands for it in one run is what
  // stands in its place, among modules that not all runs have, in another.
  std::map<std::string, size_t> often;
  for (const trace::Trace *trace : traces_) {
    for (const trace::Module &module : trace->modules()) ++often[base_name(module.path)];
  }
  sites_.resize(traces_.size());
  module_numbers_.resize(traces_.size());
  std::map<std::string, uint32_t> numbers;
  // The largest run last: its binary is the one that the new trace speaks of.
  for (size_t run = 0; run < traces_.size(); ++run) {
    size_t own = 0;
    for (const trace::Module &module : traces_[run]->modules()) {
      std::string key = base_name(module.path);
      if (often[key] < traces_.size()) {
        rebuilt_ = true;
        key = fmt::format("/{}", own++);
      }
      const auto [entry, fresh] = numbers.try_emplace(key, static_cast<uint32_t>(modules_.size()));
      if (fresh) modules_.emplace_back();
      modules_[entry->second] = module;
      module_numbers_[run].push_back(entry->second);
    }
  }
  for (size_t run = 0; run < traces_.size(); ++run) {
    const trace::Trace &trace = *traces_[run];
    const analyze::Sources sources(trace);
    sites_[run].resize(trace.class_count());
    for (uint32_t c = 0; c < trace.class_count(); ++c) {
      const std::vector<trace::Site> sites = trace.sites(c);
      for (uint64_t s = 0; s < sites.size(); ++s) {
        const std::string name = s == 0 ? std::string() : sources.name(c, s);
        const auto [entry, fresh] = by_key_.try_emplace(s == 0 ? std::string() : key_of(run, sites[s], name),
                                                        static_cast<uint32_t>(names_.size()));
        if (fresh) {
          names_.push_back(name);
          origins_.emplace_back();
        }
        names_[entry->second] = name;
        origins_[entry->second] = {run, s == 0 ? trace::Site{} : sites[s]};
        sites_[run][c].push_back(entry->second);
      }
    }
  }
}

std::string Catalogue::key_of(size_t run, const trace::Site &site, const std::string &name) const {
  if (rebuilt_) return without_ordinal(name);
  std::string key;
  const std::vector<trace::Site> &all = traces_[run]->all_sites();
  for (trace::Site at = site;; at = all[at.caller - 1]) {
    key += fmt::format("{}+{:x} ", site.module < module_numbers_[run].size() ? module_numbers_[run][at.module] : 0,
                       at.offset);
    if (at.caller == 0 || at.caller > all.size()) return key;
  }
}

uint32_t Catalogue::site(size_t run, uint32_t class_index, uint64_t number) {
  const std::vector<uint32_t> &sites = sites_[run][class_index];
  return number < sites.size() ? sites[number] : 0;
}

uint32_t Catalogue::number(size_t run, uint32_t class_index, trace::Row row) {
  fold_sums(&row);
  row.site = site(run, class_index, row.site);
  renumber(
      &row, [&](uint32_t number) { return site(run, class_index, number); },
      [&](uint32_t number) { return number < module_numbers_[run].size() ? module_numbers_[run][number] : 0; });
  ByteWriter packed;
  trace::pack_row(row, packed);
  const ByteView view = packed.view();
  const auto [entry, fresh] =
      by_packed_.try_emplace(std::string(view.begin(), view.end()), static_cast<uint32_t>(calls_.size()));
  if (!fresh) return entry->second;
  const CallKind kind{row.function, row.site, row.depth};
  const auto [of_kind, new_kind] = by_kind_.try_emplace(kind, static_cast<uint32_t>(kinds_.size()));
  if (new_kind) kinds_.push_back(kind);
  kind_of_call_.push_back(of_kind->second);
  calls_.push_back(std::move(row));
  return entry->second;
}

std::string Catalogue::text(uint32_t kind) const {
  const CallKind &of = kinds_[kind];
  const std::string name = analyze::function_name(of.function);
  return names_[of.site].empty() ? name : fmt::format("{} at {}", name, names_[of.site]);
}

Result<Run> read_run(const trace::Trace &trace, size_t number, int64_t scale, Catalogue *catalogue) {
  Run run;
  run.trace = &trace;
  run.ranks = trace.rank_count();
  run.scale = scale == 0 ? run.ranks : scale;
  run.calls.resize(run.ranks);
  if (trace.ranks().size() != run.ranks) {
    return fail(ErrorKind::usage, fmt::format("{} of {} ranks are in the trace", trace.ranks().size(), run.ranks),
                "extrapolate from runs that ended by themselves");
  }
  for (uint32_t rank = 0; rank < run.ranks; ++rank) {
    run.coordinates.push_back(Coordinates::of(rank, run.ranks, run.scale));
    for (const trace::SequenceView &view : trace.sequences(rank)) {
      if (view.thread != 0) {
        return fail(ErrorKind::usage, fmt::format("rank {} called MPI from several threads", rank),
                    "only runs with one thread a rank are extrapolated so far");
      }
      std::unordered_map<uint32_t, std::optional<uint32_t>> known;
      trace::CallReader reader(trace, view);
      for (auto call = reader.next(); call != grammar::kNoSymbol; call = reader.next()) {
        const auto [entry, fresh] = known.try_emplace(call);
        if (fresh && !found_nothing(reader.call(call))) {
          entry->second = catalogue->number(number, view.class_index, reader.call(call));
        }
        if (entry->second) run.calls[rank].push_back(*entry->second);
      }
    }
  }
  return run;
}

}  // namespace cairn::extrapolate
