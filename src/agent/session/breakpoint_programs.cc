#include "agent/session/breakpoint_programs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "agent/session/format_text.h"
#include "ax/interpret.h"
#include "ax/verify.h"

namespace tracewell::agent {
namespace {

int64_t now_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

Status check(const BreakpointPrograms::Code& code, ax::Purpose purpose) {
  const ax::VerifyResult result = ax::verify(code, purpose);
  if (result.ok()) return {};
  char text[128];
  ax::describe(result, text, sizeof text);
  return Error{Errc::InvalidArgument, text, {}};
}

/// What it takes of our memory, roughly.
uint64_t program_bytes(const BreakpointPrograms::Program& program) {
  uint64_t bytes = 0;
  for (const auto* codes : {&program.conditions, &program.commands})
    for (const auto& code : *codes) bytes += sizeof code + code.size();
  return bytes;
}

Error too_many() {
  return {Errc::Limit,
          fmt::format("there are {} breakpoints with conditions or commands already",
                      BreakpointPrograms::kEntriesMax),
          {}};
}

}  // namespace

/// What an expression may do here; see ax/interpret.h. There is no frame to record into.
class BreakpointPrograms::Host {
 public:
  Host(BreakpointPrograms& owner, target::HitContext& hit) : owner_(owner), hit_(hit) {}

  Endian endian() const { return owner_.target_.endian(); }
  bool read_register(unsigned number, uint64_t& value) { return hit_.read_register(number, value); }
  bool read_memory(uint64_t address, void* to, size_t size) {
    const size_t got = read(address, {static_cast<uint8_t*>(to), size});
    if (got == size) return true;
    fault_address_ = address + got;
    return false;
  }
  uint64_t get_variable(unsigned number) {
    constexpr unsigned kTimestamp = 1;  // a live trace does not keep it between runs
    if (number == kTimestamp) return static_cast<uint64_t>(now_us());
    if (!owner_.trace_) return 0;
    return static_cast<uint64_t>(owner_.trace_->variable(number).value_or(0));
  }
  void set_variable(unsigned number, uint64_t value) {
    if (owner_.trace_ && owner_.trace_->control())
      owner_.trace_->control()->set_variable(number, static_cast<int64_t>(value));
  }
  bool trace_memory(uint64_t, uint64_t) { return false; }
  bool trace_string(uint64_t, uint64_t) { return false; }
  bool trace_variable(unsigned) { return false; }
  /// Function and channel are for other styles of dprintf; GDB sends 0.
  bool print(uint64_t, uint64_t, const char* format, std::span<const uint64_t> arguments) {
    auto text = format_text(format, arguments, [this](uint64_t address, size_t max) {
      return read_string(address, max);
    });
    if (!text) {
      print_error_ = text.error().message;
      return false;
    }
    if (owner_.print_) owner_.print_(*text);
    return true;
  }

  /// What went wrong in a run, "" = nothing. A string that was cut short is no reason to end it.
  std::string trouble(const ax::Outcome& outcome) const {
    using ax::Fault;
    if (outcome.fault == Fault::PrintFailed) return print_error_;
    const bool memory = outcome.ok() || outcome.fault == Fault::MemoryAccess;
    if (memory && fault_address_)
      return fmt::format("{} at 0x{:x}", ax::fault_text(Fault::MemoryAccess), *fault_address_);
    return outcome.ok() ? "" : ax::fault_text(outcome.fault);
  }

 private:
  size_t read(uint64_t address, std::span<uint8_t> into) {
    target::HitContext::Range range{address, into, 0};
    hit_.read_memory({&range, 1});
    return range.got;
  }
  std::string read_string(uint64_t address, size_t max) {
    std::string text;
    std::array<uint8_t, 256> piece;
    while (text.size() < max) {
      const size_t wanted = std::min(piece.size(), max - text.size());
      const size_t got = read(address + text.size(), std::span(piece).first(wanted));
      const auto end = std::find(piece.begin(), piece.begin() + got, 0);
      text.append(piece.begin(), end);
      if (end != piece.begin() + got) return text;
      if (got == wanted) continue;
      fault_address_ = address + text.size();
      return text;
    }
    return text;
  }

  BreakpointPrograms& owner_;
  target::HitContext& hit_;
  std::optional<uint64_t> fault_address_;
  std::string print_error_ = "print error";
};

BreakpointPrograms::BreakpointPrograms(target::Target& target, Trace* trace)
    : target_(target), trace_(trace) {
  target_.breakpoints()->set_filter(this);
}

BreakpointPrograms::~BreakpointPrograms() { target_.breakpoints()->set_filter(nullptr); }

void BreakpointPrograms::attend(Say notice, Say print) {
  notice_ = std::move(notice);
  print_ = std::move(print);
  if (std::exchange(attended_, true)) return;
  bytes_ = 0;
  for (const auto& [key, entry] : std::exchange(entries_, {})) {
    const auto& [pid, kind, address] = key;
    best_effort(target_.breakpoints()->remove(pid, kind, address, 1));
  }
}

void BreakpointPrograms::say(std::string_view line) const {
  if (notice_) notice_(line);
}

Status BreakpointPrograms::set(target::Pid pid, Kind kind, uint64_t address, Program program) {
  for (const Code& code : program.conditions)
    TW_RETURN_IF_ERROR(check(code, ax::Purpose::Condition));
  for (const Code& code : program.commands) TW_RETURN_IF_ERROR(check(code, ax::Purpose::Action));
  const auto old = entries_.find({pid, kind, address});
  // A debugger sends the same again for each process that it learns of.
  if (old != entries_.end() && *old->second.program == program) {
    old->second.complained = false;
    return {};
  }
  const uint64_t others = old != entries_.end() ? bytes_without(old->second) : bytes_;
  const uint64_t now = program_bytes(program);
  if (others + now > kBytesMax)
    return Error{Errc::Limit,
                 fmt::format("conditions and commands of breakpoints are kept up to {} MiB, all "
                             "together",
                             kBytesMax >> 20),
                 {}};
  if (program.conditions.empty() && program.commands.empty()) {
    remove(pid, kind, address);
    return {};
  }
  if (old == entries_.end() && entries_.size() >= kEntriesMax) return too_many();
  bytes_ = others + now;
  entries_[{pid, kind, address}] = {std::make_shared<const Program>(std::move(program)), false};
  return {};
}

/// What is left of the bytes when it goes: another process may have the same program.
uint64_t BreakpointPrograms::bytes_without(const Entry& entry) const {
  return entry.program.use_count() > 1 ? bytes_ : bytes_ - program_bytes(*entry.program);
}

void BreakpointPrograms::remove(target::Pid pid, Kind kind, uint64_t address) {
  const auto found = entries_.find({pid, kind, address});
  if (found == entries_.end()) return;
  bytes_ = bytes_without(found->second);
  entries_.erase(found);
}

void BreakpointPrograms::forget(target::Pid pid) {
  std::erase_if(entries_, [&](const auto& entry) {
    const bool gone = std::get<0>(entry.first) == pid;
    if (gone) bytes_ = bytes_without(entry.second);
    return gone;
  });
}

Status BreakpointPrograms::copy(target::Pid parent, target::Pid child) {
  std::map<Key, Entry> copies;
  for (const auto& [key, entry] : entries_)
    if (std::get<0>(key) == parent && std::get<1>(key) == Kind::Software)
      copies[{child, std::get<1>(key), std::get<2>(key)}] = entry;
  if (entries_.size() + copies.size() > kEntriesMax) return too_many();
  entries_.merge(copies);
  return {};
}

bool BreakpointPrograms::persists(target::Pid pid, Kind kind, uint64_t address) const {
  const auto found = entries_.find({pid, kind, address});
  return found != entries_.end() && found->second.program->persist &&
         !found->second.program->commands.empty();
}

bool BreakpointPrograms::any_persists() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
    return entry.second.program->persist && !entry.second.program->commands.empty();
  });
}

bool BreakpointPrograms::decides(target::Pid pid, Kind kind, uint64_t address) const {
  return entries_.count({pid, kind, address}) != 0;
}

bool BreakpointPrograms::tell(target::HitContext& hit, Kind kind) {
  const auto found = entries_.find({hit.pid(), kind, hit.pc()});
  if (found == entries_.end()) return attended_;
  Entry& entry = found->second;
  if (!holds(entry, hit)) return false;
  if (entry.program->commands.empty()) return attended_;
  run_commands(entry, hit);
  return false;
}

bool BreakpointPrograms::holds(const Entry& entry, target::HitContext& hit) {
  for (const Code& code : entry.program->conditions) {
    Host host(*this, hit);
    const ax::Outcome outcome = ax::run(code, host);
    if (!outcome.ok())
      say(fmt::format("The condition of the breakpoint at 0x{:x} cannot be evaluated: {}", hit.pc(),
                      host.trouble(outcome)));
    if (!outcome.ok() || (outcome.has_value && outcome.value != 0)) return true;
  }
  return entry.program->conditions.empty();
}

/// After a fault the other commands are still run.
void BreakpointPrograms::run_commands(Entry& entry, target::HitContext& hit) {
  for (const Code& code : entry.program->commands) {
    Host host(*this, hit);
    const ax::Outcome outcome = ax::run(code, host);
    const std::string trouble = host.trouble(outcome);
    if (trouble.empty() || std::exchange(entry.complained, true)) continue;
    say(fmt::format("A command of the breakpoint at 0x{:x} failed: {}", hit.pc(), trouble));
  }
}

}  // namespace tracewell::agent
