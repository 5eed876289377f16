#include "hooks/words/session_words.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/message.h"
#include "base/text/text.h"
#include "hooks/control/defaults.h"
#include "hooks/log/log_use.h"
#include "hooks/programs/own_process.h"
#include "hooks/words/hook_groups.h"
#include "hooks/words/hook_ids.h"
#include "hooks/words/sizes.h"

namespace tracewell::hooks {
namespace {

std::string system_text() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{} {} {} {}", name.sysname, name.release, name.version, name.machine);
}

std::string host_name() {
  utsname name{};
  ::uname(&name);
  return name.nodename;
}

/// As a shell reads it back as one word.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<std::string> chosen_log(const SessionWords& words, unsigned channel) {
  std::string path = words.log;
  if (words.log == "-")
    return {Errc::InvalidArgument, "-o -: a log is a folder, and cannot be written to a pipe"};
  if (words.log.empty()) {
    auto usual = default_log(StateUse::Write);
    if (!usual.ok()) {
      usual.error().message += " (-o names another log)";
      return usual.error();
    }
    path = *std::move(usual);
    if (channel != 0) path += fmt::format("-{}", channel);
    const std::string folder = parent_of(path);
    if (auto made = make_folders(folder); !made.ok())
      return hinting(std::move(made).error(), printable(folder), "(-o names another log)");
  }
  return log_path(path);
}

/// Those of -j and the groups of -J, without those of -k and -K.
Status choose_hooks(const SessionWords& words, BelievedFiles& files, SessionOptions& out) {
  using Hooks = std::vector<uint16_t>;
  const auto add = [](Result<Hooks> more, Hooks& to) -> Status {
    if (!more.ok()) return std::move(more).error();
    to.insert(to.end(), more->begin(), more->end());
    return {};
  };
  if (!words.only.empty() || !words.only_groups.empty()) out.only.emplace();
  if (!words.only.empty()) TW_RETURN_IF_ERROR(add(hook_ids(words.only), *out.only));
  if (!words.only_groups.empty())
    TW_RETURN_IF_ERROR(add(hooks_of_own_groups(files, words.only_groups), *out.only));
  if (!words.except.empty()) TW_RETURN_IF_ERROR(add(hook_ids(words.except), out.except));
  if (words.except_groups.empty()) return {};
  return add(hooks_of_own_groups(files, words.except_groups), out.except);
}

Status add_numbers(const std::string& text, const char* option, std::vector<uint32_t>& to) {
  for (const std::string_view word : list_words(text)) {
    const auto number = parse_number(word);
    if (!number || *number == 0 || *number > INT32_MAX)
      return {Errc::InvalidArgument,
              fmt::format("{}: '{}' is no number of a process or thread", option,
                          printable(word))};
    to.push_back(static_cast<uint32_t>(*number));
  }
  return {};
}

/// A trace sees programs of its own user only.
Status check_own_numbers(const std::vector<uint32_t>& numbers, const char* option) {
  for (const uint32_t number : numbers) {
    const std::string folder = fmt::format("/proc/{}", number);
    if (!is_there(folder) && is_there("/proc/self"))
      return {Errc::InvalidArgument,
              fmt::format("{}: there is no {} {}", option,
                          std::string_view(option) == "-A" ? "process" : "thread", number)};
    const auto users = users_of_process(folder);
    if (users && !is_own_user(users->effective))
      return {Errc::InvalidArgument,
              fmt::format("{}: {} is another user's (user {}); a trace sees programs of user {} "
                          "only, who runs it",
                          option, number, users->effective, ::geteuid())};
  }
  return {};
}

/// -A, -t and -P.
Status choose_threads(const SessionWords& words, SessionOptions& out) {
  TW_RETURN_IF_ERROR(add_numbers(words.processes, "-A", out.processes));
  TW_RETURN_IF_ERROR(add_numbers(words.threads, "-t", out.threads));
  TW_RETURN_IF_ERROR(check_own_numbers(out.processes, "-A"));
  TW_RETURN_IF_ERROR(check_own_numbers(out.threads, "-t"));
  if (words.propagation == "p") out.propagation = TRACEWELL_PROPAGATE_PROCESSES;
  if (words.propagation == "t") out.propagation = TRACEWELL_PROPAGATE_THREADS;
  if (out.propagation != 0 && out.processes.empty() && out.threads.empty())
    return {Errc::InvalidArgument, "-P needs -A or -t: from whom?"};
  return {};
}

/// -C and -p.
Status choose_cpus(const SessionWords& words, SessionOptions& out) {
  out.record_cpus = words.record_cpus || !words.cpus.empty();
  if (words.cpus.empty() || words.cpus == "all") return {};
  const long known = ::sysconf(_SC_NPROCESSORS_CONF);
  for (const std::string_view word : list_words(words.cpus)) {
    const auto cpu = parse_number(word);
    if (!cpu || *cpu >= static_cast<uint64_t>(known))
      return {Errc::InvalidArgument,
              fmt::format("-C: '{}' is no processor of this machine: 0 to {}, or all",
                          printable(word), known - 1)};
    out.cpus.push_back(static_cast<uint32_t>(*cpu));
  }
  return {};
}

/// What the command line says; the defaults, which somebody may have written by hand; `otherwise`.
Result<uint64_t> chosen_size(const std::string& text, const char* option,
                             const std::optional<uint64_t>& standard, uint64_t otherwise,
                             const SizeLimits& limits) {
  if (!text.empty()) return size_within(text, option, limits);
  if (!standard) return otherwise;
  return size_within(fmt::format("{}", *standard), fmt::format("trcctl {}", option), limits);
}

/// AIX's rule: two buffers fit the log. What was not asked for is made to fit, and that is told.
Status choose_sizes(const SessionWords& words, BelievedFiles& files, const Work& work,
                    SessionOptions& out) {
  files.path(defaults_path());  // says so where it is not
  TW_ASSIGN_OR_RETURN(const Defaults defaults, read_defaults());
  const uint64_t buffers = words.single ? 1 : 2;
  TW_ASSIGN_OR_RETURN(out.buffer_bytes,
                      chosen_size(words.buffer_size, "-T", defaults.buffer_bytes, out.buffer_bytes,
                                  kBufferLimits));
  TW_ASSIGN_OR_RETURN(out.log_bytes, chosen_size(words.log_size, "-L", defaults.log_bytes, 0,
                                                 log_limits(buffers)));
  const uint64_t fits = out.log_bytes / buffers;
  if (out.log_bytes != 0 && out.buffer_bytes > fits) {
    if (!words.buffer_size.empty())
      return {Errc::InvalidArgument,
              fmt::format("-T: a buffer has at most {} ({} bytes; -L makes it larger)",
                          words.single ? "the size of the log" : "half of the log", fits)};
    work.tell(fmt::format(
        "a thread's buffer has {}, not {}, since {} the log of {} (-L); -L {} leaves it as it is",
        size_text(fits), size_text(out.buffer_bytes),
        words.single ? "it is to fit" : "two are to fit", size_text(out.log_bytes),
        size_text(out.buffer_bytes * buffers)));
    out.buffer_bytes = fits;
  }
  if (defaults.user_buffer_max && ::geteuid() != 0 && out.buffer_bytes > *defaults.user_buffer_max)
    return {Errc::InvalidArgument,
            fmt::format("-T: a buffer has at most {} bytes here (trcctl -N)",
                        *defaults.user_buffer_max)};
  return {};
}

}  // namespace

Result<SessionOptions> read_session(const SessionWords& words, unsigned channel,
                                    const std::string& command, BelievedFiles& files,
                                    const Work& work) {
  SessionOptions out;
  out.channel = channel;
  out.buffering = words.circular ? Buffering::Circular
                  : words.single ? Buffering::Single
                                   : Buffering::Alternate;
  TW_RETURN_IF_ERROR(choose_sizes(words, files, work, out));
  if (words.stop_when_full && out.log_bytes == 0)
    return {Errc::InvalidArgument, "-s needs -L: when is the log full?"};
  out.stop_when_full = words.stop_when_full;
  out.off = words.off;
  out.keep_old_log = words.keep_old;
  TW_ASSIGN_OR_RETURN(out.log, chosen_log(words, channel));
  TW_RETURN_IF_ERROR(choose_hooks(words, files, out));
  TW_RETURN_IF_ERROR(choose_threads(words, out));
  TW_RETURN_IF_ERROR(choose_cpus(words, out));
  out.facts = {{"hostname", host_name()},
               {"command", command},
               {"mode", words.circular ? "circular" : words.single ? "single" : "alternate"}};
  if (out.record_cpus) {
    const auto known = static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_CONF));
    out.facts.emplace_back("cpus", fmt::format("{}", known));
    out.facts.emplace_back("traced_cpus",
                           fmt::format("{}", out.cpus.empty() ? known : out.cpus.size()));
  }
  if (!words.message.empty()) out.facts.emplace_back("message", words.message);
  if (words.system) out.facts.emplace_back("system", system_text());
  return out;
}

std::string command_text(const std::string& program, const std::vector<std::string>& arguments) {
  std::string out = program;
  for (const std::string& word : arguments) out += " " + shell_word(word);
  return out;
}

}  // namespace tracewell::hooks
