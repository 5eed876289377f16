#include "agent/shared/process_packets.h"

#include <fmt/format.h>

#include "base/text/hex.h"

namespace tracewell::agent {
namespace {

/// Nothing may point to a process that is gone.
void forget_process(Session& session, target::Pid pid) {
  session.forget_breakpoints(pid);
  session.non_stop.queue.forget(pid);
  std::erase_if(session.non_stop.stops, [&](const auto& stop) { return stop.second.pid == pid; });
  session.threads_changed();
  session.documents.clear();
  session.unselect(pid);
  if (session.last_stop && session.last_stop->pid == pid) session.last_stop.reset();
}

void end_trace(Session& session, target::Pid pid, bool unwanted) {
  if (session.trace && session.trace->control()) session.trace->control()->let_go(pid, unwanted);
}

}  // namespace

std::optional<target::Pid> parse_pid(std::string_view hex) {
  const auto pid = parse_hex(hex);
  if (!pid || *pid == 0 || *pid > INT32_MAX) return std::nullopt;
  return static_cast<target::Pid>(*pid);
}

std::optional<target::Pid> pid_to_trace(const Session& session) {
  if (const auto pid = session.current_pid()) return pid;
  const target::Pid pid = session.non_stop.of_gone_thread;
  if (pid == 0 || session.find_thread({pid, 0}) == nullptr) return std::nullopt;
  return pid;
}

Result<target::StopEvent> launch(Session& session) {
  auto event = session.target.process_control()->launch(session.options.launch);
  session.threads_changed();
  if (!event) return event;
  session.notice(fmt::format("Process {} created; pid = {}", session.options.launch.argv[0],
                             event->pid));
  session.note_stop(*event);
  session.general_thread = {event->pid, event->tid};
  session.documents.clear();
  return event;
}

Status kill_one(Session& session, target::Pid pid) {
  session.notice(fmt::format("Killing process(es): {}", pid));
  end_trace(session, pid, true);
  auto status = session.target.process_control()->kill(pid);
  forget_process(session, pid);
  return status;
}

void kill_all(Session& session) {
  for (const target::ProcessInfo& process : session.target.processes())
    best_effort(kill_one(session, process.pid));
}

Status detach_one(Session& session, target::Pid pid) {
  session.notice(fmt::format("Detaching from process {}", pid));
  end_trace(session, pid, false);
  auto status = session.target.process_control()->detach(pid);
  forget_process(session, pid);
  return status;
}

Status set_variable(Session& session, std::string_view name, std::vector<std::string>& to,
                    std::string text) {
  const auto& launch = session.options.launch;
  size_t bytes = text.size(), count = 1;
  for (const auto* list : {&launch.environment_set, &launch.environment_unset})
    for (const std::string& one : *list) {
      if (one.substr(0, one.find('=')) == name) continue;
      bytes += one.size();
      ++count;
    }
  if (count > kEnvironmentMax || bytes > kEnvironmentBytesMax)
    return {Errc::Limit,
            fmt::format("the environment of programs can be changed in {} variables and {} KiB",
                        kEnvironmentMax, kEnvironmentBytesMax >> 10)};
  forget_variable(session, name);
  to.push_back(std::move(text));
  return {};
}

void forget_variable(Session& session, std::string_view name) {
  auto& launch = session.options.launch;
  std::erase(launch.environment_unset, name);
  std::erase_if(launch.environment_set, [&](std::string_view entry) {
    return entry.substr(0, entry.find('=')) == name;
  });
}

}  // namespace tracewell::agent
