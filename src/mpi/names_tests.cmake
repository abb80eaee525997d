# Addresses, modules and call sites: a library of the recorder, and its tests, which need no MPI. Included by
# CMakeLists.txt beside this file.
set(CAIRN_NAMES_SOURCES addresses.cc call_stack.cc device_memory.cc frame_rule.cc loaded_object.cc memory_map.cc
    ranges.cc sites.cc thread_stack.cc)
list(TRANSFORM CAIRN_NAMES_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/)

cairn_library(cairn_names ${CAIRN_NAMES_SOURCES} USES cairn_base)
target_link_libraries(cairn_names PUBLIC ${CMAKE_DL_LIBS})

if(NOT CAIRN_TESTS)
  return()
endif()

# Objects to open and close: with a build-id, without one, and a driver that knows one device allocation.
foreach(plugin with_id without_id)
  add_library(names_plugin_${plugin} MODULE ${CMAKE_CURRENT_LIST_DIR}/names_test_plugin.c)
  set_target_properties(names_plugin_${plugin} PROPERTIES PREFIX "" C_STANDARD 11)
endforeach()
target_link_options(names_plugin_with_id PRIVATE LINKER:--build-id=0x0123456789abcdef)
target_link_options(names_plugin_without_id PRIVATE LINKER:--build-id=none)
add_library(names_fake_driver SHARED ${CMAKE_CURRENT_LIST_DIR}/names_test_driver.c)
set_target_properties(names_fake_driver PROPERTIES C_STANDARD 11 OUTPUT_NAME names_fake_driver NO_SONAME ON)
target_link_options(names_fake_driver PRIVATE LINKER:-soname,libcuda.so.1)

cairn_test(ranges_test ${CMAKE_CURRENT_LIST_DIR}/ranges_test.cc SAMPLE USES cairn_names)
cairn_test(call_stack_test ${CMAKE_CURRENT_LIST_DIR}/call_stack_test.cc SAMPLE USES cairn_names)
cairn_test(sites_test ${CMAKE_CURRENT_LIST_DIR}/sites_test.cc USES cairn_names)
cairn_test(addresses_test ${CMAKE_CURRENT_LIST_DIR}/addresses_test.cc SAMPLE USES cairn_names)
foreach(test sites_test addresses_test)
  target_compile_definitions(${test} PRIVATE
    NAMES_PLUGIN_WITH_ID="$<TARGET_FILE:names_plugin_with_id>"
    NAMES_PLUGIN_WITHOUT_ID="$<TARGET_FILE:names_plugin_without_id>"
    NAMES_FAKE_DRIVER="$<TARGET_FILE:names_fake_driver>")
  add_dependencies(${test} names_plugin_with_id names_plugin_without_id names_fake_driver)
endforeach()
