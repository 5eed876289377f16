// Hardware breakpoints and watchpoints: four address registers, and DR7 which switches them on
// (Intel's manual, volume 3, chapter 18). The same four in all threads of a process.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "target/linux/threads/thread_table.h"
#include "target/target.h"

namespace tracewell::target::live {

/// In all threads of the process that stand still. Limit when all four are in use.
Status insert_hardware(const ThreadTable& threads, Process& process, Breakpoints::Kind kind,
                       uint64_t at, uint32_t size);
Status remove_hardware(const ThreadTable& threads, Process& process, Breakpoints::Kind kind,
                       uint64_t at, uint32_t size);

// Of one that stands still.
void load_debug_registers(Thread& thread);
void clear_debug_registers(Thread& thread);
void renew_debug_registers(Thread& thread);
/// Which of `hardware` has stopped it since the last call: bit n for slot n.
uint64_t take_hit_registers(Thread& thread);

}  // namespace tracewell::target::live
