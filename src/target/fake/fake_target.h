// FakeTarget: processes made of text, for tests. A line of text describes a piece of the world; an
// event line makes something happen. Everything it is asked to do is written down.
//
//   registers NAME:BYTES@NUMBER …   the layout; default rax rbp rsp rip (8 bytes each) and xmm0
//   without CAPABILITY              processes, breakpoints, hardware, sites, facts, signals,
//                                   system-calls, thread-locals or non-stop
//   process PID [attached]
//   thread PID.TID NAME [CORE]
//   reg PID.TID NAME HEX            a number, not bytes
//   unknown PID.TID NAME            nobody knows what is in this register
//   mem PID ADDRESS HEXBYTES [ro]   a new piece of memory
//   auxv PID HEXBYTES    exec PID PATH    library PID PATH BIAS    siginfo PID.TID HEXBYTES
//   dll PATH ADDRESS                loaded in all of them, as Windows does it
//   tls PID.TID LINKMAP HEX         where the thread's block of a module is
//   moments N                       it is a recording with so many moments, at the first
//   untold PID                      it runs another program, which an exec event is to tell
//   untold PID CREATOR              it is a fork, which a fork event of CREATOR's is to tell
//   next-pid PID                    of the process launched next (its thread's tid is the same)
//   refuse WHAT                     the next launch, attach, resume, detach, kill or insert fails
//
// Events: PID.TID and then
//   signal N | breakpoint | hardware | watchpoint ADDRESS | stepped | interrupted | fork PID |
//   vfork PID | vforkdone | exec PATH | exited CODE | killed N | none |
//   call N | return N | created | thread-exited CODE | history-begin | history-end
//   hit ADDRESS [step PC]…          told to the hit handler and not to the debugger
//   trap ADDRESS [hardware]         a breakpoint, told if the filter says so
// Processes and threads are decimal, addresses and registers hex without 0x.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "target/target.h"

namespace tracewell::target {

class FakeTarget final : public Target,
                         private Processes,
                         private Breakpoints,
                         private TraceSites,
                         private ProcessFacts,
                         private Libraries,
                         private SignalInfo,
                         private SystemCalls,
                         private ThreadLocals,
                         private NonStop,
                         private TimeTravel {
 public:
  FakeTarget();

  /// One line of description. InvalidArgument when it makes no sense.
  Status learn(std::string_view line);
  /// One event line; its effects on processes are done. nullopt: it was a hit.
  Result<std::optional<StopEvent>> event(std::string_view line);
  /// Told by wait(), in order.
  std::deque<StopEvent> events;
  /// What it was asked to do since the last call, one line each.
  std::vector<std::string> take_calls() { return std::exchange(calls_, {}); }

  std::vector<ProcessInfo> processes() const override;
  std::vector<ThreadInfo> threads(Pid pid) const override;
  const RegisterLayout& layout(Pid) const override { return layout_; }
  const std::string& target_description(Pid) const override { return description_; }
  bool exec_untold(Pid pid) override { return untold_.count(pid) != 0; }
  std::vector<UntoldFork> untold_forks() override;
  Status read_registers(Tid tid, std::span<uint8_t> block) override;
  Status write_registers(Tid tid, Bytes block) override;
  std::vector<uint8_t> known_registers(Tid tid) override;
  size_t read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) override;
  Status write_memory(Pid pid, uint64_t address, Bytes bytes) override;
  Status resume(std::span<const ResumeAction> actions) override;
  Result<std::optional<StopEvent>> wait() override;
  Status interrupt() override;
  Processes* process_control() override { return has("processes") ? this : nullptr; }
  Breakpoints* breakpoints() override { return has("breakpoints") ? this : nullptr; }
  TraceSites* trace_sites() override { return has("sites") ? this : nullptr; }
  ProcessFacts* facts() override { return has("facts") ? this : nullptr; }
  Libraries* libraries() override { return dlls_.empty() ? nullptr : this; }
  SignalInfo* signals() override { return has("signals") ? this : nullptr; }
  SystemCalls* system_calls() override { return has("system-calls") ? this : nullptr; }
  ThreadLocals* thread_locals() override { return has("thread-locals") ? this : nullptr; }
  NonStop* non_stop() override { return has("non-stop") ? this : nullptr; }
  TimeTravel* time_travel() override { return moments_ > 0 ? this : nullptr; }

 private:
  friend class FakeHit;
  struct Piece {
    std::vector<uint8_t> bytes;
    bool read_only = false;
  };
  struct Process {
    bool attached = false;
    std::map<uint64_t, Piece> memory;  // by address
    std::vector<uint8_t> auxv;
    std::string exec_file;
    std::vector<Module> modules;
  };
  struct Thread {
    ThreadInfo info;
    std::vector<uint8_t> block, siginfo;
    std::map<uint64_t, uint64_t> locals = {};  // by the module's link map
    std::set<uint32_t> unknown = {};           // registers, by index
    bool sample_wanted = false;
  };

  // Processes
  Result<StopEvent> launch(const LaunchOptions& options) override;
  Result<StopEvent> attach(Pid pid) override;
  Status detach(Pid pid) override;
  Status kill(Pid pid) override;
  void report_threads(bool report) override;
  // Breakpoints, TraceSites
  bool supports(Breakpoints::Kind kind) const override;
  Status insert(Pid pid, Breakpoints::Kind kind, uint64_t address, uint32_t size) override;
  Status remove(Pid pid, Breakpoints::Kind kind, uint64_t address, uint32_t size) override;
  void set_handler(HitHandler* handler) override { handler_ = handler; }
  void set_filter(BreakpointFilter* filter) override { filter_ = filter; }
  Status insert(Pid pid, uint64_t address) override;
  Status remove(Pid pid, uint64_t address) override;
  void raise_count(Pid pid, uint64_t address) override;
  void lower_count(Pid pid, uint64_t address) override;
  // ProcessFacts
  Result<std::vector<uint8_t>> auxv(Pid pid) override;
  Result<std::string> exec_file(Pid pid) override;
  Result<std::vector<Module>> modules(Pid pid) override;
  Result<std::string> libraries_svr4(Pid pid) override;
  bool read_only(Pid pid, uint64_t address, uint64_t size) override;
  // Libraries
  Result<std::string> library_list(Pid pid) override;
  // SignalInfo
  Result<std::vector<uint8_t>> read_siginfo(Tid tid) override;
  Status write_siginfo(Tid tid, Bytes bytes) override;
  void pass_signals(const std::vector<int>& signals) override;
  void program_signals(const std::vector<int>& signals) override;
  // SystemCalls, ThreadLocals
  Status catch_system_calls(Pid pid, bool on, std::vector<int64_t> only) override;
  Result<uint64_t> address(Tid tid, uint64_t link_map, uint64_t offset) override;
  // NonStop
  Status set_non_stop(bool on) override;
  Status stop(std::span<const Tid> threads) override;
  Status sample(Tid tid) override;
  void stop_sampled(Tid tid) override;
  bool due() override;
  // TimeTravel
  Status back(Tid tid, bool step) override;
  uint64_t moments() const override { return moments_; }
  uint64_t now() const override { return now_; }
  Status go_to(uint64_t moment) override;
  Tid next_thread() override { return threads_.front().info.tid; }

  bool has(std::string_view capability) const { return without_.count(capability) == 0; }
  bool refused(std::string_view what);
  Process* find_process(Pid pid);
  Thread* find_thread(Tid tid);
  void add_process(Pid pid, bool attached);
  void remove_process(Pid pid);
  void add_fork(const Thread& parent, Pid child);
  /// The piece of memory that holds `address` (nullptr: none), and where in it.
  std::pair<Piece*, size_t> piece_at(Pid pid, uint64_t address);
  void set_layout(RegisterLayout layout);
  Status set_register(Thread& thread, std::string_view name, uint64_t value);
  Status describe_thread(const std::vector<std::string_view>& words, std::string_view line);
  Status describe_process(const std::vector<std::string_view>& words, std::string_view line);
  Status fill_event(StopEvent& event, std::string_view verb, std::string_view argument,
                    std::string_view line);
  void hit(Thread& thread, std::span<const uint64_t> pcs);
  std::optional<StopEvent> trap(Thread& thread, Breakpoints::Kind kind, uint64_t address);
  void set_pc(Thread& thread, uint64_t address);
  void log(std::string line) { calls_.push_back(std::move(line)); }

  RegisterLayout layout_;
  std::string description_;
  std::set<std::string, std::less<>> without_;
  std::multiset<std::string, std::less<>> refusals_;
  std::map<Pid, Process> processes_;
  std::vector<Thread> threads_;
  std::set<std::pair<Pid, uint64_t>> sites_;
  std::set<Pid> untold_;
  std::map<Pid, Pid> untold_forks_;  // the creator of each
  bool tells_threads_ = false;
  std::map<Pid, std::string> caught_;  // system calls
  HitHandler* handler_ = nullptr;
  BreakpointFilter* filter_ = nullptr;
  Pid next_pid_ = 100;
  bool non_stop_ = false;
  uint64_t moments_ = 0, now_ = 0;
  std::vector<Module> dlls_;
  std::vector<std::string> calls_;
};

}  // namespace tracewell::target
