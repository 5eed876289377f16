// The text of a log's metadata, and the folder that it is in.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "hooks/log_folder.h"

namespace tracewell::hooks {
namespace {

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

constexpr std::string_view kStream = R"(
typealias integer { size = 64; align = 8; signed = false; map = clock.tsc.value; } := ticks;
typealias integer { size = 48; align = 8; signed = false; map = clock.tsc.value; } := short_ticks;

stream {
  id = 0;
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
  };
};
)";

/// An event ends where the next one may begin, or readers look for one behind a packet's last.
constexpr std::string_view kPadding = "struct { } align(32) end; ";

std::string event_text(std::string_view name, unsigned id, std::string_view fields) {
  return fmt::format("event {{\n  name = \"{}\";\n  id = {};\n  stream_id = 0;\n"
                     "  fields := struct {{ {}}};\n}};\n",
                     name, id, fields);
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
  return out;
}

/// What may stand between quotes.
std::string quotable(std::string_view value) {
  std::string out = printable(value);
  std::erase_if(out, [](char c) { return c == '"' || c == '\\' || c == '\n'; });
  return out;
}

std::string clock_text(const LogClock& clock) {
  return fmt::format("\nclock {{\n  name = tsc;\n  freq = {};\n  offset_s = {};\n  offset = {};\n"
                     "  absolute = true;\n}};\n",
                     clock.hertz, clock.seconds, clock.ticks);
}

bool is_log(const std::string& path) {
  const auto file = InputFile::open(path + "/metadata");
  return file.ok() && as_text((*file)->bytes()).starts_with("/* CTF 1.8 */") &&
         as_text((*file)->bytes()).find("tracewell") != std::string_view::npos;
}

/// All files in it, and it; no folder in it but that of rings.
Status remove_folder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()), ::closedir);
  if (!entries) return errno_error(path);
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    const std::string one = fmt::format("{}/{}", path, name);
    if (name == "." || name == "..") continue;
    if (name == ".rings")
      TW_RETURN_IF_ERROR(remove_folder(one));
    else if (::unlink(one.c_str()) != 0)
      return errno_error(one);
  }
  if (::rmdir(path.c_str()) != 0) return errno_error(path);
  return {};
}

}  // namespace

std::string uuid_text(const Uuid& uuid) {
  std::string out;
  for (size_t i = 0; i < uuid.size(); ++i)
    out += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return out;
}

std::string metadata_text(const Uuid& uuid, const LogClock& clock, const LogFacts& facts,
                          bool cpus) {
  std::string env;
  for (const auto& [key, value] : facts)
    env += fmt::format("  {} = \"{}\";\n", key, quotable(value));
  return fmt::format(
      "/* CTF 1.8 */\n\n/* A log of trace hooks, written by tracewell. */\n{}\n"
      "trace {{\n  major = 1;\n  minor = 8;\n  uuid = \"{}\";\n  byte_order = le;\n"
      "  packet.header := struct {{ word magic; byte uuid[16]; word stream_id; "
      "wide stream_instance_id; }};\n}};\n"
      "\nenv {{\n  tracer_name = \"tracewell\";\n{}}};\n{}{}\n{}",
      kTypes, uuid_text(uuid), env, clock_text(clock), kStream, events_text(cpus));
}

namespace {

/// Nobody else may put something else into the place of what is there while we look at it.
Status check_parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string parent = slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
  struct stat about {};
  if (::stat(parent.c_str(), &about) != 0) return errno_error(parent);
  const bool ours = about.st_uid == ::geteuid() || about.st_uid == 0;
  const bool open = (about.st_mode & 0022) != 0 && (about.st_mode & S_ISVTX) == 0;
  if (::geteuid() == 0 && (!ours || open))
    return {Errc::InvalidArgument,
            fmt::format("others may write to {}: no place for a log of root's",
                        printable(parent))};
  return {};
}

/// `path` is there: is it a log that may be replaced?
Status check_old_log(const std::string& path, const struct stat& about) {
  if (S_ISLNK(about.st_mode))
    return {Errc::InvalidArgument,
            fmt::format("{} is a symbolic link; name what it leads to", printable(path))};
  if (!S_ISDIR(about.st_mode) || !is_log(path))
    return {Errc::InvalidArgument,
            fmt::format("{} is there, and is no log of trace hooks", printable(path))};
  if (about.st_uid != ::geteuid())
    return {Errc::InvalidArgument, fmt::format("{} is somebody else's log", printable(path))};
  return {};
}

/// Rings that nobody has collected.
bool has_rings(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir((path + "/.rings").c_str()),
                                                    ::closedir);
  if (!entries) return false;
  while (const dirent* entry = ::readdir(entries.get()))
    if (entry->d_name[0] != '.') return true;
  return false;
}

}  // namespace

Status make_log_folder(const std::string& path, bool keep_old) {
  struct stat about {};
  TW_RETURN_IF_ERROR(check_parent(path));
  if (::lstat(path.c_str(), &about) == 0) {
    TW_RETURN_IF_ERROR(check_old_log(path, about));
    const std::string old = path + ".old";
    if (!keep_old && has_rings(path))
      return {Errc::InvalidArgument,
              fmt::format("{0} has hooks that nobody has collected: `trcdead {0}` does, -c keeps "
                          "it as {0}.old",
                          printable(path))};
    if (keep_old && ::lstat(old.c_str(), &about) == 0) {
      TW_RETURN_IF_ERROR(check_old_log(old, about));
      TW_RETURN_IF_ERROR(remove_folder(old));
    }
    if (!keep_old) {
      TW_RETURN_IF_ERROR(remove_folder(path));
    } else if (::rename(path.c_str(), old.c_str()) != 0) {
      return errno_error("cannot rename " + path);
    }
  }
  for (const std::string& folder : {path, path + "/.rings"})
    if (::mkdir(folder.c_str(), 0700) != 0) return errno_error("cannot make " + folder);
  return {};
}

Status write_metadata(const std::string& folder, const std::string& text) {
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(folder + "/metadata"));
  TW_RETURN_IF_ERROR(file.write(text));
  return file.commit();
}

Status change_clock(const std::string& folder, const LogClock& clock) {
  std::string text;
  {
    TW_ASSIGN_OR_RETURN(const auto file, InputFile::open(folder + "/metadata"));
    text = as_text(file->bytes());
  }
  const size_t from = text.find("\nclock {\n");
  const size_t to = from == std::string::npos ? from : text.find("};\n", from);
  if (to == std::string::npos)
    return {Errc::Corrupt, folder + "/metadata has no clock"};
  text.replace(from, to + 3 - from, clock_text(clock));
  return write_metadata(folder, text);
}

}  // namespace tracewell::hooks
