# Tests by directory scan:
#   tests/<folder>/*_test.cc   one gtest program test_<folder>, one ctest unit_<folder>; of a folder
#                              with many files some, unit_<folder>_<N>, each with a part of its
#                              tests. A folder with a room's name links what that room may see,
#                              another one all.
#   tests/<folder>/**/*.sh|py  one ctest each, <folder>_<name>; executable files only, so that a
#                              helper to be sourced is not mistaken for a test.
# Scripts get TRACEWELL_BIN, TRACEWELL_SOURCE and TRACEWELL_INFERIORS. What a test needs,
# tools/install_deps installs; none is skipped but those that need what is no Debian package.
# A script may say in its first ten lines `# timeout: SECONDS` (default 120), `# labels: live`,
# `# labels: timing` (it compares times: with a sanitizer it would compare the sanitizer's),
# `# labels: answers` (it starts hundreds of commands or programs. Sanitized, it would take up to
# minutes, and show what unit tests and fuzz targets show: only tools/long runs it sanitized),
# `# serial` (nothing else may run beside it), `# waits` (nearly all of its time it sleeps or waits
# for a deadline: it takes half the room of another test), `# skips` (when it prints
# `skipped: WHY`, ctest says so). Those in tests/live have the label live already, those in
# tests/house (the tools' own) the label tidy.

set(test_definitions
  TRACEWELL_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  TRACEWELL_BIN_DIR="${CMAKE_BINARY_DIR}/bin"
  TRACEWELL_INFERIORS_DIR="${TRACEWELL_INFERIORS_DIR}")
set(files_of_a_shard 15)
# Of the five places that tools/run_tests gives to all.
set(places_of_a_test 2)
# Of a build without sanitizers, on a quiet machine; others may be several times as slow.
set(timeout_times 1)
# What is to be fast, and is watched, is the product: to optimise each EXPECT as well takes minutes.
# (Without any, what tests and product both instantiate would be slow in the product.)
set(test_options "")
# With a sanitizer no time is watched, and it makes so much of each EXPECT that to optimise all of
# them takes four times as long as to translate them. Where tests run for long it pays.
set(tests_that_run_long fast formats pads target timeline traces)
if(TRACEWELL_SANITIZE)
  set(test_options -O0)
elseif(CMAKE_BUILD_TYPE MATCHES "^Rel")
  set(test_options -O1)
endif()
set(script_environment "")
set(test_sanitizer "")
# Memory that the sanitizer gives back to the kernel after some seconds is mapped anew.
set(asan_options strict_string_checks=1:allocator_release_to_os_interval_ms=-1)
# PATH: the distribution's own python3 first. A version manager's is a shell script that takes up to
# twenty times as long to start, and tests start hundreds.
set(tsan_options halt_on_error=1:suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp)
set(test_environment
  "PATH=/usr/bin:$ENV{PATH}"
  "TRACEWELL_BIN=${CMAKE_BINARY_DIR}/bin"
  "TRACEWELL_SOURCE=${CMAKE_SOURCE_DIR}"
  "TRACEWELL_INFERIORS=${TRACEWELL_INFERIORS_DIR}"
  "PYTHONDONTWRITEBYTECODE=1"
  "TRACEWELL_STRICT=1"  # what nobody has foreseen ends a server, which would tell of it and go on
  "ASAN_OPTIONS=${asan_options}:detect_stack_use_after_return=1"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "TSAN_OPTIONS=${tsan_options}")
if(TRACEWELL_SANITIZE)
  # Programs are ten times slower: scripts that run hundreds of them take some of their cases.
  list(APPEND test_environment "TRACEWELL_SANITIZED=1")
  # To look for leaks takes half of the time of a program that does little. Unit tests and fuzz
  # targets, which run the same code, look for them.
  # So it does to keep the frames of functions that have returned.
  set(script_environment "LSAN_OPTIONS=detect_leaks=0"
    "ASAN_OPTIONS=${asan_options}:detect_stack_use_after_return=0")
  set(timeout_times 5)
  string(REGEX REPLACE ",.*" "" test_sanitizer ${TRACEWELL_SANITIZE})
endif()
add_custom_target(unit_tests)
add_custom_target(threaded_tests)

function(add_unit_test folder sources)
  add_executable(test_${folder} ${sources})
  target_include_directories(test_${folder} PRIVATE ${CMAKE_SOURCE_DIR}/src
    ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(test_${folder} PRIVATE ${test_definitions})
  set(rooms ${folder})
  if(NOT folder IN_LIST TRACEWELL_ROOMS)
    set(rooms ${TRACEWELL_ROOMS})
  endif()
  foreach(room IN LISTS rooms)
    target_link_libraries(test_${folder} PRIVATE tracewell_${room}
      ${TRACEWELL_PACKAGES_${room}})
  endforeach()
  target_link_libraries(test_${folder} PRIVATE tracewell_options
    nlohmann_json::nlohmann_json GTest::gtest GTest::gtest_main)
  set(pch tracewell_test_pch)
  set(options ${test_options})
  if(TRACEWELL_SANITIZE AND folder IN_LIST tests_that_run_long)
    set(pch tracewell_long_test_pch)
    set(options -O1)
  endif()
  # The functions that pad_runs leads through pads are to be what compilers make of programs.
  if(NOT folder STREQUAL "pad_runs")
    target_compile_options(test_${folder} PRIVATE ${options})
  endif()
  set_target_properties(test_${folder} PROPERTIES TRACEWELL_SANITIZE "${test_sanitizer}")
  if(TRACEWELL_PCH AND NOT folder STREQUAL "pad_runs")
    target_precompile_headers(test_${folder} REUSE_FROM ${pch})
  endif()
  compile_together(test_${folder})
  # Those of machine say before they include what is tested whether that is of 32 bits; those that
  # count allocations have operators of their own.
  foreach(source IN LISTS sources)
    if(folder STREQUAL "machine" OR source MATCHES "allocation_test\\.cc$")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  # So that the longest ones are run on several cores.
  list(LENGTH sources files)
  math(EXPR shards "(${files} + ${files_of_a_shard} - 1) / ${files_of_a_shard}")
  set(tests unit_${folder})
  if(shards GREATER 1)
    set(tests "")
    foreach(shard RANGE 1 ${shards})
      list(APPEND tests unit_${folder}_${shard})
    endforeach()
  endif()
  # COST: the long ones begin first, also where no run before this one told how long they take.
  math(EXPR cost "900 + ${files}")
  set(shard 0)
  foreach(test IN LISTS tests)
    add_test(NAME ${test} COMMAND test_${folder})
    set_tests_properties(${test} PROPERTIES TIMEOUT 900 COST ${cost} LABELS unit
      PROCESSORS ${places_of_a_test} ENVIRONMENT
      "${test_environment};GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
    math(EXPR shard "${shard} + 1")
  endforeach()
  add_dependencies(test_${folder} inferiors)
  add_dependencies(unit_tests test_${folder})
  # Those that see everything may also run the program.
  if(TARGET tracewell AND (folder STREQUAL "cli" OR NOT folder IN_LIST TRACEWELL_ROOMS))
    add_dependencies(test_${folder} tracewell)
  endif()

  # Where threads meet: code or tests of the folder that start any.
  file(GLOB_RECURSE code ${CMAKE_SOURCE_DIR}/src/${folder}/*.cc)
  set(threaded FALSE)
  foreach(file IN LISTS code sources)
    file(STRINGS ${file} starts REGEX "std::j?thread|std::async|pthread_create" LIMIT_COUNT 1)
    if(starts)
      set(threaded TRUE)
    endif()
  endforeach()
  if(threaded)
    add_dependencies(threaded_tests test_${folder})
    set_property(TEST ${tests} APPEND PROPERTY LABELS threads)
  endif()
endfunction()

function(add_script_test script folder)
  get_filename_component(name ${script} NAME_WE)
  execute_process(COMMAND test -x ${script} RESULT_VARIABLE not_executable)
  if(not_executable)
    return()
  endif()
  head_comment(${script} timeout timeout)
  if(NOT timeout)
    set(timeout 120)
  endif()
  math(EXPR timeout "${timeout} * ${timeout_times}")
  head_comment(${script} labels labels)
  if(folder STREQUAL "live")
    list(APPEND labels live)
  elseif(folder STREQUAL "house")
    list(APPEND labels tidy)
  endif()
  set(test ${folder}_${name})
  add_test(NAME ${test} COMMAND ${script} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(${test} PROPERTIES TIMEOUT ${timeout} COST ${timeout}
    LABELS "script;${labels}"
    ENVIRONMENT "${test_environment};${script_environment}")
  file(STRINGS ${script} serial REGEX "^# serial" LIMIT_COUNT 1)
  if(serial)
    set_tests_properties(${test} PROPERTIES RUN_SERIAL TRUE)
  endif()
  file(STRINGS ${script} waits REGEX "^# waits$" LIMIT_COUNT 1)
  if(NOT waits)
    set_tests_properties(${test} PROPERTIES PROCESSORS ${places_of_a_test})
  endif()
  file(STRINGS ${script} skips REGEX "^# skips" LIMIT_COUNT 1)
  if(skips)
    set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endif()
endfunction()

function(add_test_pch target)
  add_library(${target} STATIC ${CMAKE_BINARY_DIR}/pch/empty.cc)
  target_link_libraries(${target} PRIVATE tracewell_options GTest::gtest)
  target_compile_definitions(${target} PRIVATE ${test_definitions})
  target_compile_options(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES TRACEWELL_SANITIZE "${test_sanitizer}")
  target_precompile_headers(${target} PRIVATE
    <algorithm> <filesystem> <fstream> <map> <memory> <optional> <string> <vector>
    <fmt/format.h> <gtest/gtest.h>)
endfunction()
if(TRACEWELL_PCH)
  add_test_pch(tracewell_test_pch ${test_options})
  if(TRACEWELL_SANITIZE)
    add_test_pch(tracewell_long_test_pch -O1)
  endif()
endif()

file(GLOB unit_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/*_test.cc
     ${CMAKE_SOURCE_DIR}/tests/*/*/*_test.cc)
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/*.sh
     ${CMAKE_SOURCE_DIR}/tests/*/*.py)
file(GLOB folders RELATIVE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/*)
foreach(folder IN LISTS folders)
  set(sources ${unit_sources})
  list(FILTER sources INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/tests/${folder}/")
  # A room's test waits for its room, while a tree is being built up.
  set(waits FALSE)
  if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/src/${folder} AND NOT folder IN_LIST TRACEWELL_ROOMS)
    set(waits TRUE)
  endif()
  if(sources AND NOT waits)
    add_unit_test(${folder} "${sources}")
  endif()
  set(folder_scripts ${scripts})
  list(FILTER folder_scripts INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/tests/${folder}/")
  foreach(script IN LISTS folder_scripts)
    add_script_test(${script} ${folder})
  endforeach()
endforeach()

# Checks of the tree itself.
foreach(check IN ITEMS check_layers tidy)
  if(EXISTS ${CMAKE_SOURCE_DIR}/tools/${check})
    add_test(NAME ${check} COMMAND ${CMAKE_SOURCE_DIR}/tools/${check})
    set_tests_properties(${check} PROPERTIES TIMEOUT 60 LABELS tidy
      PROCESSORS ${places_of_a_test})
  endif()
endforeach()
