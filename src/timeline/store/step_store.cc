#include "timeline/store/step_store.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "model/process_table.h"
#include "timeline/diff/flow.h"
#include "timeline/store/wide_values.h"

namespace tracewell::timeline {
namespace {

constexpr uint64_t kKeyframeSteps = 512;
constexpr size_t kStateEvery = 512;  // steps of one thread, at least
constexpr size_t kStateBytes = 8;    // that states take at most, for each step
constexpr size_t kFlowPlaces = 4096;
constexpr size_t kBatchEvents = 256;  // at most
constexpr size_t kBatchBytes = 4 << 20;  // of registers; there may be that much in one event

void put(const RegisterLayout& layout, std::span<const Step::RegisterChange> changes,
         RegisterState& state) {
  for (const Step::RegisterChange& change : changes) set_small(layout, change, state);
}

size_t state_bytes(const RegisterLayout& layout) {
  return sizeof(RegisterState) + layout.size_bytes + layout.registers.size() / 8;
}

bool has_wide_values(const Batch& batch) {
  return std::ranges::any_of(batch.events(), [](const Event& event) {
    const auto* step = std::get_if<Step>(&event.body);
    return step != nullptr && (has_wide(step->before) || has_wide(step->registers));
  });
}

bool is_of_steps(const Event& event) {
  return !std::holds_alternative<Frame>(event.body) && !std::holds_alternative<Hook>(event.body);
}

}  // namespace

Result<std::unique_ptr<StepStore>> StepStore::read(Source& source, const Work& work) {
  auto data = std::make_shared<Data>();
  data->catalog = source.catalog();
  data->state_every = std::max(kStateEvery, state_bytes(data->catalog.registers) / kStateBytes);
  Threads met;
  while (true) {
    auto batch = std::make_unique<Batch>();
    TW_RETURN_IF_ERROR(work.go_on());
    TW_ASSIGN_OR_RETURN(const bool more, source.next(*batch));
    if (!more) break;
    if (!std::ranges::all_of(batch->events(), is_of_steps))
      return {Errc::Unsupported, "not a trace of executed instructions", failures::kNotSteps};
    if (has_wide_values(*batch)) {
      for (const Event& event : batch->events())
        add(*data, data->small_events.emplace_back(small_event(event, data->small_values)), met);
      continue;
    }
    for (const Event& event : batch->events()) add(*data, event, met);
    data->batches.push_back(std::move(batch));
  }
  return std::unique_ptr<StepStore>(new StepStore(std::move(data)));
}

void StepStore::add(Data& data, const Event& event, Threads& met) {
  // Events that precede a step belong to it.
  const bool first = data.events.empty() || std::holds_alternative<Step>(data.events.back()->body);
  if (first) data.of_step.push_back(data.events.size());
  data.events.push_back(&event);
  const uint64_t seq = data.of_step.size() - 1;
  const auto* mark = std::get_if<Mark>(&event.body);
  if (mark != nullptr && mark->session) {
    met.clear();
    if (data.sessions.empty() || data.sessions.back() != seq) data.sessions.push_back(seq);
  } else if (mark != nullptr) {
    data.catalog.notes.push_back({seq, std::string(mark->text)});
  }
  if (std::holds_alternative<Lost>(event.body)) data.lost = true;
  // Who reads from the middle on sees no change that is in front of it.
  if (const auto* change = std::get_if<tracewell::Change>(&event.body);
      change && change->process)
    put_process(data.catalog.processes, event.process, *change->process);
  if (!std::holds_alternative<Step>(event.body)) return;
  if (data.sessions.empty()) data.sessions.push_back(0);
  const bool session = data.sessions.back() == seq;
  if (session || data.lost) data.stretches.push_back(seq);
  data.lost = false;
  const uint64_t distance = std::max<uint64_t>(kKeyframeSteps, 4 * met.size());
  if (session || seq - data.keyframes.back() >= distance) data.keyframes.push_back(seq);
  met.insert(event.tid);
  add_step(data, event, seq);
}

void StepStore::add_step(Data& data, const Event& event, uint64_t seq) {
  ThreadSteps& thread = data.threads[event.tid];
  if (!thread.steps.empty() && thread.steps.size() % data.state_every == 0)
    thread.states.push_back(data.state_of(thread, seq).value_or(RegisterState()));
  thread.steps.push_back(seq);
}

const Catalog& StepStore::catalog() const { return data_->catalog; }

/// Marks behind the last step belong to none.
uint64_t StepStore::count() const {
  const bool open = !data_->events.empty() &&
                    !std::holds_alternative<Step>(data_->events.back()->body);
  return data_->of_step.size() - (open ? 1 : 0);
}

const Event& StepStore::Data::step_event(uint64_t seq) const {
  size_t at = of_step[seq];
  while (!std::holds_alternative<Step>(events[at]->body)) ++at;
  return *events[at];
}

uint64_t StepStore::Data::session_of(uint64_t seq) const {
  const auto after = std::ranges::upper_bound(sessions, seq);
  return after == sessions.begin() ? 0 : *std::prev(after);
}

std::optional<RegisterState> StepStore::state_of(uint64_t tid, uint64_t seq) const {
  const auto found = data_->threads.find(tid);
  if (found == data_->threads.end()) return std::nullopt;
  return data_->state_of(found->second, seq);
}

std::optional<RegisterState> StepStore::Data::state_of(const ThreadSteps& thread,
                                                       uint64_t seq) const {
  const std::vector<uint64_t>& steps = thread.steps;
  const auto number = [&](uint64_t step) {
    return static_cast<size_t>(std::ranges::lower_bound(steps, step) - steps.begin());
  };
  const size_t first = number(session_of(seq)), end = number(seq);
  if (first >= end) return std::nullopt;
  RegisterState state;
  const size_t kept = std::min(end / state_every, thread.states.size());
  size_t at = kept * state_every;
  if (at > first) {
    state = thread.states[kept - 1];
  } else {
    state.reset(catalog.registers);
    at = first;
  }
  for (; at < end; ++at) {
    const Step& step = std::get<Step>(step_event(steps[at]).body);
    put(catalog.registers, step.before, state);
    put(catalog.registers, step.registers, state);
  }
  return state;
}

Status StepStore::seek(uint64_t seq) {
  if (seq > count()) return {Errc::InvalidArgument, "there is no such step"};
  at_ = seq < data_->of_step.size() ? data_->of_step[seq] : data_->events.size();
  next_seq_ = seq;
  skipped_ = seq < count() && data_->session_of(seq) < seq;
  told_.clear();
  batch_events_ = 1;
  return {};
}

Status StepStore::state_before(uint64_t seq, Moment& moment) {
  if (seq >= count()) return {Errc::InvalidArgument, "there is no such step"};
  const Event& event = data_->step_event(seq);
  const Step& step = std::get<Step>(event.body);
  moment.tid = event.tid;
  moment.pc = step.pc;
  if (auto state = state_of(event.tid, seq))
    moment.registers = *std::move(state);
  else
    moment.registers.reset(data_->catalog.registers);
  put(data_->catalog.registers, step.before, moment.registers);
  return {};
}

std::span<const uint64_t> StepStore::keyframes() const { return data_->keyframes; }
std::span<const uint64_t> StepStore::sessions() const { return data_->sessions; }
std::span<const uint64_t> StepStore::stretches() const { return data_->stretches; }

Result<std::unique_ptr<Source>> StepStore::open_at(uint64_t seq) const {
  std::unique_ptr<StepStore> other(new StepStore(data_));
  TW_RETURN_IF_ERROR(other->seek(seq));
  return std::unique_ptr<Source>(std::move(other));
}

/// There may be many threads, and it takes many steps of each to find out what its registers are.
Result<std::unique_ptr<Source>> StepStore::open_thread_at(uint64_t seq, uint64_t tid) const {
  std::unique_ptr<StepStore> other(new StepStore(data_));
  other->only_ = tid;
  TW_RETURN_IF_ERROR(other->seek(seq));
  return std::unique_ptr<Source>(std::move(other));
}

/// Places straight from the events.
class StepStore::Flow final : public StepFlow {
 public:
  Flow(std::shared_ptr<const Data> data, uint64_t seq) : data_(std::move(data)), seq_(seq) {
    at_ = seq < data_->of_step.size() ? data_->of_step[seq] : data_->events.size();
  }
  Result<bool> next(std::vector<Place>& places) override {
    const size_t before = places.size();
    for (; at_ < data_->events.size() && places.size() - before < kFlowPlaces; ++at_) {
      const Event& event = *data_->events[at_];
      if (const auto* step = std::get_if<Step>(&event.body))
        places.push_back(place_of(event.tid, seq_++, *step));
    }
    return places.size() > before;
  }

 private:
  std::shared_ptr<const Data> data_;
  size_t at_ = 0;
  uint64_t seq_ = 0;
};

std::unique_ptr<StepFlow> StepStore::flow_at(uint64_t seq) const {
  return std::make_unique<Flow>(data_, seq);
}

Result<bool> StepStore::next(Batch& batch) {
  batch.clear();
  batch.hold(data_);
  size_t bytes = 0;
  // Who jumps often reads one step: the next ones, of other threads, tell all of theirs in vain.
  const size_t most = std::exchange(batch_events_, std::min(2 * batch_events_, kBatchEvents));
  for (size_t i = 0; i < most && bytes < kBatchBytes && at_ < data_->events.size(); ++i) {
    Event& event = batch.add();
    event = *data_->events[at_++];
    event.seq = next_seq_;
    const auto* mark = std::get_if<Mark>(&event.body);
    if (mark != nullptr && mark->session) skipped_ = false;
    auto* step = std::get_if<Step>(&event.body);
    if (step == nullptr) continue;
    const RegisterLayout& layout = data_->catalog.registers;
    const bool wanted = !only_ || *only_ == event.tid;
    const bool first = skipped_ && wanted && told_.insert(event.tid).second;
    if (!first || !tell_everything(event, *step, batch, bytes))
      step->before = with_whole_values(layout, step->before, batch, bytes);
    step->registers = with_whole_values(layout, step->registers, batch, bytes);
    ++next_seq_;
  }
  return !batch.empty();
}

/// To the first step of its thread since seek(). false: nothing was known.
bool StepStore::tell_everything(const Event& event, Step& step, Batch& batch,
                                size_t& bytes) const {
  std::optional<RegisterState> state = state_of(event.tid, event.seq);
  if (!state) return false;
  const RegisterLayout& layout = data_->catalog.registers;
  put(layout, step.before, *state);
  std::vector<Step::RegisterChange> all;
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    if (state->valid[i / 8] == 0) i |= 7;  // of many registers, most are not known
    if (!state->is_valid(i)) continue;
    const Register& one = layout.registers[i];
    all.push_back({i, batch.copy(Bytes(state->block).subspan(one.offset, one.size_bytes))});
    bytes += one.size_bytes + sizeof(all[0]);
  }
  step.before = batch.copy_array(std::span<const Step::RegisterChange>(all));
  return true;
}

}  // namespace tracewell::timeline
