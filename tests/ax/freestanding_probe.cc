// Everything of the room in one translation unit that has no libc: compiled by freestanding.sh.
#include "ax/disassemble.h"
#include "ax/interpret.h"
#include "ax/verify.h"

namespace {

struct Nothing {
  tracewell::Endian endian() { return tracewell::Endian::Big; }
  bool read_register(unsigned, uint64_t&) { return false; }
  bool read_memory(uint64_t, void*, size_t) { return false; }
  uint64_t get_variable(unsigned) { return 0; }
  void set_variable(unsigned, uint64_t) {}
  bool trace_memory(uint64_t, uint64_t) { return false; }
  bool trace_string(uint64_t, uint64_t) { return false; }
  bool trace_variable(unsigned) { return false; }
  bool print(uint64_t, uint64_t, const char*, std::span<const uint64_t>) { return false; }
};

}  // namespace

uint64_t probe(const uint8_t* code, size_t size, char* text) {
  using namespace tracewell::ax;
  const Code bytes(code, size);
  describe(verify(bytes, Purpose::Condition), text, 100);
  Instruction instruction;
  if (decode(bytes, 0, instruction) == Fault::None) disassemble(instruction, text, 100);
  Nothing nothing;
  return run(bytes, nothing).value + (find_opcode(text) != nullptr);
}
