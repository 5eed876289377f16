// Starting, stopping and describing a run. Definitions: engine_define.cc; hits: engine_hit.cc.
#include "agent/engine/engine.h"
#include "agent/engine/experiment_bounds.h"

#include <time.h>

#include <algorithm>

#include <fmt/format.h>

#include "rsp/signals.h"

namespace tracewell::agent {

using Stop = RunStatus::Stop;

namespace {

constexpr std::string_view kReplaced = "the program replaced itself by exec";

/// For who was not there when the program ended; "" = nothing that is worth a word.
std::string text_of_end(const target::StopEvent& event) {
  using Kind = target::StopEvent::Kind;
  switch (event.kind) {
    case Kind::Exited: return fmt::format("the program exited with status {}", event.exit_code);
    case Kind::Signalled:
      return fmt::format("the program was killed by {}",
                         rsp::gdb_signal_name(rsp::gdb_signal_from_linux(event.signal)));
    case Kind::Exec: return std::string(kReplaced);
    default: return "";
  }
}

/// Whoever sets the machine's clock does not change how far apart times are.
Engine::Clock system_clock() {
  const auto read = [](clockid_t id) {
    timespec now{};
    clock_gettime(id, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  const int64_t offset = read(CLOCK_REALTIME) - read(CLOCK_MONOTONIC);
  return [=] { return read(CLOCK_MONOTONIC) + offset; };
}

}  // namespace

Engine::Engine(target::Target& target, Clock clock)
    : target_(target), own_clock_(!clock), clock_(own_clock_ ? system_clock() : std::move(clock)) {
  TW_CHECK(target_.trace_sites() != nullptr);
  target_.trace_sites()->set_handler(this);
  best_effort(buffer_.resize(TraceBuffer::kBytesDefault), "else its size is 0, as is reported");
  buffer_.memory().on_settled([&target] { target.wake(); });
}

Engine::~Engine() {
  if (running_) end_run(Stop::Unknown);
  target_.trace_sites()->set_handler(nullptr);
}

Status Engine::reset() {
  if (running_) end_run(Stop::Requested);
  definitions_.clear();
  points_.clear();
  open_.reset();
  kept_bytes_ = 0;
  read_only_.clear();
  variables_.reset();
  buffer_.begin_clear();
  publish();
  return {};
}

Status Engine::define_variable(VariableDef definition) {
  // What bytecode can name is bounded as well: a variable's number has 16 bits there.
  if (variables_.definitions().size() >= ExperimentBounds::kVariables)
    return {Errc::Limit,
            fmt::format("there are {} trace state variables already",
                        ExperimentBounds::kVariables)};
  if (definition.name.size() > ExperimentBounds::kVariableName)
    return {Errc::Limit, fmt::format("the name of a trace state variable has at most {} bytes",
                                     ExperimentBounds::kVariableName)};
  variables_.define(std::move(definition));
  if (fast_) fast_->name_builtins(variables_);
  if (running_) publish();
  return {};
}

void Engine::set_read_only(std::vector<std::pair<uint64_t, uint64_t>> ranges) {
  read_only_ = std::move(ranges);
}

bool Engine::read_only(target::Pid pid, uint64_t address, uint64_t size) {
  const auto holds = [&](const auto& range) {
    return range.first <= address && address < range.second && size <= range.second - address;
  };
  if (std::ranges::any_of(read_only_, holds)) return true;
  // GDB names the sections of the main executable only, and where the file has them, not where they
  // are (a PIE's are elsewhere). What is mapped without write permission serves all images.
  return target_.facts() != nullptr && target_.facts()->read_only(pid, address, size);
}

Status Engine::set_circular(bool circular) {
  buffer_.set_circular(circular);
  publish();
  return {};
}

void Engine::set_disconnected(bool disconnected) {
  disconnected_ = disconnected;
  publish();
}

Status Engine::empty_for(std::optional<uint64_t> bytes) {
  if (running_)
    return {Errc::InvalidArgument, "the trace buffer's size cannot change while a trace runs"};
  TW_RETURN_IF_ERROR(buffer_.memory().can_be(bytes.value_or(TraceBuffer::kBytesDefault)));
  buffer_.begin_clear();
  return {};
}

Status Engine::set_buffer_size(std::optional<uint64_t> bytes) {
  if (running_)
    return {Errc::InvalidArgument, "the trace buffer's size cannot change while a trace runs"};
  const Status status = buffer_.resize(bytes.value_or(TraceBuffer::kBytesDefault));
  publish();
  return status;
}

void Engine::set_note(std::string_view type, std::string text) {
  if (type == "user") user_name_ = std::move(text);
  else if (type == "notes") notes_ = std::move(text);
  else if (type == "tstop") stop_note_ = std::move(text);
  publish();
}

Status Engine::start(target::Pid pid) {
  if (running_) return {Errc::InvalidArgument, "a trace runs already"};
  pid_ = pid;
  replaced_ = let_go_ = unwanted_ = false;
  if (own_clock_) clock_ = system_clock();
  buffer_.memory().settle();
  settle_buffer();
  TW_RETURN_IF_ERROR(look_at_memory());
  capture_machine();
  TW_RETURN_IF_ERROR(look_at_markers());
  for (Point& point : points_) {
    point.hits = point.bytes = 0;
    point.way = {};
    fit_masks(point.plan);
  }
  fast_lost_ = {};
  buffer_.memory().set_lost(0);
  begin_fast();
  // A debugger of several does not say which one a tracepoint was meant for.
  if (target_.processes().size() > 1)
    remark(fmt::format("The trace is of process {} alone: all tracepoints are put into it", pid_));
  if (Status status = insert_sites(); !status) {
    drop_fast();
    return status;
  }
  take_effect();
  if (const std::string text = text_of(ways()); !text.empty()) tell("The trace begins: " + text);
  jobs_.clear();
  passed_ = failed_ = std::nullopt;
  full_ = false;
  error_text_.clear();
  end_text_.clear();
  stop_note_.clear();
  stop_ = Stop::NotRun;
  stop_tracepoint_ = 0;
  start_us_ = now_us();
  stop_us_ = 0;
  whose_.begin(target_, pid_, buffer_.count() != 0);
  running_ = true;
  program_ended_ = false;
  publish();
  return {};
}

Status Engine::insert_sites() {
  for (size_t i = 0; i < definitions_.size(); ++i) {
    const TracepointDef& definition = definitions_[i];
    if (i > 0 && definitions_[i - 1].address == definition.address) {
      points_[i].way = points_[i - 1].way;
      continue;
    }
    remark_int3(definition);
    if (insert_fast(i)) continue;
    Status status = insert_site(definition.address);
    if (status) continue;
    for (size_t k = 0; k < i; ++k) remove_site(definitions_[k].address);
    return std::move(status).error().within(name_of(definition));
  }
  return {};
}

/// The kernel writes one for a uprobe (perf, bpftrace), and keeps what comes of it to itself.
void Engine::remark_int3(const TracepointDef& definition) {
  constexpr uint8_t kInt3 = 0xcc;
  uint8_t byte = 0;
  if (target_.read_memory(pid_, definition.address, {&byte, 1}) == 1 && byte == kInt3)
    remark(fmt::format("{}: a breakpoint instruction (int3) is there already; if it is a uprobe, "
                       "the tracepoint has no hits", name_of(definition)));
}

// What stands at the address in another program is none of the trace's business.
Status Engine::insert_site(uint64_t address) {
  if (replaced_) return {Errc::Target, std::string(kReplaced)};
  return target_.trace_sites()->insert(pid_, address);
}

// Children of the traced process inherit its sites. A process that is gone has none to remove.
void Engine::remove_site(uint64_t address) {
  for (const target::ProcessInfo& process : target_.processes()) {
    const Status removed = target_.trace_sites()->remove(process.pid, address);
    if (removed || process.pid != pid_) continue;
    remark(fmt::format("Hits of the tracepoint at {:#x} may be lost: {}", address,
                       removed.error().text()));
  }
}

Status Engine::stop() {
  if (running_) end_run(Stop::Requested);
  return {};
}

void Engine::client_lost() {
  if (running_ && !disconnected_) end_run(Stop::Disconnected);
}

void Engine::on_event(const target::StopEvent& event) {
  using Kind = target::StopEvent::Kind;
  const bool gone = event.kind == Kind::Exited || event.kind == Kind::Signalled ||
                    event.kind == Kind::Exec;
  // Nothing of any program runs: the traced one may stand still, and go on.
  const bool none = event.kind == Kind::NoneLeft && target_.threads(pid_).empty();
  const bool ours = (gone && event.pid == pid_) || none;
  program_ended_ = program_ended_ || (ours && event.kind != Kind::Exec);
  if (!ours) return;
  const bool ran = running_;
  let_go(pid_, false);
  if (ran && stop_ == Stop::Unknown && !replaced_) end_text_ = text_of_end(event);
  if (ran) publish();
}

void Engine::let_go(target::Pid pid, bool unwanted) {
  if (pid != pid_) return;
  let_go_ = true;
  unwanted_ = unwanted_ || unwanted;
  if (running_) {
    catch_up(false);
    end_if_due();
  }
  if (running_) end_run(Stop::Unknown);
  if (!unwanted && !replaced_ && home_.is_unread_at_end && buffer_.has_unseen()) tell_unseen();
}

void Engine::end_run(Stop reason, uint32_t tracepoint) {
  end_fast();
  running_ = false;
  best_effort(settle(), "it is defined, and was not live");
  stop_ = reason;
  stop_tracepoint_ = tracepoint;
  stop_us_ = now_us();
  if (replaced_ && reason == Stop::Unknown) end_text_ = kReplaced;
  jobs_.clear();
  for (const Point& point : points_) want_probe(point.plan, false);
  for (size_t i = 0; i < definitions_.size(); ++i)
    if (i == 0 || definitions_[i - 1].address != definitions_[i].address)
      remove_site(definitions_[i].address);
  publish();
}

RunStatus Engine::status() const {
  RunStatus status;
  status.running = running_;
  status.stop = stop_;
  status.stop_tracepoint = stop_tracepoint_;
  if (stop_ == Stop::Requested) status.stop_text = stop_note_;
  if (stop_ == Stop::Failed) status.stop_text = error_text_;
  if (stop_ == Stop::Unknown) status.stop_text = end_text_;
  status.frames = buffer_.count();
  status.frames_created = buffer_.created() + losses().all();
  status.buffer_free = buffer_.free_bytes();
  status.buffer_size = buffer_.size_bytes();
  status.circular = buffer_.circular();
  status.disconnected = disconnected_;
  status.start_time_us = static_cast<uint64_t>(start_us_);
  status.stop_time_us = static_cast<uint64_t>(stop_us_);
  status.user_name = user_name_;
  status.notes = notes();
  return status;
}

std::optional<TracepointDef::Usage> Engine::usage(uint32_t number, uint64_t address) const {
  const auto index = find(number, address);
  if (!index) return std::nullopt;
  return TracepointDef::Usage{points_[*index].hits, points_[*index].bytes};
}

std::optional<int64_t> Engine::variable(uint32_t number) const {
  return variables_.value(number, now_us());
}

}  // namespace tracewell::agent
