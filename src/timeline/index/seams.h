// Seams: changes of registers, and openings, that no segment shows by itself, because they fell
// between a thread's last step in one and its first in another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/stream.h"
#include "timeline/index/segment.h"
#include "timeline/index/segment_builder.h"

namespace tracewell::timeline {

/// Goes over the segments of a trace in order, then looks at the trace itself: nobody keeps the
/// registers of all threads meanwhile.
class Seams {
 public:
  /// Segments of one session have the same number; nothing of another session holds.
  void begin_session(uint64_t session);
  /// A new segment. `losses`: as of a SegmentBuilder, steps from where it begins. Returns whether
  /// another thread begins it than that which did the session's step before.
  bool take(uint64_t first, std::span<const SegmentBuilder::ThreadSpan> threads,
            const std::optional<std::pair<uint32_t, uint32_t>>& losses);
  /// One whose seams are known, as far as they do not lead to new ones. Its bytes outlive this.
  void take_over(const Segment& segment);

  /// Reads on both sides of all seams.
  Status look(const StepIndex& steps, const Catalog& catalog);
  /// After that: the table for a segment (Segment::seams); empty when there is nothing to tell.
  Pieces table(uint64_t first, uint64_t end) const;
  /// And whether a segment begins where the step before, of the same thread, does not lead.
  bool led_elsewhere(uint64_t first) const { return led_elsewhere_.contains(first); }

 private:
  /// A thread's last step in a segment, and the next one in another.
  struct Seam {
    uint64_t last = 0, next = 0;
    bool lost = false;  // nobody knows all that happened between them
  };
  struct Change {
    uint64_t step = 0;
    uint32_t key = 0;
    auto operator<=>(const Change&) const = default;
  };
  /// Of a segment that was taken over: a few bytes may say of each step that it changed each
  /// register, so that what they say is not spelled out.
  struct Known {
    uint64_t count = 0;  // of steps
    Bytes table;
  };
  void note_last(uint64_t step, uint64_t tid);
  void compare(const Seam& seam, const Step& last, const Step& next, const Catalog& catalog);
  void look_for_opening(const Seam& seam, const Step& last, const Step& next,
                        const machine::FlowDecoder& decoder);

  uint64_t session_ = UINT64_MAX;
  uint64_t loss_end_ = 0;                    // behind the last loss
  std::map<uint64_t, uint64_t> last_steps_;  // by thread
  std::optional<std::pair<uint64_t, uint64_t>> last_;  // of all steps of the session; its thread
  std::vector<Seam> seams_;
  std::vector<Change> changes_;
  std::map<uint64_t, Known> known_;  // by the segment's first step
  std::set<uint64_t> led_elsewhere_;  // steps
};

}  // namespace tracewell::timeline
