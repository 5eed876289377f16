// Fast sites in live processes: memory that we share with one, code that we put there, pads; and
// threads that are stopped in the middle of all that.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/share_of_time.h"
#include "target/fast_sites.h"
#include "target/linux/core.h"
#include "target/linux/fast/fast_code.h"
#include "target/linux/fast/filling.h"
#include "target/linux/stops/one_by_one.h"
#include "target/linux/stops/owner.h"
#include "target/linux/stops/ticker.h"

namespace tracewell::target::live {

/// A part of the Tracer, which it belongs to.
class LiveFastSites final : public FastSites {
 public:
  /// All threads stand still as long as it lives. Not inside of wait().
  struct Still {
    explicit Still(LiveFastSites& all);
    ~Still();
    LiveFastSites& sites;
  };

  /// One thread of this memory stands still as long as it lives, at a place where it can run system
  /// calls for us; all do where none can be had otherwise. The program may end meanwhile, or run
  /// another one: `thread` is null then.
  struct One {
    One(LiveFastSites& all, Pid pid);
    ~One();
    LiveFastSites& sites;
    std::shared_ptr<AddressSpace> space;
    Thread* thread = nullptr;
    std::optional<Still> all_still;
  };

  LiveFastSites(Core& core, OneByOne& one_by_one, Owner& owner);
  ~LiveFastSites() override;
  Result<Processor> processor(Pid pid) override;
  Conduct conduct(Pid pid) override;
  Result<uint64_t> learn_handlers(Pid pid) override;
  Mended mended(Pid pid) override;
  std::vector<Range> readable(Pid pid) override;
  Result<Shared> share(Pid pid, uint64_t bytes, std::span<const Call> calls) override;
  void populate(Pid pid, const std::vector<Range>& ranges) override;
  void hurry(std::chrono::microseconds pause) override;
  std::vector<ThreadBase> threads(Pid pid) override;
  size_t thread_count(Pid pid) override;
  bool has_others(Pid pid) const override;
  Result<uint64_t> place(Pid pid, uint64_t bytes, const MakeCode& code,
                         std::span<const Load> loads) override;
  void change(Pid pid, uint64_t address, uint8_t byte) override;
  Status insert(Pid pid, uint64_t address, Bytes slot) override;
  void while_still(const std::function<void()>& what) override;
  void expect_hits(Pid pid) override;
  void make_ready(Pid pid) override;
  std::vector<uint64_t> commit(Pid pid) override;
  void remove(Pid pid, uint64_t address) override;
  bool stands(Pid pid, uint64_t address) const override;
  bool is_as_before(Pid pid, uint64_t address) override;
  void to_block(const Found& found, std::span<uint8_t> block) override;
  std::pair<uint64_t, uint64_t> changed_range(Pid pid) override;
  bool is_changed(Pid pid, uint64_t address, uint64_t bytes) override;
  void hide(Pid pid, uint64_t address, std::span<uint8_t> bytes) override;
  void release(Pid pid) override;

  ThreadBase base_of(Thread& thread);
  /// Sites and code go, at once or, if threads run, when they stand still.
  void release(const std::shared_ptr<AddressSpace>& space);
  void release_unwanted();
  /// The program's own bytes are back; what threads may still be inside of stays.
  void abandon(std::span<Process* const> processes);
  /// Threads that were left half way, since they waited for others that stood still, have some time
  /// to come out, now that the others run.
  void await_half_way(const AddressSpace& space);
  void stop_ticks() { ticker_.stop(); }
  int64_t poll_pause_ns() const { return poll_pause_ns_; }  // 0: nobody is to be polled
  /// Not when others than the program that wants it have just stood still for long.
  bool may_stand_still() const;
  /// Does this while all threads stand still, where they would without us; they run on then.
  void stand_still(const std::function<void()>& what);

 private:
  struct Here {
    Pid pid = 0;
    Filling filling;
    std::vector<Filling::Range> later;  // wanted when there may be hits
    bool is_limited = false;  // its group is, and pages that it makes itself count there
    bool hits = false;        // it may write to it
  };
  void note_those_inside();
  void let_others_on();
  void want_ticks();

  Core& core_;
  OneByOne& one_by_one_;
  Owner& owner_;
  const ThreadTable& threads_;
  const RegisterBlocks& registers_;
  StopCollector& stops_;
  Late& late_;
  Injector& injector_;
  Ticker ticker_;  // while a process has fast sites
  int64_t poll_pause_ns_ = 0;
  int held_ = 0;   // how many want all threads to stand still
  size_t looked_ = 0;  // of conduct(): at so many threads
  size_t looked_at_others_ = 0;
  size_t looks_without_filters_ = 0;  // the last so many of these
  ShareOfTime stands_still_{9};
  std::vector<Here> here_;
  bool is_limited_ = false;  // is the program's group, when it was last looked at?
};

/// Is it this process, or one that runs in its memory beside it?
bool is_in_or_beside(const ThreadTable& threads, const Process& one, Pid pid);

}  // namespace tracewell::target::live
