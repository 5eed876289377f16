// What a debugger is shown: the registers of the thread that it has selected; or, while a trace
// frame is selected (tfind), only what was collected, and memory that cannot have changed.
#pragma once

#include <cstdint>
#include <string>

#include "agent/session/session.h"
#include "model/snapshot.h"

namespace tracewell::agent {

/// Those of the selected frame, else of the current thread. NotFound: its target knows of none, as
/// where a recorded trace has no frame selected. Another error: they cannot be read.
Result<RegisterState> shown_registers(Session& session);

/// The reply to `g`: the whole block in hex, `xx` for what is not known.
std::string registers_text(const RegisterState& state, const RegisterLayout& layout);

/// The same where shown_registers() knows of none: all `xx`, but for a pc of 0, without which GDB
/// refuses to connect.
std::string no_registers_text(const RegisterLayout& layout, Endian endian);

/// The reply to `m`: the collected bytes from `address` on, possibly fewer than `size`; from live
/// memory where that is read-only; else E01.
void read_frame_memory(Session& session, uint64_t address, uint64_t size, Reply& reply);

}  // namespace tracewell::agent
