#include "trace/file/bundle.h"

#include <algorithm>
#include <utility>

#include "trace/file/file.h"
#include "trace/file/sections.h"
#include "trace/model/site_lists.h"
#include "trace/values/bounds.h"

namespace cairn::trace {
namespace {

/// Those of the packed classes that leave (Part::take_bundle).
std::vector<PackedClass> leaving(size_t most, Part::Body *body) {
  const uint64_t ranks = body->ranks.size();
  std::vector<PackedClass> *packed = &body->packed;
  if (most == 0) {
    for (ClassPart &part : body->classes) packed->push_back(pack(std::move(part)));
    body->classes.clear();
  }
  std::vector<size_t> order(packed->size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // What ranks say to each other is told once while they are in one class: where all are, it may become larger, and by
  // a sixteenth than a power of two, which is what 2^n ranks say to all others; the class has more than that.
  const auto large = [&](size_t i) {
    const PackedClass &each = (*packed)[i];
    return each.ranks.size() == ranks ? 4 * each.bytes.size() > most + most / 16 : 8 * each.bytes.size() > most;
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(!large(a), (*packed)[a].ranks.size()) < std::pair(!large(b), (*packed)[b].ranks.size());
  });
  size_t bytes = 0;
  for (const PackedClass &each : *packed) bytes += each.bytes.size();
  const size_t enough = bytes > most ? most / 2 : most;
  std::vector<bool> leaves(packed->size());
  for (const size_t i : order) {
    if (!large(i) && bytes <= enough) break;
    bytes -= (*packed)[i].bytes.size();
    leaves[i] = true;
  }
  std::vector<PackedClass> gone;
  std::vector<PackedClass> kept;
  for (size_t i = 0; i < packed->size(); ++i) (leaves[i] ? gone : kept).push_back(std::move((*packed)[i]));
  *packed = std::move(kept);
  return gone;
}

/// A part of the same ranks, of which nothing is known but those classes.
Part::Body body_of(const Part::Body &of, std::vector<PackedClass> classes) {
  Part::Body body;
  body.world = of.world;
  body.size = of.size;
  body.ranks = of.ranks;
  body.modules = of.modules;
  body.sites = of.sites;
  body.packed = std::move(classes);
  const uint64_t ranks = of.ranks.size();
  for (ValuesColumn *column : {&body.hosts, &body.degraded, &body.module_maps}) {
    *column = ValuesColumn::constant({}, ranks);
  }
  for (FoldColumn *column :
       {&body.complete, &body.wall_ns, &body.mpi_ns, &body.peak_memory, &body.clock_begin, &body.clock_drift}) {
    *column = FoldColumn::constant(0, ranks);
  }
  body.clock_uncertainty = FoldColumn::constant(RankClock::kNone, ranks);
  body.offset = FoldColumn::constant(kNoBlock, ranks);
  return body;
}

Bytes block_of(uint32_t least, uint32_t greatest, ByteView file) {
  ByteWriter front;
  front.varint(least);
  front.varint(greatest - least);
  front.fixed32(checksum(front.view()));
  Bytes content = front.take();
  content.insert(content.end(), file.begin(), file.end());
  ByteWriter out;
  out.varint(content.size());
  out.fixed32(checksum(content));
  out.raw(content);
  return out.take();
}

tl::unexpected<Error> malformed(const char *what) {
  return tl::unexpected(Error{ErrorKind::unreadable, std::string("section 'bundles' ") + what, {}, 0, {}});
}

Result<Decoded> read(ByteView file, std::map<std::string, uint64_t> *sizes, Allowance *allowance) {
  const Result<std::vector<StoredSection>> stored = read_file(file);
  if (!stored) return tl::unexpected(stored.error());
  count_sections(*stored, sizes);
  std::vector<Bytes> decoded(stored->size());
  std::vector<SectionView> views;
  for (size_t i = 0; i < stored->size(); ++i) {
    const StoredSection &section = (*stored)[i];
    if (section.codec == kInBlocks) return malformed("has a bundle with blocks");
    const Result<SectionView> view = decompressed(section, &decoded[i], allowance);
    if (!view) return tl::unexpected(view.error());
    views.push_back(*view);
  }
  return decode(views, allowance);
}

/// Whether no rank has two classes of one thread and segment. Proportional to the members.
bool each_once(const std::vector<ClassPart> &classes) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<bool>> seen;
  for (const ClassPart &part : classes) {
    std::vector<bool> &ranks = seen[{part.thread, part.segment}];
    if (ranks.size() <= part.ranks.back()) ranks.resize(part.ranks.back() + size_t{1});
    for (const uint32_t rank : part.ranks.expand()) {
      if (ranks[rank]) return false;
      ranks[rank] = true;
    }
  }
  return true;
}

Result<void> return_one(ByteView bundle, Part::Body *body, std::map<std::string, uint64_t> *sizes,
                        Allowance *allowance) {
  const BundleFront front = bundle_front(bundle);
  if (front.bytes == 0) return malformed("has a bundle that does not tell its ranks");
  Result<Decoded> decoded = read(bundle.subspan(front.bytes), sizes, allowance);
  if (!decoded) return tl::unexpected(decoded.error());
  Part::Body &from = *decoded->body;
  if (from.world != body->world || decoded->bundles) return malformed("has a bundle of another trace");
  const size_t modules = body->modules.size();
  const size_t sites = body->sites.size();
  std::vector<Module> all = body->modules;
  const std::vector<uint32_t> module_number = merge_modules(&all, from.modules);
  const std::vector<uint32_t> site_number = merge_sites(&body->sites, from.sites, module_number);
  if (all.size() != modules || body->sites.size() != sites) {
    body->sites.resize(sites);
    return malformed("has a bundle with sites that the trace does not have");
  }
  for (ClassPart &part : from.classes) {
    if (part.ranks.front() < front.least || part.ranks.back() > front.greatest) {
      return malformed("has a bundle with other ranks than it says");
    }
    for (const uint32_t rank : part.ranks.expand()) {
      if (!body->ranks.index_of(rank)) return malformed("has a bundle with a rank that the trace does not have");
    }
    for (uint32_t &site : part.sites) site = site_number[site];
    body->classes.push_back(std::move(part));
  }
  return {};
}

}  // namespace

BundleFront bundle_front(ByteView content) {
  BundleFront front;
  ByteReader in(content.first(std::min(content.size(), kMostBundleFront)));
  const uint64_t least = in.varint();
  const uint64_t more = in.varint();
  const size_t told = in.position();
  const uint32_t check = in.fixed32();
  const bool sound =
      !in.failed() && least < kMaxRanks && more < kMaxRanks - least && check == checksum(content.first(told));
  if (!sound) return front;
  front.least = static_cast<uint32_t>(least);
  front.greatest = static_cast<uint32_t>(least + more);
  front.bytes = in.position();
  return front;
}

Result<Bytes> Part::take_bundle(size_t most) { return bundle_of(leaving(most, body_.get())); }

Result<void> Part::take_bundles(size_t most, size_t at_once, const std::function<void(Bytes)> &add) {
  std::vector<PackedClass> some;
  size_t bytes = 0;
  const auto give = [&]() -> Result<void> {
    Result<Bytes> bundle = bundle_of(std::exchange(some, {}));
    if (!bundle) return tl::unexpected(bundle.error());
    bytes = 0;
    add(*std::move(bundle));
    return {};
  };
  for (PackedClass &each : leaving(most, body_.get())) {
    if (!some.empty() && bytes + each.bytes.size() > at_once) {
      Result<void> given = give();
      if (!given) return given;
    }
    bytes += each.bytes.size();
    some.push_back(std::move(each));
  }
  return some.empty() ? Result<void>() : give();
}

Result<Bytes> Part::bundle_of(std::vector<PackedClass> classes) const {
  if (classes.empty()) return Bytes();
  uint32_t least = UINT32_MAX;
  uint32_t greatest = 0;
  for (const PackedClass &each : classes) {
    least = std::min(least, each.ranks.front());
    greatest = std::max(greatest, each.ranks.back());
  }
  const Part bundle(std::make_unique<Body>(body_of(*body_, std::move(classes))));
  const Result<Bytes> file = bundle.to_file({});
  if (!file) return tl::unexpected(file.error());
  return block_of(least, greatest, *file);
}

Result<void> return_bundles(const BlockSource &blocks, uint64_t begin, const WantedBundles &wanted, Part::Body *body,
                            std::map<std::string, uint64_t> *sizes, Allowance *allowance) {
  const std::string what = "a bundle of classes";
  const uint64_t bundles = begin;
  while (begin < blocks.size()) {
    const uint64_t at = begin;
    if (wanted) {
      uint64_t next = begin;
      const Result<Bytes> first = blocks.peek(&next, kMostBundleFront, what);
      if (!first) return tl::unexpected(first.error());
      const BundleFront front = bundle_front(*first);
      if (front.bytes != 0 && !wanted(front.least, front.greatest)) {
        begin = next;
        continue;
      }
    }
    const Result<Bytes> bundle = blocks.read_next(&begin, what);
    if (!bundle) return tl::unexpected(bundle.error());
    allowance->give(memory_for(bundle->size()) - memory_for(0));
    Result<void> returned = return_one(*bundle, body, sizes, allowance);
    if (returned) continue;
    returned.error().message = what + ": " + returned.error().message;
    returned.error().offset = kHeaderBytes + at;
    return returned;
  }
  if (each_once(body->classes)) return {};
  tl::unexpected<Error> twice = malformed("has calls that a rank has already");
  twice.value().offset = kHeaderBytes + bundles;
  return twice;
}

}  // namespace cairn::trace
