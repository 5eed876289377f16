// Format: what it takes to read or write one kind of file. formats.def lists them all.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/result.h"
#include "model/problem.h"
#include "model/stream.h"
#include "model/work.h"

namespace tracewell::formats {

/// What the user knows better than the file, and wants to know.
struct OpenOptions {
  std::optional<Endian> endian;
  /// Long files are looked through in a stage "reading", in bytes. Where much is read that gives no
  /// events, a work that is stopped has found all that there is: that is no error.
  Work work;
  /// What a source of this file, or of its beginning, gave as ReaderNotes::notes(): it need not be
  /// looked through again.
  struct Notes {
    Bytes bytes;
    uint64_t file_bytes = 0;  // of the file then
  };
  std::optional<Notes> notes;
  /// Called when the notes are damaged, or of something else. The file is looked through then.
  std::function<void()> notes_refused;
  /// Where the file lies, for formats whose traces are several files; nullptr = in the folder that
  /// its name says. It outlives the source.
  std::shared_ptr<const Folder> folder;
};

/// How the user wants a file to be written.
struct SaveOptions {
  bool compat = false;  // so that older readers of the format open it, too
  bool sound = false;   // without the oddities that were kept from the source
  std::string style;    // one of several that a format has; "" = its usual one
  bool csv_safe = false;  // no cell that a spreadsheet would take for a formula
};

struct Format {
  std::string_view name;                         // "tfile"
  std::span<const std::string_view> extensions;  // without the dot, lower case
  std::string_view description;
  bool binary = true;  // do not write it to a terminal
  /// Is this the head (kSniffBytes or the whole file) of such a file?
  bool (*sniff)(Bytes head) = nullptr;
  /// nullptr = cannot be read. The source keeps `problems`, which must outlive it, and adds what it
  /// finds while it reads.
  Result<std::unique_ptr<Source>> (*open)(std::shared_ptr<InputFile> file,
                                          const OpenOptions& options,
                                          ProblemLog& problems) = nullptr;
  /// nullptr = cannot be written.
  Result<std::unique_ptr<Sink>> (*create)(OutputFile file, const SaveOptions& options) = nullptr;
};

constexpr size_t kSniffBytes = 4096;

/// The table, in order.
std::span<const Format* const> formats();
/// By name; also by extension, where one format has several.
const Format* find_format(std::string_view name);
/// By the extension of `path`; nullptr if none has it.
const Format* find_format_for_path(std::string_view path);
/// By content.
const Format* sniff_format(Bytes head);

/// Who reads it: `format_name` if not empty, else what the content says. The error of a file that
/// no format knows is Unsupported; of one that the format of its name cannot open either, what that
/// format says.
Result<const Format*> find_or_sniff(const std::shared_ptr<InputFile>& file,
                                    std::string_view format_name);
/// Reads whatever it is, as find_or_sniff() says.
Result<std::unique_ptr<Source>> open_source(std::shared_ptr<InputFile> file,
                                            std::string_view format_name,
                                            const OpenOptions& options, ProblemLog& problems,
                                            const Format** which = nullptr);

#define FORMAT(name) const Format& name##_format();
#include "formats/formats.def"
#undef FORMAT

}  // namespace tracewell::formats
