#include "reader/reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analyze/any_call.h"
#include "analyze/call_texts.h"
#include "analyze/sources.h"
#include "reader/block.h"
#include "reader/groups.h"
#include "reader/messages_block.h"
#include "reader/reading.h"
#include "reader/strips.h"
#include "text/utf8.h"
#include "trace/file/without_blocks.h"
#include "trace/read/events.h"

namespace cairn::reader {
namespace {

using trace::Event;

constexpr uint32_t kAll = UINT32_MAX;
constexpr double kNotKnown = -1;

/// Calls of one rank, wherever they are asked for.
struct RankReader {
  uint32_t rank;
  analyze::AnyCall calls;
  analyze::CallTexts texts;
  analyze::RankVolumes volumes;

  RankReader(const Reading &reading, uint32_t of)
      : rank(of),
        calls(reading.trace, of),
        texts(reading.decoder, nullptr, std::nullopt, false, kMostTexts),
        volumes(reading.trace, reading.moving, of) {}

  const Event *at(uint64_t index) {
    const Event *event = calls.at(index);
    if (calls.begins_anew()) texts.forget();
    return event;
  }
  const std::string &text(const Event &event) { return texts.text(event, calls.names()); }

 private:
  static constexpr size_t kMostTexts = size_t{1} << 16;
};

/// All that is open, and what was asked last.
struct Open {
  std::unique_ptr<Reading> reading;
  std::unique_ptr<RankReader> rank;
  std::unique_ptr<Strips> strips;
  Bytes answer;
  Error error;
};

Open &open_now() {
  static Open open;
  return open;
}

reader_result give(Block &&block) {
  Open &open = open_now();
  open.answer = std::move(block).take();
  return open.answer.data();
}

reader_result refuse(Error error) {
  open_now().error = std::move(error);
  return nullptr;
}

/// What a question about the open trace gives: a Block, or an Error.
template <typename Question>
reader_result answer(const Question &question) {
  Open &open = open_now();
  open.answer = {};
  if (open.reading == nullptr) return refuse({ErrorKind::usage, "no trace is open", {}, Error::kNoOffset, {}});
  Result<Block> block = question(*open.reading);
  if (!block) return refuse(std::move(block.error()));
  return give(*std::move(block));
}

Result<RankReader *> reader_of(const Reading &reading, uint32_t rank) {
  std::unique_ptr<RankReader> &known = open_now().rank;
  if (known != nullptr && known->rank == rank) return known.get();
  if (reading.trace.sequences(rank).empty()) {
    return fail(ErrorKind::usage, "there is no rank " + std::to_string(rank) + " in this trace");
  }
  known.reset();
  known = std::make_unique<RankReader>(reading, rank);
  return known.get();
}

/// A number that JavaScript gave, as a whole one.
uint64_t whole(double number) {
  constexpr double kMost = 9007199254740992;  // 2^53
  return number >= 0 ? static_cast<uint64_t>(std::min(number, kMost)) : 0;
}

/// Of an axis.
uint64_t moment(double ns) {
  constexpr double kMost = 9223372036854775808.0;  // 2^63
  return ns >= 0 ? static_cast<uint64_t>(std::min(ns, kMost)) : 0;
}

Strips &strips_of(const Reading &reading) {
  std::unique_ptr<Strips> &known = open_now().strips;
  if (known == nullptr) known = std::make_unique<Strips>(reading.trace, reading.sources, reading.groups);
  return *known;
}

timeline::By by_of(uint32_t number) {
  return number == 1 ? timeline::By::function : number == 2 ? timeline::By::site : timeline::By::sort;
}

Block one(double number) {
  Block block;
  block.numbers(std::span<const double>(&number, 1));
  return block;
}

/// Groups of a list by their numbers; empty: all.
std::vector<bool> chosen(const Reading &reading, const uint32_t *groups, size_t count) {
  std::vector<bool> all;
  if (groups == nullptr) return all;
  all.resize(reading.groups.all().size() + 1);
  for (const uint32_t group : std::span(groups, count)) {
    if (group < all.size()) all[group] = true;
  }
  return all;
}

/// Which calls are asked for.
struct Asked {
  uint32_t thread = kAll;
  std::vector<bool> groups;  ///< by number; empty: all
  std::string_view needle;
};

struct CallColumns {
  std::vector<double> index, begin, duration, gap, bytes;
  std::vector<uint32_t> thread, group, segment;
  std::vector<std::string> texts;
};

double bytes_of(const analyze::Volume &volume) {
  constexpr double kUnknownSize = -2;
  if (!volume.moves) return kNotKnown;
  return volume.bytes ? static_cast<double>(*volume.bytes) : kUnknownSize;
}

Result<Block> calls_of(const Reading &reading, uint32_t rank, uint64_t first, uint32_t most, uint64_t walked,
                       const Asked &asked) {
  const Result<RankReader *> found = reader_of(reading, rank);
  if (!found) return tl::unexpected(found.error());
  RankReader &reader = **found;
  Exactly exactly;
  CallColumns columns;
  uint64_t next = first;
  bool at_end = false;
  for (; columns.index.size() < most && walked != 0; ++next, --walked) {
    const Event *event = reader.at(next);
    at_end = event == nullptr;
    if (at_end) break;
    if (asked.thread != kAll && event->thread != asked.thread) continue;
    const uint32_t group = reading.groups.of(event->class_index, event->row);
    if (!asked.groups.empty() && !asked.groups[group]) continue;
    const std::string &text = reader.text(*event);
    if (!asked.needle.empty() && text.find(asked.needle) == std::string::npos) continue;
    const auto when = [&](uint64_t ns) { return event->timed ? exactly(ns) : kNotKnown; };
    columns.index.push_back(exactly(event->index));
    columns.thread.push_back(event->thread);
    columns.group.push_back(group);
    columns.segment.push_back(event->segment);
    columns.begin.push_back(when(event->begin_ns));
    columns.duration.push_back(when(trace::took_ns(reading.trace, *event)));
    columns.gap.push_back(when(event->gap_ns));
    columns.bytes.push_back(bytes_of(reader.volumes.of(event->class_index, *event->values)));
    columns.texts.push_back(valid_utf8(text));
  }
  if (at_end) {
    // Damage to times, which are few of what a call has, keeps no calls back.
    if (const Result<void> end = reader.calls.end_of_calls(); !end) return tl::unexpected(end.error());
  }
  if (const Result<void> done = exactly.done(); !done) return tl::unexpected(done.error());
  const double go_on = at_end ? -1 : static_cast<double>(next);
  Block block;
  block.numbers(columns.index);
  block.numbers(columns.thread);
  block.numbers(columns.group);
  block.numbers(columns.segment);
  block.numbers(columns.begin);
  block.numbers(columns.duration);
  block.numbers(columns.gap);
  block.numbers(columns.bytes);
  block.texts(columns.texts);
  block.numbers(std::span<const double>(&go_on, 1));
  return block;
}

/// 0, or 1 and why.
int32_t opened(Result<trace::Trace> trace) {
  if (!trace) {
    refuse(std::move(trace.error()));
    return 1;
  }
  open_now().reading = std::make_unique<Reading>(*std::move(trace));
  return 0;
}

Result<Bytes> read_elsewhere(uint64_t offset, uint64_t size) {
  constexpr uint64_t kMost = uint64_t{1} << 30;  // of what is read at once
  if (size > kMost)
    return fail(ErrorKind::unreadable, "too large a part for this reader", "ask cairn on the command line");
  Bytes bytes(static_cast<size_t>(size));
  const int32_t got = reader_read(static_cast<double>(offset), static_cast<uint32_t>(size), bytes.data());
  if (got < 0)
    return fail(ErrorKind::unreadable, "the trace cannot be read any more",
                "is cairn serve still running, and the file as it was?");
  bytes.resize(std::min(bytes.size(), static_cast<size_t>(got)));
  return bytes;
}

}  // namespace
}  // namespace cairn::reader

using namespace cairn;
using namespace cairn::reader;

uint8_t *reader_alloc(size_t bytes) { return static_cast<uint8_t *>(std::malloc(std::max<size_t>(bytes, 1))); }
void reader_free(uint8_t *block) { std::free(block); }

int32_t reader_open(uint8_t *bytes, size_t length) {
  reader_close();
  Bytes file(bytes, bytes + length);
  reader_free(bytes);
  return opened(trace::Trace::from_bytes(std::move(file), ""));
}

#ifndef __wasm__
__attribute__((weak)) int32_t reader_read(double /*offset*/, uint32_t /*size*/, uint8_t * /*into*/) { return -1; }
#endif

int32_t reader_open_elsewhere(double size) {
  reader_close();
  Result<trace::WithoutBlocks> file = trace::read_without_blocks(read_elsewhere, whole(size));
  if (!file) return opened(tl::unexpected(std::move(file.error())));
  return opened(trace::Trace::with_blocks(std::move(file->bytes), "", file->absent, read_elsewhere));
}

void reader_close() {
  Open &open = open_now();
  open.rank.reset();
  open.strips.reset();
  open.reading.reset();
  open.answer = {};
}

reader_result reader_error() {
  const Error &error = open_now().error;
  std::string where = valid_utf8(error.path);
  if (error.offset != Error::kNoOffset) {
    where += (where.empty() ? "byte " : ", byte ") + std::to_string(error.offset);
  }
  return give(text_block(
      {{"message", valid_utf8(error.message)}, {"where", std::move(where)}, {"hint", valid_utf8(error.hint)}}));
}

reader_result reader_run(int32_t everything) {
  return answer(
      [&](const Reading &reading) -> Result<Block> { return text_block(run_json(reading, everything != 0)); });
}

reader_result reader_classes() {
  return answer([](const Reading &reading) { return classes_block(reading); });
}

reader_result reader_groups() {
  return answer([](const Reading &reading) { return groups_block(reading); });
}

reader_result reader_durations() {
  return answer([](Reading &reading) { return durations_block(&reading); });
}

reader_result reader_count(uint32_t rank) {
  return answer([&](const Reading &reading) -> Result<Block> {
    const Result<RankReader *> found = reader_of(reading, rank);
    if (!found) return tl::unexpected(found.error());
    Exactly exactly;
    const double count = exactly((*found)->calls.count());
    if (const Result<void> done = exactly.done(); !done) return tl::unexpected(done.error());
    return one(count);
  });
}

reader_result reader_calls(uint32_t rank, uint32_t thread, double first, uint32_t most, double walked,
                           const uint32_t *groups, size_t group_count, const char *needle, size_t needle_length) {
  return answer([&](const Reading &reading) -> Result<Block> {
    const Asked asked{thread, chosen(reading, groups, group_count), {needle, needle_length}};
    return calls_of(reading, rank, whole(first), most, whole(walked), asked);
  });
}

reader_result reader_call_at(uint32_t rank, double ns) {
  return answer([&](const Reading &reading) -> Result<Block> {
    const Result<RankReader *> found = reader_of(reading, rank);
    if (!found) return tl::unexpected(found.error());
    const std::optional<uint64_t> index = (*found)->calls.index_at(whole(ns));
    return one(index ? static_cast<double>(*index) : -1);
  });
}

reader_result reader_matrix(const uint32_t *groups, size_t group_count, int32_t by_communicator) {
  return answer([&](const Reading &reading) {
    return matrix_block(reading, chosen(reading, groups, group_count), by_communicator != 0);
  });
}

reader_result reader_summary(uint32_t by) {
  return answer([&](const Reading &reading) { return summary_block(reading, by); });
}

reader_result reader_sizes(uint32_t by, int32_t exact) {
  return answer([&](const Reading &reading) { return sizes_block(reading, by, exact != 0); });
}

reader_result reader_loops() {
  return answer([](const Reading &reading) { return loops_block(reading); });
}

namespace {
/// Of the trace, those in the runs; all if `runs` is NULL.
std::vector<uint32_t> ranks_in(const Reading &reading, const uint32_t *runs, size_t count) {
  std::vector<uint32_t> found;
  for (const uint32_t rank : reading.trace.ranks()) {
    bool in = runs == nullptr;
    for (size_t run = 0; run < count && !in; ++run) in = runs[2 * run] <= rank && rank <= runs[2 * run + 1];
    if (in) found.push_back(rank);
  }
  return found;
}
}  // namespace

reader_result reader_strip(uint32_t by, const uint32_t *ranks, size_t rank_runs, uint32_t fold, double begin,
                           double end, uint32_t columns, uint32_t lines, double most_calls) {
  return answer([&](const Reading &reading) -> Result<Block> {
    timeline::Wanted wanted;
    wanted.ranks = ranks_in(reading, ranks, rank_runs);
    if (wanted.ranks.empty()) return fail(ErrorKind::usage, "none of these ranks is in this trace");
    wanted.begin_ns = moment(begin);
    wanted.end_ns = moment(end);
    wanted.columns = std::max<uint32_t>(columns, 1);
    wanted.lines = std::max<uint32_t>(lines, 1);
    wanted.fold = fold == 1 ? timeline::Fold::classes : timeline::Fold::neighbours;
    wanted.most_calls = whole(most_calls);
    return strips_of(reading).strip(by_of(by), std::move(wanted));
  });
}

reader_result reader_drawn(uint32_t by, uint32_t rank, uint32_t thread, double begin, double end, uint32_t most) {
  return answer([&](const Reading &reading) {
    return strips_of(reading).drawn(by_of(by), rank, thread, moment(begin), moment(end), most);
  });
}

reader_result reader_messages(const uint32_t *ranks, size_t rank_runs, double begin, double end, double most,
                              double most_before) {
  return answer([&](const Reading &reading) {
    MessagesWanted wanted;
    if (ranks != nullptr) wanted.ranks = ranks_in(reading, ranks, rank_runs);
    wanted.begin_ns = moment(begin);
    wanted.end_ns = moment(end);
    wanted.most = static_cast<size_t>(std::min<uint64_t>(whole(most), SIZE_MAX));
    wanted.most_before = whole(most_before);
    return messages_block(reading, wanted);
  });
}

reader_result reader_walk(uint32_t rank, int32_t texts) {
  return answer([&](const Reading &reading) -> Result<Block> {
    const Result<RankReader *> found = reader_of(reading, rank);
    if (!found) return tl::unexpected(found.error());
    RankReader &reader = **found;
    double calls = 0;
    double letters = 0;
    for (uint64_t i = 0; const Event *event = reader.at(i); ++i) {
      ++calls;
      if (texts != 0) letters += static_cast<double>(reader.text(*event).size());
    }
    if (const Result<void> end = reader.calls.end_of_calls(); !end) return tl::unexpected(end.error());
    Block block;
    const double both[] = {calls, letters};
    block.numbers(both);
    return block;
  });
}
