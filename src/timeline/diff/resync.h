// Behind a hole in a trace: where do two runs go on together? The registers tell, which are all
// known there; places alone do not, for a loop comes to the same ones in each of its rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "timeline/diff/bases.h"
#include "timeline/diff/diff.h"
#include "timeline/diff/flow.h"
#include "timeline/diff/registers.h"

namespace tracewell::timeline {

/// One run from where steps may be missing; not owned.
struct HoledRun {
  const DiffSide& side;
  uint64_t tid = 0;
  std::span<const Place> places;
  std::vector<size_t> holes;     // numbers of places with a hole in front of them, ascending
  std::optional<uint64_t> last;  // a step that is surely the same in both runs
  bool bitten_end = false;       // the last place is in front of the hole at the trace's end
};

/// Steps until both are in the same place with the same registers.
struct Resync {
  size_t a = 0, b = 0;
  bool goes_on = false;  // from there on they go the same way, as far as anybody looked
  bool sure = false;     // and that is so nowhere else
};

class Resyncer {
 public:
  static constexpr size_t kSight = 4096;  // places that are looked at behind a place in question

  /// Both must outlive this. `registers`: of the traces that find() is asked about.
  Resyncer(const Bases& bases, RegisterPairs& registers) : bases_(bases), registers_(registers) {}

  /// Looks at the first `window` places of each; the more of them in front of the first result, the
  /// more events are read. Registers that differ as modules and stacks do are the same, and so are
  /// those that were different already. None: nothing is the same, no registers are known, or
  /// too many were compared already.
  Result<std::optional<Resync>> find(const HoledRun& a, const HoledRun& b, size_t window);
  /// Are two steps, which the places say to be the same, of one moment by the registers in front of
  /// them, and of the steps behind them? None: none of those that are known in both runs differs,
  /// and they are too few to prove anything.
  Result<std::optional<bool>> same_moment(const HoledRun& a, const HoledRun& b, uint64_t seq_a,
                                          uint64_t seq_b);
  /// How many steps of all threads were read with their registers.
  uint64_t steps_read() const { return steps_read_; }
  bool is_spent() const { return registers_.is_spent(); }

 private:
  struct Known;  // what is the same of registers

  bool same_place(const Place& a, const Place& b) const;
  struct Way {
    size_t steps = 0;
    bool parts = false;  // they do not go together any more behind these
  };
  Way common_way(const HoledRun& a, const HoledRun& b, size_t at_a, size_t at_b,
                 size_t most) const;
  Status learn(const HoledRun& a, const HoledRun& b, Known& known);
  Result<std::vector<size_t>> find_others(const HoledRun& holed, const HoledRun& other, size_t at,
                                          bool holed_is_a, size_t window, Known& known);

  const Bases& bases_;
  RegisterPairs& registers_;
  uint64_t steps_read_ = 0;
};

}  // namespace tracewell::timeline
