#include "report/columns.h"

#include <algorithm>
#include <cstring>

#include "report/filter.h"

namespace tracewell::report {
namespace {

constexpr uint32_t kLogWidth = 16, kComponentWidth = 16, kIdWidth = 4, kProcessWidth = 15,
                   kNumberWidth = 7, kCpuWidth = 3, kGap = 2;
constexpr std::string_view kBold = "\x1b[1m", kFaint = "\x1b[2m", kPlain = "\x1b[0m";

struct TimeWidths {
  uint32_t elapsed, delta;
};
constexpr TimeWidths widths_of(Times times) {
  switch (times) {
    case Times::Nanoseconds:
      return {16, 14};
    case Times::Short:
      return {13, 0};
    case Times::Microseconds:
      return {13, 11};
    default:
      return {0, 0};
  }
}

/// Two digits of numbers below 100.
struct Pairs {
  char text[200];
  constexpr Pairs() : text() {
    for (int i = 0; i < 100; ++i) {
      text[2 * i] = static_cast<char>('0' + i / 10);
      text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
  }
};
constexpr Pairs kPairs;

/// Digits, written from their end.
char* put_digits(char* end, uint64_t number) {
  for (; number >= 100; number /= 100) std::memcpy(end -= 2, kPairs.text + number % 100 * 2, 2);
  do {
    *--end = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return end;
}

void put_right(TextBuffer& out, std::string_view text, uint32_t width) {
  const size_t before = text.size() < width ? width - text.size() : 0;
  const size_t size = before + text.size() + kGap;
  char* const to = out.reserve(size);
  std::memset(to, ' ', size);
  std::memcpy(to + before, text.data(), text.size());
  out.commit(size);
}

void put_left(TextBuffer& out, std::string_view text, uint32_t width) {
  out.append(text);
  out.append(' ', kGap + (text.size() < width ? width - text.size() : 0));
}

void put_number(TextBuffer& out, uint64_t number, uint32_t width) {
  char digits[24];
  char* const end = digits + sizeof digits;
  char* const begin = put_digits(end, number);
  put_right(out, {begin, static_cast<size_t>(end - begin)}, width);
}

/// `ns` in units of `kUnit` ns, with `kDigits` digits behind the point of `kStep` ns each.
template <uint64_t kUnit, uint64_t kStep, int kDigits>
void put_time(TextBuffer& out, int64_t ns, uint32_t width) {
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  char text[48];
  char* const end = text + sizeof text;
  char* at = end;
  if (kDigits > 0) {
    uint64_t rest = size % kUnit / kStep;
    for (int i = kDigits; i > 1; i -= 2, rest /= 100)
      std::memcpy(at -= 2, kPairs.text + rest % 100 * 2, 2);
    if (kDigits % 2 == 1) *--at = static_cast<char>('0' + rest);
    *--at = '.';
  }
  at = put_digits(at, size / kUnit);
  if (ns < 0) *--at = '-';
  put_right(out, {at, static_cast<size_t>(end - at)}, width);
}

/// Of a process or thread; 0 = not known.
void put_task(TextBuffer& out, uint64_t number, uint32_t width) {
  if (number == 0) return put_right(out, "-", width);
  put_number(out, number, width);
}

void put_id(TextBuffer& out, uint16_t hook) {
  constexpr char kHex[] = "0123456789ABCDEF";
  char text[kIdWidth + kGap] = {kHex[hook >> 12], kHex[hook >> 8 & 15], kHex[hook >> 4 & 15],
                                ' ',              ' ',                  ' '};
  if ((hook & 15) != 0) text[3] = kHex[hook & 15];
  out.append({text, sizeof text});
}

/// Outside names are cut to their columns, and what would act on a terminal is a dot.
void put_name(TextBuffer& out, std::string_view name, uint32_t width) {
  char text[32];
  name = name.substr(0, std::min<size_t>(width, sizeof text));
  put_left(out, {text, put_outside(text, name)}, width);
}

}  // namespace

uint32_t Columns::width() const {
  const TimeWidths times = widths_of(choice_.times);
  const auto part = [](bool there, uint32_t width) { return there ? width + kGap : 0; };
  return part(choice_.log, kLogWidth) + part(choice_.component, kComponentWidth) +
         part(choice_.ids, kIdWidth) +
         part(choice_.process, kProcessWidth) + part(choice_.pid, kNumberWidth) +
         part(choice_.tid, kNumberWidth) + part(choice_.cpu, kCpuWidth) +
         part(times.elapsed != 0, times.elapsed) + part(times.delta != 0, times.delta);
}

void Columns::heads(TextBuffer& out) const {
  const TimeWidths times = widths_of(choice_.times);
  const bool micro = choice_.times == Times::Microseconds;
  if (choice_.log) put_left(out, "LOG", kLogWidth);
  if (choice_.component) put_left(out, "COMPONENT", kComponentWidth);
  if (choice_.ids) put_left(out, "ID", kIdWidth);
  if (choice_.process) put_left(out, "PROCESS NAME", kProcessWidth);
  if (choice_.pid) put_right(out, "PID", kNumberWidth);
  if (choice_.tid) put_right(out, "TID", kNumberWidth);
  if (choice_.cpu) put_right(out, "CPU", kCpuWidth);
  if (times.elapsed != 0) put_right(out, micro ? "ELAPSED_USEC" : "ELAPSED_SEC", times.elapsed);
  if (times.delta != 0) put_right(out, micro ? "DELTA_USEC" : "DELTA_MSEC", times.delta);
}

void Columns::levels(TextBuffer& out) {
  out.append("APPL    SYSCALL KERNEL  INTERRUPT\n\n");
}

void Columns::row(TextBuffer& out, const Entry& entry, const LogFacts& log,
                  const EventTimes& times) const {
  if (choice_.log) put_name(out, last_part(log.name), kLogWidth);
  if (choice_.component)
    put_name(out, log.component.empty() ? "-" : std::string_view(log.component), kComponentWidth);
  if (choice_.ids) {
    if (choice_.color) out.append(kBold);
    put_id(out, entry.hook);
    if (choice_.color) out.append(kPlain);
  }
  if (choice_.color) out.append(kFaint);
  if (choice_.process)
    put_name(out, entry.process_path.empty() ? "-" : last_part(entry.process_path), kProcessWidth);
  if (choice_.pid) put_task(out, entry.pid, kNumberWidth);
  if (choice_.tid) put_task(out, entry.tid, kNumberWidth);
  if (choice_.cpu && entry.cpu >= 0)
    put_number(out, static_cast<uint64_t>(entry.cpu), kCpuWidth);
  if (choice_.cpu && entry.cpu < 0) put_right(out, "-", kCpuWidth);
  put_times(out, times);
  if (choice_.color) out.append(kPlain);
}

void Columns::put_times(TextBuffer& out, const EventTimes& times) const {
  const TimeWidths width = widths_of(choice_.times);
  if (width.elapsed == 0) return;
  if (!times.known) {
    put_right(out, "-", width.elapsed);
    if (width.delta != 0) put_right(out, "-", width.delta);
    return;
  }
  switch (choice_.times) {
    case Times::Nanoseconds:
      put_time<1'000'000'000, 1, 9>(out, times.elapsed_ns, width.elapsed);
      put_time<1'000'000, 1, 6>(out, times.delta_ns, width.delta);
      break;
    case Times::Short:
      put_time<1'000'000'000, 1000, 6>(out, times.elapsed_ns, width.elapsed);
      break;
    default:
      put_time<1000, 1, 0>(out, times.elapsed_ns, width.elapsed);
      put_time<1000, 1, 0>(out, times.delta_ns, width.delta);
      break;
  }
}

}  // namespace tracewell::report
