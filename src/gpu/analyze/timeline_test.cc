#include "gpu/analyze/timeline.h"

#include <gtest/gtest.h>

namespace cairn::analyze {
namespace {

using gpu::Kind;

/// k: entry 1; loop 2 { loop 3 { then 4 } label 5 }; loop 6 {}; point 7. g: entry 8; loop 9.
gpu::ProgramRecord program() {
  gpu::ProgramRecord made;
  const auto add = [&](uint16_t id, Kind kind, const char *function) {
    made.locations.push_back({id, kind, function, "k.cu", id});
  };
  add(1, Kind::entry, "k");
  add(2, Kind::loop, "k");
  add(3, Kind::loop, "k");
  add(4, Kind::then, "k");
  add(5, Kind::label, "k");
  add(6, Kind::loop, "k");
  add(7, Kind::point, "k");
  add(8, Kind::entry, "g");
  add(9, Kind::loop, "g");
  made.successors = {{0, 1}, {1, 2}, {1, 6}, {1, 7}, {2, 3}, {2, 5}, {3, 3}, {3, 4}, {3, 5}, {4, 3},
                     {4, 5}, {4, 8}, {5, 2}, {5, 6}, {5, 7}, {6, 6}, {6, 7}, {8, 9}, {9, 9}};
  return made;
}

TEST(GpuLoops, AreThoseOfTheText) {
  const GpuLoops loops(program());
  const auto body = [&](uint16_t loop) {
    std::vector<uint16_t> points;
    for (uint16_t point = 0; point < 12; ++point) {
      if (loops.inside(loop, point)) points.push_back(point);
    }
    return points;
  };
  EXPECT_EQ(body(2), (std::vector<uint16_t>{2, 3, 4, 5}));
  EXPECT_EQ(body(3), (std::vector<uint16_t>{3, 4}));
  EXPECT_EQ(body(6), (std::vector<uint16_t>{6}));
  EXPECT_EQ(body(9), (std::vector<uint16_t>{9}));
  EXPECT_EQ(body(4), (std::vector<uint16_t>()));
}

class Written : public TimelineVisitor {
 public:
  std::string text;
  void function_begins(uint64_t, const std::string &function) override { text += function + "("; }
  void loop_begins(uint64_t, uint16_t point) override { text += std::to_string(point) + "["; }
  void slice_ends(uint64_t, uint64_t iterations) override {
    text += iterations == 0 ? ")" : "]*" + std::to_string(iterations) + " ";
  }
  void point(uint64_t, const gpu::Event &event) override { text += std::to_string(event.location) + " "; }
};

std::string written(const std::vector<uint16_t> &locations) {
  const gpu::ProgramRecord made = program();
  const GpuLoops loops(made);
  Written written;
  GpuTimeline timeline(made, loops, &written);
  uint64_t at = 0;
  for (const uint16_t location : locations) timeline.event(at++, {location, 1});
  timeline.end(at);
  return written.text;
}

TEST(GpuTimeline, NestsLoopsAndFunctions) {
  EXPECT_EQ(written({1, 7}), "k(1 7 )");
  EXPECT_EQ(written({1, 2, 3, 4, 3, 5, 2, 5, 6, 6, 7}), "k(1 2[2 3[3 4 3 ]*2 5 2 5 ]*2 6[6 6 ]*2 7 )");
  EXPECT_EQ(written({1, 2, 3, 4, 8, 9, 9, 3, 4, 8, 8, 5}), "k(1 2[2 3[3 4 g(8 9[9 9 ]*2 )3 4 g(8 )g(8 )]*2 5 ]*1 )");
  // The ring begins anywhere, and a location that is in no table stands alone.
  EXPECT_EQ(written({9, 5, 77}), "g(9[9 ]*1 )k(5 )?(77 )");
}

}  // namespace
}  // namespace cairn::analyze
