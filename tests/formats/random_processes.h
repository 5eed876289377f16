// Random traces of several processes for property tests: events of all of them, and changes that
// tell of processes, programs, modules and threads; and beside it, what is so at each event.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/batch.h"
#include "model/catalog.h"
#include "model/change_text.h"
#include "model/process_table.h"
#include "model/stream.h"

namespace tracewell::formats::test {

/// All that is known of a process, in one line.
inline std::string who_is(const Process* process, bool has_ended) {
  if (process == nullptr) return "nobody";
  return fmt::format("{} {} {} {} {} {} {}{}", process->pid,
                     process->id ? process_id_text(*process->id) : "-",
                     process->start_ns ? std::to_string(*process->start_ns) : "-", process->parent,
                     process->host, process->boot, process->image, has_ended ? " ended" : "");
}

class RandomProcesses {
 public:
  static constexpr uint32_t kNumbers = 8;  // of processes, from 1

  /// An event that is no change, and whose it is.
  struct Counted {
    Event event;
    uint32_t process = 0;  // its own, or else its thread's
    uint32_t pid = 0;
    std::string who;
  };

  explicit RandomProcesses(uint32_t seed) : random_(seed) {
    catalog.machine = "x86-64";
    for (uint64_t n = below(4); n > 0; --n) {
      catalog.processes.push_back(process());
      known_[static_cast<uint32_t>(catalog.processes.size())] = catalog.processes.back();
    }
    for (uint64_t n = below(120); n > 0; --n) {
      if (below(3) == 0) make_change();
      else make_event();
    }
  }

  Catalog catalog;
  const Batch& events() const { return batch_; }
  const std::vector<Counted>& counted() const { return counted_; }
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  /// Pids are used again.
  Process process() {
    Process out;
    out.pid = static_cast<uint32_t>(below(5));
    if (below(2) != 0) out.id = ProcessId{random_(), random_()};
    if (below(2) != 0) out.start_ns = random_();
    if (below(2) != 0) out.parent = static_cast<uint32_t>(1 + below(kNumbers));
    if (below(2) != 0) out.host = "host\xff";
    if (below(2) != 0) out.boot = "0123456789abcdef";
    if (below(2) != 0) out.image = fmt::format("/bin/{}\"\n", below(9));
    return out;
  }

  Event& add(uint64_t tid, uint32_t process) {
    Event& event = batch_.add();
    event.seq = counted_.size();
    event.tid = tid;
    event.process = process;
    if (below(2) != 0) event.time_ns = static_cast<int64_t>(random_() >> 2);
    if (below(4) == 0) event.cpu = static_cast<int32_t>(below(4));
    return event;
  }

  void make_change() {
    using Kind = Change::Kind;
    Change change;
    change.kind = static_cast<Kind>(below(static_cast<uint64_t>(Kind::ThreadNamed) + 1));
    const auto of = static_cast<uint32_t>(1 + below(kNumbers));
    const uint64_t tid = 1 + below(6);
    switch (change.kind) {
      case Kind::ProcessKnown:
      case Kind::ProcessBegan:
      case Kind::ProcessRuns:
        change.process = batch_.keep(process());
        known_[of] = *change.process;
        ended_.erase(of);
        break;
      case Kind::ProcessEnded:
        if (known_.contains(of)) ended_.insert(of);
        break;
      case Kind::ModuleLoaded:
      case Kind::ModuleUnloaded:
        change.module = batch_.keep(
            Module{.path = "/lib/\xfe.so", .bias = below(9), .start = random_(), .build_id = "ab"});
        break;
      case Kind::ThreadBegan:
        threads_[tid] = of;
        break;
      case Kind::ThreadEnded:
        if (threads_.contains(tid) && threads_[tid] == of) threads_.erase(tid);
        break;
      case Kind::ThreadNamed:
        change.text = batch_.copy(std::string_view("a \"name\"\x01"));
        break;
    }
    add(tid, of).body = change;
  }

  void make_event() {
    Event& event = add(below(7), static_cast<uint32_t>(below(kNumbers + 1)));
    switch (below(3)) {
      case 0:
        event.body = Mark{batch_.copy(std::string_view("a mark"))};
        break;
      case 1:
        event.body = Lost{below(9), batch_.copy(std::string_view("why"))};
        break;
      default: {
        Hook hook;
        hook.id = static_cast<uint16_t>(below(UINT16_MAX));
        hook.type = static_cast<uint32_t>(below(9));
        event.body = hook;
      }
    }
    uint32_t whose = event.process;
    if (const auto thread = threads_.find(event.tid); whose == 0 && thread != threads_.end())
      whose = ended_.contains(thread->second) ? 0 : thread->second;
    const auto known = known_.find(whose);
    const bool is_known = known != known_.end();
    counted_.push_back({event, whose, is_known ? known->second.pid : 0,
                        who_is(is_known ? &known->second : nullptr, ended_.contains(whose))});
  }

  std::mt19937_64 random_;
  Batch batch_;
  std::vector<Counted> counted_;
  std::map<uint32_t, Process> known_;  // by now
  std::set<uint32_t> ended_;
  std::map<uint64_t, uint32_t> threads_;
};

/// "3 hook of 2: 47 - - 0 host …", of each event that is no change.
inline std::string story(const Event& event, uint32_t process, std::string_view who) {
  return fmt::format("{} {} of {}, thread {}: {}", event.seq, kEventKinds[event.body.index()],
                     process, event.tid, who);
}
inline std::vector<std::string> stories(const std::vector<RandomProcesses::Counted>& all) {
  std::vector<std::string> out;
  for (const auto& one : all) out.push_back(story(one.event, one.process, one.who));
  return out;
}

struct ReadProcesses {
  std::vector<std::string> stories, changes;
};
/// The same as a reader of the stream learns it, and all changes in words.
inline ReadProcesses read_processes(Source& source) {
  ReadProcesses out;
  ProcessTable table(source.catalog());
  Batch batch;
  for (auto more = source.next(batch); more.ok() && *more; more = source.next(batch)) {
    for (const Event& event : batch.events()) {
      table.learn(event);
      if (const auto* change = std::get_if<Change>(&event.body)) {
        out.changes.push_back(fmt::format(
            "{} {} thread {} cpu {} time {}: {} {}", event.seq, event.process, event.tid,
            event.cpu, event.time_ns.value_or(-1), change_name(change->kind),
            change_text(event, *change, table.pid(event.process))));
        continue;
      }
      const uint32_t process = table.process_of(event);
      out.stories.push_back(
          story(event, process, who_is(table.find(process), table.has_ended(process))));
    }
  }
  return out;
}

}  // namespace tracewell::formats::test
