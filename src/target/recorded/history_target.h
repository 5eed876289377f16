// HistoryTarget: a recorded run of steps, in which a debugger goes forwards and backwards. Nothing
// runs: a breakpoint is a question to the history's index, and so is a watchpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "machine/described.h"
#include "model/catalog.h"
#include "symbols/image_map.h"
#include "target/recorded/history.h"
#include "target/recorded/recorded_target.h"
#include "target/target.h"
#include "target/time_travel.h"

namespace tracewell::target {

class HistoryTarget final : public Target, private Breakpoints, private TimeTravel {
 public:
  static constexpr Pid kPid = RecordedTarget::kPid;

  /// Begins before the first step. `history` must outlive it and have a step. `images`: what the
  /// user allowed, where it was mapped; memory that the history does not know comes from there.
  HistoryTarget(const Catalog& catalog, symbols::ImageMap images, History& history);

  std::vector<ProcessInfo> processes() const override { return still_.processes(); }
  /// All that the recording has, whether their first step is still to come or their last is over.
  std::vector<ThreadInfo> threads(Pid pid) const override;
  /// The catalog's registers as far as its description names them: those are what a debugger may
  /// ask for. A trace may have more.
  const RegisterLayout& layout(Pid) const override { return registers_.layout(); }
  const std::string& target_description(Pid) const override { return description_; }
  Endian endian() const override { return still_.endian(); }

  /// Before the thread's next step; of a thread that has none, before its last.
  Status read_registers(Tid tid, std::span<uint8_t> block) override;
  std::vector<uint8_t> known_registers(Tid tid) override;
  size_t read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) override;
  void read_known_memory(Pid pid, uint64_t address, std::span<uint8_t> bytes,
                         std::span<ByteState> states) override;
  /// Unsupported: what was, was.
  Status write_registers(Tid tid, Bytes block) override;
  Status write_memory(Pid pid, uint64_t address, Bytes bytes) override;

  Status resume(std::span<const ResumeAction> actions) override;
  /// Searches a while; nullopt = not found yet.
  Result<std::optional<StopEvent>> wait() override;
  Status interrupt() override;

  Breakpoints* breakpoints() override { return this; }
  TimeTravel* time_travel() override { return this; }
  ProcessFacts* facts() override { return still_.facts(); }
  Libraries* libraries() override { return still_.libraries(); }

  /// By step; for those who ask what is noted.
  void set_notes(std::vector<Note> notes) { notes_ = std::move(notes); }

  std::vector<ListedFile> files() const { return still_.files(); }
  /// As at the beginning: before the first step, without breakpoints.
  void rewind();

 private:
  struct Point {
    Kind kind;
    uint64_t address;
    uint32_t size;
    auto operator<=>(const Point&) const = default;
  };
  struct Place {  // where a run ends, and why
    uint64_t moment = 0;
    StopEvent event;
  };
  struct Found {  // where somebody wants to stop
    uint64_t moment = 0, step = 0, address = 0;
    Kind kind = Kind::Software;
  };
  /// What comes first of points_, as far as they were looked for. It holds at each moment from
  /// where the search began to what it has found: many steps search once.
  struct Search {
    bool back = false;
    uint64_t from = 0;
    std::set<Point>::const_iterator next;
    std::optional<Found> first;
  };
  struct Run {
    Tid tid = 0;
    bool back = false;
    bool steps = false;
    uint64_t range_start = 0, range_end = 0;
  };

  bool supports(Kind) const override { return true; }
  Status insert(Pid pid, Kind kind, uint64_t address, uint32_t size) override;
  Status remove(Pid pid, Kind kind, uint64_t address, uint32_t size) override;
  Status back(Tid tid, bool step) override;
  uint64_t moments() const override { return history_.count(); }
  uint64_t now() const override { return now_; }
  std::string note() const override;
  Status go_to(uint64_t moment) override;
  Tid next_thread() override;

  std::optional<uint64_t> recorded(Tid tid) const;
  Tid named(uint64_t recorded) const;
  Result<uint64_t> step_of(Tid tid);
  Status look(Tid tid);
  std::optional<Found> find(const Point& point, bool back);
  bool holds(const Search& search) const;
  bool is_searched();
  Place ahead();
  Place behind();
  Result<Place> step_ahead(Tid tid);
  Result<Place> step_behind(Tid tid);
  Result<Place> next_place();
  StopEvent event_at(uint64_t step, StopEvent::Kind kind, uint64_t address);

  RecordedTarget still_;
  std::string description_;
  History& history_;
  machine::DescribedRegisters registers_;
  std::vector<uint64_t> threads_;  // as recorded; what the debugger calls them is next
  std::vector<Tid> names_;
  std::set<Point> points_;
  std::vector<Note> notes_;
  uint64_t now_ = 0;
  std::optional<Run> run_;
  std::optional<Search> search_;  // goes when points_ change
  bool interrupted_ = false;
  StepIndex::Moment moment_;               // of looked_at_
  std::optional<uint64_t> looked_at_;
};

}  // namespace tracewell::target
