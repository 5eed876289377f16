// Restartable sequences (rseq, Linux's Documentation/userspace-api/rseq.rst): pieces of code that
// the kernel leads out of, to their abort handler, whenever a thread is interrupted inside. A jump
// out of one goes where the kernel sees nothing of that, and what the sequence was to do as a whole
// happens by halves. And a trap there is an interruption, each time.
//
// A thread names its sequence by the address of a descriptor (struct rseq_cs, <linux/rseq.h>): 32
// bytes at a multiple of 32 in its image's data. There is no list of them that all programs have
// (librseq and tcmalloc have the section __rseq_cs), but the kernel wants a signature in front of
// each abort handler, so that they can be told from other data.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pads/code.h"

namespace tracewell::pads {

/// Reads four bytes of code, which are in the range; 0 where that cannot be done.
using ReadCode = std::function<uint32_t(uint64_t address)>;

/// Those of this code whose descriptors stand in `data`, and their signatures, as what is never to
/// be written. In no order.
std::vector<Range> restartable_sequences(Range code, const ReadCode& read_code,
                                         std::span<const Area> data);
std::vector<Range> restartable_sequences(const Area& code, std::span<const Area> data);

}  // namespace tracewell::pads
