// Where two runs of a program part, and why. Steps are compared thread by thread, by where they
// are: modules may stand elsewhere, and loops may run more or less often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/stream.h"
#include "model/work.h"
#include "timeline/diff/bases.h"

namespace tracewell::timeline {

/// One of the two traces; not owned.
struct DiffSide {
  const StepIndex& steps;
  const Catalog& catalog;
};

struct DiffOptions {
  static constexpr size_t kWindow = 1 << 20, kWindowMax = 1 << 24;
  bool first = false;          // stop at the first difference
  bool ignore_loops = false;   // how often a loop runs is no difference
  size_t window = kWindow;     // steps in which the traces may meet again, but for exits of loops
  size_t look_back = 1 << 16;  // steps in which causes are looked for
  size_t most = 100;           // differences that are told
  bool ignore_values = false;  // look for no causes
  std::vector<std::string> ignore_registers;  // that are no causes, by name
  Work work;  // a stage "comparing", in steps of A
};

/// A step, by its number in its own trace.
struct Spot {
  uint64_t seq = 0;
  uint64_t pc = 0;
};

/// A value that was read by a step of both runs, and was not the same in them.
struct Cause {
  struct Side {
    Spot reader;
    uint64_t address = 0;         // of memory
    std::vector<uint8_t> value;   // in the trace's byte order; empty = not known
    std::optional<Spot> writer;   // the last step after which the values were different
    std::optional<uint64_t> writer_tid;  // of memory: if that was another thread
  };
  std::optional<uint32_t> reg;    // register, by index into A's layout; none = memory
  uint64_t flags = 0;             // of a flags register: the bits that were read
  Side a, b;
  std::optional<size_t> because;  // of what this cause's reader wrote: an earlier entry of the list
  /// An earlier difference of the thread, by its number in the list, that made the values differ:
  /// a cause of it, by number, was this very value; or else none, and the last to write it were
  /// steps that only one run has there (writers of that run alone).
  struct Earlier {
    size_t difference = 0;
    std::optional<size_t> cause;
  };
  std::optional<Earlier> earlier;  // none = nobody knows that there is one
};

/// Steps that a trace lacks.
struct Hole {
  uint64_t seq = 0;    // of the step behind them; as many as there are: at the end
  uint64_t count = 0;  // 0 = not known
};

struct Difference {
  enum class Kind : uint8_t {
    Parts,    // the runs go different ways
    Loop,     // a loop ran more often in one of them
    Ends,     // one has ended, the other goes on
    Missing,  // steps are missing just there, so that nobody knows
  };
  Kind kind = Kind::Parts;
  std::optional<Spot> branch_a, branch_b;  // the last steps that are the same: they decided
  std::optional<Spot> a, b;                // the first that are not; none = the trace has ended
  uint64_t only_a = 0, only_b = 0;         // steps until the runs meet again, or end
  std::optional<Spot> meet_a, meet_b;      // where they meet; none = they do not
  std::vector<Cause> causes;
  std::optional<Hole> hole_a, hole_b;      // Missing: at least one of them
  /// Loop, or Missing in a loop (the numbers of times are not 0 then): its first address, and how
  /// often it ran. Not exact: at least that often.
  uint64_t head_a = 0, head_b = 0, times_a = 0, times_b = 0;
  bool exact = true;
};

/// Threads are matched by the order of their first steps; behind a hole, by their ids where most of
/// them are the same. One that only one trace has is Missing when the other one lacks steps, or
/// when its only step is in front of a hole.
struct ThreadDiff {
  std::optional<uint64_t> tid_a, tid_b;  // none = there is no such thread
  uint64_t same = 0;                     // steps that have a counterpart
  uint64_t differing_code = 0;           // of these: with other instructions at the same place
  std::optional<Spot> code_a, code_b;    // the first of them
  std::vector<Difference> differences;
  uint64_t untold = 0;                   // differences beyond DiffOptions::most
  uint64_t undecided = 0;                // differences, told or not, that are Kind::Missing
  bool both_cut = false;                 // the end of both is missing: one of the differences
  /// Behind some holes, too many steps or registers had to be compared: where the runs go on was
  /// looked for nearby only, or not by registers.
  bool short_sighted = false;
  bool given_up = false;                 // the runs did not meet again
  uint64_t given_up_after = 0;           // steps of each that were looked at; 0 = all there are
};

struct DiffReport {
  /// Threads that were not compared; none = there is none in that trace.
  struct LeftOut {
    std::optional<uint64_t> tid_a, tid_b;
  };
  std::vector<ThreadDiff> threads;
  std::optional<LeftOut> left_out;  // DiffOptions::first: those that come next
  std::vector<Bases::Range> bases;
  /// All that is missing in each, unless the runs surely differ: where the first of it is, and how
  /// many steps.
  std::optional<Hole> missing_a, missing_b;
  /// Nothing is missing in either, and all that is there is the same.
  bool same() const;
  /// Not the same, but no more than missing steps may explain.
  bool undecided() const;
};

/// Reads both traces once, once more for each thread with many steps, and some dozens of times at
/// most for all others together; memory is bounded by the options, but for some words for each
/// thread and each hole, and some million places. Only steps count. `InvalidArgument` when the
/// traces are of different machines, or have no register of a name that is to be ignored.
Result<DiffReport> diff(const DiffSide& a, const DiffSide& b, const DiffOptions& options);

}  // namespace tracewell::timeline
