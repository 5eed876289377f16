#include "target/recorded/history_target.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/endian.h"
#include "machine/linux_tdesc.h"

namespace tracewell::target {
namespace {

constexpr int kSigtrap = 5;

Error recorded_only(const char* what) {
  return {Errc::Unsupported, std::string("this is a recorded trace: ") + what, {}};
}

/// Thread ids of the protocol are positive; those of the recorder are, too, where it knew them.
std::vector<Tid> names_of(const std::vector<uint64_t>& threads) {
  std::set<Tid> taken;
  for (const uint64_t thread : threads) taken.insert(static_cast<Tid>(thread));
  std::vector<Tid> names;
  Tid free = 1;
  for (const uint64_t thread : threads) {
    auto name = static_cast<Tid>(thread);
    if (name <= 0) {
      while (!taken.insert(free).second) ++free;
      name = free;
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace

HistoryTarget::HistoryTarget(const Catalog& catalog, symbols::ImageMap images, History& history)
    : still_(catalog, std::move(images)),
      description_(still_.has_elf() ? machine::with_linux_registers(still_.target_description(kPid))
                                    : still_.target_description(kPid)),
      history_(history),
      threads_(history.threads()),
      names_(names_of(threads_)) {
  Catalog shown = catalog;  // with the description that a debugger gets
  shown.target_description = description_;
  registers_ = machine::DescribedRegisters(shown);
}

std::string HistoryTarget::note() const {
  std::string out;
  for (const Note& one : notes_)
    if (one.step == now_) out += (out.empty() ? "" : "\n") + one.text;
  return out;
}

std::vector<ThreadInfo> HistoryTarget::threads(Pid pid) const {
  std::vector<ThreadInfo> out;
  if (pid != 0 && pid != kPid) return out;
  for (size_t i = 0; i < names_.size(); ++i)
    out.push_back({.pid = kPid,
                   .tid = names_[i],
                   .name = threads_[i] != 0 ? fmt::format("thread {}", threads_[i]) : "recorded"});
  return out;
}

std::optional<uint64_t> HistoryTarget::recorded(Tid tid) const {
  const auto at = std::ranges::find(names_, tid);
  if (at == names_.end()) return std::nullopt;
  return threads_[static_cast<size_t>(at - names_.begin())];
}

Tid HistoryTarget::named(uint64_t recorded) const {
  const auto at = std::ranges::find(threads_, recorded);
  return at == threads_.end() ? names_.front() : names_[static_cast<size_t>(at - threads_.begin())];
}

/// The step that the thread stands before.
Result<uint64_t> HistoryTarget::step_of(Tid tid) {
  const auto thread = recorded(tid);
  if (!thread) return {Errc::NotFound, "no such thread"};
  if (const auto next = history_.next_of_thread(*thread, now_)) return *next;
  if (const auto last = history_.last_of_thread(*thread, now_)) return *last;
  return {Errc::NotFound, "a thread without steps"};
}

/// Makes moment_ the thread's.
Status HistoryTarget::look(Tid tid) {
  TW_ASSIGN_OR_RETURN(const uint64_t step, step_of(tid));
  if (looked_at_ == step) return {};
  looked_at_.reset();
  TW_RETURN_IF_ERROR(history_.before(step, moment_));
  looked_at_ = step;
  return {};
}

Status HistoryTarget::read_registers(Tid tid, std::span<uint8_t> block) {
  TW_RETURN_IF_ERROR(look(tid));
  if (block.size() != registers_.layout().size_bytes)
    return {Errc::InvalidArgument, "a register block of another size"};
  registers_.copy(moment_.registers, block);
  if (const Register* pc = layout(kPid).pc(); pc != nullptr && pc->size_bytes <= 8)
    store_uint(block.data() + pc->offset, moment_.pc, pc->size_bytes, endian());
  return {};
}

/// The pc is, whatever was recorded: a step says where it is.
std::vector<uint8_t> HistoryTarget::known_registers(Tid tid) {
  const RegisterLayout& all = layout(kPid);
  if (!look(tid).ok()) return std::vector<uint8_t>((all.registers.size() + 7) / 8);
  std::vector<uint8_t> known = registers_.known(moment_.registers);
  if (all.pc_index) known[*all.pc_index / 8] |= static_cast<uint8_t>(1u << (*all.pc_index % 8));
  return known;
}

size_t HistoryTarget::read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) {
  std::vector<ByteState> states(into.size());
  read_known_memory(pid, address, into, states);
  return static_cast<size_t>(std::ranges::find(states, ByteState::Unknown) - states.begin());
}

/// What the history does not know is as the images have it, unless it was written since.
void HistoryTarget::read_known_memory(Pid pid, uint64_t address, std::span<uint8_t> bytes,
                                      std::span<ByteState> states) {
  std::ranges::fill(states, ByteState::Unknown);
  if (pid != kPid) return;
  if (!history_.read_memory(now_, address, bytes, states).ok())
    std::ranges::fill(states, ByteState::Unknown);
  for (auto begin = states.begin(); begin != states.end();) {
    begin = std::find(begin, states.end(), ByteState::Unknown);
    const auto end = std::find_if(begin, states.end(),
                                  [](ByteState one) { return one != ByteState::Unknown; });
    const auto at = static_cast<size_t>(begin - states.begin());
    const std::span<uint8_t> hole = bytes.subspan(at, static_cast<size_t>(end - begin));
    std::ranges::fill(hole, uint8_t{0});
    std::vector<ByteState> found(hole.size());
    still_.read_known_memory(pid, address + at, hole, found);
    std::ranges::transform(found, begin, [](ByteState one) {
      return one == ByteState::Unknown ? one : ByteState::Kept;
    });
    begin = end;
  }
}

Status HistoryTarget::write_registers(Tid, Bytes) {
  return recorded_only("registers cannot be changed");
}

Status HistoryTarget::write_memory(Pid, uint64_t, Bytes) {
  return recorded_only("memory cannot be changed");
}

Status HistoryTarget::insert(Pid pid, Kind kind, uint64_t address, uint32_t size) {
  if (pid != kPid) return {Errc::NotFound, "no such process"};
  search_.reset();
  points_.insert({kind, address, size});
  return {};
}

Status HistoryTarget::remove(Pid, Kind kind, uint64_t address, uint32_t size) {
  search_.reset();
  points_.erase({kind, address, size});
  return {};
}

Status HistoryTarget::go_to(uint64_t moment) {
  if (moment >= moments())
    return {Errc::NotFound,
            fmt::format("there is no step {}; the last one is {}", moment, moments() - 1)};
  now_ = moment;
  return {};
}

void HistoryTarget::rewind() {
  search_.reset();
  points_.clear();
  run_.reset();
  interrupted_ = false;
  now_ = 0;
}

Tid HistoryTarget::next_thread() {
  StepIndex::Moment moment;
  if (!history_.before(now_, moment).ok()) return names_.front();
  return named(moment.tid);
}

/// Whoever is told to step, or the only one, decides; the rest goes as it went.
Status HistoryTarget::resume(std::span<const ResumeAction> actions) {
  if (actions.empty()) return {Errc::InvalidArgument, "nothing to resume"};
  Run run{.tid = actions[0].tid};
  for (const ResumeAction& action : actions) {
    if (action.kind == ResumeAction::Kind::Continue) continue;
    run = {.tid = action.tid, .steps = true};
    if (action.kind == ResumeAction::Kind::RangeStep) {
      run.range_start = action.range_start;
      run.range_end = action.range_end;
    }
    break;
  }
  if (!recorded(run.tid)) return {Errc::NotFound, "no such thread"};
  run_ = run;
  interrupted_ = false;
  return {};
}

Status HistoryTarget::back(Tid tid, bool step) {
  if (!recorded(tid)) return {Errc::NotFound, "no such thread"};
  run_ = Run{.tid = tid, .back = true, .steps = step};
  interrupted_ = false;
  return {};
}

Status HistoryTarget::interrupt() {
  interrupted_ = true;
  return {};
}

StopEvent HistoryTarget::event_at(uint64_t step, StopEvent::Kind kind, uint64_t address) {
  StepIndex::Moment moment;
  StopEvent event;
  event.kind = kind;
  event.pid = kPid;
  event.signal = kSigtrap;
  event.address = address;
  event.tid = history_.before(step, moment).ok() ? named(moment.tid) : names_.front();
  return event;
}

}  // namespace tracewell::target
