# The MPI libraries that recorders are built for, and the sources that spec/generate.py writes for each.
#
# cairn_find_mpis() sets the list CAIRN_MPIS of ids ("mpich-12", "mpi-40": the soname without lib and .so). For an id:
#   CAIRN_MPI_<id>_CC            the compiler wrapper
#   CAIRN_MPI_<id>_SONAME        "libmpich.so.12"
#   CAIRN_MPI_<id>_LIBRARY       path of the shared library (nothing of ours is linked to it)
#   CAIRN_MPI_<id>_INCLUDES      folders of mpi.h
include_guard(GLOBAL)
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
set(CAIRN_GENERATE ${PROJECT_SOURCE_DIR}/spec/generate.py CACHE INTERNAL "")

# cairn_spec_inputs(VAR): everything the generated sources depend on.
function(cairn_spec_inputs variable)
  file(GLOB inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/spec/*.py ${PROJECT_SOURCE_DIR}/spec/*.txt
       ${PROJECT_SOURCE_DIR}/spec/kinds.inc ${PROJECT_SOURCE_DIR}/spec/functions/*.txt)
  list(FILTER inputs EXCLUDE REGEX "_test\\.py$")
  set(${variable} ${inputs} PARENT_SCOPE)
endfunction()

# cairn_find_mpi(MPICC PREFIX): sets PREFIX_ID, _CC, _SONAME, _LIBRARY, _INCLUDES in the caller's scope; stops with one
# line if MPICC is no usable wrapper. What was found is kept in the build folder until MPICC or the table changes.
function(cairn_find_mpi mpicc prefix)
  find_program(program NAMES ${mpicc} NO_CACHE)
  if(NOT program)
    message(FATAL_ERROR "CAIRN_MPICC: no program ${mpicc}")
  endif()
  string(MAKE_C_IDENTIFIER ${program} name)
  set(folder ${PROJECT_BINARY_DIR}/mpi/found/${name})
  set(answer ${folder}/library.cmake)
  cairn_spec_inputs(inputs)
  set(stale FALSE)
  foreach(input ${program} ${inputs})
    if(${input} IS_NEWER_THAN ${answer})
      set(stale TRUE)
    endif()
  endforeach()
  if(stale)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${CAIRN_GENERATE} library --mpi-cc ${program} --out ${folder}
                    RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_VARIABLE said ERROR_STRIP_TRAILING_WHITESPACE)
    if(status)
      message(FATAL_ERROR "${said}")
    endif()
  endif()
  include(${answer})
  string(REGEX REPLACE "^lib(.+)\\.so\\.?" "\\1-" id ${soname})
  string(REGEX REPLACE "-$" "" id ${id})
  foreach(fact ID id CC program SONAME soname LIBRARY library INCLUDES include_folders FUNCTIONS functions)
    if(fact MATCHES "^[A-Z]+$")
      set(what ${fact})
    else()
      set(${prefix}_${what} "${${fact}}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# cairn_find_mpis(): CAIRN_MPIS and the facts of each, seen by every room, from the list CAIRN_MPICC or Debian's two wrappers.
# spec/CMakeLists.txt calls it.
function(cairn_find_mpis)
  set(ids)
  set(wrappers ${CAIRN_MPICC})
  if(NOT wrappers)
    foreach(wrapper mpicc.mpich mpicc.openmpi)
      find_program(found NAMES ${wrapper} NO_CACHE)
      if(found)
        list(APPEND wrappers ${found})
      endif()
      unset(found)
    endforeach()
  endif()
  foreach(wrapper ${wrappers})
    cairn_find_mpi(${wrapper} this)
    if(this_ID IN_LIST ids)
      message(WARNING "${wrapper}: a recorder for ${this_SONAME} is already built with ${CAIRN_MPI_${this_ID}_CC}")
    else()
      list(APPEND ids ${this_ID})
      foreach(fact CC SONAME LIBRARY INCLUDES FUNCTIONS)
        set(CAIRN_MPI_${this_ID}_${fact} "${this_${fact}}" CACHE INTERNAL "")
      endforeach()
      message(STATUS "MPI: ${this_CC}, ${this_SONAME}, ${this_FUNCTIONS} functions")
    endif()
  endforeach()
  if(NOT ids)
    message(WARNING "No MPI found: no recorder will be built. Install libmpich-dev or libopenmpi-dev, or name a compiler "
                    "wrapper: -DCAIRN_MPICC=/path/to/mpicc")
  endif()
  set(CAIRN_MPIS "${ids}" CACHE INTERNAL "")
endfunction()

# cairn_mpi_sources(ID WHAT VAR): generates for one MPI and sets VAR to the source files. WHAT is `wrappers` (wrappers_N.cc
# and abi.cc, and ${VAR}_FOLDER/skipped.txt), `oracle` (oracle_N.cc, oracle_common.cc, oracle_abi.cc) or `invokers`
# (invokers_N.cc, invokers_common.cc). Compile them with cairn_mpi_flags(target ID).
function(cairn_mpi_sources id what variable)
  set(folder ${PROJECT_BINARY_DIR}/mpi/${id})
  set(parts 4)
  set(sources)
  math(EXPR last "${parts} - 1")
  foreach(part RANGE ${last})
    list(APPEND sources ${folder}/${what}_${part}.cc)
  endforeach()
  if("${what}" STREQUAL "wrappers")
    list(APPEND sources ${folder}/abi.cc)
  elseif("${what}" STREQUAL "invokers")
    list(APPEND sources ${folder}/invokers_common.cc)
  else()
    list(APPEND sources ${folder}/oracle_common.cc ${folder}/oracle_abi.cc)
  endif()
  cairn_spec_inputs(inputs)
  list(GET CAIRN_MPI_${id}_INCLUDES 0 header_folder)
  add_custom_command(
    OUTPUT ${sources}
    COMMAND ${Python3_EXECUTABLE} ${CAIRN_GENERATE} ${what} --mpi-cc ${CAIRN_MPI_${id}_CC} --out ${folder}
            --parts ${parts}
    DEPENDS ${inputs} ${CAIRN_MPI_${id}_CC} ${CAIRN_MPI_${id}_LIBRARY} ${header_folder}/mpi.h
    COMMENT "Generating the ${what} for ${CAIRN_MPI_${id}_SONAME}"
    VERBATIM)
  set(${variable} ${sources} PARENT_SCOPE)
  set(${variable}_FOLDER ${folder} PARENT_SCOPE)
endfunction()

# cairn_mpi_flags(TARGET ID): lets a target include this MPI's mpi.h (without its C++ bindings) and spec/ids.h.
function(cairn_mpi_flags target id)
  target_include_directories(${target} SYSTEM PRIVATE ${CAIRN_MPI_${id}_INCLUDES})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/mpi/${id}
                             $<TARGET_PROPERTY:cairn_spec,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${target} PRIVATE MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)
  add_dependencies(${target} cairn_spec_ids)
endfunction()

# cairn_preload_list(): CAIRN_MPI_FUNCTIONS_INC, a file with a line CAIRN_MPI_FUNCTION(name) for each function that any MPI
# found exports, and the target cairn_mpi_functions that makes it. spec/CMakeLists.txt calls it.
function(cairn_preload_list)
  set(wrappers)
  foreach(id ${CAIRN_MPIS})
    list(APPEND wrappers --mpi-cc ${CAIRN_MPI_${id}_CC})
  endforeach()
  if(NOT wrappers)
    set(CAIRN_MPI_FUNCTIONS_INC "" CACHE INTERNAL "")
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/mpi)
  cairn_spec_inputs(inputs)
  add_custom_command(
    OUTPUT ${folder}/mpi_functions.inc
    COMMAND ${Python3_EXECUTABLE} ${CAIRN_GENERATE} preload ${wrappers} --out ${folder}
    DEPENDS ${inputs}
    COMMENT "Listing the functions of all MPIs"
    VERBATIM)
  add_custom_target(cairn_mpi_functions DEPENDS ${folder}/mpi_functions.inc)
  set(CAIRN_MPI_FUNCTIONS_INC ${folder}/mpi_functions.inc CACHE INTERNAL "")
endfunction()
