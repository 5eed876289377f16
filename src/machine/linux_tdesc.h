// GDB takes an x86 program for one of Linux only when the target's description has the registers of
// Linux; without them it neither moves a program to where it was loaded nor asks for libraries.
#pragma once

#include <string>

namespace tracewell::machine {

/// A description with them. Unchanged when it has them, and when it is not one of x86.
std::string with_linux_registers(std::string description);

}  // namespace tracewell::machine
