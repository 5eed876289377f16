# tests/inferiors: tiny real programs, traced by the live tests. Always built by the system's cc and
# c++, unoptimised, as PIE with threads, whatever compiler and sanitizer the preset has. A file may
# say more in comments at its head:
#   // build: -no-pie -O2        further flags for the compiler
#   // libs: -ldl -lhelper       further libraries, after the source
# Files may include the product's C headers, as "ring/frame_ring.h". A file named lib*.c becomes the
# shared library lib*.so, built before the programs.

set(TRACEWELL_INFERIORS_DIR ${CMAKE_BINARY_DIR}/inferiors)
file(MAKE_DIRECTORY ${TRACEWELL_INFERIORS_DIR})
find_program(TRACEWELL_PLAIN_CC NAMES gcc cc REQUIRED)
find_program(TRACEWELL_PLAIN_CXX NAMES g++ c++ REQUIRED)
file(GLOB inferior_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/inferiors/*.c
     ${CMAKE_SOURCE_DIR}/tests/inferiors/*.cc ${CMAKE_SOURCE_DIR}/tests/inferiors/*.S)
file(GLOB inferior_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/inferiors/*.h
     ${CMAKE_SOURCE_DIR}/src/ring/*.h)
file(GLOB_RECURSE hook_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/*.h)
set(inferior_libraries "")
set(inferior_programs "")

# Sets `out` to what follows `// <word>:` in the first ten lines of the file.
function(head_comment source word out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} lines LIMIT_COUNT 10)
  set(found "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^(//|#) *${word}: *(.*)$")
      separate_arguments(found UNIX_COMMAND "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

foreach(is_library IN ITEMS TRUE FALSE)
  foreach(source IN LISTS inferior_sources)
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "^lib" AND NOT is_library OR NOT name MATCHES "^lib" AND is_library)
      continue()
    endif()
    head_comment(${source} build flags)
    head_comment(${source} libs libs)
    set(compiler ${TRACEWELL_PLAIN_CC})
    if(source MATCHES "\\.cc$")
      set(compiler ${TRACEWELL_PLAIN_CXX} -std=c++20)
    endif()
    if(is_library)
      set(output ${TRACEWELL_INFERIORS_DIR}/${name}.so)
      set(kind -fPIC -shared)
      list(APPEND inferior_libraries ${output})
      set(after "")
    else()
      set(output ${TRACEWELL_INFERIORS_DIR}/${name})
      set(kind -fPIE -pie)
      list(APPEND inferior_programs ${output})
      set(after ${inferior_libraries})
    endif()
    if(flags MATCHES "(^|;)(-static|-static-pie|-no-pie)(;|$)")
      set(kind "")
    endif()
    # The C library's start of a -static-pie does not stand a search path.
    set(search "-Wl,-rpath,$ORIGIN")
    if("-static-pie" IN_LIST flags)
      set(search "")
    endif()
    # Programs with trace hooks: `// libs: -lrts`.
    set(hooks "")
    if("-lrts" IN_LIST libs)
      set(folder lib)
      if("-m32" IN_LIST flags)
        set(folder lib32)
      endif()
      set(hooks -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_SOURCE_DIR}/include/tracewell/aix
        -L${CMAKE_BINARY_DIR}/${folder} -Wl,-rpath,${CMAKE_BINARY_DIR}/${folder})
      list(APPEND after hook_libraries ${hook_headers})
    endif()
    string(REGEX REPLACE "_32(\\.[a-z]+)$" "\\1" included ${source})
    if(NOT EXISTS ${included})
      set(included "")
    endif()
    add_custom_command(OUTPUT ${output}
      COMMAND ${compiler} -g -O0 ${kind} -pthread ${flags} -I${CMAKE_SOURCE_DIR}/src
              ${source} -o ${output}
              -L${TRACEWELL_INFERIORS_DIR} ${search} ${hooks} ${libs}
      DEPENDS ${source} ${included} ${inferior_headers} ${after}
      COMMENT "Inferior ${name}" VERBATIM)
  endforeach()
endforeach()
add_custom_target(inferiors ALL DEPENDS ${inferior_libraries} ${inferior_programs})
