#include "cli/serve_log.h"

#include <chrono>

#include <fmt/format.h>

#include "agent/shown_text.h"
#include "base/named.h"
#include "base/text.h"

namespace tracewell::cli {

ServeLog::~ServeLog() {
  if (file_) std::fclose(file_);
}

Status ServeLog::set_file(const std::string& path) {
  std::FILE* file = nullptr;
  if (!path.empty()) {
    TW_ASSIGN_OR_RETURN(
        UniqueFd fd,
        open_named_for(path, {.read = false, .write = true, .create = true, .truncate = true}));
    file = ::fdopen(fd.get(), "w");
    if (!file) return errno_error("cannot write " + printable(path));
    fd.release();
  }
  if (file_) std::fclose(file_);
  file_ = file;
  return {};
}

bool ServeLog::set_format(std::string_view text) {
  bool on = false;
  for (std::string_view word : split(text, ',')) {
    if (word == "all" || word == "timestamp") on = true;
    else if (word == "none" || word.empty()) on = false;
    else return false;
  }
  timestamps = on;
  return true;
}

bool ServeLog::set(std::string_view name, std::string_view value) {
  if (name == "debug-file") {
    const Status set = set_file(std::string(value));
    if (!set) notice("debug-file: " + set.error().text());
    return set.ok();
  }
  if (name == "debug-format") return set_format(value);
  bool* flag = name == "debug" ? &debug : name == "remote-debug" ? &packets : nullptr;
  if (!flag || (value != "0" && value != "1")) return false;
  *flag = value == "1";
  return true;
}

void ServeLog::notice(std::string_view line) const {
  const std::string shown = agent::shown_text(line);
  // Line by line, at once: scripts wait for these.
  fmt::print(stderr, "{}\n", shown);
  std::fflush(stderr);
  if (debug && file_) print(shown);
}

void ServeLog::packet(bool received, std::string_view packet) const {
  if (!packets) return;
  constexpr size_t kShown = 400;
  const std::string shown = printable(packet.substr(0, kShown));
  print(fmt::format("{} \"{}\"{}", received ? "packet:" : "reply: ", shown,
                    packet.size() > kShown ? fmt::format("… ({} bytes)", packet.size()) : ""));
}

void ServeLog::print(std::string_view line) const {
  std::FILE* out = file_ ? file_ : stderr;
  if (timestamps) {
    using namespace std::chrono;
    const auto now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
    fmt::print(out, "{}.{:06} ", now / 1000000, now % 1000000);
  }
  fmt::print(out, "{}\n", line);
  std::fflush(out);
}

}  // namespace tracewell::cli
