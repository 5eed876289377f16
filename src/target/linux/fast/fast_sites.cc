#include "target/linux/fast/fast_sites.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/files/text_file.h"
#include "base/process/urgency.h"
#include "target/linux/fast/call_filters.h"
#include "target/linux/fast/fast_code.h"
#include "target/linux/fast/fault_handlers.h"
#include "target/linux/fast/yielding.h"
#include "target/linux/kernel/control_groups.h"
#include "target/linux/memory/code_facts.h"
#include "target/linux/memory/late_pages.h"
#include "target/linux/memory/shared_memory.h"
#include "target/trap_reason.h"

namespace tracewell::target::live {
namespace {

constexpr int64_t kAbandonNs = 2 * kSecond;
// Of page tables: 2 GiB and 256 MiB, in pages of 4 KiB. The program stands still at the start; at
// looks later, what it runs into waits.
constexpr uint64_t kTablesAtStartKib = 4096, kTablesAtLookKib = 512;

/// Time stamps that go on evenly in all power states: leaf 0x80000007, EDX bit 8, on Intel's and on
/// AMD's.
bool has_even_time_stamps() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}

/// The kernel says so in AT_HWCAP2 (Documentation/arch/x86/x86_64/fsgs.rst).
bool may_read_segment_bases() {
  constexpr unsigned long kFsgsbase = 2;
  return (getauxval(AT_HWCAP2) & kFsgsbase) != 0;
}

/// Of address space: much of what is left to it is the program's own.
bool has_room_for(Pid pid, uint64_t bytes) {
  constexpr uint64_t kShare = 8;
  rlimit most{};
  if (::prlimit(static_cast<pid_t>(pid), RLIMIT_AS, nullptr, &most) != 0) return true;
  if (most.rlim_cur == RLIM_INFINITY) return true;
  const auto pages = read_proc(pid, "statm");
  const uint64_t used = pages ? std::strtoull(pages->c_str(), nullptr, 10) * FarMemory::kPage : 0;
  return bytes <= (most.rlim_cur - std::min<uint64_t>(most.rlim_cur, used)) / kShare;
}

/// The kernel lets a program have so many mappings. A quarter of what its own leave is for ours.
bool may_map_more(size_t all, size_t ours) {
  static const size_t most = [] {
    const auto text = read_text_file("/proc/sys/vm/max_map_count");
    return text.ok() ? std::strtoull(text->c_str(), nullptr, 10) : 0;
  }();
  constexpr size_t kShare = 4, kSpare = 64;
  const size_t own = all - std::min(all, ours);
  return most == 0 || (ours + kSpare) * kShare < most - std::min(most, own);
}

bool may_go_on(const Thread& thread) {
  return thread.run == Run::Running || thread.run == Run::Listening ||
         thread.run == Run::Starting;
}

/// The kernel resets the handler of a fault's signal that a thread blocks or ignores; one that has
/// a handler may block it at any time, such as in the handler itself. Where there is none, a thread
/// that blocks it does so no more after a fault. That is little, and much is blocked for a moment:
/// the C library does it whenever it makes a thread or a process.
bool forbids_faults(const std::string& status) {
  const uint64_t held = signals_of(status, "SigIgn") | signals_of(status, "SigCgt");
  return (held & (bit_of(SIGSEGV) | bit_of(SIGBUS))) != 0;
}

/// Descriptors may be many: to look at them takes a hundredth of the time at most.
bool supplies_pages(const ThreadTable& threads, const Process& process) {
  ShareOfTime& share = process.space->fast->looks_at_descriptors;
  const int64_t begin = monotonic_ns();
  if (!share.is_due(begin)) return false;
  const Thread* const lives = threads.first_thread(process.pid);
  const bool out = may_supply_pages(lives != nullptr ? lives->tid : process.pid, kTablesAtLookKib);
  share.took(begin, monotonic_ns());
  return out;
}

FastCode& code_of(Process& process) {
  auto& fast = process.space->fast;
  if (!fast) fast = std::make_unique<FastCode>(*process.space, process.space->known_code);
  return *fast;
}

}  // namespace

LiveFastSites::LiveFastSites(Core& core, OneByOne& one_by_one, Owner& owner)
    : core_(core),
      one_by_one_(one_by_one),
      owner_(owner),
      threads_(core.threads),
      registers_(core.registers),
      stops_(core.stops),
      late_(core.late),
      injector_(core.injector),
      ticker_(core.stops.bell()) {}

LiveFastSites::~LiveFastSites() = default;

Result<FastSites::Processor> LiveFastSites::processor(Pid pid) {
  Process* const process = threads_.find_process(pid);
  if (process == nullptr || !seen(*process)) return {Errc::NotFound, "no such process"};
  if (process->space->is_32_bit) return because(TrapReason::Is32Bit);
  release_unwanted();
  looks_without_filters_ = 0;
  if (process->space->fast) return because(TrapReason::LastRun, "", Errc::Target);
  if (!core_.options.map_memory) return because(TrapReason::MapsNothing);
  const auto text = read_proc(pid, "status");
  if (!text) return {Errc::Target, "its status cannot be read"};
  if (status_value(*text, "x86_Thread_features").find("shstk") != std::string_view::npos)
    return because(TrapReason::ShadowStack);
  // Code and pads, and the tables for what it shares with us; that itself is ours.
  constexpr uint64_t kOfThePrograms = 1 << 20;
  const MemoryRoom room = memory_room_of(pid);
  is_limited_ = room.has_group_limit;
  if (room.bytes < kOfThePrograms)
    return because(TrapReason::MemoryLimit,
                   fmt::format(" {} KiB of memory more ({})", room.bytes >> 10,
                               room.group.empty() ? "the machine has no more" : room.group));
  const Thread* const lives = threads_.first_thread(pid);
  const Tid tid = lives != nullptr ? lives->tid : pid;  // a leader that has ended shows nothing
  if (may_supply_pages(tid, kTablesAtStartKib))
    return because(TrapReason::SuppliesPages);
  if (!may_map_more(mappings(tid, core_.gives_up).size(), 0))
    return because(TrapReason::Mappings);
  FastSites::Processor out;
  // Handlers are all threads' own. Filters are a thread's, and are read once all stand still.
  const auto status = read_proc(tid, "status");
  if (!status || !filters_of(*status)) return because(TrapReason::FiltersCalls);
  out.faults_do_harm = forbids_faults(*status);
  if (std::ranges::any_of(task_ids(pid), [](Tid each) { return call_dispatch(each).has_value(); }))
    return because(TrapReason::FiltersCalls);
  out.time_stamps = has_even_time_stamps();
  out.segment_bases = may_read_segment_bases();
  const RegisterMap& map = registers_.map_of_64_bit();
  map.vector_state(out.vector_components, out.vector_bytes);
  out.vector_parts = map.vector_parts(out.vector_components);
  out.vectors_direct = map.vectors_direct(out.vector_components);
  return out;
}

/// The first thread is as good as any for what is the process's. A filter is a thread's own.
FastSites::Conduct LiveFastSites::conduct(Pid pid) {
  // Many at first: until each was looked at, none that waits for room lets others run (may_yield).
  constexpr size_t kAtATime = 2, kAtFirst = 64;
  Conduct out;
  Process* const process = threads_.find_process(pid);
  if (process == nullptr) return out;
  if (process->space->fast) {
    out.gone = process->space->fast->gone();
    out.stays_inside = process->space->fast->stays_inside;
    out.supplies_pages = supplies_pages(threads_, *process);
    out.filters_calls =
        others_have_new_filters(threads_, *process, looked_at_others_++);
  }
  FaultHandlers* const handlers =
      process->space->fast ? process->space->fast->handlers.get() : nullptr;
  if (handlers != nullptr) core_.mender.take_newer_handlers(*process->space);
  const auto& threads = process->threads;
  const size_t some = looks_without_filters_ < threads.size() ? kAtFirst : kAtATime;
  for (size_t i = 0; i < std::min(some, threads.size()); ++i) {
    const Tid tid = threads[looked_++ % threads.size()];
    const auto status = read_proc(tid, "status");
    const bool filters =
        status && process->space->fast && has_new_filters(tid, *status, *process->space);
    out.filters_calls |= filters;
    looks_without_filters_ = filters || !status ? 0 : looks_without_filters_ + 1;
    out.faults_do_harm |= status && forbids_faults(*status);
    if (!status || handlers == nullptr) continue;
    if (i == 0) out.has_new_handlers = handlers->look(*status) || handlers->is_stuck;
    // Where the kernel took a handler away, it has changed the mask of whoever blocked its signal.
    if (handlers->are_there(*status)) handlers->note_mask(tid, signals_of(*status, "SigBlk"));
  }
  out.may_yield = may_yield(threads_, *process, looks_without_filters_);
  out.faults_are_mended = handlers != nullptr && handlers->may_fault(monotonic_ns());
  return out;
}

/// One that waits in the kernel and cannot be stopped may come back to code of ours at any time.
void LiveFastSites::note_those_inside() {
  for (const Thread* thread : threads_.all()) {
    AddressSpace& space = *thread->process->space;
    if (thread->process->leaving || !space.fast || space.fast->stays_inside) continue;
    space.fast->stays_inside =
        may_go_on(*thread) ||
        (thread->run == Run::Late && late_.may_return_into_ours(space));
  }
}

/// All processes are looked at for who shares its descriptors, while it runs: whom it makes from
/// now on does not run before we have seen it.
Result<FastSites::Shared> LiveFastSites::share(Pid pid, uint64_t bytes,
                                               std::span<const Call> calls) {
  const Thread* const any = threads_.first_thread(pid);
  if (core_.options.alone_with_descriptors && any != nullptr &&
      shares_descriptors(any->process->pid, any->tid))
    return because(TrapReason::SharesDescriptors);
  const Still still(*this);
  Process* const process = threads_.find_process(pid);
  Thread* const thread = process == nullptr ? nullptr : injector_.injectable(*process->space);
  if (thread == nullptr) return because(TrapReason::NoCalls, "", Errc::Target);
  TW_RETURN_IF_ERROR(examine_filters(threads_, *process->space, calls));
  bytes = FarMemory::whole_pages(bytes);
  rlimit most{};
  if (::getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur < bytes)
    return because(TrapReason::FileSize);
  if (!has_room_for(pid, bytes)) return because(TrapReason::AddressSpace);
  TW_RETURN_IF_ERROR(ticker_.start());
  bool locks = false;
  TW_ASSIGN_OR_RETURN(const int64_t made, core_.far_memory.make_shared(*thread, locks));
  auto ours = take_memfd(thread->tid, made);
  const Status sized = ours.ok() ? size_memfd(ours->get(), bytes) : Status(ours.error());
  Result<uint64_t> theirs = Error{Errc::Target, "", {}};
  if (sized) theirs = core_.far_memory.map_shared(*thread, bytes, static_cast<int>(made), locks);
  best_effort(injector_.system_call(
      *thread, {SYS_close, static_cast<uint64_t>(made), 0, 0, 0, 0, 0}));
  TW_RETURN_IF_ERROR(sized);
  TW_RETURN_IF_ERROR(theirs);
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(ours->get(), "memory of the program"));
  if (Status same = is_mapped_at(thread->tid, *theirs, bytes, facts); !same) {
    best_effort(injector_.system_call(*thread, {SYS_munmap, *theirs, bytes, 0, 0, 0, 0}));
    return same.error();
  }
  FastCode& code = code_of(*process);
  code.mapped.push_back({*theirs, bytes, true});
  code.locks_memory = locks;
  code.is_nested = numbers_of(thread->tid).size() > 1;
  // It is no part of the program, and large: a core file is to be as it would be without us.
  best_effort(
      injector_.system_call(*thread, {SYS_madvise, *theirs, bytes, MADV_DONTDUMP, 0, 0, 0}));
  auto here = tracewell::Mapping::map(ours->get(), bytes, tracewell::Mapping::Access::Shared,
                                      "memory of the program");
  if (!here.ok()) return {Errc::Target, here.error().message};
  here_.push_back({pid, Filling(*std::move(here)), {}, is_limited_});
  want_ticks();
  const tracewell::Mapping& memory = here_.back().filling.memory();
  return Shared{*theirs, {memory.data(), memory.size()}};
}

void LiveFastSites::populate(Pid pid, const std::vector<Range>& ranges) {
  const auto here = std::ranges::find(here_, pid, &Here::pid);
  if (here == here_.end()) return;
  std::vector<Filling::Range> parts;
  for (const auto& [start, end] : ranges) parts.push_back({start, end - start});
  // Whoever maps memory waits for who fills it.
  if (!here->hits && !here->is_limited) {
    here->later.insert(here->later.end(), parts.begin(), parts.end());
    return;
  }
  here->filling.want(std::move(parts));
  if (here->hits && here->is_limited) here->filling.finish();
}

std::vector<FastSites::ThreadBase> LiveFastSites::threads(Pid pid) {
  const Still still(*this);
  std::vector<ThreadBase> out;
  for (Thread* const thread : threads_.all())
    if (is_in_or_beside(threads_, *thread->process, pid) && thread->run != Run::Exiting) {
      thread->unlisted = thread->run != Run::Stopped;
      if (!thread->unlisted) out.push_back(base_of(*thread));
    }
  return out;
}

FastSites::ThreadBase LiveFastSites::base_of(Thread& thread) {
  const uint64_t base = regs_of(thread).fs_base;
  const FastCode* const fast = thread.process->space->fast.get();
  Tid own = thread.tid;
  if (fast != nullptr && fast->is_nested)
    if (const std::vector<Tid> all = numbers_of(own); !all.empty()) own = all.back();
  return {thread.tid, own, base, thread.process->space->read_value<uint64_t>(base) == base,
          thread.process->beside};
}

Result<uint64_t> LiveFastSites::place(Pid pid, uint64_t bytes, const MakeCode& code,
                                      std::span<const Load> loads) {
  constexpr uint64_t kAlign = 64, kChunk = 1 << 16;
  const Process* const process = threads_.find_process(pid);
  if (process == nullptr) return because(TrapReason::NoCalls, "", Errc::Target);
  const std::shared_ptr<AddressSpace> space = process->space;
  if (!space->fast) return because(TrapReason::ReplacedProgram);
  FastCode& fast = *space->fast;
  if (fast.room.bytes < bytes) {
    const One one(*this, pid);
    if (one.thread == nullptr || one.space != space)
      return because(TrapReason::NoCalls, "", Errc::Target);
    const uint64_t chunk = std::max(kChunk, FarMemory::whole_pages(bytes));
    TW_ASSIGN_OR_RETURN(const uint64_t start,
                        core_.far_memory.map(*one.thread, chunk, PROT_READ | PROT_EXEC,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1));
    if (fast.locks_memory) core_.far_memory.unlock(*one.thread, start, chunk);
    fast.room = {start, chunk};
    fast.mapped.push_back(fast.room);
  }
  const uint64_t address = fast.room.start;
  const std::vector<uint8_t> made = code(address);
  TW_CHECK(made.size() == bytes);
  TW_RETURN_IF_ERROR(space->write_raw(address, made));
  fast.add_code(address, made, loads);
  const uint64_t used = std::min((bytes + kAlign - 1) / kAlign * kAlign, fast.room.bytes);
  fast.room.start += used;
  fast.room.bytes -= used;
  return address;
}

void LiveFastSites::change(Pid pid, uint64_t address, uint8_t byte) {
  const Process* const process = threads_.find_process(pid);
  if (process != nullptr && process->space->fast) process->space->fast->change(address, byte);
}

/// What is made ready changes nothing that a thread may be in: the program runs on, but for one
/// thread, and that only while it makes calls for us.
Status LiveFastSites::insert(Pid pid, uint64_t address, Bytes slot) {
  let_others_on();
  const Process* process = threads_.find_process(pid);
  if (process == nullptr) return because(TrapReason::NoCalls, "", Errc::Target);
  const std::shared_ptr<AddressSpace> space = process->space;
  std::optional<Still> still;
  if (!space->fast || !space->fast->waits()) still.emplace(*this);
  process = threads_.find_process(pid);
  if (process == nullptr || process->space != space || !space->fast)
    return because(TrapReason::ReplacedProgram);
  constexpr uint64_t kAround = 160;  // as far as short jumps, and the instructions there, reach
  const bool is_broken = std::ranges::any_of(process->hardware, [&](const HardwareSlot& one) {
    return one.users > 0 && one.kind == Breakpoints::Kind::Hardware &&
           one.address - (address - kAround) < 2 * kAround;
  });
  if (is_broken || space->has_patch(address - kAround, 2 * kAround))
    return because(TrapReason::Breakpoint, "", Errc::Limit);
  const Thread* const lives = threads_.first_thread(pid);
  const AddressLayout layout =
      layout_of(lives != nullptr ? lives->tid : pid, core_.gives_up);
  if (layout.maps.empty()) return {Errc::Target, "what it has mapped cannot be read"};
  if (!may_map_more(layout.maps.size(), space->fast->mapped.size()))
    return because(TrapReason::Mappings);
  if (is_shared(layout.maps, address)) return because(TrapReason::SharedCode);
  bool has_thread = true;
  const auto map = [&](uint64_t start, uint64_t bytes) {
    const One one(*this, pid);
    has_thread = one.thread != nullptr && one.space == space;
    if (!has_thread) return false;
    const auto mapped = injector_.system_call(
        *one.thread, {SYS_mmap, start, bytes, PROT_READ | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~uint64_t{0}, 0});
    if (call_failed(mapped)) return false;
    if (space->fast->locks_memory)
      core_.far_memory.unlock(*one.thread, static_cast<uint64_t>(*mapped), bytes);
    space->fast->mapped.push_back({static_cast<uint64_t>(*mapped), bytes});
    return static_cast<uint64_t>(*mapped) == start;
  };
  Status done = space->fast->insert(address, slot, layout, map, core_.gives_up);
  if (!done && !has_thread) return because(TrapReason::NoCalls, "", Errc::Target);
  if (done) space->was_code.insert(address);
  return done;
}

void LiveFastSites::remove(Pid pid, uint64_t address) {
  const Still still(*this);
  Process* const process = threads_.find_process(pid);
  if (process != nullptr && process->space->fast) process->space->fast->remove(address);
}

bool LiveFastSites::stands(Pid pid, uint64_t address) const {
  const Process* const process = threads_.find_process(pid);
  return process != nullptr && process->space->fast && process->space->fast->has(address);
}

bool LiveFastSites::is_as_before(Pid pid, uint64_t address) {
  const Process* const process = threads_.find_process(pid);
  return process != nullptr && process->space->fast && process->space->fast->is_as_before(address);
}

/// Threads are outside of it: all have been stopped since they may have been inside. Of one that
/// cannot be stopped nobody knows: the program's own bytes come back, what it may be in stays.
void LiveFastSites::release(const std::shared_ptr<AddressSpace>& space) {
  if (!space->fast) return;
  space->fast->unwanted = true;
  bool inside = space->fast->has_handler;
  // A stop that nobody has decided about yet is as good as running.
  for (const Thread* thread : threads_.all())
    if (thread->process->space == space && (may_go_on(*thread) || thread->fresh)) inside = true;
  if (inside && !space->fast->stays_inside) return;
  if (late_.may_return_into_ours(*space)) inside = space->fast->stays_inside = true;
  for (Thread* thread : threads_.all()) {
    if (thread->process->space != space || thread->run != Run::Stopped || thread->fresh) continue;
    core_.leading_out.settle(*thread);
    inside |= thread->run != Run::Stopped || space->fast->inside(regs_of(*thread).rip);
  }
  space->fast->remove_all();
  Thread* const thread = inside ? nullptr : injector_.injectable(*space);
  if (thread == nullptr) return;
  injector_.unmap(*thread, space->fast->mapped_ranges());
  space->fast.reset();
}

/// Perhaps from inside of a hit: what changes the program has to wait.
void LiveFastSites::release(Pid pid) {
  Process* const process = threads_.find_process(pid);
  if (process != nullptr && process->space->fast) process->space->fast->unwanted = true;
  want_ticks();
  std::erase_if(here_, [&](const Here& one) { return one.pid == pid; });
}

/// What was to be released while threads ran.
void LiveFastSites::release_unwanted() {
  const auto is_unwanted = [](const auto& one) {
    return one.second->space->fast && one.second->space->fast->unwanted;
  };
  if (std::ranges::none_of(threads_.processes(), is_unwanted)) return;
  const Still still(*this);
  // Processes may end, or run another program, while threads are led out.
  std::vector<std::shared_ptr<AddressSpace>> spaces;
  for (const auto& one : threads_.processes())
    if (is_unwanted(one)) spaces.push_back(one.second->space);
  for (const auto& space : spaces) release(space);
  want_ticks();
}

void LiveFastSites::abandon(std::span<Process* const> processes) {
  std::vector<Tid> moving;
  std::vector<std::shared_ptr<AddressSpace>> spaces;  // one may run another program meanwhile
  for (const Process* process : processes) {
    spaces.push_back(process->space);
    for (Thread* thread : threads_.threads_of(*process)) {
      if (thread->run != Run::Running && thread->run != Run::Listening) continue;
      ask_to_stop(*thread);
      moving.push_back(thread->tid);
    }
  }
  const int64_t begin = monotonic_ns();
  for (const Tid tid : moving) {
    const bool ends_soon = core_.gives_up && core_.gives_up();
    const int64_t left = begin + (ends_soon ? Patience::kQuitNs : kAbandonNs) - monotonic_ns();
    if (left > 0 && stops_.await_within(tid, left) != Waited::GaveUp) continue;
    Thread* const thread = threads_.find(tid);
    const bool moves = thread != nullptr && thread->run != Run::Stopped &&
                       thread->run != Run::Exiting && thread->run != Run::Late;
    if (moves) late_.give_up(*thread, '?');
  }
  for (const auto& space : spaces) {
    space->fast->stays_inside |= late_.may_return_into_ours(*space);
    space->fast->remove_all();
    space->fast->unwanted = true;
  }
}

/// Threads at full rings wait awake, and would keep us from a processor.
void LiveFastSites::hurry(std::chrono::microseconds pause) {
  constexpr std::chrono::microseconds kUrgent(100);
  poll_pause_ns_ = std::chrono::nanoseconds(pause).count();
  be_urgent(pause.count() != 0 && pause < kUrgent);
}

void LiveFastSites::want_ticks() {
  const bool any = std::ranges::any_of(threads_.processes(), [](const auto& one) {
    return one.second->space->fast && !one.second->space->fast->unwanted;
  });
  if (!any) hurry({});
  if (any) best_effort(ticker_.start());  // it runs: share() has started it
  else ticker_.stop();
}

}  // namespace tracewell::target::live
