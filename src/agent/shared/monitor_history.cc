#include "agent/shared/monitor_history.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::agent {
namespace {

std::optional<uint64_t> number(std::string_view text) {
  if (text.starts_with("0x")) return parse_hex(text.substr(2));
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<uint64_t> moment_of(std::string_view text, uint64_t last) {
  if (text == "begin" || text == "start") return 0;
  return text == "end" ? last : number(text);
}

void tell_note(Session& session, const target::TimeTravel& travel) {
  if (const std::string note = travel.note(); !note.empty())
    session.console(fmt::format("note: {}\n", printable(note)));
}

}  // namespace

const std::string_view kHistoryHelp =
    "  where\n"
    "    Which step of the recording comes next\n"
    "  goto N|begin|end\n"
    "    To the moment before step N, the first or the last one. GDB does not notice by\n"
    "    itself: follow it by `maintenance flush register-cache` and `maintenance flush dcache`\n";

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
  const uint64_t last = std::max<uint64_t>(travel->moments(), 1) - 1;
  const auto moment = moment_of(command.substr(std::min<size_t>(command.size(), 5)), last);
  const Status done = moment ? travel->go_to(*moment) : Status();
  if (!moment || !done) {
    session.console(fmt::format("{}monitor goto N goes to a step, from 0 to {}; goto begin and "
                                "goto end to the first and the last one\n",
                                moment ? done.error().message + "; " : "", last));
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
