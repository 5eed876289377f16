// Engine: a live tracing experiment. Packets define it; hits, told by the target, fill its buffer.
//
// All calls come from the target's one thread. A hit is handled while only the thread that hit is
// stopped; the others run. Why runs end: docs/protocol/tracing.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/buffer/buffer_home.h"
#include "agent/buffer/trace_buffer.h"
#include "agent/engine/collect_plan.h"
#include "agent/engine/collector.h"
#include "agent/engine/hit_way.h"
#include "agent/engine/variables.h"
#include "agent/engine/whose_frames.h"
#include "agent/fast/fast_trace.h"
#include "agent/trace.h"
#include "base/share_of_time.h"
#include "target/target.h"

namespace tracewell::agent {

class Engine final : public Trace, public TraceControl, public target::HitHandler {
 public:
  /// Nanoseconds since the Unix epoch.
  using Clock = std::function<int64_t()>;

  /// `target`, which has trace sites, outlives this, its handler. A null clock is the system's.
  explicit Engine(target::Target& target, Clock clock = nullptr);
  ~Engine() override;
  /// Before the first run. Without one the buffer is memory of this process.
  void keep_buffer_in(BufferHome home) { home_ = std::move(home); }
  /// The server is about to end, or has let go of everything (`all`): frames that nobody has looked
  /// at stay in their file, which is told in the end.
  void keep_unseen(bool all), abandon();

  // Trace
  const std::vector<TracepointDef>& tracepoints() const override { return definitions_; }
  const std::vector<VariableDef>& variables() const override { return variables_.definitions(); }
  RunStatus status() const override;
  std::optional<TracepointDef::Usage> usage(uint32_t number, uint64_t address) const override;
  std::optional<int64_t> variable(uint32_t number) const override;
  FrameStore& frames() override { return buffer_; }
  std::string description() override;
  target::Pid frames_of() const override { return let_go_ || replaced_ ? 0 : pid_; }
  bool read_only(target::Pid pid, uint64_t address, uint64_t size) override;
  TraceControl* control() override { return this; }

  // TraceControl
  Status reset() override, stop() override;
  Status define(rsp::QtdpDefinition definition) override;
  Status add_actions(const rsp::QtdpActions& actions) override;
  target::Pid traced() const override { return running_ ? pid_ : 0; }
  void forget(uint32_t number, uint64_t address) override;
  Status add_source(const rsp::SourcePiece& piece) override;
  Status define_variable(VariableDef definition) override;
  void set_variable(uint32_t number, int64_t value) override { variables_.set(number, value); }
  void set_read_only(std::vector<std::pair<uint64_t, uint64_t>> ranges) override;
  Status enable(uint32_t number, uint64_t address, bool enabled) override;
  Status start(target::Pid pid) override;
  std::vector<std::string> remarks() override, describe_points() const override;
  Status set_circular(bool circular) override;
  Status empty_for(std::optional<uint64_t> bytes) override;
  Status set_buffer_size(std::optional<uint64_t> bytes) override;
  void set_disconnected(bool disconnected) override;
  void set_note(std::string_view type, std::string text) override;
  void client_lost() override;
  void on_event(const target::StopEvent& event) override;
  void let_go(target::Pid pid, bool unwanted) override;
  void catch_up(bool stands) override;
  void use_fast(FastUse use) { use_fast_ = use; }
  // HitHandler
  Next on_hit(target::HitContext& hit) override;
  Next on_step(target::HitContext& hit) override;
  void on_end(target::Tid tid) override;
  void on_thread(const target::FastSites::ThreadBase& thread) override;
  void on_leave(target::Tid tid) override, on_exit(target::Tid tid) override;
  void on_exec(target::Pid pid) override { replaced_ = replaced_ || pid == pid_; }
  bool on_tick() override;
  void on_poll() override, on_still() override, on_failed_load() override;
  std::vector<Marker> markers(target::Pid pid) override { return find_markers(target_, pid); }

  bool running() const { return running_; }
  TraceBuffer& buffer() { return buffer_; }
  /// What a file of this trace begins with: definitions with their usage, status, and what is known
  /// of the machine and the process.
  Catalog catalog();

 private:
  /// What runs at a hit, and what came of it. points_[i] belongs to definitions_[i].
  struct Point {
    CollectPlan plan;
    HitWay way = {};
    uint64_t hits = 0, bytes = 0;
  };
  /// A thread that is being stepped for a tracepoint.
  struct Job {
    target::Tid tid = 0;
    uint32_t number = 0;
    uint64_t address = 0, left = 0;  // left: steps
  };
  /// A tracepoint whose actions are still to come, while a trace runs: not live yet.
  struct Opened {
    TracepointDef definition;
    CollectPlan plan;
    HitWay way = {};  // once it is put in
  };
  // engine_define.cc
  std::ranges::iota_view<size_t, size_t> definitions_at(uint64_t address) const;
  std::optional<size_t> find(uint32_t number, uint64_t address) const;
  bool opened(uint32_t number, uint64_t address) const;
  Status append_actions(const rsp::QtdpActions& actions, TracepointDef& to, CollectPlan& plan);
  Status put(Opened tracepoint), insert_while_running(Opened& tracepoint);
  void enter(Opened tracepoint);
  Status settle(), room_for(uint64_t bytes) const;
  void drop(uint32_t number, uint64_t address), withdraw(uint32_t number, uint64_t address);
  // engine.cc
  Status insert_sites(), insert_site(uint64_t address);
  void remove_site(uint64_t address), remark_int3(const TracepointDef& definition);
  void end_run(RunStatus::Stop reason, uint32_t tracepoint = 0);
  int64_t now_us() const { return clock_() / 1000; }
  // engine_fast.cc
  void begin_fast(), begin_pads(target::FastSites& sites, bool asked), end_fast(), drop_fast();
  HitWay put_fast(const TracepointDef& definition, const CollectPlan& plan, bool alone);
  bool insert_fast(size_t index);
  void take_effect(), remark(std::string text), take_fast(FastTrace::Share share);
  struct FastTaker;
  void insert_anew(const std::vector<uint64_t>* places);
  // engine_ways.cc
  std::vector<PointWay> ways() const;
  std::string notes() const;
  HitLosses losses() const;
  // engine_markers.cc
  Status look_at_markers(), look_at_memory();
  Status look_at_marker(const TracepointDef& definition, CollectPlan& plan) const;
  void want_probe(const CollectPlan& plan, bool want);
  // engine_catalog.cc
  void capture_machine(), capture_modules();
  Catalog known_catalog() const;
  // engine_buffer.cc
  void settle_buffer(), publish(), publish_soon(), tell_unseen();
  void fit_masks(CollectPlan& plan) const, tell(std::string_view text) const;
  // engine_hit.cc
  void hit_point(size_t index, target::HitContext& hit);
  void step_job(Job& job, target::HitContext& hit);
  void collect(size_t index, const std::vector<rsp::Action>& actions, const RegisterMask& mask,
               target::HitContext& hit);
  void note_full(size_t index), note_pass_count(size_t index);
  void note_fault(size_t index, const CollectFault& fault);
  bool ending() const { return passed_ || full_ || failed_; }
  void end_if_due();
  bool stepping(target::Tid tid) const;

  target::Target& target_;
  bool own_clock_;
  Clock clock_;
  int64_t now_ns_ = 0;  // of the hit that is being handled

  std::vector<TracepointDef> definitions_;  // by address, then in the order of definition
  std::vector<Point> points_;
  std::optional<Opened> open_;
  uint64_t kept_bytes_ = 0, rings_bytes_ = 0;  // of definitions_ and open_; of rings, at most
  Variables variables_;
  std::vector<std::pair<uint64_t, uint64_t>> read_only_;

  BufferHome home_;
  TraceBuffer buffer_;
  ShareOfTime publishes_{9};  // see publish_soon()
  FastUse use_fast_ = FastUse::All;
  std::unique_ptr<FastTrace> fast_;  // while a run has some
  FastTrace::Change change_ = FastTrace::Change::None;  // to be made up for
  std::vector<std::string> remarks_;  // of the last start
  HitWay no_pads_;  // of all tracepoints where there is no fast_
  HitLosses fast_lost_;
  Collector collector_{variables_, buffer_};
  bool disconnected_ = false, full_ = false, unpublished_ = false;
  std::string user_name_, notes_, stop_note_, error_text_, end_text_, told_unseen_, handlers_;

  bool running_ = false, program_ended_ = false, let_go_ = false, replaced_ = false;  // (by exec)
  bool unwanted_ = false;  // its frames: see let_go()
  target::Pid pid_ = 0;
  RunStatus::Stop stop_ = RunStatus::Stop::NotRun;
  uint32_t stop_tracepoint_ = 0;
  int64_t start_us_ = 0, stop_us_ = 0;
  std::optional<uint32_t> passed_, failed_;  // tracepoint that ends the run
  std::vector<Job> jobs_;  // oldest first
  Catalog machine_;  // only what is known of the machine and the process
  WhoseFrames whose_;
};

}  // namespace tracewell::agent
