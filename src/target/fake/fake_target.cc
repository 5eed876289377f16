#include "target/fake/fake_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/hex.h"
#include "machine/tdesc.h"

namespace tracewell::target {
namespace {

Register reg(std::string name, uint32_t number, uint32_t size, std::string type) {
  return {std::move(name), number, 0, size, std::move(type)};
}

constexpr std::string_view kBreakpointKinds[] = {"software", "hardware", "write", "read", "access"};

}  // namespace

FakeTarget::FakeTarget() {
  RegisterLayout layout;
  layout.registers = {reg("rax", 0, 8, "int64"), reg("rbp", 6, 8, "data_ptr"),
                      reg("rsp", 7, 8, "data_ptr"), reg("rip", 16, 8, "code_ptr"),
                      reg("xmm0", 40, 16, "uint128")};
  set_layout(std::move(layout));
}

void FakeTarget::set_layout(RegisterLayout layout) {
  layout.size_bytes = 0;
  for (Register& entry : layout.registers) {
    entry.offset = layout.size_bytes;
    layout.size_bytes += entry.size_bytes;
  }
  machine::mark_special_registers(layout, "x86-64");
  layout_ = std::move(layout);
  description_ = machine::render_tdesc(layout_, "x86-64");
}

bool FakeTarget::refused(std::string_view what) {
  auto found = refusals_.find(what);
  if (found == refusals_.end()) return false;
  refusals_.erase(found);
  return true;
}

FakeTarget::Process* FakeTarget::find_process(Pid pid) {
  auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : &found->second;
}

FakeTarget::Thread* FakeTarget::find_thread(Tid tid) {
  for (Thread& thread : threads_)
    if (thread.info.tid == tid) return &thread;
  return nullptr;
}

void FakeTarget::add_process(Pid pid, bool attached) {
  processes_[pid].attached = attached;
  threads_.push_back({{pid, pid, "main", -1}, std::vector<uint8_t>(layout_.size_bytes), {}});
}

void FakeTarget::remove_process(Pid pid) {
  processes_.erase(pid);
  std::erase_if(threads_, [&](const Thread& thread) { return thread.info.pid == pid; });
}

std::vector<UntoldFork> FakeTarget::untold_forks() {
  std::vector<UntoldFork> out;
  for (const auto& [pid, creator] : untold_forks_) out.push_back({pid, creator});
  return out;
}

void FakeTarget::add_fork(const Thread& parent, Pid child) {
  Thread thread = parent;
  thread.info.pid = thread.info.tid = child;
  processes_[child] = processes_[parent.info.pid];
  threads_.push_back(std::move(thread));
}

std::vector<ProcessInfo> FakeTarget::processes() const {
  std::vector<ProcessInfo> out;
  for (const auto& [pid, process] : processes_) out.push_back({pid, process.attached});
  return out;
}

std::vector<ThreadInfo> FakeTarget::threads(Pid pid) const {
  std::vector<ThreadInfo> out;
  for (const Thread& thread : threads_)
    if (pid == 0 || thread.info.pid == pid) out.push_back(thread.info);
  return out;
}

Status FakeTarget::read_registers(Tid tid, std::span<uint8_t> block) {
  Thread* thread = find_thread(tid);
  if (!thread || thread->info.running || block.size() != layout_.size_bytes)
    return Error{Errc::Target, "no such thread", {}};
  std::copy(thread->block.begin(), thread->block.end(), block.begin());
  return {};
}

Status FakeTarget::write_registers(Tid tid, Bytes block) {
  Thread* thread = find_thread(tid);
  if (!thread || block.size() != layout_.size_bytes)
    return Error{Errc::Target, "no such thread", {}};
  if (thread->info.sampled) return only_a_sample(tid);
  thread->block.assign(block.begin(), block.end());
  return {};
}

std::pair<FakeTarget::Piece*, size_t> FakeTarget::piece_at(Pid pid, uint64_t address) {
  Process* process = find_process(pid);
  if (!process) return {nullptr, 0};
  auto after = process->memory.upper_bound(address);
  if (after == process->memory.begin()) return {nullptr, 0};
  auto& [start, piece] = *std::prev(after);
  if (address - start >= piece.bytes.size()) return {nullptr, 0};
  return {&piece, address - start};
}

size_t FakeTarget::read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) {
  size_t done = 0;
  while (done < into.size()) {
    auto [piece, at] = piece_at(pid, address + done);
    if (!piece) break;
    const size_t size = std::min(piece->bytes.size() - at, into.size() - done);
    std::copy_n(piece->bytes.begin() + static_cast<ptrdiff_t>(at), size, into.begin() + done);
    done += size;
  }
  return done;
}

Status FakeTarget::write_memory(Pid pid, uint64_t address, Bytes bytes) {
  std::vector<uint8_t> there(bytes.size());
  if (read_memory(pid, address, there) != bytes.size())
    return Error{Errc::Target, "no memory there", {}};
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto [piece, at] = piece_at(pid, address + i);
    piece->bytes[at] = bytes[i];
  }
  log(fmt::format("write {} {:x} {}", pid, address, to_hex(bytes)));
  return {};
}

Status FakeTarget::resume(std::span<const ResumeAction> actions) {
  std::string line = "resume";
  for (const ResumeAction& action : actions) {
    const Thread* const thread = find_thread(action.tid);
    if (!thread) return Error{Errc::Target, "no such thread", {}};
    if (thread->info.sampled && action.kind != ResumeAction::Kind::Continue)
      return only_a_sample(action.tid);
    line += fmt::format(" {}:", action.tid);
    switch (action.kind) {
      case ResumeAction::Kind::Continue: line += "continue"; break;
      case ResumeAction::Kind::Step: line += "step"; break;
      case ResumeAction::Kind::RangeStep:
        line += fmt::format("range[{:x},{:x})", action.range_start, action.range_end);
    }
    if (action.signal != 0) line += fmt::format(" signal={}", action.signal);
  }
  log(std::move(line));
  if (refused("resume")) return Error{Errc::Target, "cannot resume", {}};
  for (const ResumeAction& action : actions) {
    ThreadInfo& thread = find_thread(action.tid)->info;
    thread.running = non_stop_;
    thread.sampled = false;
  }
  return {};
}

Result<std::optional<StopEvent>> FakeTarget::wait() {
  if (events.empty()) return std::optional<StopEvent>();
  StopEvent event = std::move(events.front());
  events.pop_front();
  return std::optional(std::move(event));
}

Status FakeTarget::interrupt() {
  log("interrupt");
  return {};
}

Status FakeTarget::set_non_stop(bool on) {
  log(on ? "non-stop" : "all-stop");
  non_stop_ = on;
  for (Thread& thread : threads_) {
    thread.info.running = thread.info.running && on;
    thread.info.sampled = false;
  }
  return {};
}

Status FakeTarget::stop(std::span<const Tid> threads) {
  std::string line = "stop";
  for (const Tid tid : threads) {
    line += fmt::format(" {}", tid);
    find_thread(tid)->sample_wanted = false;
  }
  log(std::move(line));
  return {};
}

Status FakeTarget::sample(Tid tid) {
  log(fmt::format("sample {}", tid));
  find_thread(tid)->sample_wanted = true;
  return {};
}

void FakeTarget::stop_sampled(Tid tid) {
  log(fmt::format("stop sampled {}", tid));
  find_thread(tid)->info.sampled = false;
}

bool FakeTarget::due() {
  return std::any_of(threads_.begin(), threads_.end(), [](const Thread& thread) {
    return thread.info.running || thread.info.sampled;
  });
}

Result<StopEvent> FakeTarget::launch(const LaunchOptions& options) {
  std::string line = "launch";
  for (const std::string& word : options.argv) line += " " + word;
  for (const std::string& entry : options.environment_set) line += " +" + entry;
  for (const std::string& entry : options.environment_unset) line += " -" + entry;
  if (!options.working_directory.empty()) line += " in=" + options.working_directory;
  if (!options.disable_randomization) line += " randomized";
  if (!options.startup_with_shell) line += " no-shell";
  log(std::move(line));
  if (refused("launch")) return Error{Errc::Target, "cannot start it", {}};
  add_process(next_pid_, false);
  return StopEvent{.kind = StopEvent::Kind::Stepped, .pid = next_pid_, .tid = next_pid_++,
                   .path = {}};
}

Result<StopEvent> FakeTarget::attach(Pid pid) {
  log(fmt::format("attach {}", pid));
  if (refused("attach") || find_process(pid)) return Error{Errc::Target, "cannot attach to it", {}};
  add_process(pid, true);
  find_thread(pid)->info.running = non_stop_;
  return StopEvent{.kind = StopEvent::Kind::Stepped, .pid = pid, .tid = pid, .path = {}};
}

Status FakeTarget::detach(Pid pid) {
  log(fmt::format("detach {}", pid));
  if (refused("detach")) return Error{Errc::Target, "cannot detach", {}};
  remove_process(pid);
  return {};
}

Status FakeTarget::kill(Pid pid) {
  log(fmt::format("kill {}", pid));
  if (refused("kill")) return Error{Errc::Target, "cannot kill it", {}};
  remove_process(pid);
  return {};
}

bool FakeTarget::supports(Breakpoints::Kind kind) const {
  return kind == Breakpoints::Kind::Software || has("hardware");
}

Status FakeTarget::insert(Pid pid, Breakpoints::Kind kind, uint64_t address, uint32_t size) {
  log(fmt::format("insert {} {} {:x} {}", pid, kBreakpointKinds[static_cast<int>(kind)], address,
                  size));
  if (refused("insert") || !piece_at(pid, address).first)
    return Error{Errc::Target, "no memory there", {}};
  return {};
}

Status FakeTarget::remove(Pid pid, Breakpoints::Kind kind, uint64_t address, uint32_t size) {
  log(fmt::format("remove {} {} {:x} {}", pid, kBreakpointKinds[static_cast<int>(kind)], address,
                  size));
  return {};
}

Status FakeTarget::insert(Pid pid, uint64_t address) {
  log(fmt::format("site+ {} {:x}", pid, address));
  if (refused("insert") || !piece_at(pid, address).first)
    return Error{Errc::Target, "no memory there", {}};
  sites_.insert({pid, address});
  return {};
}

Status FakeTarget::remove(Pid pid, uint64_t address) {
  log(fmt::format("site- {} {:x}", pid, address));
  sites_.erase({pid, address});
  return {};
}

void FakeTarget::raise_count(Pid pid, uint64_t address) {
  log(fmt::format("count+ {} {:x}", pid, address));
}

void FakeTarget::lower_count(Pid pid, uint64_t address) {
  log(fmt::format("count- {} {:x}", pid, address));
}

}  // namespace tracewell::target
