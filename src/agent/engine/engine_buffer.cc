// The buffer's file, and what it says of the frames. It is written anew whenever that changes, from
// the first run on: whoever finds the file must not need us.
#include <utility>

#include <fmt/format.h>

#include "agent/engine/engine.h"

namespace tracewell::agent {

void Engine::fit_masks(CollectPlan& plan) const {
  plan.mask = register_mask(plan.actions, machine_.registers);
  plan.step_mask = register_mask(plan.step_actions, machine_.registers);
}

void Engine::tell(std::string_view text) const {
  if (home_.notice) home_.notice(text);
}

/// To be given more than it may have would cost this server, or the program, its life.
Status Engine::look_at_memory() {
  constexpr uint64_t kSpare = 4 << 20;  // for all else that a run takes
  rings_bytes_ = UINT64_MAX;
  if (target_.facts() == nullptr) return {};
  const target::MemoryRoom room = target_.facts()->memory_room(0);
  const uint64_t wanted = buffer_.memory().bytes_to_come() + kSpare;
  if (room.bytes < wanted)
    return {Errc::Limit,
            fmt::format("a trace buffer of {} MiB does not fit: this server may use {} MiB more, "
                        "of the {} MiB of {}; set trace-buffer-size, or --buffer with a file on a "
                        "disk",
                        buffer_.size_bytes() >> 20, room.bytes >> 20, room.limit >> 20,
                        room.group.empty() ? "this machine" : "control group " + room.group)};
  rings_bytes_ = room.bytes - wanted;
  return {};
}

/// Only a run needs the file: a server that is never asked to trace makes none.
void Engine::settle_buffer() {
  if (!home_.make) return;
  auto file = std::exchange(home_.make, nullptr)();
  buffer_.memory().set_server(home_.server_pid);
  const Status status =
      file ? buffer_.move_into(*std::move(file)) : Status(std::move(file).error());
  if (status) tell("Trace buffer: " + buffer_.file()->path());
  else tell("No trace buffer that outlives this server: " + status.error().text());
}

void Engine::keep_unseen(bool all) {
  if (!unwanted_ && buffer_.keep_unseen() && all) tell_unseen();
}

/// The server that its user sees was killed: its file stays.
void Engine::abandon() {
  if (buffer_.has_unseen()) tell_unseen();
  buffer_.memory().abandon();
}

void Engine::tell_unseen() {
  const std::string text =
      fmt::format("{0} frames that nobody has looked at stay in {1}\n(tracewell print {1})",
                  buffer_.count(), buffer_.file()->path());
  if (text != std::exchange(told_unseen_, text)) tell(text);
}

/// A debugger defines all tracepoints again for each library that a program loads, one by one, and
/// the description is of all: it is written for a tenth of the time at most, and before any frame.
void Engine::publish_soon() {
  unpublished_ = true;
  const int64_t begin = clock_();
  if (!publishes_.is_due(begin)) return;
  publish();
  publishes_.took(begin, clock_());
}

void Engine::publish() {
  unpublished_ = !buffer_.settled();
  if (unpublished_) return;
  if (buffer_.file() == nullptr || !home_.describe) return;
  if (Status status = buffer_.memory().describe(home_.describe(known_catalog())); !status)
    tell(status.error().text());
}

}  // namespace tracewell::agent
