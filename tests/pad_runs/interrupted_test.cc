// Pads come and go while a thread is somewhere in the middle: at any instruction when they come, at
// any place of a pad when they go. And what a thread does in pads is, step by step and register by
// register, what it does without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pad_runs/bodies.h"
#include "pad_runs/patcher.h"
#include "pad_runs/unwatched.h"
#include "pad_runs/workload.h"

namespace tracewell::pads {
namespace {

using Interrupted = Unwatched;

uint64_t shorter() {
  uint64_t digest = red_zone(3, 4);
  digest = mixed(digest, short_loop("abc"));
  digest = mixed(digest, fibonacci(3));
  digest = mixed(digest, switch_table(99, 9));
  digest = mixed(digest, set_jump(1));
  digest = mixed(digest, static_cast<uint64_t>(doubles(0.75, 2) * 1e6));
  digest = mixed(digest, by_hand(1, 2));
  return mixed(digest, by_hand(4, 2));
}

const Workload& workload() {
  static const Workload made{
      shorter,
      {address_of(red_zone), address_of(short_loop), address_of(fibonacci),
       address_of(switch_table), address_of(set_jump), address_of(jumper), address_of(doubles),
       address_of(by_hand)}};
  return made;
}

// What the handlers work on.
const Reference* reference = nullptr;
Patcher* patcher = nullptr;
uint64_t moment = 0;     // a trap is there, in place of the byte below
uint8_t instead = 0;
const Plan* coming = nullptr;  // is applied when execution is at the moment
const Plan* going = nullptr;   // is removed then
const PadPoint* place = nullptr;  // what the moment stands for then

greg_t& pc_of(ucontext_t& now) { return now.uc_mcontext.gregs[REG_RIP]; }

void set_trap(uint64_t at) {
  moment = at;
  instead = *reinterpret_cast<const uint8_t*>(at);
  put(at, std::vector<uint8_t>{0xcc});
}

/// A thread that was where a guard is now. int3 leaves it behind the guard, other traps at it.
void leave_guard(ucontext_t& now) {
  const auto pc = static_cast<uint64_t>(pc_of(now));
  std::optional<uint64_t> copy;
  for (const uint64_t at : {pc - 1, pc})
    if (at == moment) copy = patcher->entry_of(at);
  if (!copy) {
    fmt::print(stderr, "a trap at {:#x} that is no guard\n", pc);
    _exit(3);
  }
  pc_of(now) = static_cast<greg_t>(*copy);
  Shared::get().traps = Shared::get().traps + 1;
}

void at_moment(ucontext_t& now) {
  if (coming == nullptr && going == nullptr) return leave_guard(now);
  put(moment, std::vector<uint8_t>{instead});
  pc_of(now) = static_cast<greg_t>(moment);
  if (coming != nullptr) {
    patcher->apply(*coming);
    coming = nullptr;
    return;
  }
  // The thread is sent to where the program would be, and the pad goes.
  pc_of(now) = static_cast<greg_t>(place->pc);
  now.uc_mcontext.gregs[REG_RSP] += place->sp_undo;
  patcher->remove(going->site);
  going = nullptr;
}

/// The plan comes while a thread is at `at`.
std::string comes_while_at(const Plan& plan, uint64_t at) {
  coming = &plan;
  set_trap(at);
  const uint64_t traps = Shared::get().traps;
  const uint64_t result = workload().run();
  if (coming != nullptr) {  // nobody was ever there
    put(moment, std::vector<uint8_t>{instead});
    coming = nullptr;
    return "";
  }
  Shared::get().pads = Shared::get().pads + 1;
  const bool is_guard =
      std::find(plan.guards.begin(), plan.guards.end(), at) != plan.guards.end();
  if (result != reference->result)
    return fmt::format("another result when {} comes at {:#x} with a thread at {:#x}",
                       kind_name(plan.kind), plan.site, at);
  if (Shared::get().traps - traps != (is_guard ? 1 : 0))
    return fmt::format("{} traps at {:#x} of {} at {:#x}", Shared::get().traps - traps, at,
                       kind_name(plan.kind), plan.site);
  patcher->remove(plan.site);
  return patcher->is_original() ? "" : "something is left behind";
}

std::string comes_at_any_moment() {
  for (const uint64_t site : reference->sites) {
    Shared::get().site = site;
    const Plan plan = patcher->prepare(site);
    if (!plan.is_pad()) continue;
    std::set<uint64_t> moments = {site};
    for (const Write& write : plan.writes)
      for (uint64_t at = write.address - 15; at < write.address + 20; ++at)
        if (reference->number(at) != 0) moments.insert(at);
    for (const uint64_t at : moments) {
      std::string wrong = comes_while_at(plan, at);
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

/// At each place of its pads in turn.
std::string goes_at_any_moment() {
  for (const uint64_t site : reference->sites) {
    Shared::get().site = site;
    for (size_t number = 0;; ++number) {
      const Plan plan = patcher->install(site);
      if (!plan.is_pad()) break;
      std::vector<std::pair<uint64_t, PadPoint>> places;
      for (const Pad& pad : patcher->pads_of(site))
        for (const PadPoint& point : pad.points)
          if (!point.slot) places.push_back({pad.address + point.offset, point});
      if (number == places.size()) {
        patcher->remove(site);
        break;
      }
      going = &plan;
      place = &places[number].second;
      set_trap(places[number].first);
      const uint64_t result = workload().run();
      const bool was_there = going == nullptr;
      going = nullptr;
      if (!was_there) patcher->remove(site);
      if (result != reference->result)
        return fmt::format("another result when {} at {:#x} goes with a thread at {:#x} in it",
                           kind_name(plan.kind), site, places[number].first);
      if (!patcher->is_original()) return "something is left behind";
      Shared::get().pads = Shared::get().pads + was_there;
    }
  }
  return "";
}

void with_any_thread(const std::function<std::string()>& work, std::optional<Kind> only = {}) {
  in_child([&] {
    const Reference made(workload());
    Patcher patching(made.code, made.sites, only);
    reference = &made;
    patcher = &patching;
    on_other = at_moment;
    return work();
  });
}

TEST_F(Interrupted, PadsComeWhileAThreadIsAnywhere) {
  with_any_thread(comes_at_any_moment);
  EXPECT_GT(Shared::get().pads, 1000u);
  EXPECT_GT(Shared::get().traps, 50u);  // guards
  for (const Kind kind : {Kind::Punned, Kind::Successor, Kind::Neighbour}) {
    with_any_thread(comes_at_any_moment, kind);
    EXPECT_GT(Shared::get().pads, 1000u) << kind_name(kind);
    EXPECT_EQ(Shared::get().traps, 0u) << kind_name(kind);
  }
}

TEST_F(Interrupted, PadsGoWhileAThreadIsInside) {
  with_any_thread(goes_at_any_moment);
  EXPECT_GT(Shared::get().pads, 500u);
  for (const Kind kind : {Kind::Punned, Kind::Successor, Kind::Neighbour}) {
    with_any_thread(goes_at_any_moment, kind);
    EXPECT_GT(Shared::get().pads, 300u) << kind_name(kind);
  }
}

struct Step {
  uint64_t pc = 0;
  uint64_t registers = 0;  // of all general ones
  bool operator==(const Step&) const = default;
};
std::vector<Step> steps;

uint64_t digest_of(const ucontext_t& now, uint64_t sp_undo) {
  uint64_t digest = 0;
  for (int i = REG_R8; i <= REG_RSP; ++i) {
    auto value = static_cast<uint64_t>(now.uc_mcontext.gregs[i]);
    if (i == REG_RSP) value += sp_undo;
    digest = mixed(digest, value);
  }
  return mixed(digest, static_cast<uint64_t>(now.uc_mcontext.gregs[REG_EFL] & 0x8d5));
}

/// The step as one of the program, where it begins an instruction of it that is none of a patch.
void record(ucontext_t& now) {
  const auto pc = static_cast<uint64_t>(pc_of(now));
  Step step{pc, digest_of(now, 0)};
  if (reference->number(pc) == 0) {
    const PadPoint* point = patcher == nullptr ? nullptr : patcher->point_at(pc);
    if (point == nullptr || point->slot || reference->number(point->pc) == 0) return;
    step = {point->pc, digest_of(now, point->sp_undo)};
  } else if (patcher != nullptr) {
    // A short jump's landing place may be padding, which is no step of the program.
    if (reference->code.padding(pc)) return;
  }
  // Repeated string instructions, and the way into a pad and through it.
  if (!steps.empty() && steps.back().pc == step.pc) return;
  if (steps.size() < steps.capacity()) steps.push_back(step);
}

/// All registers are the same when it begins.
__attribute__((noinline)) uint64_t run_from_zero() {
  uint64_t result = 0;
  asm volatile(
      "lea -256(%%rsp), %%rsp\n push %%rbp\n mov %%rsp, %%r15\n and $-64, %%rsp\n"
      "xor %%ebp, %%ebp\n xor %%ebx, %%ebx\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n"
      "xor %%esi, %%esi\n xor %%edi, %%edi\n xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n"
      "xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n xor %%r12d, %%r12d\n xor %%r13d, %%r13d\n"
      "xor %%r14d, %%r14d\n call *%%rax\n mov %%r15, %%rsp\n pop %%rbp\n"
      "lea 256(%%rsp), %%rsp"
      : "=a"(result)
      : "a"(workload().run)
      : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
        "memory", "cc");
  return result;
}

__attribute__((noinline)) uint64_t recorded() {
  steps.clear();
  return stepped(run_from_zero, record);
}

std::string same_steps(std::optional<Kind> only, Range where) {
  steps.reserve(100'000);
  recorded();
  const std::vector<Step> expected = steps;
  Patcher patching(reference->code, reference->sites, only);
  patcher = &patching;
  for (const uint64_t site : reference->sites) {
    if (!where.holds(site)) continue;
    Shared::get().site = site;
    const Plan plan = patching.install(site);
    if (!plan.is_pad()) continue;
    if (recorded() != reference->result) return "another result";
    for (size_t i = 0; i < expected.size(); ++i) {
      if (i < steps.size() && steps[i] == expected[i]) continue;
      return fmt::format("step {} of {} is at {:#x} with {} at {:#x}, at {:#x} without", i,
                         expected.size(), i < steps.size() ? steps[i].pc : 0,
                         kind_name(plan.kind), site, expected[i].pc);
    }
    if (steps.size() != expected.size()) return "more steps than without";
    patching.remove(site);
    Shared::get().pads = Shared::get().pads + 1;
  }
  return "";
}

TEST_F(Interrupted, EachStepIsOneOfTheProgram) {
  in_child([] {
    const Reference made(workload());
    reference = &made;
    return same_steps({}, {0, UINT64_MAX});
  });
  EXPECT_GT(Shared::get().pads, 200u);
  // It takes a while: only for the oddest of the functions.
  for (const Kind kind : {Kind::Punned, Kind::Successor, Kind::Neighbour}) {
    in_child([kind] {
      const Reference made(workload());
      reference = &made;
      return same_steps(kind, made.image.function_around(address_of(by_hand)));
    });
    EXPECT_GT(Shared::get().pads, 40u) << kind_name(kind);
  }
}

}  // namespace
}  // namespace tracewell::pads
