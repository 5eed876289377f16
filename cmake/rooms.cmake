# Rooms: one static library for each line of LAYERS that has code under src/. Sources are globbed,
# so that a new format, packet or command touches no CMake file.
#
# All rooms share src/ as the root of their includes. To make a forbidden include fail at once, each
# room is compiled with a root of its own: sees/<room>/ in the build folder holds a link to each
# room that it may see, and nothing else. (tools/check_layers checks the same as a test, more
# strictly: what only an allowed room's header needs is linked here, and refused there.)

set(TRACEWELL_SEES_ROOT ${CMAKE_BINARY_DIR}/sees)

function(link_header_into from to)
  get_filename_component(folder ${to} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${from} ${to} SYMBOLIC)
endfunction()

# base/freestanding: the headers of base whose first line says so.
function(see_freestanding root)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/base/*.h)
  foreach(header IN LISTS headers)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(STRINGS ${header} first LIMIT_COUNT 1)
    if(first MATCHES "^// base/freestanding")
      get_filename_component(name ${header} NAME)
      link_header_into(${header} ${root}/base/${name})
    endif()
  endforeach()
endfunction()

function(make_sees_root room)
  set(root ${TRACEWELL_SEES_ROOT}/${room})
  file(REMOVE_RECURSE ${root})
  foreach(seen IN LISTS room TRACEWELL_SEES_${room})
    if(seen STREQUAL "base/freestanding")
      see_freestanding(${root})
    elseif(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/src/${seen})
      link_header_into(${CMAKE_SOURCE_DIR}/src/${seen} ${root}/${seen})
    endif()
  endforeach()
endfunction()

if(TRACEWELL_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/pch/empty.cc.new "// Carries the precompiled headers.\n")
  file(COPY_FILE ${CMAKE_BINARY_DIR}/pch/empty.cc.new ${CMAKE_BINARY_DIR}/pch/empty.cc
       ONLY_IF_DIFFERENT)
  add_library(tracewell_pch STATIC ${CMAKE_BINARY_DIR}/pch/empty.cc)
  target_link_libraries(tracewell_pch PRIVATE tracewell_options)
  set(TRACEWELL_PCH_HEADERS
    <algorithm> <array> <cstdint> <cstring> <functional> <map> <memory> <optional> <span> <string>
    <string_view> <utility> <variant> <vector> <fmt/format.h>)
  target_precompile_headers(tracewell_pch PRIVATE ${TRACEWELL_PCH_HEADERS})
endif()
# Rooms whose libraries take longer to read than the rooms' own files.
set(TRACEWELL_PCH_HEADERS_cli <filesystem> <nlohmann/json.hpp>)
set(TRACEWELL_PCH_HEADERS_render <nlohmann/json.hpp>)

# Many files are compiled at a time, in a fraction of the time: what only one of them knows has a
# name of its own among them (a rule of tidy's). Of formats each stands by itself, and has its
# kExtensions: together are the files of one folder, with the file that it is named for.
function(compile_together target)
  if(NOT TRACEWELL_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  if(target MATCHES "_formats$")
    get_target_property(files ${target} SOURCES)
    foreach(file IN LISTS files)
      string(REGEX REPLACE "^.*/(src|tests)/formats/([^/.]*).*" "\\2" format ${file})
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${format})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  endif()
endfunction()

foreach(room IN LISTS TRACEWELL_ROOMS)
  make_sees_root(${room})
  add_library(tracewell_${room} STATIC ${TRACEWELL_SOURCES_${room}})
  target_include_directories(tracewell_${room} PRIVATE ${TRACEWELL_SEES_ROOT}/${room})
  # Debuggers and TW_CHECK shall name the file where it really is.
  target_compile_options(tracewell_${room} PRIVATE
    -ffile-prefix-map=${TRACEWELL_SEES_ROOT}/${room}/=${CMAKE_SOURCE_DIR}/src/
    -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
  target_link_libraries(tracewell_${room} PUBLIC tracewell_options
    PRIVATE ${TRACEWELL_PACKAGES_${room}})
  foreach(dep IN LISTS TRACEWELL_DEPS_${room})
    string(REPLACE "/freestanding" "" dep ${dep})
    if(dep IN_LIST TRACEWELL_ROOMS)
      target_link_libraries(tracewell_${room} PUBLIC tracewell_${dep})
    endif()
  endforeach()
  if(NOT TRACEWELL_PCH OR "base/freestanding" IN_LIST TRACEWELL_SEES_${room})
    # What has no library may not have the names of one at hand.
  elseif(TRACEWELL_PCH_HEADERS_${room})
    target_precompile_headers(tracewell_${room} PRIVATE
      ${TRACEWELL_PCH_HEADERS} ${TRACEWELL_PCH_HEADERS_${room}})
  else()
    target_precompile_headers(tracewell_${room} REUSE_FROM tracewell_pch)
  endif()
  compile_together(tracewell_${room})
  # Sanitizers watch the commands as well as the rest; to optimise those as well takes minutes.
  if(TRACEWELL_SANITIZE AND room STREQUAL "cli")
    target_compile_options(tracewell_${room} PRIVATE -O0)
    set_target_properties(tracewell_${room} PROPERTIES TRACEWELL_SANITIZE ${TRACEWELL_SANITIZE})
  endif()
endforeach()

# `headers`: each header compiles by itself, in the room that it belongs to. One that has a source
# needs no compilation of its own: its source includes it before anything else (a rule of tidy's).
add_custom_target(headers)
foreach(room IN LISTS TRACEWELL_ROOMS)
  file(GLOB_RECURSE room_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src
       ${CMAKE_SOURCE_DIR}/src/${room}/*.h)
  set(checks "")
  foreach(header IN LISTS room_headers)
    string(REGEX REPLACE "\\.h$" ".cc" source ${CMAKE_SOURCE_DIR}/src/${header})
    if(EXISTS ${source})
      continue()
    endif()
    set(check ${CMAKE_BINARY_DIR}/headers/${header}.cc)
    file(CONFIGURE OUTPUT ${check} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND checks ${check})
  endforeach()
  if(checks)
    add_library(headers_${room} OBJECT EXCLUDE_FROM_ALL ${checks})
    target_include_directories(headers_${room} PRIVATE ${TRACEWELL_SEES_ROOT}/${room})
    target_link_libraries(headers_${room} PRIVATE tracewell_options ${TRACEWELL_PACKAGES_${room}})
    target_compile_options(headers_${room} PRIVATE -fsyntax-only)
    add_dependencies(headers headers_${room})
  endif()
endforeach()
