#include "trace/merge/part.h"

#include <algorithm>
#include <string_view>

#include "base/as_size.h"
#include "trace/fold/drain_fold.h"
#include "trace/fold/poll_fold.h"
#include "trace/fold/streams.h"
#include "trace/merge/classes_merge.h"
#include "trace/merge/part_body.h"
#include "trace/model/class_heap.h"
#include "trace/model/site_lists.h"

namespace cairn::trace {
namespace {

/// Of all classes, whether they are packed or not.
std::vector<const ClassHead *> heads_of(const Part::Body &body) {
  std::vector<const ClassHead *> heads;
  for (const ClassPart &part : body.classes) heads.push_back(&part);
  for (const PackedClass &part : body.packed) heads.push_back(&part);
  return heads;
}

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

/// A process's site, or frame of one, with its caller's number among all sites.
Result<Site> with_caller(const Site &site, const std::vector<uint32_t> &frame_numbers, const Part::Body &body) {
  if (site.module >= body.modules.size()) {
    return fail(ErrorKind::internal, "a call site refers to a module that was not listed");
  }
  if (site.caller > frame_numbers.size()) return fail(ErrorKind::internal, "a call site was called from nowhere");
  return Site{site.module, site.offset, site.caller == 0 ? 0 : frame_numbers[site.caller - 1] + 1};
}

/// `used_up`: the same sequence, which loses what is not needed any more; or nullptr.
Result<ClassPart> class_of(const SequenceRecord &sequence, SequenceRecord *used_up, uint32_t rank,
                           const std::vector<uint32_t> &frame_numbers, Part::Body *body, SiteNumbers *known_sites) {
  ClassPart part;
  part.thread = sequence.thread;
  part.segment = sequence.segment;
  part.calls = used_up == nullptr ? std::make_shared<const grammar::Grammar>(sequence.calls)
                                  : std::make_shared<const grammar::Grammar>(std::move(used_up->calls));
  part.ranks = RankSet(rank);
  for (size_t i = 1; i < sequence.sites.size(); ++i) {
    const Result<Site> site = with_caller(sequence.sites[i], frame_numbers, *body);
    if (!site) return tl::unexpected(site.error());
    part.sites.push_back(add_site(*site, &body->sites, known_sites));
  }
  for (size_t i = 1; i < sequence.gaps.size() && i < sequence.sites.size(); ++i) {
    body->gaps.add(part.sites[i - 1], sequence.gaps[i]);
  }
  part.rows.reserve(sequence.rows.size());
  std::vector<Atom> scratch;
  for (const Bytes &packed : sequence.rows) {
    ByteReader in(packed);
    Result<ClassRow> row = ClassRow::unpacked(in, &scratch);
    if (!row) return tl::unexpected(row.error());
    if (row->site > part.sites.size()) return fail(ErrorKind::internal, "a recorded row has an unknown call site");
    part.rows.push_back(std::make_shared<const ClassRow>(*std::move(row)));
  }
  const bool polls = !sequence.polls.empty();
  if (used_up != nullptr && !polls) used_up->rows = {};
  for (const grammar::Body &rule : part.calls->rules()) {
    for (const grammar::Term &term : rule) {
      if (!term.is_rule && term.id >= part.rows.size()) {
        return fail(ErrorKind::internal, "a recorded call has no row");
      }
    }
  }
  if (!sequence.stats.empty() && sequence.stats.size() != part.rows.size()) {
    return fail(ErrorKind::internal, "statistics were recorded for some rows only");
  }
  if (!sequence.stats.empty()) {
    StatsBlock block;
    block.ranks = part.ranks;
    block.slots.reserve(sequence.stats.size());
    for (const timing::CallStats &stats : sequence.stats) block.slots.emplace_back(stats, rank);
    part.stats.push_back(std::move(block));
    if (used_up != nullptr) used_up->stats = {};
  }
  if (!sequence.times.empty()) part.times.push_back({rank, sequence.times});
  part.begin_ns.append(as_atom(sequence.begin_ns));
  part.first_ticket.append(as_atom(sequence.first_ticket));
  ByteWriter order;
  if (!sequence.order.empty()) sequence.order.write(order);
  part.order = ValuesColumn::constant(order.take(), 1);
  Result<Stream> heap = heap_of(sequence, part.ranks);
  if (!heap) return tl::unexpected(heap.error());
  part.heap = *std::move(heap);
  if (polls && sequence.polls.size() != part.rows.size()) {
    return fail(ErrorKind::internal, "polls were told apart for some rows only");
  }
  bool folded = false;
  if (polls) {
    std::vector<Bytes> packed = used_up == nullptr ? std::vector(sequence.rows) : std::move(used_up->rows);
    std::vector<Poll> of_rows = used_up == nullptr ? std::vector(sequence.polls) : std::move(used_up->polls);
    DrainFold drains;
    drains.fold(&packed, &of_rows, &part);
    folded = fold_polls(packed, of_rows, &part);
    drains.add_streams(&part);
  }
  move_by_cost(&part, !folded);
  return part;
}

/// A rank's module map after the modules it points to were renumbered.
Bytes renumbered(const Bytes &map, const std::vector<uint32_t> &number) {
  std::vector<uint32_t> result;
  if (map.empty()) {
    result = number;
  } else {
    ByteReader in(map);
    while (!in.at_end() && !in.failed()) {
      const uint64_t module = in.varint();
      result.push_back(module < number.size() ? number[as_size(module)] : 0);
    }
  }
  if (is_identity(result)) return {};
  ByteWriter out;
  for (const uint32_t module : result) out.varint(module);
  return out.take();
}

}  // namespace

void MergeCost::add(const MergeCost &other) {
  ranks += other.ranks;
  sum_ns += other.sum_ns;
  most_ns = std::max(most_ns, other.most_ns);
  times.add(other.times);
  memory.add(other.memory);
}

void MemoryPeaks::add(const MemoryPeaks &other) {
  recorded = std::max(recorded, other.recorded);
  making = std::max(making, other.making);
  merging = std::max(merging, other.merging);
  together = std::max(together, other.together);
}

void Part::Body::set_key(ClassPart *part) const {
  const RowGroups groups(part->rows);
  ByteWriter common;
  common.varint(part->thread);
  common.varint(part->segment);
  common.byte(part->stats.empty() ? 0 : 1);
  common.varint(part->sites.size());
  const std::vector<std::string> identity = module_identities(modules);
  for (const uint32_t site : part->sites) {
    common.text(identity[sites[site].module]);
    common.varint(sites[site].offset);
    for (uint32_t caller = sites[site].caller; caller != 0; caller = sites[caller - 1].caller) {
      common.text(identity[sites[caller - 1].module]);
      common.varint(sites[caller - 1].offset);
    }
  }
  common.varint(groups.count());
  for (const uint32_t first : groups.first_row) {
    const ClassRow &row = *part->rows[first];
    common.varint(row.function);
    common.varint(row.site);
    common.varint(row.depth);
    common.varint(row.heads.size());
    common.varint(number_of(row.kind));
  }
  const auto add_hash = [](const Hash128 &hash, ByteWriter *out) {
    out->fixed64(hash.low);
    out->fixed64(hash.high);
  };
  ByteWriter skeleton = common;
  add_hash(part->calls->sequence_hash([&groups](grammar::Symbol row) { return groups.of_row[row]; }), &skeleton);
  part->skeleton = hash128(skeleton.view());
  ByteWriter whole = common;
  add_hash(part->calls->sequence_hash(), &whole);
  for (const uint32_t group : groups.of_row) whole.varint(group);
  for (const Stream &stream : part->streams) {
    whole.varint(stream.group);
    whole.varint(stream.field);
  }
  part->key = hash128(whole.view());
}

void Part::Body::set_keys() {
  for (ClassPart &part : classes) {
    for (Stream &stream : part.streams) {
      for (StreamVariant &variant : stream.variants) variant.set_key();
    }
    for (StreamVariant &variant : part.heap.variants) variant.set_key();
    set_key(&part);
  }
}

Part::Part() : body_(std::make_unique<Body>()) {}
Part::Part(Part &&) noexcept = default;
Part &Part::operator=(Part &&) noexcept = default;
Part::~Part() = default;
Part::Part(std::unique_ptr<Body> body) : body_(std::move(body)) {}

Result<Part> Part::of(const ProcessRecord &process) { return of(process, nullptr); }

Result<Part> Part::of(ProcessRecord &&process) { return of(process, &process); }

Result<Part> Part::of(const ProcessRecord &process, ProcessRecord *used_up) {
  if (process.rank >= kMaxRanks) return fail(ErrorKind::internal, "a trace holds at most 16,777,216 ranks");
  Part result;
  Body &body = *result.body_;
  body.world = process.world;
  body.size = std::max(process.size, process.rank + 1);
  body.ranks = RankSet(process.rank);
  body.modules = process.modules;
  body.hosts = ValuesColumn::constant(bytes_of(process.host), 1);
  body.degraded = ValuesColumn::constant(bytes_of(write_losses(process.losses)), 1);
  body.module_maps = ValuesColumn::constant({}, 1);
  body.complete.append(process.complete ? 1 : 0);
  body.wall_ns.append(as_atom(process.wall_ns));
  body.mpi_ns.append(as_atom(process.mpi_ns));
  body.peak_memory.append(as_atom(process.peak_memory));
  body.clock_begin.append(process.clock.begin_unix_ns);
  body.clock_drift.append(process.clock.drift_ns);
  body.clock_uncertainty.append(process.clock.uncertainty_ns);
  body.sums = FunctionSums(process);
  body.offset.append(kNoBlock);
  SiteNumbers known_sites;
  std::vector<uint32_t> frame_numbers;
  for (const Site &frame : process.frames) {
    const Result<Site> site = with_caller(frame, frame_numbers, body);
    if (!site) return tl::unexpected(site.error());
    frame_numbers.push_back(add_site(*site, &body.sites, &known_sites));
  }
  for (size_t i = 0; i < process.sequences.size(); ++i) {
    SequenceRecord *sequence = used_up == nullptr ? nullptr : &used_up->sequences[i];
    Result<ClassPart> part = class_of(process.sequences[i], sequence, process.rank, frame_numbers, &body, &known_sites);
    if (!part) return tl::unexpected(part.error());
    body.set_key(&*part);
    for (const ClassPart &other : body.classes) {
      if (other.thread == part->thread && other.segment == part->segment) {
        return fail(ErrorKind::internal, "two sequences of one rank have the same thread and segment");
      }
    }
    body.classes.push_back(*std::move(part));
  }
  settle(&body);
  return result;
}

namespace {

/// What is known of each rank, when no rank is on both sides.
void merge_ranks(Part::Body *left, Part::Body *right, const Interleave &order) {
  left->hosts = ValuesColumn::merged(std::move(left->hosts), std::move(right->hosts), order);
  left->degraded = ValuesColumn::merged(std::move(left->degraded), std::move(right->degraded), order);
  left->module_maps = ValuesColumn::merged(std::move(left->module_maps), std::move(right->module_maps), order);
  left->complete = order.merged(std::move(left->complete), right->complete);
  left->wall_ns = order.merged(std::move(left->wall_ns), right->wall_ns);
  left->mpi_ns = order.merged(std::move(left->mpi_ns), right->mpi_ns);
  left->peak_memory = order.merged(std::move(left->peak_memory), right->peak_memory);
  left->clock_begin = order.merged(std::move(left->clock_begin), right->clock_begin);
  left->clock_drift = order.merged(std::move(left->clock_drift), right->clock_drift);
  left->clock_uncertainty = order.merged(std::move(left->clock_uncertainty), right->clock_uncertainty);
  left->sums.merge(right->sums, left->ranks.size(), right->ranks.size(), order);
  left->offset = order.merged(std::move(left->offset), right->offset);
  left->ranks = order.merged(std::move(left->ranks), right->ranks);
}

/// The ranks of `later` are all in `left`, and none of their sequences is.
Result<void> check_later(const Part::Body &left, const Part::Body &later) {
  for (const uint32_t rank : later.ranks.expand()) {
    if (!left.ranks.index_of(rank)) return fail(ErrorKind::unreadable, "two parts have some of their ranks in common");
  }
  const std::vector<const ClassHead *> earlier = heads_of(left);
  for (const ClassHead *part : heads_of(later)) {
    for (const ClassHead *other : earlier) {
      if (part->thread == other->thread && part->segment == other->segment &&
          !Interleave::of(other->ranks, part->ranks)) {
        return fail(ErrorKind::unreadable, "the same rank, thread and segment is in both of two parts");
      }
    }
  }
  return {};
}

/// A process lists its modules in one order: what it listed later begins with what it listed before.
void extend_module_maps(Part::Body *left, const Part::Body &later) {
  std::vector<Bytes> maps;
  const std::vector<uint32_t> ranks = left->ranks.expand();
  bool changed = false;
  for (size_t i = 0; i < ranks.size(); ++i) {
    maps.push_back(left->module_maps.at(i));
    const std::optional<uint64_t> place = later.ranks.index_of(ranks[i]);
    if (!place || later.module_maps.at(*place).size() <= maps.back().size()) continue;
    maps.back() = later.module_maps.at(*place);
    changed = true;
  }
  if (changed) left->module_maps = ValuesColumn::of_each(maps);
}

}  // namespace

Result<Part> Part::merge(Part left_part, Part right_part) {
  Body &left = *left_part.body_;
  Body &right = *right_part.body_;
  if (right.ranks.empty()) return left_part;
  if (left.ranks.empty()) return right_part;
  if (left.world != right.world) return fail(ErrorKind::unreadable, "two parts are of different worlds");
  const std::optional<Interleave> order = Interleave::of(left.ranks, right.ranks);
  if (!order) {
    Result<void> later = check_later(left, right);
    if (!later) return tl::unexpected(later.error());
  }
  left.size = std::max(left.size, right.size);

  const std::vector<uint32_t> module_number = merge_modules(&left.modules, right.modules);
  if (!is_identity(module_number)) {
    right.module_maps.transform([&module_number](const Bytes &map) { return renumbered(map, module_number); });
  }
  const std::vector<uint32_t> site_number = merge_sites(&left.sites, right.sites, module_number);
  if (order) {
    merge_ranks(&left, &right, *order);
  } else {
    extend_module_maps(&left, right);
    left.sums.add(right.sums, left.ranks, right.ranks);
  }

  const auto renumber = [&site_number](ClassHead *part) {
    for (uint32_t &site : part->sites) site = site_number[site];
  };
  left.gaps.merge(right.gaps, site_number);
  for (ClassPart &part : right.classes) renumber(&part);
  for (PackedClass &part : right.packed) renumber(&part);
  Result<void> merged = merge_classes(&left, &right);
  if (!merged) return tl::unexpected(merged.error());
  return left_part;
}

}  // namespace cairn::trace
