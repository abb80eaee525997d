# reader.wasm and reader-verbs.wasm (reader.h): the reader, and what it uses of the other rooms, from the same sources, for
# WebAssembly; into share/cairn/report of the build folder. Clang 19 and what belongs to it are only needed for that: without them a line
# says so, and CAIRN_READER_WASM is empty.
set(CAIRN_READER_WASM "" CACHE INTERNAL "")
set(CAIRN_READER_SCRIPT "" CACHE INTERNAL "")
find_program(CAIRN_WASM_CXX NAMES clang++-19)
find_program(CAIRN_WASM_LD NAMES wasm-ld-19)
find_program(CAIRN_WASM_OPT NAMES wasm-opt)
if(NOT CAIRN_WASM_CXX OR NOT CAIRN_WASM_LD OR NOT CAIRN_WASM_OPT)
  message(STATUS "clang++-19, wasm-ld-19 or wasm-opt: not found (scripts/setup report): reports will be without traces")
  return()
endif()

# Only bulk memory and the like, which all browsers have had since 2022.
set(flags --target=wasm32-wasi -mbulk-memory -msign-ext -mnontrapping-fptoint -mmutable-globals)
if(NOT CAIRN_WASM_WORKS STREQUAL CAIRN_WASM_CXX)
  set(trial ${CMAKE_CURRENT_BINARY_DIR}/trial)
  file(WRITE ${trial}.cc "#include <map>\n#include <string>\nint main() { return std::map<int, std::string>().size(); }\n")
  execute_process(COMMAND ${CAIRN_WASM_CXX} ${flags} -std=c++20 -fno-exceptions ${trial}.cc -o ${trial}.wasm
    RESULT_VARIABLE rc OUTPUT_QUIET ERROR_QUIET)
  if(NOT rc EQUAL 0)
    message(STATUS "${CAIRN_WASM_CXX} cannot compile for WebAssembly (scripts/setup report): reports will be without traces")
    return()
  endif()
  set(CAIRN_WASM_WORKS ${CAIRN_WASM_CXX} CACHE INTERNAL "")
endif()

set(work ${CMAKE_CURRENT_BINARY_DIR}/wasm)
# Headers of libraries without anything else that lies beside them, which is the host's.
foreach(header nlohmann/json.hpp tl/expected.hpp xxhash.h)
  string(MAKE_C_IDENTIFIER header_${header} variable)
  find_path(${variable} ${header} REQUIRED)
  mark_as_advanced(${variable})
  string(REGEX REPLACE "/.*" "" first ${header})
  file(MAKE_DIRECTORY ${work}/include)
  file(CREATE_LINK ${${variable}}/${first} ${work}/include/${first} SYMBOLIC)
endforeach()
list(APPEND flags -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden -ffunction-sections -fdata-sections -DNDEBUG
  -Wall -Wextra -Wpedantic -Wshadow -Wshorten-64-to-32 $<$<BOOL:${CAIRN_WERROR}>:-Werror>
  -DJSON_NOEXCEPTION -DJSON_NO_IO -DTL_EXPECTED_EXCEPTIONS_ENABLED=0
  -I${CMAKE_CURRENT_SOURCE_DIR}/wasm -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR}/spec/generated -isystem ${work}/include)

set(objects)
# cairn_wasm_object(NAME LEVEL source...): one object of these, of absolute paths.
function(cairn_wasm_object name level)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
  string(CONCAT includes ${includes})
  set(batch ${work}/${name}/Unity/unity_0_cxx.cxx)
  file(CONFIGURE OUTPUT ${batch} CONTENT "${includes}" @ONLY)
  set(object ${work}/${name}.o)
  # CAIRN_BATCH_LD: see compile_batch.py.
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E env CAIRN_BATCH_LD=${CAIRN_WASM_LD} ${Python3_EXECUTABLE}
      ${PROJECT_SOURCE_DIR}/cmake/compile_batch.py ${CMAKE_CXX_COMPILER_LAUNCHER} ${CAIRN_WASM_CXX} ${flags} ${level}
      -MD -MT ${object} -MF ${object}.d -o ${object} -c ${batch}
    DEPENDS ${batch} ${ARGN} cairn_spec_ids
    DEPFILE ${object}.d
    COMMENT "Compiling ${name} for WebAssembly"
    COMMAND_EXPAND_LISTS VERBATIM)
  set(objects ${objects} ${object} PARENT_SCOPE)
endfunction()

# cairn_wasm(LEVEL target... [WITHOUT file...] [ONLY file...]): the sources of these libraries, in batches. What nobody calls
# is left out when they are linked.
function(cairn_wasm level)
  cmake_parse_arguments(ARG "" "" "WITHOUT;ONLY" ${ARGN})
  foreach(target ${ARG_UNPARSED_ARGUMENTS})
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    list(REMOVE_ITEM sources ${ARG_WITHOUT})
    if(ARG_ONLY)
      set(sources ${ARG_ONLY})
    endif()
    list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/]")
    set(number 0)
    while(sources)
      list(SUBLIST sources 0 16 some)
      list(REMOVE_ITEM sources ${some})
      cairn_wasm_object(${target}${level}_${number} ${level} ${some})
      math(EXPR number "${number} + 1")
    endwhile()
  endforeach()
  set(objects ${objects} PARENT_SCOPE)
endfunction()

# What each call costs is as fast as can be, all else small: a fifth to a half more calls a second for a thirtieth of the size.
cairn_wasm(-O2 cairn_grammar ONLY cursor.cc walker.cc)
cairn_wasm(-O2 cairn_timing ONLY chunks.cc context_coder.cc mixed_bits.cc stream.cc)
cairn_wasm(-O2 cairn_trace_values ONLY fold_column_read.cc)
cairn_wasm(-O2 cairn_trace_read ONLY call_reader.cc rank_rows.cc)
cairn_wasm(-Oz cairn_grammar WITHOUT cursor.cc walker.cc)
cairn_wasm(-Oz cairn_timing WITHOUT chunks.cc context_coder.cc mixed_bits.cc stream.cc)
cairn_wasm(-Oz cairn_trace_values WITHOUT fold_column_read.cc)
cairn_wasm(-Oz cairn_trace_read WITHOUT call_reader.cc rank_rows.cc edit.cc open.cc retime.cc)
cairn_wasm(-Oz cairn_codec ONLY codec.cc frame.cc unzstd.cc)
cairn_wasm(-Oz cairn_trace_model cairn_trace_code cairn_trace_fold cairn_trace_merge cairn_trace_file cairn_text cairn_spec
  WITHOUT disk.cc encode.cc part_io.cc)
cairn_wasm(-Oz cairn_analyze WITHOUT compile_units.cc debug_entries.cc debug_info.cc family.cc module_id.cc open_trace.cc sources_in_modules.cc tail_calls.cc)
cairn_wasm_object(fmt -Oz ${CMAKE_CURRENT_SOURCE_DIR}/wasm/fmt/format.cc)
cairn_wasm(-Oz cairn_terminal ONLY listing.cc words.cc)
cairn_wasm(-Oz cairn_traffic cairn_timeline cairn_tell cairn_turns cairn_reader WITHOUT picture.cc)

# cairn_wasm_module(FILE function...): a module that has these.
function(cairn_wasm_module file)
  get_filename_component(name ${file} NAME)
  list(TRANSFORM ARGN PREPEND -Wl,--export=reader_ OUTPUT_VARIABLE exports)
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/cairn/report
    COMMAND ${CAIRN_WASM_CXX} --target=wasm32-wasi -mexec-model=reactor ${objects} ${exports} -o ${work}/${name}
      -Wl,--gc-sections,--strip-all,-O2 -Wl,--stack-first,-z,stack-size=4194304
      # The memory is JavaScript's: it says how large it may become (reader.ts: LEAST_PAGES).
      -Wl,--import-memory,--initial-memory=8388608,--max-memory=4294967296
    # A second round finds half a percent more.
    COMMAND ${CAIRN_WASM_OPT} -Oz -Oz --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int
      --enable-mutable-globals --strip-producers ${work}/${name} -o ${file}
    DEPENDS ${objects}
    COMMENT "Linking ${name}"
    VERBATIM)
endfunction()

set(share ${PROJECT_BINARY_DIR}/share/cairn/report)
set(CAIRN_READER_WASM ${share}/reader.wasm CACHE INTERNAL "")
set(functions alloc free wanted_memory open open_elsewhere close error run classes groups durations count calls call_at walk matrix strip drawn messages)
cairn_wasm_module(${share}/reader.wasm ${functions})
cairn_wasm_module(${share}/reader-verbs.wasm ${functions} summary sizes loops)
add_custom_target(cairn_reader_wasm ALL DEPENDS ${share}/reader.wasm ${share}/reader-verbs.wasm)
install(FILES ${share}/reader.wasm DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn/report)

# Its tests run in Node.js, on the script that esbuild makes of reader.ts.
find_program(CAIRN_NODE NAMES node)
find_program(CAIRN_ESBUILD NAMES esbuild)
if(NOT CAIRN_TESTS)
  return()
endif()
if(NOT CAIRN_NODE OR NOT CAIRN_ESBUILD)
  message(STATUS "node or esbuild: not found (scripts/setup report): reader.wasm is not tested")
  return()
endif()
set(CAIRN_READER_SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/reader.mjs CACHE INTERNAL "")
add_custom_command(OUTPUT ${CAIRN_READER_SCRIPT}
  COMMAND ${CAIRN_ESBUILD} ${CMAKE_CURRENT_SOURCE_DIR}/reader.ts --format=esm --target=es2022 --log-level=warning
    --outfile=${CAIRN_READER_SCRIPT}
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/reader.ts
  VERBATIM)
add_custom_target(cairn_reader_script ALL DEPENDS ${CAIRN_READER_SCRIPT})
file(GLOB golden ${PROJECT_SOURCE_DIR}/src/trace/testing/testdata/*.cairn)
add_test(NAME reader_wasm_golden COMMAND ${CAIRN_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/told_alike.mjs ${CAIRN_READER_SCRIPT}
  ${share}/reader-verbs.wasm ${PROJECT_BINARY_DIR}/bin/cairn ${golden})
set_tests_properties(reader_wasm_golden PROPERTIES TIMEOUT 240)
add_test(NAME reader_wasm_mutants COMMAND ${CAIRN_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/reader_test_mutants.mjs ${share}/reader-verbs.wasm
  $<TARGET_FILE:reader_mutants> 600 ${golden})
set_tests_properties(reader_wasm_mutants PROPERTIES TIMEOUT 240)
add_test(NAME reader_wasm_errors COMMAND ${CAIRN_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/reader_test.mjs ${CAIRN_READER_SCRIPT}
  ${CAIRN_READER_WASM} ${PROJECT_SOURCE_DIR}/src/trace/testing/testdata)
set_tests_properties(reader_wasm_errors PROPERTIES TIMEOUT 120)
# What a page carries; scripts that make pages compress it.
add_test(NAME reader_wasm_size COMMAND ${CAIRN_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/size.mjs 347000 ${CAIRN_READER_WASM}
  ${share}/reader-verbs.wasm)
