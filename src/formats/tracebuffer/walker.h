// Reads the file of a trace buffer of version 2.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "formats/tracebuffer/entries.h"
#include "formats/tracebuffer/source.h"

namespace tracewell::formats {

/// Frames have no table: one leads to the next. Where one is damaged, the next is looked for.
class TracebufferWalker final : public TracebufferSource {
 public:
  static Result<std::unique_ptr<Source>> open(std::shared_ptr<InputFile> file, bool in_use,
                                              const OpenOptions& options, ProblemLog& problems);

  Result<bool> next(Batch& batch) override;
  std::optional<uint64_t> find_tracepoint(uint64_t from, int32_t tracepoint) const override;
  std::optional<uint64_t> find_pc_inside(uint64_t from, uint64_t lo, uint64_t hi) const override;
  std::optional<uint64_t> find_pc_outside(uint64_t from, uint64_t lo, uint64_t hi) const override;

 private:
  using Entry = TracebufferEntries::Entry;
  /// Event `seq` is the frame at `at`; those behind it follow, up to the next mark.
  struct Mark {
    uint64_t seq = 0, at = 0;
  };
  TracebufferWalker(std::shared_ptr<InputFile> file, TracebufferEntries entries, bool in_use,
                    ProblemLog& problems)
      : TracebufferSource(std::move(file), in_use, problems), entries_(std::move(entries)) {}
  void look_at_frames(const OpenOptions& options);
  void look_at_blocks(const Entry& entry, uint64_t at, uint64_t number);
  uint64_t search_next(uint64_t at, std::optional<uint32_t> number);
  bool makes_sense(const Entry& entry, uint64_t at);
  /// Is it the frame that comes after those of this number? A gap has at most as many as fit there.
  bool may_follow(const Entry& entry, uint64_t bytes, std::optional<uint32_t> number) const;
  uint64_t position_of(uint64_t seq) const;
  void add_event(Batch& batch, uint64_t at);
  template <class Matches>
  std::optional<uint64_t> search(uint64_t from, Matches&& matches) const;

  TracebufferEntries entries_;
  std::vector<Mark> marks_;
  uint64_t created_ = 0;  // frames that there ever were
  std::vector<uint8_t> compact_, data_;
};

}  // namespace tracewell::formats
