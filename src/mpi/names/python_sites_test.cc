#include "mpi/names/python_sites.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace cairn::recorder {
namespace {

using namespace cpython;

const int kCodeType = 0;
ThreadState thread_state;
bool initialized = true;
const Interpreter kInterpreter = {[] { return initialized ? 1 : 0; }, [] { return (const ThreadState *)&thread_state; },
                                  &kCodeType};

/// A string as the interpreter keeps it.
class Text {
 public:
  explicit Text(const std::string &ascii) : memory_(sizeof(Unicode) + ascii.size() + 1) {
    make(ascii.size(), 1, true);
    std::memcpy(reinterpret_cast<char *>(&text()->utf8_length), ascii.data(), ascii.size());
  }
  template <typename Character>
  explicit Text(const std::basic_string<Character> &characters)
      : memory_(sizeof(Unicode) + (characters.size() + 1) * sizeof(Character)) {
    make(characters.size(), sizeof(Character), false);
    std::memcpy(text() + 1, characters.data(), characters.size() * sizeof(Character));
  }
  Unicode *text() { return reinterpret_cast<Unicode *>(memory_.data()); }

 private:
  void make(size_t length, unsigned bytes_each, bool ascii) {
    text()->length = static_cast<intptr_t>(length);
    text()->state = bytes_each << 2 | 1U << 5 | (ascii ? 1U << 6 : 0);
  }
  std::vector<char> memory_;
};

/// A function's code, with one entry of the table of locations for each of its instructions.
class Function {
 public:
  /// `lines`: of the instructions; 0 where there is none.
  Function(const std::string &file, const std::string &name, int first_line, const std::vector<int> &lines)
      : file_(file), name_(name), code_(sizeof(Code) + lines.size() * 2) {
    std::string table;
    int before = first_line;
    for (const int line : lines) {
      const int delta = line == 0 ? 0 : line - before;
      if (line != 0) before = line;
      if (line == 0)
        add(&table, 15, "");
      else if (delta == 0)
        add(&table, 3, "\x11");
      else if (delta > 0 && delta < 3)
        add(&table, 10 + delta, "\x01\x02");
      else if (delta % 2 == 0)
        add(&table, 13, number(delta));
      else
        add(&table, 14, number(delta) + "\x01\x7f\x01\x05");
    }
    table_.resize(sizeof(Bytes) + table.size());
    auto *bytes = reinterpret_cast<Bytes *>(table_.data());
    bytes->size = static_cast<intptr_t>(table.size());
    std::memcpy(bytes->data, table.data(), table.size());
    code()->head.type = &kCodeType;
    code()->size = static_cast<intptr_t>(lines.size());
    code()->first_line = first_line;
    code()->file = file_.text();
    code()->name = code()->qualified_name = name_.text();
    code()->locations = bytes;
  }
  Code *code() { return reinterpret_cast<Code *>(code_.data()); }
  Frame frame(int instruction) {
    Frame frame = {};
    frame.code = code();
    frame.instruction = code()->instructions + instruction;
    return frame;
  }

 private:
  static void add(std::string *table, int kind, const std::string &rest) {
    table->push_back(static_cast<char>(0x80 | kind << 3));
    *table += rest;
  }
  static std::string number(int value) {
    unsigned left = value < 0 ? static_cast<unsigned>(-value) << 1 | 1U : static_cast<unsigned>(value) << 1;
    std::string out;
    for (; left >= 64; left >>= 6) out.push_back(static_cast<char>(0x40 | (left & 63)));
    out.push_back(static_cast<char>(left));
    return out;
  }

  Text file_;
  Text name_;
  std::vector<char> table_;
  std::vector<char> code_;
};

struct PythonSitesTest : testing::Test {
  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 20);
  Arena arena{memory.data(), memory.size() * sizeof(uint64_t)};
  uint32_t epoch = 0;
  Modules modules{arena, nullptr};
  Site plain{};
  Loop loop = {};
  PythonSites sites{arena, modules, &kInterpreter};

  PythonSitesTest() {
    modules.use_epoch(&epoch);
    thread_state.loop = &loop;
  }
  std::string found(const Frame &frame) {
    loop.frame = &frame;
    const Site *site = sites.find(&plain);
    if (site == &plain) return "plain";
    const ScriptFunction &script = modules.script(site->module - kScripts);
    return std::string(script.file) + ":" + std::to_string(site->offset) + " " + script.name;
  }
};

TEST_F(PythonSitesTest, TellsTheLineOfEachInstruction) {
  const std::vector<int> lines = {7, 7, 8, 10, 0, 10, 300, 9, 9, 4000, 1};
  Function function("/home/u/halo.py", "exchange", 7, lines);
  int last = 7;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != 0) last = lines[i];
    const Frame frame = function.frame(static_cast<int>(i));
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(found(frame), "/home/u/halo.py:" + std::to_string(last) + " exchange") << i;
    }
  }
  EXPECT_EQ(modules.script_count(), 1U);
}

TEST_F(PythonSitesTest, OneLineIsOneSite) {
  Function function("a.py", "f", 1, {2, 2, 3});
  Function twin("a.py", "f", 1, {2, 2, 3});
  const Frame frames[] = {function.frame(0), function.frame(1), twin.frame(0), function.frame(2)};
  const Site *first = sites.site(frames[0]);
  EXPECT_EQ(first, sites.site(frames[1]));
  EXPECT_EQ(first, sites.site(frames[2]));
  EXPECT_NE(first, sites.site(frames[3]));
}

TEST_F(PythonSitesTest, SeesThatAnotherCodeCameToItsPlace) {
  Function function("<cell 1>", "<module>", 1, {1, 2, 2});
  const Frame frame = function.frame(1);
  EXPECT_EQ(found(frame), "<cell 1>:2 <module>");
  Code &code = *function.code();
  Function other("<cell 2>", "<module>", 1, {1, 5, 5});
  const Code was = code;
  code.locations = other.code()->locations;
  EXPECT_EQ(found(frame), "<cell 1>:5 <module>");
  code.locations = was.locations;
  EXPECT_EQ(found(frame), "<cell 1>:2 <module>");
  // The same memory, with other content.
  auto *name = reinterpret_cast<char *>(const_cast<intptr_t *>(&code.file->utf8_length));
  name[6] = '3';
  EXPECT_EQ(found(frame), "<cell 3>:2 <module>");
  const_cast<uint8_t *>(code.locations->data)[5] ^= 1;  // of a later instruction
  EXPECT_EQ(found(frame), "<cell 3>:2 <module>");
  code.first_line = 11;
  EXPECT_EQ(found(frame), "<cell 3>:12 <module>");
}

TEST_F(PythonSitesTest, ManyLinesAreAllKept) {
  std::vector<int> lines(3000);
  std::iota(lines.begin(), lines.end(), 1);
  Function function("long.py", "<module>", 1, lines);
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 3000; ++i) {
      EXPECT_EQ(found(function.frame(i)), "long.py:" + std::to_string(i + 1) + " <module>");
    }
  }
}

TEST_F(PythonSitesTest, ImportsAndFramesThatAreBeingMadeAreNotShown) {
  Function import("<frozen importlib._bootstrap>", "_load", 1, {1});
  Function being_made("a.py", "closure", 1, {1, 2});
  being_made.code()->first_traceable = 1;
  Function program("a.py", "<module>", 1, {1, 9});
  Frame innermost = import.frame(0);
  Frame second = being_made.frame(0);
  const Frame third = program.frame(1);
  innermost.previous = &second;
  second.previous = &third;
  EXPECT_EQ(found(innermost), "a.py:9 <module>");
  second.owner = Frame::kOwnedByGenerator;
  EXPECT_EQ(found(innermost), "a.py:1 closure");
}

TEST_F(PythonSitesTest, WhatIsNotKnownKeepsItsSite) {
  Function function("a.py", "f", 1, {1});
  Frame frame = function.frame(0);
  EXPECT_EQ(found(frame), "a.py:1 f");
  Code broken = *function.code();
  frame.code = &broken;
  frame.instruction = broken.instructions;
  broken.head.type = nullptr;
  EXPECT_EQ(found(frame), "plain") << "no code object";
  broken = *function.code();
  broken.file = nullptr;
  EXPECT_EQ(found(frame), "plain");
  frame.code = nullptr;
  EXPECT_EQ(found(frame), "plain");
  frame = function.frame(1);
  EXPECT_EQ(found(frame), "plain") << "behind the last instruction";
  loop.frame = nullptr;
  EXPECT_EQ(sites.find(&plain), &plain) << "no frame";
  thread_state.loop = nullptr;
  EXPECT_EQ(sites.find(&plain), &plain) << "no loop";
  initialized = false;
  thread_state.loop = reinterpret_cast<const Loop *>(8);
  EXPECT_EQ(sites.find(&plain), &plain) << "an interpreter that has ended is not asked";
  initialized = true;
  thread_state.loop = &loop;
}

TEST_F(PythonSitesTest, WithoutMemoryTheSiteStands) {
  while (arena.allocate(4096) != nullptr) {
  }
  while (arena.allocate(64) != nullptr) {
  }
  while (arena.allocate(8) != nullptr) {
  }
  Function function("a.py", "f", 1, {1});
  EXPECT_EQ(found(function.frame(0)), "plain");
}

TEST_F(PythonSitesTest, WithoutAnInterpreterTheSiteStands) {
  PythonSites none(arena, modules);
  EXPECT_EQ(none.find(&plain), &plain);
  EXPECT_FALSE(none.knows_python());
}

TEST_F(PythonSitesTest, NoMoreFunctionsThanThereAreNumbers) {
  Function function("", "f", 1, {1});
  EXPECT_EQ(found(function.frame(0)), "plain") << "without a name";
  for (int i = 0; i < 16384; ++i) {
    ASSERT_NE(modules.script_site("a.py", std::to_string(i).c_str(), 1), nullptr) << i;
  }
  EXPECT_EQ(modules.script_site("a.py", "one more", 1), nullptr);
  EXPECT_NE(modules.script_site("a.py", "7", 2), nullptr);
}

std::string copied(Text text, size_t room = 64) {
  std::vector<char> to(room);
  return copy_text(*text.text(), to.data(), room) ? to.data() : "nothing";
}

TEST(CopyText, TakesEveryWidth) {
  EXPECT_EQ(copied(Text("halo.py")), "halo.py");
  EXPECT_EQ(copied(Text(std::basic_string<unsigned char>{'c', 'a', 'f', 0xe9})), "caf\xc3\xa9");
  EXPECT_EQ(copied(Text(std::u16string(u"caf\u00e9 \u20ac"))), "caf\xc3\xa9 \xe2\x82\xac");
  EXPECT_EQ(copied(Text(std::u32string(U"\U0001f40d.py"))), "\xf0\x9f\x90\x8d.py");
  EXPECT_EQ(copied(Text(std::u16string(u"caf\xdce9"))), "caf\xe9") << "a byte that could not be decoded";
  EXPECT_EQ(copied(Text(std::string("a\0b", 3))), "a");
}

TEST(CopyText, EndsWithTheRoom) {
  EXPECT_EQ(copied(Text("halo.py"), 5), "halo");
  EXPECT_EQ(copied(Text(std::u16string(u"ca\u20ac")), 5), "ca");
  EXPECT_EQ(copied(Text(std::string())), "nothing");
  EXPECT_EQ(copied(Text("halo.py"), 1), "nothing");
}

TEST(CopyText, LeavesWhatIsNotCompact) {
  Text text("halo.py");
  text.text()->state &= ~(1U << 5);
  char to[8];
  EXPECT_FALSE(copy_text(*text.text(), to, sizeof to));
}

}  // namespace
}  // namespace cairn::recorder
