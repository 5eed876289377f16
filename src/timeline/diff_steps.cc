#include "timeline/diff_steps.h"

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

}  // namespace

Result<LastSteps> LastSteps::read(const StepIndex& steps, uint64_t tid, uint64_t seq,
                                  size_t look_back) {
  LastSteps out;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source,
                      steps.open_at(seq > look_back ? seq - look_back : 0));
  for (bool there = false; !there;) {
    auto batch = std::make_unique<Batch>();
    TW_ASSIGN_OR_RETURN(const bool more, source->next(*batch));
    if (!more) break;
    for (const Event& event : batch->events()) {
      if (std::holds_alternative<Step>(event.body) && event.seq <= seq) {
        out.all_.push_back(&event);
        if (event.tid == tid) out.steps_.push_back(&event);
      }
      there |= event.seq >= seq && std::holds_alternative<Step>(event.body);
    }
    out.batches_.push_back(std::move(batch));
  }
  return out;
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
