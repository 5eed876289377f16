#include "trace/file.h"

#include <utility>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "formats/hooklog/metadata.h"
#include "timeline/timeline.h"
#include "trace/lost_files.h"
#include "trace/spool.h"

namespace tracewell::trace {

std::optional<Sidecar> sidecar_of(const InputFile& trace, const Work& work) {
  if (trace.facts().kind != FileFacts::Kind::Regular) return std::nullopt;
  // /dev/stdin leads to a file, and nothing is beside that name.
  const auto place = write_place(trace.path());
  if (place.ok() && !place->folder.valid()) return std::nullopt;
  Sidecar out{trace.path() + ".tidx", {trace.path(), trace.facts()}};
  const auto there = open_beside(out.path, out.trace.facts);
  if (there.ok() || there.error().code == Errc::NotFound) return out;
  // One's own that others may write to, as a umask of 002 made it, is replaced.
  const auto beside = place_beside(out.path);
  const bool own = beside.ok() && beside->at.valid() && is_own_user(beside->facts.owner) &&
                   beside->facts.kind == FileFacts::Kind::Regular;
  work.tell(fmt::format("{}; it is {}", printable(there.error().message),
                        own ? "made anew" : "not used"));
  if (!own) return std::nullopt;
  return out;
}

namespace {

/// What is in the folder is found, be the folder itself named or not.
Result<std::shared_ptr<InputFile>> metadata_in(const Folder& folder) {
  auto file = folder.read("metadata", formats::kHooklogMetadataMax);
  if (file || file.error().code != Errc::NotFound) return file;
  return Error{Errc::Io,
               fmt::format("{} is a folder, and no trace: that would have a file 'metadata'",
                           printable(folder.path())),
               {}};
}

}  // namespace

Result<OpenTrace> open_trace(const InputOptions& options, const Work& work,
                             const HowToOpen& how) {
  OpenTrace trace;
  trace.problems = std::make_unique<ProblemLog>();
  const auto is_trace = [&](Bytes head) {
    return !options.format.empty() || formats::sniff_format(head) != nullptr;
  };
  Spool spool;
  if (how.spool && options.path == "-") {
    TW_ASSIGN_OR_RETURN(spool, Spool::standard_input(is_trace));
  }
  // A trace in the Common Trace Format is a folder, which is known by this file in it.
  std::shared_ptr<const Folder> folder;
  if (options.found_in || (options.path != "-" && is_folder(options.path))) {
    TW_ASSIGN_OR_RETURN(Folder held, Folder::found_in(options.found_in.get(), options.path));
    TW_ASSIGN_OR_RETURN(trace.file, metadata_in(held));
    folder = std::make_shared<const Folder>(std::move(held));
  } else {
    const std::string named = spool.empty() ? options.path : spool.path();
    TW_ASSIGN_OR_RETURN(trace.file, InputFile::open(named, is_trace));
  }
  note_trace_file(*trace.file);
  formats::OpenOptions open_options;
  open_options.folder = folder;
  if (!options.endian.empty())
    open_options.endian = options.endian == "big" ? Endian::Big : Endian::Little;
  open_options.work = work;
  std::optional<timeline::KeptNotes> kept;
  if (options.path != "-" && !folder) trace.sidecar = sidecar_of(*trace.file, work);
  const auto& sidecar = trace.sidecar;
  if (sidecar && !how.anew)
    kept = timeline::read_notes(sidecar->path, trace.file->bytes(), sidecar->trace.facts.changed_ns,
                                sidecar->trace.facts);
  if (kept && !kept->notes.empty()) open_options.notes = {kept->notes, kept->trace_bytes};
  open_options.notes_refused = [&] {
    work.tell(fmt::format("{}: not what was noted of this trace; it is read anew",
                          printable(sidecar->path)));
  };
  trace.problems->name(options.path == "-" ? "standard input" : printable(options.path));
  TW_ASSIGN_OR_RETURN(trace.source, formats::open_source(trace.file, options.format, open_options,
                                                         *trace.problems, &trace.format));
  if (options.strict) TW_RETURN_IF_ERROR(trace.problems->strict());
  return trace;
}

Result<const formats::Format*> is_openable(const InputOptions& options) {
  if (options.path == "-") return nullptr;
  if (is_folder(options.path)) {
    TW_ASSIGN_OR_RETURN(const Folder folder, Folder::named(options.path));
    TW_ASSIGN_OR_RETURN(const auto metadata, metadata_in(folder));
    return formats::find_or_sniff(metadata, options.format);
  }
  const auto facts = facts_at(options.path);
  if (facts && facts->kind != FileFacts::Kind::Regular) return nullptr;
  TW_ASSIGN_OR_RETURN(const auto file, InputFile::open(options.path));
  return formats::find_or_sniff(file, options.format);
}

}  // namespace tracewell::trace
