# The PnetCDF that is installed, and the MPI that it was built with: programs must use both or neither.
#
#   CAIRN_PNETCDF_FOUND     whether there is one and its MPI is in CAIRN_MPIS; the others are set only then
#   CAIRN_PNETCDF_INCLUDE   folder of pnetcdf.h
#   CAIRN_PNETCDF_LIBRARY   path of the shared library
#   CAIRN_PNETCDF_MPI_ID    an id of CAIRN_MPIS ("mpi-40")
#   CAIRN_PNETCDF_MPICC     that MPI's compiler wrapper
#
# Look for another one with -DCMAKE_PREFIX_PATH. The room spec comes first: it sets CAIRN_MPIS.
include_guard(GLOBAL)

# cairn_pnetcdf_mpi(LIBRARY VAR): the sonames in LIBRARY's NEEDED entries say which MPI of CAIRN_MPIS it uses; VAR is that
# one's id or empty.
function(cairn_pnetcdf_mpi library variable)
  set(${variable} "" PARENT_SCOPE)
  find_program(readelf NAMES ${CMAKE_READELF} readelf NO_CACHE)
  if(NOT readelf)
    return()
  endif()
  execute_process(COMMAND ${readelf} -d -W ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  foreach(id ${CAIRN_MPIS})
    string(FIND "${dynamic}" "[${CAIRN_MPI_${id}_SONAME}]" at)
    if(NOT at EQUAL -1)
      set(${variable} ${id} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(cairn_find_pnetcdf)
  set(CAIRN_PNETCDF_FOUND FALSE CACHE INTERNAL "")
  find_path(include NAMES pnetcdf.h NO_CACHE)
  find_library(library NAMES libpnetcdf.so NO_CACHE)
  if(NOT include OR NOT library)
    message(STATUS "PnetCDF: not found (libpnetcdf-dev): no layer over it, and no programs that use it")
    return()
  endif()
  cairn_pnetcdf_mpi(${library} id)
  if(NOT id)
    message(STATUS "PnetCDF: ${library} uses none of this build's MPIs (${CAIRN_MPIS}): left out")
    return()
  endif()
  set(CAIRN_PNETCDF_FOUND TRUE CACHE INTERNAL "")
  set(CAIRN_PNETCDF_INCLUDE ${include} CACHE INTERNAL "")
  set(CAIRN_PNETCDF_LIBRARY ${library} CACHE INTERNAL "")
  set(CAIRN_PNETCDF_MPI_ID ${id} CACHE INTERNAL "")
  set(CAIRN_PNETCDF_MPICC ${CAIRN_MPI_${id}_CC} CACHE INTERNAL "")
  message(STATUS "PnetCDF: ${library}, built with ${CAIRN_MPI_${id}_SONAME} (${CAIRN_PNETCDF_MPICC})")
endfunction()

cairn_find_pnetcdf()
