// Thread ids behind a flag that denies them: recorders of x64dbg from 2017 to 2026 wrote them so.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/trace64/scan/look.h"

namespace tracewell::formats::trace64 {

/// Unclear: either reading makes sense, and nothing speaks for either; so it is read as it is
/// written.
enum class HiddenTid : uint8_t { No, Yes, Unclear };

/// For one that goes through a file from its beginning.
class HiddenTids {
 public:
  struct Question {
    uint64_t offset = 0;     // of the block, whose flag is clear
    uint32_t tid = 0;        // the thread so far
    bool announced = false;  // the block before said that another one follows
    bool faulty = false;     // such ids have been found in the file before
  };
  explicit HiddenTids(const Shape& shape) : shape_(shape) {}

  /// Is there an id in front of the opcode although the flag says no? To be asked only behind a
  /// flagged block and of full dumps. It is read as it is written if that leads to the next full
  /// dump, or to the end of the file, without a contradiction. `met_end` becomes true where a
  /// longer file might be answered otherwise.
  HiddenTid find(Bytes file, const Question& question, bool& met_end);
  /// Reading goes on elsewhere.
  void forget() {
    sound_to_ = 0;
    doomed_.clear();
  }

 private:
  class Way;
  bool leads_on(Bytes file, const Question& question, bool& met_end);
  bool leaves_zeros(Bytes file, const Question& question) const;

  Shape shape_;
  uint64_t sound_to_ = 0;         // up to here all is as it is written
  std::vector<uint64_t> doomed_;  // read as written from these offsets on, it leads nowhere
};

}  // namespace tracewell::formats::trace64
