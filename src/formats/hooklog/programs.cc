#include "formats/hooklog/programs.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tracewell::formats {
namespace {

/// Also where its file was removed in between, as when a service is upgraded.
bool is_same_program(std::string_view one, std::string_view other) {
  constexpr std::string_view kDeleted = " (deleted)";
  for (std::string_view* const name : {&one, &other})
    if (name->ends_with(kDeleted)) name->remove_suffix(kDeleted.size());
  return one == other;
}

}  // namespace

void HooklogPrograms::tell_many() {
  if (std::exchange(many_, true)) return;
  problems_.add({std::nullopt, Problem::Severity::Warning, "many-processes",
                 fmt::format("the log has more than {} processes or rings: of the others it is not "
                             "told which programs they ran, nor whether two processes had one "
                             "number",
                             kMost)});
}

template <class Key>
void HooklogPrograms::keep(std::map<Key, std::string>& map, const Key& key,
                           std::string_view program) {
  if (map.size() < kMost || map.contains(key))
    map[key] = program;
  else
    tell_many();
}

void HooklogPrograms::know(const HooklogRing& ring) {
  if (ring.pid == 0) return;
  if (first_runs_.size() >= kMost && !first_runs_.contains(ring.pid)) return tell_many();
  const auto [at, fresh] = first_runs_.try_emplace(ring.pid, ring.run());
  if (!fresh && at->second != ring.run()) several_.try_emplace(ring.pid);
}

void HooklogPrograms::look_at_order(const HooklogRing& ring) {
  const auto found = several_.find(ring.pid);
  if (found == several_.end()) return;
  Runs& runs = found->second;
  const uint64_t run = ring.run();
  if (runs.now == run || runs.told) return;
  if (std::ranges::find(runs.before, run) != runs.before.end()) {
    runs.told = true;
    problems_.add({std::nullopt, Problem::Severity::Damage, "two-processes",
                   fmt::format("hooks of two processes with the number {} take turns: either they "
                               "ran in two PID namespaces (containers), or one of them has fired "
                               "hooks that are said to be the other's",
                               ring.pid)});
  } else if (runs.now != 0) {
    runs.before[runs.next++ % runs.before.size()] = runs.now;
  }
  runs.now = run;
}

bool HooklogPrograms::add(const HooklogRing& ring, const HooklogCursor& next, Batch& batch) {
  const uint32_t pid = next.pid();
  if (!several_.empty() && !next.is_loss()) look_at_order(ring);
  if (const auto program = next.program()) {
    const auto before = told_.find(pid);
    differ_ |= before != told_.end() && !is_same_program(before->second, *program);
    keep(own_, ring, *program);
    keep(told_, pid, *program);
    return false;
  }
  if (!differ_) return false;
  const auto own = own_.find(ring);
  if (own == own_.end()) return false;
  const auto told = told_.find(pid);
  if (told == told_.end() || is_same_program(told->second, own->second)) return false;
  told->second = own->second;
  next.tell_program(own->second, batch);
  return true;
}

}  // namespace tracewell::formats
