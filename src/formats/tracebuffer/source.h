// What the readers of trace buffers' files, of whatever version, share.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "formats/tracebuffer/parts.h"

namespace tracewell::formats {

/// Event n is the n-th frame that can be read. What is damaged is told when the file is opened.
class TracebufferSource : public Source, public FrameIndex, public Summary {
 public:
  const Catalog& catalog() const override { return catalog_; }
  const Summary* summary() const override { return this; }
  Seekable* seekable() override { return this; }
  FrameIndex* frames() override { return this; }
  uint64_t count() const override { return count_; }
  Status seek(uint64_t seq) override;
  uint64_t thread_count() const override { return threads_; }
  /// How large the frames are in the file that they are saved to, where that is more.
  std::vector<std::pair<std::string, std::string>> facts() const override;

 protected:
  static constexpr uint64_t kBatchFrames = 256;
  static constexpr uint64_t kBatchBytes = 4 << 20;
  static constexpr uint64_t kProgressFrames = 4096;

  TracebufferSource(std::shared_ptr<InputFile> file, bool in_use, ProblemLog& problems)
      : file_(std::move(file)), problems_(problems), in_use_(in_use) {}
  void tell_cut(const TracebufferParts& parts);
  void read_description(const TracebufferParts& parts, bool has_frames);
  /// `next`: how many frames there ever were.
  void finish_status(const ring::Header& header, uint64_t next);
  /// Of each frame, as Event::process is.
  uint32_t process() const { return catalog_.processes.empty() ? 0 : 1; }
  /// The frame with these data, which the batch keeps.
  Frame frame_of(Batch& batch, Bytes data, const ring::FrameShape& shape, uint64_t pc,
                 const TracebufferParts& parts);

  std::shared_ptr<InputFile> file_;
  ProblemLog& problems_;
  Catalog catalog_;
  bool in_use_ = false;
  uint64_t count_ = 0;
  uint64_t kept_bytes_ = 0;   // of the frames that are there
  uint64_t saved_bytes_ = 0;  // of the same as a debugger has them; 0 = the same
  uint64_t threads_ = 0;
  uint64_t next_ = 0;

 private:
  std::vector<FrameBlock> blocks_;
};

}  // namespace tracewell::formats
