# bin/tracewell, and bin/tracewell-gdbserver: the same file under a second name, whose command line
# is gdbserver's; and bin/aix/, the commands that stand in for AIX's under their own names, a folder
# for PATH. The program looks at argv[0].
# Which, the table of commands says: PROGRAM_NAME("trace", trace).
set(TRACEWELL_AIX_NAMES "")
set(commands ${CMAKE_SOURCE_DIR}/src/cli/commands.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${commands})
file(STRINGS ${commands} names REGEX "^PROGRAM_NAME")
foreach(line IN LISTS names)
  if(line MATCHES "^PROGRAM_NAME\\(\"([a-z]+)\"")
    list(APPEND TRACEWELL_AIX_NAMES ${CMAKE_MATCH_1})
  endif()
endforeach()
if(EXISTS ${CMAKE_SOURCE_DIR}/src/cli/main.cc)
  add_executable(tracewell src/cli/main.cc)
  target_include_directories(tracewell PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tracewell PRIVATE tracewell_options)
  foreach(room IN LISTS TRACEWELL_ROOMS)
    target_link_libraries(tracewell PRIVATE tracewell_${room})
  endforeach()
  target_link_libraries(tracewell PRIVATE ${TRACEWELL_PACKAGES_cli})
  set_target_properties(tracewell PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(aix_links "")
  foreach(name IN LISTS TRACEWELL_AIX_NAMES)
    list(APPEND aix_links COMMAND ${CMAKE_COMMAND} -E create_symlink ../tracewell aix/${name})
  endforeach()
  add_custom_command(TARGET tracewell POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink tracewell tracewell-gdbserver
    COMMAND ${CMAKE_COMMAND} -E make_directory aix
    ${aix_links}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/bin VERBATIM)
endif()
# main.cc appears later than the rest of a tree that is being built up.
file(GLOB _ CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/main.cc)
# `product`: what is installed, without tests.
add_custom_target(product)
if(TARGET tracewell)
  add_dependencies(product tracewell)
endif()
