#include "formats/hooklog/reader.h"

#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/paths.h"
#include "base/text/text.h"

namespace tracewell::formats {
namespace {

using Severity = Problem::Severity;

constexpr std::string_view kMetadata = "metadata";
/// What the log's env says of the whole trace.
constexpr std::string_view kFacts[] = {"hostname", "command", "message", "channel", "mode",
                                         "component", "cpus", "traced_cpus"};

}  // namespace

void describe_hooklog(std::string_view metadata, Catalog& catalog) {
  catalog.machine = "x86-64";
  for (const std::string_view key : kFacts)
    if (const auto value = read_hooklog_fact(metadata, key))
      catalog.extras.emplace_back(fmt::format("hooklog.{}", key), *value);
}

Result<std::unique_ptr<Source>> HooklogReader::open(std::shared_ptr<InputFile> file,
                                                    const OpenOptions& options,
                                                    ProblemLog& problems) {
  std::unique_ptr<HooklogReader> reader(new HooklogReader(problems));
  reader->log_.stop = options.work.stop;
  reader->catalog_.source_path = file->path();
  const std::string_view text = as_text(file->bytes());
  reader->folder_ = options.folder;
  if (reader->folder_ == nullptr && file->path() != "-")
    if (auto named = Folder::named(parent_of(file->path())); named.ok())
      reader->folder_ = std::make_shared<const Folder>(*std::move(named));
  if (text.starts_with("/* CTF")) {
    reader->read_metadata(text);
    if (reader->folder_ != nullptr && file_name_of(file->path()) == kMetadata)
      reader->log_.add_folder(*reader->folder_, problems);
    reader->describe(text);
  } else {
    reader->describe(reader->read_stream(file));
  }
  reader->begin();
  return std::unique_ptr<Source>(std::move(reader));
}

/// One file of a log, alone. Beside it may be what its log says of itself, if it is of that log; it
/// is believed as base/files/open.h has it. Nothing is beside standard input.
std::string HooklogReader::read_stream(const std::shared_ptr<InputFile>& file) {
  const bool piped = file->path() == "-";
  const auto beside =
      piped ? Error{Errc::NotFound, "", {}}
            : InputFile::open_beside(parent_of(file->path()) + "/" + std::string(kMetadata),
                                     file->facts());
  if (beside.ok()) log_.session = read_hooklog_uuid(as_text((*beside)->bytes()));
  log_.add_stream_file(file, problems_);
  const auto without = [&](Severity severity, const std::string& why) {
    log_.session.reset();
    problems_.add({std::nullopt, severity, "no-metadata", why + "; times are not known"});
    return std::string();
  };
  if (!beside.ok() && beside.error().code != Errc::NotFound)
    return without(Severity::Damage, beside.error().message);
  if (!beside.ok()) return without(Severity::Note, "the log's file metadata is not beside it");
  if (!log_.session || log_.all_foreign())
    return without(Severity::Damage, "the file metadata beside it is of another session");
  std::string text(as_text((*beside)->bytes()));
  read_metadata(text);
  return text;
}

void HooklogReader::read_metadata(std::string_view text) {
  clock_ = read_hooklog_clock(text);
  log_.session = read_hooklog_uuid(text);
  if (!clock_)
    problems_.add({std::nullopt, Severity::Damage, "no-clock",
                   "the metadata has no clock that makes sense; times are not known"});
}

void HooklogReader::describe(std::string_view metadata) {
  log_.settle(problems_);
  describe_hooklog(metadata, catalog_);
  if (auto host = read_hooklog_fact(metadata, "hostname")) processes_.set_host(*std::move(host));
  if (const auto begun = log_.begun(); begun && clock_)
    catalog_.began_ns = clock_->time_ns(*begun);
  // Ids are used again. Of one that several processes' threads had, only its events can tell whose
  // it was.
  using Process = std::array<uint64_t, 3>;
  std::map<uint32_t, std::set<Process>> processes;
  for (const auto& [id, stream] : log_.streams)
    for (const HooklogPacket& packet : stream.packets)
      if (const tracewell_packet& head = packet.head; head.tid != 0)
        processes[head.tid].insert({head.pid, head.identity[0], head.identity[1]});
  for (const auto& [thread, all] : processes) {
    threads_ += all.size();
    if (all.size() == 1)
      catalog_.extras.emplace_back(fmt::format("hooklog.thread.{}", thread),
                                   fmt::format("{}", all.begin()->front()));
  }
}

void HooklogReader::begin() {
  cursors_.reserve(log_.streams.size());
  for (const auto& [id, stream] : log_.streams) {
    rings_.push_back(id);
    programs_.know(id);
    HooklogCursor& cursor = cursors_.emplace_back(log_, stream, problems_);
    of_rings_.push_back(cursor.at_end() ? 0 : processes_.of(id.pid, id.run()));
    if (cursor.at_end()) continue;
    processes_.describe(of_rings_.back(), {cursor.head(), cursor.program()}, catalog_.processes);
    queue_.emplace(cursor.ticks(), cursors_.size() - 1);
  }
}

void HooklogReader::number_last(Batch& batch, uint64_t ticks, size_t cursor, bool foreign) {
  Event& event = batch.events().back();
  event.seq = seq_++;
  event.process = of_rings_[cursor];
  if (clock_ && !foreign) event.time_ns = clock_->time_ns(ticks);
}

Result<bool> HooklogReader::next(Batch& batch) {
  batch.clear();
  while (!queue_.empty() && batch.size() < kHooklogBatchEvents) {
    const auto [ticks, index] = queue_.top();
    queue_.pop();
    HooklogCursor& cursor = cursors_[index];
    const bool foreign = cursor.is_foreign();
    if (const uint32_t process = of_rings_[index]; !processes_.is_told(process))
      processes_.tell(process, {cursor.head(), cursor.program()}, seq_, batch);
    if (programs_.add(rings_[index], cursor, batch)) number_last(batch, ticks, index, foreign);
    cursor.take(batch);
    number_last(batch, ticks, index, foreign);
    if (!cursor.at_end()) queue_.emplace(cursor.ticks(), index);
  }
  if (batch.empty()) tell_cut_files();
  return !batch.empty();
}

/// What was cut off while it was read was zeros.
void HooklogReader::tell_cut_files() {
  if (std::exchange(told_cut_, true)) return;
  for (const auto& file : log_.files)
    if (const auto lost = file->lost())
      problems_.add({lost->first, Severity::Damage, "file-shrank",
                     fmt::format("{}: {} bytes could not be read, and were taken as zeros: the "
                                 "file was cut while it was read, or its disk failed",
                                 file->path(), lost->bytes)});
}

std::vector<std::pair<std::string, std::string>> HooklogReader::facts() const {
  uint64_t packets = 0;
  for (const auto& [id, stream] : log_.streams) packets += stream.packets.size();
  return {{"rings", fmt::format("{}", log_.streams.size())},
          {"packets", fmt::format("{}", packets)}};
}

}  // namespace tracewell::formats
