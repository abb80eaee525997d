// The tables: what every row must fulfil, and rows whose meaning others rely on.
#include "spec/spec.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "spec/ids.h"

namespace {

using namespace cairn::spec;

const Parameter &parameter(std::string_view function, std::string_view name) {
  const Function *found = find_function(function);
  EXPECT_NE(found, nullptr) << function;
  for (unsigned i = 0; i < found->parameter_count; ++i) {
    if (name == found->parameters[i].name) return found->parameters[i];
  }
  ADD_FAILURE() << function << " has no " << name;
  static const Parameter none{};
  return none;
}

TEST(Spec, IdsAreIndicesAndNamesAreFound) {
  ASSERT_EQ(functions().size(), size_t{function_id::kCount});
  ASSERT_EQ(constants().size(), size_t{constant_id::kCount});
  for (size_t i = 0; i < functions().size(); ++i) {
    EXPECT_EQ(functions()[i].id, i);
    EXPECT_EQ(find_function(functions()[i].name), &functions()[i]);
  }
  for (size_t i = 0; i < constants().size(); ++i) EXPECT_EQ(constants()[i].id, i);
  EXPECT_EQ(find_function("MPI_"), nullptr);
  EXPECT_EQ(find_function(""), nullptr);
  EXPECT_EQ(find_function("MPI_Zzz"), nullptr);
}

// Ids stand in traces. These were given out first; none may ever move.
TEST(Spec, IdsArePermanent) {
  EXPECT_EQ(functions()[0].name, std::string("MPI_Abi_get_fortran_booleans"));
  EXPECT_EQ(functions()[354].name, std::string("MPI_Isend"));
  EXPECT_EQ(functions()[701].name, std::string("MPI_Wtime"));
  EXPECT_EQ(constants()[0].name, std::string("MPI_COMM_NULL"));
  EXPECT_EQ(constants()[constant_id::k_PROC_NULL].name, std::string("MPI_PROC_NULL"));
  EXPECT_EQ(constants()[367].name, std::string("MPI_WIN_UNIFIED"));
}

TEST(Spec, EveryParameterFitsTogether) {
  const auto inside = [](Expression e) { return e.first + e.count <= expression_code().size(); };
  for (const Function &f : functions()) {
    ASSERT_LE(f.parameter_count, kMaxParameters) << f.name;
    EXPECT_TRUE(f.collective == (f.scope != 0)) << f.name;
    for (unsigned i = 0; i < f.parameter_count; ++i) {
      const Parameter &p = f.parameters[i];
      const std::string where = std::string(f.name) + " " + p.name;
      EXPECT_TRUE(inside(p.length) && inside(p.capacity) && inside(p.significant) && inside(p.valid)) << where;
      EXPECT_TRUE(p.domain == 0 || !domain(p.domain).empty()) << where;
      EXPECT_TRUE(p.pointer_domain == 0 || !domain(p.pointer_domain).empty()) << where;
      const bool handle = p.layout == Layout::handle || p.layout == Layout::comm;
      if (p.passing == Passing::array) {
        EXPECT_TRUE(static_cast<bool>(p.length)) << where << ": an array without a length";
        EXPECT_NE(p.element, Element::none) << where;
      }
      if (p.passing == Passing::string && p.direction == Direction::out) {
        EXPECT_TRUE(static_cast<bool>(p.capacity)) << where << ": an output string without a bound";
      }
      if (p.direction == Direction::out) {
        EXPECT_NE(p.passing, Passing::value) << where;
      }
      if (p.valid) {
        EXPECT_NE(p.direction, Direction::in) << where;
      }
      if (p.effect == Effect::create || p.effect == Effect::lookup || p.effect == Effect::create_if) {
        EXPECT_TRUE(handle && p.direction == Direction::out) << where;
      }
      if (p.effect == Effect::create_if) {
        EXPECT_TRUE(static_cast<bool>(p.valid)) << where;
      }
      if (p.effect == Effect::release || p.effect == Effect::complete || p.effect == Effect::consume) {
        EXPECT_TRUE(handle) << where;
      }
      if (p.kind == Kind::status && p.direction == Direction::out &&
          std::string(f.name).find("f2c") == std::string::npos) {
        EXPECT_NE(p.pointer_domain, 0) << where << ": MPI_STATUS_IGNORE must be legal";
      }
      if (p.count_parameter != 0) {
        ASSERT_LE(p.count_parameter, f.parameter_count) << where;
        EXPECT_EQ(f.parameters[p.count_parameter - 1].kind, Kind::count) << where;
      }
      if (p.prefix_sums) {
        ASSERT_GT(i, 0U) << where;
        const Parameter &counts = f.parameters[i - 1];
        EXPECT_EQ(counts.kind, Kind::count) << where;
        EXPECT_TRUE(p.layout == Layout::integer && counts.layout == Layout::integer) << where;
        EXPECT_TRUE(p.domain == 0 && counts.domain == 0) << where << ": its numbers may be constants";
        EXPECT_TRUE(p.passing == Passing::array && counts.passing == Passing::array) << where;
        EXPECT_TRUE(p.length.first == counts.length.first && p.length.count == counts.length.count) << where;
        EXPECT_EQ(p.significant.first, counts.significant.first) << where;
      }
      if (p.type_parameter != 0) {
        ASSERT_LE(p.type_parameter, f.parameter_count) << where;
        EXPECT_EQ(f.parameters[p.type_parameter - 1].kind, Kind::datatype) << where;
      }
    }
  }
}

TEST(Spec, LargeCountFormsHaveTheSameParameters) {
  for (const Function &f : functions()) {
    const std::string name = f.name;
    if (!name.ends_with("_c") || !f.large_count) continue;
    const Function *small = find_function(std::string_view(name).substr(0, name.size() - 2));
    ASSERT_NE(small, nullptr) << name;
    if (name == "MPI_Type_get_contents_c" || name == "MPI_Type_get_envelope_c") continue;
    ASSERT_EQ(f.parameter_count, small->parameter_count) << name;
    for (unsigned i = 0; i < f.parameter_count; ++i) EXPECT_STREQ(f.parameters[i].name, small->parameters[i].name);
  }
}

// Everything but the request, an info and what goes on after the call is the same in the nonblocking and persistent
// forms.
TEST(Spec, NonblockingAndPersistentFormsAgreeWithTheBlockingOne) {
  int compared = 0;
  for (const Function &f : functions()) {
    std::string name = f.name;
    if (name.ends_with("_c")) continue;
    if (name.ends_with("_init") && f.persistent) {
      name = name.substr(0, name.size() - 5);
    } else if (name.starts_with("MPI_I") && f.nonblocking) {
      name = "MPI_" + std::string(1, static_cast<char>(std::toupper(name[5]))) + name.substr(6);
    } else {
      continue;
    }
    const Function *blocking = find_function(name);
    if (blocking == nullptr) continue;
    ++compared;
    for (unsigned i = 0; i < blocking->parameter_count; ++i) {
      const Parameter &a = blocking->parameters[i];
      if (a.kind == Kind::status) continue;
      ASSERT_LT(i, f.parameter_count) << f.name;
      const Parameter &b = f.parameters[i];
      EXPECT_STREQ(a.name, b.name) << f.name;
      const std::string where = std::string(f.name) + " " + b.name;
      EXPECT_TRUE(a.kind == b.kind && a.direction == b.direction && a.passing == b.passing) << where;
      EXPECT_TRUE(a.domain == b.domain && a.pointer_domain == b.pointer_domain) << where;
      // Equal expressions share their code.
      EXPECT_TRUE(a.length.first == b.length.first && a.significant.first == b.significant.first) << where;
      EXPECT_TRUE(a.length.count == b.length.count && a.significant.count == b.significant.count) << where;
    }
  }
  EXPECT_GT(compared, 50);
}

TEST(Spec, WhatOthersRelyOn) {
  EXPECT_EQ(parameter("MPI_Comm_spawn", "argv").passing, Passing::string_array);
  EXPECT_FALSE(parameter("MPI_Comm_spawn", "argv").length);
  EXPECT_EQ(parameter("MPI_Comm_spawn_multiple", "array_of_argv").passing, Passing::argv_array);
  EXPECT_EQ(parameter("MPI_Init", "argv").direction, Direction::inout);
  EXPECT_TRUE(parameter("MPI_Init", "argc").may_be_null);
  EXPECT_EQ(parameter("MPI_Group_range_incl", "ranges").element, Element::i32);
  EXPECT_EQ(parameter("MPI_Alloc_mem", "baseptr").effect, Effect::map_memory);
  EXPECT_EQ(parameter("MPI_Free_mem", "base").effect, Effect::unmap_memory);
  EXPECT_EQ(parameter("MPI_Comm_idup", "newcomm").asynchronous, true);
  EXPECT_EQ(parameter("MPI_Start", "request").effect, Effect::start);
  EXPECT_EQ(parameter("MPI_File_open", "amode").layout, Layout::flags);
  EXPECT_EQ(parameter("MPI_T_cvar_handle_alloc", "handle").element, Element::pointer);
  EXPECT_EQ(parameter("MPI_Type_vector", "stride").layout, Layout::integer);
  EXPECT_EQ(parameter("MPI_Type_create_struct", "array_of_displacements").layout, Layout::address);
  EXPECT_TRUE(parameter("MPI_Win_attach", "base").keeps_raw);
  EXPECT_TRUE(parameter("MPI_Put", "target_disp").keeps_raw);
  EXPECT_FALSE(parameter("MPI_Put", "origin_addr").keeps_raw);
  EXPECT_EQ(parameter("MPI_Waitall", "array_of_statuses").pointer_domain, domain_id::k_statuses);
  EXPECT_EQ(parameter("MPI_Dist_graph_create", "weights").pointer_domain, domain_id::k_weights);
  EXPECT_EQ(parameter("MPI_Dist_graph_create", "weights").domain, 0);
  EXPECT_EQ(find_function("MPI_Wtime")->returns, ReturnKind::wall_time);
  EXPECT_EQ(find_function("MPI_Comm_f2c")->return_kind, Kind::comm);
  EXPECT_EQ(find_function("MPI_Comm_c2f")->returns, ReturnKind::fint);
  EXPECT_EQ(find_function("MPI_Finalize")->scope, kScopeWorld);
  EXPECT_EQ(find_function("MPI_Comm_create_group")->scope, 2);
  EXPECT_TRUE(find_function("MPI_Isend")->nonblocking);
  EXPECT_FALSE(find_function("MPI_Isend")->persistent);
  EXPECT_TRUE(find_function("MPI_Send_init")->persistent);
  EXPECT_FALSE(find_function("MPI_Session_init")->persistent);
}

// Lists of their own: a mark that is lost in the table would make traces larger, and nothing else would notice.
TEST(Spec, WhatPollsAndDrains) {
  const std::map<std::string, std::string> polls = {{"MPI_Test", "flag"},
                                                    {"MPI_Testall", "flag"},
                                                    {"MPI_Testany", "flag"},
                                                    {"MPI_Testsome", "outcount"},
                                                    {"MPI_Iprobe", "flag"},
                                                    {"MPI_Improbe", "flag"},
                                                    {"MPI_Request_get_status", "flag"},
                                                    {"MPI_Request_get_status_all", "flag"},
                                                    {"MPI_Request_get_status_any", "flag"},
                                                    {"MPI_Request_get_status_some", "outcount"},
                                                    {"MPI_Parrived", "flag"},
                                                    {"MPI_Win_test", "flag"}};
  const std::map<std::string, std::string> drains = {{"MPI_Waitany", "index"},
                                                     {"MPI_Waitsome", "array_of_indices"},
                                                     {"MPI_Testany", "index"},
                                                     {"MPI_Testsome", "array_of_indices"}};
  std::map<std::string, std::string> polling;
  std::map<std::string, std::string> draining;
  for (const Function &f : functions()) {
    if (f.answer != 0) polling[f.name] = f.parameters[f.answer - 1].name;
    if (f.completed != 0) draining[f.name] = f.parameters[f.completed - 1].name;
  }
  EXPECT_EQ(polling, polls);
  EXPECT_EQ(draining, drains);
}

// Whatever gives a status, or makes a request, of a file or with a source says what the status tells.
TEST(Spec, WhatStatusesTell) {
  const auto name_of = [](const Function &f, uint8_t one_up) {
    return std::string(one_up == 0 ? "-" : f.parameters[one_up - 1].name);
  };
  for (const Function &f : functions()) {
    bool outcome = false;
    bool file = false;
    bool consumes = false;
    bool source = false;
    for (unsigned i = 0; i < f.parameter_count; ++i) {
      const Parameter &p = f.parameters[i];
      outcome = outcome || (p.kind == Kind::status && p.direction == Direction::out) ||
                (p.kind == Kind::request && p.effect == Effect::create);
      file = file || p.kind == Kind::file;
      consumes = consumes || p.effect == Effect::consume;
      source = source || (p.name == std::string_view("source") && p.direction == Direction::in);
    }
    const bool told = std::string_view(f.name).find("_Grequest_") != std::string_view::npos;  // by the program
    const bool message = outcome && (source || consumes || told);
    EXPECT_EQ(f.status_tells == StatusTells::message, message) << f.name;
    EXPECT_EQ(f.status_tells == StatusTells::bytes, outcome && file) << f.name;
    EXPECT_EQ(name_of(f, f.asked_source), message && source ? "source" : "-") << f.name;
    EXPECT_TRUE(message || (f.asked_tag == 0 && f.asked_buffer == 0)) << f.name;
  }
  const Function &both = *find_function("MPI_Isendrecv");
  EXPECT_EQ(name_of(both, both.asked_tag), "recvtag");
  EXPECT_EQ(name_of(both, both.asked_buffer), "recvbuf");
  const Function &matched = *find_function("MPI_Mrecv");
  EXPECT_EQ(name_of(matched, matched.asked_buffer), "buf");
  EXPECT_EQ(matched.asked_tag, 0);
  EXPECT_NE(parameter("MPI_Precv_init", "buf").times_parameter, 0);
}

TEST(Spec, WhereNewCommunicatorsMembersAreFrom) {
  EXPECT_EQ(find_function("MPI_Comm_dup")->members, Members::of_scope);
  EXPECT_EQ(find_function("MPI_Intercomm_create")->members, Members::beyond_scope);
  EXPECT_EQ(find_function("MPI_Comm_join")->members, Members::beyond_world);
  EXPECT_TRUE(constants()[constant_id::k_COMM_NULL].null_handle);
  EXPECT_FALSE(constants()[constant_id::k_COMM_SELF].null_handle);
  EXPECT_FALSE(constants()[constant_id::k_PROC_NULL].null_handle);
}

TEST(Spec, DomainsHoldEachConstantOnce) {
  for (unsigned d = 1; !domain(static_cast<uint8_t>(d)).empty(); ++d) {
    std::set<uint16_t> seen;
    for (const uint16_t id : domain(static_cast<uint8_t>(d))) {
      EXPECT_TRUE(seen.insert(id).second) << domain_name(static_cast<uint8_t>(d));
      ASSERT_LT(id, constants().size());
    }
  }
  EXPECT_TRUE(domain(0).empty());
  EXPECT_TRUE(domain(255).empty());
  EXPECT_STREQ(domain_name(domain_id::k_comm), "comm");
  EXPECT_STREQ(domain_name(0), "");
  EXPECT_STREQ(kind_name(Kind::rank), "rank");
}

}  // namespace
