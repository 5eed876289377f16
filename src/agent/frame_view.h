// What registers and memory look like while a trace frame is selected (tfind): only what was
// collected, and memory that cannot have changed.
#pragma once

#include <cstdint>
#include <string>

#include "agent/session.h"

namespace tracewell::agent {

/// The reply to `g`: the whole register block in hex, `xx` for what was not collected.
void read_frame_registers(Session& session, Reply& reply);

/// The same where no frame is selected and the target knows of no registers (a recorded trace): all
/// `xx`, but for a pc of 0, without which GDB refuses to connect.
void read_unknown_registers(Session& session, Reply& reply);

/// A block of registers in hex, `xx` for those that are not known (Target::known_registers()).
std::string registers_text(Bytes block, Bytes known, const RegisterLayout& layout);
bool is_known(Bytes known, const RegisterLayout& layout, const Register& one);

/// The reply to `m`: the collected bytes from `address` on, possibly fewer than `size`; from live
/// memory where that is read-only; else E01.
void read_frame_memory(Session& session, uint64_t address, uint64_t size, Reply& reply);

}  // namespace tracewell::agent
