#include "trace/reports/report_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text/text.h"
#include "hooks/words/hook_ids.h"

namespace tracewell::trace {
namespace {

constexpr std::string_view kHooksExpected =
    "hook ids of 2 to 4 hex digits, such as 010, 02 for 020 to 02F, or 010:0001 with a subhook, "
    "and commas";

Error wrong(std::string_view option, std::string_view word, std::string_view expected) {
  return {Errc::InvalidArgument,
          fmt::format("{}: \"{}\"; expected {}", option, printable(word), expected),
          {}};
}

/// Commas or blanks between them: AIX takes a quoted list of either.
std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  for (const std::string_view part : split(list, ','))
    for (const std::string_view word : split(part, ' '))
      if (!word.empty() || part.empty()) words.push_back(word);
  return words;
}

std::optional<uint16_t> parse_subhook(std::string_view digits) {
  unsigned number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, 16);
  if (digits.size() > 4 || error != std::errc() || stop != end) return std::nullopt;
  return static_cast<uint16_t>(number);
}

Status parse_hooks(std::string_view option, const std::string& list, report::HookSet& hooks) {
  if (list.empty()) return {};
  for (const std::string_view word : words_of(list)) {
    std::string_view subhook = word;
    const std::string_view id = take_until(subhook, ':');
    const auto ids = hooks::hook_ids(std::string(id));
    if (!ids.ok()) return wrong(option, word, kHooksExpected);
    const bool has_subhook = id.size() < word.size();
    const auto number = has_subhook ? parse_subhook(subhook) : std::nullopt;
    if (has_subhook && !number) return wrong(option, word, kHooksExpected);
    for (const uint16_t hook : *ids) {
      if (number)
        hooks.add(hook, *number);
      else
        hooks.add(hook);
    }
  }
  return {};
}

Status parse_groups(std::string_view option, const std::string& list,
                    const HooksOfGroups& hooks_of_groups, report::HookSet& hooks) {
  if (list.empty()) return {};
  const auto ids = hooks_of_groups(list);
  if (!ids.ok()) return Error(ids.error()).within(std::string(option));
  for (const uint16_t hook : *ids) hooks.add(hook);
  return {};
}

Status parse_threads(const std::string& list, report::ReportFilter& filter) {
  if (list.empty()) return {};
  filter.threads_excluded = list.starts_with('!');
  const std::string_view all = list;
  for (const std::string_view word : words_of(all.substr(filter.threads_excluded))) {
    const auto thread = parse_number(word);
    if (!thread) return wrong("-T", word, "thread numbers and commas, or ! and those");
    filter.threads.insert(*thread);
  }
  return {};
}

Status parse_cpus(const std::string& list, report::ReportFilter& filter) {
  if (list.empty() || list == "all") return {};
  for (const std::string_view word : words_of(list)) {
    const auto cpu = parse_number(word);
    if (!cpu || *cpu > INT32_MAX) return wrong("-C", word, "processor numbers and commas, or all");
    filter.cpus.insert(static_cast<int32_t>(*cpu));
  }
  return {};
}

Status parse_processes(const std::string& list, report::ReportFilter& filter) {
  if (list.empty()) return {};
  for (const std::string_view word : words_of(list)) {
    const bool is_number = !word.empty() && word[0] >= '0' && word[0] <= '9';
    const auto process = is_number ? parse_number(word) : std::nullopt;
    if (word.empty() || (is_number && !process))
      return wrong("-p", word, "process numbers, names of programs, and commas");
    if (process)
      filter.processes.insert(*process);
    else
      filter.process_names.emplace_back(word);
  }
  return {};
}

/// MMddhhmmssyy in local time, as seconds since 1970.
std::optional<int64_t> parse_date(std::string_view text) {
  if (text.size() != 12 || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  const auto two = [&](size_t at) { return (text[at] - '0') * 10 + text[at + 1] - '0'; };
  std::tm date = {};
  date.tm_mon = two(0) - 1;
  date.tm_mday = two(2);
  date.tm_hour = two(4);
  date.tm_min = two(6);
  date.tm_sec = two(8);
  date.tm_year = two(10) < 70 ? two(10) + 100 : two(10);
  date.tm_isdst = -1;
  const std::tm asked = date;
  const std::time_t seconds = std::mktime(&date);
  // mktime makes the 31st of June the 1st of July.
  if (date.tm_mon != asked.tm_mon || date.tm_mday != asked.tm_mday || asked.tm_hour > 23 ||
      asked.tm_min > 59 || asked.tm_sec > 59)
    return std::nullopt;
  return seconds;
}

Status parse_dates(const ReportWords& words, report::ReportFilter& filter) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr std::string_view kExpected = "a date of 12 digits, MMddhhmmssyy";
  if (!words.from_date.empty()) {
    const auto seconds = parse_date(words.from_date);
    if (!seconds) return wrong("-s", words.from_date, kExpected);
    filter.after_ns = *seconds * kSecond;
  }
  if (!words.to_date.empty()) {
    const auto seconds = parse_date(words.to_date);
    if (!seconds) return wrong("-e", words.to_date, kExpected);
    filter.before_ns = *seconds * kSecond + kSecond - 1;
  }
  return {};
}

/// Seconds with up to nine digits behind a point, as nanoseconds.
std::optional<int64_t> parse_seconds(std::string_view text) {
  const std::string_view whole = take_until(text, '.');
  if (whole.empty() || whole.size() > 9 || text.size() > 9) return std::nullopt;
  std::string digits = std::string(whole) + std::string(text);
  digits.append(9 - text.size(), '0');
  int64_t ns = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, ns);
  if (error != std::errc() || stop != end) return std::nullopt;
  return ns;
}

Status parse_switch(std::string_view name, std::string_view value, bool& on) {
  if (value != "on" && value != "off")
    return wrong("-O", fmt::format("{}={}", name, value), "on or off");
  on = value == "on";
  return {};
}

Status parse_time(std::string_view name, std::string_view value, std::optional<int64_t>& ns) {
  ns = parse_seconds(value);
  return ns ? Status() : wrong("-O", fmt::format("{}={}", name, value), "seconds, such as 1.5");
}

Status parse_timestamp(std::string_view value, report::ReportOptions& options) {
  if (value.size() != 1 || value[0] < '0' || value[0] > '3')
    return wrong("-O", fmt::format("timestamp={}", value),
                 "0 (seconds and nanoseconds), 1 (short), 2 (microseconds) or 3 (none)");
  options.columns.times = static_cast<report::Times>(value[0] - '0');
  return {};
}

Status parse_page(std::string_view value, report::ReportOptions& options) {
  const auto lines = parse_number(value);
  if (!lines || *lines > 500)
    return wrong("-O", fmt::format("pagesize={}", value), "0 (no pages) to 500 lines");
  options.page_lines = static_cast<uint32_t>(*lines);
  return {};
}

/// What AIX has and we have not. `off`, which is what holds, is taken.
Status parse_refused(std::string_view name, std::string_view value) {
  constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
      {"PURR", "registers of processors are not recorded"},
      {"svc", "system calls are not recorded"},
  };
  for (const auto& [word, why] : kRefused) {
    if (word != name) continue;
    bool on = false;
    TW_RETURN_IF_ERROR(parse_switch(name, value, on));
    if (on) return {Errc::InvalidArgument, fmt::format("-O {}={}: {}", name, value, why)};
    return {};
  }
  return wrong("-O", fmt::format("{}={}", name, value),
               "2line, component, cpuid, exec, filename, hist, ids, pid, removedups, reportedcpus "
               "or tid = on or off; endtime, starttime, pagesize or timestamp = a number");
}

Status parse_setting(std::string_view word, report::ReportOptions& options) {
  std::string_view value = word;
  const std::string_view name = take_until(value, '=');
  const std::pair<std::string_view, bool*> switches[] = {
      {"2line", &options.two_lines},
      {"component", &options.columns.component},
      {"cpuid", &options.columns.cpu},
      {"exec", &options.columns.process},
      {"filename", &options.columns.log},
      {"ids", &options.columns.ids},
      {"pid", &options.columns.pid},
      {"removedups", &options.once},
      {"reportedcpus", &options.count_cpus},
      {"tid", &options.columns.tid},
  };
  for (const auto& [its_name, on] : switches)
    if (its_name == name) return parse_switch(name, value, *on);
  if (name == "timestamp") return parse_timestamp(value, options);
  if (name == "pagesize") return parse_page(value, options);
  if (name == "starttime") return parse_time(name, value, options.from_ns);
  if (name == "endtime") return parse_time(name, value, options.to_ns);
  if (name != "hist") return parse_refused(name, value);
  bool on = false;
  TW_RETURN_IF_ERROR(parse_switch(name, value, on));
  if (on) options.form = report::Form::Counts;
  return {};
}

Status parse_settings(const ReportWords& words, report::ReportOptions& options) {
  if (words.names) options.columns.process = options.columns.pid = true;
  options.columns.cpu = !words.cpus.empty();
  size_t count = 0;
  for (const std::string& list : words.settings) {
    for (const std::string_view word : words_of(list)) {
      TW_RETURN_IF_ERROR(parse_setting(word, options));
      ++count;
    }
  }
  if (options.form == report::Form::Counts && count > 1)
    return {Errc::InvalidArgument, "-O hist=on: no other -O can be beside it"};
  return {};
}

}  // namespace

std::string hook_hint(const std::string& list) {
  for (const std::string_view word : words_of(list))
    if (word.size() == 2)
      return fmt::format("; {0} stands for the hooks {0}0 to {0}F; the hook 0{0} is written 0{0}",
                         word);
  return "";
}

Result<report::ReportOptions> parse_report_words(const ReportWords& words,
                                                 const HooksOfGroups& hooks_of_groups) {
  report::ReportOptions options;
  report::ReportFilter& filter = options.filter;
  TW_RETURN_IF_ERROR(parse_hooks("-d", words.hooks, filter.hooks));
  TW_RETURN_IF_ERROR(parse_hooks("-k", words.without_hooks, filter.without_hooks));
  TW_RETURN_IF_ERROR(parse_groups("-D", words.groups, hooks_of_groups, filter.hooks));
  TW_RETURN_IF_ERROR(
      parse_groups("-K", words.without_groups, hooks_of_groups, filter.without_hooks));
  TW_RETURN_IF_ERROR(parse_threads(words.threads, filter));
  TW_RETURN_IF_ERROR(parse_cpus(words.cpus, filter));
  TW_RETURN_IF_ERROR(parse_processes(words.processes, filter));
  TW_RETURN_IF_ERROR(parse_dates(words, filter));
  TW_RETURN_IF_ERROR(parse_settings(words, options));
  return options;
}

}  // namespace tracewell::trace
