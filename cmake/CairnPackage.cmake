# Packages of what is installed, for machines without a compiler: `cpack --config BUILD/CPackConfig.cmake` makes in
# BUILD/packages a .deb and a .tar.gz that runs wherever it is unpacked. Included last, when everything that is installed is known.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME cairn)
set(CPACK_PACKAGE_CONTACT "The Cairn authors <cairn@example.invalid>")
set(CPACK_PACKAGE_FILE_NAME cairn-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Every MPI call of every rank and thread, with every argument and outcome and
the line of source it came from, in one small file. The program is not rebuilt,
relinked or changed.")
# What the package needs is found out while it is made.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian.cmake)
set(CPACK_CAIRN_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(CPACK_CAIRN_LIBEXECDIR ${CMAKE_INSTALL_LIBEXECDIR})
set(CPACK_CAIRN_DATADIR ${CMAKE_INSTALL_DATADIR})
set(CPACK_CAIRN_DOCDIR ${CMAKE_INSTALL_DATADIR}/doc/cairn)
include(CPack)
