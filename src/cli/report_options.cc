#include "cli/report_options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/text.h"

namespace tracewell::cli {
namespace {

Error wrong(std::string_view option, std::string_view word, std::string_view expected) {
  return {Errc::InvalidArgument,
          fmt::format("{}: \"{}\"; expected {}", option, printable(word), expected),
          {}};
}

Status parse_hooks(std::string_view option, std::string_view list, std::set<uint16_t>& hooks) {
  if (list.empty()) return {};
  for (const std::string_view word : split(list, ',')) {
    const auto hook = report::parse_hook(word);
    if (!hook) return wrong(option, word, "hook ids of 3 or 4 hex digits and commas");
    hooks.insert(*hook);
  }
  return {};
}

Status parse_threads(std::string_view list, report::ReportFilter& filter) {
  if (list.empty()) return {};
  filter.threads_excluded = list.starts_with('!');
  if (filter.threads_excluded) list.remove_prefix(1);
  for (const std::string_view word : split(list, ',')) {
    const auto thread = parse_number(word);
    if (!thread) return wrong("-T", word, "thread numbers and commas, or ! and those");
    filter.threads.insert(*thread);
  }
  return {};
}

Status parse_cpus(std::string_view list, report::ReportFilter& filter) {
  if (list.empty() || list == "all") return {};
  for (const std::string_view word : split(list, ',')) {
    const auto cpu = parse_number(word);
    if (!cpu || *cpu > INT32_MAX) return wrong("-C", word, "processor numbers and commas, or all");
    filter.cpus.insert(static_cast<int32_t>(*cpu));
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
  using Times = report::ReportOptions::Times;
  if (value == "0") {
    options.times = Times::Nanoseconds;
  } else if (value == "1" || value == "2") {
    options.times = Times::Microseconds;
  } else if (value == "3") {
    options.times = Times::None;
  } else {
    return wrong("-O", fmt::format("timestamp={}", value),
                 "0 (nanoseconds), 1 (microseconds) or 3 (none)");
  }
  return {};
}

Status parse_setting(std::string_view word, report::ReportOptions& options) {
  std::string_view value = word;
  const std::string_view name = take_until(value, '=');
  if (name == "ids") return parse_switch(name, value, options.ids);
  if (name == "tid") return parse_switch(name, value, options.tid);
  if (name == "cpuid") return parse_switch(name, value, options.cpu);
  if (name == "timestamp") return parse_timestamp(value, options);
  if (name == "starttime") return parse_time(name, value, options.from_ns);
  if (name == "endtime") return parse_time(name, value, options.to_ns);
  return wrong("-O", word, "ids, tid, cpuid, timestamp, starttime or endtime, = and a value");
}

}  // namespace

void add_report_words(CLI::App& app, ReportWords& words) {
  app.add_option("-d,--hooks", words.hooks, "only these hooks")->type_name("HOOK,…");
  app.add_option("-k,--without-hooks", words.without_hooks, "all but these hooks")
      ->type_name("HOOK,…");
  app.add_option("-T,--threads", words.threads, "only these threads, or !… all but these")
      ->type_name("THREAD,…");
  app.add_option("-C,--cpus", words.cpus, "only events of these processors, or all")
      ->type_name("CPU,…");
  app.add_option("-O,--set", words.settings,
                 "ids, tid, cpuid = on or off; timestamp = 0 (nanoseconds), 1 (microseconds), "
                 "3 (none); starttime, endtime = seconds since the first event")
      ->type_name("NAME=VALUE,…");
}

Result<report::ReportOptions> parse_report_words(const ReportWords& words) {
  report::ReportOptions options;
  TW_RETURN_IF_ERROR(parse_hooks("-d", words.hooks, options.filter.hooks));
  TW_RETURN_IF_ERROR(parse_hooks("-k", words.without_hooks, options.filter.without_hooks));
  TW_RETURN_IF_ERROR(parse_threads(words.threads, options.filter));
  TW_RETURN_IF_ERROR(parse_cpus(words.cpus, options.filter));
  if (!words.settings.empty())
    for (const std::string_view word : split(words.settings, ','))
      TW_RETURN_IF_ERROR(parse_setting(word, options));
  return options;
}

}  // namespace tracewell::cli
