#include "target/linux/fast/call_filters.h"

#include <cerrno>
#include <charconv>
#include <csignal>

#include <fmt/format.h>

#include "target/linux/fast/fault_handlers.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/kernel/seccomp_filter.h"
#include "target/linux/threads/thread_table.h"
#include "target/trap_reason.h"

namespace tracewell::target::live {
namespace {

/// It has ended, or is the kernel's alone.
bool runs_no_code(Tid tid, const std::string& status) {
  const std::string_view state = status_value(status, "State");
  return state.starts_with('Z') || state.starts_with('X') || is_kernel_worker(tid);
}

Error not_read(int number) {
  const bool no_right = number == EACCES || number == EPERM;
  return because(TrapReason::FiltersCalls,
                 no_right ? " (root alone may read them, where it filters no calls itself)" : "");
}

/// Of each thread of that memory, by its status.
Result<uint32_t> filters_of_all(const ThreadTable& threads, const AddressSpace& space) {
  std::optional<uint32_t> each;
  for (const auto& [pid, process] : threads.processes()) {
    if (process->space.get() != &space) continue;
    for (const Tid tid : task_ids(pid)) {
      const auto status = read_proc(tid, "status");
      if (status && has_other_filters(tid, *status, each))
        return because(TrapReason::FiltersCalls);
    }
  }
  if (!each) return because(TrapReason::FiltersCalls);
  return *each;
}

/// It has `each` of them. The thread may be one that has ended, or that the kernel has made for
/// itself.
Status examine_thread(FiltersOfThreads& filters, Tid tid, uint32_t each) {
  using Answer = FiltersOfThreads::Answer;
  const Answer answer = filters.look(tid);
  if (answer == Answer::NotKnown) return not_read(errno);
  if (answer == Answer::Forbid)
    return because(TrapReason::FiltersCalls, fmt::format(": {}", filters.forbidden()));
  if (answer == Answer::NotStopped) {
    const auto status = read_proc(tid, "status");
    if (!status || !runs_no_code(tid, *status)) return because(TrapReason::FiltersCalls);
    return {};
  }
  return filters.count() == each ? Status() : because(TrapReason::FiltersCalls);
}

}  // namespace

/// SECCOMP_MODE_STRICT is no filter. Syscall User Dispatch no file shows, but who uses it handles
/// SIGSYS.
std::optional<uint32_t> filters_of(const std::string& status) {
  constexpr std::string_view kOff = "0", kByFilters = "2";
  if (catches(status, SIGSYS)) return std::nullopt;
  const std::string_view mode = status_value(status, "Seccomp");
  if (mode.empty() || mode == kOff) return 0;
  const std::string_view number = status_value(status, "Seccomp_filters");
  uint32_t filters = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), filters);
  if (mode != kByFilters || error != std::errc() || end != number.data() + number.size() ||
      filters == 0)
    return std::nullopt;
  return filters;
}

bool has_other_filters(Tid tid, const std::string& status, std::optional<uint32_t>& each) {
  const auto filters = filters_of(status);
  if (filters && each == filters) return false;
  if (runs_no_code(tid, status)) return false;
  if (!filters || each) return true;
  each = filters;
  return false;
}

/// The kernel says who is in a stop of ours, which one that was just born may be as well.
Status examine_filters(const ThreadTable& threads, AddressSpace& space,
                       std::span<const FastSites::Call> calls) {
  TW_ASSIGN_OR_RETURN(space.allowed_filters, filters_of_all(threads, space));
  if (space.allowed_filters == 0) return {};
  FiltersOfThreads filters(calls);
  for (const auto& [pid, process] : threads.processes()) {
    if (process->space.get() != &space) continue;
    for (const Tid tid : task_ids(pid))
      TW_RETURN_IF_ERROR(examine_thread(filters, tid, space.allowed_filters));
  }
  return {};
}

bool has_new_filters(Tid tid, const std::string& status, const AddressSpace& space) {
  std::optional<uint32_t> each = space.allowed_filters;
  return has_other_filters(tid, status, each);
}

bool others_have_new_filters(const ThreadTable& threads, const Process& process, size_t turn) {
  for (const auto& [pid, other] : threads.processes()) {
    if (other->space != process.space || pid == process.pid || other->threads.empty()) continue;
    const Tid tid = other->threads[turn % other->threads.size()];
    const auto status = read_proc(tid, "status");
    if (status && has_new_filters(tid, *status, *process.space)) return true;
  }
  return false;
}

}  // namespace tracewell::target::live
