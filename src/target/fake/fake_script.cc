// FakeTarget: from text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "target/fake/fake_target.h"

namespace tracewell::target {
namespace {

using Words = std::vector<std::string_view>;

Words cut(std::string_view line) {
  Words words;
  for (std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  return words;
}

Error bad(std::string_view line) {
  return {Errc::InvalidArgument, fmt::format("cannot understand '{}'", line), {}};
}

std::optional<int64_t> decimal(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `PID.TID`; the tid alone finds the thread.
std::optional<std::pair<Pid, Tid>> thread_of(std::string_view text) {
  auto pid = decimal(take_until(text, '.'));
  auto tid = decimal(text);
  if (!pid || !tid) return std::nullopt;
  return std::pair{*pid, *tid};
}

Result<RegisterLayout> layout_of(std::span<const std::string_view> words, std::string_view line) {
  RegisterLayout layout;
  for (std::string_view word : words) {
    const std::string_view name = take_until(word, ':');
    auto size = decimal(take_until(word, '@'));
    auto number = decimal(word);
    if (!size || *size < 1 || *size > 64 || !number || *number < 0 || *number > 10000)
      return bad(line);
    if (!layout.registers.empty() && layout.registers.back().number >= *number) return bad(line);
    layout.registers.push_back({std::string(name), static_cast<uint32_t>(*number), 0,
                                static_cast<uint32_t>(*size), *size == 8 ? "int64" : "uint128"});
  }
  return layout;
}

}  // namespace

Status FakeTarget::set_register(Thread& thread, std::string_view name, uint64_t value) {
  const Register* entry = layout_.find(name);
  if (!entry) return Error{Errc::NotFound, fmt::format("no register {}", name), {}};
  store_uint(thread.block.data() + entry->offset, value, std::min<size_t>(entry->size_bytes, 8),
             Endian::Little);
  return {};
}

Status FakeTarget::describe_thread(const std::vector<std::string_view>& words,
                                   std::string_view line) {
  auto id = thread_of(words[1]);
  if (!id || !find_process(id->first)) return bad(line);
  if (words[0] == "thread") {
    Thread* known = find_thread(id->second);
    if (!known) {
      threads_.push_back({{id->first, id->second, "", -1},
                          std::vector<uint8_t>(layout_.size_bytes), {}});
      known = &threads_.back();
    }
    known->info.name = words[2];
    if (words.size() > 3) known->info.core = static_cast<int>(decimal(words[3]).value_or(-1));
    return {};
  }
  Thread* thread = find_thread(id->second);
  if (!thread) return bad(line);
  if (words[0] == "siginfo") {
    auto bytes = from_hex(words[2]);
    if (!bytes) return bad(line);
    thread->siginfo = *std::move(bytes);
    return {};
  }
  if (words[0] == "unknown") {
    const Register* entry = layout_.find(words[2]);
    if (!entry) return bad(line);
    thread->unknown.insert(static_cast<uint32_t>(entry - layout_.registers.data()));
    return {};
  }
  auto value = words.size() == 4 ? parse_hex(words[3]) : std::nullopt;
  if (!value) return bad(line);
  if (words[0] == "tls") {
    auto link_map = parse_hex(words[2]);
    if (!link_map) return bad(line);
    thread->locals[*link_map] = *value;
    return {};
  }
  return set_register(*thread, words[2], *value);
}

Status FakeTarget::describe_process(const std::vector<std::string_view>& words,
                                    std::string_view line) {
  auto pid = decimal(words[1]);
  Process* process = pid ? find_process(*pid) : nullptr;
  if (!process) return bad(line);
  if (words[0] == "exec") {
    process->exec_file = words[2];
    return {};
  }
  if (words[0] == "auxv") {
    auto bytes = from_hex(words[2]);
    if (!bytes) return bad(line);
    process->auxv = *std::move(bytes);
    return {};
  }
  if (words.size() < 4) return bad(line);
  if (words[0] == "library") {
    auto bias = parse_hex(words[3]);
    if (!bias) return bad(line);
    process->modules.push_back({std::string(words[2]), *bias, 0, 0, {}});
    return {};
  }
  auto address = parse_hex(words[2]);
  auto bytes = from_hex(words[3]);
  if (!address || !bytes || bytes->empty() || bytes->size() - 1 > UINT64_MAX - *address)
    return bad(line);
  process->memory[*address] = {*std::move(bytes), words.size() > 4 && words[4] == "ro"};
  return {};
}

Status FakeTarget::learn(std::string_view line) {
  const Words words = cut(line);
  if (words.size() < 2) return bad(line);
  const std::string_view verb = words[0];
  if (verb == "registers") {
    TW_ASSIGN_OR_RETURN(RegisterLayout layout, layout_of(std::span(words).subspan(1), line));
    set_layout(std::move(layout));
    return {};
  }
  if (verb == "without" || verb == "refuse") {
    if (verb == "without") without_.emplace(words[1]);
    else refusals_.emplace(words[1]);
    return {};
  }
  if (verb == "untold") {
    const auto pid = decimal(words[1]);
    const auto creator = words.size() > 2 ? decimal(words[2]) : std::nullopt;
    if (!pid || !find_process(*pid)) return bad(line);
    if (creator) untold_forks_[*pid] = *creator;
    else untold_.insert(*pid);
    return {};
  }
  if (verb == "process" || verb == "next-pid") {
    auto pid = decimal(words[1]);
    if (!pid || *pid <= 0 || find_process(*pid)) return bad(line);
    if (verb == "process") add_process(*pid, words.size() > 2 && words[2] == "attached");
    else next_pid_ = *pid;
    return {};
  }
  if (verb == "moments") {
    moments_ = static_cast<uint64_t>(decimal(words[1]).value_or(0));
    return {};
  }
  if (words.size() < 3) return bad(line);
  if (verb == "dll") {
    auto address = parse_hex(words[2]);
    if (!address) return bad(line);
    dlls_.push_back({std::string(words[1]), *address, 0, 0, {}});
    return {};
  }
  if (verb == "unknown" || verb == "thread" || verb == "reg" || verb == "siginfo" || verb == "tls")
    return describe_thread(words, line);
  if (verb == "mem" || verb == "auxv" || verb == "exec" || verb == "library")
    return describe_process(words, line);
  return bad(line);
}

Result<std::optional<StopEvent>> FakeTarget::event(std::string_view line) {
  const Words words = cut(line);
  auto id = words.empty() ? std::nullopt : thread_of(words[0]);
  if (!id || words.size() < 2) return bad(line);
  const std::string_view verb = words[1];
  Thread* thread = find_thread(id->second);
  if (!thread && verb != "none") return bad(line);
  if (verb == "hit") {
    std::vector<uint64_t> pcs;
    for (std::string_view word : std::span(words).subspan(2))
      if (auto pc = parse_hex(word); pc && word != "step") pcs.push_back(*pc);
    hit(*thread, pcs);
    return std::optional<StopEvent>();
  }
  if (verb == "trap") {
    auto address = words.size() > 2 ? parse_hex(words[2]) : std::nullopt;
    if (!address) return bad(line);
    const bool hardware = words.size() > 3 && words[3] == "hardware";
    return trap(*thread, hardware ? Breakpoints::Kind::Hardware : Breakpoints::Kind::Software,
                *address);
  }
  StopEvent event{.pid = id->first, .tid = id->second, .path = {}};
  if (thread) {
    thread->info.running = false;
    thread->info.sampled = std::exchange(thread->sample_wanted, false);
  }
  TW_RETURN_IF_ERROR(fill_event(event, verb, words.size() > 2 ? words[2] : "", line));
  return std::optional(std::move(event));
}

Status FakeTarget::fill_event(StopEvent& event, std::string_view verb, std::string_view argument,
                              std::string_view line) {
  using Stop = StopEvent::Kind;
  static constexpr std::pair<std::string_view, Stop> kVerbs[] = {
      {"signal", Stop::Signal},           {"breakpoint", Stop::Breakpoint},
      {"hardware", Stop::Hardware},       {"watchpoint", Stop::Watchpoint},
      {"stepped", Stop::Stepped},         {"interrupted", Stop::Interrupted},
      {"fork", Stop::Fork},               {"vfork", Stop::Vfork},
      {"vforkdone", Stop::VforkDone},     {"exec", Stop::Exec},
      {"exited", Stop::Exited},           {"killed", Stop::Signalled},
      {"none", Stop::NoneLeft},           {"call", Stop::SystemCallEntry},
      {"return", Stop::SystemCallReturn}, {"created", Stop::ThreadCreated},
      {"thread-exited", Stop::ThreadExited}, {"history-begin", Stop::HistoryBegin},
      {"history-end", Stop::HistoryEnd},
  };
  const auto found = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                  [&](const auto& entry) { return entry.first == verb; });
  if (found == std::end(kVerbs)) return bad(line);
  event.kind = found->second;
  const auto number = decimal(argument);
  switch (event.kind) {
    case Stop::Signal:
    case Stop::Signalled: event.signal = static_cast<int>(number.value_or(0)); break;
    case Stop::ThreadExited:
    case Stop::Exited: event.exit_code = static_cast<int>(number.value_or(0)); break;
    case Stop::SystemCallEntry:
    case Stop::SystemCallReturn: event.system_call = number.value_or(0); break;
    case Stop::Watchpoint: event.address = parse_hex(argument).value_or(0); break;
    case Stop::Exec:
      event.path = argument;
      untold_.erase(event.pid);
      break;
    case Stop::Fork:
    case Stop::Vfork:
      if (!number) return bad(line);
      event.child_pid = *number;
      if (untold_forks_.erase(*number) != 0) break;  // it was there already
      if (find_process(*number)) return bad(line);
      add_fork(*find_thread(event.tid), *number);
      break;
    default: break;
  }
  if (event.kind == Stop::ThreadExited)
    std::erase_if(threads_, [&](const Thread& thread) { return thread.info.tid == event.tid; });
  if (event.kind == Stop::Exited || event.kind == Stop::Signalled) remove_process(event.pid);
  return {};
}

}  // namespace tracewell::target
