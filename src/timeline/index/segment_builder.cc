#include "timeline/index/segment_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

namespace tracewell::timeline {
namespace {

/// Numbers of keys, by ascending key.
std::vector<uint32_t> sorted(const std::vector<uint64_t>& keys) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  return order;
}

bool is_untold(const Step::MemoryAccess& access) {
  return access.old_bytes.size() != access.size && access.new_bytes.size() != access.size;
}

CellAccess::Kind kind_of(Step::MemoryAccess::Kind kind) {
  switch (kind) {
    case Step::MemoryAccess::Kind::Read: return CellAccess::kRead;
    case Step::MemoryAccess::Kind::Write: return CellAccess::kWrite;
    case Step::MemoryAccess::Kind::ReadWrite: return CellAccess::kBoth;
    case Step::MemoryAccess::Kind::Nearby: break;
  }
  return CellAccess::kNearby;
}

}  // namespace

void SegmentBuilder::add(const Event& event) {
  const Step& step = std::get<Step>(event.body);
  PlaceLog& here = place(step.pc, step.opcode);
  here.steps.add(chains_, count_);
  look_for_opening(event.tid, step);
  const auto [found, first] = threads_.try_emplace(event.tid);
  ThreadLog& thread = found->second;
  if (first) thread.number = static_cast<uint32_t>(threads_.size() - 1);
  thread.steps.add(chains_, count_);
  take_registers(thread, step, first);
  if (first) {
    thread.first_step = count_;
    thread.first_pc = step.pc;
    here.head.entered |= begins_;
  } else {
    go_on(event.tid, thread, here, step.pc);
  }
  thread.last_step = count_;
  thread.after_known = step.after_known;
  thread.last_pc = step.pc;
  thread.last_flow = here.head.flow;
  successors_ = here.known ? Successors(here.head.flow, step, decoder_.address_bytes())
                           : Successors();
  // Most steps touch no memory: those are not looked at any closer.
  if (!step.memory.empty()) access_max_ = room_for_untold(step);
  const bool leaves = here.leaves || ((!step.memory.empty() || step.memory_incomplete) &&
                                      others_write_within(step));
  for (const Step::MemoryAccess& access : step.memory) take_access(access, leaves);
  if (leaves) {
    within_.add(chains_, count_);
    opening_ = {uint64_t{count_} + 1, true};
  }
  ++count_;
}

void SegmentBuilder::lose() {
  losses_ = {losses_ ? losses_->first : count_, count_};
}

SegmentBuilder::PlaceLog& SegmentBuilder::place(uint64_t pc, Bytes opcode) {
  const auto [number, is_new] = place_keys_.add(pc);
  if (is_new) places_.emplace_back();
  PlaceLog& here = places_[number];
  const size_t size = std::min(opcode.size(), here.opcode.size());
  if (is_new || here.opcode_bytes != size ||
      !std::ranges::equal(Bytes(here.opcode).first(size), opcode.first(size))) {
    std::copy_n(opcode.data(), size, here.opcode.data());
    here.opcode_bytes = static_cast<uint8_t>(size);
    here.head.flow = decoder_.decode(Bytes(here.opcode).first(size));
    here.known = here.head.flow.flow != machine::Flow::Unknown;
    // What nobody told may have been a system call.
    here.leaves = here.head.flow.leaves || !here.known;
    if (!here.known) here.head.flow = {here.opcode_bytes, machine::Flow::Onward};
  }
  return here;
}

/// In front of the step. Behind a step of the same thread there is one where it does not lead here.
void SegmentBuilder::look_for_opening(uint64_t tid, const Step& step) {
  if (count_ != 0 && (tid != tid_ || step.gap_before || !successors_.contains(step.pc))) {
    between_.add(chains_, count_);
    opening_ = {count_, false};
  }
  tid_ = tid;
}

/// How much of each access without content goes into the histories: all of the step's or, where
/// that is too much for what the trace has of steps, little of each.
uint32_t SegmentBuilder::room_for_untold(const Step& step) {
  uint64_t cells = 0;
  for (const Step::MemoryAccess& one : step.memory)
    if (one.size > kScarceAccessMax && is_untold(one))
      cells += std::min(one.size, kAccessMax) / kCellBytes;
  if (cells == 0) return kAccessMax;
  if (untold_cells_ + cells > kUntoldCells + kUntoldCellsOfStep * count_) return kScarceAccessMax;
  untold_cells_ += cells;
  return kAccessMax;
}

/// Larger than what the histories take of it?
bool SegmentBuilder::is_cut(const Step::MemoryAccess& access) const {
  return access.size > access_max_ && is_untold(access);
}

/// What the step itself writes and nobody told counts as well.
bool SegmentBuilder::others_write_within(const Step& step) {
  for (const Step::MemoryAccess& one : step.memory)
    if (is_cut(one) && (kind_of(one.kind) & CellAccess::kWrite) != 0) return true;
  if (!step.memory_incomplete) return false;
  if (!operands_) operands_.emplace(decoder_.address_bytes() == 8);
  return may_write_untold(operands_->decode(step.opcode), step.memory);
}

/// From the thread's last step to this one.
void SegmentBuilder::go_on(uint64_t tid, ThreadLog& thread, PlaceLog& here, uint64_t pc) {
  const machine::FlowInstruction& flow = thread.last_flow;
  const uint64_t behind = thread.last_pc + flow.length;
  if (flow.flow != machine::Flow::Onward || pc != behind) here.head.entered = true;
  const bool is_call = flow.flow == machine::Flow::Call;
  if (lost_behind(thread)) return;  // nobody saw where the call or return led
  if (is_call || flow.flow == machine::Flow::Return)
    transfers_.push_back({tid, {count_, !is_call, pc, is_call ? behind : 0}});
}

void SegmentBuilder::change(uint32_t index, ChangedBy by) {
  const uint64_t key = register_key(index, by);
  if (key >= registers_.size()) registers_.resize(key + 1);
  registers_[key].add(chains_, count_);
}

void SegmentBuilder::change_late(uint32_t index, uint32_t step) {
  const uint64_t key = register_key(index, ChangedBy::Instruction);
  if (key >= registers_.size()) registers_.resize(key + 1);
  late_.push_back({static_cast<uint32_t>(key), step});
}

/// Where nobody saw what a step left, because another thread came next, the thread's next step
/// finds it: nobody else has its registers. What was not known before either may not have changed;
/// and where the trace has lost something, others may have been there.
void SegmentBuilder::take_registers(ThreadLog& thread, const Step& step, bool first) {
  ThreadStates::State now = states_.of(thread.number);
  const bool by_itself = !first && !thread.after_known && !lost_behind(thread);
  for (const Step::RegisterChange& news : step.before) {
    if (news.value.empty()) {
      now.set(news.index, {});
      continue;
    }
    const bool was_known = now.is_valid(news.index);
    if (was_known && now.holds(news.index, news.value)) continue;
    const auto told = std::ranges::find(thread.to_unknown, news.index);
    if (by_itself && (was_known || told != thread.to_unknown.end()))
      change_late(news.index, thread.last_step);
    else if (!first)
      change(news.index, ChangedBy::Others);
    now.set(news.index, news.value);
  }
  thread.to_unknown.clear();
  for (const Step::RegisterChange& changed : step.registers) {
    change(changed.index, ChangedBy::Instruction);
    now.set(changed.index, changed.value);
    if (changed.value.empty()) thread.to_unknown.push_back(changed.index);
  }
}

void SegmentBuilder::take_access(const Step::MemoryAccess& access, bool leaves) {
  const Bytes olds = access.old_bytes, news = access.new_bytes;
  uint64_t size = access.size;
  if (is_cut(access)) {
    take_rest(access);
    size = access_max_;
  }
  // The last byte of all is behind UINT64_MAX - address others.
  if (size > 0) size = std::min(size - 1, UINT64_MAX - access.address) + 1;
  for (uint64_t done = 0; done < size;) {
    const uint64_t address = access.address + done;
    CellAccess part;
    part.step = count_;
    part.kind = kind_of(access.kind);
    part.leaves = leaves;
    part.start = static_cast<uint8_t>(address % kCellBytes);
    part.size = static_cast<uint8_t>(std::min<uint64_t>(kCellBytes - part.start, size - done));
    const auto at = [&](Bytes bytes) {
      return load_uint(bytes.data() + done, part.size, Endian::Little) << (8 * part.start);
    };
    if (olds.size() == access.size) part.old_value = at(olds);
    if (news.size() == access.size) part.new_value = at(news);
    const auto [number, is_new] = cell_keys_.add(address / kCellBytes);
    if (is_new) cells_.emplace_back();
    cells_[number].add(chains_, part, losses_ ? losses_->second : 0, opening_);
    done += part.size;
  }
}

void SegmentBuilder::take_rest(const Step::MemoryAccess& access) {
  const uint64_t last = access.address + std::min<uint64_t>(access.size - 1,
                                                            UINT64_MAX - access.address);
  if (last - access.address >= access_max_)
    large_.push_back({count_, kind_of(access.kind), access.address + access_max_, last});
}

size_t SegmentBuilder::size_bytes() const {
  constexpr size_t kMapNode = 48;
  return chains_.size_bytes() + place_keys_.size_bytes() + cell_keys_.size_bytes() +
         threads_.size() * (sizeof(ThreadLog) + kMapNode) + states_.size_bytes() +
         places_.size() * sizeof(PlaceLog) + cells_.size() * sizeof(CellLog) +
         large_.capacity() * sizeof(large_[0]) +
         transfers_.capacity() * sizeof(transfers_[0]) + late_.capacity() * sizeof(late_[0]);
}

std::vector<SegmentBuilder::ThreadSpan> SegmentBuilder::thread_spans() const {
  std::vector<ThreadSpan> out;
  out.reserve(threads_.size());
  for (const auto& [tid, thread] : threads_)
    out.push_back({tid, thread.steps.first(), thread.last_step, ends_of(thread)});
  return out;
}

ThreadEnds SegmentBuilder::ends_of(const ThreadLog& thread) const {
  ThreadEnds ends;
  ends.first_pc = thread.first_pc;
  ends.last_pc = thread.last_pc;
  ends.last_flow = thread.last_flow;
  ends.lost_before = losses_ && losses_->first <= thread.first_step;
  ends.lost_behind = lost_behind(thread);
  return ends;
}

Pieces SegmentBuilder::finish_places() {
  StreamTableWriter table;
  std::vector<uint8_t> out;
  for (uint32_t number : sorted(place_keys_.keys())) {
    PlaceLog& one = places_[number];
    one.steps.finish(chains_, scratch_, stream_);
    out.assign({static_cast<uint8_t>(pack_flow(one.head.flow) | (one.head.entered ? 4 : 0))});
    out.insert(out.end(), stream_.begin(), stream_.end());
    table.add(place_keys_.keys()[number], {one.steps.first(), out});
  }
  return table.finish();
}

/// Puts them where they belong in a list.
void SegmentBuilder::add_late(std::span<const LateChange> late, PostingList& list) {
  const uint32_t first = list.first();
  PostingList merged;
  const auto add_until = [&](uint64_t end) {
    for (; !late.empty() && late.front().step < end; late = late.subspan(1))
      merged.add(chains_, late.front().step);
  };
  if (list.count() != 0) {
    list.finish(chains_, scratch_, stream_);
    const std::vector<uint8_t> stream = stream_;
    Postings({first, stream}).runs(0, [&](uint64_t begin, uint64_t end) {
      add_until(begin);
      for (uint64_t i = begin; i < end; ++i) merged.add(chains_, static_cast<uint32_t>(i));
      while (!late.empty() && late.front().step < end) late = late.subspan(1);
      return true;
    });
  }
  add_until(UINT64_MAX);
  list = merged;
}

Pieces SegmentBuilder::finish_registers() {
  std::ranges::sort(late_);
  std::span<const LateChange> late = late_;
  StreamTableWriter table;
  for (size_t key = 0; key < registers_.size(); ++key) {
    const auto end = std::ranges::upper_bound(late, key, {}, &LateChange::key);
    const auto count = static_cast<size_t>(end - late.begin());
    if (count != 0) add_late(late.first(count), registers_[key]);
    late = late.subspan(count);
    if (registers_[key].count() == 0) continue;
    registers_[key].finish(chains_, scratch_, stream_);
    table.add(key, {registers_[key].first(), stream_});
  }
  return table.finish();
}

Pieces SegmentBuilder::finish_threads(bool session_ends) {
  StreamTableWriter table;
  const bool whole = begins_ && session_ends;
  for (auto& [tid, thread] : threads_) {
    const ThreadEnds ends = ends_of(thread);
    const int losses = (ends.lost_before ? 2 : 0) | (ends.lost_behind ? 4 : 0);
    std::vector<uint8_t> out = {static_cast<uint8_t>(whole ? 0 : 1 | losses)};
    if (!whole) {
      append_varint(out, ends.first_pc);
      append_varint(out, folded(ends.last_pc - ends.first_pc));
      out.push_back(pack_flow(ends.last_flow));
    }
    thread.steps.finish(chains_, scratch_, stream_);
    out.insert(out.end(), stream_.begin(), stream_.end());
    table.add(tid, {thread.steps.first(), out});
  }
  return table.finish();
}

Pieces SegmentBuilder::finish_openings() {
  StreamTableWriter table;
  const auto add = [&](OpeningKey key, PostingList& list) {
    if (list.count() == 0) return;
    list.finish(chains_, scratch_, stream_);
    table.add(static_cast<uint64_t>(key), {list.first(), stream_});
  };
  add(OpeningKey::Within, within_);
  add(OpeningKey::Between, between_);
  if (!large_.empty())
    table.add(static_cast<uint64_t>(OpeningKey::Large),
              {large_.front().step, large_accesses_stream(large_)});
  return table.finish();
}

Pieces SegmentBuilder::finish_cells(const Pieces& openings) {
  std::vector<uint8_t> joined;
  for (const std::vector<uint8_t>& piece : openings)
    joined.insert(joined.end(), piece.begin(), piece.end());
  Segment segment;
  segment.parts[static_cast<size_t>(Part::Openings)] = joined;
  const SegmentOpenings finished(segment);
  StreamTableWriter table(chains_.size_bytes());
  for (uint32_t number : sorted(cell_keys_.keys())) {
    CellLog& one = cells_[number];
    if (one.empty()) continue;
    one.finish(chains_, finished, scratch_, stream_);
    table.add(cell_keys_.keys()[number], {one.first(), stream_});
  }
  return table.finish();
}

Pieces SegmentBuilder::finish_transfers() {
  std::ranges::stable_sort(transfers_, {}, &std::pair<uint64_t, Transfer>::first);
  StreamTableWriter table;
  std::vector<Transfer> of_thread;
  for (size_t i = 0; i < transfers_.size(); ++i) {
    of_thread.push_back(transfers_[i].second);
    const uint64_t tid = transfers_[i].first;
    if (i + 1 < transfers_.size() && transfers_[i + 1].first == tid) continue;
    table.add(tid, {of_thread.front().step, transfer_stream(of_thread)});
    of_thread.clear();
  }
  return table.finish();
}

std::vector<Pieces> SegmentBuilder::finish(bool ends) {
  std::vector<Pieces> out;
  out.push_back(finish_places());
  out.push_back(finish_registers());
  out.push_back(finish_threads(ends));
  Pieces openings = finish_openings();
  out.push_back(finish_cells(openings));
  out.push_back(finish_transfers());
  out.push_back(std::move(openings));
  return out;
}

}  // namespace tracewell::timeline
