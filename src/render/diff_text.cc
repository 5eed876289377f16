#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/counted.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "render/diff_report.h"

namespace tracewell::render {
namespace {

using timeline::Cause;
using timeline::Difference;
using timeline::Spot;
using timeline::ThreadDiff;

std::string thread_text(const std::optional<uint64_t>& tid) {
  return !tid ? "none" : *tid == 0 ? "not known" : fmt::format("{}", *tid);
}

/// "thread 7 | 9: "; nothing where neither trace knows its threads.
std::string threads_text(const ThreadDiff& thread) {
  if (thread.tid_a == 0 && thread.tid_b == 0) return "";
  return fmt::format("thread {} | {}: ", thread_text(thread.tid_a), thread_text(thread.tid_b));
}

std::string goes_on(const std::optional<Spot>& spot, DiffWords::Side side,
                    const DiffWords& words) {
  return spot ? words.one(*spot, side) : "has ended";
}

std::string memory_text(uint64_t address, const std::string& name) {
  return name.empty() ? fmt::format("{:#x}", address)
                      : fmt::format("{:#x} <{}>", address, printable(name));
}

/// "; since step 3 at 0x401000", and which earlier difference that is of.
std::string since_text(const Cause& cause, const DiffWords& words) {
  const auto& earlier = cause.earlier;
  const std::string as = earlier ? fmt::format(" difference {}", earlier->difference + 1) : "";
  if (earlier && !earlier->cause) {
    std::string out;
    if (cause.a.writer) out += words.one(*cause.a.writer, DiffWords::A) + " of A alone";
    if (cause.a.writer && cause.b.writer) out += " | ";
    if (cause.b.writer) out += words.one(*cause.b.writer, DiffWords::B) + " of B alone";
    return "; since " + out + ", in" + as;
  }
  const std::string end = earlier ? ", as in" + as : "";
  if (!cause.a.writer && !cause.b.writer) return "; since before what was looked at" + end;
  if (!cause.a.writer_tid && !cause.b.writer_tid)
    return "; since " + words.pair(*cause.a.writer, *cause.b.writer) + end;
  const auto side = [&](const Cause::Side& one, DiffWords::Side which) {
    if (!one.writer) return std::string("before what was looked at");
    return words.one(*one.writer, which) +
           (one.writer_tid ? fmt::format(" of thread {}", *one.writer_tid) : "");
  };
  return "; since " + side(cause.a, DiffWords::A) + " | " + side(cause.b, DiffWords::B) + end;
}

std::string cause_text(const Cause& cause, const Catalog& catalog, const DiffWords& words) {
  std::string what;
  if (!cause.reg)
    what = "memory at " +
           memory_text(cause.a.address, words.data_name(cause.a.address, DiffWords::A)) +
           (cause.a.address == cause.b.address ? "" : fmt::format(" | {:#x}", cause.b.address));
  else
    what = "$" + printable(catalog.registers.registers[*cause.reg].name);
  if (cause.flags != 0) what += fmt::format(" ({})", flag_names(cause.flags));
  std::string out = fmt::format("{} = {} | {}, read by {}", what,
                                value_text(cause.a.value, catalog.endian),
                                value_text(cause.b.value, catalog.endian),
                                words.pair(cause.a.reader, cause.b.reader));
  return out + since_text(cause, words);
}

void add_causes(std::string& out, const std::vector<Cause>& causes, const Catalog& catalog,
                const DiffWords& words, std::optional<size_t> because, size_t depth) {
  for (size_t i = 0; i < causes.size(); ++i) {
    if (causes[i].because != because) continue;
    out += fmt::format("{:{}}because {}\n", "", 2 * depth, cause_text(causes[i], catalog, words));
    add_causes(out, causes, catalog, words, i, depth + 1);
  }
}

/// "loop at 0x401005: 4 | 6 times"
std::string loop_text(const Difference& one) {
  std::string out = one.head_a == one.head_b
                        ? fmt::format("loop at {:#x}", one.head_a)
                        : fmt::format("loop at {:#x} | {:#x}", one.head_a, one.head_b);
  const std::string_view least = one.exact ? "" : "at least ";
  return out + fmt::format(": {}{} | {} times", least, one.times_a, one.times_b);
}

/// "3 steps are missing in A in front of step 40, steps are missing in B in front of step 7"
std::string missing_text(const Difference& one) {
  std::string out;
  const auto add = [&](const std::optional<timeline::Hole>& hole, char side) {
    if (!hole) return;
    out += (out.empty() ? "" : ", ") +
           (hole->count == 0 ? "steps" : counted(hole->count, "step")) +
           fmt::format(" {} missing in {} in front of step {}", hole->count == 1 ? "is" : "are",
                       side, hole->seq);
  };
  add(one.hole_a, 'A');
  add(one.hole_b, 'B');
  return out;
}

/// " (A lacks 3 steps, the first of them in front of step 40; B lacks steps, …)"
std::string lacks_text(const timeline::DiffReport& report) {
  std::string out;
  const auto add = [&](const std::optional<timeline::Hole>& hole, char side) {
    if (!hole) return;
    out += fmt::format("{}{} lacks {}, the first of them in front of step {}",
                       out.empty() ? " (" : "; ", side,
                       hole->count == 0 ? "steps" : counted(hole->count, "step"), hole->seq);
  };
  add(report.missing_a, 'A');
  add(report.missing_b, 'B');
  return out.empty() ? out : out + ")";
}

/// `number`: where others refer to it, "1. "; "" else.
std::string difference_text(const Difference& one, const std::string& number,
                            const Catalog& catalog, const DiffWords& words) {
  std::string out = "  " + number;
  switch (one.kind) {
    case Difference::Kind::Parts: out += "the runs part"; break;
    case Difference::Kind::Ends: out += "one run ends"; break;
    case Difference::Kind::Loop: out += loop_text(one); break;
    case Difference::Kind::Missing:
      out += fmt::format("{}: cannot tell whether the runs differ{}", missing_text(one),
                         is_loop(one) ? "; " + loop_text(one) : "");
      break;
  }
  if (one.kind == Difference::Kind::Missing && !one.a && !one.b)
    return out + "; all that is there is the same\n";
  if (one.branch_a) out += ", after " + words.pair(*one.branch_a, *one.branch_b);
  out += fmt::format("\n    A: {}, {} of its own", goes_on(one.a, DiffWords::A, words),
                     counted(one.only_a, "step"));
  out += fmt::format("\n    B: {}, {} of its own\n", goes_on(one.b, DiffWords::B, words),
                     counted(one.only_b, "step"));
  if (one.meet_a) out += "    together again: " + words.pair(*one.meet_a, *one.meet_b) + "\n";
  add_causes(out, one.causes, catalog, words, std::nullopt, 2);
  return out;
}

/// `after`: as in ThreadDiff::given_up_after.
std::string never_met(uint64_t after) {
  constexpr size_t kMost = timeline::DiffOptions::kWindowMax;
  if (after == 0) return "the runs do not meet again";
  const auto out = fmt::format("the runs were not seen to meet again within {} steps", after);
  return after == kMost ? out
                        : out + fmt::format("; --window N looks further (up to {})", kMost);
}

std::string thread_report(const ThreadDiff& thread, const Catalog& catalog,
                          const DiffWords& words, bool first) {
  if (!thread.tid_a || !thread.tid_b) {
    std::string out =
        fmt::format("thread {} | {}\n", thread_text(thread.tid_a), thread_text(thread.tid_b));
    for (const Difference& one : thread.differences)
      out += fmt::format("  {}: cannot tell whether it ran there\n", missing_text(one));
    return out;
  }
  std::string out = threads_text(thread) + counted(thread.same, "step");
  out += thread.same == 1 ? " is the same" : " are the same";
  // What may be the same behind it has not been looked at.
  if (first && !thread.differences.empty()) out += " before the first difference";
  if (thread.both_cut) out += "; what comes then is missing in both";
  out += '\n';
  const bool numbered = std::ranges::any_of(thread.differences, [](const Difference& one) {
    return std::ranges::any_of(one.causes, [](const Cause& it) { return it.earlier.has_value(); });
  });
  for (size_t i = 0; i < thread.differences.size(); ++i)
    out += difference_text(thread.differences[i], numbered ? fmt::format("{}. ", i + 1) : "",
                           catalog, words);
  if (thread.untold != 0)
    out += fmt::format("  and {} more\n", counted(thread.untold, "difference"));
  if (thread.short_sighted)
    out += "  there is too much to compare behind all holes: behind some of them, the runs may go "
           "on together elsewhere than is said here\n";
  if (thread.given_up) out += "  " + never_met(thread.given_up_after) + "\n";
  if (thread.differing_code != 0)
    out += fmt::format("  {} ran other instructions at the same place, first {}\n",
                       counted(thread.differing_code, "step"),
                       words.pair(*thread.code_a, *thread.code_b));
  return out;
}

}  // namespace

std::string value_text(const std::vector<uint8_t>& value, Endian endian) {
  if (value.empty()) return "unknown";
  std::vector<uint8_t> bytes = value;
  if (endian == Endian::Little) std::reverse(bytes.begin(), bytes.end());
  std::string digits = to_hex(Bytes(bytes));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return "0x" + digits;
}

bool is_loop(const Difference& one) { return one.times_a != 0 || one.times_b != 0; }

std::string flag_names(uint64_t bits) {
  static constexpr std::array<std::pair<unsigned, std::string_view>, 7> kNames = {
      {{0, "CF"}, {2, "PF"}, {4, "AF"}, {6, "ZF"}, {7, "SF"}, {10, "DF"}, {11, "OF"}}};
  std::string out;
  for (const auto& [bit, name] : kNames)
    if ((bits >> bit & 1) != 0) out += (out.empty() ? "" : " ") + std::string(name);
  return out;
}

std::string diff_text(const timeline::DiffReport& report, const Catalog& catalog,
                      const DiffWords& words, bool first) {
  std::string out;
  for (const ThreadDiff& thread : report.threads)
    out += thread_report(thread, catalog, words, first);
  if (const auto& left_out = report.left_out)
    out += fmt::format("thread {} | {}, and any that begins later: not compared (--first)\n",
                       thread_text(left_out->tid_a), thread_text(left_out->tid_b));
  for (const timeline::Bases::Range& range : report.bases)
    if (range.distance != 0)
      out += fmt::format("{:#x}-{:#x} of A is at {:#x} in B\n", range.from, range.to,
                         range.from + range.distance);
  return out + (report.same()        ? "the same\n"
                : report.undecided() ? "not known: steps are missing" + lacks_text(report) + "\n"
                                     : "different\n");
}

}  // namespace tracewell::render
