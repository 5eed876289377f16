# Compiler flags of everything that is ours. Set on a target and not globally, because the programs
# in tests/inferiors must stay plain whatever the preset is.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Assertions stay on in every build type: a release is optimised code with line tables, and no
# build type defines NDEBUG.
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")

# ccache does not trust precompiled headers unless told to.
if(CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache" OR NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        ${CCACHE_PROGRAM})
  endif()
endif()

set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_package(Threads REQUIRED)
add_library(tracewell_options INTERFACE)
target_compile_definitions(tracewell_options INTERFACE
  _GLIBCXX_ASSERTIONS TRACEWELL_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # g++ clears and copies structures of a few words with `rep stos`, which takes thirty cycles to
  # begin: an eighth of the time in which a trace is indexed.
  target_compile_options(tracewell_options INTERFACE
    -mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign
    -mmemcpy-strategy=unrolled_loop:512:noalign,libcall:-1:noalign)
endif()
# -Wno-restrict: g++ 12 warns falsely at `string = "x"` with -O2.
target_compile_options(tracewell_options INTERFACE -Wall -Wextra
  # Of files that are compiled together none means another's names.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang stamps a precompiled header with its time, which defeats ccache.
  $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
if(TRACEWELL_WERROR)
  target_compile_options(tracewell_options INTERFACE -Werror)
endif()
target_link_libraries(tracewell_options INTERFACE Threads::Threads)
# What is shared with programs that use our headers.
target_include_directories(tracewell_options INTERFACE ${CMAKE_SOURCE_DIR}/include)

# Programs of ours run as root on what others made, so what helps against a fault that nobody has
# found yet is on: docs/threat-model.md. Sanitizers do the same more strictly, and not together with
# this. What becomes part of others' programs (rts.cmake, collector.cmake) has flags of its own.
if(NOT TRACEWELL_SANITIZE)
  target_compile_options(tracewell_options INTERFACE -fPIE)
  target_link_options(tracewell_options INTERFACE -pie -Wl,-z,relro,-z,now)
  if(CMAKE_BUILD_TYPE MATCHES "^Rel")
    target_compile_options(tracewell_options INTERFACE
      -fstack-protector-strong -fstack-clash-protection -fcf-protection
      -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
endif()

# A target's property TRACEWELL_SANITIZE (address, undefined, thread, fuzzer-no-link) says where it
# is to be watched less than the rest.
if(TRACEWELL_SANITIZE)
  set(sanitizers ${TRACEWELL_SANITIZE})
  if(TRACEWELL_FUZZ)
    string(APPEND sanitizers ",fuzzer-no-link")
  endif()
  string(REPLACE "," "$<COMMA>" sanitizers "${sanitizers}")
  set(own $<TARGET_PROPERTY:TRACEWELL_SANITIZE>)
  target_compile_options(tracewell_options INTERFACE
    -fsanitize=$<IF:$<BOOL:${own}>,${own},${sanitizers}> -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  if(TRACEWELL_SANITIZE MATCHES "address.*undefined")
    # AddressSanitizer knows the sizes of objects better, and this takes a fifth of clang's time.
    target_compile_options(tracewell_options INTERFACE -fno-sanitize=object-size)
  endif()
  target_link_options(tracewell_options INTERFACE -fsanitize=${TRACEWELL_SANITIZE})
  if(TRACEWELL_SANITIZE MATCHES "address")
    # Position-independent programs relocate 800 000 words of the sanitizer's tables at each start:
    # a third of the time of a program that does little.
    target_compile_options(tracewell_options INTERFACE -fno-PIE)
    target_link_options(tracewell_options INTERFACE -no-pie)
  endif()
endif()
