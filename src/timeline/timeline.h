// Timeline: questions about a trace of steps that its index answers: who executed, touched and
// changed what, when, and what memory held at any moment.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files/beside.h"
#include "base/files/file.h"
#include "base/result.h"
#include "model/catalog.h"
#include "model/snapshot.h"
#include "model/stream.h"
#include "timeline/calls/open_calls.h"
#include "timeline/index/build.h"
#include "timeline/index/index_keeper.h"
#include "timeline/memory/cell_history.h"

namespace tracewell::timeline {

/// Bytes of memory, from `first` to `last` (inclusive, so that all of an address space fits).
struct AddressRange {
  uint64_t first = 0, last = 0;
};

/// Which accesses; bits. kOthers: steps that find bytes otherwise than they were known to be, also
/// beside an access: others have changed them.
enum AccessKinds : uint8_t { kReads = 1, kWrites = 2, kAccesses = kReads | kWrites, kOthers = 4 };

/// What a step finds otherwise than it was known to be.
struct ChangeByOthers {
  uint64_t address = 0;
  std::vector<uint8_t> old_bytes, new_bytes;  // as many
  /// It began in step `since` at the earliest, and was over before step `until`.
  uint64_t since = 0, until = 0;
};

struct TimelineOptions {
  /// Of the trace's own file. "" = the index is kept in memory.
  std::string sidecar;
  /// The trace's file: the sidecar has its owner and may be read by whom that may be read by. One
  /// that somebody else may have written is not believed (base/files/open.h, open_beside()), and
  /// none is written where somebody else could read it alone (base/files/beside.h).
  Original trace_file;
  int64_t trace_changed_ns = 0;  // time of its last change
  /// Told when the sidecar turns out to be damaged, and before it is made anew.
  std::function<void()> damaged;
  BuildOptions build;
};

/// The notes that were kept with the index of a trace, to be asked for before the trace is read.
struct KeptNotes {
  std::shared_ptr<const void> owner;
  Bytes notes;
  uint64_t trace_bytes = 0;  // of the trace that they are of; it may have grown since
};
/// nullopt when there is no index of this trace. `changed_ns` as in TimelineOptions.
std::optional<KeptNotes> read_notes(const std::string& sidecar, Bytes trace, int64_t changed_ns,
                                    const FileFacts& trace_file = {});

/// Immutable; any number of threads may ask. Steps are numbered as in the trace. "Next" means the
/// first one not less than `from`, "last" the last one less than `before`. Nothing reaches from one
/// session of recording into another, but for the searches, which look at the whole trace.
class Timeline {
 public:
  /// Takes the index of the sidecar if it is this trace's; builds it if it is not, or extends it
  /// if the trace has grown or it has other notes than those wanted, and writes it whole or not at
  /// all. `trace` is the file that `steps` reads.
  /// A sidecar that turns out to be damaged is made anew, when a question comes across that.
  /// Errors are those of reading the trace and of writing the sidecar.
  static Result<Timeline> open(const StepIndex& steps, const Catalog& catalog, Bytes trace,
                               const TimelineOptions& options);
  /// The index of the sidecar, if it is this trace's, and what it knows of executions, registers
  /// and threads is there and sound. Nothing is made, written or told. Of memory, calls and what is
  /// left out nothing is to be asked.
  static std::optional<Timeline> find(const StepIndex& steps, Bytes trace,
                                      const TimelineOptions& options);
  explicit Timeline(Index index) : keeper_(std::make_unique<IndexKeeper>(std::move(index))) {}

  uint64_t steps() const { return keeper_->now().steps(); }
  /// All of it, looked over for damage, also by `look`: its last call was with what is returned.
  const Index& whole_index(const std::function<void(const Index&)>& look = {}) const {
    return keeper_->whole(look);
  }
  /// There was damage, and the index could not be made anew: answers may be wrong.
  bool damaged() const { return keeper_->now().damaged->load(std::memory_order_relaxed); }

  std::optional<uint64_t> next_execution(AddressRange pcs, uint64_t from) const;
  std::optional<uint64_t> last_execution(AddressRange pcs, uint64_t before) const;

  /// Where instructions were executed at all, ascending.
  std::vector<uint64_t> executed(AddressRange pcs) const;

  std::optional<uint64_t> next_access(AddressRange bytes, uint8_t kinds, uint64_t from,
                                      uint64_t end = UINT64_MAX) const;
  std::optional<uint64_t> last_access(AddressRange bytes, uint8_t kinds, uint64_t before) const;
  /// At that step, by kReads or kWrites? Of accesses in large_accesses.h, the first bytes count.
  bool accesses_at(AddressRange bytes, uint8_t kinds, uint64_t step) const;

  /// All of them from `from` to before `end`, ascending, in one go over the range: for a few
  /// million steps at once (step_walk.h).
  std::vector<uint64_t> executions(AddressRange pcs, uint64_t from, uint64_t end) const;
  std::vector<uint64_t> accesses(AddressRange bytes, uint8_t kinds, uint64_t from,
                                 uint64_t end) const;

  /// Of any thread. `index` is the catalog's. By the instruction of the step; or, by others, since
  /// the thread's last step: who, nobody saw.
  std::optional<uint64_t> next_change(uint32_t index, ChangedBy by, uint64_t from,
                                      uint64_t end = UINT64_MAX) const;
  std::optional<uint64_t> last_change(uint32_t index, ChangedBy by, uint64_t before) const;
  /// At that step? Looks at nothing behind it.
  bool changes_at(uint32_t index, ChangedBy by, uint64_t step) const {
    return next_change(index, by, step, step + 1).has_value();
  }
  /// All by either, like executions().
  std::vector<uint64_t> changes(uint32_t index, uint64_t from, uint64_t end) const;

  /// What memory held before step `at` (steps() = behind the last one), and how each byte is known;
  /// those that are not known are 0. Others may write memory at each opening (docs/decisions/0015).
  /// Nothing of this reaches across a loss.
  void memory(uint64_t at, uint64_t address, std::span<uint8_t> bytes,
              std::span<ByteState> states) const;
  /// Can nobody but the recorded steps have written memory between the moments in front of two?
  bool sealed(uint64_t from, uint64_t to) const;
  /// By ascending address. Takes time in proportion to the range.
  std::vector<ChangeByOthers> changes_by_others(uint64_t step, AddressRange bytes) const;

  /// First step of the session that holds a step, and the one behind its last. There must be such a
  /// step.
  std::pair<uint64_t, uint64_t> session_of(uint64_t step) const;
  /// The same of stretches: what is known of memory in one says nothing of another. The moment
  /// behind the last step (steps()) is of that one's, or, where something is lost behind it, of an
  /// empty one.
  std::pair<uint64_t, uint64_t> stretch_of(uint64_t step) const;
  /// Steps behind a loss, and those that sessions begin with. The last one may be steps().
  std::span<const uint64_t> stretches() const { return stretches_; }

  /// 0 = none, or not known.
  uint64_t thread_of(uint64_t step) const;
  /// Between `from` and the other, which is excluded; nothing else is looked through.
  std::optional<uint64_t> next_step_of(uint64_t tid, uint64_t from,
                                       uint64_t end = UINT64_MAX) const;
  std::optional<uint64_t> last_step_of(uint64_t tid, uint64_t before, uint64_t from = 0) const;
  /// Ascending.
  std::vector<uint64_t> threads() const;
  /// The same, in the order of their first steps.
  std::vector<uint64_t> threads_as_they_came() const;
  /// How often a thread went on behind another's step, or begins a part of the index; if that is
  /// more than `most`, some number that is more, too.
  uint64_t thread_runs(uint64_t most) const;

  /// The calls that a thread is inside of at a step, of which there must be one (open_calls.h).
  OpenCalls open_calls(uint64_t step, uint64_t tid, size_t most) const;

  /// How often each address was executed, ascending, and by which step last (none: damage).
  struct Hits {
    uint64_t address = 0, count = 0;
    std::optional<uint64_t> last;
  };
  std::vector<Hits> address_hits() const;
  /// The same of whole basic blocks: instructions that are always executed one behind the other, as
  /// far as this trace knows. `last`: of the first instruction.
  struct BlockHits {
    uint64_t address = 0, size_bytes = 0, instructions = 0, count = 0;
    std::optional<uint64_t> last;
  };
  std::vector<BlockHits> block_hits() const;

 private:
  Timeline(Index index, IndexKeeper::Make make, IndexKeeper::Make make_whole)
      : keeper_(std::make_unique<IndexKeeper>(std::move(index), std::move(make),
                                              std::move(make_whole))) {}
  template <class Find>
  std::optional<uint64_t> next(uint64_t from, Find&& find, uint64_t end = UINT64_MAX) const;
  template <class Find>
  std::optional<uint64_t> last(uint64_t before, Find&& find, uint64_t from = 0) const;
  template <class Find>
  std::vector<uint64_t> all(uint64_t from, uint64_t end, Find&& find) const;
  template <class Visit, class Other>
  void each_cell(const Index& index, const Segment& segment, const AddressRange& range,
                 uint8_t kinds, Visit&& visit, Other&& other) const;

  std::unique_ptr<IndexKeeper> keeper_;
  /// As StepIndex::stretches(), and steps() where something is lost behind the last one.
  std::vector<uint64_t> stretches_;
};

}  // namespace tracewell::timeline
