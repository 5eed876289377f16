#include "formats/trace64/write/writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/begin_anew.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/trace64/blocks/header.h"
#include "formats/trace64/blocks/stored.h"
#include "formats/trace64/blocks/user.h"
#include "formats/trace64/state/modules.h"
#include "formats/trace64/state/process.h"
#include "formats/trace64/state/told.h"
#include "model/lost_count.h"

namespace tracewell::formats::trace64 {
namespace {

std::optional<bool> is_wide(const Catalog& catalog) {
  if (catalog.machine == "x86-64") return true;
  if (catalog.machine == "i386") return false;
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Sink>> Writer::create(OutputFile file, const SaveOptions& options) {
  if (!options.style.empty() && options.style != "minimal" && options.style != "x64dbg")
    return Error{Errc::InvalidArgument,
                 fmt::format("there is no style {}; use minimal or x64dbg", options.style),
                 {}};
  return std::unique_ptr<Sink>(new Writer(std::move(file), options));
}

std::vector<std::string> Writer::refuses(const Catalog& catalog) const {
  std::vector<std::string> out;
  const auto wide = is_wide(catalog);
  if (!wide) return {"x64dbg's traces are of x86 programs only"};
  const RegisterLayout& layout = WordMap::of(*wide ? kX64 : kX32).layout();
  std::string names;
  for (const Register& one : catalog.registers.registers) {
    const Register* place = layout.find(one.name);
    if (!place || place->size_bytes != one.size_bytes)
      names += (names.empty() ? "" : ", ") + printable(one.name);
  }
  if (!names.empty()) out.push_back("registers that have no place in it: " + names);
  if (!catalog.tracepoints.empty() || !catalog.variables.empty() || catalog.status)
    out.push_back("only steps are written; definitions and frames have no place in it");
  StepsOnly::refuse_processes(catalog, out);
  return out;
}

Status Writer::begin(const Catalog& catalog) {
  const auto wide = is_wide(catalog);
  if (!wide)
    return Error{Errc::Unsupported,
                 fmt::format("x64dbg's traces are of x86 programs, not of {}",
                             printable(catalog.machine)),
                 {}};
  shape_ = *wide ? kX64 : kX32;
  map_ = &WordMap::of(shape_);
  pushes_.emplace(shape_);
  decoder_.emplace(shape_.wide);
  if (!catalog.modules.empty()) {
    path_ = catalog.modules.front().path;
    hash_ = catalog.modules.front().hash;
  }
  for (uint32_t i = 0; i < map_->rest_index(); ++i) maskable_.set(i, map_->may_be_unknown(i));
  map_registers(catalog);
  take_extras(catalog);
  whose_.begin(catalog);
  looks_at_memory_ = json_.empty();  // x64dbg's files tell all of it
  const bool was_minimal = minimal_;
  if (!options_.style.empty()) minimal_ = options_.style == "minimal";
  // What x64dbg wrote, and is written again as it was, reads as it did.
  if (json_.empty() || was_minimal || minimal_) tells_from_ = 0;
  const std::string head = header();
  tell_dropped_keys(head);
  TW_RETURN_IF_ERROR(file_.write(head));
  block_.clear();
  const uint64_t modules = append_modules(block_, catalog.modules, head);
  if (!options_.compat) return file_.write(Bytes(block_));
  others_.count("{module, or where it was, is|modules, or where they were, are} left out, because "
                "user blocks would say so",
                modules);
  return {};
}

void Writer::map_registers(const Catalog& catalog) {
  const RegisterLayout& layout = map_->layout();
  for (const Register& one : catalog.registers.registers) {
    const Register* place = layout.find(one.name);
    const bool fits = place && place->size_bytes == one.size_bytes;
    index_.push_back(fits ? static_cast<int32_t>(place - layout.registers.data()) : -1);
  }
}

void Writer::take_extras(const Catalog& catalog) {
  for (const auto& [key, text] : catalog.extras) {
    if (key == "trace64.header") json_ = text;
    if (key == "trace64.style") minimal_ = text != "x64dbg";
    if (key == "trace64.sessions") tells_from_ = parse_number(text).value_or(0);
    if (key != "trace64.block" || options_.compat) continue;
    std::string_view rest = text;
    const auto seq = parse_number(take_until(rest, ' '));
    const auto type = parse_number(take_until(rest, ' '));
    auto data = from_hex(rest);
    // What is wrong with a module's block shall not be in what was repaired.
    const auto own = options_.sound && type && data
                         ? read_own_block(static_cast<uint8_t>(*type), Bytes(*data))
                         : std::nullopt;
    if (own && own->kind == OwnKind::Module) continue;
    if (seq && type && *type >= kUserBlockMin && *type <= UINT8_MAX && data)
      extras_.push_back({*seq, static_cast<uint8_t>(*type), *std::move(data)});
  }
  std::stable_sort(extras_.begin(), extras_.end(),
                   [](const ExtraBlock& a, const ExtraBlock& b) { return a.seq < b.seq; });
}

std::string Writer::header() const {
  if (json_.empty()) return render_header(shape_.wide, hash_, path_);
  if (options_.compat && json_.size() > kOldHeaderJsonMax) return plain_header(json_, shape_.wide);
  ProblemLog problems;
  const std::string as_it_was = wrap_header(json_);
  const auto read = read_header(as_bytes(as_it_was), problems);
  const bool sound = read.ok() && read->wide == shape_.wide &&
                     problems.count(Problem::Severity::Warning) == 0;
  return sound ? complete_header(json_, hash_, path_) : plain_header(json_, shape_.wide);
}

/// Of a header that had to become smaller, or was not sound.
void Writer::tell_dropped_keys(std::string_view head) {
  constexpr size_t kNamed = 8;
  if (json_.empty()) return;
  const std::vector<std::string> keys = keys_not_in(head, json_);
  if (keys.empty()) return;
  std::string names;
  for (size_t i = 0; i < std::min(kNamed, keys.size()); ++i)
    names += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", keys[i]);
  if (keys.size() > kNamed) names += fmt::format(" and {} more", keys.size() - kNamed);
  others_.say(fmt::format("the header is written without {}", names));
}

Status Writer::write(const Batch& batch) {
  for (const Event& event : batch.events()) {
    if (const auto* step = std::get_if<Step>(&event.body)) {
      others_.of_process(event.process);
      whose_.take(event.process);
      TW_RETURN_IF_ERROR(add(event, *step));
    } else if (const auto* mark = std::get_if<Mark>(&event.body)) {
      if (mark->session) TW_RETURN_IF_ERROR(start_session());
      take_mark(*mark);
    } else if (const auto* lost = std::get_if<Lost>(&event.body)) {
      TW_RETURN_IF_ERROR(lose(*lost));
    } else if (std::holds_alternative<Change>(event.body)) {
      whose_.learn(event);
      TW_RETURN_IF_ERROR(others_.other(event, "trace64"));
    } else {
      return Error{Errc::Unsupported,
                   fmt::format("event {} is not a step; x64dbg's traces hold nothing else",
                               event.seq),
                   {}};
    }
  }
  return {};
}

void Writer::take_mark(const Mark& mark) {
  if (mark.session || mark.text.empty()) return;  // what is noted there are its number and place
  if (options_.compat)
    others_.count("{note is|notes are} left out, because a user block would say so");
  else
    notes_.emplace_back(mark.text);
}

Status Writer::put_notes() {
  block_.clear();
  for (const std::string& note : notes_) append_own_block(block_, OwnKind::Note, as_bytes(note));
  notes_.clear();
  return file_.write(Bytes(block_));
}

/// A block has what was there before its instruction; what that left, the thread's next block has.
void Writer::tell_untold() {
  if (pending_ && pending_->tells) untold_.insert(pending_->tid);
  if (!untold_.empty())
    others_.count("{last step of a thread does|last steps of threads do} not tell what {it|they} "
                  "changed, because only a next one would",
                  untold_.size());
  begin_anew(untold_);
}

/// What is behind it begins with a full dump. Registers stay: who was told them before is not told
/// again.
Status Writer::end_session() {
  tell_untold();
  TW_RETURN_IF_ERROR(put_pending(nullptr, 0));
  in_session_ = 0;
  last_tid_.reset();
  last_ = {};
  changed_before_.reset();
  told_words_.reset();
  believed_.reset();
  return {};
}

Status Writer::start_session() {
  TW_RETURN_IF_ERROR(end_session());
  TW_RETURN_IF_ERROR(put_correction());
  threads_.clear();
  seen_.clear();
  session_begins_ = steps_ != 0;
  return {};
}

/// Whoever reads it is to guess only where x64dbg itself has left it to guessing: in what is
/// written as it was. Of a full dump it is said whether a session begins with it.
Status Writer::put_session(const Words& words) {
  const PendingBlock& one = *pending_;
  if (words.count() != shape_.words || one.seq < tells_from_) return {};
  if (!options_.compat) {
    const uint8_t begins = one.begins || steps_ == 1;  // nothing is in front of the first
    const auto pushes = pushes_->truth();
    const uint8_t data[] = {begins, pushes ? static_cast<uint8_t>(*pushes) : kPushesNotSeen};
    return put_own(OwnKind::Dump, data);
  }
  if (one.begins) others_.count("session{ begins|s begin} where only a user block could say so");
  return {};
}

/// Says it of this session, in front of its first push: nobody then needs to guess, whatever
/// becomes of the rest of the file.
Status Writer::put_pushes() {
  if (options_.compat || pending_->seq < tells_from_) return {};
  pushes_->tell();
  const uint8_t data[] = {static_cast<uint8_t>(pushes_->old()), 1};
  return put_own(OwnKind::Pushes, data);
}

/// Says of the session that ends here what its pushes do not say themselves.
Status Writer::put_correction() {
  const auto which = pushes_->correction();
  const uint64_t count = pushes_->count();
  pushes_->start_session();
  if (!which) return {};
  if (options_.compat) {
    others_.count("{push or call does|pushes and calls do} not say whose old content stands there, "
                  "because a user block would",
                  count);
    return {};
  }
  const auto value = static_cast<uint8_t>(*which);
  return put_own(OwnKind::Pushes, {&value, 1});
}

/// Instructions are missing: to x64dbg and to whoever cannot read our blocks, another session.
Status Writer::lose(const Lost& lost) {
  TW_RETURN_IF_ERROR(end_session());
  seen_.clear();
  lost_count_ = lost_ ? lost_together(lost_count_, lost.count) : lost_count(lost.count);
  if (!lost_) lost_.emplace();
  if (!options_.compat) lost_->add(lost.why, others_);
  tells_from_ = 0;
  if (options_.compat) {
    others_.count("time{|s} instructions are missing and only a full dump shows it, because a "
                  "user block would say so");
    return put_correction();
  }
  pushes_->lost();
  return {};
}

Status Writer::put_lost() {
  if (!lost_) return {};
  const std::string why = missing_text(lost_count_, std::exchange(lost_, std::nullopt)->text());
  return options_.compat ? Status() : put_own(OwnKind::Missing, as_bytes(why));
}

Status Writer::put_gap() {
  if (!pending_->behind_gap) return {};
  if (!options_.compat) return put_own(OwnKind::Gap, {});
  others_.count("gap{|s} between instructions, in which others may have written memory, {is|are} "
                "not marked, because a user block would say so");
  return {};
}

Status Writer::put_own(OwnKind kind, Bytes data) {
  block_.clear();
  append_own_block(block_, kind, data);
  return file_.write(Bytes(block_));
}

Status Writer::add(const Event& event, const Step& step) {
  if (step.opcode.size() > 15 || (step.opcode.empty() && !is_stored_without_opcode(step)))
    return Error{Errc::InvalidArgument,
                 fmt::format("step {} has an opcode of {} bytes; 1 to 15 can be written", event.seq,
                             step.opcode.size()),
                 {}};
  if (event.tid > UINT32_MAX)
    return Error{Errc::InvalidArgument,
                 fmt::format("step {} has thread {}; ids have 32 bits", event.seq, event.tid),
                 {}};
  const auto tid = static_cast<uint32_t>(event.tid);
  TW_ASSIGN_OR_RETURN(Thread* const found, threads_.of(*map_, tid));
  Thread& thread = *found;
  update(thread, step.before);
  store_uint(thread.dump.bytes.data() + shape_.pc_word * shape_.word, step.pc, shape_.word,
             Endian::Little);
  thread.dump.valid.set(shape_.pc_word);
  if (pending_ && pending_->tid != tid && pending_->tells) untold_.insert(pending_->tid);
  if (!untold_.empty()) untold_.erase(tid);
  TW_RETURN_IF_ERROR(put_pending(&thread, tid));
  TW_RETURN_IF_ERROR(put_extras(event.seq));
  TW_RETURN_IF_ERROR(put_lost());
  TW_RETURN_IF_ERROR(put_notes());
  pending_.emplace();
  pending_->begins = std::exchange(session_begins_, false);
  if (event.seq != steps_++) tells_from_ = 0;
  if (thread.dump.valid[4])
    pending_->sp = load_uint(thread.dump.bytes.data() + 4 * shape_.word, shape_.word,
                             Endian::Little);
  pending_->seq = event.seq;
  pending_->tid = tid;
  pending_->opcode.assign(step.opcode.begin(), step.opcode.end());
  keep_accesses(step);
  pending_->dump = thread.dump;
  pending_->known = thread.known;
  take_stored(step.stored);
  pending_->tells = std::ranges::any_of(
      step.registers, [](const Step::RegisterChange& one) { return !one.value.empty(); });
  update(thread, step.registers);
  return {};
}

void Writer::keep_accesses(const Step& step) {
  kept_.clear();
  std::vector<Step::MemoryAccess> all(step.memory.begin(), step.memory.end());
  for (Step::MemoryAccess& one : all) {
    one.old_bytes = kept_.copy(one.old_bytes);
    one.new_bytes = kept_.copy(one.new_bytes);
  }
  pending_->accesses = kept_.copy_array(std::span<const Step::MemoryAccess>(all));
  pending_->incomplete = step.memory_incomplete;
  pending_->behind_gap = step.gap_before;
}

void Writer::take_stored(Bytes stored) {
  each_stored(stored, [&](uint8_t tag, Bytes bytes) {
    if (tag == 'F' && bytes.size() == 1)
      pending_->flags = bytes[0] & (options_.sound ? kThreadFlag : 0xf0);
    if (tag == 'W') pending_->words.emplace(bytes.begin(), bytes.end());
    if (tag == 'M' && !bytes.empty()) {
      MemoryEntries entries;
      if (!entries.parse(shape_, bytes[0], bytes.subspan(1))) return;
      if (options_.compat && entries.count > kUsualMemoryMax) return;
      if (options_.sound)
        for (uint8_t& flags : entries.flags) flags &= 1;
      pending_->stored = entries;
    }
  });
}

void Writer::set_register(Thread& thread, uint32_t index, Bytes value, uint8_t& groups) {
  thread.registers.set(map_->layout(), index, value);
  if (index == map_->rest_index()) {
    groups = kAllGroups;
    return;
  }
  if (map_->words_of(index).empty()) return;
  thread.known.set(index, !value.empty());
  if (value.empty()) return;
  map_->put(thread.dump.bytes.data(), index, value.data());
  for (const uint16_t word : map_->words_of(index)) thread.dump.valid.set(word);
  groups |= map_->groups_of_register(index);
}

void Writer::update(Thread& thread, std::span<const Step::RegisterChange> changes) {
  const RegisterLayout& layout = map_->layout();
  uint8_t groups = 0;
  for (const Step::RegisterChange& change : changes) {
    if (change.index >= index_.size() || index_[change.index] < 0) continue;
    const auto index = static_cast<uint32_t>(index_[change.index]);
    if (change.value.empty() ? index != map_->rest_index()
                             : change.value.size() == layout.registers[index].size_bytes)
      set_register(thread, index, change.value, groups);
  }
  if (groups == 0) return;
  const auto st0 = static_cast<uint32_t>(layout.find("st0") - layout.registers.data());
  if ((groups & kX87) != 0)  // where they stand depends on the status word
    for (uint32_t st = st0; st < st0 + 8; ++st)
      map_->put(thread.dump.bytes.data(), st,
                thread.registers.block.data() + layout.registers[st].offset);
  const Register& rest = layout.registers[map_->rest_index()];
  map_->fill(thread.dump.bytes.data(), groups, thread.registers.block.data() + rest.offset);
  for (uint32_t word = 0; word < shape_.words; ++word)
    if ((map_->groups_of_word(word) & groups) != 0) thread.dump.valid.set(word);
}

/// Will a reader find the step's accesses in these entries by itself?
bool Writer::reads_as_it_is(const machine::Instruction& instruction, const Behind& behind,
                            const MemoryEntries& entries) {
  if (entries.count == 0 && instruction.count == 0)  // looked at no further
    return pending_->accesses.empty() && !pending_->incomplete;
  WordState state;
  state.dump = pending_->dump.bytes;
  state.valid = pending_->dump.valid;
  for (uint32_t word = 0; word <= shape_.pc_word; ++word) {
    const uint32_t index = map_->register_of_first_word(word);
    if (maskable_[index] && !pending_->known[index]) state.valid.reset(word);
  }
  std::vector<uint8_t> bytes;
  entries.append_to(bytes, shape_);
  Block block;
  block.opcode = pending_->opcode;
  block.memory_count = entries.count;
  block.memory_flags = bytes.data();
  block.addresses = bytes.data() + entries.count;
  block.old_words = block.addresses + entries.count * shape_.word;
  block.new_words = block.old_words + entries.count * shape_.word;
  block.new_count =
      static_cast<uint32_t>((bytes.data() + bytes.size() - block.new_words) / shape_.word);
  MemoryContext context;
  context.state = &state;
  context.instruction = &instruction;
  context.behind = behind;
  context.push_old = pushes_->old();
  Batch batch;
  MemoryReader reader(shape_, block, context, batch);
  std::vector<Step::MemoryAccess> read;
  reader.read(read);
  return reader.incomplete() == pending_->incomplete &&
         same_accesses(read, pending_->accesses);
}

/// Finds the entries of the pending step, and says what they do not say.
Status Writer::put_accesses(const Behind& behind, MemoryEntries& entries) {
  using Stack = machine::Instruction::Stack;
  const PendingBlock& one = *pending_;
  const machine::Instruction& instruction = decoder_->decode(one.opcode);
  const bool push = instruction.stack == Stack::Push || instruction.stack == Stack::Call;
  if (push && pushes_->add(one.sp, one.accesses)) TW_RETURN_IF_ERROR(put_pushes());
  const SeenMemory* seen = looks_at_memory_ ? &seen_ : nullptr;
  if (one.stored)
    entries = *one.stored;
  else
    entries.fill(shape_, one.accesses, push, seen);
  const bool good = reads_as_it_is(instruction, behind, entries);
  std::vector<uint8_t> data;
  if (!good) {
    uint32_t lost = render_told(shape_, entries, one.accesses, one.incomplete, data);
    if (lost != 0) {
      entries.fill(shape_, one.accesses, false, seen);
      lost = render_told(shape_, entries, one.accesses, one.incomplete, data);
    }
    if (lost != 0)
      others_.count("{access is without its|accesses are without their} contents: a block has "
                    "room for 32 words",
                    lost);
  }
  if (looks_at_memory_) seen_.add(one.accesses);
  if (good) return {};
  if (!options_.compat) return put_own(OwnKind::Accesses, data);
  others_.count("instruction{ shows|s show} accesses as others than they were, or bytes that are "
                "not known as they were last seen or as 0, because a user block would say so");
  return {};
}

/// What a reader will find in a step's block.
Behind Writer::behind_of(const Thread& thread) const {
  const auto word = [&](uint32_t word) -> std::optional<uint64_t> {
    const uint32_t index = map_->register_of_first_word(word);
    if (!thread.dump.valid[word] || (maskable_[index] && !thread.known[index])) return std::nullopt;
    return load_uint(thread.dump.bytes.data() + word * shape_.word, shape_.word, Endian::Little);
  };
  return {word(shape_.pc_word), word(kCountWord), word(kSourceWord), word(kTargetWord)};
}

/// A block without anything is four zeros. A page of them, or zeros up to the end, would be read as
/// bytes that were never written: an id in one of the blocks says that they were.
bool Writer::breaks_zeros(bool lists_nothing, bool is_last) {
  constexpr uint32_t kZeroBlocksMax = 512;  // half a page
  const PendingBlock& one = *pending_;
  if (!lists_nothing || !one.opcode.empty() || (one.flags & 0x70u) != 0) {
    zero_blocks_ = 0;
    return false;
  }
  if (!is_last && ++zero_blocks_ < kZeroBlocksMax) return false;
  zero_blocks_ = 0;
  return true;
}

Status Writer::put_pending(const Thread* next_thread, uint32_t next_tid) {
  if (!pending_) return {};
  const Dump* const next = next_thread ? &next_thread->dump : nullptr;
  const PendingBlock& one = *pending_;
  const bool full = in_session_ % kFullDumpEvery == 0;
  Words words = listed(full, next);
  list_what_is_known_again(words);
  TW_RETURN_IF_ERROR(put_session(words));
  TW_RETURN_IF_ERROR(put_gap());
  TW_RETURN_IF_ERROR(put_unknown(words));
  MemoryEntries entries;
  Behind behind;
  if (next && next_tid == one.tid) behind = behind_of(*next_thread);
  TW_RETURN_IF_ERROR(put_accesses(behind, entries));
  // Where every word is listed readers take it for a full dump, which has an id.
  bool with_tid = words.count() == shape_.words || !last_tid_ || *last_tid_ != one.tid;
  if (!minimal_ && (next ? next_tid != one.tid : (one.flags & kThreadFlag) != 0)) with_tid = true;
  if (breaks_zeros(words.none() && entries.count == 0, !next)) with_tid = true;
  block_.clear();
  ByteWriter writer(block_, Endian::Little);
  writer.uint(0, 1);
  writer.uint(words.count(), 1);
  writer.uint(entries.count, 1);
  writer.uint((with_tid ? kThreadFlag : 0u) | (one.flags & 0x70u) | one.opcode.size(), 1);
  if (with_tid) writer.uint(one.tid, 4);
  writer.bytes(one.opcode);
  uint32_t at = 0;
  for (uint32_t word = 0; word < shape_.words; ++word) {
    if (!words[word]) continue;
    writer.uint(word - at, 1);
    at = word + 1;
  }
  for (uint32_t word = 0; word < shape_.words; ++word)
    if (words[word])
      writer.bytes({one.dump.bytes.data() + word * shape_.word, shape_.word});
  entries.append_to(block_, shape_);
  last_ = one.dump;
  if (full) last_.valid = words;
  last_tid_ = one.tid;
  ++in_session_;
  pending_.reset();
  pushes_->wrote(Bytes(block_));
  return file_.write(Bytes(block_));
}

/// User blocks that stand in front of step `seq`.
Status Writer::put_extras(uint64_t seq) {
  for (; extras_put_ < extras_.size() && extras_[extras_put_].seq <= seq; ++extras_put_) {
    const ExtraBlock& one = extras_[extras_put_];
    block_.clear();
    ByteWriter writer(block_, Endian::Little);
    writer.uint(one.type, 1);
    writer.uint(one.data.size(), 4);
    writer.bytes(one.data);
    TW_RETURN_IF_ERROR(file_.write(Bytes(block_)));
  }
  return {};
}

Status Writer::finish() {
  tell_untold();
  TW_RETURN_IF_ERROR(put_pending(nullptr, 0));
  TW_RETURN_IF_ERROR(put_lost());
  TW_RETURN_IF_ERROR(put_correction());
  TW_RETURN_IF_ERROR(put_extras(UINT64_MAX));
  TW_RETURN_IF_ERROR(put_notes());
  if (std::string text = whose_.left_out(); !text.empty()) others_.say(std::move(text));
  if (const Process* const one = whose_.find(); one != nullptr && options_.compat)
    others_.say("whose the steps are is left out, because a user block would say so");
  else if (one != nullptr)
    TW_RETURN_IF_ERROR(put_own(OwnKind::Process, render_process(*one)));
  return file_.commit();
}

}  // namespace tracewell::formats::trace64
