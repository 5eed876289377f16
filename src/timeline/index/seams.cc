#include "timeline/index/seams.h"

#include <algorithm>
#include <memory>
#include <variant>

#include "model/batch.h"

namespace tracewell::timeline {
namespace {

/// Step `seq`, in `batch`, by a reader that begins there, and tells no more than the segments' did.
Result<const Step*> read(const StepIndex& steps, uint64_t seq, Batch& batch) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, steps.open_meaning_at(seq));
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, source->next(batch));
    if (!more) return {Errc::Corrupt, "the trace ends before its last step"};
    for (const Event& event : batch.events())
      if (const auto* step = std::get_if<Step>(&event.body)) return step;
  }
}

using Run = std::pair<uint32_t, uint32_t>;

/// Those that a table has, of a segment of `count` steps.
void add_runs(Bytes table, uint64_t count, std::map<uint32_t, std::vector<Run>>& keys) {
  StreamTable(table).each(0, UINT32_MAX, [&](const StreamTable::Item& item) {
    Postings(item.stream).runs(0, [&](uint64_t begin, uint64_t end) {
      if (begin >= count) return false;
      keys[static_cast<uint32_t>(item.key)].emplace_back(begin, std::min(end, count));
      return true;
    });
    return true;
  });
}

}  // namespace

void Seams::begin_session(uint64_t session) {
  if (session != session_) {
    last_steps_.clear();
    last_.reset();
  }
  session_ = session;
}

bool Seams::take(uint64_t first, std::span<const SegmentBuilder::ThreadSpan> threads,
                 const std::optional<std::pair<uint32_t, uint32_t>>& losses) {
  const auto before = last_;
  bool switched = false;
  for (const SegmentBuilder::ThreadSpan& thread : threads) {
    if (thread.first == 0) switched = before && before->second != thread.tid;
    note_last(first + thread.last, thread.tid);
    const uint64_t next = first + thread.first;
    const auto [step, is_new] = last_steps_.try_emplace(thread.tid, first + thread.last);
    if (is_new) continue;
    const bool lost = step->second < loss_end_ || (losses && losses->first <= thread.first);
    seams_.push_back({step->second, next, lost});
    step->second = first + thread.last;
  }
  if (losses) loss_end_ = first + losses->second;
  return switched;
}

void Seams::note_last(uint64_t step, uint64_t tid) {
  if (!last_ || step >= last_->first) last_ = {step, tid};
}

void Seams::take_over(const Segment& segment) {
  segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
    const auto thread = read_thread(item.stream);
    const auto last = thread ? thread->steps.last(segment.count) : std::nullopt;
    if (last) {
      last_steps_[item.key] = segment.first + *last;
      note_last(segment.first + *last, item.key);
    }
    return true;
  });
  if (!segment.seams.empty()) known_[segment.first] = {segment.count, segment.seams};
  if (segment.loss_end != 0) loss_end_ = segment.first + segment.loss_end - 1;
}

Status Seams::look(const StepIndex& steps, const Catalog& catalog) {
  Batch here, there;
  const machine::FlowDecoder decoder(catalog.machine);
  for (const Seam& seam : seams_) {
    TW_ASSIGN_OR_RETURN(const Step* const last, read(steps, seam.last, here));
    TW_ASSIGN_OR_RETURN(const Step* const next, read(steps, seam.next, there));
    compare(seam, *last, *next, catalog);
    look_for_opening(seam, *last, *next, decoder);
  }
  seams_.clear();
  std::ranges::sort(changes_);
  const auto same = std::ranges::unique(changes_);
  changes_.erase(same.begin(), same.end());
  return {};
}

/// As SegmentBuilder does where it sees both. Between steps that do not follow each other another
/// thread ran, which it sees.
void Seams::look_for_opening(const Seam& seam, const Step& last, const Step& next,
                             const machine::FlowDecoder& decoder) {
  if (seam.last + 1 != seam.next) return;
  const Successors successors(decoder.decode(last.opcode), last, decoder.address_bytes());
  if (next.gap_before || !successors.contains(next.pc)) led_elsewhere_.insert(seam.next);
}

/// As SegmentBuilder does where it sees both. Each step, being the first that was read, tells in
/// `before` all that is known.
void Seams::compare(const Seam& seam, const Step& last, const Step& next,
                    const Catalog& catalog) {
  RegisterState now;
  now.reset(catalog.registers);
  for (const auto& known : last.before) now.set(catalog.registers, known.index, known.value);
  std::vector<bool> told(catalog.registers.registers.size());
  for (const auto& changed : last.registers) {
    now.set(catalog.registers, changed.index, changed.value);
    told[changed.index] = changed.value.empty();
  }
  for (const auto& news : next.before) {
    const Register& one = catalog.registers.registers[news.index];
    const bool was_known = now.is_valid(news.index);
    if (news.value.empty() || (was_known && std::equal(news.value.begin(), news.value.end(),
                                                       now.block.begin() + one.offset)))
      continue;
    const bool by_itself = !last.after_known && !seam.lost && (was_known || told[news.index]);
    if (by_itself)
      changes_.push_back({seam.last, static_cast<uint32_t>(
                                         register_key(news.index, ChangedBy::Instruction))});
    else
      changes_.push_back({seam.next, static_cast<uint32_t>(
                                         register_key(news.index, ChangedBy::Others))});
  }
}

Pieces Seams::table(uint64_t first, uint64_t end) const {
  std::map<uint32_t, std::vector<Run>> keys;
  for (auto at = std::ranges::lower_bound(changes_, first, {}, &Change::step);
       at != changes_.end() && at->step < end; ++at) {
    const auto step = static_cast<uint32_t>(at->step - first);
    keys[at->key].push_back({step, step + 1});
  }
  if (const auto known = known_.find(first); known != known_.end()) {
    const Bytes there = known->second.table;
    if (keys.empty()) return {std::vector<uint8_t>(there.begin(), there.end())};
    add_runs(there, known->second.count, keys);
  }
  if (keys.empty()) return {};
  std::vector<uint8_t> scratch, stream;
  StreamTableWriter table;
  for (auto& [key, runs] : keys) {
    ByteChains chains;
    PostingList list;
    std::ranges::sort(runs);
    for (const auto& [begin, behind] : runs) list.add_run(chains, begin, behind);
    list.finish(chains, scratch, stream);
    table.add(key, {list.first(), stream});
  }
  return table.finish();
}

}  // namespace tracewell::timeline
