#include "formats/trace64/read/reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/begin_anew.h"
#include "base/text/hex.h"
#include "formats/trace64/blocks/user.h"
#include "formats/trace64/read/flow.h"
#include "formats/trace64/read/walk.h"
#include "formats/trace64/scan/notes.h"
#include "formats/trace64/state/modules.h"
#include "formats/trace64/state/process.h"
#include "formats/trace64/state/told.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr size_t kBatchSteps = 512;
constexpr size_t kFirstSteps = 64;  // who goes to some place often wants a step or two
constexpr size_t kThreadsTold = 1024;  // more threads than that tell everything anew

Bytes base_bytes(Batch& batch, uint64_t base) {
  const std::span<uint8_t> value = batch.array<uint8_t>(8);
  store_uint(value.data(), base, 8, Endian::Little);
  return value;
}

std::string loss_text(const Gap& gap) {
  return gap.told ? gap.why
                  : fmt::format("{} bytes at {:#x}: {}", gap.to - gap.from, gap.from, gap.why);
}

}  // namespace

Reader::Reader(std::shared_ptr<Contents> contents, ProblemLog* problems)
    : contents_(std::move(contents)),
      bytes_(contents_->file->bytes()),
      shape_(contents_->scan.shape()),
      chain_(*contents_),
      ahead_(chain_, shape_),
      problems_(problems),
      tracker_(shape_),
      moment_(shape_),
      decoder_(shape_.wide) {
  const RegisterLayout& layout = WordMap::of(shape_).layout();
  if (const Register* base = layout.find("gs_base"))
    gs_base_ = static_cast<uint32_t>(base - layout.registers.data());
}

Status Reader::find_shape(InputFile& file, Header& header, ProblemLog& problems, Shape& shape) {
  const Bytes bytes = file.bytes();
  // Words of the first block that is not the user's: a full dump says what it is a dump of.
  uint64_t at = header.blocks_at;
  Block block;
  while (at < bytes.size() && bytes[at] >= kUserBlockMin &&
         read_block(bytes, at, kX64, false, block) == Reading::Whole)
    at += block.size;
  const uint32_t words = at + 1 < bytes.size() && bytes[at] == 0 ? bytes[at + 1] : 0;
  if (!header.wide) {
    const bool named_x32 = file.path().ends_with(".trace32");
    header.wide = words == kX32.words ? false : words == kX64.words ? true : !named_x32;
    problems.add({4, Problem::Severity::Note, "architecture-guessed",
                  fmt::format("taken for {}", *header.wide ? "x64" : "x86")});
  }
  shape = *header.wide ? kX64 : kX32;
  const Shape& other = *header.wide ? kX32 : kX64;
  if (words == other.words && words != shape.words)
    return Error{Errc::Corrupt,
                 fmt::format("the header says {}, but the first block lists {} register words, as "
                             "{} has; change \"arch\" in the header",
                             *header.wide ? "x64" : "x86", words, *header.wide ? "x86" : "x64"),
                 at};
  if (file.path().ends_with(*header.wide ? ".trace32" : ".trace64"))
    problems.add({std::nullopt, Problem::Severity::Warning, "other-architecture",
                  fmt::format("the file holds {} code in spite of its name; x64dbg looks for it in "
                              "{} files",
                              *header.wide ? "64-bit" : "32-bit",
                              *header.wide ? ".trace64" : ".trace32")});
  return {};
}

/// As far as it was not done last time.
void Reader::look_through(Contents& contents, const OpenOptions& options) {
  const Bytes bytes = contents.file->bytes();
  if (options.notes) {
    const bool good = Notes::read(options.notes->bytes, options.notes->file_bytes, contents);
    if (good && options.notes->file_bytes == bytes.size()) return;
    if (!good && options.notes_refused) options.notes_refused();
    if (!good || !contents.scan.rewind(contents.problems)) {
      contents.scan = Scan(contents.scan.shape(), contents.header.blocks_at);
      contents.problems = {};
    }
  }
  const auto stage = options.work.stage("reading", bytes.size());
  contents.scan.extend(bytes, &contents.problems, [&](uint64_t done) { stage->at(done); });
  contents.generation = find_generation(bytes, contents.scan);
}

Result<std::unique_ptr<Source>> Reader::open(std::shared_ptr<InputFile> file,
                                             const OpenOptions& options, ProblemLog& problems) {
  TW_ASSIGN_OR_RETURN(Header header, read_header(file->bytes(), problems));
  Shape shape;
  TW_RETURN_IF_ERROR(find_shape(*file, header, problems, shape));
  auto contents = std::make_shared<Contents>(shape, header.blocks_at);
  contents->file = std::move(file);
  contents->header = std::move(header);
  look_through(*contents, options);
  problems.add_all(contents->problems);
  std::unique_ptr<Reader> reader(new Reader(std::move(contents), &problems));
  reader->make_catalog();
  for (size_t i = 1; i < reader->sessions().size(); ++i)
    problems.add({std::nullopt, Problem::Severity::Note, "session",
                  fmt::format("session {} begins at step {}", i + 1, reader->sessions()[i])});
  return std::unique_ptr<Source>(std::move(reader));
}

void Reader::make_catalog() {
  const WordMap& map = WordMap::of(shape_);
  catalog_.machine = shape_.wide ? "x86-64" : "i386";
  catalog_.address_bytes = shape_.word;
  catalog_.registers = map.layout();
  catalog_.target_description = map.target_description();
  catalog_.source_path = contents_->file->path();
  make_extras();
}

void Reader::make_extras() {
  catalog_.extras = {{"trace64.header", contents_->header.json},
                     {"trace64.style", contents_->generation.minimal ? "minimal" : "x64dbg"}};
  if (const auto from = contents_->scan.sessions_told_from())
    catalog_.extras.emplace_back("trace64.sessions", std::to_string(*from));
  catalog_.notes.clear();
  for (const UserBlock& one : contents_->scan.user_blocks()) {
    const auto own = read_own_block(one.type, bytes_.subspan(one.offset + 5, one.size));
    if (own && own->kind == OwnKind::Pushes) continue;  // find_generation() has looked at it
    if (own && own->kind == OwnKind::Note) {
      catalog_.notes.push_back({one.seq, std::string(as_text(own->data))});
      continue;
    }
    if (own && own->kind == OwnKind::Module && read_module(own->data)) continue;
    if (is_of_process(*contents_, one)) continue;
    catalog_.extras.emplace_back(
        "trace64.block", fmt::format("{} {:#04x} {}", one.seq, one.type,
                                     to_hex(bytes_.subspan(one.offset + 5, one.size))));
  }
  catalog_.modules = find_modules(*contents_, problems_);
  catalog_.processes = find_process(*contents_);
  const LeftOut& left_out = contents_->scan.left_out();
  if (left_out.count != 0 && problems_)
    problems_->add({std::nullopt, Problem::Severity::Note, "large-user-blocks",
                    fmt::format("{} user blocks ({} bytes) are not kept when the file is written "
                                "again",
                                left_out.count, left_out.bytes)});
}

std::vector<std::pair<std::string, std::string>> Reader::facts() const {
  auto out = reading_facts(contents_->generation, contents_->scan, bytes_);
  if (const auto hash = contents_->header.hash)
    out.emplace_back("hash", fmt::format("{:#x}", *hash));
  return out;
}

std::vector<uint8_t> Reader::notes() const {
  return refreshed_ ? std::vector<uint8_t>() : Notes::write(*contents_);
}

WordState Reader::words_before(uint64_t seq, Block& block) const {
  const Keyframe* from = contents_->scan.keyframe_at(seq);
  TW_CHECK(from != nullptr);
  WordState words = contents_->scan.state_at(*from);
  words.tid = from->tid_before;
  BlockPlace at = {from->lead, from->seq};
  uint64_t gap = 0;
  while (chain_.find(at.offset, at.seq, block, gap) != Border::End) {
    if (at.seq == seq) return words;
    words.apply(block, shape_);
    at = {block.offset + block.size, at.seq + 1};
    if (words.valid.count() == shape_.words)
      walk_plain(bytes_, shape_, contents_->scan.plain_to(at.offset), seq, at, words);
  }
  block = {};
  return words;
}

void Reader::load_before(uint64_t seq, RegisterTracker& tracker, Block& block) const {
  if (!contents_->scan.has_unknown()) return tracker.load(words_before(seq, block));
  // What is not known does not show in the words.
  const Keyframe* from = contents_->scan.keyframe_at(seq);
  TW_CHECK(from != nullptr);
  WordState words = contents_->scan.state_at(*from);
  words.tid = from->tid_before;
  tracker.load(words);
  std::vector<uint32_t> ignored;
  uint64_t at = from->lead;
  uint64_t gap = 0;
  for (uint64_t i = from->seq; chain_.find(at, i, block, gap) != Border::End; ++i) {
    if (i == seq) return;
    tracker.apply(block, ignored, block.unknown);
    at = block.offset + block.size;
  }
  block = {};
}

Status Reader::state_before(uint64_t seq, Moment& moment) {
  if (seq >= count()) return {Errc::InvalidArgument, fmt::format("there is no step {}", seq)};
  Block block;
  if (!contents_->scan.has_unknown()) {
    WordState words = words_before(seq, block);
    words.apply(block, shape_);
    moment_.move_to(words);
  } else {
    std::vector<uint32_t> ignored;
    load_before(seq, moment_, block);
    moment_.apply(block, ignored, block.unknown);
  }
  moment.tid = moment_.words().tid;
  moment.pc = moment_.words().word(shape_.pc_word, shape_);
  moment.registers = moment_.registers();
  const auto base = contents_->scan.base_at(moment_.words().tid, seq).base;
  if (base && shape_.wide) {
    uint8_t value[8];
    store_uint(value, *base, 8, Endian::Little);
    moment.registers.set(catalog_.registers, gs_base_, value);
  }
  return {};
}

Status Reader::seek(uint64_t seq) {
  if (seq > count()) return {Errc::InvalidArgument, fmt::format("there is no step {}", seq)};
  start_ = seq;
  border_due_ = true;
  begun_ = false;
  at_end_ = is_other_ = false;
  return {};
}

Result<std::unique_ptr<Source>> Reader::open_at(uint64_t seq) const {
  std::unique_ptr<Reader> reader(new Reader(contents_, nullptr));
  reader->catalog_ = catalog_;
  TW_RETURN_IF_ERROR(reader->seek(seq));
  reader->border_due_ = false;
  return std::unique_ptr<Source>(std::move(reader));
}

Result<std::unique_ptr<Source>> Reader::open_meaning_at(uint64_t seq) const {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source, open_at(seq));
  static_cast<Reader&>(*source).tells_stored_ = false;
  static_cast<Reader&>(*source).looks_ahead_ = false;
  return source;
}

std::unique_ptr<StepFlow> Reader::flow_at(uint64_t seq) const {
  return std::make_unique<FlowReader>(contents_, seq);
}

Result<bool> Reader::refresh() {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<InputFile> file, contents_->file->again());
  if (file->bytes().size() <= bytes_.size()) return false;
  if (contents_.use_count() > 1) contents_ = std::make_shared<Contents>(*contents_);
  const uint64_t before = count();
  contents_->file = std::move(file);
  bytes_ = contents_->file->bytes();
  contents_->scan.extend(bytes_, nullptr, {});
  contents_->generation = find_generation(bytes_, contents_->scan);
  refreshed_ = true;
  make_extras();
  chain_ = BlockChain(*contents_);
  if (begun_ || at_end_) {  // what is being read has its pointers in the old mapping
    start_ = at_end_ ? before : seq_;
    border_due_ = at_end_;
    begun_ = at_end_ = false;
  }
  return count() > before;
}

Error Reader::other_file() const {
  return {Errc::Corrupt,
          fmt::format("step {} is not where it was when this file was looked through before: it "
                      "has been damaged or written to since; delete the index beside it",
                      seq_),
          {}};
}

void Reader::begin(Batch& batch) {
  begun_ = true;
  forgot_ = false;
  batch_steps_ = kFirstSteps;
  begin_anew(told_);
  begin_anew(bases_);
  base_until_ = 0;
  tracker_.reset();
  ahead_.reset(chain_);
  if (start_ >= count()) {
    at_end_ = true;
    seq_ = count();
    if (seq_ == 0 || border_due_) mark(batch, Border::End, 0);
    return;
  }
  seq_ = start_;
  if (seq_ == 0 || border_due_) tell_border(batch);
  enter_session();
  load_before(seq_, tracker_, block_);
  if (block_.size == 0) {
    at_end_ = is_other_ = true;
    return;
  }
  tracker_.apply(block_, changed_, block_.unknown);
  tid_ = tracker_.words().tid;
  switch_thread(tid_);
}

/// What stands in front of step seq_.
void Reader::tell_border(Batch& batch) {
  const auto& gaps = contents_->scan.gaps();
  const auto here = std::ranges::equal_range(gaps, seq_, {}, &Gap::seq);
  for (auto gap = here.begin(); gap != here.end(); ++gap)
    mark(batch, Border::Gap, static_cast<uint64_t>(gap - gaps.begin()));
  if (seq_ != 0 && std::ranges::binary_search(sessions(), seq_)) mark(batch, Border::Session, 0);
}

/// The one that seq_ is in.
void Reader::enter_session() {
  const auto sessions = this->sessions();
  const auto behind = std::upper_bound(sessions.begin(), sessions.end(), seq_);
  push_old_ = contents_->generation.push_old_of(
      static_cast<size_t>(std::max<ptrdiff_t>(behind - sessions.begin(), 1) - 1));
}

/// Behind the step another thread's comes next. What it left, its own thread's next step finds;
/// what nobody has found soon is told when it is.
void Reader::leave_thread(Batch& batch, Step& step, Border border, const Block& next) {
  step.after_known = false;
  if (told_.size() >= kThreadsTold) told_.clear(), forgot_ = true;
  RegisterState& told = told_[tid_];
  told = tracker_.registers();
  if (!looks_ahead_) return;
  const ThreadsAhead::Left* const left =
      border == Border::None ? ahead_.left_by(seq_, tid_, tracker_, next) : nullptr;
  if (left == nullptr) return;
  step.after_known = left->all;
  const auto changes = batch.array<Step::RegisterChange>(left->registers.size() + 1);
  size_t count = 0;
  for (const Step::RegisterChange& one : left->registers) {
    told.set(catalog_.registers, one.index, one.value);
    changes[count++] = {one.index, batch.copy(one.value)};
  }
  const auto tid = static_cast<uint32_t>(tid_);
  const auto base = contents_->scan.base_at(tid, seq_).base;
  const auto base_now = contents_->scan.base_at(tid, left->found_at).base;
  if (shape_.wide && base && base_now && *base != *base_now) {
    changes[count++] = {gs_base_, base_bytes(batch, *base_now)};
    bases_[tid_] = *base_now;
  }
  step.registers = changes.first(count);
}

/// The thread's next step tells what is different from what its steps have told, also what is not
/// known any more. What they have told may be forgotten itself.
void Reader::switch_thread(uint64_t tid) {
  before_.clear();
  const RegisterLayout& layout = catalog_.registers;
  const RegisterState& now = tracker_.registers();
  const auto told = told_.find(tid);
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    if (!now.is_valid(i)) {
      const bool known = told != told_.end() ? told->second.is_valid(i)
                                             : forgot_ && WordMap::of(shape_).may_be_unknown(i);
      if (known) before_.push_back(i);
      continue;
    }
    const Register& one = layout.registers[i];
    if (told == told_.end() || !told->second.is_valid(i) ||
        std::memcmp(told->second.block.data() + one.offset, now.block.data() + one.offset,
                    one.size_bytes) != 0)
      before_.push_back(i);
  }
  if (told != told_.end()) told_.erase(told);
}

std::span<const Step::RegisterChange> Reader::values(Batch& batch,
                                                     const std::vector<uint32_t>& which) {
  const std::span<Step::RegisterChange> out = batch.array<Step::RegisterChange>(which.size());
  size_t count = 0;
  for (const uint32_t index : which) {
    out[count++] = {index, tracker_.registers().is_valid(index)
                               ? batch.copy(tracker_.value(index))
                               : Bytes()};
  }
  return out;
}

/// What the events cannot say, as tag, length (two bytes) and bytes.
void Reader::store(Batch& batch, Step& step, char tag, Bytes bytes) {
  if (!tells_stored_) return;
  stored_.assign(step.stored.begin(), step.stored.end());
  ByteWriter writer(stored_, Endian::Little);
  writer.uint(static_cast<uint8_t>(tag), 1);
  writer.uint(bytes.size(), 2);
  writer.bytes(bytes);
  step.stored = batch.copy(Bytes(stored_));
}

void Reader::tell_oddities(const Block& block) {
  if (block.offset < odd_to_) return;
  odd_to_ = block.offset + 1;
  if ((block.flags & 0x70) != 0)
    problems_->add({block.offset + 3, Problem::Severity::Warning, "reserved-flags",
                    fmt::format("step {} has reserved flags {:#04x}; ignored", seq_,
                                block.flags & 0x70)});
  for (uint32_t i = 0; i < block.memory_count; ++i)
    if (block.memory_flags[i] > 1)
      problems_->add({block.offset, Problem::Severity::Warning, "reserved-memory-flags",
                      fmt::format("step {} has memory flags {:#04x}; only bit 0 is looked at",
                                  seq_, block.memory_flags[i])});
}

void Reader::add_memory(Batch& batch, Step& step, const Block* next) {
  const machine::Instruction& instruction = decoder_.decode(block_.opcode);
  if (ToldAccesses told;
      !block_.told.empty() && read_told(shape_, block_, block_.told, batch, told)) {
    step.memory = batch.copy_array(std::span<const Step::MemoryAccess>(told.accesses));
    step.memory_incomplete = told.incomplete;
    return store_entries(batch, step, instruction);
  }
  if (block_.memory_count == 0 && instruction.count == 0) return;
  MemoryContext context;
  context.state = &tracker_.words();
  context.instruction = &instruction;
  context.push_old = push_old_;
  if (next)
    context.behind = look_behind(shape_, tracker_.words(), *next, instruction.repeats);
  MemoryReader memory(shape_, block_, context, batch);
  memory.read(accesses_);
  step.memory = batch.copy_array(std::span<const Step::MemoryAccess>(accesses_));
  step.memory_incomplete = memory.incomplete();
  store_entries(batch, step, instruction);
}

/// Where the accesses do not say how the entries look.
void Reader::store_entries(Batch& batch, Step& step, const machine::Instruction& instruction) {
  using Stack = machine::Instruction::Stack;
  if (block_.memory_count == 0 || !tells_stored_) return;
  const bool push = instruction.stack == Stack::Push || instruction.stack == Stack::Call;
  MemoryEntries again;
  if (again.fill(shape_, step.memory, push) && again.same_as(shape_, block_)) return;
  std::vector<uint8_t> raw = {static_cast<uint8_t>(block_.memory_count)};
  const Bytes bytes = block_.memory_bytes(shape_);
  raw.insert(raw.end(), bytes.begin(), bytes.end());
  store(batch, step, 'M', raw);
}

/// Told when it is news: where an operand shows it, and at a thread's first step after a seek.
void Reader::tell_segment_base(Batch& batch, Step& step) {
  const auto [base, until] = contents_->scan.base_at(static_cast<uint32_t>(tid_), seq_);
  base_until_ = until;
  if (!base || !shape_.wide) return;
  const auto [known, is_new] = bases_.try_emplace(tid_, *base);
  if (!is_new && known->second == *base) return;
  if (bases_.size() > kThreadsTold) bases_.clear();
  bases_[tid_] = *base;
  std::vector<Step::RegisterChange> before(step.before.begin(), step.before.end());
  before.push_back({gs_base_, base_bytes(batch, *base)});
  step.before = batch.copy_array(std::span<const Step::RegisterChange>(before));
}

/// The last block lists registers that are about to change; what to, nobody knows.
void Reader::store_last_words(Batch& batch, Step& step) {
  step.after_known = false;
  std::vector<uint8_t> listed;
  uint32_t word = 0;
  for (uint32_t i = 0; i < block_.register_count; ++i, ++word)
    listed.push_back(static_cast<uint8_t>(word += block_.positions[i]));
  store(batch, step, 'W', listed);
  std::vector<Step::RegisterChange> out;
  for (const uint16_t repeated : tracker_.repeated())
    for (const uint16_t index : WordMap::of(shape_).registers_of(repeated))
      if (std::none_of(out.begin(), out.end(), [&](const auto& one) { return one.index == index; }))
        out.push_back({index, {}});
  step.registers = batch.copy_array(std::span<const Step::RegisterChange>(out));
}

void Reader::mark(Batch& batch, Border border, uint64_t gap) {
  Event event;
  event.process = catalog_.processes.empty() ? 0 : 1;
  if (border == Border::Session) {
    event.seq = seq_;
    const auto sessions = this->sessions();
    const auto at = std::lower_bound(sessions.begin(), sessions.end(), seq_) - sessions.begin();
    event.body = Mark{batch.copy(std::string_view(fmt::format("session {}", at + 1))), true};
  } else if (border == Border::End) {
    const std::string_view why = contents_->scan.lost_end();
    if (const auto& gaps = contents_->scan.gaps(); !gaps.empty() && gaps.back().seq == seq_)
      mark(batch, Border::Gap, gaps.size() - 1);  // of which only a block of ours tells
    if (why.empty()) return;
    event.seq = seq_;
    event.body = Lost{0, batch.copy(why)};
  } else {
    const Gap& one = contents_->scan.gaps()[gap];
    event.seq = one.seq;
    const std::string text = loss_text(one);
    std::string_view why = text;
    const uint64_t count = one.told ? take_missing_count(why) : 0;
    event.body = Lost{count, batch.copy(why)};
  }
  batch.add() = event;
}

/// Ends a step with what the next block says of it, and makes that the current one.
void Reader::go_on(Batch& batch, Step& step, Border border, const Block& next) {
  const uint64_t next_tid = next.has_tid ? next.tid : tid_;
  if (border == Border::Session) {
    store_last_words(batch, step);
    begin_anew(told_);
    begin_anew(bases_);
    tracker_.reset();
    tracker_.apply(next, changed_, next.unknown);
    before_ = changed_;
  } else if (next_tid == tid_) {
    tracker_.apply(next, changed_, next.unknown);
    before_.clear();
    if (border == Border::None) {
      step.registers = values(batch, changed_);
    } else {
      step.after_known = false;
      before_ = changed_;
    }
  } else {
    leave_thread(batch, step, border, next);
    tracker_.apply(next, changed_, next.unknown);
    switch_thread(next_tid);
  }
  if (next_tid != tid_ || border == Border::Session) base_until_ = 0;
  tid_ = next_tid;
  block_ = next;
}

Result<bool> Reader::next(Batch& batch) {
  batch.clear();
  batch.hold(contents_->file);
  if (!begun_) begin(batch);
  if (is_other_) return other_file();
  const size_t most = std::exchange(batch_steps_, kBatchSteps);
  Block next;
  for (size_t i = 0; i < most && !at_end_; ++i) {
    Event& event = batch.add();
    event.seq = seq_;
    event.tid = tid_;
    event.process = catalog_.processes.empty() ? 0 : 1;
    Step& step = event.body.emplace<Step>();
    step.pc = tracker_.words().word(shape_.pc_word, shape_);
    step.opcode = block_.opcode;
    step.gap_before = block_.behind_gap;
    if (!before_.empty()) step.before = values(batch, before_);
    if (seq_ >= base_until_) tell_segment_base(batch, step);
    if (problems_) tell_oddities(block_);
    uint64_t gap = BlockChain::kNoGap;
    const Border border = chain_.find_behind(block_, seq_, next, gap);
    const bool follows = border == Border::None && (!next.has_tid || next.tid == tid_);
    add_memory(batch, step, follows ? &next : nullptr);
    const bool last = border == Border::End || border == Border::Session;
    const uint8_t flags = block_.flags & (last ? 0xf0 : 0x70);
    if (flags != 0) store(batch, step, 'F', {&flags, 1});
    if (step.opcode.empty()) store(batch, step, 'N', {});
    if (border == Border::End) {
      store_last_words(batch, step);
      at_end_ = true;
      is_other_ = seq_ + 1 < count();
    } else {
      go_on(batch, step, border, next);
    }
    ++seq_;
    if (border == Border::Session) enter_session();
    if (border == Border::Session && gap != BlockChain::kNoGap) mark(batch, Border::Gap, gap);
    if (border != Border::None) mark(batch, border, gap);
  }
  return !batch.empty();
}

}  // namespace tracewell::formats::trace64
