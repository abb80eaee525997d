# What is installed besides what rooms install themselves, and `cairn_shipped`: all that a user needs, without tests.
# Runs after all rooms were added.
include_guard(GLOBAL)

function(cairn_install)
  add_custom_target(cairn_shipped)
  set(shipped cairn cairn-arrays cairn-instrument cairn_preload)
  foreach(id ${CAIRN_MPIS})
    list(APPEND shipped cairn_recorder_${id} cairn_oracle_${id})
  endforeach()
  foreach(target ${shipped})
    if(TARGET ${target})
      add_dependencies(cairn_shipped ${target})
    endif()
  endforeach()

  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
          OPTIONAL)
endfunction()

cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL cairn_install)
