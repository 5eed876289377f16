// User blocks of our own in x64dbg's traces: type 0xc0, a signature, a version, a kind. Each is
// about the step behind it, so that it stays true when steps in front of it are taken away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace tracewell::formats::trace64 {

constexpr uint8_t kOwnBlockType = 0xc0;
constexpr std::string_view kOwnSignature = "TRACEWEL";
constexpr uint8_t kOwnVersion = 1;

enum class OwnKind : uint8_t {
  Note = 1,     // UTF-8 text
  Unknown = 2,  // a bit a register, in the reader's order, least significant first: these are not
                // known from this step on, until a block lists one of their words
  Missing = 3,  // why instructions are missing in front of this step, UTF-8 text
  Pushes = 4,   // a PushOld: what the pushes are like in the session that stands in front of it;
                // with a byte 1 behind it: that the step behind it is of
  Accesses = 5,  // of this step: see state/told.cc
  Dump = 6,  // of a full dump: a byte, 1 if a session begins with it, 0 if none does; then, mostly,
             // a PushOld, as of Pushes, or kPushesNotSeen
  Module = 7,  // of the whole trace: see state/modules.cc
  Gap = 8,     // Step::gap_before; no data
  Process = 9,  // of all steps in front of it, where it is behind the last: see state/process.cc
};
constexpr uint8_t kOwnKindMax = 9;
constexpr uint8_t kPushesNotSeen = 0xff;
/// There may be one in front of every step, and who reads that one goes past it.
constexpr bool is_found_in_front(OwnKind kind) {
  return kind == OwnKind::Unknown || kind == OwnKind::Accesses || kind == OwnKind::Dump ||
         kind == OwnKind::Gap;
}
struct OwnBlock {
  OwnKind kind = OwnKind::Note;
  Bytes data;
};

/// What a block says of missing instructions: "7: why", "why" where they were not counted.
std::string missing_text(uint64_t count, std::string_view why);
/// Their number, 0 = not known; `text` becomes why.
uint64_t take_missing_count(std::string_view& text);

/// nullopt: it is not ours, or of a later version.
std::optional<OwnBlock> read_own_block(uint8_t type, Bytes user_data);
/// Of a block of ours that read_own_block() does not know: what it is. "": it does, or it is not
/// ours.
std::string unknown_own_block(uint8_t type, Bytes user_data);
/// A whole block, with its head.
void append_own_block(std::vector<uint8_t>& out, OwnKind kind, Bytes data);

}  // namespace tracewell::formats::trace64
