# librts: what programs with trace hooks link with, static and shared, and once more for 32-bit
# programs where the compiler can make them. Plain flags whatever the preset is: it runs inside
# programs of others. lib/ and lib32/ of the build folder.
file(GLOB rts_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/inproc/*.c)
set(rts_outputs "")
set(rts_flags -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O2 -g1 -fPIC
  -Wall -Wextra -Wshadow -fno-stack-protector)

try_compile(TRACEWELL_HAS_M32 ${CMAKE_BINARY_DIR}/has_m32
  SOURCES ${CMAKE_SOURCE_DIR}/cmake/empty.c
  COMPILE_DEFINITIONS -m32 LINK_OPTIONS -m32)

add_library(rts_objects OBJECT ${rts_sources})
add_library(rts SHARED $<TARGET_OBJECTS:rts_objects>)
add_library(rts_static STATIC $<TARGET_OBJECTS:rts_objects>)
set(rts_targets rts rts_static)
if(TRACEWELL_HAS_M32)
  add_library(rts32_objects OBJECT ${rts_sources})
  add_library(rts32 SHARED $<TARGET_OBJECTS:rts32_objects>)
  add_library(rts32_static STATIC $<TARGET_OBJECTS:rts32_objects>)
  target_compile_options(rts32_objects PRIVATE -m32)
  target_link_options(rts32 PRIVATE -m32)
  list(APPEND rts_targets rts32 rts32_static)
endif()
foreach(target IN LISTS rts_targets)
  set(folder lib)
  if(target MATCHES "^rts32")
    set(folder lib32)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME rts LINKER_LANGUAGE C
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
endforeach()
# Bound at once: a hook may be in a signal handler, where nothing may be looked up. And it stays
# when what was linked with it is unloaded: threads have rings, and a plugin may come back any
# number of times.
foreach(target IN ITEMS rts rts32)
  if(TARGET ${target})
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,nodelete)
  endif()
endforeach()
foreach(target IN ITEMS rts_objects rts32_objects)
  if(TARGET ${target})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/include
      ${CMAKE_SOURCE_DIR}/src)
    target_compile_options(${target} PRIVATE ${rts_flags})
  endif()
endforeach()
add_custom_target(hook_libraries DEPENDS ${rts_targets})
add_dependencies(product hook_libraries)
