# Run by cpack on the staged files, before it packs them (CairnPackage.cmake). For a .deb: the names and forms that
# Debian wants, and the packages that it needs, by dpkg-shlibdeps (dpkg-dev).
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(root ${CPACK_TEMPORARY_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})

file(RENAME ${root}/${CPACK_CAIRN_DOCDIR}/LICENSE ${root}/${CPACK_CAIRN_DOCDIR}/copyright)
file(CREATE_LINK copyright ${root}/${CPACK_CAIRN_DOCDIR}/LICENSE SYMBOLIC)
# Debian's zsh looks into a folder of its own.
file(RENAME ${root}/${CPACK_CAIRN_DATADIR}/zsh/site-functions ${root}/${CPACK_CAIRN_DATADIR}/zsh/vendor-completions)
file(GLOB pages ${root}/${CPACK_CAIRN_DATADIR}/man/man1/*.1)
if(pages)
  execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()

# Recording and reading need what is in Depends. What else there is needs libraries that few have: those of compressed
# arrays and of CUDA sources are recommended. The layer under PnetCDF belongs to the MPI that PnetCDF was built with:
# neither it nor an MPI is forced on anybody. Recorders and oracles find MPI in the program that they are loaded into.
file(GLOB_RECURSE all LIST_DIRECTORIES FALSE ${root}/bin/* ${root}/${CPACK_CAIRN_LIBDIR}/*.so)
file(GLOB recommended ${root}/${CPACK_CAIRN_LIBEXECDIR}/cairn/* ${root}/${CPACK_CAIRN_LIBDIR}/libcairn-arrays-read.so)
set(suggested ${root}/${CPACK_CAIRN_LIBDIR}/libcairn-arrays.so)
set(words)
list(REMOVE_ITEM all ${suggested} ${recommended})
foreach(file ${all})
  list(APPEND words -dDepends -e${file})
endforeach()
foreach(file ${recommended})
  list(APPEND words -dRecommends -e${file})
endforeach()
if(EXISTS ${suggested})
  list(APPEND words -dSuggests -e${suggested})
endif()
# It reads the name of a package from a file of that name, and nothing else in it.
set(scratch ${CPACK_TOPLEVEL_DIRECTORY}/shlibdeps)
file(WRITE ${scratch}/debian/control "Source: cairn\n\nPackage: cairn\nArchitecture: any\n")
execute_process(COMMAND dpkg-shlibdeps -O --ignore-missing-info -xcairn ${words}
  WORKING_DIRECTORY ${scratch} OUTPUT_VARIABLE found ERROR_VARIABLE said RESULT_VARIABLE status)
if(status)
  message(FATAL_ERROR "dpkg-shlibdeps (Debian package dpkg-dev): ${status}\n${said}")
endif()
foreach(kind Depends Recommends Suggests)
  string(TOUPPER ${kind} name)
  set(CPACK_DEBIAN_PACKAGE_${name} "")
  if(found MATCHES "shlibs:${kind}=([^\n]+)")
    set(CPACK_DEBIAN_PACKAGE_${name} "${CMAKE_MATCH_1}")
  endif()
endforeach()
# The headers of libclang's own compiler.
if(CPACK_DEBIAN_PACKAGE_RECOMMENDS MATCHES "libclang1-([0-9]+)")
  string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", libclang-common-${CMAKE_MATCH_1}-dev")
endif()
file(GLOB module ${root}/lib/python3/dist-packages/cairn/*.so)
if(module)
  string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", python3, python3-numpy")
  string(REGEX REPLACE "^, " "" CPACK_DEBIAN_PACKAGE_RECOMMENDS "${CPACK_DEBIAN_PACKAGE_RECOMMENDS}")
  string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ", python3-pandas, python3-matplotlib")
endif()
# Everybody has the C library, which Depends names. SimGrid is what cairn replay --simulate runs.
string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ", mpich | openmpi-bin, libsimgrid-dev")
string(REGEX REPLACE "^(libc6 [^,]*)?, " "" CPACK_DEBIAN_PACKAGE_SUGGESTS "${CPACK_DEBIAN_PACKAGE_SUGGESTS}")

# Programs are linked to the libraries of arrays and of GPU kernels: what knows where libraries are is told.
file(WRITE ${scratch}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${scratch}/triggers)
