#include "agent/fast/fast_trace.h"

#include <algorithm>
#include <atomic>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "ax/decode.h"
#include "axjit/hit_body.h"
#include "base/endian.h"
#include "fast/collector_code.h"
#include "fast/record.h"
#include "ring/hit_calls.h"

namespace tracewell::agent {
namespace {

using target::because;
using target::TrapReason;
using Steady = std::chrono::steady_clock;

/// What rings may take in memory, beside a share of the buffer's size; and what they are made to do
/// with where the program may not have so much address space.
constexpr uint64_t kRingsBytes = 3 << 20, kShareOfBuffer = 4, kRingsBytesMin = 256 << 10;
constexpr uint64_t kStackMax = 2048;  // bytes of the program's that a hit may take
constexpr std::chrono::milliseconds kPatience(20);  // for hits that are under way
/// Of one take(), while the program runs and where somebody waits for what there is. Where there is
/// more than that, all else gets its turn before the next.
constexpr std::chrono::milliseconds kPollFor(10), kTakeFor(50), kCloseAtEndFor(250);
/// GDB asks again after two seconds, and would take the second answer for another packet's.
constexpr std::chrono::milliseconds kTakeAllFor(1000);
/// Of threads at a full ring, a quarter of a second and two seconds: see tracewell_hit_plan. The
/// scheduler may keep a tracer waiting for as long as the first where many threads are busy.
constexpr uint32_t kShortPatience = 625, kLongPatience = 5000;
constexpr uint64_t kMemoryHead = 11, kVariableBlock = 13;  // of blocks in a frame

constexpr target::FastSites::Call kCallsOfHits[] = {
#define TRACEWELL_CALL_OF_HIT(constant, number, name) {number, name},
    TRACEWELL_HIT_CALLS(TRACEWELL_CALL_OF_HIT)
#undef TRACEWELL_CALL_OF_HIT
};

bool is_of_registers(const tracewell_step& step) {
  return step.kind == TRACEWELL_STEP_GENERAL || step.kind == TRACEWELL_STEP_VECTOR;
}

uint64_t read_ticks() { return __builtin_ia32_rdtsc(); }

/// At the same moment. Who loses the processor in between tries again.
std::pair<uint64_t, int64_t> read_clocks(const std::function<int64_t()>& clock) {
  constexpr int kTries = 4;
  constexpr uint64_t kTicksMax = 1000;
  std::pair<uint64_t, int64_t> out;
  uint64_t least = ~uint64_t{0};
  for (int i = 0; i < kTries && least > kTicksMax; ++i) {
    const uint64_t before = read_ticks();
    const int64_t ns = clock();
    const uint64_t took = read_ticks() - before;
    if (took >= least) continue;
    least = took;
    out = {before + took / 2, ns};
  }
  return out;
}

/// Microseconds that each tick of the counter is, times 2^32. Good for 50 parts in a million.
uint64_t clock_rate() {
  static const uint64_t rate = [] {
    using Clock = std::chrono::steady_clock;
    constexpr auto kLong = std::chrono::milliseconds(1);
    const uint64_t ticks = read_ticks();
    const auto begin = Clock::now();
    while (Clock::now() - begin < kLong) {
    }
    const std::chrono::duration<double, std::micro> time = Clock::now() - begin;
    return static_cast<uint64_t>(time.count() / static_cast<double>(read_ticks() - ticks) *
                                 0x1p32);
  }();
  return rate;
}

}  // namespace

FastTrace::FastTrace(target::FastSites& sites, const RegisterLayout& layout, Clock clock,
                     std::function<bool()> quits)
    : sites_(sites),
      layout_(layout),
      clock_(std::move(clock)),
      quits_(std::move(quits)),
      places_(fast_registers(layout)) {}

FastTrace::~FastTrace() {
  if (begun_) sites_.release(pid_);
}

Status FastTrace::begin(target::Pid pid, uint64_t buffer_bytes, uint64_t rings_bytes_max) {
  pid_ = pid;
  TW_ASSIGN_OR_RETURN(processor_, sites_.processor(pid));
  if (!processor_.time_stamps) return because(TrapReason::UnevenTicks);
  if (!processor_.segment_bases) return because(TrapReason::NoSegmentBases);
  begun_ = true;
  TW_RETURN_IF_ERROR(
      share_area(std::min(buffer_bytes / kShareOfBuffer + kRingsBytes, rings_bytes_max)));
  tracewell_area& area = fast::make_area(shared_.bytes, shape_);
  mark_.emplace(area.reader);
  geometry_ = fast::make_geometry(shape_, shared_.address);
  geometry_.reads = processor_.faults_do_harm ? TRACEWELL_READS_CALL : TRACEWELL_READS_LOAD;
  for (const auto& [offset, bytes, component] : processor_.vector_parts)
    vector_parts_.push_back({offset, bytes, component});
  if (processor_.vector_bytes > TRACEWELL_VECTOR_BYTES ||
      vector_parts_.size() > TRACEWELL_VECTOR_PARTS)
    vector_parts_.clear();
  fast::set_vectors(geometry_, vector_parts_, processor_.vectors_direct);
  prepare_rings();
  const auto [ticks, now_ns] = read_clocks(clock_);
  times_.begin(ticks, now_ns);
  set_clock(area);
  reader_.emplace(shared_.bytes, shape_);
  TW_ASSIGN_OR_RETURN(collect_, place_collector());
  if (processor_.faults_do_harm) learn_handlers();
  sites_.make_ready(pid_);
  return {};
}

/// With less, where that can help.
Status FastTrace::share_area(uint64_t rings_bytes) {
  const auto threads = static_cast<uint32_t>(sites_.thread_count(pid_));
  Result<target::FastSites::Shared> shared = because(TrapReason::ServerMemory);
  for (; rings_bytes >= kRingsBytesMin && !shared.ok(); rings_bytes /= 4) {
    shape_ = fast::AreaShape::within(rings_bytes, threads);
    shared = sites_.share(pid_, shape_.bytes(), kCallsOfHits);
    if (!shared.ok() && target::trap_reason(shared.error()) == TrapReason::FiltersCalls) break;
  }
  TW_RETURN_IF_ERROR(shared);
  shared_ = *shared;
  return {};
}

void FastTrace::house(Variables& variables) {
  name_builtins(variables);
  variables.live_in(reinterpret_cast<tracewell_area*>(shared_.bytes.data())->variables);
}

void FastTrace::name_builtins(const Variables& variables) {
  auto& area = *reinterpret_cast<tracewell_area*>(shared_.bytes.data());
  const auto& numbers = variables.builtins();
  area.timestamp_number = numbers[Variables::kTimestamp];
  area.thread_number = numbers[Variables::kThread];
  area.processor_number = numbers[Variables::kProcessor];
}

/// By the time that was read last.
void FastTrace::set_clock(tracewell_area& area) {
  const std::atomic_ref sequence(area.clock_sequence);
  const uint64_t odd = sequence.load() | 1;
  sequence.store(odd);
  std::atomic_ref(area.clock_ticks).store(times_.ticks_now());
  std::atomic_ref(area.clock_us).store(static_cast<uint64_t>(times_.ns_now() / 1000));
  std::atomic_ref(area.clock_rate).store(clock_rate());
  sequence.store(odd + 1);
}

/// For hits, too, once they have it: a number of geometry_, less than 256.
void FastTrace::change(uint32_t& number, uint32_t value) {
  if (number == value) return;
  number = value;
  if (geometry_at_ == 0) return;
  const auto offset =
      reinterpret_cast<const uint8_t*>(&number) - reinterpret_cast<const uint8_t*>(&geometry_);
  sites_.change(pid_, geometry_at_ + static_cast<uint64_t>(offset), static_cast<uint8_t>(value));
}

/// With the table of its entries that expressions call behind it.
Result<uint64_t> FastTrace::place_collector() {
  const Bytes code = fast::collector_code();
  const tracewell_collector& head = fast::collector_head();
  std::vector<target::FastSites::Load> loads(head.load_count);
  for (uint32_t i = 0; i < head.load_count; ++i) {
    tracewell_faulting_load one;
    std::memcpy(&one, code.data() + head.loads + i * sizeof one, sizeof one);
    loads[i] = {one.load, one.resume};
  }
  const size_t at = (code.size() + 63) / 64 * 64;
  const auto make = [&](uint64_t address) {
    std::vector<uint8_t> bytes(code.begin(), code.end());
    std::memcpy(&bytes[head.geometry], &geometry_, sizeof geometry_);
    bytes.resize(at + sizeof(tracewell_native_calls));
    const uint32_t entries[] = {head.trace_memory, head.trace_string, head.trace_variable,
                                head.get_variable, head.read_memory,  head.print};
    static_assert(sizeof entries / sizeof entries[0] * 8 == sizeof(tracewell_native_calls));
    for (size_t i = 0; i < std::size(entries); ++i)
      store_uint(&bytes[at + 8 * i], address + entries[i], 8, Endian::Little);
    return bytes;
  };
  TW_ASSIGN_OR_RETURN(const uint64_t address,
                      sites_.place(pid_, at + sizeof(tracewell_native_calls), make, loads));
  calls_ = address + at;
  geometry_at_ = address + head.geometry;
  return address + head.collect;
}

Result<uint64_t> FastTrace::place_body(const TracepointDef& definition, const CollectPlan& plan,
                                       const FastBody& body, uint32_t number) {
  // Where it stands is part of it: emitted once to learn how long it is.
  const size_t plan_bytes =
      sizeof(tracewell_hit_plan) + body.steps.size() * sizeof(tracewell_step);
  const size_t code_at = (plan_bytes + 63) / 64 * 64;
  axjit::HitSpec spec{
      .pc = definition.address,
      .all_registers = body.registers,
      .condition = plan.condition,
      .collected = body.expressions,
      .memory = body.only_memory() ? std::span(body.steps) : std::span<const tracewell_step>(),
      .addresses = {.collect = collect_,
                    .calls = calls_,
                    .plan = ~uint64_t{0},
                    .variables = shared_.address + offsetof(tracewell_area, variables),
                    .reader = shared_.address + offsetof(tracewell_area, reader),
                    .reads = geometry_at_ + offsetof(tracewell_geometry, reads),
                    .ranges = shared_.address + shape_.ranges_offset()},
      .registers = places_,
      .variables = body.variables,
      .memory_reads = processor_.faults_do_harm ? axjit::MemoryReads::Called
                                                : axjit::MemoryReads::Direct};
  TW_ASSIGN_OR_RETURN(const axjit::HitBody trial, axjit::make_hit_body(spec));
  if (trial.stack_bytes + TRACEWELL_COLLECTOR_STACK > kStackMax)
    return because(TrapReason::Stack);
  std::vector<target::FastSites::Load> loads;
  for (const axjit::FaultingLoad& one : trial.loads)
    loads.push_back({static_cast<uint32_t>(code_at + one.load),
                     static_cast<uint32_t>(code_at + one.resume)});
  const size_t all = code_at + trial.code.size();
  const auto make = [&](uint64_t address) {
    spec.addresses.plan = address;
    const auto made = axjit::make_hit_body(spec);
    TW_CHECK(made.ok() && made->code.size() == trial.code.size());
    std::vector<uint8_t> bytes(all);
    const tracewell_hit_plan head{
        reinterpret_cast<const tracewell_native_calls*>(calls_), number,
        static_cast<uint32_t>(body.room), static_cast<uint32_t>(body.steps.size()),
        definition.fast_length ? kShortPatience : kLongPatience,
        definition.address,
        made->fill == 0 ? nullptr
                        : reinterpret_cast<decltype(tracewell_hit_plan::fill)>(
                              address + code_at + made->fill)};
    std::memcpy(bytes.data(), &head, sizeof head);
    size_t expressions = 0;
    for (size_t i = 0; i < body.steps.size(); ++i) {
      tracewell_step step = body.steps[i];
      if (step.kind == TRACEWELL_STEP_EXPRESSION)
        step.value = address + code_at + made->collected[expressions++];
      std::memcpy(&bytes[sizeof head + i * sizeof step], &step, sizeof step);
    }
    std::ranges::copy(made->code, bytes.begin() + static_cast<ptrdiff_t>(code_at));
    return bytes;
  };
  TW_ASSIGN_OR_RETURN(const uint64_t address, sites_.place(pid_, all, make, loads));
  return address + code_at;
}

Result<HitCost> FastTrace::insert(const TracepointDef& definition, const CollectPlan& plan,
                                  const Variables& variables) {
  if (forbidden_ != TrapReason::None) return because(forbidden_);
  if (definition.step_count > 0) return because(TrapReason::Steps);
  FastBodyMaker maker(layout_, places_, processor_, variables);
  TW_ASSIGN_OR_RETURN(const FastBody body,
                      maker.make(plan, definition.fast_length.has_value(),
                                 shape_.record_bytes_max()));
  const auto number = static_cast<uint32_t>(points_.size());
  TW_ASSIGN_OR_RETURN(const uint64_t code, place_body(definition, plan, body, number));
  const auto slot = axjit::hit_slot(code);
  TW_RETURN_IF_ERROR(sites_.insert(pid_, definition.address, slot));
  Point& point = points_.emplace_back();
  point.place.number = definition.number;
  point.place.address = definition.address;
  point.is_plain = std::ranges::none_of(body.steps, is_of_registers);
  there_[definition.address] = number;
  if (processor_.faults_do_harm && !std::ranges::all_of(body.steps, is_of_registers))
    return HitCost::Calls;
  return point.is_plain ? HitCost::Memory : HitCost::Registers;
}

/// Threads may have begun and ended since begin(). Those that have ended are forgotten first: their
/// bases may be others' by now.
std::vector<uint64_t> FastTrace::commit() {
  const auto threads = sites_.threads(pid_);
  std::map<int64_t, uint64_t> ended = bases_;
  for (const auto& thread : threads) ended.erase(thread.tid);
  for (const auto& [tid, base] : ended) forget_thread(tid);
  for (const auto& thread : threads) {
    const auto known = bases_.find(thread.tid);
    if (known == bases_.end() || known->second != thread.fs_base) thread_begins(thread);
  }
  std::vector<uint64_t> failed = sites_.commit(pid_);
  for (const uint64_t address : failed) {
    const auto point = there_.extract(address);
    if (!point.empty()) points_[point.mapped()].removed = true;
  }
  return failed;
}

bool FastTrace::has(uint32_t number, uint64_t address) const {
  const auto found = there_.find(address);
  return found != there_.end() && points_[found->second].place.number == number;
}

void FastTrace::remove(uint32_t number, uint64_t address) {
  if (!has(number, address)) return;
  points_[there_[address]].removed = true;
  there_.erase(address);
  sites_.remove(pid_, address);
}

void FastTrace::add_block(const tracewell_general& general, Bytes vectors) {
  target::FastSites::Found found;
  const uint64_t in_order[16] = {general.rax, general.rcx, general.rdx, general.rbx,
                                 general.rsp, general.rbp, general.rsi, general.rdi,
                                 general.r8,  general.r9,  general.r10, general.r11,
                                 general.r12, general.r13, general.r14, general.r15};
  std::ranges::copy(in_order, found.general);
  found.rip = general.rip, found.eflags = general.eflags;
  found.fs_base = general.fs_base, found.gs_base = general.gs_base;
  found.cs = general.cs, found.ss = general.ss, found.ds = general.ds;
  found.es = general.es, found.fs = general.fs, found.gs = general.gs;
  found.vectors = vectors;
  const size_t at = frame_.size();
  frame_.resize(at + 1 + layout_.size_bytes);
  frame_[at] = 'R';
  sites_.to_block(found, std::span(frame_).subspan(at + 1));
}

Bytes FastTrace::vectors_of(const fast::RecordBlock& change, uint32_t ring) {
  const auto at =
      vectors_.try_emplace(ring, vector_parts_, processor_.vector_components).first;
  const Bytes area = at->second.apply(change);
  if (area.empty()) reader_->forget_vectors(ring);
  return area;
}

/// false: the program has written over it.
bool FastTrace::make_frame(const fast::RingRecord& record, FastHit& hit) {
  using Kind = fast::RecordBlock::Kind;
  frame_.clear();
  copy_.assign(record.blocks.begin(), record.blocks.end());
  fast::RecordBlocks blocks(copy_);
  std::optional<tracewell_general> general;
  while (const auto block = blocks.next()) {
    const bool is_vector = block->kind == Kind::Vector || block->kind == Kind::VectorChange;
    if (general && !is_vector) add_block(*std::exchange(general, {}), {});
    if (block->kind == Kind::General) {
      general = block->general;
    } else if (is_vector) {
      const Bytes vectors =
          block->kind == Kind::Vector ? block->bytes : vectors_of(*block, record.ring);
      if (!general || vectors.empty()) return false;
      add_block(*std::exchange(general, {}), vectors);
    } else if (block->kind == Kind::Memory) {
      const size_t at = frame_.size();
      frame_.resize(at + kMemoryHead);
      frame_[at] = 'M';
      store_uint(&frame_[at + 1], block->address, 8, Endian::Little);
      store_uint(&frame_[at + 9], block->bytes.size(), 2, Endian::Little);
      frame_.insert(frame_.end(), block->bytes.begin(), block->bytes.end());
      sites_.hide(pid_, block->address, std::span(frame_).subspan(at + kMemoryHead));
    } else if (block->kind == Kind::Variable) {
      const size_t at = frame_.size();
      frame_.resize(at + kVariableBlock);
      frame_[at] = 'V';
      store_uint(&frame_[at + 1], block->number, 4, Endian::Little);
      store_uint(&frame_[at + 5], static_cast<uint64_t>(block->value), 8, Endian::Little);
    } else if (block->kind == Kind::Fault) {
      hit.fault = {static_cast<ax::Fault>(block->number), block->address};
      hit.condition = block->condition;
    }
  }
  if (general) add_block(*general, {});
  hit.data = frame_;
  return !blocks.bad();
}

fast::RingReader::Visit FastTrace::to_hits(FastHits& hits) {
  unchanged_.forget(sites_.changed_range(pid_));
  return [this, &hits](std::span<const fast::RingRecord> records) { take_records(records, hits); };
}

void FastTrace::take_records(std::span<const fast::RingRecord> records, FastHits& hits) {
  for (size_t at = 0; at < records.size() && wanted_;) {
    const size_t count = find_plain(records.subspan(at));
    const std::span plain(plain_.data(), count);
    for (size_t done = 0; done < plain.size() && wanted_;) {
      const FastHits::Plain now = hits.plain(plain.subspan(done), unchanged_);
      done += now.kept;
      if (done == plain.size()) break;
      wanted_ = now.next != FastHits::Plain::Next::Unwanted;
      if (wanted_) take_record(records[at + done++], hits);
    }
    at += plain.size();
    if (at < records.size() && wanted_) take_record(records[at++], hits);
  }
  for (const fast::RingRecord& record : records) times_.told(record.ticks);
}

/// So many of the first ones, in plain_.
size_t FastTrace::find_plain(std::span<const fast::RingRecord> records) {
  if (plain_.size() < records.size()) plain_.resize(records.size());
  PlainHit* plain = plain_.data();
  const std::span<Point> points(points_);
  for (const fast::RingRecord& record : records) {
    if (record.plan >= points.size()) break;
    Point& point = points.data()[record.plan];
    if (!point.is_plain) break;
    *plain++ = {.place = &point.place,
                .tid = tid_of(record),
                .time_ns = times_.time_of(record.ticks),
                .unstable = record.blocks};
  }
  return static_cast<size_t>(plain - plain_.data());
}

int64_t FastTrace::tid_of(const fast::RingRecord& record) const {
  return record.is_own_number ? numbers_.here(record.tid) : record.tid;
}

void FastTrace::take_record(const fast::RingRecord& record, FastHits& hits) {
  if (record.plan >= points_.size()) {
    ++lost_.spoiled;
    return;
  }
  FastHit hit;
  hit.tid = tid_of(record);
  hit.time_ns = times_.time_of(record.ticks);
  if (make_frame(record, hit)) wanted_ = hits.hit(points_[record.plan].place, hit);
  else ++lost_.spoiled;
}

fast::RingReader::Enough FastTrace::for_a_while(Share share) {
  const auto until = Steady::now() + (share == Share::Some   ? kPollFor
                                      : share == Share::Most ? kTakeFor
                                                             : kTakeAllFor);
  return [this, until](uint64_t) { return !wanted_ || quits_() || Steady::now() > until; };
}

void FastTrace::tell_time() {
  const auto [ticks, now_ns] = read_clocks(clock_);
  times_.sample(ticks, now_ns);
  set_clock(*reinterpret_cast<tracewell_area*>(shared_.bytes.data()));
}

void FastTrace::take(FastHits& taker, Share share) {
  if (!reader_ || points_.empty()) return;
  tell_time();
  const auto is_enough = for_a_while(share);
  reader_->take_all(to_hits(taker), is_enough);  // or goes on with what is under way
  if (share == Share::All && !reader_->left_off()) reader_->take_all(to_hits(taker), is_enough);
  sites_.hurry(pace_.after_read(Steady::now(), reader_->bytes_read(), shape_.ring_bytes));
  free_drained();
}

HitLosses FastTrace::losses() const {
  HitLosses sum = lost_;
  for (uint32_t ring = 0; reader_ && ring < reader_->rings(); ++ring) {
    const fast::RingLosses of_ring = reader_->losses(ring);
    (reader_->is_shared(ring) ? sum.shared : sum.no_room) += of_ring.no_room;
    sum.too_large += of_ring.too_large;
    sum.unfinished += of_ring.unfinished;
    sum.spoiled += of_ring.spoiled;
  }
  return sum;
}

/// A thread that runs is through with its hit in no time. One that stands still in it, or was
/// killed there, has not recorded it, and what its ring holds behind that is taken as it is.
void FastTrace::close(FastHits& taker) {
  if (!reader_ || points_.empty()) return;
  auto& area = *reinterpret_cast<tracewell_area*>(shared_.bytes.data());
  mark_.reset();
  std::atomic_ref(area.reader).store(0);
  reader_->conclude();
  tell_time();
  const auto begin = Steady::now();
  const auto is_enough = [&](uint64_t) {
    return !wanted_ || (quits_() && Steady::now() - begin > kCloseAtEndFor);
  };
  const auto hits = to_hits(taker);
  reader_->take_all(hits, is_enough);
  const auto until = Steady::now() + kPatience;
  for (uint32_t ring = 0; ring < reader_->rings() && !reader_->left_off(); ++ring)
    reader_->take_rest(ring, until, hits, is_enough);
  if (!wanted_ || !reader_->left_off()) return;
  for (uint32_t ring = 0; ring < reader_->rings(); ++ring)
    if (reader_->waiting(ring)) ++lost_.left;  // at least one
}

FastTrace::Change FastTrace::look() {
  if (!begun_ || forbidden_ != TrapReason::None) return Change::None;
  const target::FastSites::Conduct now = sites_.conduct(pid_);
  auto& area = *reinterpret_cast<tracewell_area*>(shared_.bytes.data());
  change(geometry_.yields, now.may_yield ? 1 : 0);
  if (now.filters_calls) {
    forbidden_ = TrapReason::FiltersCalls;
    return Change::Filters;
  }
  if (now.supplies_pages) {
    forbidden_ = TrapReason::SuppliesPages;
    return Change::Pages;
  }
  if (std::atomic_ref(area.ticks_denied).load() != 0) {
    forbidden_ = TrapReason::TicksDenied;
    return Change::Ticks;
  }
  if (now.stays_inside) {
    forbidden_ = TrapReason::StaysInside;
    return Change::Inside;
  }
  gone_ = now.gone;
  if (!gone_.empty()) return Change::Code;
  if (now.faults_do_harm && !processor_.faults_do_harm) {
    processor_.faults_do_harm = true;
    change(geometry_.reads, TRACEWELL_READS_CALL);
    return Change::Faults;
  }
  look_at_memory(now);
  constexpr std::chrono::seconds kLearnsEvery(1);
  if (!now.has_new_handlers || Steady::now() - learned_at_ < kLearnsEvery) return Change::None;
  return Change::Handlers;
}

}  // namespace tracewell::agent
