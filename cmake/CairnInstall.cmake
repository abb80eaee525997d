# What is installed besides what rooms install themselves; `cairn_shipped`, all that a user needs, without tests; and of that
# `cairn_recording`, which records MPI programs and reads traces. Runs after all rooms were added.
include_guard(GLOBAL)

function(cairn_install)
  add_custom_target(cairn_recording DEPENDS cairn)
  add_custom_target(cairn_shipped DEPENDS cairn_recording)
  set(shipped cairn-arrays cairn_arrays cairn-instrument cairn_gpu_library cairn_python cairn_reader_wasm)
  if(TARGET cairn_preload)
    add_dependencies(cairn_recording cairn_preload)
  endif()
  foreach(id ${CAIRN_MPIS})
    add_dependencies(cairn_recording cairn_recorder_${id})
    list(APPEND shipped cairn_oracle_${id})
  endforeach()
  foreach(target ${shipped})
    if(TARGET ${target})
      add_dependencies(cairn_shipped ${target})
    endif()
  endforeach()

  # The README's links lead to the others.
  install(FILES LICENSE README.md ARCHITECTURE.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
  include(CairnPackage)
endfunction()

cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL cairn_install)
