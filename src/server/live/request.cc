#include "server/live/request.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/packets.h"
#include "base/files/open.h"
#include "base/text/text.h"
#include "server/buffers/buffer_files.h"

namespace tracewell::server {
namespace {

Error wrong_words(std::string text) { return {Errc::InvalidArgument, std::move(text), {}}; }

/// gdbserver's names that mean more than one packet, or less.
constexpr std::string_view kThreads = "threads", kStopReply = "T";
const std::vector<std::string_view> kAllOfThreads = {"vCont", "Tthread", "qC", "qfThreadInfo"};

std::vector<std::string_view> packets_to_disable() {
  std::vector<std::string_view> names = {kThreads, kStopReply};
  names.insert(names.end(), kAllOfThreads.begin(), kAllOfThreads.end());
  for (const agent::PacketEntry& entry : agent::packet_table()) {
    const std::string_view name = agent::without_separators(entry.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Whoever leaves out COMM has the program in its place.
Error program_is_missing(const std::string& comm) {
  const auto parsed = parse_comm(comm);
  if (!parsed) return parsed.error();
  const auto facts = facts_at(comm);
  if (facts && facts->kind == FileFacts::Kind::Regular)
    return wrong_words(fmt::format("COMM is missing: where the debugger connects, such as :0, "
                                   "comes before {}",
                                   printable(comm)));
  return wrong_words("PROG is missing (or --multi, or --attach)");
}

Status change_settings(const LiveRequest& request, ServeSettings& settings) {
  ServeLog& log = settings.log;
  log.debug = !request.debug.empty();
  log.packets = request.remote_debug;
  if (auto status = log.set_file(request.debug_file); !status)
    return std::move(status).error().within("--debug-file");
  if (!log.set_format(request.debug_format))
    return wrong_words("--debug-format: none, timestamp or all");
  settings.saves.set_overwrite(request.save_overwrite);
  if (auto status = settings.saves.set_folder(request.save_dir); !status)
    return std::move(status).error().within("--save-dir");
  return {};
}

/// Those that serve_live() takes as they are.
LiveOptions live_options(const LiveRequest& request) {
  LiveOptions out;
  out.launch = request.launch;
  if (request.attach) out.attach = request.pid;
  out.attach_running = request.attach_running;
  out.multi = request.multi;
  out.once = request.once;
  out.disabled = request.disabled;
  out.buffer = request.buffer;
  out.fast = *agent::parse_fast_use(request.fast_tracepoints);
  out.tells_of_sysroot = request.tells_of_sysroot;
  out.tell = request.tell;
  return out;
}

}  // namespace

Status take_words(std::vector<std::string> words, LiveRequest& to) {
  if (words.empty()) return wrong_words("COMM is missing");
  to.comm = std::move(words[0]);
  words.erase(words.begin());
  to.attach |= to.attach_running;
  // The old place of the option.
  if (!words.empty() && words[0] == "--attach") {
    to.attach = true;
    words.erase(words.begin());
  }
  if (to.attach) {
    auto pid = words.size() == 1 ? parse_number(words[0]) : std::nullopt;
    if (!pid || *pid == 0 || *pid > INT32_MAX)
      return wrong_words(fmt::format("--attach{} takes COMM and one PID",
                                     to.attach_running ? "-running" : ""));
    to.pid = static_cast<int64_t>(*pid);
    return {};
  }
  if (words.empty() && !to.multi) return program_is_missing(to.comm);
  to.launch.argv = std::move(words);
  return {};
}

Status disable_packets(std::string_view names, LiveRequest& to) {
  const std::vector<std::string_view> known = packets_to_disable();
  for (const std::string_view name : split(names, ',')) {
    if (name.empty()) continue;
    if (std::find(known.begin(), known.end(), name) == known.end())
      return wrong_words(fmt::format("--disable-packet: there is no packet '{}'; there are {}",
                                     printable(name), fmt::join(known, " ")));
    if (name == kThreads) to.disabled.insert(kAllOfThreads.begin(), kAllOfThreads.end());
    else to.disabled.emplace(name == kStopReply ? "Tstop" : name);
  }
  return {};
}

Result<LiveEnd> serve_request(const LiveRequest& request, int user_fd) {
  ServeSettings settings(user_fd);
  TW_RETURN_IF_ERROR(change_settings(request, settings));
  if (auto status = check_buffer_file(request.buffer); !status)
    return std::move(status).error().within("--buffer");
  LiveOptions live = live_options(request);
  TW_ASSIGN_OR_RETURN(live.comm, parse_comm(request.comm));
  TW_ASSIGN_OR_RETURN(live.admission, Admission::parse(request.allow_users));
  return serve_live(std::move(live), settings);
}

}  // namespace tracewell::server
