// How the frame section of one trace file is read: the bytes, and all that it takes to make sense
// of them. The walk over it is the same for the index and for the events.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "formats/tfile/trailer.h"
#include "model/catalog.h"
#include "rsp/frames.h"

namespace tracewell::formats {

/// Program counters of frames without registers: a tracepoint at one place, which does not step,
/// can have been hit nowhere else. (GDB and gdbserver guess by the same rule.)
class TfileKnownPcs {
 public:
  TfileKnownPcs() = default;
  explicit TfileKnownPcs(const std::vector<TracepointDef>& tracepoints);
  std::optional<uint64_t> find(int32_t tracepoint) const;

 private:
  std::vector<std::pair<int32_t, uint64_t>> pcs_;  // ascending
};

struct TfileFrames {
  Bytes file;
  uint64_t begin = 0;  // of the first frame, in the file
  Endian endian = Endian::Little;
  uint32_t register_block_bytes = 0;
  std::optional<uint32_t> pc_index;
  uint32_t pc_offset = 0;  // in a register block
  uint32_t pc_bytes = 0;   // 0 = no program counter that fits a number
  TfileKnownPcs known_pcs;
  std::optional<TfileTrailer> trailer;

  /// One frame, found but not looked into.
  struct Place {
    uint64_t offset = 0;  // of its header, in the file
    int16_t tracepoint = 0;
    uint32_t size = 0;  // of its data

    uint64_t data() const { return offset + rsp::kFrameHeaderBytes; }
    uint64_t end() const { return data() + size; }
  };
  /// The frame at `offset`. nullopt at the end: a zero tracepoint number, too few bytes for a
  /// header, or for what it announces.
  std::optional<Place> place_at(uint64_t offset) const;
  Bytes data(const Place& place) const { return file.subspan(place.data(), place.size); }
  rsp::BlockWalker walk(const Place& place) const {
    return {data(place), register_block_bytes, endian};
  }
  /// Where in a frame's data the first register block's bytes are (0 = there is none), and whether
  /// all blocks are sound. For the index, which does this a million times: BlockWalker without the
  /// blocks.
  struct Skim {
    size_t registers = 0;
    bool sound = true;
  };
  Skim skim(Bytes data) const;
  /// `registers`: the frame's block, or empty.
  std::optional<uint64_t> pc(uint64_t seq, int16_t tracepoint, Bytes registers) const;
  /// The same from the frame itself.
  std::optional<uint64_t> pc(uint64_t seq, const Place& place) const;
};

/// How well frames parse under these settings: how many of the first `limit` are sound, plus a good
/// deal if the walk ended where it should.
uint64_t tfile_plausibility(const TfileFrames& frames, uint64_t limit = 64);

}  // namespace tracewell::formats
