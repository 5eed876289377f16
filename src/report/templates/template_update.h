// Changes of a template file: what trcupdate does, on texts; and the files of lists of changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"

namespace tracewell::report {

/// The first line of a list of changes.
inline constexpr std::string_view kUpdateHead = "* /etc/trcfmt";

/// Such a list in a file.
struct UpdateList {
  std::string path;       // NAME.trc
  std::string undo_path;  // NAME.undo.trc: where what takes the changes back belongs
  std::string text;
  FileFacts facts;
};
/// `named`: NAME or NAME.trc.
Result<UpdateList> read_update_list(const std::string& named);

/// Unsupported: the text of a template file that is compressed, as AIX ships them.
Status check_uncompressed(std::string_view text, const std::string& path);

struct TemplateUpdate {
  std::string text;  // of the template file
  std::string undo;  // a list of changes that takes these back, to the byte; versions not compared
  std::vector<std::string> notes;  // what was done and what was not, a line each
};

/// Applies the changes of `update` to the template file `text`, in order. In `update`:
///   * /etc/trcfmt       first
///   + TEMPLATE          replaces the templates of its hook where its version is not lower, or adds
///                       it: before the first one of a higher hook, or at the end
///   - HOOK              deletes the templates of the hook
///   @ LINE              the next + puts its template before this line of the file, or before the
///                       template that it is part of (ours, for `undo`); `@ whole`: the file is
///                       empty, and the template becomes all of it, without a newline at its end
/// Lines that are empty or begin with # mean nothing.
/// Corrupt, with FILE:LINE:COLUMN and the line, when the list or a template in it is wrong, or
/// @ LINE would make a line of the file part of the new template; then nothing is to be changed.
/// `name` is that of the list.
Result<TemplateUpdate> update_templates(std::string_view text, std::string_view update,
                                        std::string_view name, bool ignore_versions);

/// Hooks that have templates, by their words. `option` is what they were given to.
Result<std::vector<uint16_t>> template_hooks(const std::vector<std::string_view>& words,
                                             std::string_view option);
/// The templates of these hooks as a list of changes. NotFound names a hook that has none.
Result<std::string> extract_templates(std::string_view text, const std::vector<uint16_t>& hooks);

}  // namespace tracewell::report
