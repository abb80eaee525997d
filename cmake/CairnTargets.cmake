# What every target of this project has in common.
include(CairnInstall)
# Debian's own before others on the PATH: tests use modules of Debian's packages, and what stands first may be a script
# that takes most of a second to find an interpreter, as pyenv's is.
if(NOT DEFINED Python3_ROOT_DIR)
  set(Python3_ROOT_DIR /usr)
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
if(CAIRN_TESTS)
  find_package(GTest REQUIRED)
endif()

add_library(cairn_flags INTERFACE)
target_include_directories(cairn_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_options(cairn_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<BOOL:${CAIRN_WERROR}>:-Werror> -fvisibility=hidden)
if(CAIRN_SANITIZE)
  # -fno-sanitize-recover: a finding must fail the test that made it.
  target_compile_options(cairn_flags INTERFACE -fsanitize=${CAIRN_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(cairn_flags INTERFACE -fsanitize=${CAIRN_SANITIZE})
endif()
if(CAIRN_FUZZ)
  # The libraries report coverage to the fuzzer; only fuzzers bring its main().
  target_compile_options(cairn_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(cairn_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# All unit tests, a sample of them, and all fuzzers: what a sanitized build builds, since the injected libraries can't be
# sanitized.
add_custom_target(unit_tests)
add_custom_target(unit_sample)
add_custom_target(fuzzers)

# Headers that are compiled once for many targets. Those of unit tests are in every build. What ships gets its own only in
# sanitized builds: elsewhere a file that forgets to include something must not compile.
set(CAIRN_HEADERS <algorithm> <cstring> <functional> <map> <memory> <optional> <random> <set> <span> <string> <string_view>
    <unordered_map> <vector>)
set(nothing ${PROJECT_BINARY_DIR}/CMakeFiles/nothing.cc)
file(CONFIGURE OUTPUT ${nothing} CONTENT "int main() {}\n" @ONLY)
if(CAIRN_TESTS)
  add_executable(cairn_test_headers ${nothing})  # a program, since those are compiled with -fPIE
  target_link_libraries(cairn_test_headers PRIVATE cairn_flags GTest::gtest_main GTest::gmock)
  target_compile_options(cairn_test_headers PRIVATE -O1)
  target_precompile_headers(cairn_test_headers PRIVATE <gtest/gtest.h> ${CAIRN_HEADERS})
endif()
if(CAIRN_SANITIZE)
  add_library(cairn_room_headers OBJECT ${nothing})
  target_link_libraries(cairn_room_headers PRIVATE cairn_flags)
  target_precompile_headers(cairn_room_headers PRIVATE ${CAIRN_HEADERS} <tl/expected.hpp>)
endif()

# cairn_in_batches(TARGET): under CAIRN_UNITY compiles eight of its files as one, in half of the time, as much of it goes into
# what they have in common: headers, and the same templates. Files whose names get into each other's way are compiled one by
# one (compile_batch.py). The recorder's core and what is preloaded are never built so: they are tested as they ship.
function(cairn_in_batches target)
  if(CAIRN_UNITY)
    set(launcher ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/compile_batch.py ${CMAKE_CXX_COMPILER_LAUNCHER})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16 CXX_COMPILER_LAUNCHER "${launcher}")
    # It would take a file's own types for ones of a header, as the file is included here.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# cairn_library(NAME sources... [USES targets...]): one room's static library.
function(cairn_library name)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC cairn_flags ${ARG_USES})
  cairn_in_batches(${name})
  if(CAIRN_SANITIZE)
    target_precompile_headers(${name} REUSE_FROM cairn_room_headers)
  endif()
endfunction()

# cairn_test(NAME sources... [SAMPLE] [USES targets...]): a GoogleTest program that stands beside the code it tests. It
# carries the label "unit": no process is started but the test itself, and it runs under sanitizers too. Those with the
# label "sample" do so at every commit: of each room the ones that go furthest through its memory.
function(cairn_test name)
  if(NOT CAIRN_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SAMPLE" "" "USES" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} REUSE_FROM cairn_test_headers)
  target_link_libraries(${name} PRIVATE cairn_flags ${ARG_USES} GTest::gtest_main GTest::gmock)
  target_compile_options(${name} PRIVATE -O1)  # the rooms are optimised as they ship; tests only cost their compiling
  # GCC 12 takes strings that are put together for arrays of 32 bytes, where headers come precompiled.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
  add_dependencies(unit_tests ${name})
  if(ARG_SAMPLE)
    set_tests_properties(${name} PROPERTIES LABELS "unit;sample")
    add_dependencies(unit_sample ${name})
  endif()
endfunction()

# Every target whose name ends with _fuzz is a fuzzer, found by that name here and by scripts/check. Its seeds, where
# there are any, are the files of the folder NAME.corpus.
function(cairn_collect_fuzzers folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER targets INCLUDE REGEX "_fuzz$")
  if(targets)
    add_dependencies(fuzzers ${targets})
  endif()
  get_property(inner DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(each ${inner})
    cairn_collect_fuzzers(${each})
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL cairn_collect_fuzzers ${PROJECT_SOURCE_DIR})
