#include "timeline/diff/diff.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "timeline/diff/compare.h"

namespace tracewell::timeline {
namespace {

/// Of a thread that one trace has alone: it may be in what the other one lacks. Or there is none:
/// what has eaten the steps behind its only one may have made up its number.
Status look_for_absent(Trace& other, const FlowThreads::Thread& thread, Trace& own, bool own_is_a,
                       ThreadDiff& out) {
  Difference difference;
  difference.kind = Difference::Kind::Missing;
  auto& hole = own_is_a ? difference.hole_a : difference.hole_b;
  auto& other_hole = own_is_a ? difference.hole_b : difference.hole_a;
  TW_ASSIGN_OR_RETURN(other_hole, other.holes.find(std::nullopt, std::nullopt));
  if (thread.count == 1 && own.holes.is_in_front_of_hole(thread.first)) {
    TW_ASSIGN_OR_RETURN(hole, own.holes.find(thread.first, thread.first + 1));
  }
  if (!difference.hole_a && !difference.hole_b) return {};
  out.differences.push_back(std::move(difference));
  out.undecided = 1;
  return {};
}

Result<const FlowThreads::Thread*> thread_of(Trace& trace, const std::optional<size_t>& number) {
  if (!number) return static_cast<const FlowThreads::Thread*>(nullptr);
  return trace.threads.thread(*number);
}

Status name_threads(Trace& a, Trace& b, ThreadNumbers numbers, ThreadDiff& out) {
  TW_ASSIGN_OR_RETURN(const FlowThreads::Thread* one, thread_of(a, numbers.a));
  TW_ASSIGN_OR_RETURN(const FlowThreads::Thread* other, thread_of(b, numbers.b));
  if (one != nullptr) out.tid_a = one->tid;
  if (other != nullptr) out.tid_b = other->tid;
  return {};
}

Status compare_threads(Trace& a, Trace& b, const DiffOptions& options, ThreadNumbers numbers,
                       Bases& bases, RegisterPairs& registers, Stage& stage, ThreadDiff& out) {
  TW_RETURN_IF_ERROR(name_threads(a, b, numbers, out));
  if (numbers.a && numbers.b)
    return compare_thread(a, b, options, numbers, bases, registers, stage, out);
  TW_ASSIGN_OR_RETURN(const FlowThreads::Thread* one,
                      numbers.a ? thread_of(a, numbers.a) : thread_of(b, numbers.b));
  return look_for_absent(numbers.a ? b : a, *one, numbers.a ? a : b, numbers.a.has_value(), out);
}

bool is_same(const ThreadDiff& one) {
  return one.tid_a && one.tid_b && one.differences.empty() && one.untold == 0 &&
         one.differing_code == 0;
}

/// No more than missing steps may explain.
bool may_be_same(const ThreadDiff& one) {
  const bool alone = !one.tid_a || !one.tid_b;
  return one.differing_code == 0 && one.undecided == one.differences.size() + one.untold &&
         (!alone || one.undecided != 0);
}

/// True if a difference to report with `--first` has been found.
bool has_first(const ThreadDiff& one) {
  return !is_same(one) &&
         (!one.tid_a || !one.tid_b || one.differing_code != 0 ||
          std::ranges::any_of(one.differences, [](const Difference& it) { return it.a || it.b; }));
}

}  // namespace

bool DiffReport::same() const {
  return !missing_a && !missing_b && std::ranges::all_of(threads, is_same);
}

bool DiffReport::undecided() const {
  return !same() && std::ranges::all_of(threads, may_be_same);
}

Result<DiffReport> diff(const DiffSide& a, const DiffSide& b, const DiffOptions& options) {
  if (a.catalog.machine != b.catalog.machine ||
      a.catalog.address_bytes != b.catalog.address_bytes)
    return Error{Errc::InvalidArgument,
                 fmt::format("a trace of {} cannot be compared with one of {}", a.catalog.machine,
                             b.catalog.machine),
                 {},
                 failures::kNotComparable};
  for (const std::string& name : options.ignore_registers)
    if (a.catalog.registers.find(name) == nullptr && b.catalog.registers.find(name) == nullptr)
      return {Errc::InvalidArgument, fmt::format("these traces have no register {}", name),
              failures::kNoSuchRegister};
  DiffOptions bounded = options;
  bounded.window = std::clamp<size_t>(options.window, 16, DiffOptions::kWindowMax);
  DiffReport report;
  const auto stage = options.work.stage("comparing", a.steps.count());
  Trace in_a(a, options.work), in_b(b, options.work);
  TW_RETURN_IF_ERROR(in_a.holes.look_at_borders());
  TW_RETURN_IF_ERROR(in_b.holes.look_at_borders());
  Bases bases;
  RegisterPairs registers(a, b);
  ThreadPairs pairs(in_a.threads, in_a.holes, in_b.threads, in_b.holes);
  while (true) {
    TW_ASSIGN_OR_RETURN(const std::optional<ThreadNumbers> numbers, pairs.next());
    if (!numbers) break;
    ThreadDiff thread;
    if (options.first && !report.threads.empty() && has_first(report.threads.back())) {
      TW_RETURN_IF_ERROR(name_threads(in_a, in_b, *numbers, thread));
      report.left_out = DiffReport::LeftOut{thread.tid_a, thread.tid_b};
      break;
    }
    TW_RETURN_IF_ERROR(
        compare_threads(in_a, in_b, bounded, *numbers, bases, registers, *stage, thread));
    report.threads.push_back(std::move(thread));
  }
  if (std::ranges::all_of(report.threads, may_be_same)) {
    TW_ASSIGN_OR_RETURN(report.missing_a, in_a.holes.find(std::nullopt, std::nullopt));
    TW_ASSIGN_OR_RETURN(report.missing_b, in_b.holes.find(std::nullopt, std::nullopt));
  }
  report.bases = bases.ranges();
  return report;
}

}  // namespace tracewell::timeline
