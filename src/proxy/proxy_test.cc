// Laws along ranks, pieces of C, and the folder that a program is written to.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"
#include "proxy/c_text.h"
#include "proxy/folder.h"
#include "proxy/law.h"
#include "proxy/row_tables.h"
#include "spec/ids.h"
#include "trace/values/atom.h"

namespace cairn::proxy {
namespace {

namespace fs = std::filesystem;

constexpr trace::Atom kProcNull =
    trace::special(static_cast<uint16_t>(trace::kFirstConstant + spec::constant_id::k_PROC_NULL));

std::vector<uint32_t> first_ranks(uint32_t count) {
  std::vector<uint32_t> ranks(count);
  for (uint32_t i = 0; i < count; ++i) ranks[i] = i;
  return ranks;
}
template <typename Value>
std::optional<std::string> law(uint32_t size, Value value) {
  std::vector<trace::Atom> values;
  for (uint32_t rank = 0; rank < size; ++rank) values.push_back(value(rank));
  return law_of(first_ranks(size), values, size);
}

TEST(Law, SameEverywhere) {
  EXPECT_EQ(law(16, [](int64_t) { return 7; }), "7");
  EXPECT_EQ(law(16, [](int64_t) { return kProcNull; }), "MPI_PROC_NULL");
}
TEST(Law, RankPlusSomething) {
  EXPECT_EQ(law(16, [](int64_t rank) { return rank - 4; }), "rank - 4");
  EXPECT_EQ(law(16, [](int64_t rank) { return 8 * rank + 1; }), "8 * rank + 1");
}
TEST(Law, Ring) {
  EXPECT_EQ(law(16, [](int64_t rank) { return (rank + 1) % 16; }), "(rank + 1) % size");
  EXPECT_EQ(law(16, [](int64_t rank) { return (rank + 15) % 16; }), "(rank + size - 1) % size");
}
TEST(Law, NeighbourOnAGrid) {
  EXPECT_EQ(law(16, [](int64_t rank) { return rank % 4 == 3 ? kProcNull : rank + 1; }),
            "rank % 4 == 3 ? MPI_PROC_NULL : rank + 1");
  EXPECT_EQ(law(16, [](int64_t rank) { return rank < 4 ? kProcNull : rank - 4; }),
            "rank < 4 ? MPI_PROC_NULL : rank - 4");
  // Round the edge.
  EXPECT_EQ(law(16, [](int64_t rank) { return rank % 4 == 3 ? rank - 3 : rank + 1; }),
            "rank % 4 == 3 ? rank - 3 : rank + 1");
}
TEST(Law, OneRankAndTheOthers) {
  EXPECT_EQ(law(16, [](int64_t rank) { return rank == 0 ? 1 : 5; }), "rank == 0 ? 1 : 5");
}
TEST(Law, Butterfly) {
  EXPECT_EQ(law(16, [](int64_t rank) { return rank ^ 4; }), "rank ^ 4");
}
TEST(Law, NoneOfIrregularValues) {
  EXPECT_EQ(law(16, [](int64_t rank) { return rank * rank * rank % 17; }), std::nullopt);
}
TEST(Law, AmongSomeRanks) { EXPECT_EQ(law_of({1, 5, 9}, {2, 6, 10}, 16), "rank + 1"); }

TEST(CText, Literals) {
  EXPECT_EQ(string_literal("a\"b\\c\n\xff"), "\"a\\\"b\\\\c\\012\\377\"");
  EXPECT_EQ(comment_text("a*/b"), "a* /b");
  EXPECT_EQ(identifier("mesh.c:12"), "mesh_c_12");
  EXPECT_EQ(identifier("12"), "at_12");
  Identifiers names;
  EXPECT_EQ(names.unique("x"), "x");
  EXPECT_EQ(names.unique("x"), "x_2");
  EXPECT_EQ(names.unique("x_3"), "x_3");
  EXPECT_EQ(names.unique("x"), "x_4");
}
TEST(RowTables, CallsThatDifferInNumbersAndTexts) {
  const auto table = row_table({R"(set(info_2, "a, 1\"", 7))", R"(set(info_2, "b", 7))", R"(set(info_2, "c", 7))"});
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->call, "set(info_2, all[row].a, 7)");
  EXPECT_EQ(table->is_text, std::vector<bool>{true});
  EXPECT_EQ(table->rows[0], std::vector<std::string>{R"("a, 1\"")"});
  EXPECT_FALSE(row_table({"set(a, 1)", "set(b, 1)"}).has_value());
  EXPECT_FALSE(row_table({"set(a, 1)", "set(a, \"\")"}).has_value());
  EXPECT_FALSE(row_table({"set(a, 1)", "set(a, 1)"}).has_value());
}
TEST(RowTables, LinesBehindEachOther) {
  std::vector<std::string> lines(20, "add(x, 1, 0);");
  for (size_t i = 0; i < lines.size(); ++i) lines[i] = "add(x, 1, " + std::to_string(i) + ");";
  lines.emplace_back("end();");
  Source out;
  write_lines(lines, &out);
  EXPECT_NE(out.text().find("for (int row = 0; row < 20; ++row) {\n    add(x, 1, all[row].a);"), std::string::npos)
      << out.text();
  EXPECT_NE(out.text().find("\nend();\n"), std::string::npos);
}
TEST(CText, TermsOfAGrammar) {
  const auto order = grammar::Grammar::from_symbols({0, 1, 0, 1, 0, 1});
  const std::string text = terms_text(order);
  EXPECT_NE(text.find(", 3}"), std::string::npos) << text;  // a rule, three times
  EXPECT_NE(text.find("{0, 0}"), std::string::npos);
}

class Folder : public testing::Test {
 protected:
  const TestFolder made_;
  const fs::path top_ = made_.path();
};

TEST_F(Folder, IsReplacedIfItWasMadeHere) {
  const std::string folder = (top_ / "proxy").string();
  ASSERT_TRUE(write_folder(folder, {{"a.c", "a"}, {"b.c", "b"}}));
  ASSERT_TRUE(write_folder(folder, {{"a.c", "other"}}));
  EXPECT_FALSE(fs::exists(top_ / "proxy/b.c"));
  std::ifstream in(top_ / "proxy/a.c");
  std::string text;
  in >> text;
  EXPECT_EQ(text, "other");
}
TEST_F(Folder, OfSomebodyElseStays) {
  std::ofstream(top_ / "notes") << "mine";
  EXPECT_FALSE(may_write(top_.string()));
  EXPECT_FALSE(write_folder(top_.string(), {{"a.c", "a"}}));
  EXPECT_FALSE(fs::exists(top_ / "a.c"));
}
TEST_F(Folder, KeepsFilesThatWereAdded) {
  const std::string folder = (top_ / "proxy").string();
  ASSERT_TRUE(write_folder(folder, {{"a.c", "a"}}));
  std::ofstream(top_ / "proxy/b.c") << "mine";
  EXPECT_FALSE(write_folder(folder, {{"a.c", "x"}, {"b.c", "x"}}));
  ASSERT_TRUE(write_folder(folder, {{"a.c", "x"}}));
  EXPECT_TRUE(fs::exists(top_ / "proxy/b.c"));
}

}  // namespace
}  // namespace cairn::proxy
