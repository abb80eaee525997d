# Fortran programs: recorded as C programs are, and fortran_sites.py holds each event against its line of the source.
file(READ bindings.F90 calls)
string(REGEX MATCHALL "(call|=) P?MPI_[A-Z][a-z][A-Za-z_]*" calls "${calls}")
list(TRANSFORM calls REPLACE "^.* " "")
list(REMOVE_DUPLICATES calls)
set(profiling)
foreach(name ${calls})
  list(APPEND profiling -D${name}=P${name})
endforeach()
foreach(mpi mpich openmpi)
  find_program(CAIRN_FORTRAN_${mpi} NAMES mpifort.${mpi})
  mark_as_advanced(CAIRN_FORTRAN_${mpi})
  if(NOT CAIRN_FORTRAN_${mpi})
    continue()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${mpi})
  set(cores 2)
  if(mpi STREQUAL "openmpi")
    set(cores 1)
  endif()
  set(programs fortran_mpifh fortran_module fortran_f08)
  if(mpi STREQUAL "openmpi")
    list(APPEND programs fortran_extensions)
  endif()
  foreach(program ${programs})
    # Modules are compiled in a folder of their own; what mpif.h's calls pass for one another is their business.
    file(MAKE_DIRECTORY ${folder}/${program}.mod)
    add_custom_command(OUTPUT ${folder}/${program}
      COMMAND ${CAIRN_FORTRAN_${mpi}} -g -O1 -fopenmp -fallow-argument-mismatch -w -J ${folder}/${program}.mod
              -o ${folder}/${program} ${CMAKE_CURRENT_SOURCE_DIR}/${program}.f90
      DEPENDS ${program}.f90
      COMMENT "Compiling ${program} for ${mpi}"
      VERBATIM)
    list(APPEND binaries ${folder}/${program})
    cairn_mpi_test(${program} ${mpi} 3 fast -- ${folder}/${program})
    set(lost)
    if("${mpi} ${program}" STREQUAL "openmpi fortran_module")
      set(lost --lost-lines)
    endif()
    add_test(NAME mpi.${mpi}.${program}_sites
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/fortran_sites.py --build ${PROJECT_BINARY_DIR} --mpi ${mpi} -n 3 ${lost}
              --source ${CMAKE_CURRENT_SOURCE_DIR}/${program}.f90 -- ${folder}/${program})
    set_tests_properties(mpi.${mpi}.${program}_sites PROPERTIES LABELS fast TIMEOUT 240 SKIP_RETURN_CODE 77 PROCESSORS ${cores})
  endforeach()

  set(module ${PROJECT_SOURCE_DIR}/src/mpi/include/cairn/cairn_tracing.f90)
  file(MAKE_DIRECTORY ${folder}/fortran_tracing.mod)
  add_custom_command(OUTPUT ${folder}/fortran_tracing
    COMMAND ${CAIRN_FORTRAN_${mpi}} -g -O1 -w -J ${folder}/fortran_tracing.mod -o ${folder}/fortran_tracing ${module}
            ${CMAKE_CURRENT_SOURCE_DIR}/fortran_tracing.f90
    DEPENDS fortran_tracing.f90 ${module}
    COMMENT "Compiling fortran_tracing for ${mpi}"
    VERBATIM)
  list(APPEND binaries ${folder}/fortran_tracing)
  cairn_mpi_test(fortran_tracing ${mpi} 2 fast --no-oracle --said ": 2 ranks, 12 calls of 5 functions"
                 --said "200 calls were left out on request: tracing was off" -- ${folder}/fortran_tracing)

  # One program in C and through each binding, by both names of the functions; without debug information (bindings.py).
  add_custom_command(OUTPUT ${folder}/bindings_c
    COMMAND mpicc.${mpi} -O0 -w -o ${folder}/bindings_c ${CMAKE_CURRENT_SOURCE_DIR}/bindings.c
    DEPENDS bindings.c
    COMMENT "Compiling bindings_c for ${mpi}"
    VERBATIM)
  set(programs ${folder}/bindings_c)
  foreach(binding mpifh module f08)
    foreach(prefix "" p)
      set(program bindings_${prefix}${binding})
      string(TOUPPER ${binding} macro)
      set(definitions -D${macro})
      if(prefix)
        list(APPEND definitions ${profiling})
      endif()
      if("${mpi} ${prefix}${binding}" MATCHES "pmpifh|mpich (mpifh|pmodule)")
        list(APPEND definitions -DNO_AINT)
      endif()
      add_custom_command(OUTPUT ${folder}/${program}
        COMMAND ${CAIRN_FORTRAN_${mpi}} -O0 -fallow-argument-mismatch -ffree-line-length-none -w ${definitions}
                -o ${folder}/${program} ${CMAKE_CURRENT_SOURCE_DIR}/bindings.F90
        DEPENDS bindings.F90
        COMMENT "Compiling ${program} for ${mpi}"
        VERBATIM)
      list(APPEND programs ${folder}/${program})
      cairn_mpi_test(${program} ${mpi} 2 fast -- ${folder}/${program})
    endforeach()
  endforeach()
  # What a binding does unseen is said to be missing. The library has a name that bindings have.
  add_custom_command(OUTPUT ${folder}/unseen_binding
    COMMAND mpicc.${mpi} -shared -fPIC -g -O1 -Wall -Wextra -o ${folder}/libmpifort.so ${CMAKE_CURRENT_SOURCE_DIR}/unseen_binding.c
    COMMAND mpicc.${mpi} -DPROGRAM -g -O1 -Wall -Wextra -o ${folder}/unseen_binding ${CMAKE_CURRENT_SOURCE_DIR}/unseen_binding.c
            ${folder}/libmpifort.so -Wl,-rpath,${folder}
    DEPENDS unseen_binding.c
    COMMENT "Compiling unseen_binding for ${mpi}"
    VERBATIM)
  cairn_mpi_test(unseen_binding ${mpi} 2 fast --missing --said "a call from Fortran is missing" -- ${folder}/unseen_binding)
  list(APPEND binaries ${programs} ${folder}/unseen_binding)
  cairn_script_test(bindings ${mpi} fast 240 -n 2 -- ${programs})
endforeach()
