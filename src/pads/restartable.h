// Restartable sequences (rseq, Linux's Documentation/userspace-api/rseq.rst): pieces of code that
// the kernel leads out of, to their abort handler, whenever a thread is interrupted inside. A jump
// out of one goes where the kernel sees nothing of that, and what the sequence was to do as a whole
// happens by halves. And a trap there is an interruption, each time.
//
// A thread names its sequence by the address of a descriptor (struct rseq_cs, <linux/rseq.h>): 32
// bytes at a multiple of 32 in its image's data. There is no list of them that all programs have
// (librseq and tcmalloc have the section __rseq_cs), but the kernel wants a signature in front of
// each abort handler, so that they can be told from other data.
//
// The kernel forgets the name when a thread that has given it is interrupted outside. So the
// instruction in front of a sequence, which gives it, must not be elsewhere either.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pads/code.h"

namespace tracewell::pads {

class RestartableSequences {
 public:
  /// Reads four bytes of code, which are in the range; 0 where that cannot be done.
  using ReadCode = std::function<uint32_t(uint64_t address)>;

  RestartableSequences(Range code, ReadCode read_code);
  /// Looks for descriptors there, at its multiples of 32.
  void look_at(const Area& data);

  /// Sequences, and signatures: what is never to be written. In order, and apart from each other.
  /// Data that names more than kRangesMax of them is not of this world; then it is all the code.
  const std::vector<Range>& ranges();
  /// In order. An instruction that ends at one of these belongs to the sequence.
  const std::vector<uint64_t>& starts();

  static constexpr size_t kRangesMax = size_t{1} << 16;

 private:
  void settle();

  Range code_;
  ReadCode read_code_;
  std::vector<Range> ranges_;
  std::vector<uint64_t> starts_;
  size_t settled_ = 0;  // of the ranges
  bool is_all_ = false;
};

}  // namespace tracewell::pads
