#include "trace/read/trace.h"

#include <algorithm>
#include <utility>

#include "base/as_size.h"
#include "codec/codec.h"
#include "timing/mode.h"
#include "trace/file/bundle.h"
#include "trace/file/sections.h"
#include "trace/model/class_heap.h"
#include "trace/model/derived_values.h"
#include "trace/model/request_arrays.h"
#include "trace/model/row_counts.h"
#include "trace/model/row_fields.h"
#include "trace/read/trace_body.h"
#include "trace/values/bounds.h"

namespace cairn::trace {
namespace {

std::string text_of(const Bytes &bytes) { return {bytes.begin(), bytes.end()}; }

/// A field that is the same on all members.
std::optional<Field> unvaried(const ClassRow &row, size_t field) {
  RowFields fields(row);
  for (size_t i = 0; i < field; ++i) fields.next();
  const FieldHead &head = fields.next();
  Field result;
  if (head.kind == FieldHead::text) {
    result.is_bytes = true;
    result.bytes = fields.text();
    return result;
  }
  if (head.kind != FieldHead::atoms) return std::nullopt;
  for (uint32_t i = 0; i < head.count; ++i) {
    if (fields.column(i) != nullptr) return std::nullopt;
    result.atoms.push_back(fields.atom(i));
    if (result.atoms.back() == kStatic) return std::nullopt;  // a module follows, which each rank numbers
  }
  return result;
}

/// What a stream has on all members, each time.
std::optional<Field> only_value(const Stream &stream) {
  std::optional<Field> only;
  for (const StreamVariant &variant : stream.variants) {
    if (variant.values.size() != 1) return std::nullopt;
    const std::optional<Field> value = unvaried(*variant.values[0], 0);
    if (!value || (only && *only != *value)) return std::nullopt;
    // Differences from 0 that are 0, or specials, which stand for themselves.
    const auto stays = [](Atom atom) { return atom == 0 || is_special(atom); };
    if (variant.differences && !std::all_of(value->atoms.begin(), value->atoms.end(), stays)) return std::nullopt;
    only = value;
  }
  return only;
}

}  // namespace

Result<void> Trace::Body::open_bundles(uint64_t begin, const WantedBundles &wanted, Allowance *allowance) {
  bundles = begin;
  if (blocks == nullptr || begin >= blocks->size()) {
    return tl::unexpected(times_error(SectionKind::bundles, "leads to nothing"));
  }
  return return_bundles(*blocks, begin, wanted, part.get(), &in_bundles, allowance);
}

Error Trace::Body::times_error(SectionKind kind, const std::string &what) const {
  const auto number = static_cast<uint8_t>(kind);
  Error error{ErrorKind::unreadable, "section '" + section_name(number) + "' " + what, path, Error::kNoOffset, {}};
  for (const StoredSection &section : stored) {
    if (section.kind == number) error.offset = section.offset;
  }
  return error;
}

Result<std::shared_ptr<const BlockSource::Block>> Trace::Body::block_of(uint32_t rank) const {
  const std::optional<uint64_t> place = part->ranks.index_of(rank);
  const Atom offset = place ? part->offset.at(*place) : kNoBlock;
  if (offset == kNoBlock) return nullptr;
  if (blocks == nullptr) return tl::unexpected(times_error(SectionKind::blocks, "is missing"));
  return blocks->read(rank, offset, [&] {
    std::vector<std::pair<uint32_t, uint32_t>> sequences;
    for (const auto &[index, member] : places.of(rank, part->classes)) {
      const ClassPart &own = part->classes[index];
      if (timing::stream_of(own.times, rank) == nullptr) sequences.emplace_back(own.thread, own.segment);
    }
    return sequences;
  });
}

Trace::Trace(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Trace::Trace(Trace &&) noexcept = default;
Trace &Trace::operator=(Trace &&) noexcept = default;
Trace::~Trace() = default;

Result<Trace> Trace::from_bytes(Bytes bytes, std::string path) {
  return with_blocks(std::move(bytes), std::move(path), 0, {});
}

Result<Trace> Trace::with_blocks(Bytes bytes, std::string path, uint64_t absent, ReadBytes read,
                                 const WantedBundles &wanted) {
  auto body = std::make_unique<Body>();
  body->file = std::move(bytes);
  body->path = std::move(path);
  const auto with_path = [&body](Error error) {
    error.path = body->path;
    return tl::unexpected(std::move(error));
  };
  body->absent = absent;
  Result<std::vector<StoredSection>> stored = read_file(body->file, absent, Damage::may_be_in_times);
  if (!stored) return with_path(stored.error());
  body->stored = *std::move(stored);
  Allowance allowance(memory_for(body->file.size()));
  std::vector<Bytes> decoded(body->stored.size());
  std::vector<SectionView> views;
  for (size_t i = 0; i < body->stored.size(); ++i) {
    const StoredSection &section = body->stored[i];
    if (section.codec == kInBlocks) {
      if (section.kind == static_cast<uint8_t>(SectionKind::blocks)) {
        body->blocks = std::make_unique<BlockSource>(section, std::exchange(read, nullptr), body->path);
      }
      continue;
    }
    if (is_gpu(section)) continue;  // many, and read by those who want them
    const Result<SectionView> view = decompressed(section, &decoded[i], &allowance);
    if (!view) return with_path(view.error());
    views.push_back(*view);
  }
  Result<Decoded> content = decode(views, &allowance);
  if (!content) return with_path(content.error());
  for (const StoredSection &section : body->stored) {
    if (!section.wrong_checksum) continue;
    body->damage = wrong_checksum(section);
    body->damage->path = body->path;
    if (!timing::keeps_times(content->run.timing)) return tl::unexpected(*body->damage);  // statistics have no checks
  }
  body->times_lost_from = content->times_lost_from.value_or(SIZE_MAX);
  body->last_times = content->last_times;
  body->part = std::move(content->body);
  body->own_classes = body->part->classes.size();
  body->run = std::move(content->run);
  if (content->bundles) {
    const Result<void> returned = body->open_bundles(*content->bundles, wanted, &allowance);
    if (!returned) return with_path(returned.error());
  }
  body->places = RankClasses(body->part->classes);
  body->axis =
      Axis(body->part->clock_begin, body->part->clock_drift, body->part->clock_uncertainty, body->part->wall_ns);
  for (const SectionView &view : views) {
    if (view.kind == static_cast<uint8_t>(SectionKind::corrections)) {
      Result<Corrections> corrections = Corrections::parse(view, body->part->ranks.size(), &allowance);
      if (!corrections) return with_path(corrections.error());
      body->axis.correct(*std::move(corrections));
    }
    if (view.kind != static_cast<uint8_t>(SectionKind::source)) continue;
    Result<Sources> sources = Sources::parse(view, body->part->sites, &allowance);
    if (!sources) return with_path(sources.error());
    body->sources = *std::move(sources);
  }
  return Trace(std::move(body));
}

const RunInfo &Trace::run() const { return body_->run; }
uint32_t Trace::rank_count() const { return body_->part->size; }
Trace::JobPlace Trace::job_of(uint32_t rank) const {
  const std::vector<Job> &jobs = body_->run.jobs;
  if (jobs.empty()) return {0, 0, rank_count()};
  const auto behind =
      std::upper_bound(jobs.begin() + 1, jobs.end(), rank, [](uint32_t r, const Job &job) { return r < job.first; });
  const auto job = behind - 1;
  return {static_cast<uint32_t>(job - jobs.begin()), job->first,
          (behind == jobs.end() ? rank_count() : behind->first) - job->first};
}
std::vector<uint32_t> Trace::ranks() const { return body_->part->ranks.expand(); }
const std::vector<Module> &Trace::modules() const { return body_->part->modules; }

Row Trace::row(uint32_t class_index, uint32_t row, uint32_t rank) const {
  if (class_index >= class_count()) return {};
  const ClassPart &part = body_->part->classes[class_index];
  const std::optional<uint64_t> member = part.ranks.index_of(rank);
  if (!member || row >= part.rows.size()) return {};
  Row result = part.rows[row]->at(*member);
  expand_prefix_sums(&result);
  expand_requests(&result);
  body_->number_modules(&result, rank);
  return result;
}

void Trace::Body::number_modules(Row *row, uint32_t rank) const {
  const std::optional<uint64_t> place = part->ranks.index_of(rank);
  if (!place) return;
  const Bytes map = part->module_maps.at(*place);
  if (map.empty()) return;
  std::vector<uint64_t> number;
  ByteReader in(map);
  while (!in.at_end() && !in.failed()) number.push_back(in.varint());
  for (Field &field : row->fields) {
    for (size_t i = 0; i + 1 < field.atoms.size(); ++i) {
      Atom &module = field.atoms[i + 1];
      if (field.atoms[i] != kStatic || module < 0 || static_cast<uint64_t>(module) >= number.size()) continue;
      module = static_cast<Atom>(number[as_size(module)]);
    }
  }
}

std::vector<std::optional<Field>> Trace::results(uint32_t class_index) const {
  std::vector<std::optional<Field>> results;
  if (class_index >= class_count()) return results;
  const ClassPart &part = body_->part->classes[class_index];
  const RowGroups groups(part.rows);
  // Of groups whose calls' results have moved into a stream.
  std::vector<std::optional<Field>> streamed(groups.count());
  for (const Stream &stream : part.streams) {
    if (stream.field + 1 == call_fields(*part.rows[groups.first_row[stream.group]])) {
      streamed[stream.group] = only_value(stream);
    }
  }
  for (size_t row = 0; row < part.rows.size(); ++row) {
    const size_t fields = call_fields(*part.rows[row]);
    if (fields != 0 && part.rows[row]->heads[fields - 1].kind == FieldHead::moved) {
      results.push_back(streamed[groups.of_row[row]]);
    } else {
      results.push_back(fields == 0 ? std::nullopt : unvaried(*part.rows[row], fields - 1));
    }
  }
  return results;
}

Row Trace::row_head(uint32_t class_index, uint32_t row) const {
  Row head;
  if (class_index >= class_count() || row >= body_->part->classes[class_index].rows.size()) return head;
  const ClassRow &source = *body_->part->classes[class_index].rows[row];
  head.function = source.function;
  head.site = source.site;
  head.depth = source.depth;
  return head;
}

std::optional<RowStats> Trace::row_stats(uint32_t class_index, uint32_t row) const {
  if (class_index >= class_count()) return std::nullopt;
  return row_stats_of(body_->part->classes[class_index], row);
}

Result<TimesBytes> Trace::times_bytes(const SequenceView &sequence) const {
  TimesBytes times;
  if (sequence.class_index >= class_count()) return times;
  const ClassPart &part = body_->part->classes[sequence.class_index];
  times.calls = call_count_of(part, sequence.rank);
  if (const Bytes *in_section = timing::stream_of(part.times, sequence.rank)) {
    times.stream = *in_section;
    times.damage = body_->damage;
    times.end_is_sure = body_->last_times != std::pair<size_t, uint32_t>(sequence.class_index, sequence.rank);
    return times;
  }
  auto block = body_->block_of(sequence.rank);
  if (!block) return tl::unexpected(block.error());
  const bool lost = sequence.class_index >= body_->times_lost_from && sequence.class_index < body_->own_classes;
  if (*block == nullptr && lost) {
    return tl::unexpected(times_error(times, "is damaged: the times of rank " + std::to_string(sequence.rank) +
                                                 ", thread " + std::to_string(sequence.thread) + " are lost"));
  }
  if (*block == nullptr) return times;
  times.in_block = true;
  for (const BlockStream &each : (*block)->streams) {
    if (each.thread != part.thread || each.segment != part.segment) continue;
    times.stream = each.times;
    times.end_is_sure = each.end_is_sure;
  }
  times.damage = (*block)->damage;
  times.owner = *std::move(block);
  return times;
}

const std::optional<Error> &Trace::damage() const { return body_->damage; }

Error Trace::times_error(const TimesBytes &times, const std::string &what) const {
  return body_->times_error(times.in_block ? SectionKind::blocks : SectionKind::timing, what);
}

std::optional<CallOrder> Trace::order(const SequenceView &sequence) const {
  if (sequence.class_index >= class_count()) return std::nullopt;
  const ClassPart &part = body_->part->classes[sequence.class_index];
  const std::optional<uint64_t> member = part.ranks.index_of(sequence.rank);
  if (!member) return std::nullopt;
  const Bytes &bytes = part.order.at(*member);
  if (bytes.empty()) return std::nullopt;
  ByteReader in(bytes);
  Result<grammar::Grammar> skips = grammar::Grammar::parse(in);
  if (!skips) return std::nullopt;  // was checked when the file was opened
  return CallOrder{static_cast<uint64_t>(part.first_ticket.at(*member)), *std::move(skips)};
}

std::optional<HeapHistory> Trace::heap(const SequenceView &sequence) const {
  if (sequence.class_index >= class_count()) return std::nullopt;
  for (const StreamVariant &variant : body_->part->classes[sequence.class_index].heap.variants) {
    const std::optional<uint64_t> member = variant.ranks.index_of(sequence.rank);
    if (!member || variant.values.empty()) continue;
    HeapHistory history{{}, variant.order};
    for (const RowPointer &value : variant.values) history.events.push_back(heap_event_at(*value, *member));
    return history;
  }
  return std::nullopt;
}

std::vector<uint64_t> Trace::tickets(const SequenceView &sequence) const {
  std::vector<uint64_t> result;
  const std::optional<CallOrder> found = order(sequence);
  if (!found || found->skips.length() > kMostTickets) return result;
  grammar::Walker walker(found->skips);
  uint64_t next = 0;
  for (uint64_t i = 0; i < found->skips.length(); ++i) {
    const uint64_t skip = walker.next();
    next = i == 0 ? found->first_ticket : next + skip + 1;
    result.push_back(next);
  }
  return result;
}

const std::vector<Site> &Trace::all_sites() const { return body_->part->sites; }

std::vector<Site> Trace::sites(uint32_t class_index) const {
  if (class_index >= class_count()) return {};
  std::vector<Site> result(1);
  for (const uint32_t site : body_->part->classes[class_index].sites) result.push_back(body_->part->sites[site]);
  return result;
}

std::optional<Source> Trace::source(const Site &site) const { return body_->sources.find(site); }

Trace::RankInfo Trace::rank_info(uint32_t rank) const {
  RankInfo info;
  const Part::Body &part = *body_->part;
  const std::optional<uint64_t> place = part.ranks.index_of(rank);
  if (!place) return info;
  const auto number = [&place](const FoldColumn &column) {
    const Atom value = column.at(*place);
    return value < 0 ? uint64_t{0} : static_cast<uint64_t>(value);
  };
  info.host = text_of(part.hosts.at(*place));
  info.degraded = text_of(part.degraded.at(*place));
  info.complete = number(part.complete) != 0;
  info.wall_ns = number(part.wall_ns);
  info.mpi_ns = number(part.mpi_ns);
  info.peak_memory = number(part.peak_memory);
  info.clock = {part.clock_begin.at(*place), part.clock_drift.at(*place), part.clock_uncertainty.at(*place)};
  return info;
}

const Axis &Trace::axis() const { return body_->axis; }
void Trace::take_corrections_back() { body_->axis.correct(std::nullopt); }

Axis::Place Trace::place_on_axis(uint32_t rank) const {
  const std::optional<uint64_t> place = body_->part->ranks.index_of(rank);
  return place ? body_->axis.at(*place) : Axis::Place();
}

std::vector<uint32_t> Trace::summed_functions() const {
  std::vector<uint32_t> functions;
  for (const auto &[function, column] : body_->part->sums.columns()) functions.push_back(function);
  return functions;
}

std::optional<uint64_t> Trace::function_ns(uint32_t rank, uint32_t function) const {
  const std::optional<uint64_t> place = body_->part->ranks.index_of(rank);
  return place ? body_->part->sums.at(function, *place) : std::nullopt;
}

const timing::GapStats *Trace::gaps(uint32_t class_index, uint32_t site) const {
  const std::vector<uint32_t> &sites = body_->part->classes[class_index].sites;
  if (site == 0 || site > sites.size()) return nullptr;
  const auto &all = body_->part->gaps.all();
  const auto found = all.find(sites[site - 1]);
  return found == all.end() ? nullptr : &found->second;
}

std::vector<std::string> Trace::hosts() const {
  std::vector<std::string> result;
  for (const Bytes &host : body_->part->hosts.values()) result.push_back(text_of(host));
  std::sort(result.begin(), result.end());
  return result;
}

std::map<std::string, uint64_t> Trace::section_bytes() const {
  std::map<std::string, uint64_t> result = body_->in_bundles;
  uint64_t counted = 0;  // of what bundles take
  for (const auto &[name, bytes] : result) counted += bytes;
  const uint64_t total = body_->file.size() + body_->absent;
  uint64_t rest = total - count_sections(body_->stored, &result);
  for (const StoredSection &section : body_->stored) {
    if (section.codec != kInBlocks) continue;
    const uint64_t size = section.decoded_size;
    rest -= size;
    const uint64_t bundles = body_->bundles ? size - *body_->bundles : 0;
    if (bundles != 0) result[section_name(static_cast<uint8_t>(SectionKind::bundles))] += bundles - counted;
    if (size != bundles) result[section_name(section.kind)] += size - bundles;
  }
  result["total"] = total;
  result["directory"] = rest;
  return result;
}

uint64_t Trace::calls_given() const { return body_->calls_given; }

uint64_t Trace::absent() const { return body_->absent; }

uint64_t Trace::memory() const { return memory_for(body_->file.size()); }

Result<std::pair<Bytes, Bytes>> Trace::gpu() const {
  std::pair<Bytes, Bytes> result;
  for (const StoredSection &section : body_->stored) {
    if (!is_gpu(section)) continue;
    const SectionView view{section.kind, section.bytes, section.offset, section.codec != codec::kRaw};
    Bytes &to = section.kind == static_cast<uint8_t>(SectionKind::gpu) ? result.first : result.second;
    if (section.decoded_size > memory()) {
      Error error = section_error(view, 0, "holds more than a file of so few bytes may");
      error.path = body_->path;
      return tl::unexpected(std::move(error));
    }
    if (!codec::decode(section.codec, section.bytes, section.decoded_size, &to)) {
      Error error = section_error(view, 0, "cannot be decompressed");
      error.path = body_->path;
      return tl::unexpected(std::move(error));
    }
  }
  return result;
}

}  // namespace cairn::trace
