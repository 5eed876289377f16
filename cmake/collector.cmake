# The collector (src/inproc/collect): one piece of position-independent code that is put into traced
# processes. It is linked by itself, to be refused where it needs anything, and then becomes bytes
# in the room that knows of it. Plain flags whatever the preset is: it runs inside programs of
# others.
enable_language(ASM)

make_sees_root(inproc)  # it has no library
set(collector_folder ${CMAKE_SOURCE_DIR}/src/inproc/collect)
add_library(collector_objects OBJECT ${collector_folder}/collect.c
            ${collector_folder}/rings.c ${collector_folder}/reads.c
            ${collector_folder}/vectors.c ${collector_folder}/copy.S)
target_include_directories(collector_objects PRIVATE ${TRACEWELL_SEES_ROOT}/inproc)
target_compile_options(collector_objects PRIVATE $<$<COMPILE_LANGUAGE:C>:
  -std=gnu11 -O2 -g0 -fPIC -ffreestanding -fno-builtin -fvisibility=hidden -fno-stack-protector
  -mgeneral-regs-only -mno-red-zone -fcf-protection=none -fno-asynchronous-unwind-tables
  -fno-jump-tables
  -Wall -Wextra -Wshadow>)
# The script is for GNU's linker, which is there with every compiler.
find_program(TRACEWELL_GNU_LD NAMES ld.bfd ld REQUIRED)
set(collector ${CMAKE_BINARY_DIR}/collector/collector)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/collector)
add_custom_command(OUTPUT ${collector}.bin
  COMMAND ${TRACEWELL_GNU_LD} -T ${collector_folder}/collector.ld -static -nostdlib
          --orphan-handling=error -o ${collector}.elf $<TARGET_OBJECTS:collector_objects>
  COMMAND ${CMAKE_OBJCOPY} -O binary ${collector}.elf ${collector}.bin
  DEPENDS collector_objects $<TARGET_OBJECTS:collector_objects> ${collector_folder}/collector.ld
  COMMAND_EXPAND_LISTS VERBATIM)
file(CONFIGURE OUTPUT ${collector}_bytes.S @ONLY CONTENT [[
  .section .rodata
  .balign 64
  .globl tracewell_collector_begin, tracewell_collector_end
tracewell_collector_begin:
  .incbin "@collector@.bin"
tracewell_collector_end:
  .byte 0
  .section .note.GNU-stack, "", @progbits
]])
set_source_files_properties(${collector}_bytes.S PROPERTIES OBJECT_DEPENDS ${collector}.bin)
target_sources(tracewell_fast PRIVATE ${collector}_bytes.S ${collector}.bin)
