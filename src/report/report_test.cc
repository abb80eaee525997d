#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "report/facts.h"
#include "report/page.h"
#include "report/seven_bits.h"
#include "report/shorten.h"
#include "report/source_lines.h"

namespace cairn::report {
namespace {

using nlohmann::ordered_json;

/// As the header says it, bit by bit; nothing if a character could not have been written.
std::optional<std::string> read_sevens(const std::string &text, size_t bytes) {
  constexpr std::array<uint32_t, 6> kUnsafe = {0x00, 0x0a, 0x0d, 0x1a, 0x26, 0x3c};
  std::string bits;
  const auto put = [&](uint32_t seven) {
    for (int bit = 6; bit >= 0; --bit) bits += (seven >> bit & 1) != 0 ? '1' : '0';
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < 0x80) {
      put(byte);
      continue;
    }
    const auto second = static_cast<uint8_t>(text[++i]);
    const uint32_t character = (byte & 0x1fU) << 6 | (second & 0x3fU);
    if (character < 0x80 || character >= 0x380) return {};
    put(kUnsafe[(character >> 7) - 1]);
    put(character & 0x7f);
  }
  std::string read;
  for (size_t i = 0; i + 8 <= bits.size() && read.size() < bytes; i += 8) {
    read += static_cast<char>(std::stoi(bits.substr(i, 8), nullptr, 2));
  }
  return read;
}

TEST(SourceLines, AreOfFilesNamedAsSources) {
  for (const char *path : {"main.c", "/a/b.CC", "x.F90", "step.py", "k.cu"})
    EXPECT_TRUE(is_named_as_source(path)) << path;
  for (const char *path : {"", "id_rsa", "/etc/passwd", ".c", "notes.txt", "key.pem", "a.c/passwd"}) {
    EXPECT_FALSE(is_named_as_source(path)) << path;
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("cairn-sources-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string source = folder / "main.c";
  const std::string secret = folder / "secret";
  for (const std::string &path : {source, secret}) std::ofstream(path) << "one\ntwo\n";
  const auto now = std::chrono::system_clock::now();
  const std::map<std::string, std::set<uint32_t>> wanted = {{source, {2}}, {secret, {1}}};
  const ordered_json as_it_was = {{{"file", source}, {"first", 1}, {"lines", {"one", "two"}}}};
  EXPECT_EQ(source_lines(wanted), as_it_was);
  EXPECT_EQ(source_lines(wanted, now + std::chrono::hours(1)), as_it_was);
  EXPECT_EQ(source_lines(wanted, now - std::chrono::hours(1))[0]["changed"], true);
  std::filesystem::remove_all(folder);
}

TEST(SevenBits, GiveBackWhatWentIn) {
  std::mt19937 random(7);
  for (size_t size = 0; size < 300; ++size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
    EXPECT_EQ(read_sevens(seven_bits(bytes), size), bytes) << size;
  }
  for (const char each : {'\0', '\n', '\r', '&', '<', '\xff'}) {
    const std::string bytes(1000, each);
    EXPECT_EQ(read_sevens(seven_bits(bytes), bytes.size()), bytes);
  }
}

TEST(SevenBits, HaveNothingThatHtmlChanges) {
  std::string bytes;
  for (int i = 0; i < 4000; ++i) bytes += static_cast<char>(i * 37 + i / 256);
  const std::string text = seven_bits(bytes);
  EXPECT_EQ(text.find_first_of(std::string("\0\n\r\x1a&<", 6)), std::string::npos);
}

TEST(SevenBits, TakeEightSevenths) {
  std::mt19937 random(1);
  std::string bytes;
  for (size_t i = 0; i < 70000; ++i) bytes += static_cast<char>(random());
  EXPECT_LE(seven_bits(bytes).size(), 80002U);
}

TEST(Shorten, CutsLongListsAndSaysHowManyWereLeftOut) {
  ordered_json json = {{"lines", {{{"a", 1}}, {{"a", 2}}, {{"a", 3}}}}, {"few", {"x"}}};
  shorten(&json, 2);
  EXPECT_EQ(json.dump(), R"({"lines":[{"a":1},{"a":2}],"few":["x"],"lines_further":1})");
}

TEST(Shorten, KeepsTwelveDigits) {
  ordered_json json = {{"list", {0.00011862600000000001, 1.0 / 3}}, {"whole", UINT64_MAX}, {"few", 2.5}};
  shorten(&json, 2);
  EXPECT_EQ(json.dump(), R"({"list":[0.000118626,0.333333333333],"whole":18446744073709551615,"few":2.5})");
}

TEST(Shorten, WritesRanksAsText) {
  ordered_json json = {{"ranks", {0, 1, 2, 5, 7, 8}},
                       {"inner", {{{"ranks", {3}}, {"lacking", ordered_json::array()}}}}};
  shorten(&json, 2);
  EXPECT_EQ(json.dump(), R"({"ranks":"0-2,5,7-8","inner":[{"ranks":"3","lacking":""}]})");
}

TEST(Shorten, LeavesRanksThatAreNoNumbers) {
  ordered_json json = {{"ranks", {{{"rank", 0}}}}};
  shorten(&json, 10);
  EXPECT_EQ(json.dump(), R"({"ranks":[{"rank":0}]})");
}

TEST(Page, EscapesWhatComesFromATrace) {
  const Assets assets{
      "<!doctype html><meta name=\"generator\" content=\"cairn report\"><title>@TITLE@</title>@CONNECT@@BLOCKS@", "s",
      "r"};
  const std::string evil = "</title><script>alert('x')</script> & \"@BLOCKS@\"";
  const std::string page = page_of(assets, evil, {{"facts", "</script><!-- @TITLE@ @CONNECT@"}});
  EXPECT_EQ(page.find("alert('x')"), std::string::npos);
  EXPECT_NE(page.find("&lt;/title&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;@BLOCKS@&quot;"),
            std::string::npos);
  EXPECT_EQ(page.find("</script><!--"), std::string::npos);
  EXPECT_TRUE(is_page(page));
  EXPECT_FALSE(is_page("<!doctype html><title>cairn report</title>"));
}

/// A program in place of cairn, which does this with the verb, "$1".
class StandIn {
 public:
  explicit StandIn(const std::string &script)
      : path_(std::filesystem::temp_directory_path() / ("cairn-stand-in-" + std::to_string(getpid()))) {
    std::ofstream(path_) << "#!/bin/sh\n" << script << "\n";
    chmod(path_.c_str(), 0700);
  }
  ~StandIn() { std::filesystem::remove(path_); }
  StandIn(const StandIn &) = delete;
  StandIn &operator=(const StandIn &) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

ordered_json told_by(const std::string &script, std::chrono::seconds within) {
  const StandIn program(script);
  Asked asked;
  asked.executable = program.path();
  asked.file = "nowhere.cairn";
  asked.within = within;
  return facts_of_page({asked})["traces"][0];
}

TEST(Facts, AreWhatEachVerbSays) {
  const ordered_json facts = told_by(R"(echo "{\"schema\": 1, \"said\": \"$1\"}")", std::chrono::seconds(0));
  EXPECT_EQ(facts["info"], (ordered_json{{"said", "info"}}));
  EXPECT_EQ(facts["callsites"], (ordered_json{{"said", "summary"}}));
  EXPECT_EQ(facts["check"], (ordered_json{{"said", "check"}}));
}

TEST(Facts, SayWhichVerbTookTooLong) {
  const ordered_json facts = told_by("[ $1 != waits ] || exec sleep 300; echo {}", std::chrono::seconds(1));
  EXPECT_EQ(facts["waits"]["refused"],
            "it took more than 1 seconds; cairn waits tells it, and --within 0 has it told here");
  EXPECT_EQ(facts["path"], ordered_json::object());
}

TEST(Facts, LeaveOutWhatGoesThroughTooManyCalls) {
  const ordered_json facts = told_by(R"(echo '{"calls": 20000001}')", std::chrono::seconds(0));
  EXPECT_TRUE(facts["check"].contains("refused"));
  EXPECT_FALSE(facts["ranks"].contains("refused"));
}

}  // namespace
}  // namespace cairn::report
