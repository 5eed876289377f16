// Code: what is known of a program's code before anything is written over it: where instructions
// begin, which places may be entered from elsewhere, and what nobody ever executes.
//
// A place is *entered* when execution may get there otherwise than from the instruction before it:
// - the target of a direct branch or call anywhere in the segment, be it known code or not;
// - behind a call (the callee returns, longjmp does, an unwinder looks) or a system call (a thread
//   sleeps there, its child begins there);
// - the start of a function, an endbr64, an entry that the caller names (landing pads of
//   exceptions, symbols);
// - an address that an instruction names, or a word of the data;
// - the entries of tables of distances from their own start (what compilers make of `switch`) and
//   of tables of addresses, both wherever an instruction names one;
// - what stands behind an instruction that goes elsewhere, and is not padding: something leads
//   there, even if it was not found;
// - each instruction of a function with an indirect jump that is not understood, that is, all but
//   jumps through a table that was found, or through a slot for another function's address.
// This errs towards more entered places, which costs choice, not safety. What it misses after all
// is caught by guards (plan.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/zeroed.h"
#include "pads/padding.h"
#include "pads/range.h"
#include "pads/sweep.h"

namespace tracewell::pads {

/// What may be kept of one Code for the next one of the same address. Both may be null.
struct Known {
  std::shared_ptr<const Sweep> sweep;
  std::shared_ptr<const Padding> padding;

  uint64_t memory_bytes() const {
    return (sweep ? sweep->memory_bytes() : 0) + (padding ? padding->memory_bytes() : 0);
  }
};

struct CodeInput {
  Area code;                      // a whole executable segment, as it is without any patch
  std::vector<Range> functions;   // from unwind tables or symbols; they may overlap
  std::vector<uint64_t> entries;  // further places that are entered
  std::vector<Area> data;         // readable data of the same image, relocated
  std::vector<Range> kept;        // never to be written, such as restartable sequences
  std::vector<uint64_t> kept_ends;  // nor the instructions that end at these
  std::function<bool()> stop;       // asked now and then: is nobody to know any more? May be empty
  Known known;                      // Code::known() of before, if it is of the same code still
};

/// Holds a copy of the code. Pages of it that are all zeros are none: they are not written to, and
/// take no memory, since a program may map as many as it likes. Changed by nothing but assume(), so
/// threads may share it otherwise.
class Code {
 public:
  explicit Code(const CodeInput& input);

  /// Nothing where it is too large to be kept.
  Known known() const { return may_be_kept_ ? Known{sweep_, padding_} : Known{}; }
  /// Why nothing is known of it after all; null where it is.
  const char* unknown() const { return unknown_; }
  Range range() const { return sweep_->range(); }
  /// From the address to the segment's end; empty when it is not inside.
  Bytes bytes_at(uint64_t address) const;
  /// An instruction of a function that was understood begins there.
  bool starts(uint64_t address) const { return has(address, kStart); }
  bool entered(uint64_t address) const { return has(address, kEntered); }
  /// Nops and int3s that execution never gets to.
  bool padding(uint64_t address) const { return has(address, kPadding); }
  bool kept(uint64_t address) const { return has(address, kKept); }
  /// It is in the middle of an instruction that was understood, and nothing leads there.
  bool inside(uint64_t address) const;
  /// Of the instruction that starts() there; 0 for others.
  uint8_t length(uint64_t address) const;
  /// Somebody knows that an instruction begins there, in code of which no function tells (made at
  /// run time, or written by hand): from now on it does, and nobody knows what follows it. False
  /// when known code says otherwise.
  bool assume(uint64_t address);

 private:
  friend class CodeAnalysis;
  static constexpr uint8_t kStart = Sweep::kStart, kEntered = Sweep::kEntered,
                           kPadding = Sweep::kPadding, kKept = Sweep::kKept;
  bool has(uint64_t address, uint8_t flag) const {
    if (!range().holds(address)) return false;
    return ((is_empty(address) ? kKept : flags_[address - range().start]) & flag) != 0;
  }
  bool is_empty(uint64_t address) const { return sweep_->is_empty(address); }

  std::shared_ptr<const Sweep> sweep_;
  std::shared_ptr<const Padding> padding_;
  bool may_be_kept_ = true;
  ZeroedBytes flags_;  // one for each byte: those of the sweep, and what the rest tells
  const char* unknown_ = nullptr;
};

}  // namespace tracewell::pads
