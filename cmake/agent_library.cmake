# The collector (collector.cmake) as a library, under our name and under that of gdbserver's own,
# which GDB's testsuite links: see docs/protocol/tracing.md. It needs nothing, not even libc.
file(CONFIGURE OUTPUT ${collector}_library.S @ONLY CONTENT [[
  .text
  .balign 64
  .globl tracewell_agent
  .type tracewell_agent, @object
tracewell_agent:
  .incbin "@collector@.bin"
  .size tracewell_agent, . - tracewell_agent
  .section .note.GNU-stack, "", @progbits
]])
set_source_files_properties(${collector}_library.S PROPERTIES OBJECT_DEPENDS ${collector}.bin)
foreach(name IN ITEMS tracewell-agent inproctrace)
  add_library(${name} SHARED ${collector}_library.S ${collector}.bin)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  target_link_options(${name} PRIVATE -nostdlib)
  add_dependencies(product ${name})
endforeach()
