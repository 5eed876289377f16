#include "agent/monitor_history.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/hex.h"
#include "base/text.h"

namespace tracewell::agent {
namespace {

std::optional<uint64_t> number(std::string_view text) {
  if (text.starts_with("0x")) return parse_hex(text.substr(2));
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void tell_note(Session& session, const target::TimeTravel& travel) {
  if (const std::string note = travel.note(); !note.empty())
    session.console(fmt::format("note: {}\n", printable(note)));
}

}  // namespace

const std::string_view kHistoryHelp =
    "  where\n"
    "    Which step of the recording comes next\n"
    "  goto N\n"
    "    To the moment before step N. GDB does not notice by itself: follow it by\n"
    "    `maintenance flush register-cache` and `maintenance flush dcache`\n";

bool monitor_history(Session& session, std::string_view command, Reply& reply) {
  target::TimeTravel* travel = session.target.time_travel();
  if (travel == nullptr) return false;
  if (command == "where") {
    session.console(fmt::format("before step {} of {}\n", travel->now(), travel->moments()));
    tell_note(session, *travel);
    reply.ok();
    return true;
  }
  if (command != "goto" && !command.starts_with("goto ")) return false;
  const auto moment = number(command.substr(std::min<size_t>(command.size(), 5)));
  const Status done =
      moment ? travel->go_to(*moment)
             : Status(Error{Errc::InvalidArgument,
                            fmt::format("usage: monitor goto N, a step's number up to {}",
                                        travel->moments()),
                            {}});
  if (!done) {
    session.console(done.error().message + "\n");
    reply.error(1);
    return true;
  }
  session.threads_changed();
  session.documents.clear();
  session.console(fmt::format("before step {} of {}, thread {}\n", travel->now(),
                              travel->moments(), travel->next_thread()));
  tell_note(session, *travel);
  reply.ok();
  return true;
}

}  // namespace tracewell::agent
