// Plan: how one instruction of a program is made to lead through a pad, a piece of memory of ours
// that does something (its *slot*), then what the overwritten instructions did, and jumps back.
//
// The jumps are `jmp rel32`, five bytes. Where the instruction is shorter, bytes behind it are
// needed, or must become part of the displacement as they are. What every plan keeps to:
// - A place that may be entered stays what it was, or becomes a jump that leads to a copy of what
//   was there. So return addresses, targets of longjmp, handlers and branches stay good.
// - Where several instructions are replaced by one jump, nothing enters at the second or later
//   (Code::entered). Yet a thread may have been interrupted there by a signal, and come back when
//   the handler returns. Each of these places therefore becomes a *guard*: a byte that traps. Who
//   sees the trap finds the place in the pad by Pad::entry_of() and sends the thread on.
// - Calls are copied so that they push the original return address, which no plan writes over. (A
//   processor with shadow stacks refuses that: not for such processes.)
// - Instructions at whose address the kernel looks, and those that trap, are never copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pads/code.h"
#include "pads/space.h"

namespace tracewell::pads {

enum class Kind : uint8_t {
  Direct,     // the jump has room in the instruction
  Several,    // in several instructions, all of which are copied into the pad
  ShortJump,  // a short jump leads to padding that holds the jump
  Punned,     // the last bytes of the displacement are those of the next instructions
  Successor,  // the same, the next instruction being replaced by a jump to its own copy
  Neighbour,  // a short jump leads to a jump that stands inside another instruction; that one is
              // replaced by a jump to its own copy
  Rider,      // the instruction is copied by another site's plan, in whose pad it gets a slot
  Trap,       // none of these: a trap, one byte
  None,       // not even that
};
inline constexpr Kind kKinds[] = {Kind::Direct,    Kind::Several,   Kind::ShortJump,
                                  Kind::Punned,    Kind::Successor, Kind::Neighbour,
                                  Kind::Rider,     Kind::Trap,      Kind::None};
const char* kind_name(Kind kind);

/// An instruction that is copied into a pad.
struct Moved {
  uint64_t address = 0;
  uint8_t length = 0;
  bool operator==(const Moved&) const = default;
};

/// A jump into a pad. Bytes of it may be the program's own.
struct Jump {
  uint64_t at = 0;            // its first byte
  uint8_t prefixes = 0;       // ahead of the opcode, without effect
  Pattern reach;              // where the pad may stand, all else being as it is
  Range window;               // as far as the copied instructions still reach what they name
  uint64_t pad = 0;           // where it stands
  uint32_t pad_bytes = 0;     // at most
  std::vector<Moved> moved;   // in order; what follows the last is where the pad goes on

  Range pad_range() const { return {pad, pad + pad_bytes}; }
};

struct Write {
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
};

struct Plan {
  uint64_t site = 0;
  Kind kind = Kind::None;
  std::string why;              // of Trap and None
  uint64_t host = 0;            // Rider: the site whose plan it is. None: the one that is in the
                                // way, 0 = none is
  std::vector<Jump> jumps;      // the site's own first. Trap, None, Rider: empty
  std::vector<Write> writes;    // the patch, by address
  std::vector<Write> relied;    // bytes that stand there already, and must not change meanwhile
  std::vector<uint64_t> guards; // places inside the patch that trap

  /// The site leads through a pad, its own or its host's.
  bool is_pad() const { return kind < Kind::Trap; }
  /// Is the instruction at this address copied into one of its pads? Its number, or nullopt.
  std::optional<size_t> copies(uint64_t address) const;
};

}  // namespace tracewell::pads
