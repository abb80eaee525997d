# Tests of libcairn.so: programs that run with it preloaded, a stand-in MPI library and a stand-in recorder for it.
cairn_test(heap_shadow_test heap_shadow_test.cc heap_shadow.cc SAMPLE)

set(stage ${CMAKE_CURRENT_BINARY_DIR}/stage)
add_library(preload_test_mpi SHARED preload_test_mpi.c)
set_target_properties(preload_test_mpi PROPERTIES OUTPUT_NAME fakempi SOVERSION 1 C_STANDARD 11 C_EXTENSIONS ON)
add_library(preload_test_serial_mpi SHARED preload_test_mpi.c)
set_target_properties(preload_test_serial_mpi PROPERTIES OUTPUT_NAME fakeserial C_STANDARD 11 C_EXTENSIONS ON)
target_compile_definitions(preload_test_serial_mpi PRIVATE SERIAL)
add_library(preload_test_recorder MODULE preload_test_recorder.cc)
set_target_properties(preload_test_recorder PROPERTIES OUTPUT_NAME cairn-recorder
  LIBRARY_OUTPUT_DIRECTORY ${stage}/recorders/libfakempi.so.1)
add_library(preload_test_plugin MODULE preload_test_plugin.c)
target_link_libraries(preload_test_plugin PRIVATE preload_test_mpi)
add_library(preload_test_allocator SHARED preload_test_allocator.c)
target_compile_options(preload_test_allocator PRIVATE -fno-builtin)
set_target_properties(preload_test_allocator PROPERTIES C_STANDARD 11 C_EXTENSIONS ON)
foreach(target preload_test_mpi preload_test_serial_mpi preload_test_recorder preload_test_plugin preload_test_allocator)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endforeach()

# The program as it mostly is, one that loads MPI late, and one with a serial stub of MPI. Neither is built with sanitizers: they bring an allocator.
find_package(Threads REQUIRED)
foreach(program preload_test preload_test_late preload_test_serial)
  add_executable(${program} preload_test.cc)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${program} PRIVATE -Wall -Wextra -Wshadow -fno-builtin -fno-optimize-sibling-calls)
  target_compile_definitions(${program} PRIVATE _GNU_SOURCE PLUGIN="$<TARGET_FILE:preload_test_plugin>")
  target_link_libraries(${program} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON)
  add_dependencies(${program} preload_test_plugin preload_test_recorder preload_test_allocator cairn_preload)
endforeach()
target_link_libraries(preload_test PRIVATE preload_test_mpi)
target_link_libraries(preload_test_serial PRIVATE preload_test_serial_mpi)
target_compile_definitions(preload_test_late PRIVATE LATE)
target_compile_definitions(preload_test_serial PRIVATE SERIAL)

# preload_case(NAME PROGRAM "words…" [VARIABLE=value…]): runs it with libcairn.so and, if there is one, what
# FIRST and SECOND name around it in the preload chain.
function(preload_case name program words)
  set(spool ${CMAKE_CURRENT_BINARY_DIR}/spool-${name})
  file(MAKE_DIRECTORY ${spool})
  set(environment CAIRN_OUTPUT=x CAIRN_SPOOL=${spool} CAIRN_RECORDERS=${stage}/recorders
      LD_PRELOAD=$<TARGET_FILE:cairn_preload> ${ARGN})
  add_test(NAME preload.${name} COMMAND ${CMAKE_COMMAND} -E env ${environment} $<TARGET_FILE:${program}> ${words})
  set_tests_properties(preload.${name} PROPERTIES TIMEOUT 60)
endfunction()

preload_case(recorded preload_test "call;libfakempi.so.1")
preload_case(recorded_late preload_test_late "call;libfakempi.so.1")
preload_case(fortran preload_test "fortran;libfakempi.so.1")
preload_case(profiling preload_test "profiling;libfakempi.so.1")
preload_case(profiling_unrecorded preload_test "profiling;library;no recorder for libfakempi.so.1" CAIRN_RECORDERS=/nonexistent)
preload_case(variadic preload_test "variadic;x")
preload_case(missing preload_test "missing;x")
preload_case(race preload_test "race;libfakempi.so.1" SLOW=1)
preload_case(no_recorder preload_test "call;library;no recorder for libfakempi.so.1" CAIRN_RECORDERS=/nonexistent)
preload_case(no_recorder_late preload_test_late "call;library;no recorder for libfakempi.so.1"
  CAIRN_RECORDERS=/nonexistent)
preload_case(no_recorder_beside preload_test "call;library;no recorder for libfakempi.so.1" CAIRN_RECORDERS=)
preload_case(no_profiling preload_test_serial "call;library;the MPI library has no PMPI_Init")
preload_case(declined preload_test "call;library;the recorder for libfakempi.so.1 declined" DECLINE=1)
preload_case(switched_off preload_test "call;library;switched off by CAIRN_OFF" CAIRN_OFF=1)
preload_case(heap preload_test "heap;100000")
preload_case(heap_in_chain preload_test "heap;50000" SMALLEST=8
  LD_PRELOAD=$<TARGET_FILE:cairn_preload>:$<TARGET_FILE:preload_test_allocator>)
preload_case(edges preload_test "edges;x")
preload_case(threads preload_test "threads;x")
preload_case(mappings preload_test "mappings;x")
preload_case(not_wanted preload_test "untracked;x" --unset=CAIRN_OUTPUT)

add_test(NAME preload.little_address_space COMMAND sh -c
  "ulimit -v 4000000 && exec env CAIRN_OUTPUT=x CAIRN_RECORDERS=${stage}/recorders \
   LD_PRELOAD=$<TARGET_FILE:cairn_preload> $<TARGET_FILE:preload_test> untracked x")
add_test(NAME preload.exports COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/preload_exports_test.sh
  $<TARGET_FILE:cairn_preload> ${CAIRN_MPI_FUNCTIONS_INC})
add_test(NAME preload.not_mpi COMMAND ${CMAKE_COMMAND} -E env CAIRN_OUTPUT=x CAIRN_SPOOL=/nonexistent
  LD_PRELOAD=$<TARGET_FILE:cairn_preload> sh -c "test $(echo shell | tr a-z A-Z) = SHELL")

foreach(id ${CAIRN_MPIS})
  add_test(NAME preload.real_${id} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/preload_real_test.sh ${CAIRN_MPI_${id}_CC}
    $<TARGET_FILE:cairn_preload> ${CMAKE_CURRENT_SOURCE_DIR}/preload_test_real.c ${CAIRN_MPI_${id}_SONAME})
  set_tests_properties(preload.real_${id} PROPERTIES TIMEOUT 120)
endforeach()
