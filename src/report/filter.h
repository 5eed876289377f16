// Which events a report has.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/entry.h"

namespace tracewell::report {

/// Hooks, some of them with certain subhooks only.
class HookSet {
 public:
  HookSet() = default;
  HookSet(std::initializer_list<uint16_t> hooks) {
    for (const uint16_t hook : hooks) add(hook);
  }

  bool empty() const { return hooks_.empty() && subhooks_.empty(); }
  void add(uint16_t hook) {
    if (hooks_.empty()) hooks_.resize(65536);
    hooks_[hook] = true;
  }
  void add(uint16_t hook, uint16_t subhook) { subhooks_.insert(pair_of(hook, subhook)); }
  bool contains(uint16_t hook, uint16_t subhook) const {
    return (!hooks_.empty() && hooks_[hook]) ||
           (!subhooks_.empty() && subhooks_.contains(pair_of(hook, subhook)));
  }

 private:
  static uint32_t pair_of(uint16_t hook, uint16_t subhook) {
    return static_cast<uint32_t>(uint32_t{hook} << 16 | subhook);
  }
  std::vector<bool> hooks_;  // by four digits
  std::set<uint32_t> subhooks_;
};

/// An event is taken when all that is given holds for it.
struct ReportFilter {
  HookSet hooks, without_hooks;  // empty = all, none
  std::set<uint64_t> threads;
  bool threads_excluded = false;  // `threads` are those that are left out
  std::set<int32_t> cpus;
  std::set<uint64_t> processes;
  std::vector<std::string> process_names;  // paths, or their last parts; beside `processes`
  /// Unix epoch, both inclusive. Events without time are taken.
  std::optional<int64_t> after_ns, before_ns;

  /// Nothing is given.
  bool everything() const;
  bool takes(const Entry& entry, bool has_time) const;
};

/// What stands behind the last slash.
std::string_view last_part(std::string_view path);

}  // namespace tracewell::report
