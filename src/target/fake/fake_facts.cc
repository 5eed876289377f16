// FakeTarget: what is known of its processes.
#include <algorithm>

#include <fmt/format.h>

#include "target/fake/fake_target.h"

namespace tracewell::target {
namespace {
Error no_such(std::string_view what) {
  return {Errc::NotFound, fmt::format("no such {}", what), {}};
}
}  // namespace

Result<std::vector<uint8_t>> FakeTarget::auxv(Pid pid) {
  Process* process = find_process(pid);
  if (!process || process->auxv.empty()) return no_such("vector");
  return process->auxv;
}

Result<std::string> FakeTarget::exec_file(Pid pid) {
  Process* process = find_process(pid);
  if (!process || process->exec_file.empty()) return no_such("file");
  return process->exec_file;
}

Result<std::vector<Module>> FakeTarget::modules(Pid pid) {
  Process* process = find_process(pid);
  if (!process) return no_such("process");
  return process->modules;
}

Result<std::string> FakeTarget::libraries_svr4(Pid pid) {
  TW_ASSIGN_OR_RETURN(auto all, modules(pid));
  std::string out = "<library-list-svr4 version=\"1.0\">";
  for (const Module& module : all)
    out += fmt::format("<library name=\"{}\" lm=\"0x1\" l_addr=\"{:#x}\" l_ld=\"0x2\"/>",
                       module.path, module.bias);
  return out + "</library-list-svr4>";
}

Result<std::string> FakeTarget::library_list(Pid) {
  std::string out = "<library-list>";
  for (const Module& module : dlls_)
    out += fmt::format("<library name=\"{}\"><segment address=\"{:#x}\"/></library>", module.path,
                       module.bias);
  return out + "</library-list>";
}

bool FakeTarget::read_only(Pid pid, uint64_t address, uint64_t size) {
  while (size > 0) {
    auto [piece, at] = piece_at(pid, address);
    if (!piece || !piece->read_only) return false;
    const uint64_t step = std::min<uint64_t>(size, piece->bytes.size() - at);
    address += step;
    size -= step;
  }
  return true;
}

Result<std::vector<uint8_t>> FakeTarget::read_siginfo(Tid tid) {
  Thread* thread = find_thread(tid);
  if (!thread || thread->siginfo.empty()) return no_such("signal");
  return thread->siginfo;
}

Status FakeTarget::write_siginfo(Tid tid, Bytes bytes) {
  Thread* thread = find_thread(tid);
  if (!thread) return no_such("thread");
  thread->siginfo.assign(bytes.begin(), bytes.end());
  return {};
}

Status FakeTarget::catch_system_calls(Pid pid, bool on, std::vector<int64_t> only) {
  if (!find_process(pid)) return no_such("process");
  std::string what = !on ? "none" : only.empty() ? "all" : "";
  for (const int64_t number : only) what += fmt::format("{}{}", what.empty() ? "" : " ", number);
  const auto [known, fresh] = caught_.try_emplace(pid, "none");
  if (std::exchange(known->second, what) != what) log(fmt::format("catch {} {}", pid, what));
  return {};
}

Result<uint64_t> FakeTarget::address(Tid tid, uint64_t link_map, uint64_t offset) {
  Thread* thread = find_thread(tid);
  const auto found = thread ? thread->locals.find(link_map) : decltype(thread->locals.end())();
  if (!thread || found == thread->locals.end()) return no_such("block");
  return found->second + offset;
}

void FakeTarget::report_threads(bool report) {
  if (report != tells_threads_) log(report ? "report threads" : "do not report threads");
  tells_threads_ = report;
}

void FakeTarget::program_signals(const std::vector<int>& signals) {
  std::string line = "may see";
  for (int signal : signals) line += fmt::format(" {}", signal);
  log(std::move(line));
}

void FakeTarget::pass_signals(const std::vector<int>& signals) {
  std::string line = "pass";
  for (int signal : signals) line += fmt::format(" {}", signal);
  log(std::move(line));
}

std::vector<uint8_t> FakeTarget::known_registers(Tid tid) {
  const Thread* thread = find_thread(tid);
  if (!thread || thread->unknown.empty()) return {};
  std::vector<uint8_t> known((layout_.registers.size() + 7) / 8, 0xff);
  for (const uint32_t index : thread->unknown)
    known[index / 8] &= static_cast<uint8_t>(~(1u << (index % 8)));
  return known;
}

Status FakeTarget::back(Tid tid, bool step) {
  log(fmt::format("back {}:{}", tid, step ? "step" : "continue"));
  if (refused("resume")) return Error{Errc::Target, "cannot resume", {}};
  return {};
}

Status FakeTarget::go_to(uint64_t moment) {
  log(fmt::format("go-to {}", moment));
  if (moment >= moments_) return no_such("moment");
  now_ = moment;
  return {};
}

}  // namespace tracewell::target
