// Which program a process runs, as its rings tell it, each in its first record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "formats/hooklog/stream.h"
#include "model/batch.h"
#include "model/problem.h"

namespace tracewell::formats {

/// Whoever is told of a process's program takes it for that of all hooks of the process from then
/// on. A process that gave up its rights can write another one into the rings that it has, and no
/// others: so it is told again in front of an event whose own ring says something else. Where its
/// program has ended, and another process has that number, what it writes there shows: of two
/// processes with one number in one PID namespace, all that the first one did comes before the
/// other's. Processes of two namespaces are not known from that.
class HooklogPrograms {
 public:
  explicit HooklogPrograms(ProblemLog& problems) : problems_(problems) {}
  /// A ring that the log has, before its events are asked for.
  void know(const HooklogRing& ring);

  /// Of the log's rings, and of their processes, so many are kept. Of more, a problem tells once.
  static constexpr size_t kMost = 65536;

  /// Adds a mark in front of the cursor's next event, where one is needed. true: it did; the event
  /// has no number and no time.
  bool add(const HooklogRing& ring, const HooklogCursor& next, Batch& batch);

 private:
  /// A number comes round more often in no log; a ring may say that it is another one each time.
  static constexpr size_t kRunsMost = 16;
  struct Runs {
    uint64_t now = 0;  // 0 = none yet
    std::array<uint64_t, kRunsMost> before{};
    size_t next = 0;
    bool told = false;
  };
  void look_at_order(const HooklogRing& ring);
  template <class Key>
  void keep(std::map<Key, std::string>& map, const Key& key, std::string_view program);
  void tell_many();

  ProblemLog& problems_;
  std::map<HooklogRing, std::string> own_;
  std::map<uint32_t, std::string> told_;  // by process
  std::map<uint32_t, uint64_t> first_runs_;
  std::map<uint32_t, Runs> several_;  // of processes with several
  bool differ_ = false;               // some programs do, of one process
  bool many_ = false;                 // there are more than are kept: that was told
};

}  // namespace tracewell::formats
