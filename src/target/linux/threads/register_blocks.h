// Registers of a stopped thread: read when somebody asks for them, and written back when it goes
// on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "target/linux/threads/registers.h"
#include "target/linux/threads/tracee.h"

namespace tracewell::target::live {

/// The general registers. Whoever changes them says so in `regs_state`.
user_regs_struct& regs_of(Thread& thread);
void set_pc(Thread& thread, uint64_t pc);
/// Fails when the thread was killed.
Status flush_regs(Thread& thread);

/// All registers, as a debugger has them.
class RegisterBlocks {
 public:
  const RegisterMap& map_of(const Process& process) const { return map(process.space->is_32_bit); }
  const RegisterMap& map(bool is_32_bit) const { return is_32_bit ? map_32_ : map_64_; }
  const RegisterMap& map_of_64_bit() const { return map_64_; }

  Result<Bytes> read_xsave(Thread& thread);  // valid until the next call
  Status read(Thread& thread, std::span<uint8_t> block);
  Status write(Thread& thread, Bytes block);

 private:
  RegisterMap map_64_{RegisterMap::Program::Bits64};
  RegisterMap map_32_{RegisterMap::Program::Bits32};
  std::vector<uint8_t> xsave_;
};

}  // namespace tracewell::target::live
