// Components of this user's programs: what ctctrl shows and changes.
#pragma once

#include <tracewell/hook_layout.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/control/control.h"
#include "hooks/control/defaults.h"

namespace tracewell::hooks {

/// Where ctctrl -D puts logs: what `trcctl -d` said; /var/adm/ras/trc_ct for root,
/// $XDG_STATE_HOME/tracewell/trc_ct for others: state_path().
Result<std::string> default_component_folder(StateUse use = StateUse::Read);
/// What holds for components that come later: until the machine restarts, and for good.
/// Lines `KIND PATTERN KEY=VALUE…`; KIND is c (name), l (alias) or t (type).
Result<std::string> component_rules_path(bool for_good, StateUse use = StateUse::Read);

/// Of a component's buffer of a thread.
constexpr uint32_t kComponentSlots = 16;
constexpr uint64_t kComponentBufferMin = uint64_t{kComponentSlots} * TRACEWELL_PACKET_BYTES_MIN;
constexpr uint64_t kComponentBufferMax = uint64_t{kComponentSlots} * TRACEWELL_PACKET_BYTES_MAX;

/// What to change; the rest stays.
struct ComponentChange {
  enum class Memory : uint8_t { Off, On, Suspend, Resume };
  std::optional<Memory> memory;
  std::optional<bool> system;
  std::optional<uint32_t> memory_level, system_level;
  std::optional<uint64_t> buffer_bytes;

  /// As a rule has it; "" when it changes nothing.
  std::string rule() const;
};

/// A component of a process, in memory that it shares. All that it forked may have written to its
/// block: what the process has registered stands in a file, but for programs of releases before.
class Component {
 public:
  /// `process` is the name of its process's file, and `slot` which page of that it is; `start` is
  /// when the process began, and 0 where that is not known.
  Component(std::shared_ptr<uint8_t> page, std::string process, size_t slot,
            const tracewell_registration& registered, uint64_t start, uint64_t own_lost)
      : page_(std::move(page)),
        process_(std::move(process)),
        slot_(slot),
        registered_(registered),
        start_(start),
        own_lost_(own_lost) {}

  std::string name() const;
  std::string alias() const;
  std::string type() const;
  /// Its rings have it.
  std::span<const uint8_t> uuid() const { return registered_.uuid; }
  uint32_t pid() const;
  bool process_lives() const;
  /// The folder of its rings' folder.
  std::string folder() const;
  /// What commands write; whatever else stands there is not to be believed.
  const tracewell_component& block() const { return *at(); }
  /// Records of threads that could not make a buffer. A process that gave up its rights may clear
  /// the number in the block, so what the process itself counts counts, too.
  uint64_t lost() const { return std::max<uint64_t>(block().lost, own_lost_); }

  /// `control` is locked by the caller. What it had in buffers goes with memory off, and with
  /// another size.
  Status change(const ComponentChange& change);

 private:
  tracewell_component* at() const { return reinterpret_cast<tracewell_component*>(page_.get()); }
  void begin_rings();

  std::shared_ptr<uint8_t> page_;
  std::string process_;
  size_t slot_;
  tracewell_registration registered_;
  uint64_t start_;
  uint64_t own_lost_;
};

/// Of all processes, those that died with something in buffers included; by name, then process.
/// `changed`: processes whose blocks do not have what they registered.
Result<std::vector<Component>> all_components(std::set<uint32_t>* changed = nullptr);

struct DumpedLog {
  std::string path;
  std::string old;  // what the log that was there is called now; "" when there was none
};
/// Can a log have it? A program cannot register one that no log can have; in its block may stand
/// any.
bool is_component_name(std::string_view name);
/// Is it the name of a log that another dump has taken the place of?
bool is_old_dump(std::string_view name);
/// What is in the components' buffers goes to a log for each name, FOLDER/NAME; a log that is there
/// is renamed to NAME.~1~, or the next number that is free. Nothing in the buffers changes. The
/// logs that hold anything. A component is left out that has no name for a log.
Result<std::vector<DumpedLog>> dump_components(const std::vector<Component>& components,
                                                 const std::string& folder,
                                                 const std::string& command);

/// Removes what dead processes have left. How many processes that were.
Result<uint64_t> forget_dead_components();

}  // namespace tracewell::hooks
