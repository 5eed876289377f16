// RecordedTrace: an experiment that is over, read from a file. Any Source with a FrameIndex does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/trace.h"
#include "model/batch.h"
#include "model/stream.h"
#include "target/target.h"

namespace tracewell::agent {

class RecordedTrace final : public Trace, private FrameStore {
 public:
  /// Both must outlive it. Unsupported for a source that cannot seek among frames.
  static Result<std::unique_ptr<RecordedTrace>> create(Source& source, target::Target& target);

  /// Told of each frame that is looked at; may be empty.
  std::function<void(const Event&)> on_frame;

  const std::vector<TracepointDef>& tracepoints() const override;
  const std::vector<VariableDef>& variables() const override;
  /// As recorded, but never running: GDB would not let its user look at any frame.
  RunStatus status() const override;
  std::optional<TracepointDef::Usage> usage(uint32_t number, uint64_t address) const override;
  /// None: variables have values in frames only.
  std::optional<int64_t> variable(uint32_t) const override { return std::nullopt; }
  FrameStore& frames() override { return *this; }
  target::Pid frames_of() const override;
  bool read_only(target::Pid pid, uint64_t address, uint64_t size) override;

 private:
  RecordedTrace(Source& source, FrameIndex& index, target::Target& target)
      : source_(source), index_(index), target_(target), ahead_(std::make_unique<Batch>()) {}

  uint64_t count() const override { return index_.count(); }
  Result<Frame> frame(uint64_t number) override;
  Result<std::optional<uint64_t>> find(const rsp::FrameSelect& select, uint64_t from,
                                       const GoOn& go_on) override;
  uint64_t stream_bytes() const override;
  Result<std::vector<uint8_t>> read_stream(uint64_t offset, size_t size) override;

  /// Makes the batch hold frame `number` (< count()).
  Status load(uint64_t number) const;
  Result<Frame> loaded(uint64_t number) const;
  void measure_stream() const;
  Status encode_stream_frame(uint64_t number, const Frame& frame);

  Source& source_;
  FrameIndex& index_;
  target::Target& target_;

  // Reading moves the source, also for questions that change nothing here.
  std::unique_ptr<Batch> ahead_;
  mutable uint64_t first_ = 0;  // number of the batch's first frame

  /// Where every kMarkEvery-th frame begins in qTBuffer's stream; measured when first asked for.
  static constexpr uint64_t kMarkEvery = 256;
  mutable std::vector<uint64_t> marks_;
  mutable std::optional<uint64_t> stream_bytes_;
  mutable uint64_t stream_frames_ = 0;  // that are in it
  std::vector<uint8_t> encoded_;
  std::optional<uint64_t> encoded_number_;
};

}  // namespace tracewell::agent
