#include "filter/step_frames.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "machine/described.h"
#include "model/thread_registers.h"

namespace tracewell::filter {
namespace {

/// Looks at the first events, and hands them out again.
class Peeking final : public Source {
 public:
  static constexpr size_t kBatchesMax = 64;  // of marks; then it is no trace of steps

  explicit Peeking(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  /// The first event that is no mark or change; nullptr when there is none among the first ones.
  Result<const Event*> peek() {
    while (read_.size() < kBatchesMax) {
      Batch batch;
      TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch));
      if (!more) break;
      read_.push_back(std::move(batch));
      for (const Event& event : read_.back().events())
        if (!std::holds_alternative<Mark>(event.body) &&
            !std::holds_alternative<Change>(event.body))
          return &event;
    }
    return nullptr;
  }
  const Catalog& catalog() const override { return source_->catalog(); }
  Result<bool> next(Batch& batch) override {
    if (read_.empty()) return source_->next(batch);
    std::swap(batch, read_.front());
    read_.pop_front();
    return true;
  }

 private:
  std::unique_ptr<Source> source_;
  std::deque<Batch> read_;
};

class StepFrames final : public Source {
  static constexpr size_t kBatchBytes = 4 << 20;  // of registers: each frame has all of them

 public:
  StepFrames(std::unique_ptr<Source> source, std::vector<uint64_t> addresses, uint64_t first_pc,
             std::function<void()> forgets)
      : source_(std::move(source)),
        addresses_(std::move(addresses)),
        forgets_(std::move(forgets)) {
    const Catalog& steps = source_->catalog();
    described_ = machine::DescribedRegisters(steps);
    catalog_ = steps;
    catalog_.registers = described_.layout();
    catalog_.extras.clear();  // of the other format
    define(addresses_.empty() ? std::vector{first_pc} : addresses_);
  }

  const Catalog& catalog() const override { return catalog_; }

  Result<bool> next(Batch& batch) override {
    batch.clear();
    bytes_ = 0;
    while (batch.empty()) {
      if (used_ == steps_.size()) {
        used_ = 0;
        TW_ASSIGN_OR_RETURN(const bool more, source_->next(steps_));
        if (!more) return false;
      }
      while (used_ < steps_.size() && bytes_ < kBatchBytes) take(steps_.events()[used_++], batch);
    }
    return true;
  }

 private:
  /// The last one first: GDB gives numbers of its own to what a file defines, to the last one the
  /// first number. It looks for the place, and for what there is to show, in what a user typed.
  void define(const std::vector<uint64_t>& addresses) {
    for (size_t number = addresses.size(); number > 0; --number) {
      TracepointDef one;
      one.number = static_cast<uint32_t>(number);
      one.address = addresses[number - 1];
      one.sources = {{"at", fmt::format("*{:#x}", one.address)}, {"cmd", "collect $regs"}};
      catalog_.tracepoints.push_back(std::move(one));
    }
  }

  /// Of the frames at this address; 0 = none are wanted.
  int32_t tracepoint_at(uint64_t pc) const {
    if (addresses_.empty()) return 1;
    const auto at = std::ranges::find(addresses_, pc);
    return at == addresses_.end() ? 0 : static_cast<int32_t>(at - addresses_.begin()) + 1;
  }

  void take(const Event& event, Batch& batch) {
    if (const auto* mark = std::get_if<Mark>(&event.body); mark != nullptr && mark->session) {
      threads_.clear();
      return;
    }
    const auto* step = std::get_if<Step>(&event.body);
    if (step == nullptr) return pass_on(event, batch);
    const RegisterLayout& layout = source_->catalog().registers;
    if (threads_.is_full(layout, event.tid)) {
      threads_.clear();
      if (forgets_) forgets_();
    }
    RegisterState& state = threads_.of(layout, event.tid);
    for (const Step::RegisterChange& one : step->before) state.set(layout, one.index, one.value);
    if (const int32_t tracepoint = tracepoint_at(step->pc))
      add_frame(event, *step, state, tracepoint, batch);
    for (const Step::RegisterChange& one : step->registers) state.set(layout, one.index, one.value);
  }

  /// Its payload is in a batch that is about to go.
  void pass_on(const Event& event, Batch& batch) {
    if (const auto* mark = std::get_if<Mark>(&event.body)) {
      Event& copy = batch.add();
      copy = event;
      copy.body = Mark{.text = batch.copy(mark->text)};
    } else if (const auto* lost = std::get_if<Lost>(&event.body)) {
      Event& copy = batch.add();
      copy = event;
      copy.body = Lost{.count = lost->count, .why = batch.copy(lost->why)};
    } else if (const auto* change = std::get_if<Change>(&event.body)) {
      Event& copy = batch.add();
      copy = event;
      copy.seq = count_;
      copy.body = batch.copy(*change);
    }
  }

  void add_frame(const Event& event, const Step& step, const RegisterState& state,
                 int32_t tracepoint, Batch& batch) {
    block_.resize(described_.layout().size_bytes);
    described_.copy(state, block_);
    bytes_ += block_.size();
    blocks_.clear();
    blocks_.push_back({.kind = FrameBlock::Kind::Registers, .bytes = batch.copy(Bytes(block_))});
    blocks_.push_back({.kind = FrameBlock::Kind::Memory,
                       .address = step.pc,
                       .bytes = batch.copy(step.opcode)});
    for (const Step::MemoryAccess& access : step.memory)
      if (!access.old_bytes.empty())
        blocks_.push_back({.kind = FrameBlock::Kind::Memory,
                           .address = access.address,
                           .bytes = batch.copy(access.old_bytes)});
    Frame frame;
    frame.tracepoint = tracepoint;
    frame.pc = step.pc;
    frame.blocks = batch.copy_array(std::span<const FrameBlock>(blocks_));
    frame.registers_valid = batch.copy(Bytes(described_.known(state)));
    Event& out = batch.add();
    out.seq = count_++;
    out.time_ns = event.time_ns;
    out.tid = event.tid;
    out.cpu = event.cpu;
    out.process = event.process;
    out.body = frame;
  }

  std::unique_ptr<Source> source_;
  std::vector<uint64_t> addresses_;
  std::function<void()> forgets_;
  Catalog catalog_;
  machine::DescribedRegisters described_;
  Batch steps_;
  size_t used_ = 0;   // of steps_
  size_t bytes_ = 0;  // of the registers in the batch that is made
  ThreadRegisters threads_;
  std::vector<uint8_t> block_;
  std::vector<FrameBlock> blocks_;
  uint64_t count_ = 0;
};

}  // namespace

Result<std::unique_ptr<Source>> frames_of_steps(std::unique_ptr<Source> source,
                                                std::vector<uint64_t> addresses,
                                                std::function<void()> forgets) {
  auto peeking = std::make_unique<Peeking>(std::move(source));
  TW_ASSIGN_OR_RETURN(const Event* first, peeking->peek());
  const Step* step = first != nullptr ? std::get_if<Step>(&first->body) : nullptr;
  if (step == nullptr) return std::unique_ptr<Source>(std::move(peeking));
  const uint64_t pc = step->pc;
  return std::unique_ptr<Source>(
      std::make_unique<StepFrames>(std::move(peeking), std::move(addresses), pc,
                                   std::move(forgets)));
}

}  // namespace tracewell::filter
