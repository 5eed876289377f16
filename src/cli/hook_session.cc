#include "cli/hook_session.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/folder.h"
#include "base/text.h"
#include "cli/counted.h"
#include "formats/hooklog_packets.h"
#include "hooks/components/components.h"
#include "hooks/programs/confined_programs.h"
#include "hooks/programs/unseen_programs.h"
#include "hooks/session/session.h"
#include "model/lost_count.h"

namespace tracewell::cli {

void add_channel_options(CLI::App& app, std::optional<unsigned>& channel) {
  for (unsigned i = 0; i < TRACEWELL_HOOK_CHANNELS; ++i)
    app.add_flag_callback(
        fmt::format("-{}", i),
        [&channel, i] {
          if (channel && *channel != i) throw CLI::ValidationError("channel", "one is enough");
          channel = i;
        },
        fmt::format("channel {}", i));
}

unsigned channel_of(const hooks::Control& control, const std::optional<unsigned>& asked) {
  if (asked) return *asked;
  const auto active = hooks::active_channels(control);
  return active.size() == 1 ? active[0] : 0;
}

Result<std::vector<uint16_t>> hook_ids(const std::string& text) {
  std::vector<uint16_t> out;
  for (const std::string_view one : list_words(text)) {
    unsigned id = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), id, 16);
    if (error != std::errc() || end != one.data() + one.size() || one.size() < 2 || one.size() > 4)
      return {Errc::InvalidArgument,
              fmt::format("'{}' is no hook: two, three or four hex digits", printable(one))};
    const unsigned shifted = id << 4 * (4 - one.size());
    const unsigned last = shifted + (one.size() == 2 ? 0xf0u : 0u);
    for (unsigned next = shifted; next <= last; next += 0x10) out.push_back(uint16_t(next));
  }
  if (out.empty()) return {Errc::InvalidArgument, "no hooks are named"};
  return out;
}

std::vector<std::string_view> list_words(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view piece : split(text, ','))
    for (const std::string_view word : split(piece, ' '))
      if (!word.empty()) out.push_back(word);
  return out;
}

std::optional<uint64_t> size_in_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "kmg";
  unsigned shift = 0;
  if (!text.empty()) {
    const size_t unit = kUnits.find(static_cast<char>(text.back() | 0x20));
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<unsigned>(unit + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = parse_number(text);
  if (!number || *number > std::numeric_limits<uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

const SizeLimits kBufferLimits{hooks::kBufferBytesMin, hooks::kBufferBytesMax};
const SizeLimits kComponentBufferLimits{hooks::kComponentBufferMin, hooks::kComponentBufferMax};

SizeLimits log_limits(uint64_t fits) {
  // An offset of a file has a sign.
  return {fits * hooks::kBufferBytesMin, uint64_t{1} << 62};
}

std::string size_text(uint64_t bytes) {
  constexpr std::string_view kUnits = "gmk";
  for (size_t i = 0; i < kUnits.size(); ++i) {
    const size_t shift = 10 * (kUnits.size() - i);
    if (bytes >> shift != 0 && bytes >> shift << shift == bytes)
      return fmt::format("{}{}", bytes >> shift, kUnits[i]);
  }
  return fmt::format("{}", bytes);
}

Result<uint64_t> size_within(std::string_view text, std::string_view option,
                             const SizeLimits& limits) {
  const auto size = size_in_bytes(text);
  if (!size)
    return {Errc::InvalidArgument,
            fmt::format("{}: '{}' is no size, as 65536, 64k, 2m or 1g are", option,
                        printable(text))};
  if (*size >= limits.least && *size <= limits.most) return *size;
  return {Errc::InvalidArgument,
          fmt::format("{}: {} is too {}: {} to {}", option, printable(text),
                      *size < limits.least ? "small" : "large", size_text(limits.least),
                      size_text(limits.most))};
}

void refuse_nothing(CLI::App& app, const std::string& may_be_empty) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0) continue;
    if (!may_be_empty.empty() && option->check_name(may_be_empty)) continue;
    option->check([](const std::string& value) {
      return value.find_first_not_of(" ,") == std::string::npos
                 ? std::string("is given, and nothing stands behind it; leave it out, or say what")
                 : std::string();
    });
  }
}

void tell_collectors(const hooks::Control& control) {
  for (const unsigned channel : hooks::active_channels(control))
    if (const auto trouble = hooks::collector_trouble(control, channel))
      fmt::print(stderr, "tracewell: {}\n", *trouble);
}

void tell_lost_hooks(const std::optional<Folder>& log, const std::function<bool()>& stop) {
  if (!log) return;
  ProblemLog unused;
  formats::HooklogPackets packets;
  packets.stop = stop;
  packets.add_folder(*log, unused);
  uint64_t count = 0;
  bool uncounted = false;
  for (const auto& [id, stream] : packets.streams) {
    // Each packet tells of its ring's until then.
    uint64_t lost = stream.lost;
    for (const formats::HooklogPacket& one : stream.packets) lost = std::max(lost, one.head.lost);
    count = lost_sum(count, lost_count(lost));
    uncounted |= lost_count(lost) != lost;
  }
  if (count == 0 && !uncounted) return;
  const std::string hooks = count == 0 ? "it is not known how many hooks"
                                       : counted(count, "hook") + (uncounted ? " and more" : "");
  fmt::print(stderr, "tracewell: {} found no room (tracewell check {} says where); trace -T makes "
                     "room\n", hooks, printable(log->path()));
}

void tell_control_folder() {
  if (const auto trouble = hooks::control_folder_trouble())
    fmt::print(stderr, "tracewell: {}\n", *trouble);
}

std::optional<std::string> believed_path(const Result<std::string>& path) {
  static bool told = false;
  if (path.ok()) return *path;
  // Where nothing is there yet, nothing is left out.
  if (path.error().code != Errc::NotFound && !std::exchange(told, true))
    fmt::print(stderr, "tracewell: {} (nothing that is there is used)\n", path.error().message);
  return std::nullopt;
}

void tell_unseen_programs() {
  tell_control_folder();
  for (const hooks::UnseenProgram& one : hooks::unseen_programs()) {
    const std::string who = fmt::format("{} (process {})", printable(one.path), one.pid);
    if (one.removed)
      fmt::print(stderr,
                 "tracewell: {} is not traced: the file {} that it looks at was removed. Start it "
                 "anew\n",
                 who, printable(one.looks_at));
    else if (one.elsewhere)
      fmt::print(stderr,
                 "tracewell: {} is not traced: it looks at {}, and commands at {}. Start it anew, "
                 "with the librts of this tracewell\n",
                 who, printable(one.looks_at), printable(hooks::control_folder()));
    else
      fmt::print(stderr,
                 "tracewell: {} is not traced: its librts is of another version ({}, and this is "
                 "{}). Start it with the librts of this tracewell; link it anew if it has librts.a "
                 "in it\n",
                 who, printable(one.looks_at), TRACEWELL_CONTROL_NAME);
  }
}

Status kills_nobody() {
  const std::vector<hooks::ConfinedProgram> all = hooks::confined_programs();
  if (all.empty()) return {};
  const hooks::ConfinedProgram& first = all.front();
  const std::string more =
      all.size() == 1 ? "" : fmt::format(" ({} more do)", all.size() - 1);
  const std::string_view whether =
      first.may_have_none ? ". It lets nobody see whether it has trace hooks: then" : ", and";
  return {Errc::Unsupported,
          fmt::format("{} (process {}) restricts its system calls (seccomp){}{} its filter may "
                      "kill it for those of its first hook in a trace. End it first, or say "
                      "--confined if its filter allows them (tracewell/hooks.h lists them){}",
                      printable(first.path), first.pid, more, whether,
                      first.may_have_none ? ", or if it has none" : "")};
}

Run on_channel(const std::function<Status(hooks::Control&, unsigned channel)>& work,
               CLI::App& app) {
  auto channel = std::make_shared<std::optional<unsigned>>();
  add_channel_options(app, *channel);
  app.footer(
      "Without a channel, the one that has a trace is meant; channel 0 where several have one.\n"
      "Exit status: 1 if no trace runs there.");
  return [channel, work](const Invocation&) -> int {
    auto control = hooks::Control::open();
    if (!control) return fail(control.error());
    tell_collectors(*control);
    const Status status = work(*control, channel_of(*control, *channel));
    return status.ok() ? static_cast<int>(kOk) : fail(status.error());
  };
}

}  // namespace tracewell::cli
