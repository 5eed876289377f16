#include "agent/fast_trace.h"

#include <algorithm>
#include <atomic>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "ax/decode.h"
#include "axjit/hit_body.h"
#include "base/endian.h"
#include "fast/collector_code.h"
#include "fast/record.h"

namespace tracewell::agent {
namespace {

constexpr std::array<std::string_view, 16> kGeneral = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                       "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                       "r12", "r13", "r14", "r15"};
constexpr uint32_t kRings = 256;
constexpr size_t kPortion = size_t{64} << 20;  // bytes that are put in order at a time
constexpr uint64_t kMemoryHead = 11, kMemoryMax = 0xffff, kVectorHead = 69, kVariableBlock = 13;

Error unsupported(std::string text) { return {Errc::Unsupported, std::move(text), {}}; }

uint64_t read_ticks() { return __builtin_ia32_rdtsc(); }

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

/// One that a hit has without a look at the vector state.
bool is_general(const Register* one) {
  constexpr std::string_view kOthers[] = {"rip", "eflags", "cs", "ss", "ds", "es", "fs", "gs",
                                          "fs_base", "gs_base", "orig_rax"};
  return one == nullptr || std::ranges::find(kGeneral, one->name) != kGeneral.end() ||
         std::ranges::find(kOthers, one->name) != std::end(kOthers);
}

/// Bytes of a record for so much memory.
uint64_t memory_room(uint64_t bytes) {
  return bytes + (bytes / kMemoryMax + 1) * kMemoryHead;
}

/// The most that the expression collects; nullopt where that cannot be told beforehand.
std::optional<uint64_t> most_collected(ax::Code code) {
  uint64_t sum = 0;
  std::optional<uint64_t> constant;
  ax::Instruction one;
  for (size_t at = 0; at < code.size(); at += one.size) {
    if (ax::decode(code, at, one) != ax::Fault::None) return std::nullopt;
    using Opcode = ax::Opcode;
    const Opcode opcode = one.opcode();
    if (opcode == Opcode::op_trace || opcode == Opcode::op_tracenz) {
      if (!constant) return std::nullopt;
      sum += memory_room(*constant);
    } else if (opcode == Opcode::op_trace_quick || opcode == Opcode::op_trace16) {
      sum += memory_room(one.operand);
    }
    if (opcode == Opcode::op_tracev) sum += kVariableBlock;
    const bool is_constant = opcode == Opcode::op_const8 || opcode == Opcode::op_const16 ||
                             opcode == Opcode::op_const32 || opcode == Opcode::op_const64;
    constant = is_constant ? std::optional<uint64_t>(one.operand) : std::nullopt;
  }
  return sum;
}

}  // namespace

/// What is done at a hit, as the process will have it.
struct FastTrace::Body {
  std::vector<tracewell_step> steps;
  std::vector<ax::Code> expressions;  // of the steps that are some, in order
  std::vector<axjit::VariablePlace> variables;
  uint64_t room = sizeof(tracewell_record);
  bool registers = false;  // any of them
  /// So little that it pays to have code for it.
  bool only_memory() const {
    constexpr uint64_t kMost = 256;
    uint64_t sum = 0;
    for (const tracewell_step& step : steps) {
      if (step.kind != TRACEWELL_STEP_MEMORY || step.bytes > kMost) return false;
      sum += step.bytes;
    }
    return sum <= kMost;
  }
};

FastTrace::FastTrace(target::FastSites& sites, const RegisterLayout& layout, Clock clock)
    : sites_(sites), layout_(layout), clock_(std::move(clock)) {
  for (uint32_t i = 0; i < kGeneral.size(); ++i)
    if (const Register* one = layout.find(kGeneral[i]))
      places_.push_back(axjit::place_in_hit(one->number, i));
  if (const Register* one = layout.find("rip"))
    places_.push_back(axjit::place_in_hit(one->number, axjit::kRip));
  if (const Register* one = layout.find("eflags"))
    places_.push_back(axjit::place_in_hit(one->number, axjit::kEflags));
}

FastTrace::~FastTrace() {
  if (begun_) sites_.release(pid_);
}

Status FastTrace::begin(target::Pid pid, uint64_t buffer_bytes) {
  pid_ = pid;
  TW_ASSIGN_OR_RETURN(processor_, sites_.processor(pid));
  if (!processor_.time_stamps)
    return unsupported("this processor's time stamp counter does not go on evenly");
  if (!processor_.segment_bases) return unsupported("programs may not read the base of fs here");
  shape_.rings = kRings;
  constexpr uint64_t kRingMin = 1 << 16, kRingMax = 1 << 29;
  shape_.ring_bytes =
      static_cast<uint32_t>(std::bit_ceil(std::clamp(buffer_bytes, kRingMin, kRingMax)));
  begun_ = true;
  TW_ASSIGN_OR_RETURN(shared_, sites_.share(pid, shape_.bytes()));
  tracewell_area& area = fast::make_area(shared_.bytes, shape_);
  area.reads_of = processor_.faults_do_harm ? static_cast<uint64_t>(pid) : 0;
  prepare_rings(area, buffer_bytes);
  ticks_begin_ = ticks_now_ = read_ticks();
  ns_begin_ = ns_now_ = clock_();
  set_clock(area);
  reader_.emplace(shared_.bytes, shape_);
  TW_ASSIGN_OR_RETURN(collect_, place_collector());
  return {};
}

void FastTrace::house(Variables& variables) {
  auto& area = *reinterpret_cast<tracewell_area*>(shared_.bytes.data());
  const auto& numbers = variables.builtins();
  area.timestamp_number = numbers[Variables::kTimestamp];
  area.thread_number = numbers[Variables::kThread];
  area.processor_number = numbers[Variables::kProcessor];
  variables.live_in(area.variables);
}

/// By the time that was read last.
void FastTrace::set_clock(tracewell_area& area) {
  const std::atomic_ref sequence(area.clock_sequence);
  const uint64_t odd = sequence.load() | 1;
  sequence.store(odd);
  std::atomic_ref(area.clock_ticks).store(ticks_now_);
  std::atomic_ref(area.clock_us).store(static_cast<uint64_t>(ns_now_ / 1000));
  std::atomic_ref(area.clock_rate).store(clock_rate());
  sequence.store(odd + 1);
  std::atomic_ref(area.impatient).store(0);
}

/// Looked at before it runs: can its ring be found as those of the others are?
void FastTrace::thread_begins(const target::FastSites::ThreadBase& thread) {
  if (shared_.bytes.empty() || thread.fs_base == 0) return;
  auto& keys = reinterpret_cast<tracewell_area*>(shared_.bytes.data())->keys;
  const bool alone = std::ranges::none_of(
      bases_, [&](const auto& one) { return one.second == thread.fs_base; });
  bases_[thread.tid] = thread.fs_base;
  if (!alone)
    std::atomic_ref(keys).store(TRACEWELL_KEYS_THREAD_ID);
  else if (!thread.points_to_itself && keys == TRACEWELL_KEYS_SELF)
    std::atomic_ref(keys).store(TRACEWELL_KEYS_FS_BASE);
}

/// Threads that are there have their rings from the beginning, with memory: a page that is touched
/// for the first time costs the program as much as hundreds of hits. All of them together get as
/// much of it as the buffer has.
void FastTrace::prepare_rings(tracewell_area& area, uint64_t buffer_bytes) {
  const auto threads = sites_.threads(pid_);
  area.keys = processor_.faults_do_harm ? TRACEWELL_KEYS_FS_BASE : TRACEWELL_KEYS_SELF;
  for (const auto& thread : threads) thread_begins(thread);
  const uint64_t bytes =
      std::min<uint64_t>(shape_.ring_bytes, buffer_bytes / std::max<size_t>(threads.size(), 1));
  for (const auto& thread : threads) {
    const auto tid = static_cast<uint32_t>(thread.tid);
    const bool by_id = area.keys == TRACEWELL_KEYS_THREAD_ID || thread.fs_base == 0;
    const uint64_t key = by_id ? uint64_t{tid} * 2 + 1 : thread.fs_base;
    const auto ring = fast::claim_ring(shared_.bytes, shape_, key, tid);
    if (!ring) return;
    const uint64_t cells = *ring * shape_.cells() * sizeof(uint32_t);
    sites_.populate(pid_, shared_.address + shape_.commit_offset() + cells,
                    bytes / TRACEWELL_CELL * sizeof(uint32_t));
    sites_.populate(pid_, shared_.address + shape_.data_offset() + *ring * shape_.data_stride(),
                    bytes);
  }
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
  return address + head.collect;
}

/// Once, where the first action wants some. Who asked for a fast tracepoint gets vectors only if an
/// action wants one of them, since they take four times as long as all else; a frame of others has
/// every register, as at a stop.
void FastTrace::add_registers(const CollectPlan& plan, bool asked_for, Body& body) const {
  if (std::ranges::find(body.steps, TRACEWELL_STEP_GENERAL, &tracewell_step::kind) !=
      body.steps.end())
    return;
  body.registers = true;
  body.steps.push_back({TRACEWELL_STEP_GENERAL, TRACEWELL_NO_REGISTER, 0, 0});
  body.room += 1 + sizeof(tracewell_general);
  bool vectors = !asked_for;
  for (const rsp::Action& action : plan.actions)
    for (uint32_t number = 0; number < action.register_mask.size() * 8; ++number)
      if ((action.register_mask[number / 8] >> number % 8 & 1) != 0)
        vectors |= !is_general(layout_.by_number(number));
  if (!vectors || processor_.vector_bytes == 0) return;
  body.steps.push_back({TRACEWELL_STEP_VECTOR, TRACEWELL_NO_REGISTER,
                        processor_.vector_components, processor_.vector_bytes});
  body.room += kVectorHead + processor_.vector_bytes;
}

Status FastTrace::add_memory(const rsp::Action& action, Body& body) const {
  tracewell_step step{TRACEWELL_STEP_MEMORY, TRACEWELL_NO_REGISTER, action.offset, action.length};
  if (action.base_register >= 0) {
    const Register* const base =
        layout_.by_number(static_cast<uint32_t>(action.base_register));
    const auto found = base == nullptr ? kGeneral.end() : std::ranges::find(kGeneral, base->name);
    if (found != kGeneral.end()) step.base = static_cast<uint32_t>(found - kGeneral.begin());
    else if (base != nullptr && base->name == "rip") step.base = TRACEWELL_REGISTER_RIP;
    else return unsupported("memory at a register that is none of the general ones");
    body.registers = true;
  }
  body.steps.push_back(step);
  body.room += memory_room(action.length);
  return {};
}

Status FastTrace::add_expression(const rsp::Action& action, Body& body) const {
  TW_ASSIGN_OR_RETURN(const axjit::Needs needs, axjit::survey(action.code, ax::Purpose::Action));
  const auto most = needs.loops ? std::nullopt : most_collected(action.code);
  if (!most) return unsupported("nobody can tell how much an expression collects");
  body.steps.push_back({TRACEWELL_STEP_EXPRESSION, TRACEWELL_NO_REGISTER, 0, 0});
  body.expressions.emplace_back(action.code);
  body.room += *most;
  return {};
}

Status FastTrace::take_variables(const axjit::Needs& needs, const Variables& variables,
                                 Body& body) const {
  using Place = axjit::VariablePlace;
  for (const uint32_t number : needs.variables) {
    const auto known = std::ranges::find(body.variables, number, &Place::number);
    if (known != body.variables.end()) continue;
    const auto cell = variables.cell(number);
    if (!cell && !variables.is_builtin(number))
      return unsupported("there are too many trace state variables");
    body.variables.push_back(cell ? Place{number, Place::Kind::Cell,
                                          *cell * static_cast<uint32_t>(sizeof(uint64_t))}
                                  : Place{number, Place::Kind::Computed, 0});
  }
  return {};
}

Result<FastTrace::Body> FastTrace::understand(const CollectPlan& plan, bool asked_for,
                                              const Variables& variables) const {
  Body body;
  for (const rsp::Action& action : plan.actions) {
    switch (action.kind) {
      case rsp::Action::Kind::Registers: add_registers(plan, asked_for, body); break;
      case rsp::Action::Kind::Memory: TW_RETURN_IF_ERROR(add_memory(action, body)); break;
      case rsp::Action::Kind::Expression: TW_RETURN_IF_ERROR(add_expression(action, body)); break;
      case rsp::Action::Kind::StaticData: return unsupported("it collects data of a marker");
    }
  }
  std::vector<std::pair<ax::Code, ax::Purpose>> all;
  if (!plan.condition.empty()) all.emplace_back(plan.condition, ax::Purpose::Condition);
  for (const ax::Code code : body.expressions) all.emplace_back(code, ax::Purpose::Action);
  for (const auto& [code, purpose] : all) {
    TW_ASSIGN_OR_RETURN(const axjit::Needs needs, axjit::survey(code, purpose));
    TW_RETURN_IF_ERROR(take_variables(needs, variables, body));
    if (needs.prints) return unsupported("it prints");
    for (const uint32_t number : needs.registers)
      if (std::ranges::find(places_, number, &axjit::RegisterPlace::number) == places_.end())
        return unsupported(fmt::format("an expression reads register {}", number));
  }
  const uint64_t largest = std::min<uint64_t>(TRACEWELL_RECORD_MAX, shape_.ring_bytes / 2);
  body.room = (body.room + TRACEWELL_CELL - 1) / TRACEWELL_CELL * TRACEWELL_CELL;
  if (body.room > largest) return unsupported(fmt::format("it may collect {} bytes", body.room));
  return body;
}

Result<uint64_t> FastTrace::place_body(const TracepointDef& definition, const CollectPlan& plan,
                                       const Body& body, uint32_t number) {
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
                    .variables = shared_.address + offsetof(tracewell_area, variables)},
      .registers = places_,
      .variables = body.variables,
      .memory_reads = processor_.faults_do_harm ? axjit::MemoryReads::Called
                                                : axjit::MemoryReads::Direct};
  TW_ASSIGN_OR_RETURN(const axjit::HitBody trial, axjit::make_hit_body(spec));
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
        reinterpret_cast<tracewell_area*>(shared_.address),
        reinterpret_cast<const tracewell_native_calls*>(calls_), number,
        static_cast<uint32_t>(body.room), static_cast<uint32_t>(body.steps.size()),
        definition.fast_length ? 0U : 1U,
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

Status FastTrace::insert(const TracepointDef& definition, const CollectPlan& plan,
                         const Variables& variables) {
  if (definition.step_count > 0) return unsupported("it steps");
  if (definition.is_static) return unsupported("it is at a static marker");
  TW_ASSIGN_OR_RETURN(const Body body,
                      understand(plan, definition.fast_length.has_value(), variables));
  const auto number = static_cast<uint32_t>(points_.size());
  TW_ASSIGN_OR_RETURN(const uint64_t code, place_body(definition, plan, body, number));
  const auto slot = axjit::hit_slot(code);
  TW_RETURN_IF_ERROR(sites_.insert(pid_, definition.address, slot));
  points_.push_back({definition.number, definition.address});
  return {};
}

bool FastTrace::has(uint32_t number, uint64_t address) const {
  return std::ranges::any_of(points_, [&](const Point& one) {
    return one.number == number && one.address == address && !one.removed;
  });
}

void FastTrace::remove(uint32_t number, uint64_t address) {
  for (Point& one : points_) {
    if (one.number != number || one.address != address || one.removed) continue;
    one.removed = true;
    sites_.remove(pid_, address);
  }
}

/// The counter and the clock, as far apart as they are, between the first and the last look.
int64_t FastTrace::time_of(uint64_t ticks) const {
  if (ticks_now_ == ticks_begin_) return ns_begin_;
  const double rate = static_cast<double>(ns_now_ - ns_begin_) /
                      static_cast<double>(ticks_now_ - ticks_begin_);
  return ns_begin_ +
         static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(ticks - ticks_begin_)) *
                              rate);
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

/// false: the program has written over it.
bool FastTrace::make_frame(const Waiting& one, Hit& hit) {
  const Bytes bytes = Bytes(bytes_).subspan(one.at, one.bytes);
  using Kind = fast::RecordBlock::Kind;
  frame_.clear();
  fast::RecordBlocks blocks(bytes);
  std::optional<tracewell_general> general;
  while (const auto block = blocks.next()) {
    if (general && block->kind != Kind::Vector) add_block(*std::exchange(general, {}), {});
    if (block->kind == Kind::General) {
      general = block->general;
    } else if (block->kind == Kind::Vector && general) {
      add_block(*std::exchange(general, {}), block->bytes);
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

void FastTrace::take_from(uint32_t ring, bool ended) {
  const auto keep = [&](const fast::RingRecord& record) {
    if (record.plan >= points_.size()) return;
    waiting_.push_back(
        {record.plan, record.tid, record.ticks, bytes_.size(), record.blocks.size()});
    bytes_.insert(bytes_.end(), record.blocks.begin(), record.blocks.end());
  };
  ended ? reader_->give_up(ring, keep) : reader_->take(ring, false, keep);
}

void FastTrace::hand_over(const Visit& visit) {
  std::ranges::stable_sort(waiting_, {}, &Waiting::ticks);
  for (const Waiting& one : waiting_) {
    Hit hit;
    hit.number = points_[one.plan].number;
    hit.address = points_[one.plan].address;
    hit.tid = one.tid;
    hit.time_ns = time_of(one.ticks);
    if (make_frame(one, hit)) visit(hit);
  }
  waiting_.clear();
  bytes_.clear();
}

void FastTrace::take(const Visit& visit) {
  if (!reader_ || points_.empty()) return;
  ticks_now_ = read_ticks();
  ns_now_ = clock_();
  set_clock(*reinterpret_cast<tracewell_area*>(shared_.bytes.data()));
  for (uint32_t ring = 0; ring < reader_->rings(); ++ring) {
    if (!reader_->waiting(ring)) continue;
    take_from(ring, false);
    if (bytes_.size() > kPortion) hand_over(visit);
  }
  hand_over(visit);
}

void FastTrace::make_room(int64_t tid, const Visit& visit) {
  if (!reader_) return;
  for (uint32_t ring = 0; ring < reader_->rings(); ++ring)
    if (reader_->key(ring) != 0 && reader_->tid(ring) == tid &&
        reader_->used(ring) > shape_.ring_bytes / 2)
      take_from(ring, false);
  hand_over(visit);
}

void FastTrace::thread_ends(int64_t tid, const Visit& visit) {
  if (!reader_) return;
  bases_.erase(tid);
  for (uint32_t ring = 0; ring < reader_->rings(); ++ring) {
    if (reader_->key(ring) == 0 || reader_->tid(ring) != tid) continue;
    take(visit);
    take_from(ring, true);
    hand_over(visit);
  }
}

uint64_t FastTrace::lost() const {
  if (!reader_) return 0;
  uint64_t sum = reader_->homeless();
  for (uint32_t ring = 0; ring < reader_->rings(); ++ring) sum += reader_->losses(ring).all();
  return sum;
}

bool FastTrace::was_full() const {
  if (!reader_) return false;
  for (uint32_t ring = 0; ring < reader_->rings(); ++ring)
    if (reader_->losses(ring).no_room != 0) return true;
  return false;
}

void FastTrace::close() {
  if (!reader_) return;
  auto& area = *reinterpret_cast<tracewell_area*>(shared_.bytes.data());
  std::atomic_ref(area.closed).store(1);
}

}  // namespace tracewell::agent
