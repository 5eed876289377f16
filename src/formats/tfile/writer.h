// Writes GDB trace files that GDB opens, and that give the same bytes when rewritten.
#pragma once

#include <memory>
#include <vector>

#include "formats/format.h"
#include "formats/steps/steps_only.h"
#include "formats/tfile/frames.h"
#include "formats/tfile/trailer.h"

namespace tracewell::formats {

class TfileWriter final : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> create(OutputFile file, const SaveOptions& options);

  std::vector<std::string> refuses(const Catalog& catalog) const override;
  Status begin(const Catalog& catalog) override;
  /// Steps and hooks are Unsupported. Marks, losses and changes have no place in the format; left
  /// out, and counted.
  Status write(const Batch& batch) override;
  Status finish() override;
  std::vector<std::string> left_out() const override;

 private:
  explicit TfileWriter(OutputFile file) : file_(std::move(file)) {}
  Status write_description(const Catalog& catalog);
  void find_frame_count(const std::string& description);
  Status write_frame(const Event& event, const Frame& frame);
  std::vector<std::string> zeroed() const;
  Result<std::span<const FrameBlock>> gdb_blocks(const Frame& frame);
  std::optional<uint64_t> derived_pc(const Frame& frame) const;
  Status correct_frame_count();

  OutputFile file_;
  StepsOnly others_;
  Endian endian_ = Endian::Little;
  RegisterLayout registers_;
  TfileKnownPcs known_pcs_;
  TfileTrailerWriter trailer_;
  std::string tail_;
  uint64_t frame_count_ = 0, register_frames_ = 0;  // those: with registers
  std::vector<uint64_t> zeroed_;  // by register: frames in which it is not known
  uint64_t count_offset_ = 0;  // of the digits of tframes in the file
  size_t count_digits_ = 0;    // 0 = there are none
  uint64_t count_promised_ = 0;
  std::vector<uint8_t> encoded_;
  std::vector<FrameBlock> blocks_;  // of a frame whose registers had to be touched up
  std::vector<uint8_t> register_block_;
};

}  // namespace tracewell::formats
