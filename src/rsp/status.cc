#include "rsp/status.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

using Stop = RunStatus::Stop;

struct StopName {
  std::string_view name;
  Stop stop;
  bool has_text;
  bool has_tracepoint;
};
constexpr StopName kStops[] = {
    {"tnotrun", Stop::NotRun, false, false},
    {"tstop", Stop::Requested, true, false},
    {"tfull", Stop::BufferFull, false, false},
    {"tdisconnected", Stop::Disconnected, false, false},
    {"tpasscount", Stop::PassCount, false, true},
    {"terror", Stop::Failed, true, true},
    {"tunknown", Stop::Unknown, false, false},
};

/// GDB keeps these two in an int and takes what is larger for unknown.
constexpr uint64_t kGdbCounterMax = 0x7fffffff;

/// The text of a user stop and of an error is always there, be it empty: GDB 13 crashes in tsave
/// after `tstop:0`, and its reader of `terror` wants both colons. An unknown reason has no room for
/// a text; what is known all the same (the program has exited) is an error of no tracepoint then.
std::string stop_field(const RunStatus& status) {
  if (status.stop == Stop::Unknown && !status.stop_text.empty())
    return fmt::format("terror:{}:0", to_hex(status.stop_text));
  const auto* found = std::find_if(std::begin(kStops), std::end(kStops),
                                   [&](const StopName& one) { return one.stop == status.stop; });
  const StopName& stop = found == std::end(kStops) ? kStops[std::size(kStops) - 1] : *found;
  const std::string text = stop.has_text ? to_hex(status.stop_text) + ":" : "";
  const uint32_t tracepoint = stop.has_tracepoint ? status.stop_tracepoint : 0;
  return fmt::format("{}:{}{:x}", stop.name, text, tracepoint);
}

void add_number(std::string& out, std::string_view name, std::optional<uint64_t> value) {
  if (value) out += fmt::format(";{}:{:x}", name, *value);
}

void add_text(std::string& out, std::string_view name, const std::optional<std::string>& value) {
  if (value) out += fmt::format(";{}:{}", name, to_hex(*value));
}

void add_counter(std::string& out, std::string_view name, std::optional<uint64_t> value) {
  if (value) value = std::min(*value, kGdbCounterMax);
  add_number(out, name, value);
}

std::optional<uint64_t> unless_zero(std::optional<uint64_t> value) {
  return value && *value != 0 ? value : std::nullopt;
}

/// `[<hex text>:]<hex number>`. Reads nothing at all or everything.
bool read_stop(const StopName& stop, std::string_view value, RunStatus& status) {
  TextReader in(value);
  std::string text;
  if (value.find(':') != std::string_view::npos) {
    auto decoded = text_from_hex(in.take_until(':'));
    if (!decoded) return false;
    text = *std::move(decoded);
  }
  const auto number = in.hex32();
  if (!number && !in.done()) return false;
  status.stop = stop.stop;
  status.stop_text = stop.has_text ? std::move(text) : "";
  status.stop_tracepoint = stop.has_tracepoint ? number.value_or(0) : 0;
  return true;
}

bool read_number(std::string_view value, std::optional<uint64_t>& to) {
  const auto number = parse_hex(value.substr(0, value.find(':')));
  if (number) to = number;
  return number.has_value();
}

bool read_flag(std::string_view value, std::optional<bool>& to) {
  std::optional<uint64_t> number;
  if (!read_number(value, number)) return false;
  to = *number != 0;
  return true;
}

bool read_text(std::string_view value, std::optional<std::string>& to) {
  auto text = text_from_hex(value.substr(0, value.find(':')));
  if (text) to = std::move(text);
  return text.has_value();
}

bool read_field(std::string_view name, std::string_view value, RunStatus& status) {
  for (const StopName& stop : kStops)
    if (name == stop.name) return read_stop(stop, value, status);
  if (name == "tframes") return read_number(value, status.frames);
  if (name == "tcreated") return read_number(value, status.frames_created);
  if (name == "tfree") return read_number(value, status.buffer_free);
  if (name == "tsize") return read_number(value, status.buffer_size);
  if (name == "circular") return read_flag(value, status.circular);
  if (name == "disconn") return read_flag(value, status.disconnected);
  if (name == "starttime") return read_number(value, status.start_time_us);
  if (name == "stoptime") return read_number(value, status.stop_time_us);
  if (name == "username") return read_text(value, status.user_name);
  if (name == "notes") return read_text(value, status.notes);
  return false;
}

}  // namespace

std::string format_status(const RunStatus& status) {
  std::string out = fmt::format("T{};{}", status.running ? 1 : 0, stop_field(status));
  add_number(out, "tframes", status.frames);
  add_number(out, "tcreated", status.frames_created);
  add_counter(out, "tfree", status.buffer_free);
  add_counter(out, "tsize", status.buffer_size);
  add_number(out, "circular", status.circular);
  add_number(out, "disconn", status.disconnected);
  add_number(out, "starttime", status.start_time_us);
  add_number(out, "stoptime", status.stop_time_us);
  add_text(out, "username", status.user_name);
  add_text(out, "notes", status.notes);
  return out;
}

std::string format_status_tfile(const RunStatus& status) {
  std::string out = fmt::format("{};{}", status.running ? 1 : 0, stop_field(status));
  add_number(out, "tframes", status.frames);
  add_number(out, "tcreated", status.frames_created);
  add_number(out, "tfree", status.buffer_free);
  add_number(out, "tsize", status.buffer_size);
  if (status.disconnected.value_or(false)) out += ";disconn:1";
  if (status.circular.value_or(false)) out += ";circular:1";
  add_number(out, "starttime", unless_zero(status.start_time_us));
  add_number(out, "stoptime", unless_zero(status.stop_time_us));
  add_text(out, "notes", status.notes);
  add_text(out, "username", status.user_name);
  return out;
}

Result<RunStatus> parse_status(std::string_view text, std::vector<std::string>* unknown) {
  TextReader in(text);
  in.skip('T');
  RunStatus status;
  status.stop = Stop::Unknown;  // until a reason comes, as GDB has it
  status.running = in.peek() == '1';
  if (!in.skip('0') && !in.skip('1'))
    return Error{Errc::Corrupt, "trace status begins with neither 0 nor 1", in.offset()};
  if (!in.done() && in.peek() != ';')
    return Error{Errc::Corrupt, "trace status without its first ;", in.offset()};
  in.skip(';');
  while (!in.done()) {
    const std::string_view field = in.take_until(';');
    TextReader parts(field);
    const std::string_view name = parts.take_until(':');
    if (!field.empty() && !read_field(name, parts.rest(), status) && unknown)
      unknown->emplace_back(field);
  }
  return status;
}

}  // namespace tracewell::rsp
