#include "timeline/step_store.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tracewell::timeline {
namespace {

constexpr uint64_t kKeyframeSteps = 512;
constexpr size_t kBatchEvents = 256;

void put(const RegisterLayout& layout, std::span<const Step::RegisterChange> changes,
         RegisterState& state) {
  for (const Step::RegisterChange& change : changes)
    state.set(layout, change.index, change.value);
}

}  // namespace

Result<std::unique_ptr<StepStore>> StepStore::read(Source& source) {
  auto data = std::make_shared<Data>();
  data->catalog = source.catalog();
  States states;
  while (true) {
    auto batch = std::make_unique<Batch>();
    TW_ASSIGN_OR_RETURN(const bool more, source.next(*batch));
    if (!more) break;
    for (const Event& event : batch->events()) {
      if (std::holds_alternative<Frame>(event.body) || std::holds_alternative<Hook>(event.body))
        return {Errc::Unsupported, "not a trace of executed instructions"};
      add(*data, event, states);
    }
    data->batches.push_back(std::move(batch));
  }
  return std::unique_ptr<StepStore>(new StepStore(std::move(data)));
}

void StepStore::add(Data& data, const Event& event, States& states) {
  // Events that precede a step belong to it.
  const bool first = data.events.empty() || std::holds_alternative<Step>(data.events.back()->body);
  if (first) data.of_step.push_back(data.events.size());
  data.events.push_back(&event);
  const uint64_t seq = data.of_step.size() - 1;
  const auto* mark = std::get_if<Mark>(&event.body);
  if (mark != nullptr && mark->session) {
    states.clear();
    if (data.sessions.empty() || data.sessions.back() != seq) data.sessions.push_back(seq);
  } else if (mark != nullptr) {
    data.catalog.notes.push_back({seq, std::string(mark->text)});
  }
  if (std::holds_alternative<Lost>(event.body)) data.lost = true;
  if (!std::holds_alternative<Step>(event.body)) return;
  if (data.sessions.empty()) data.sessions.push_back(0);
  const bool session = data.sessions.back() == seq;
  if (session || data.lost) data.stretches.push_back(seq);
  data.lost = false;
  const uint64_t distance = std::max<uint64_t>(kKeyframeSteps, 4 * states.size());
  if (session || seq - data.keyframes.back() >= distance) {
    data.keyframes.push_back(seq);
    data.states.push_back(states);
  }
  apply(data, event, states);
}

void StepStore::apply(const Data& data, const Event& event, States& states) {
  const auto* mark = std::get_if<Mark>(&event.body);
  if (mark != nullptr && mark->session) states.clear();
  const auto* step = std::get_if<Step>(&event.body);
  if (step == nullptr) return;
  const auto [state, is_new] = states.try_emplace(event.tid);
  if (is_new) state->second.reset(data.catalog.registers);
  put(data.catalog.registers, step->before, state->second);
  put(data.catalog.registers, step->registers, state->second);
}

const Catalog& StepStore::catalog() const { return data_->catalog; }

/// Marks behind the last step belong to none.
uint64_t StepStore::count() const {
  const bool open = !data_->events.empty() &&
                    !std::holds_alternative<Step>(data_->events.back()->body);
  return data_->of_step.size() - (open ? 1 : 0);
}

StepStore::States StepStore::states_at(uint64_t seq) const {
  const auto after = std::upper_bound(data_->keyframes.begin(), data_->keyframes.end(), seq);
  if (after == data_->keyframes.begin()) return {};
  const size_t keyframe = static_cast<size_t>(after - data_->keyframes.begin()) - 1;
  States states = data_->states[keyframe];
  const size_t end = seq < data_->of_step.size() ? data_->of_step[seq] : data_->events.size();
  for (size_t at = data_->of_step[data_->keyframes[keyframe]]; at < end; ++at)
    apply(*data_, *data_->events[at], states);
  return states;
}

Status StepStore::seek(uint64_t seq) {
  if (seq > count()) return {Errc::InvalidArgument, "there is no such step"};
  at_ = seq < data_->of_step.size() ? data_->of_step[seq] : data_->events.size();
  next_seq_ = seq;
  untold_ = states_at(seq);
  return {};
}

Status StepStore::state_before(uint64_t seq, Moment& moment) {
  if (seq >= count()) return {Errc::InvalidArgument, "there is no such step"};
  size_t at = data_->of_step[seq];
  States states = states_at(seq);
  for (; !std::holds_alternative<Step>(data_->events[at]->body); ++at)
    apply(*data_, *data_->events[at], states);
  const Event& event = *data_->events[at];
  const Step& step = std::get<Step>(event.body);
  moment.tid = event.tid;
  moment.pc = step.pc;
  const auto found = states.find(event.tid);
  if (found != states.end())
    moment.registers = found->second;
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

Result<bool> StepStore::next(Batch& batch) {
  batch.clear();
  batch.hold(data_);
  for (size_t i = 0; i < kBatchEvents && at_ < data_->events.size(); ++i) {
    Event& event = batch.add();
    event = *data_->events[at_++];
    event.seq = next_seq_;
    if (std::holds_alternative<Step>(event.body)) ++next_seq_;
    const auto* mark = std::get_if<Mark>(&event.body);
    if (mark != nullptr && mark->session) untold_.clear();
    if (!untold_.empty() && std::holds_alternative<Step>(event.body)) tell_everything(event, batch);
  }
  return !batch.empty();
}

void StepStore::tell_everything(Event& event, Batch& batch) {
  const auto found = untold_.find(event.tid);
  if (found == untold_.end()) return;
  Step& step = std::get<Step>(event.body);
  const RegisterLayout& layout = data_->catalog.registers;
  put(layout, step.before, found->second);
  std::vector<Step::RegisterChange> all;
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    if (!found->second.is_valid(i)) continue;
    const Register& one = layout.registers[i];
    all.push_back({i, batch.copy(Bytes(found->second.block).subspan(one.offset, one.size_bytes))});
  }
  step.before = batch.copy_array(std::span<const Step::RegisterChange>(all));
  untold_.erase(found);
}

}  // namespace tracewell::timeline
