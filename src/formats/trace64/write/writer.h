// Sink for x64dbg traces.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "formats/format.h"
#include "formats/steps/one_process.h"
#include "formats/steps/steps_only.h"
#include "formats/trace64/blocks/user.h"
#include "formats/trace64/blocks/words.h"
#include "formats/trace64/state/memory.h"
#include "formats/trace64/state/seen.h"
#include "formats/trace64/write/pushes.h"
#include "formats/trace64/write/reasons.h"
#include "formats/trace64/write/threads.h"
#include "machine/operands.h"
#include "model/batch.h"

namespace tracewell::formats::trace64 {

/// A step that waits for the next one: its block announces what that will find changed.
struct PendingBlock {
  uint64_t seq = 0;
  uint32_t tid = 0;
  bool begins = false;  // a session, that is not the first
  bool tells = false;   // what its instruction left
  std::vector<uint8_t> opcode;
  std::span<const Step::MemoryAccess> accesses;
  bool incomplete = false;
  bool behind_gap = false;
  std::optional<MemoryEntries> stored;  // as the source had them
  std::optional<uint64_t> sp;           // before it
  uint8_t flags = 0;  // reserved ones that the source had, and kThreadFlag of the last
  std::optional<std::vector<uint8_t>> words;  // to list, if nothing follows
  KnownDump dump;
  RegisterSet known;
};
struct ExtraBlock {
  uint64_t seq = 0;
  uint8_t type = 0;
  std::vector<uint8_t> data;
};

class Writer final : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> create(OutputFile file, const SaveOptions& options);

  std::vector<std::string> refuses(const Catalog& catalog) const override;
  Status begin(const Catalog& catalog) override;
  Status write(const Batch& batch) override;
  Status finish() override;
  std::vector<std::string> left_out() const override { return others_.left_out(); }

 private:
  using Dump = KnownDump;
  using Thread = WrittenThread;
  using Words = WordSet;

  Writer(OutputFile file, const SaveOptions& options)
      : file_(std::move(file)), options_(options) {}
  void map_registers(const Catalog& catalog);
  void take_extras(const Catalog& catalog);
  std::string header() const;
  void tell_dropped_keys(std::string_view head);
  Status add(const Event& event, const Step& step);
  Status start_session();
  Status end_session();
  Status put_pushes();
  Status put_correction();
  Status put_lost();
  Status put_gap();
  Status put_session(const Words& words);
  Status lose(const Lost& lost);
  void tell_untold();
  Status put_own(OwnKind kind, Bytes data);
  void update(Thread& thread, std::span<const Step::RegisterChange> changes);
  void set_register(Thread& thread, uint32_t index, Bytes value, uint8_t& groups);
  void keep_accesses(const Step& step);
  void take_stored(Bytes stored);
  bool breaks_zeros(bool lists_nothing, bool is_last);
  Status put_pending(const Thread* next, uint32_t next_tid);
  Words listed(bool full, const Dump* next);
  Status put_extras(uint64_t seq);
  void take_mark(const Mark& mark);
  Status put_notes();
  Behind behind_of(const Thread& thread) const;
  Status put_accesses(const Behind& behind, MemoryEntries& entries);
  bool reads_as_it_is(const machine::Instruction& instruction, const Behind& behind,
                      const MemoryEntries& entries);
  void list_what_is_known_again(Words& words) const;
  Status put_unknown(const Words& words);

  OutputFile file_;
  SaveOptions options_;
  Shape shape_;
  const WordMap* map_ = nullptr;
  bool minimal_ = true;
  std::string json_;             // the source's header
  std::string path_;             // of the program
  std::optional<uint64_t> hash_;
  std::vector<ExtraBlock> extras_;    // user blocks, by step
  size_t extras_put_ = 0;
  std::vector<int32_t> index_;   // from the catalog's layout to WordMap's; -1: no place
  WrittenThreads threads_;
  std::optional<PendingBlock> pending_;
  Batch kept_;                   // what pending_->accesses are in
  SeenMemory seen_;
  bool looks_at_memory_ = true;  // for what no access tells
  std::optional<machine::InstructionDecoder> decoder_;
  uint64_t in_session_ = 0;      // blocks
  uint32_t zero_blocks_ = 0;     // in a row, that are nothing but zeros
  std::optional<uint32_t> last_tid_;
  Dump last_;                    // as the blocks so far tell it
  Words changed_before_;
  std::optional<WrittenPushes> pushes_;
  std::optional<Reasons> lost_;      // why, in front of the step that comes next
  uint64_t lost_count_ = 0;          // 0 = not known
  uint64_t steps_ = 0;              // so far
  std::unordered_set<uint32_t> untold_;  // threads whose last step's values no block has
  bool session_begins_ = false;     // with the step that comes next
  uint64_t tells_from_ = UINT64_MAX;  // the step from which on it is told where sessions begin
  std::vector<std::string> notes_;  // for the next step
  RegisterSet maskable_;         // that may be unknown
  Words told_words_;             // by the blocks of this session
  RegisterSet believed_;         // registers that a reader takes for known
  StepsOnly others_;
  OneProcess whose_;
  std::vector<uint8_t> block_;
};

}  // namespace tracewell::formats::trace64
