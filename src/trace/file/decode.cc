#include <algorithm>
#include <memory>
#include <utility>

#include "base/as_size.h"
#include "trace/code/class_reader.h"
#include "trace/file/sections.h"
#include "trace/model/class_checks.h"
#include "trace/values/bounds.h"

namespace cairn::trace {
namespace {

class Decoder {
 public:
  Decoder(const std::vector<SectionView> &sections, Allowance *allowance) : sections_(sections), allowance_(allowance) {
    decoded_.body = std::make_unique<Part::Body>();
  }

  Result<Decoded> run() {
    const bool good =
        read(SectionKind::sites, true, &Decoder::sites) && read(SectionKind::callers, false, &Decoder::callers) &&
        read(SectionKind::grammars, true, &Decoder::grammars) && read(SectionKind::columns, true, &Decoder::columns) &&
        read(SectionKind::rows, true, &Decoder::rows) && read(SectionKind::streams, false, &Decoder::streams) &&
        check_moved() && read(SectionKind::heap, false, &Decoder::heap) &&
        read(SectionKind::meta, true, &Decoder::meta) && read(SectionKind::order, false, &Decoder::order) &&
        read(SectionKind::offsets, false, &Decoder::offsets) && read(SectionKind::timing, false, &Decoder::timing) &&
        read(SectionKind::clocks, false, &Decoder::clocks) && read(SectionKind::sums, false, &Decoder::rounded_sums) &&
        read(SectionKind::gaps, false, &Decoder::gaps) && read(SectionKind::cost, false, &Decoder::cost) &&
        read(SectionKind::memory, false, &Decoder::memory) && read(SectionKind::job, false, &Decoder::job) &&
        read(SectionKind::jobs, false, &Decoder::jobs) && read(SectionKind::bundles, false, &Decoder::bundles);
    if (!good) return tl::unexpected(std::move(error_));
    return std::move(decoded_);
  }

  Result<Decoded> run_packed() {
    const bool good =
        read(SectionKind::sites, true, &Decoder::sites) && read(SectionKind::callers, false, &Decoder::callers) &&
        read(SectionKind::packed_classes, true, &Decoder::packed_classes) &&
        read(SectionKind::meta, true, &Decoder::meta) && read(SectionKind::clocks, false, &Decoder::clocks) &&
        read(SectionKind::sums, false, &Decoder::sums) && read(SectionKind::gaps, false, &Decoder::gaps) &&
        read(SectionKind::offsets, false, &Decoder::offsets);
    if (!good) return tl::unexpected(std::move(error_));
    return std::move(decoded_);
  }

 private:
  Part::Body &body() { return *decoded_.body; }

  bool read(SectionKind kind, bool required, bool (Decoder::*parse)(ByteReader &)) {
    const auto found = std::find_if(sections_.begin(), sections_.end(), [kind](const SectionView &section) {
      return section.kind == static_cast<uint8_t>(kind);
    });
    if (found == sections_.end()) {
      if (!required) return missing(kind);
      error_ = {
          ErrorKind::unreadable, "section '" + section_name(static_cast<uint8_t>(kind)) + "' is missing", {}, 0, {}};
      return false;
    }
    ByteReader in(found->bytes, allowance_);
    section_ = &*found;
    what_ = "is malformed";
    if ((this->*parse)(in) && !in.failed() && in.at_end()) return true;
    if (allowance_ != nullptr && allowance_->spent()) what_ = "stands for more than a file of so few bytes may";
    error_ = section_error(*found, in.position(), what_);
    return false;
  }

  bool missing(SectionKind kind) {
    if (kind == SectionKind::offsets) body().offset = FoldColumn::constant(kNoBlock, body().ranks.size());
    if (kind == SectionKind::clocks) no_clocks();
    if (kind != SectionKind::order) return true;
    for (ClassPart &part : body().classes) ClassReader::no_order(&part);
    return true;
  }

  bool bad(std::string what) {
    what_ = std::move(what);
    return false;
  }

  bool callers(ByteReader &in) {
    for (size_t i = 0; i < body().sites.size(); ++i) {
      const uint64_t caller = in.varint();
      // Below it in the list, so that no stack is endless.
      if (caller > i) return bad("has a caller that does not stand before its site");
      body().sites[i].caller = static_cast<uint32_t>(caller);
    }
    return true;
  }

  bool sites(ByteReader &in) {
    const size_t modules = in.count(2);
    for (size_t i = 0; i < modules && !in.failed(); ++i) {
      Module module;
      const ByteView id = in.blob();
      module.build_id.assign(id.begin(), id.end());
      module.path = in.text();
      in.take(2 * sizeof(Module) + module.build_id.size() + module.path.size());
      body().modules.push_back(std::move(module));
    }
    const size_t sites = in.count();
    std::vector<uint64_t> last(modules);
    if (!in.take(sites, sizeof(Site)) || !in.take(modules, sizeof(uint64_t))) return false;
    body().sites.reserve(sites);
    while (body().sites.size() < sites && !in.failed()) {
      const uint64_t module = in.varint();
      const uint64_t run = in.varint();
      if (module >= modules) return bad("refers to a module that does not exist");
      if (run == 0 || run > sites - body().sites.size()) return bad("has a run of sites that is too long");
      for (uint64_t i = 0; i < run && !in.failed(); ++i) {
        last[as_size(module)] += static_cast<uint64_t>(in.signed_varint());
        body().sites.push_back({static_cast<uint32_t>(module), last[as_size(module)], 0});
      }
    }
    has_maps_ = in.byte() != 0;
    if (!has_maps_) return true;
    body().module_maps = ValuesColumn::parse(in);
    for (const Bytes &map : body().module_maps.values()) {
      ByteReader numbers(map);
      while (!numbers.at_end() && !numbers.failed()) {
        if (numbers.varint() >= modules) return bad("maps to a module that does not exist");
      }
      if (numbers.failed()) return false;
    }
    return true;
  }

  bool told(bool good) { return good || bad(classes_.what()); }

  bool grammars(ByteReader &in) { return told(classes_.grammars(in)); }
  bool columns(ByteReader &in) { return told(classes_.columns(in)); }

  bool site_list(ByteReader &in, ClassHead *part) {
    const size_t runs = in.count(2);
    for (size_t i = 0; i < runs && !in.failed(); ++i) {
      const uint64_t first = in.varint();
      const uint64_t length = in.varint();
      const uint64_t sites = body().sites.size();
      if (first >= sites || length > sites - first) return bad("has a class with a site that does not exist");
      listed_sites_ += length;
      if (listed_sites_ > most_after(in.position())) return bad("has too many sites");
      if (!in.take(2 * length, sizeof part->sites[0])) return false;
      for (uint64_t site = first; site < first + length; ++site) part->sites.push_back(static_cast<uint32_t>(site));
    }
    return !in.failed();
  }

  bool thread_and_segment(ByteReader &in, ClassHead *part) {
    const uint64_t thread = in.varint();
    const uint64_t segment = in.varint();
    if (thread > UINT32_MAX || segment > UINT32_MAX) return bad("has a thread or segment out of range");
    part->thread = static_cast<uint32_t>(thread);
    part->segment = static_cast<uint32_t>(segment) - 1;
    return true;
  }

  bool ranks(ByteReader &in, RankSet *out) {
    std::optional<RankSet> set = RankSet::of(FoldColumn::parse(in, FoldColumn::Domain::atoms));
    if (in.failed()) return false;
    if (!set || set->empty()) return bad("has a set of ranks that are not ascending");
    *out = *std::move(set);
    return true;
  }

  static Hash128 hash(ByteReader &in) {
    Hash128 hash;
    hash.low = in.fixed64();
    hash.high = in.fixed64();
    return hash;
  }

  bool packed_classes(ByteReader &in) {
    constexpr size_t kLeast = 40;  // bytes of a class
    if (!ranks(in, &body().ranks)) return false;
    const size_t classes = in.count(kLeast);
    for (size_t i = 0; i < classes && !in.failed(); ++i) {
      PackedClass part;
      part.received = true;
      if (!thread_and_segment(in, &part)) return false;
      part.key = hash(in);
      part.skeleton = hash(in);
      if (!ranks(in, &part.ranks) || !site_list(in, &part) || !told(classes_.times(in, &part))) return false;
      const uint64_t size = in.varint();
      const ByteView bytes = in.blob();
      part.size = size == 0 ? bytes.size() : size;
      part.offset = section_->offset + in.position() - bytes.size();
      part.bytes.assign(bytes.begin(), bytes.end());
      body().packed.push_back(std::move(part));
    }
    return true;
  }

  bool rows(ByteReader &in) {
    if (!told(classes_.row_shapes(in)) || !told(classes_.rank_set(in, &body().ranks))) return false;
    const size_t classes = in.count(6);
    for (size_t i = 0; i < classes; ++i) {
      constexpr uint64_t kClass = 2 * sizeof(ClassPart) + 256;  // in a vector that grows, with what all have
      if (!in.take(kClass)) return false;
      ClassPart part;
      if (!thread_and_segment(in, &part)) return false;
      if (!told(classes_.grammar(in, &part)) || !told(classes_.rank_set(in, &part.ranks)) || !site_list(in, &part) ||
          !told(classes_.rows(in, &part))) {
        return false;
      }
      body().classes.push_back(std::move(part));
    }
    return true;
  }

  bool streams(ByteReader &in) {
    return told(classes_.stream_shapes(in)) &&
           std::all_of(body().classes.begin(), body().classes.end(),
                       [&](ClassPart &part) { return told(classes_.streams(in, &part)); });
  }

  bool check_moved() {
    if (std::all_of(body().classes.begin(), body().classes.end(), has_what_moved)) return true;
    error_ = {ErrorKind::unreadable,
              "section 'streams' does not hold the fields that have moved out of the rows",
              {},
              0,
              "the file is damaged: copy it again or record again"};
    return false;
  }

  bool along(ByteReader &in, uint64_t size, FoldColumn *out) {
    *out = FoldColumn::parse(in, FoldColumn::Domain::atoms);
    if (in.failed()) return false;
    return out->size() == size || bad("has a column of the wrong length");
  }

  bool along(ByteReader &in, uint64_t size, ValuesColumn *out) {
    *out = ValuesColumn::parse(in);
    if (in.failed()) return false;
    return out->size() == size || bad("has a column of the wrong length");
  }

  bool meta(ByteReader &in) {
    RunInfo &run = decoded_.run;
    run.command = in.text();
    run.mpi = in.text();
    run.recorder = in.text();
    run.timing = in.text();
    run.status = in.text();
    run.start_unix_ns = in.signed_varint();
    run.wall_ns = in.varint();
    const uint64_t world = in.varint();
    const uint64_t size = in.varint();
    if (in.failed()) return false;
    if (world > UINT32_MAX || size > kMaxRanks) return bad("has a number of ranks that is too large");
    body().world = static_cast<uint32_t>(world);
    body().size = static_cast<uint32_t>(size);
    const uint64_t ranks = body().ranks.size();
    if (body().ranks.back() >= size) return bad("has a rank outside its world");
    if (!along(in, ranks, &body().hosts) || !along(in, ranks, &body().degraded) ||
        !along(in, ranks, &body().complete) || !along(in, ranks, &body().wall_ns) ||
        !along(in, ranks, &body().mpi_ns) || !along(in, ranks, &body().peak_memory)) {
      return false;
    }
    if (!has_maps_) body().module_maps = ValuesColumn::constant({}, ranks);
    if (body().module_maps.size() != ranks) return bad("and section 'sites' disagree on the number of ranks");
    return std::all_of(body().classes.begin(), body().classes.end(),
                       [&](ClassPart &part) { return told(classes_.begin(in, &part)); });
  }

  bool heap(ByteReader &in) {
    if (!told(classes_.heap_shapes(in))) return false;
    return std::all_of(body().classes.begin(), body().classes.end(),
                       [&](ClassPart &part) { return told(classes_.heap(in, &part)); });
  }

  bool order(ByteReader &in) {
    return std::all_of(body().classes.begin(), body().classes.end(),
                       [&](ClassPart &part) { return told(classes_.order(in, &part)); });
  }

  bool timing(ByteReader &in) {
    if (section_->damaged) {
      damaged_timing(ByteReader(in.raw(in.remaining()), allowance_));
      return true;
    }
    return std::all_of(body().classes.begin(), body().classes.end(),
                       [&](ClassPart &part) { return told(classes_.timing(in, &part)); });
  }

  void damaged_timing(ByteReader in) {
    for (size_t i = 0; i < body().classes.size(); ++i) {
      decoded_.times_lost_from = i;
      ClassPart &part = body().classes[i];
      const uint64_t size = part.ranks.size();
      if (size > in.remaining() || !in.take(size, 2 * sizeof(uint32_t))) return;
      const std::vector<uint32_t> all = part.ranks.expand();
      std::vector<uint32_t> without_block;
      for (const uint32_t rank : all) {
        const std::optional<uint64_t> place = body().ranks.index_of(rank);
        if (place && body().offset.at(*place) == kNoBlock) without_block.push_back(rank);
      }
      const bool as_expected = ClassReader::damaged_times(in, {all, without_block}, &part);
      if (!part.times.empty()) decoded_.last_times = {i, part.times.back().rank};
      if (!as_expected) return;
    }
    decoded_.times_lost_from.reset();
    if (in.at_end()) decoded_.last_times.reset();
  }

  /// Where they lead is looked at when a block is read.
  bool offsets(ByteReader &in) { return along(in, body().ranks.size(), &body().offset); }

  /// The same.
  void no_clocks() {
    const uint64_t ranks = body().ranks.size();
    body().clock_begin = body().clock_drift = FoldColumn::constant(0, ranks);
    body().clock_uncertainty = FoldColumn::constant(RankClock::kNone, ranks);
  }

  bool clocks(ByteReader &in) {
    const uint64_t ranks = body().ranks.size();
    constexpr size_t kOnAxis = 48;  // of a rank, in the axis that a reader makes of it, and while it does
    if (!in.take(ranks, kOnAxis)) return false;
    return along(in, ranks, &body().clock_begin) && along(in, ranks, &body().clock_drift) &&
           along(in, ranks, &body().clock_uncertainty);
  }

  bool take_sums(std::optional<FunctionSums> sums) {
    if (!sums) return bad("has sums that cannot be");
    body().sums = *std::move(sums);
    return true;
  }
  bool sums(ByteReader &in) { return take_sums(FunctionSums::parse(in, body().ranks.size())); }
  bool rounded_sums(ByteReader &in) { return take_sums(FunctionSums::parse_rounded(in, body().ranks.size())); }

  bool gaps(ByteReader &in) {
    std::optional<SiteGaps> gaps = SiteGaps::parse(in, body().sites.size());
    if (!gaps) return bad("has gaps that cannot be");
    body().gaps = *std::move(gaps);
    return true;
  }

  bool bundles(ByteReader &in) {
    decoded_.bundles = in.varint();
    return true;
  }

  bool cost(ByteReader &in) {
    MergeCost &merge = decoded_.run.merge;
    merge.ranks = in.varint();
    merge.sum_ns = in.varint();
    merge.most_ns = in.varint();
    if (!in.at_end()) {
      merge.times.size.calls = in.varint();
      merge.times.size.bytes = in.varint();
      merge.times.size.clock_error_ns = in.varint();
      merge.times.coding_ns = in.varint();
      merge.times.writing_ns = in.varint();
    }
    if (in.failed()) return false;
    const bool possible = merge.ranks != 0 && merge.ranks <= kMaxRanks && merge.most_ns <= merge.sum_ns &&
                          merge.sum_ns / merge.ranks <= merge.most_ns;
    return possible || bad("has times that contradict each other");
  }

  bool memory(ByteReader &in) {
    MemoryPeaks &peaks = decoded_.run.merge.memory;
    peaks.recorded = in.varint();
    peaks.making = in.varint();
    peaks.merging = in.varint();
    peaks.together = in.varint();
    if (in.failed()) return false;
    return peaks.together >= std::max({peaks.recorded, peaks.making, peaks.merging}) ||
           bad("has less memory together than apart");
  }

  bool job(ByteReader &in) {
    decoded_.run.job = in.text();
    decoded_.run.spawned_by = in.text();
    return true;
  }

  bool jobs(ByteReader &in) {
    constexpr size_t kLeast = 4;  // bytes of a job
    const size_t count = in.count(kLeast);
    if (!in.take(count, sizeof(Job))) return false;
    std::vector<Job> &jobs = decoded_.run.jobs;
    for (size_t i = 0; i < count && !in.failed(); ++i) {
      Job job;
      const uint64_t first = in.varint();
      job.command = in.text();
      const uint64_t by = in.varint();
      job.parent = in.text();
      if (in.failed()) return false;
      const bool follows = i == 0 ? first == 0 : first > jobs.back().first;
      if (!follows || first >= body().size) return bad("has jobs whose ranks do not follow each other");
      if ((i == 0) != (by == 0) || by > first) return bad("has a job that no earlier one spawned");
      job.first = static_cast<uint32_t>(first);
      if (by != 0) job.spawned_by = static_cast<uint32_t>(by - 1);
      jobs.push_back(std::move(job));
    }
    return !in.failed();
  }

  const std::vector<SectionView> &sections_;
  Allowance *allowance_;
  const SectionView *section_ = nullptr;  ///< being read
  Decoded decoded_;
  Error error_;
  std::string what_;
  bool has_maps_ = false;
  ClassReader classes_;
  uint64_t listed_sites_ = 0;
};

}  // namespace

Result<Decoded> decode(const std::vector<SectionView> &sections, Allowance *allowance) {
  return Decoder(sections, allowance).run();
}

Result<Decoded> decode_packed(const std::vector<SectionView> &sections) {
  return Decoder(sections, nullptr).run_packed();
}

}  // namespace cairn::trace
