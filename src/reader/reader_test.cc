// The C interface against what the library itself says of made-up recordings.
#include "reader/reader.h"

#include <nlohmann/json.hpp>

#include "analyze/call_texts.h"
#include "analyze/names_before.h"
#include "analyze/overview.h"
#include "analyze/sources.h"
#include "analyze/summary.h"
#include "reader/answer.h"
#include "text/utf8.h"
#include "timeline/strip.h"
#include "timing/mode.h"
#include "trace/merge/part.h"
#include "trace/testing/synthetic.h"
#include "traffic/matrix.h"

namespace cairn::reader {
namespace {

constexpr uint32_t kAllThreads = UINT32_MAX;

struct Case {
  const char *name;
  std::vector<trace::ProcessRecord> (*processes)();
  const char *timing;
};

std::vector<trace::ProcessRecord> stencil() {
  std::vector<trace::ProcessRecord> all;
  for (uint32_t rank = 0; rank < 12; ++rank) all.push_back(trace::stencil_rank(rank, 3, 4, 50));
  return all;
}

const Case kCases[] = {
    {"Stencil", stencil, "off"},
    {"Statistics", [] { return trace::random_program(9, 1); }, "stats"},
    {"Lossless", [] { return trace::lossless_program(7, 2); }, "lossless"},
    {"Varying", [] { return trace::varying_program(8, 101); }, "stats"},
    {"Polling", [] { return trace::polling_program(6, 402); }, "off"},
    {"Draining", [] { return trace::draining_program(6, 301, false).processes; }, "off"},
};

Bytes file_of(const Case &of) {
  trace::Part part;
  for (const trace::ProcessRecord &process : of.processes()) {
    part = *trace::Part::merge(std::move(part), *trace::Part::of(process));
  }
  return *part.to_file({"mpiexec ./app", "An MPI", "cairn", of.timing, "complete", 1'700'000'000'000'000'000, 5});
}

class ReaderOf : public ::testing::TestWithParam<Case> {
 protected:
  ReaderOf()
      : bytes_(file_of(GetParam())),
        trace_(*trace::Trace::from_bytes(bytes_, "")),
        sources_(analyze::Sources::in_trace(trace_)) {
    EXPECT_TRUE(open(bytes_));
  }
  ~ReaderOf() override { reader_close(); }

  Bytes bytes_;
  trace::Trace trace_;
  analyze::Sources sources_;
};

TEST_P(ReaderOf, TellsTheRun) {
  const auto run = nlohmann::json::parse(Answer(reader_run(1)).text(0));
  const analyze::Overview view = analyze::overview(trace_);
  EXPECT_EQ(run["calls"], view.calls);
  EXPECT_EQ(run["rank_count"], view.ranks);
  EXPECT_EQ(run["command"], "mpiexec ./app");
  EXPECT_EQ(run["begin"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(run["begin_unix_ns"], "1700000000000000000");
  EXPECT_EQ(run["times"] == "calls", timing::keeps_times(trace_.run().timing));
  EXPECT_EQ(run["bytes"]["total"], bytes_.size());
}

TEST_P(ReaderOf, TellsClassesAndGroups) {
  const Answer classes(reader_classes());
  ASSERT_EQ(classes.numbers(0).size(), trace_.class_count());
  const std::vector<uint32_t> ends = classes.numbers(3);
  const std::vector<uint32_t> runs = classes.numbers(4);
  double all = 0;
  uint32_t begin = 0;
  for (uint32_t index = 0; index < trace_.class_count(); ++index) {
    const trace::ClassView view = trace_.class_view(index);
    EXPECT_EQ(classes.numbers(0)[index], view.thread);
    EXPECT_EQ(classes.numbers(1)[index], view.segment);
    std::vector<uint32_t> ranks;
    for (uint32_t run = begin; run < ends[index]; ++run) {
      for (uint32_t rank = runs[3 * run]; rank <= runs[3 * run + 1]; rank += runs[3 * run + 2]) ranks.push_back(rank);
    }
    begin = ends[index];
    EXPECT_EQ(ranks, view.ranks);
    all += classes.doubles(6)[index];
  }
  EXPECT_EQ(all, static_cast<double>(analyze::overview(trace_).calls));

  const Answer groups(reader_groups());
  double in_groups = 0;
  for (const double calls : groups.doubles(13)) in_groups += calls;
  EXPECT_EQ(in_groups, all);
  EXPECT_EQ(groups.texts(0).size(), groups.numbers(10).size());
}

// By function, since a summary knows no depths.
TEST_P(ReaderOf, TellsDurationsAsSummariesDo) {
  const auto filter = analyze::make_filter({}, trace_, sources_);
  const auto summary = analyze::summarise(trace_, sources_, *filter, analyze::GroupBy::function);
  ASSERT_TRUE(summary.has_value());
  const std::vector<std::string> functions = Answer(reader_groups()).texts(0);
  const Answer durations(reader_durations());
  const bool timed = !timing::keeps_nothing(trace_.run().timing);
  for (const analyze::SummaryLine &line : summary->lines) {
    double total = 0;
    double longest = 0;
    for (size_t i = 0; i < functions.size(); ++i) {
      if (functions[i] != analyze::function_name(line.function) || durations.doubles(1)[i] < 0) continue;
      total += durations.doubles(1)[i];
      longest = std::max(longest, durations.doubles(3)[i]);
      EXPECT_LE(durations.doubles(2)[i], durations.doubles(4)[i]);
      EXPECT_LE(durations.doubles(6)[i], durations.doubles(3)[i]);
    }
    if (!timed || !line.timed) continue;
    EXPECT_EQ(longest, static_cast<double>(line.longest_ns)) << analyze::function_name(line.function);
    // Sums of functions are kept within 0.002 %.
    EXPECT_NEAR(total, static_cast<double>(line.time_ns), 2e-5 * total + 1) << analyze::function_name(line.function);
  }
}

/// All calls of a rank as the library has them, each on a line.
std::vector<std::string> lines_of(const trace::Trace &trace, const analyze::Sources &sources, uint32_t rank) {
  const analyze::Decoder decoder(trace, sources);
  analyze::CommunicatorNames names;
  trace::Events events(trace, rank);
  std::vector<std::string> lines;
  while (const trace::Event *event = events.next()) {
    names.see(*event->values);
    const std::string when = event->timed ? std::to_string(event->begin_ns) + " " + std::to_string(event->duration_ns) +
                                                " " + std::to_string(event->gap_ns)
                                          : "-1 -1 -1";
    lines.push_back(std::to_string(event->index) + " " + std::to_string(event->thread) + " " + when + " " +
                    valid_utf8(analyze::call_text(decoder.decode(event->class_index, *event->values, &names))));
  }
  return lines;
}

std::vector<std::string> lines_of(const Answer &calls) {
  std::vector<std::string> lines;
  const auto whole = [](double number) { return std::to_string(static_cast<int64_t>(number)); };
  const std::string all = calls.text(9);
  const std::vector<double> index = calls.doubles(0);
  size_t begin = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    // Ends are in units of UTF-16.
    size_t end = begin;
    for (uint32_t left = calls.numbers(8)[i] - (i == 0 ? 0 : calls.numbers(8)[i - 1]); left != 0; --left) {
      const auto letter = static_cast<uint8_t>(all[end]);
      end += letter < 0x80 ? 1 : letter < 0xE0 ? 2 : letter < 0xF0 ? 3 : 4;
      if (letter >= 0xF0) --left;
    }
    lines.push_back(whole(index[i]) + " " + std::to_string(calls.numbers(1)[i]) + " " + whole(calls.doubles(4)[i]) +
                    " " + whole(calls.doubles(5)[i]) + " " + whole(calls.doubles(6)[i]) + " " +
                    all.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

TEST_P(ReaderOf, TellsCallsInOrderAndFromAnyPlace) {
  const std::vector<uint32_t> groups = [] {
    std::vector<uint32_t> all(Answer(reader_groups()).numbers(10).size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }();
  for (const uint32_t rank : trace_.ranks()) {
    const std::vector<std::string> expected = lines_of(trace_, sources_, rank);
    EXPECT_EQ(Answer(reader_count(rank)).doubles(0)[0], static_cast<double>(expected.size()));
    const Answer all(reader_calls(rank, kAllThreads, 0, 1'000'000, 1e9, nullptr, 0, nullptr, 0));
    EXPECT_EQ(lines_of(all), expected);
    EXPECT_EQ(all.doubles(10)[0], -1);
    const size_t step = 1 + expected.size() / 7;
    for (size_t from = 0; from < expected.size(); from += step) {
      const Answer some(reader_calls(rank, kAllThreads, static_cast<double>(expected.size() - 1 - from), 3, 1e9,
                                     groups.data(), groups.size(), nullptr, 0));
      const size_t first = expected.size() - 1 - from;
      const size_t end = std::min(first + 3, expected.size());
      EXPECT_EQ(lines_of(some), std::vector(expected.begin() + static_cast<ptrdiff_t>(first),
                                            expected.begin() + static_cast<ptrdiff_t>(end)));
    }
  }
}

TEST_P(ReaderOf, FiltersCalls) {
  const uint32_t rank = trace_.ranks().back();
  const Answer all(reader_calls(rank, kAllThreads, 0, 1'000'000, 1e9, nullptr, 0, nullptr, 0));
  const std::vector<uint32_t> group_of = all.numbers(2);
  const std::vector<uint32_t> threads = all.numbers(1);
  ASSERT_FALSE(group_of.empty());
  const uint32_t group = group_of[group_of.size() / 2];
  const auto expected = static_cast<size_t>(std::count(group_of.begin(), group_of.end(), group));
  size_t found = 0;
  // In pages, however few calls are looked at in each.
  for (double next = 0; next >= 0;) {
    const Answer page(reader_calls(rank, kAllThreads, next, 2, 5, &group, 1, nullptr, 0));
    for (const uint32_t each : page.numbers(2)) {
      EXPECT_EQ(each, group);
      ++found;
    }
    next = page.doubles(10)[0];
  }
  EXPECT_EQ(found, expected);

  const std::string needle = "MPI_";
  const Answer named(reader_calls(rank, 0, 0, 1'000'000, 1e9, nullptr, 0, needle.data(), needle.size()));
  EXPECT_EQ(named.numbers(1), std::vector<uint32_t>(std::count(threads.begin(), threads.end(), 0U), 0));
  const std::string nothing = "no call has this";
  const Answer none(reader_calls(rank, kAllThreads, 0, 9, 1e9, nullptr, 0, nothing.data(), nothing.size()));
  EXPECT_TRUE(none.doubles(0).empty());
}

TEST_P(ReaderOf, FindsCallsByTime) {
  for (const uint32_t rank : trace_.ranks()) {
    const Answer all(reader_calls(rank, kAllThreads, 0, 1'000'000, 1e9, nullptr, 0, nullptr, 0));
    const std::vector<double> begins = all.doubles(4);
    const std::vector<double> durations = all.doubles(5);
    const double middle = begins[begins.size() / 2];
    const double found = Answer(reader_call_at(rank, middle)).doubles(0)[0];
    if (!timing::keeps_times(trace_.run().timing)) {
      EXPECT_EQ(found, -1);
      continue;
    }
    size_t first = 0;
    while (begins[first] < 0 || begins[first] + durations[first] < middle) ++first;
    EXPECT_EQ(found, static_cast<double>(first));
  }
}

TEST_P(ReaderOf, TellsWhoSendsHowMuch) {
  const auto filter = analyze::make_filter({}, trace_, sources_);
  const auto expected = traffic::matrix_of(trace_, sources_, *filter, traffic::By::nothing, false);
  const reader_result result = reader_matrix(nullptr, 0, 0);
  ASSERT_EQ(result != nullptr, expected.has_value());
  if (!expected) return;
  const Answer all(result);
  const std::vector<traffic::Cell> &cells = expected->groups.front().cells;
  ASSERT_EQ(all.numbers(0).size(), cells.size());
  double messages = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(all.numbers(0)[i], cells[i].from);
    EXPECT_EQ(all.numbers(1)[i], cells[i].to);
    EXPECT_EQ(all.numbers(2)[i], static_cast<uint32_t>(cells[i].kind));
    EXPECT_EQ(all.doubles(3)[i], static_cast<double>(cells[i].amount.messages));
    EXPECT_EQ(all.doubles(4)[i], static_cast<double>(cells[i].amount.bytes));
    EXPECT_EQ(all.doubles(5)[i], static_cast<double>(cells[i].amount.unsized));
    messages += all.doubles(3)[i];
  }
  // Each group by itself: together they are all.
  double in_groups = 0;
  const size_t groups = Answer(reader_groups()).numbers(10).size();
  for (uint32_t group = 0; group < groups; ++group) {
    for (const double some : Answer(reader_matrix(&group, 1, 0)).doubles(3)) in_groups += some;
  }
  EXPECT_EQ(in_groups, messages);
}

TEST_P(ReaderOf, TellsWhoSendsHowMuchWithinEachCommunicator) {
  const auto filter = analyze::make_filter({}, trace_, sources_);
  const auto expected = traffic::matrix_of(trace_, sources_, *filter, traffic::By::communicator, false);
  const reader_result result = reader_matrix(nullptr, 0, 1);
  ASSERT_EQ(result != nullptr, expected.has_value());
  if (!expected) return;
  const Answer all(result);
  const auto names = nlohmann::json::parse(all.text(7))["communicators"];
  ASSERT_EQ(names.size(), expected->groups.size());
  size_t row = 0;
  for (size_t group = 0; group < names.size(); ++group) {
    EXPECT_EQ(names[group], expected->groups[group].name);
    for (const traffic::Cell &cell : expected->groups[group].cells) {
      EXPECT_EQ(all.numbers(6)[row], group);
      EXPECT_EQ(all.numbers(0)[row], cell.from);
      EXPECT_EQ(all.doubles(4)[row], static_cast<double>(cell.amount.bytes));
      ++row;
    }
  }
  EXPECT_EQ(row, all.numbers(0).size());
}

TEST_P(ReaderOf, TellsWhatVerbsTell) {
  for (uint32_t by = 0; by < 3; ++by) {
    const auto summary = nlohmann::json::parse(Answer(reader_summary(by)).text(0));
    EXPECT_EQ(summary["schema"], "cairn.summary/1");
    EXPECT_EQ(summary["calls"], analyze::overview(trace_).calls);
    if (const reader_result sizes = reader_sizes(by, 1)) {
      EXPECT_EQ(nlohmann::json::parse(Answer(sizes).text(0))["schema"], "cairn.sizes/1");
    }
  }
  EXPECT_EQ(reader_summary(3), nullptr);
  EXPECT_EQ(reader_sizes(3, 0), nullptr);
  if (const reader_result loops = reader_loops()) {
    EXPECT_FALSE(nlohmann::json::parse(Answer(loops).text(0))["kinds"].empty());
  }
}

TEST_P(ReaderOf, TellsWhatRanksDidWhen) {
  const uint32_t runs[] = {1, 2, 4, 4};
  const Answer strip(reader_strip(0, runs, 2, 0, 0, 1e300, 20, 2, 1e15));
  EXPECT_EQ(reader_strip(0, std::array<uint32_t, 2>{100, 200}.data(), 1, 0, 0, 1e300, 20, 2, 1e15), nullptr);
  timeline::Wanted wanted;
  wanted.ranks = {1, 2, 4};
  wanted.columns = 20;
  wanted.lines = 2;
  const auto expected = timeline::strip_of(trace_, wanted);
  ASSERT_TRUE(expected);
  const std::vector<double> numbers = strip.doubles(0);
  EXPECT_EQ(numbers[0], static_cast<double>(expected->axis));
  EXPECT_EQ(numbers[3], static_cast<double>(expected->edges.end_ns));
  EXPECT_EQ(numbers[5], 0);
  const std::vector<uint32_t> ends = strip.numbers(3);
  ASSERT_EQ(ends.size(), expected->lines());
  std::vector<double> means;
  for (size_t line = 0; line < expected->lines(); ++line) {
    for (size_t i = 0; i < 20 * expected->kinds; ++i) {
      means.push_back(static_cast<double>(expected->at(line, 0).data()[i]) /
                      static_cast<double>(expected->ranks[line].size()));
    }
  }
  EXPECT_EQ(strip.doubles(5), means);
  // Where fewer calls may be gone through than there are, it becomes complete piece by piece.
  if (expected->axis != timeline::AxisKind::measured || expected->steps < 2) return;
  std::vector<double> coarse;
  for (int tries = 0; tries < 10000; ++tries) {
    const Answer part(reader_strip(0, runs, 2, 0, 0, 1e300, 20, 2, 1));
    coarse = part.doubles(0);
    if (coarse[6] == coarse[7]) break;
  }
  EXPECT_EQ(coarse[5], 1);
  EXPECT_EQ(coarse[6], 3);
}

TEST_P(ReaderOf, DrawsSingleCalls) {
  for (uint32_t by = 0; by < 3; ++by) {
    const Answer all(reader_drawn(by, 0, 0, 0, 1e300, 1'000'000));
    const std::vector<double> index = all.doubles(0);
    const std::vector<uint32_t> groups = all.numbers(4);  // an answer stays until the next question
    ASSERT_FALSE(index.empty());
    for (size_t i = 0; i < index.size(); ++i) EXPECT_EQ(index[i], static_cast<double>(i));
    EXPECT_EQ(all.doubles(6)[0], 0);
    EXPECT_EQ(Answer(reader_drawn(by, 0, 0, 0, 1e300, 1)).doubles(6)[0], index.size() > 1 ? 1 : 0);
    const Answer listed(reader_calls(0, 0, 0, 1'000'000, 1e9, nullptr, 0, nullptr, 0));
    EXPECT_EQ(groups, listed.numbers(2));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReaderOf, ::testing::ValuesIn(kCases),
                         [](const auto &of) { return std::string(of.param.name); });

nlohmann::json last_error() { return nlohmann::json::parse(Answer(reader_error()).text(0)); }

TEST(Reader, SaysWhatIsWrong) {
  reader_close();
  EXPECT_EQ(reader_run(1), nullptr);
  EXPECT_EQ(last_error()["message"], "no trace is open");
  EXPECT_FALSE(open({1, 2, 3}));
  EXPECT_EQ(last_error()["message"], "this is not a Cairn trace");
  Bytes file = file_of(kCases[0]);
  file[file.size() / 2] ^= 1;
  EXPECT_FALSE(open(file));
  EXPECT_NE(last_error()["where"], "");
  file[file.size() / 2] ^= 1;
  EXPECT_TRUE(open(file));
  EXPECT_EQ(reader_count(99), nullptr);
  EXPECT_EQ(last_error()["message"], "there is no rank 99 in this trace");
  EXPECT_EQ(reader_calls(99, 0, 0, 1, 1, nullptr, 0, nullptr, 0), nullptr);
  EXPECT_NE(reader_count(0), nullptr);
  EXPECT_EQ(reader_wanted_memory(), 0U);
  reader_close();
}

}  // namespace
}  // namespace cairn::reader
