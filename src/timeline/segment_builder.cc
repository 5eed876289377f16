#include "timeline/segment_builder.h"

#include <algorithm>
#include <cstring>
#include <iterator>
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

void put(std::vector<uint8_t>& out, Bytes bytes) {
  uint8_t size[kVarintMax];
  out.insert(out.end(), size, size + put_varint(size, bytes.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
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
  const auto [thread, first] = threads_.try_emplace(event.tid);
  thread->second.steps.add(chains_, count_);
  take_registers(thread->second, step, first);
  if (first) {
    thread->second.first_step = count_;
    thread->second.first_pc = step.pc;
  } else {
    go_on(event.tid, thread->second, here, step.pc);
  }
  thread->second.last_step = count_;
  thread->second.last_pc = step.pc;
  thread->second.last_flow = here.head.flow;
  for (const Step::MemoryAccess& access : step.memory) take_access(access);
  ++count_;
}

SegmentBuilder::PlaceLog& SegmentBuilder::place(uint64_t pc, Bytes opcode) {
  const auto [number, is_new] = place_keys_.add(pc);
  if (is_new) places_.emplace_back();
  PlaceLog& here = places_[number];
  const size_t size = std::min(opcode.size(), here.opcode.size());
  if (is_new || here.opcode_bytes != size ||
      std::memcmp(here.opcode.data(), opcode.data(), size) != 0) {
    std::copy_n(opcode.data(), size, here.opcode.data());
    here.opcode_bytes = static_cast<uint8_t>(size);
    here.head.flow = decoder_.decode(opcode.first(size));
    if (here.head.flow.flow == machine::Flow::Unknown)
      here.head.flow = {here.opcode_bytes, machine::Flow::Onward};
  }
  return here;
}

/// From the thread's last step to this one.
void SegmentBuilder::go_on(uint64_t tid, ThreadLog& thread, PlaceLog& here, uint64_t pc) {
  const machine::FlowInstruction& flow = thread.last_flow;
  const uint64_t behind = thread.last_pc + flow.length;
  if (flow.flow != machine::Flow::Onward || pc != behind) here.head.entered = true;
  const bool is_call = flow.flow == machine::Flow::Call;
  if (is_call || flow.flow == machine::Flow::Return)
    transfers_.push_back({tid, {count_, 0, !is_call, pc, is_call ? behind : 0}});
}

void SegmentBuilder::change(uint32_t index, ChangedBy by) {
  const uint64_t key = register_key(index, by);
  if (key >= registers_.size()) registers_.resize(key + 1);
  registers_[key].add(chains_, count_);
}

void SegmentBuilder::take_registers(ThreadLog& thread, const Step& step, bool first) {
  const RegisterLayout& layout = catalog_.registers;
  if (first) thread.now.reset(layout);
  for (const Step::RegisterChange& news : step.before) {
    const Register& one = layout.registers[news.index];
    const bool same = thread.now.is_valid(news.index) &&
                      std::equal(news.value.begin(), news.value.end(),
                                 thread.now.block.begin() + one.offset);
    if (same) continue;
    if (!first) change(news.index, ChangedBy::Others);
    thread.now.set(layout, news.index, news.value);
  }
  if (first) thread.first = thread.now;
  for (const Step::RegisterChange& changed : step.registers) {
    change(changed.index, ChangedBy::Instruction);
    thread.now.set(layout, changed.index, changed.value);
  }
}

void SegmentBuilder::take_access(const Step::MemoryAccess& access) {
  const Bytes olds = access.old_bytes, news = access.new_bytes;
  uint64_t size = access.size;
  if (olds.size() != size && news.size() != size) size = std::min<uint64_t>(size, kAccessMax);
  // The last byte of all is behind UINT64_MAX - address others.
  if (size > 0) size = std::min(size - 1, UINT64_MAX - access.address) + 1;
  for (uint64_t done = 0; done < size;) {
    const uint64_t address = access.address + done;
    CellAccess part;
    part.step = count_;
    part.kind = kind_of(access.kind);
    part.start = static_cast<uint8_t>(address % kCellBytes);
    part.size = static_cast<uint8_t>(std::min<uint64_t>(kCellBytes - part.start, size - done));
    const auto at = [&](Bytes bytes) {
      return load_uint(bytes.data() + done, part.size, Endian::Little) << (8 * part.start);
    };
    if (olds.size() == access.size) part.old_value = at(olds);
    if (news.size() == access.size) part.new_value = at(news);
    const auto [number, is_new] = cell_keys_.add(address / kCellBytes);
    if (is_new) cells_.emplace_back();
    cells_[number].add(chains_, part);
    done += part.size;
  }
}

size_t SegmentBuilder::size_bytes() const {
  size_t threads = 0;
  for (const auto& [tid, thread] : threads_)
    threads += sizeof(thread) + 2 * (thread.now.block.size() + thread.now.valid.size());
  return chains_.size_bytes() + place_keys_.size_bytes() + cell_keys_.size_bytes() + threads +
         places_.size() * sizeof(PlaceLog) + cells_.size() * sizeof(CellLog) +
         transfers_.capacity() * sizeof(transfers_[0]);
}

std::vector<SegmentBuilder::ThreadLook> SegmentBuilder::thread_looks() const {
  std::vector<ThreadLook> out;
  for (const auto& [tid, thread] : threads_)
    out.push_back({tid, thread.first_step, thread.first, thread.now});
  return out;
}

Pieces SegmentBuilder::finish_places() {
  StreamTableWriter table;
  std::vector<uint8_t> out;
  for (uint32_t number : sorted(place_keys_.keys())) {
    PlaceLog& one = places_[number];
    one.steps.finish(chains_, scratch_, stream_);
    const auto kind = static_cast<uint8_t>(one.head.flow.flow);
    out.assign({static_cast<uint8_t>(kind | (one.head.entered ? 4 : 0)), one.head.flow.length});
    out.insert(out.end(), stream_.begin(), stream_.end());
    table.add(place_keys_.keys()[number], out);
  }
  return table.finish();
}

Pieces SegmentBuilder::finish_registers() {
  StreamTableWriter table;
  for (size_t key = 0; key < registers_.size(); ++key) {
    if (registers_[key].count() == 0) continue;
    registers_[key].finish(chains_, scratch_, stream_);
    table.add(key, stream_);
  }
  return table.finish();
}

Pieces SegmentBuilder::finish_threads() {
  StreamTableWriter table;
  for (auto& [tid, thread] : threads_) {
    thread.steps.finish(chains_, scratch_, stream_);
    std::vector<uint8_t> out;
    put(out, stream_);
    ByteWriter writer(out, Endian::Little);
    writer.uint(thread.first_step, 4);
    writer.uint(thread.last_step, 4);
    writer.uint(thread.first_pc, 8);
    writer.uint(thread.last_pc, 8);
    writer.uint(static_cast<uint64_t>(thread.last_flow.flow), 1);
    writer.uint(thread.last_flow.length, 1);
    put(out, thread.now.block);
    put(out, thread.now.valid);
    table.add(tid, out);
  }
  return table.finish();
}

Pieces SegmentBuilder::finish_cells() {
  StreamTableWriter table(chains_.size_bytes());
  for (uint32_t number : sorted(cell_keys_.keys())) {
    cells_[number].finish(chains_, scratch_, stream_);
    table.add(cell_keys_.keys()[number], stream_);
  }
  return table.finish();
}

Pieces SegmentBuilder::finish_transfers() {
  std::vector<uint8_t> out;
  TransferWriter writer(out);
  uint32_t number = 0;
  for (auto& [tid, thread] : threads_) thread.number = number++;
  for (auto& [tid, transfer] : transfers_) {
    transfer.thread = threads_.at(tid).number;
    writer.add(transfer);
  }
  return {std::move(out)};
}

Pieces SegmentBuilder::finish(std::array<uint64_t, kParts>& sizes) {
  Pieces out;
  size_t part = 0;
  const auto take = [&](Pieces pieces) {
    sizes[part++] = size_of(pieces);
    std::move(pieces.begin(), pieces.end(), std::back_inserter(out));
  };
  take(finish_places());
  take(finish_registers());
  take(finish_threads());
  take(finish_cells());
  take(finish_transfers());
  return out;
}

}  // namespace tracewell::timeline
