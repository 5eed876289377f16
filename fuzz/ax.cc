// Agent expressions: byte 0 chooses purpose, byte order and what memory is there, the rest is code.
// What the verifier accepted must not meet a fault that it is there to exclude; everything, also
// what it refused, must run and disassemble without touching anything that is not its own.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ax/disassemble.h"
#include "ax/interpret.h"
#include "ax/verify.h"

namespace {

using namespace tracewell;
using namespace tracewell::ax;

void require(bool good) {
  if (!good) std::abort();
}

struct Host {
  uint8_t mode;
  uint64_t variables[4] = {1, 2, 3, 4};

  Endian endian() const { return (mode & 2) != 0 ? Endian::Big : Endian::Little; }
  bool readable(uint64_t address) const { return (mode & 4) != 0 || address % 16 != 15; }
  bool read_register(unsigned number, uint64_t& value) const {
    value = uint64_t{number} * 0x0101010101010101;
    return number < 200;
  }
  bool read_memory(uint64_t address, void* to, size_t size) const {
    require(size == 1 || size == 2 || size == 4 || size == 8);
    std::memset(to, static_cast<int>(address), size);
    return readable(address);
  }
  uint64_t get_variable(unsigned number) const { return number < 4 ? variables[number] : 0; }
  void set_variable(unsigned number, uint64_t value) {
    if (number < 4) variables[number] = value;
  }
  bool trace_memory(uint64_t address, uint64_t size) {
    require(size > 0);
    return readable(address);
  }
  bool trace_string(uint64_t address, uint64_t max) {
    require(max > 0);
    return readable(address);
  }
  bool trace_variable(unsigned number) { return number < 200; }
  bool print(uint64_t, uint64_t, const char* format, std::span<const uint64_t> arguments) {
    uint64_t sum = std::strlen(format);
    for (const uint64_t argument : arguments) sum += argument;
    return sum != 0;
  }
};

bool excluded_by_verify(Fault fault) {
  switch (fault) {
    case Fault::None:
    case Fault::DivideByZero:
    case Fault::MemoryAccess:
    case Fault::RegisterAccess:
    case Fault::BudgetExceeded:
    case Fault::NotRecorded:
    case Fault::PrintFailed:
      return false;
    default:
      return true;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // An exact copy, so that the sanitizer sees a read of one byte too many.
  const std::vector<uint8_t> copy(data + 1, data + size);
  const Code code(copy);
  const Purpose purpose = (data[0] & 1) != 0 ? Purpose::Condition : Purpose::Action;
  const VerifyResult verdict = verify(code, purpose);
  char text[96];
  require(describe(verdict, text, data[0] % sizeof text) < sizeof text);

  Host host{data[0]};
  const Outcome outcome = run(code, host, 5000);
  if (verdict.ok()) {
    require(!excluded_by_verify(outcome.fault));
    require(purpose == Purpose::Action || !outcome.ok() || outcome.has_value);
  }
  Instruction instruction;
  for (size_t at = 0; decode(code, at, instruction) == Fault::None; at += instruction.size)
    require(disassemble(instruction, text, sizeof text) < sizeof text);
  return 0;
}
