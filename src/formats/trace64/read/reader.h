// Source over an x64dbg trace. Many readers may share one file's index.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "formats/trace64/read/ahead.h"
#include "formats/trace64/scan/chain.h"
#include "formats/trace64/scan/contents.h"
#include "formats/trace64/state/memory.h"
#include "formats/trace64/state/registers.h"

namespace tracewell::formats::trace64 {

class Reader final : public Source, public StepIndex, public Summary, public ReaderNotes {
 public:
  static Result<std::unique_ptr<Source>> open(std::shared_ptr<InputFile> file,
                                              const OpenOptions& options, ProblemLog& problems);

  const Catalog& catalog() const override { return catalog_; }
  const Summary* summary() const override { return this; }
  const ReaderNotes* reader_notes() const override { return this; }
  Result<bool> next(Batch& batch) override;
  Seekable* seekable() override { return this; }
  StepIndex* steps() override { return this; }

  uint64_t count() const override { return contents_->scan.count(); }
  Status seek(uint64_t seq) override;
  Status state_before(uint64_t seq, Moment& moment) override;
  std::span<const uint64_t> keyframes() const override {
    return contents_->scan.keyframe_steps();
  }
  std::span<const uint64_t> sessions() const override { return contents_->scan.sessions(); }
  std::span<const uint64_t> stretches() const override { return contents_->scan.stretches(); }
  Result<std::unique_ptr<Source>> open_at(uint64_t seq) const override;
  /// Does not look ahead, either: where another thread goes on behind a step, what it left is told
  /// by its thread's next step alone. Who has an index in mind finds it there.
  Result<std::unique_ptr<Source>> open_meaning_at(uint64_t seq) const override;
  std::unique_ptr<StepFlow> flow_at(uint64_t seq) const override;
  Result<bool> refresh() override;

  uint64_t thread_count() const override { return contents_->scan.threads().size(); }
  std::vector<std::pair<std::string, std::string>> facts() const override;
  std::vector<uint8_t> notes() const override;
  bool is_sound() const override { return !refreshed_ && contents_->scan.is_sound(); }

 private:
  Reader(std::shared_ptr<Contents> contents, ProblemLog* problems);
  static void look_through(Contents& contents, const OpenOptions& options);
  static Status find_shape(InputFile& file, Header& header, ProblemLog& problems, Shape& shape);
  void make_catalog();
  void make_extras();
  /// The words in front of step `seq`, and its block, which may tell others. The block has no size
  /// when it is not there any more.
  WordState words_before(uint64_t seq, Block& block) const;
  void load_before(uint64_t seq, RegisterTracker& tracker, Block& block) const;
  void begin(Batch& batch);
  Error other_file() const;
  void add_step(Batch& batch, Event& event, std::vector<Step::RegisterChange>& changes);
  void add_memory(Batch& batch, Step& step, const Block* next);
  void store_entries(Batch& batch, Step& step, const machine::Instruction& instruction);
  void tell_segment_base(Batch& batch, Step& step);
  void go_on(Batch& batch, Step& step, Border border, const Block& next);
  void tell_border(Batch& batch);
  void enter_session();
  void leave_thread(Batch& batch, Step& step, Border border, const Block& next);
  void switch_thread(uint64_t tid);
  void mark(Batch& batch, Border border, uint64_t gap);
  void tell_oddities(const Block& block);
  std::span<const Step::RegisterChange> values(Batch& batch, const std::vector<uint32_t>& which);
  void store(Batch& batch, Step& step, char tag, Bytes bytes);
  void store_last_words(Batch& batch, Step& step);

  std::shared_ptr<Contents> contents_;
  Bytes bytes_;
  Shape shape_;
  BlockChain chain_;
  ThreadsAhead ahead_;
  ProblemLog* problems_ = nullptr;
  Catalog catalog_;
  RegisterTracker tracker_;
  RegisterTracker moment_;  // of state_before()
  machine::InstructionDecoder decoder_;
  /// The step that is to be handed out next; its words are in the tracker.
  bool begun_ = false;
  bool at_end_ = false;
  bool is_other_ = false;  // the file is not the one that was looked through
  size_t batch_steps_ = 0;  // of the batch that comes next
  uint64_t start_ = 0;  // where to begin
  uint64_t seq_ = 0;
  uint64_t tid_ = 0;
  PushOld push_old_ = PushOld::Unknown;  // in this session
  Block block_;
  std::vector<uint32_t> before_;   // registers that it has to tell
  std::vector<uint32_t> changed_;
  uint32_t gs_base_ = 0;           // index of the register
  std::unordered_map<uint64_t, RegisterState> told_;  // by thread: what its steps have told
  std::unordered_map<uint64_t, uint64_t> bases_;      // of GS, by thread: told as well
  uint64_t base_until_ = 0;  // the current thread's is told, for steps in front of this one
  std::vector<Step::MemoryAccess> accesses_;
  std::vector<uint8_t> stored_;
  uint64_t odd_to_ = 0;  // blocks up to here were looked at for oddities
  bool refreshed_ = false;
  bool tells_stored_ = true;
  bool looks_ahead_ = true;
  bool forgot_ = false;  // something of told_
  bool border_due_ = true;  // in front of the step at which reading begins
};

}  // namespace tracewell::formats::trace64
