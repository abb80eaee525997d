// Fields that the made-up traces of tests/cli do not have, decoded one by one.
#include "analyze/decode.h"

#include <gtest/gtest.h>

#include <bit>

#include "trace/model/script_module.h"

namespace cairn::analyze {
namespace {

using trace::Atom;

class Decode : public testing::Test {
 protected:
  Decode() : trace_(make()), sources_(trace_, Sources::Look::in_trace_only), decoder_(trace_, sources_) {}

  static trace::Trace make() {
    trace::ProcessRecord process;
    process.modules = {{{1, 2, 3}, "/bin/app"}, trace::script_module("/home/u/halo.py", "Grid.exchange")};
    trace::SequenceRecord sequence;
    sequence.sites = {{}, {0, 0x10}, {0, 0x20}};
    trace::Row row;
    row.function = spec::find_function("MPI_Finalize")->id;
    row.site = 1;
    row.fields = {{}};
    ByteWriter packed;
    trace::pack_row(row, packed);
    sequence.rows = {packed.take()};
    row.site = 2;
    ByteWriter again;
    trace::pack_row(row, again);
    sequence.rows.push_back(again.take());
    sequence.calls = grammar::Grammar::from_symbols({0, 1});
    process.sequences = {sequence, sequence};
    process.sequences[1].thread = 1;
    auto part = trace::Part::of(process);
    auto trace = trace::Trace::from_bytes(*part->to_file({}), "test");
    if (!trace) throw std::runtime_error(trace.error().message);
    return std::move(*trace);
  }

  static Atom constant(std::string_view name) {
    for (const spec::Constant &each : spec::constants()) {
      if (each.name == name) return trace::special(static_cast<uint16_t>(trace::kFirstConstant + each.id));
    }
    throw std::runtime_error("no such constant");
  }

  /// The text of one argument of a call that succeeded.
  std::string argument(const char *function, const char *name, trace::Field field, bool *malformed = nullptr,
                       uint32_t class_index = 0) {
    const spec::Function *found = spec::find_function(function);
    trace::Row row;
    row.function = found->id;
    row.fields.resize(size_t{found->parameter_count} + 1);
    row.fields.back().atoms = {0};
    for (size_t i = 0; i < found->parameter_count; ++i) {
      if (std::string_view(found->parameters[i].name) == name) row.fields[i] = field;
    }
    const Call call = decoder_.decode(class_index, row);
    if (malformed != nullptr) *malformed = call.malformed;
    EXPECT_TRUE(malformed != nullptr || !call.malformed) << function << " " << name;
    for (const Argument &each : call.arguments) {
      std::string text;
      each.value.append_text(text);
      if (std::string_view(each.name) == name) return text;
    }
    return "no such argument";
  }
  static trace::Field atoms(std::vector<Atom> values) { return {false, std::move(values), {}}; }

  trace::Trace trace_;
  Sources sources_;
  Decoder decoder_;
};

TEST_F(Decode, LinesOfScriptsAreWhatTheirSitesSay) {
  const Position position = sources_.position(trace::Site{1, 42, 0});
  EXPECT_EQ(position.text(), "halo.py:42 in Grid.exchange()");
  EXPECT_EQ(position.file, "/home/u/halo.py");
  EXPECT_EQ(position.module, "halo.py");
  trace::Module module = trace::script_module("", "<module>");
  EXPECT_EQ(trace::script_function(module)->function, "<module>");
  EXPECT_EQ(trace::script_function(module)->file, "");
  module.build_id.resize(trace::kPythonScript.size() + 3);
  EXPECT_EQ(trace::script_function(module)->function, "<mo") << "cut off";
  module.build_id.resize(3);
  EXPECT_FALSE(trace::script_function(module));
}

TEST(Position, ShortTextHasNoParameters) {
  const auto text = [](const char *function) { return Position{"app", 0x12, function, "/src/a.cc", 7}.short_text(); };
  EXPECT_EQ(text("main"), "a.cc:7 in main()");
  EXPECT_EQ(text("mesh::exchange<int (*)(int)>(int, Box<double> const&) const"),
            "a.cc:7 in mesh::exchange<int (*)(int)>()");
  EXPECT_EQ(text("(anonymous namespace)::send(int)"), "a.cc:7 in (anonymous namespace)::send()");
  EXPECT_EQ(text("Box::operator()(int)"), "a.cc:7 in Box::operator()");
  EXPECT_EQ(text("operator<<(std::ostream&, Box const&)"), "a.cc:7 in operator<<()");
  EXPECT_EQ(text("main::{lambda(int)#1}::operator()(int) const"), "a.cc:7 in main::{lambda(int)#1}::operator()");
  EXPECT_EQ(text("<module>"), "a.cc:7 in <module>");
  EXPECT_EQ(text("run.<locals>.<lambda>"), "a.cc:7 in run.<locals>.<lambda>");
  EXPECT_EQ(text("swap<int>"), "a.cc:7 in swap<int>()");
  EXPECT_EQ((Position{"app", 0x12, "", "", 0}.short_text()), "app+0x12");
}

TEST_F(Decode, NumbersThatLookLikeSpecialsAreNumbers) {
  EXPECT_EQ(argument("MPI_Send", "count", atoms({trace::kRaw, INT32_MIN, 5})), std::to_string(INT64_MIN + 5));
  EXPECT_EQ(argument("MPI_Send", "dest", atoms({constant("MPI_PROC_NULL")})), "MPI_PROC_NULL");
  EXPECT_EQ(argument("MPI_Send", "dest", atoms({-2})), "-2");
  EXPECT_EQ(argument("MPI_Send", "dest", {}), "-");
}

TEST_F(Decode, HandlesAreNamedByWhereTheyWereCreated) {
  EXPECT_EQ(argument("MPI_Wait", "request", atoms({2, 7})), "req(app+0x20 #7)");
  EXPECT_EQ(argument("MPI_Wait", "request", atoms({2 + (Atom{4} << 32), 7})), "req(app+0x20 #7 t3)");
  EXPECT_EQ(argument("MPI_Wait", "request", atoms({trace::kUnknown, 3})), "req(unknown #3)");
  EXPECT_EQ(argument("MPI_Wait", "request", atoms({constant("MPI_REQUEST_NULL"), 0})), "MPI_REQUEST_NULL");
  EXPECT_EQ(argument("MPI_Wait", "request", atoms({99, 0})), "req(site 99 #0)");
  EXPECT_EQ(argument("MPI_Waitall", "array_of_requests", atoms({1, 0, 2, 1})), "[req(app+0x10 #0), req(app+0x20 #1)]");
  EXPECT_EQ(argument("MPI_Waitany", "array_of_requests", atoms({trace::kAsLeft})), "as left by the call before");
  EXPECT_EQ(argument("MPI_Waitany", "index", atoms({trace::kUnknown})), "unknown");
}

TEST_F(Decode, HandlesOfOtherThreadsThanTheFirstSaySo) {
  EXPECT_EQ(argument("MPI_Wait", "request", atoms({2, 7}), nullptr, 1), "req(app+0x20 #7 t1)");
  EXPECT_EQ(argument("MPI_Wait", "request", atoms({2 + (Atom{1} << 32), 7}), nullptr, 1), "req(app+0x20 #7)");
}

TEST_F(Decode, CommunicatorsHaveNumbersAndAtCreationAnId) {
  EXPECT_EQ(argument("MPI_Barrier", "comm", atoms({3})), "comm#3");
  EXPECT_EQ(argument("MPI_Comm_dup", "newcomm", atoms({3, 2, 0, 1})), "{comm=comm#3, counter=2, place=0, smallest=1}");
  EXPECT_EQ(argument("MPI_Comm_split", "newcomm", atoms({constant("MPI_COMM_NULL")})), "MPI_COMM_NULL");
}

TEST_F(Decode, AddressesAreNamedByWhatTheyLieIn) {
  EXPECT_EQ(argument("MPI_Send", "buf", atoms({trace::kHeap, 2, 128})), "heap#2+128");
  EXPECT_EQ(argument("MPI_Send", "buf", atoms({trace::kStack, 0, -64})), "stack-64");
  EXPECT_EQ(argument("MPI_Send", "buf", atoms({trace::kStatic, 0, 0x40})), "app+0x40");
  EXPECT_EQ(argument("MPI_Send", "buf", atoms({trace::kStatic, 9, 0x40})), "module#9+0x40");
  EXPECT_EQ(argument("MPI_Send", "buf", atoms({trace::kMapping, 1, 0})), "mapping#1+0");
  EXPECT_EQ(argument("MPI_Send", "buf", atoms({trace::kNull, 0, 0})), "NULL");
  EXPECT_EQ(argument("MPI_Send", "buf", atoms({constant("MPI_BOTTOM"), 0, 0})), "MPI_BOTTOM");
  EXPECT_EQ(argument("MPI_Allreduce", "sendbuf", atoms({constant("MPI_IN_PLACE"), 0, 0})), "MPI_IN_PLACE");
}

TEST_F(Decode, AddressesForOtherProcessesSayWhereTheyLie) {
  EXPECT_EQ(argument("MPI_Win_attach", "base", atoms({trace::kHeap, 2, 16, 0x5581c0de0010})),
            "heap#2+16 at 0x5581c0de0010");
  EXPECT_EQ(argument("MPI_Win_attach", "base", atoms({trace::kHeap, 2, 16})), "heap#2+16") << "of an older trace";
  EXPECT_EQ(argument("MPI_Win_attach", "base", atoms({trace::kNull, 0, 0})), "NULL");
  EXPECT_EQ(argument("MPI_Put", "target_disp", atoms({trace::kInteger, 0, 8})), "8");
  EXPECT_EQ(argument("MPI_Put", "target_disp", atoms({trace::kStack, 0, 4, 0x7ffd10})), "stack+4 at 0x7ffd10");
  bool malformed = false;
  argument("MPI_Win_attach", "base", atoms({trace::kHeap, 2, 16, 7, 7}), &malformed);
  EXPECT_TRUE(malformed);
  argument("MPI_Send", "buf", atoms({trace::kHeap, 2, 16, 7}), &malformed);
  EXPECT_TRUE(malformed) << "no other address has a number behind it";
}

TEST_F(Decode, StatusesFlagsAndErrors) {
  EXPECT_EQ(argument("MPI_Recv", "status", atoms({3, 7, trace::kImplied, 800, 0})),
            "{source=3, tag=7, bytes=800, cancelled=false}");
  EXPECT_EQ(argument("MPI_Waitall", "array_of_statuses",
                     atoms({trace::kImplied, trace::kImplied, trace::kImplied, trace::kImplied, trace::kImplied, 3, 7,
                            0, trace::kImplied, 1})),
            "[implied, {source=3, tag=7, error=MPI_SUCCESS, cancelled=true}]");
  EXPECT_EQ(argument("MPI_Recv", "status", atoms({trace::kImplied})), "implied");
  EXPECT_EQ(argument("MPI_Recv", "status", atoms({constant("MPI_STATUS_IGNORE")})), "MPI_STATUS_IGNORE");
  EXPECT_EQ(argument("MPI_Waitall", "array_of_statuses", atoms({constant("MPI_STATUSES_IGNORE")})),
            "MPI_STATUSES_IGNORE");
  EXPECT_EQ(argument("MPI_Error_class", "errorcode", atoms({0})), "MPI_SUCCESS");
  EXPECT_EQ(argument("MPI_Error_class", "errorcode", atoms({constant("MPI_ERR_RANK"), 6})), "MPI_ERR_RANK(6)");
}

TEST_F(Decode, WhatACallUpdatesIsShownBeforeAndAfter) {
  EXPECT_EQ(argument("MPI_Pack", "position", atoms({0, 8})), "0 -> 8");
  EXPECT_EQ(argument("MPI_Dims_create", "dims", atoms({0, 0, 3, 2})), "[0, 0] -> [3, 2]");
}

TEST_F(Decode, StringsAndListsOfThem) {
  trace::Field text{true, {}, {'a', '"', 'b'}};
  EXPECT_EQ(argument("MPI_Comm_set_name", "comm_name", text), R"("a\"b")");
  trace::Field list{true, {}, {2, 3, 'x', 'y', 0}};
  EXPECT_EQ(argument("MPI_Comm_spawn", "argv", list), R"(["xy", NULL])");
  trace::Field nested{true, {}, {2, 1, 2, 'x', 0}};
  EXPECT_EQ(argument("MPI_Comm_spawn_multiple", "array_of_argv", nested), R"([["x"], []])");
}

TEST_F(Decode, MalformedFieldsAreSaidToBe) {
  bool malformed = false;
  argument("MPI_Send", "count", atoms({1, 2}), &malformed);
  EXPECT_TRUE(malformed);
  argument("MPI_Send", "buf", atoms({trace::kHeap, 2}), &malformed);
  EXPECT_TRUE(malformed);
  argument("MPI_Send", "count", atoms({trace::kRaw, 1}), &malformed);
  EXPECT_TRUE(malformed);
  argument("MPI_Comm_spawn", "argv", {true, {}, {200, 1}}, &malformed);
  EXPECT_TRUE(malformed);
  argument("MPI_Comm_spawn", "argv", {true, {}, {1, 9, 'x'}}, &malformed);
  EXPECT_TRUE(malformed);
  argument("MPI_Send", "count", {true, {}, {1}}, &malformed);
  EXPECT_TRUE(malformed);
}

TEST_F(Decode, CallsThatNeverReturnedAndUnknownFunctions) {
  trace::Row row;
  row.function = spec::find_function("MPI_Barrier")->id;
  row.site = 1;
  row.fields = {atoms({0}), atoms({trace::kNoReturn})};
  EXPECT_EQ(call_text(decoder_.decode(0, row)), "MPI_Barrier(comm=comm#0) did not return  app+0x10");
  row.function = 60000;
  const Call call = decoder_.decode(0, row);
  EXPECT_TRUE(call.malformed);
  EXPECT_EQ(call_text(call), "function#60000() [malformed]  app+0x10");
}

}  // namespace
}  // namespace cairn::analyze
