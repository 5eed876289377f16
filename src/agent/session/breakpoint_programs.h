// Conditions and commands of breakpoints, as bytecode that the debugger sends with Z0 and Z1
// (manual, "Packets", and "Agent Expressions"). They run here at each hit, so that only the hits
// that the debugger's user waits for stop anything.
//
// What a hit does: if there are conditions and none is true, nothing. Then the commands, if there
// are any, and the thread goes on; without commands the debugger is told. A condition that cannot
// be evaluated counts as true, and the server's user is told why.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "agent/trace.h"
#include "base/bytes.h"
#include "base/result.h"
#include "target/target.h"

namespace tracewell::agent {

/// Outlives the session that filled it: commands may persist while no debugger is there.
class BreakpointPrograms final : public target::BreakpointFilter {
 public:
  /// Conditions and commands of all breakpoints; those that a fork's child has, too, count once.
  static constexpr uint64_t kBytesMax = 16 << 20;
  /// Breakpoints that have any.
  static constexpr size_t kEntriesMax = 65536;
  using Code = std::vector<uint8_t>;
  using Kind = target::Breakpoints::Kind;
  struct Program {
    std::vector<Code> conditions;
    std::vector<Code> commands;
    bool persist = false;  // the commands are for the time without a debugger, too
    bool operator==(const Program&) const = default;
  };

  /// Becomes the filter of the target's breakpoints, which it must have. `trace` has the trace
  /// state variables; may be null.
  BreakpointPrograms(target::Target& target, Trace* trace);
  ~BreakpointPrograms() override;
  BreakpointPrograms(const BreakpointPrograms&) = delete;
  BreakpointPrograms& operator=(const BreakpointPrograms&) = delete;

  using Say = std::function<void(std::string_view)>;
  /// A debugger has come: what persisted for the time without one is taken out. `notice` takes a
  /// line for the server's user, `print` what commands print; both may be empty.
  void attend(Say notice, Say print);
  /// It has gone; until the next one comes nobody is told of anything.
  void leave() { attended_ = false; }

  /// Replaces what was there; an empty program removes it. An error for bytecode that does not pass
  /// the verifier, and where all together are too long; then nothing changes.
  Status set(target::Pid pid, Kind kind, uint64_t address, Program program);
  void remove(target::Pid pid, Kind kind, uint64_t address);
  void forget(target::Pid pid);
  /// A fork's child has its parent's breakpoints. Limit: they would be too many, and it has none.
  Status copy(target::Pid parent, target::Pid child);
  bool persists(target::Pid pid, Kind kind, uint64_t address) const;
  bool any_persists() const;

  // BreakpointFilter
  bool decides(target::Pid pid, Kind kind, uint64_t address) const override;
  bool tell(target::HitContext& hit, Kind kind) override;

 private:
  class Host;
  using Key = std::tuple<target::Pid, Kind, uint64_t>;
  struct Entry {
    std::shared_ptr<const Program> program;
    bool complained = false;  // of its commands; once is enough
  };
  uint64_t bytes_without(const Entry& entry) const;
  bool holds(const Entry& entry, target::HitContext& hit);
  void run_commands(Entry& entry, target::HitContext& hit);
  void say(std::string_view line) const;

  Say notice_, print_;
  target::Target& target_;
  Trace* trace_;
  std::map<Key, Entry> entries_;
  uint64_t bytes_ = 0;  // of all programs
  bool attended_ = true;
};

}  // namespace tracewell::agent
