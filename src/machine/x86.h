// x86 register blocks in the order and numbering that gdbserver uses on Linux: its target
// description is a row of features, each adding registers at the end. Sizes of whole x86-64 blocks:
// 560 bytes (SSE), 816 (AVX), 2416 (AVX-512), and 4 more with protection keys.
#pragma once

#include <cstdint>
#include <string>

#include "model/registers.h"

namespace tracewell::machine {

/// Which optional features the processor (and the kernel) has. Core and SSE are always there.
struct X86Features {
  bool linux_abi = true;  // orig_rax (orig_eax)
  bool segments = true;   // fs_base and gs_base; x86-64 only
  bool avx = false;
  bool avx512 = false;  // implies avx
  bool pkeys = false;
};

RegisterLayout x86_64_layout(const X86Features& features);
RegisterLayout i386_layout(const X86Features& features);

/// target.xml of these features, with the types that GDB needs to show flags and vectors.
std::string x86_64_tdesc(const X86Features& features);
std::string i386_tdesc(const X86Features& features);

/// Places in every x86-64 block, whatever its features.
namespace x86_64 {
constexpr uint32_t kGprBytes = 8;
constexpr uint32_t kRax = 0, kRbx = 1, kRcx = 2, kRdx = 3, kRsi = 4, kRdi = 5, kRbp = 6, kRsp = 7;
constexpr uint32_t kR8 = 8, kR15 = 15, kRip = 16;  // numbers; offset = number * 8 up to here
constexpr uint32_t kEflags = 17, kCs = 18, kGs = 23, kSt0 = 24, kFctrl = 32, kXmm0 = 40;
constexpr uint32_t kMxcsr = 56, kOrigRax = 57, kFsBase = 58, kGsBase = 59;
constexpr uint32_t kRipOffset = 128, kEflagsOffset = 136, kSegmentsOffset = 140;
constexpr uint32_t kSt0Offset = 164, kFctrlOffset = 244, kXmm0Offset = 276, kMxcsrOffset = 532;
constexpr uint32_t kOrigRaxOffset = 536, kFsBaseOffset = 544, kGsBaseOffset = 552;
constexpr uint32_t kYmm0hOffset = 560, kXmm16Offset = 816, kYmm16hOffset = 1072;
constexpr uint32_t kK0Offset = 1328, kZmm0hOffset = 1392;
}  // namespace x86_64

}  // namespace tracewell::machine
