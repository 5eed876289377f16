#include "hooks/components/component_logs.h"

#include <fnmatch.h>

#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/text/text.h"
#include "formats/hooklog/metadata.h"
#include "hooks/components/components.h"
#include "hooks/words/hook_ids.h"

namespace tracewell::hooks {
namespace {

/// Other logs may be beside them. One that cannot be read is for the report to complain of.
bool is_component_log(const Folder& folder, const std::string& name) {
  FoundRules rules;
  rules.folder = folder.fd();
  const auto log = Folder::found(name, rules);
  if (!log.ok()) return false;
  const auto file = log->read("metadata", formats::kHooklogMetadataMax);
  if (!file.ok()) return file.error().code == Errc::Io;
  return formats::read_hooklog_fact(as_text((*file)->bytes()), "component").has_value();
}

Result<std::vector<std::string>> names_in(const Folder& folder) {
  TW_ASSIGN_OR_RETURN(std::vector<std::string> names, folder.names());
  std::erase_if(names, [&](const std::string& name) {
    return is_old_dump(name) || !is_component_log(folder, name);
  });
  return names;
}

}  // namespace

Result<std::vector<LogName>> component_logs(std::string_view list) {
  const std::string_view patterns = take_until(list, ':');
  std::string folder(list);
  if (folder.empty()) {
    TW_ASSIGN_OR_RETURN(folder, default_component_folder());
  }
  auto named = Folder::named(folder);
  // That no component has a log is another answer.
  if (!named.ok()) return {Errc::Io, named.error().message};
  const auto held = std::make_shared<const Folder>(*std::move(named));
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(*held));
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
  std::vector<LogName> out;
  for (size_t i = 0; i < names.size(); ++i)
    if (chosen[i]) out.push_back({fmt::format("{}/{}", folder, names[i]), held});
  return out;
}

}  // namespace tracewell::hooks
