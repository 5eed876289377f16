// The text of a log's metadata.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text/text.h"
#include "hooks/log/log_folder.h"

namespace tracewell::hooks {
namespace {

constexpr uint64_t kMetadataMax = 1 << 20;  // a command line may be 128 KiB, and is quoted

constexpr std::string_view kTypes = R"(
typealias integer { size = 8; align = 8; signed = false; } := byte;
typealias integer { size = 16; align = 8; signed = false; } := half;
typealias integer { size = 16; align = 8; signed = false; base = 16; } := hex_half;
typealias integer { size = 32; align = 8; signed = false; } := word;
typealias integer { size = 64; align = 8; signed = false; } := wide;
typealias integer { size = 32; align = 8; signed = false; base = 16; } := hex_word;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex_wide;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := letter;
)";

constexpr std::string_view kTicks = R"(
typealias integer { size = 64; align = 8; signed = false; map = clock.tsc.value; } := ticks;
typealias integer { size = 48; align = 8; signed = false; map = clock.tsc.value; } := short_ticks;
)";

/// Packets are of stream class 1: those of releases before, of class 0, had less in their context.
constexpr std::string_view kStream = R"(
stream {
  id = 1;
  event.header := struct { half id; short_ticks timestamp; } align(32);
  packet.context := struct {
    wide packet_size;
    wide content_size;
    ticks timestamp_begin;
    ticks timestamp_end;
    wide events_discarded;
    wide packet_seq_num;
    wide overwritten;
    word pid;
    word tid;
    word records;
    word state;
    hex_wide boot;
    hex_wide process;
    wide process_start;
    word ring;
    word checksum;
    word record_bytes_max;
    word reserved[3];
  };
};
)";

/// An event ends where the next one may begin, or readers look for one behind a packet's last.
constexpr std::string_view kPadding = "struct { } align(32) end; ";

std::string event_text(std::string_view name, unsigned id, std::string_view fields) {
  return fmt::format("event {{\n  name = \"{}\";\n  id = {};\n  stream_id = {};\n"
                     "  fields := struct {{ {}}};\n}};\n",
                     name, id, TRACEWELL_PACKET_STREAM, fields);
}

/// For each macro one event class, and one for that with a T; with a processor, or without: the
/// record's flags are the upper half of CTF's id.
std::string hook_events_text(unsigned flags, bool wide) {
  const std::string_view type = wide ? "hex_wide" : "hex_word";
  const std::string suffix =
      fmt::format("{}{}", flags & TRACEWELL_RECORD_TIMED ? "T" : "", wide ? "" : "_32");
  const unsigned high = flags << 8;
  const std::string_view cpu = flags & TRACEWELL_RECORD_CPU ? "word cpu; " : "";
  std::string fields = "hex_half subhook; hex_half hook; ";
  std::string out;
  for (unsigned i = 0; i <= TRACEWELL_HOOK_WORDS_MAX; ++i) {
    if (i > 0) fields += fmt::format("{} d{}; ", type, i);
    const unsigned id = (wide ? TRACEWELL_RECORD_WORDS_64 : TRACEWELL_RECORD_WORDS_32) + i;
    out += event_text(fmt::format("TRCHKL{}{}", i, suffix), high | id,
                      fmt::format("{}{}", fields, cpu));
  }
  const unsigned id = wide ? TRACEWELL_RECORD_GENERIC_64 : TRACEWELL_RECORD_GENERIC_32;
  return out + event_text(fmt::format("TRCGEN{}", suffix), high | id,
                          fmt::format("hex_half subhook; hex_half hook; {} d1; half length; "
                                      "byte data[length]; {}{}",
                                      type, kPadding, cpu));
}

std::string events_text(bool cpus) {
  std::string out;
  for (const unsigned cpu : {0u, TRACEWELL_RECORD_CPU})
    for (const unsigned timed : {0u, TRACEWELL_RECORD_TIMED})
      for (const bool wide : {true, false})
        if (cpu == 0 || cpus) out += hook_events_text(cpu | timed, wide);
  for (const auto& [name, id] : {std::pair{"mark", TRACEWELL_RECORD_MARK},
                                 std::pair{"program", TRACEWELL_RECORD_PROGRAM}})
    out += event_text(name, static_cast<unsigned>(id),
                      fmt::format("half length; letter text[length]; {}", kPadding));
  out += event_text("thread", TRACEWELL_RECORD_THREAD, "half length; word tid; half unused; ");
  return out;
}

/// As CTF has it between quotes, where escapes are those of C. Control characters become text that
/// tells them, since a value is a line for those who read it.
std::string quotable(std::string_view value) {
  std::string out;
  for (const char c : printable(value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string clock_text(const LogClock& clock) {
  return fmt::format("\nclock {{\n  name = tsc;\n  freq = {};\n  offset_s = {};\n  offset = {};\n"
                     "  absolute = true;\n}};\n",
                     clock.hertz, clock.seconds, clock.ticks);
}

}  // namespace

std::string uuid_text(const Uuid& uuid) {
  std::string out;
  for (size_t i = 0; i < uuid.size(); ++i)
    out += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return out;
}

Result<std::string> read_metadata(const Folder& log) {
  TW_ASSIGN_OR_RETURN(const auto file, log.read("metadata", kMetadataMax));
  return std::string(as_text(file->bytes()));
}

/// Programs look for it too (src/inproc/ring.c), and read no more than they must.
bool is_log_of(const Folder& log, std::span<const uint8_t> session) {
  Uuid uuid;
  std::ranges::copy(session, uuid.begin());
  const auto text = read_metadata(log);
  return text.ok() && std::string_view(*text).substr(0, TRACEWELL_LOG_UUID_WITHIN).find(
                          uuid_text(uuid)) != std::string::npos;
}

std::string metadata_fact(const LogFact& fact) {
  return fmt::format("  {} = \"{}\";\n", fact.first, quotable(fact.second));
}

std::string metadata_text(const Uuid& uuid, const LogClock& clock, const LogFacts& facts,
                          bool cpus) {
  std::string env;
  for (const LogFact& fact : facts) env += metadata_fact(fact);
  return fmt::format(
      "/* CTF 1.8 */\n\n/* A log of trace hooks, written by tracewell. */\n{}\n"
      "trace {{\n  major = 1;\n  minor = 8;\n  uuid = \"{}\";\n  byte_order = le;\n"
      "  packet.header := struct {{ word magic; byte uuid[16]; word stream_id; "
      "wide stream_instance_id; }};\n}};\n"
      "\nenv {{\n  tracer_name = \"tracewell\";\n{}}};\n{}{}{}\n{}",
      kTypes, uuid_text(uuid), env, clock_text(clock), kTicks, kStream,
      events_text(cpus));
}

Status write_metadata(const Folder& log, const std::string& text) {
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create_in(log, "metadata"));
  TW_RETURN_IF_ERROR(file.write(text));
  return file.commit();
}

Status declare_packets(const Folder& log) {
  TW_ASSIGN_OR_RETURN(const std::string text, read_metadata(log));
  if (text.find("\nstream {\n  id = 1;\n") != std::string::npos) return {};
  return write_metadata(log, fmt::format("{}{}\n{}", text, kStream, events_text(true)));
}

std::optional<LogClock> clock_in(std::string_view metadata) {
  const size_t at = metadata.find("\nclock {\n");
  if (at == std::string_view::npos) return std::nullopt;
  metadata.remove_prefix(at);
  metadata = metadata.substr(0, metadata.find("};\n"));
  const auto number = [&](std::string_view key) -> std::optional<uint64_t> {
    const std::string before = fmt::format("\n  {} = ", key);
    const size_t from = metadata.find(before);
    if (from == std::string_view::npos) return std::nullopt;
    const std::string_view rest = metadata.substr(from + before.size());
    return parse_number(rest.substr(0, rest.find(';')));
  };
  const auto hertz = number("freq"), seconds = number("offset_s"), ticks = number("offset");
  if (!hertz || !seconds || !ticks || *hertz == 0) return std::nullopt;
  return LogClock{*hertz, static_cast<int64_t>(*seconds), *ticks};
}

Status change_clock(const Folder& log, const LogClock& clock) {
  TW_ASSIGN_OR_RETURN(std::string text, read_metadata(log));
  const size_t from = text.find("\nclock {\n");
  const size_t to = from == std::string::npos ? from : text.find("};\n", from);
  if (to == std::string::npos)
    return {Errc::Corrupt, printable(log.path_of("metadata")) + " has no clock"};
  text.replace(from, to + 3 - from, clock_text(clock));
  return write_metadata(log, text);
}

}  // namespace tracewell::hooks
