// Signal numbers: the protocol has its own, the same for every machine (manual, "Stop Reply
// Packets"), shown in their order by GDB's `info signals`.
#pragma once

#include <optional>
#include <string_view>

namespace tracewell::rsp {

inline constexpr int kGdbSignalNone = 0;
inline constexpr int kGdbSignalUnknown = 143;

/// The protocol's number of an x86-64 Linux signal (1..64); kGdbSignalUnknown for SIGSTKFLT, which
/// GDB has no number for, and for anything else.
int gdb_signal_from_linux(int signal);
/// The Linux signal of a protocol number; nullopt when Linux has no such signal. 0 is 0.
std::optional<int> linux_signal_from_gdb(int signal);
/// "SIGINT", "SIG34", …; "?" for numbers out of range.
std::string_view gdb_signal_name(int signal);

}  // namespace tracewell::rsp
