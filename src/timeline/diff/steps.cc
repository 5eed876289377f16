#include "timeline/diff/steps.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

namespace tracewell::timeline {
namespace {

const Step::RegisterChange* change_of(std::span<const Step::RegisterChange> changes,
                                      uint32_t index) {
  const auto found = std::find_if(changes.begin(), changes.end(),
                                  [&](const auto& one) { return one.index == index; });
  return found == changes.end() ? nullptr : &*found;
}

// Steps that name registers of thousands of bytes are few, unless somebody wants it so.
constexpr size_t kBytesMax = 64 << 20;

size_t bytes_of(const Step& step) {
  size_t bytes = 0;
  for (const auto changes : {step.before, step.registers})
    for (const Step::RegisterChange& one : changes) bytes += sizeof one + one.value.size();
  return bytes;
}

}  // namespace

Result<LastSteps> LastSteps::read(const StepIndex& steps, uint64_t tid, uint64_t seq,
                                  size_t look_back) {
  LastSteps out;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source,
                      steps.open_thread_at(seq > look_back ? seq - look_back : 0, tid));
  for (bool there = false; !there;) {
    auto batch = std::make_unique<Batch>();
    TW_ASSIGN_OR_RETURN(const bool more, source->next(*batch));
    if (!more) break;
    there = out.add(std::move(batch), tid, seq);
  }
  return out;
}

/// Is the step `seq` there, or one behind it?
bool LastSteps::add(std::unique_ptr<Batch> batch, uint64_t tid, uint64_t seq) {
  bool there = false;
  Part part;
  for (const Event& event : batch->events()) {
    const auto* step = std::get_if<Step>(&event.body);
    if (step == nullptr) continue;
    there |= event.seq >= seq;
    if (event.seq > seq) continue;
    all_.push_back(&event);
    ++part.all;
    part.bytes += bytes_of(*step);
    if (event.tid != tid) continue;
    steps_.push_back(&event);
    ++part.steps;
  }
  bytes_ += part.bytes;
  part.batch = std::move(batch);
  parts_.push_back(std::move(part));
  while (bytes_ > kBytesMax && parts_.size() > 1) drop_oldest();
  return there;
}

void LastSteps::drop_oldest() {
  const Part& part = parts_.front();
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<ptrdiff_t>(part.steps));
  all_.erase(all_.begin(), all_.begin() + static_cast<ptrdiff_t>(part.all));
  bytes_ -= part.bytes;
  parts_.pop_front();
}

Bytes LastSteps::register_before(size_t back, uint32_t index) const {
  for (size_t i = back; i < size(); ++i) {
    if (i != back) {
      if (const auto* change = change_of(step(i).registers, index)) return change->value;
    }
    if (const auto* told = change_of(step(i).before, index)) return told->value;
  }
  return {};
}

bool LastSteps::changes_register(size_t back, uint32_t index) const {
  if (change_of(step(back).registers, index) != nullptr) return true;
  return back > 0 && change_of(step(back - 1).before, index) != nullptr;
}

namespace {

bool writes_to(const Step& step, uint64_t address, uint64_t size) {
  using Kind = Step::MemoryAccess::Kind;
  return std::ranges::any_of(step.memory, [&](const Step::MemoryAccess& one) {
    return (one.kind == Kind::Write || one.kind == Kind::ReadWrite) &&
           (one.address - address < size || address - one.address < one.size);
  });
}

}  // namespace

bool LastSteps::writes(size_t back, uint64_t address, uint64_t size) const {
  return writes_to(step(back), address, size);
}

const Event* LastSteps::last_writer(size_t back, uint64_t address, uint64_t size) const {
  auto at = std::ranges::upper_bound(all_, event(back).seq, {},
                                     [](const Event* one) { return one->seq; });
  if (at != all_.begin()) --at;  // the step itself
  while (at != all_.begin())
    if (const Event* one = *--at; writes_to(std::get<Step>(one->body), address, size)) return one;
  return nullptr;
}

}  // namespace tracewell::timeline
