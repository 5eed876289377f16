#include "trace/notes_file.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/files/beside.h"
#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/paths.h"
#include "base/murmur3.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/json/jsonl_value.h"
#include "formats/json/text.h"

namespace tracewell::trace {
namespace {

using formats::json::Json;

constexpr size_t kHashedBytes = 64 * 1024;
constexpr size_t kNoteLineBytesMax = 1 << 20;  // a note in it, each byte escaped (\u0001)
constexpr uint64_t kNotesBytesMax = 64 << 20;  // all of them: a file may be holes

Error too_many(const std::string& path) {
  return {Errc::Limit,
          fmt::format("{} has more than the {} MiB that notes may have", printable(path),
                      kNotesBytesMax >> 20),
          {}};
}

/// What the trace is known by: how long it was, and how it began and ended.
struct Identity {
  uint64_t bytes = 0;
  std::string head, tail;
  bool operator==(const Identity&) const = default;
};

std::string hash_of(Bytes bytes) {
  return fmt::format("{:016x}", murmur3_x64_128(bytes, 0)[0]);
}

/// Of the first `size` bytes.
Identity identity_of(Bytes trace, uint64_t size) {
  const Bytes bytes = trace.first(size);
  const size_t hashed = std::min(bytes.size(), kHashedBytes);
  return {size, hash_of(bytes.first(hashed)), hash_of(bytes.last(hashed))};
}

/// The very file of the trace, and that of its notes: who wrote what is in a file need not be whose
/// it is, who may have made a copy.
std::string file_of(const FileFacts& trace, const FileFacts& notes) {
  return fmt::format("{:x}-{:x}-{:x}-{:x}-{:x}", trace.device, trace.inode, trace.born_ns,
                     notes.inode, notes.born_ns);
}

class NotesReader {
 public:
  /// `file`: notes of another one do not fit. "" = those of a copy do.
  NotesReader(std::string_view text, std::string file, ProblemLog& problems)
      : rest_(text), file_(std::move(file)), problems_(problems) {}

  NotesFile read(Bytes trace) {
    NotesFile out;
    out.there = true;
    const auto head = line();
    if (!head || !fits(*head, trace)) return out;
    out.fits = true;
    while (!rest_.empty()) {
      const auto note = line();
      if (note) add(*note, out.notes);
    }
    std::ranges::stable_sort(out.notes, {}, &Note::step);
    return out;
  }

 private:
  void bad(std::string why) {
    problems_.add({at_, Problem::Severity::Damage, "bad-note",
                   fmt::format("line {}: {}; left out", number_, why)});
  }

  /// nullopt: an empty line, or one that is no JSON object.
  std::optional<Json> line() {
    at_ = next_at_;
    ++number_;
    const size_t before = rest_.size();
    const std::string_view text = take_until(rest_, '\n');
    next_at_ += before - rest_.size();
    if (text.empty()) return std::nullopt;
    if (text.size() > kNoteLineBytesMax) {
      bad("it is too long");
      return std::nullopt;
    }
    auto parsed = formats::json::parse(text);
    if (parsed && parsed->is_object()) return parsed;
    bad("this is no JSON object");
    return std::nullopt;
  }

  bool fits(const Json& head, Bytes trace) {
    const Json* of = formats::json::member(head, "notes_of");
    const Json* bytes = of ? formats::json::member(*of, "bytes") : nullptr;
    const auto size = bytes ? formats::json::unsigned_number(*bytes) : std::nullopt;
    if (!size) {
      bad("it does not say of which file the notes are");
      return false;
    }
    if (*size > trace.size()) return false;
    auto text = [&](const char* key) {
      const Json* value = formats::json::member(*of, key);
      return value ? formats::json::text(*value).value_or("") : "";
    };
    if (!file_.empty() && text("file") != file_) return false;
    return Identity{*size, text("head"), text("tail")} == identity_of(trace, *size);
  }

  void add(const Json& object, std::vector<Note>& notes) {
    const Json* step = formats::json::member(object, "step");
    const Json* text = formats::json::member(object, "text");
    const auto number = step ? formats::json::unsigned_number(*step) : std::nullopt;
    auto words = text ? formats::json::text(*text) : std::nullopt;
    if (!number || !words) return bad("a note has a \"step\" and a \"text\"");
    if (words->size() > kNoteBytesMax) return bad("the text is too long");
    notes.push_back({*number, *std::move(words)});
  }

  std::string_view rest_;
  const std::string file_;
  ProblemLog& problems_;
  uint64_t at_ = 0, next_at_ = 0, number_ = 0;
};

}  // namespace

std::string notes_path(const std::string& trace) { return trace + ".notes"; }

Result<NotesFile> read_notes(const std::string& path, const InputFile& trace,
                             ProblemLog& problems) {
  const auto file = InputFile::open_beside(path, trace.facts());
  if (!file.ok() && file.error().code == Errc::NotFound) return NotesFile{};
  if (!file.ok()) return file.error();
  if ((*file)->bytes().size() > kNotesBytesMax) return too_many(path);
  const std::string wanted =
      (*file)->others_put_there() ? file_of(trace.facts(), (*file)->facts()) : "";
  return NotesReader(as_text((*file)->bytes()), wanted, problems).read(trace.bytes());
}

Status write_notes(const std::string& path, const InputFile& file_of_trace,
                   const std::vector<Note>& notes) {
  const Bytes trace = file_of_trace.bytes();
  TW_ASSIGN_OR_RETURN(OutputFile file,
                      OutputFile::create_beside(path,
                                                {file_of_trace.path(), file_of_trace.facts()}));
  TW_ASSIGN_OR_RETURN(const FileFacts own, file.facts());
  const Identity of = identity_of(trace, trace.size());
  constexpr auto kHead =
      "{{\"notes_of\":{{\"bytes\":{},\"head\":\"{}\",\"tail\":\"{}\",\"file\":\"{}\"}}}}\n";
  TW_RETURN_IF_ERROR(file.write(fmt::format(kHead, of.bytes, of.head, of.tail,
                                            file_of(file_of_trace.facts(), own))));
  std::string line;
  for (const Note& note : notes) {
    line = fmt::format("{{\"step\":{},\"text\":", note.step);
    formats::append_json_text(line, note.text);
    TW_RETURN_IF_ERROR(file.write(line + "}\n"));
    if (file.size() > kNotesBytesMax) return too_many(path);
  }
  return file.commit();
}

Status delete_notes(const std::string& path, const InputFile& trace) {
  TW_ASSIGN_OR_RETURN(const Place place, place_to_keep(path, {trace.path(), trace.facts()}));
  if (!place.at.valid()) return {};
  return remove_at(place, path);
}

TraceNotes notes_of(const OpenTrace& trace, const std::string& path,
                    const std::vector<Note>& own, const Work& work) {
  if (path == "-") return {own, false};
  const std::string beside = notes_path(path);
  ProblemLog problems;
  auto file = read_notes(beside, *trace.file, problems);
  if (!file) {
    work.tell(fmt::format("{}; its notes are not used", printable(file.error().text())));
    return {own, false};
  }
  for (const Problem& problem : problems.kept())
    work.tell(fmt::format("{}: {}", printable(beside), problem_line(problem)));
  if (file->there && !file->fits)
    work.tell(fmt::format("{} is not of this trace as it is now; its notes are not used",
                          printable(beside)));
  if (file->fits) return {std::move(file->notes), true};
  return {own, false};
}

TraceNotes notes_of(const OpenTrace& trace, const std::string& path, const Work& work) {
  return notes_of(trace, path, trace.source->catalog().notes, work);
}

}  // namespace tracewell::trace
