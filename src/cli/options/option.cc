#include "cli/options/option.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/text.h"

namespace tracewell::cli {

std::string_view completes_name(Completes completes) {
  switch (completes) {
    case Completes::Nothing: break;
    case Completes::File: return "file";
    case Completes::Folder: return "folder";
    case Completes::Command: return "command";
    case Completes::Process: return "process";
    case Completes::User: return "user";
    case Completes::HookGroup: return "hook-group";
  }
  return "nothing";
}

bool is_word(const Option& option) { return !option.names.starts_with('-'); }

bool is_flag(const Option& option) { return !is_word(option) && option.value.empty(); }

bool is_list(const Option& option) {
  return std::holds_alternative<std::vector<std::string>*>(option.to) ||
         std::holds_alternative<std::optional<std::vector<std::string>>*>(option.to);
}

std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> out;
  for (std::string_view name : split(option.names, ',')) {
    if (name.starts_with('!')) name.remove_prefix(1);
    out.emplace_back(name);
  }
  std::ranges::stable_partition(
      out, [](const std::string& name) { return !name.starts_with("--"); });
  return out;
}

std::string value_text(const Option& option) {
  std::string out(option.value);
  if (!option.choices.empty() && !option.open)
    out += fmt::format(":{{{}}}", fmt::join(option.choices, ","));
  if (option.most != UINT64_MAX) out += fmt::format(":UINT in [0 - {}]", option.most);
  return out;
}

OptionTable::OptionTable(std::string program_name, std::string_view about)
    : program(std::move(program_name)), summary(about) {
  add({{.names = "-h,--help", .to = ShowHelp(), .what = "Print this help message and exit"}});
}

void OptionTable::add(std::initializer_list<Option> more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

const Option* OptionTable::find(std::string_view called) const {
  for (const Option& option : rows)
    if (!is_word(option) && std::ranges::count(names_of(option), called) != 0) return &option;
  return nullptr;
}

void OptionTable::set_help(std::string_view names, std::string_view what) {
  rows.front().names = names;
  rows.front().what = what;
}

}  // namespace tracewell::cli
