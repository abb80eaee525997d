// abi.cc of one MPI library against that library: a program that includes its mpi.h and is linked to it, built once for
// each MPI.
#include "spec/abi.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <type_traits>

#include "spec/spec.h"

namespace {

using namespace cairn::recorder;

/// The word of a constant as the recorder finds it: from the tables and the loaded library.
uint64_t resolved(size_t id) {
  if (abi_constant_form[id] == AbiConstant::number) return abi_constant[id];
  const void *symbol = dlsym(RTLD_DEFAULT, abi_constant_symbol[id]);
  EXPECT_NE(symbol, nullptr) << abi_constant_symbol[id];
  if (symbol == nullptr) return 0;
  if (abi_constant_form[id] == AbiConstant::address) return reinterpret_cast<uint64_t>(symbol) + abi_constant[id];
  uint64_t value = 0;
  std::memcpy(&value, symbol, abi_constant[id]);
  return value;
}

template <typename T>
uint64_t word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uint64_t>(value);
  } else if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

struct Seen {
  uint16_t id;
  const char *name;
  uint64_t value;
};

TEST(Abi, EveryConstantHasTheValueThatProgramsSee) {
#define CONSTANT(id, spelt) {id, #spelt, word(spelt)},
  const Seen seen[] = {
#include "abi_check.inc"
  };
#undef CONSTANT
  EXPECT_GT(std::size(seen), 300U);
  for (const Seen &constant : seen) {
    EXPECT_TRUE(abi_has_constant[constant.id]) << constant.name;
    EXPECT_STREQ(cairn::spec::constants()[constant.id].name, constant.name);
    EXPECT_EQ(resolved(constant.id), constant.value) << constant.name;
  }
  for (const cairn::spec::Constant &constant : cairn::spec::constants()) {
    EXPECT_EQ(abi_has_constant[constant.id], abi_constant_form[constant.id] != AbiConstant::absent) << constant.name;
  }
}

TEST(Abi, FactsAreThoseOfTheHeader) {
  EXPECT_STREQ(cairn::recorder::abi.soname, SONAME);
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.handle_size), sizeof(MPI_Request));
  EXPECT_EQ(cairn::recorder::abi.handles_are_pointers, std::is_pointer_v<MPI_Comm>);
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.file_size), sizeof(MPI_File));
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.fint_size), sizeof(MPI_Fint));
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.aint_size), sizeof(MPI_Aint));
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.count_size), sizeof(MPI_Count));
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.offset_size), sizeof(MPI_Offset));
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.status_size), sizeof(MPI_Status));
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.status_source), offsetof(MPI_Status, MPI_SOURCE));
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.status_tag), offsetof(MPI_Status, MPI_TAG));
  EXPECT_EQ(static_cast<size_t>(cairn::recorder::abi.status_error), offsetof(MPI_Status, MPI_ERROR));
  // The byte count is found in one of the two known ways, or not at all.
  EXPECT_EQ(cairn::recorder::abi.status_count_low >= 0, cairn::recorder::abi.status_count_high >= 0);
  EXPECT_FALSE(cairn::recorder::abi.status_count_low >= 0 && cairn::recorder::abi.status_count >= 0);
}

TEST(Abi, FunctionNamesAreExported) {
  int named = 0;
  for (const cairn::spec::Function &function : cairn::spec::functions()) {
    const char *name = function_names[function.id];
    if (name == nullptr) continue;
    ++named;
    // Or the one that it had before the standard.
    const bool before = std::string(name).rfind("MPIX_", 0) == 0;
    EXPECT_TRUE(before || name == std::string(function.name)) << name;
    EXPECT_NE(dlsym(RTLD_DEFAULT, name), nullptr) << name;
    EXPECT_NE(dlsym(RTLD_DEFAULT, (std::string("P") + name).c_str()), nullptr) << name;
  }
  EXPECT_GT(named, 300);
}

}  // namespace
