# What every target of this project has in common.
include(CairnInstall)
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

# All unit tests, and all fuzzers: what a sanitized build builds, since the injected libraries can't be sanitized.
add_custom_target(unit_tests)
add_custom_target(fuzzers)

# cairn_library(NAME sources... [USES targets...]): one room's static library.
function(cairn_library name)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC cairn_flags ${ARG_USES})
endfunction()

# cairn_test(NAME sources... [USES targets...]): a GoogleTest program that stands beside the code it tests. It carries
# the label "unit": no process is started but the test itself, and it runs under sanitizers too.
function(cairn_test name)
  if(NOT CAIRN_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE cairn_flags ${ARG_USES} GTest::gtest_main GTest::gmock)
  target_compile_options(${name} PRIVATE -O1)  # the rooms are optimised as they ship; tests only cost their compiling
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
  add_dependencies(unit_tests ${name})
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
