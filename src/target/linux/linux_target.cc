#include "target/linux/linux_target.h"

#include <algorithm>

#include <fmt/format.h>

#include "target/linux/images/facts.h"
#include "target/linux/images/thread_locals.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/programs/programs.h"
#include "target/linux/threads/caught_calls.h"
#include "target/linux/threads/debug_registers.h"
#include "target/linux/threads/sample.h"
#include "target/linux/tracer.h"

namespace tracewell::target {
namespace {

using live::Patch;
using live::Process;
using live::Programs;
using live::Run;
using live::Thread;
using live::Tracer;

class LinuxProcesses final : public Processes {
 public:
  LinuxProcesses(Tracer& tracer, Programs& programs) : tracer_(tracer), programs_(programs) {}
  Result<StopEvent> launch(const LaunchOptions& options) override {
    return programs_.launch(options);
  }
  Result<StopEvent> attach(Pid pid) override { return programs_.attach(pid); }
  Status detach(Pid pid) override { return programs_.detach(pid); }
  Status kill(Pid pid) override { return programs_.kill(pid); }
  int look_after() override { return tracer_.look_after(); }
  void report_forks(bool fork, bool vfork, bool exec) override {
    tracer_.core().wishes.tell_forks = fork;
    tracer_.core().wishes.tell_vforks = vfork;
    tracer_.core().wishes.tell_execs = exec;
  }
  void report_threads(bool report) override { tracer_.core().wishes.tell_threads = report; }

 private:
  Tracer& tracer_;
  Programs& programs_;
};

class LinuxBreakpoints final : public Breakpoints {
 public:
  explicit LinuxBreakpoints(Tracer& tracer) : tracer_(tracer) {}
  /// x86 cannot watch reads alone. Debuggers know what to do: they watch accesses and compare.
  bool supports(Kind kind) const override { return kind != Kind::ReadWatch; }
  void set_filter(BreakpointFilter* filter) override { tracer_.core().wishes.filter = filter; }
  Status insert(Pid pid, Kind kind, uint64_t address, uint32_t size) override {
    Process* process = tracer_.core().threads.find_process(pid);
    if (process == nullptr) return {Errc::NotFound, "no such process"};
    if (!supports(kind)) return {Errc::Unsupported, "no watchpoints for reads alone"};
    // While threads are waited for, it may end, or begin another program.
    const std::shared_ptr<live::AddressSpace> meant = process->space;
    // Of an instruction under a fast tracepoint's jump, a copy runs elsewhere.
    if (kind == Kind::Software || kind == Kind::Hardware)
      tracer_.sites().make_way(*process, address);
    if (kind != Kind::Software) {
      tracer_.one_by_one().hold_all();
      process = tracer_.core().threads.find_process(pid);
      const bool same = process != nullptr && process->space == meant;
      Status done = Error{Errc::NotFound, "the program is gone", {}};
      if (same) done = live::insert_hardware(tracer_.core().threads, *process, kind, address, size);
      tracer_.one_by_one().let_on();
      return done;
    }
    process = tracer_.core().threads.find_process(pid);
    if (process == nullptr || process->space != meant)
      return {Errc::NotFound, "the program is gone"};
    TW_ASSIGN_OR_RETURN(Patch * patch, process->space->add(address));
    patch->breakpoint = true;
    return {};
  }
  Status remove(Pid pid, Kind kind, uint64_t address, uint32_t size) override {
    Process* process = tracer_.core().threads.find_process(pid);
    if (process == nullptr) return {Errc::NotFound, "no such process"};
    if (kind != Kind::Software) {
      tracer_.one_by_one().hold_all();
      process = tracer_.core().threads.find_process(pid);
      if (process != nullptr)
        best_effort(live::remove_hardware(tracer_.core().threads, *process, kind, address, size));
      tracer_.one_by_one().let_on();
      return {};
    }
    if (Patch* patch = process->space->find(address)) patch->breakpoint = false;
    return process->space->drop_if_unused(address);
  }

 private:
  Tracer& tracer_;
};

class LinuxSites final : public TraceSites {
 public:
  explicit LinuxSites(Tracer& tracer) : tracer_(tracer) {}
  FastSites* fast() override { return &tracer_.fast(); }
  void set_handler(HitHandler* handler) override { tracer_.core().wishes.handler = handler; }
  Status insert(Pid pid, uint64_t address) override { return tracer_.sites().insert(pid, address); }
  Status remove(Pid pid, uint64_t address) override { return tracer_.sites().remove(pid, address); }
  /// While all threads stand still there is no fork of the memory as it was that nobody has seen.
  void raise_count(Pid pid, uint64_t address) override {
    const auto space_of = [&]() -> std::shared_ptr<live::AddressSpace> {
      const Process* const process = tracer_.core().threads.find_process(pid);
      return process != nullptr && seen(*process) ? process->space : nullptr;
    };
    const auto meant = space_of();
    const live::LiveFastSites::Still still(tracer_.fast());
    if (meant && space_of() == meant) meant->raise(address);  // else another program is there now
  }
  void lower_count(Pid pid, uint64_t address) override {
    Process* const process = tracer_.core().threads.find_process(pid);
    if (process != nullptr) process->space->lower(address);
  }

 private:
  Tracer& tracer_;
};

class LinuxSignals final : public SignalInfo {
 public:
  explicit LinuxSignals(Tracer& tracer) : tracer_(tracer) {}
  Result<std::vector<uint8_t>> read_siginfo(Tid tid) override {
    siginfo_t info{};
    TW_RETURN_IF_ERROR(knows_stop(tid));
    if (live::trace(PTRACE_GETSIGINFO, tid, 0, &info) != 0)
      return errno_error(fmt::format("siginfo of thread {}", tid), Errc::Target);
    if (is_32_bit(tid)) return live::siginfo_to_32_bit(info);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&info);
    return std::vector<uint8_t>(bytes, bytes + sizeof info);
  }
  Status write_siginfo(Tid tid, Bytes bytes) override {
    siginfo_t info{};
    TW_RETURN_IF_ERROR(knows_stop(tid));
    if (bytes.size() != sizeof info) return {Errc::InvalidArgument, "siginfo has 128 bytes"};
    if (is_32_bit(tid)) {
      if (live::trace(PTRACE_GETSIGINFO, tid, 0, &info) == 0)
        live::siginfo_from_32_bit(bytes, info);
    } else {
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(&info));
    }
    if (live::trace(PTRACE_SETSIGINFO, tid, 0, &info) != 0)
      return errno_error(fmt::format("siginfo of thread {}", tid), Errc::Target);
    return {};
  }
  void pass_signals(const std::vector<int>& signals) override {
    set(tracer_.core().wishes.pass_signals, signals);
  }
  void program_signals(const std::vector<int>& signals) override {
    set(tracer_.core().wishes.program_signals, signals);
  }

 private:
  /// Where a sample stands for the thread, it may have stopped for something that is untold yet.
  Status knows_stop(Tid tid) {
    const Thread* thread = tracer_.core().threads.find(tid);
    if (thread != nullptr && thread->sample) return only_a_sample(tid);
    return {};
  }
  static void set(live::Wishes::Signals& wanted, const std::vector<int>& signals) {
    wanted.reset();
    for (const int signal : signals)
      if (signal > 0 && signal < 65) wanted.set(static_cast<size_t>(signal));
  }
  bool is_32_bit(Tid tid) {
    const Thread* thread = tracer_.core().threads.find(tid);
    return thread != nullptr && thread->process->space->is_32_bit;
  }
  Tracer& tracer_;
};

class LinuxSystemCalls final : public SystemCalls {
 public:
  explicit LinuxSystemCalls(Tracer& tracer) : tracer_(tracer) {}
  Status catch_system_calls(Pid pid, bool on, std::vector<int64_t> only) override {
    const Process* const process = tracer_.core().threads.find_process(pid);
    if (!on && process != nullptr && !process->catches_calls) return {};
    tracer_.one_by_one().hold_all();  // how a thread runs is settled when it starts
    const Status done = live::catch_system_calls(tracer_.core().threads, pid, on, std::move(only));
    tracer_.one_by_one().let_on();
    return done;
  }

 private:
  Tracer& tracer_;
};

class LinuxNonStop final : public NonStop {
 public:
  explicit LinuxNonStop(Tracer& tracer) : tracer_(tracer) {}
  Status set_non_stop(bool on) override {
    tracer_.one_by_one().set(on);
    return {};
  }
  Status stop(std::span<const Tid> threads) override {
    for (const Tid tid : threads)
      if (Thread* thread = find_seen(tid))
        tracer_.one_by_one().want_stop(*thread, StopEvent::Kind::Signal);
    return {};
  }
  Status sample(Tid tid) override {
    if (Thread* thread = find_seen(tid))
      tracer_.one_by_one().want_sample(*thread);
    return {};
  }
  void stop_sampled(Tid tid) override {
    const Thread* thread = tracer_.core().threads.find(tid);
    if (thread != nullptr && thread->sample)
      tracer_.one_by_one().stop_sampled(tid);
  }
  void want_no_stops() override { tracer_.one_by_one().want_none(); }
  bool due() override { return tracer_.one_by_one().due(); }

 private:
  Thread* find_seen(Tid tid) const {
    Thread* thread = tracer_.core().threads.find(tid);
    return thread != nullptr && seen(*thread->process) ? thread : nullptr;
  }
  Tracer& tracer_;
};

class LinuxTarget final : public Target {
 public:
  explicit LinuxTarget(const LinuxOptions& options)
      : tracer_(options, [this] { return facts_.gives_up(); }) {}

  std::vector<ProcessInfo> processes() const override;
  std::vector<ThreadInfo> threads(Pid pid) const override;
  void describe(ThreadInfo& info) const override {
    const Thread* const thread = tracer_.core().threads.find(info.tid);
    live::describe_thread(info, thread != nullptr && thread->run == Run::Stopped);
  }
  const RegisterLayout& layout(Pid pid) const override {
    return tracer_.core().registers.map(tracer_.core().threads.is_32_bit(pid)).layout();
  }
  const std::string& target_description(Pid pid) const override {
    return tracer_.core().registers.map(tracer_.core().threads.is_32_bit(pid)).description();
  }
  bool exec_untold(Pid pid) override { return tracer_.exec_untold(pid); }
  bool end_untold() override { return !tracer_.core().untold.gone.empty(); }
  std::vector<UntoldFork> untold_forks() override {
    std::vector<UntoldFork> out;
    for (const Thread* thread : tracer_.core().threads.all())
      if (thread->pending && thread->pending->child_pid != 0)
        out.push_back({thread->pending->child_pid, thread->process->pid});
    return out;
  }
  Status read_registers(Tid tid, std::span<uint8_t> block) override;
  Status write_registers(Tid tid, Bytes block) override;
  std::vector<uint8_t> known_registers(Tid tid) override {
    const Thread* thread = tracer_.core().threads.find(tid);
    if (thread == nullptr || thread->sample || thread->run != Run::Late) return {};
    return tracer_.core().late.known_registers(*thread);
  }
  size_t read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) override;
  Status write_memory(Pid pid, uint64_t address, Bytes bytes) override;
  Status resume(std::span<const ResumeAction> actions) override { return tracer_.resume(actions); }
  Result<std::optional<StopEvent>> wait() override { return tracer_.wait(); }
  void wake() override { tracer_.core().stops.bell().ring(); }
  Status interrupt() override {
    tracer_.core().untold.interrupt_wanted = true;
    return {};
  }
  Processes* process_control() override { return &process_control_; }
  Breakpoints* breakpoints() override { return &breakpoints_; }
  TraceSites* trace_sites() override { return &sites_; }
  ProcessFacts* facts() override { return &facts_; }
  SignalInfo* signals() override { return &signals_; }
  SystemCalls* system_calls() override { return &system_calls_; }
  ThreadLocals* thread_locals() override { return &thread_locals_; }
  NonStop* non_stop() override { return &non_stop_; }

 private:
  mutable Tracer tracer_;
  LinuxProcesses process_control_{tracer_, programs_};
  LinuxBreakpoints breakpoints_{tracer_};
  LinuxSites sites_{tracer_};
  LinuxSignals signals_{tracer_};
  LinuxSystemCalls system_calls_{tracer_};
  LinuxNonStop non_stop_{tracer_};
  live::Facts facts_{tracer_.core().threads, tracer_.core().gives_up};
  live::ThreadLocalBlocks thread_locals_{tracer_.core().threads, tracer_.core().gives_up};
  live::Programs programs_{tracer_};  // ends first
};

std::vector<ProcessInfo> LinuxTarget::processes() const {
  std::vector<ProcessInfo> result;
  for (const auto& [pid, process] : tracer_.core().threads.processes())
    if (seen(*process)) result.push_back({pid, process->attached});
  return result;
}

std::vector<ThreadInfo> LinuxTarget::threads(Pid pid) const {
  std::vector<ThreadInfo> result;
  for (const auto& [id, process] : tracer_.core().threads.processes()) {
    if (!seen(*process) || (pid != 0 && id != pid)) continue;
    for (const Thread* thread : tracer_.core().threads.threads_of(*process)) {
      if (thread->run == Run::Exiting) continue;
      ThreadInfo info;
      info.pid = id;
      info.tid = thread->tid;
      info.running = tracer_.one_by_one().runs(*thread);
      info.sampled = thread->sample != nullptr;
      result.push_back(std::move(info));
    }
  }
  return result;
}

size_t LinuxTarget::read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) {
  Process* process = tracer_.core().threads.find_process(pid);
  if (process == nullptr) return 0;
  size_t got = process->space->read(address, into);
  if (!live::Sample::any()) return got;
  for (const Thread* thread : tracer_.core().threads.threads_of(*process)) {
    if (!thread->sample) continue;
    thread->sample->trim(thread->tid, tracer_.core().gives_up);
    got = thread->sample->cover(address, into, got);
  }
  return got;
}

Status LinuxTarget::write_memory(Pid pid, uint64_t address, Bytes bytes) {
  Process* process = tracer_.core().threads.find_process(pid);
  if (process == nullptr) return {Errc::NotFound, "no such process"};
  if (!live::Sample::any()) return process->space->write(address, bytes);
  for (const Thread* thread : tracer_.core().threads.threads_of(*process)) {
    if (!thread->sample) continue;
    thread->sample->trim(thread->tid, tracer_.core().gives_up);
    if (thread->sample->meets(address, bytes.size())) return only_a_sample(thread->tid);
  }
  return process->space->write(address, bytes);
}

Status LinuxTarget::read_registers(Tid tid, std::span<uint8_t> block) {
  Thread* thread = tracer_.core().threads.find(tid);
  if (thread == nullptr) return {Errc::NotFound, fmt::format("no thread {}", tid)};
  if (tracer_.one_by_one().runs(*thread))
    return {Errc::Target, fmt::format("thread {} runs", tid)};
  if (thread->sample) {
    if (block.size() != thread->sample->block.size())
      return {Errc::InvalidArgument, "a register block of another size"};
    std::ranges::copy(thread->sample->block, block.begin());
    return {};
  }
  tracer_.look_again(*thread);
  if (thread->run == Run::Late) return tracer_.core().late.read_block(*thread, block);
  return tracer_.core().registers.read(*thread, block);
}

Status LinuxTarget::write_registers(Tid tid, Bytes block) {
  Thread* thread = tracer_.core().threads.find(tid);
  if (thread == nullptr) return {Errc::NotFound, fmt::format("no thread {}", tid)};
  if (tracer_.one_by_one().runs(*thread))
    return {Errc::Target, fmt::format("thread {} runs", tid)};
  if (thread->sample) return only_a_sample(tid);
  return tracer_.core().registers.write(*thread, block);
}

}  // namespace

std::unique_ptr<Target> make_linux_target(const LinuxOptions& options) {
  return std::make_unique<LinuxTarget>(options);
}

}  // namespace tracewell::target
