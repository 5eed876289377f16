#include "cli/component_logs.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/hook_session.h"
#include "formats/hooklog.h"
#include "hooks/components.h"

namespace tracewell::cli {
namespace {

namespace fs = std::filesystem;

/// Other logs may be beside them. One that cannot be read is for the report to complain of.
bool is_component_log(const std::string& path) {
  const std::string metadata = path + "/metadata";
  std::error_code error;
  if (!fs::is_regular_file(metadata, error)) return false;
  const auto file = InputFile::open(metadata);
  return !file.ok() ||
         formats::read_hooklog_fact(as_text((*file)->bytes()), "component").has_value();
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error))
    if (!hooks::is_old_dump(it->path().filename().string()) &&
        is_component_log(it->path().string()))
      out.push_back(it->path().filename().string());
  if (error)
    return {Errc::Io, fmt::format("cannot read {}: {}", printable(folder), error.message())};
  std::ranges::sort(out);
  return out;
}

}  // namespace

Result<std::vector<std::string>> component_logs(std::string_view list) {
  const std::string_view patterns = take_until(list, ':');
  const std::string folder = list.empty() ? hooks::default_component_folder() : std::string(list);
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(folder));
  std::vector<bool> chosen(names.size());
  bool any = false;
  for (const std::string_view word : list_words(patterns)) {
    const std::string pattern(word == "all" ? "*" : word);
    bool found = false;
    for (size_t i = 0; i < names.size(); ++i) {
      if (::fnmatch(pattern.c_str(), names[i].c_str(), 0) != 0) continue;
      chosen[i] = found = true;
    }
    if (!found)
      return {Errc::NotFound, fmt::format("-l: there is no log of component {} in {}",
                                          printable(word), printable(folder))};
    any = true;
  }
  if (!any) return {Errc::InvalidArgument, "-l: which components? Names and commas, or all"};
  std::vector<std::string> out;
  for (size_t i = 0; i < names.size(); ++i)
    if (chosen[i]) out.push_back(fmt::format("{}/{}", folder, names[i]));
  return out;
}

}  // namespace tracewell::cli
