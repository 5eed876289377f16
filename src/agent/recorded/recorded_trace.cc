#include "agent/recorded/recorded_trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "rsp/frames.h"

namespace tracewell::agent {
namespace {

using Select = rsp::FrameSelect::Kind;

/// A source hands out frames in runs. Going back one by one (`tfind -`) would read a run for each,
/// so a run that ends behind the wanted frame is asked for.
constexpr uint64_t kStepBack = 64;

}  // namespace

Result<std::unique_ptr<RecordedTrace>> RecordedTrace::create(Source& source,
                                                             target::Target& target) {
  FrameIndex* index = source.frames();
  if (!index)
    return {Errc::Unsupported,
            "files of this format cannot be searched; `tracewell convert` makes a tfile of it"};
  return std::unique_ptr<RecordedTrace>(new RecordedTrace(source, *index, target));
}

const std::vector<TracepointDef>& RecordedTrace::tracepoints() const {
  return source_.catalog().tracepoints;
}

const std::vector<VariableDef>& RecordedTrace::variables() const {
  return source_.catalog().variables;
}

RunStatus RecordedTrace::status() const {
  RunStatus status;
  status.stop = RunStatus::Stop::Unknown;
  if (source_.catalog().status) status = *source_.catalog().status;
  if (status.running) {
    status.running = false;
    // While a first run goes on, its stop reason says that there was none.
    if (status.stop == RunStatus::Stop::NotRun) status.stop = RunStatus::Stop::Unknown;
  }
  status.frames = count();
  return status;
}

std::optional<TracepointDef::Usage> RecordedTrace::usage(uint32_t number, uint64_t address) const {
  for (const TracepointDef& tracepoint : tracepoints())
    if (tracepoint.number == number && tracepoint.address == address)
      return tracepoint.usage.value_or(TracepointDef::Usage{});
  return std::nullopt;
}

target::Pid RecordedTrace::frames_of() const {
  const auto processes = target_.processes();
  return processes.empty() ? 0 : processes.front().pid;
}

bool RecordedTrace::read_only(target::Pid pid, uint64_t address, uint64_t size) {
  target::ProcessFacts* facts = target_.facts();
  return facts && facts->read_only(pid, address, size);
}

Status RecordedTrace::load(uint64_t number) const {
  const auto holds = [&] { return number >= first_ && number - first_ < ahead_->size(); };
  if (holds()) return {};
  const bool backwards = !ahead_->empty() && number < first_ && first_ - number <= kStepBack;
  for (const uint64_t start : {backwards ? number - std::min(number, kStepBack) : number, number}) {
    ahead_->clear();
    first_ = start;
    TW_RETURN_IF_ERROR(index_.seek(start));
    TW_ASSIGN_OR_RETURN(const bool any, source_.next(*ahead_));
    if (any && holds()) return {};
  }
  return {Errc::Corrupt, fmt::format("frame {} is not there", number)};
}

Result<Frame> RecordedTrace::loaded(uint64_t number) const {
  TW_RETURN_IF_ERROR(load(number));
  const Event& event = ahead_->events()[number - first_];
  const Frame* frame = std::get_if<Frame>(&event.body);
  if (!frame) return {Errc::Unsupported, fmt::format("event {} is not a frame", number)};
  return *frame;
}

Result<Frame> RecordedTrace::frame(uint64_t number) {
  if (number >= count()) return {Errc::NotFound, fmt::format("there is no frame {}", number)};
  TW_ASSIGN_OR_RETURN(const Frame frame, loaded(number));
  if (on_frame) on_frame(ahead_->events()[number - first_]);
  return frame;
}

/// By the index, which has them all.
Result<std::optional<uint64_t>> RecordedTrace::find(const rsp::FrameSelect& select, uint64_t from,
                                                    const GoOn&) {
  constexpr std::optional<uint64_t> kNone;
  switch (select.kind) {
    case Select::None: return kNone;
    case Select::Number:
      if (select.number >= count()) return kNone;
      return std::optional<uint64_t>(select.number);
    case Select::Tracepoint:
      return index_.find_tracepoint(from, static_cast<int32_t>(select.number));
    case Select::Pc: return index_.find_pc_inside(from, select.lo, select.lo);
    case Select::Range: return index_.find_pc_inside(from, select.lo, select.hi);
    case Select::Outside: return index_.find_pc_outside(from, select.lo, select.hi);
  }
  return kNone;
}

}  // namespace tracewell::agent
