// JSON lines: first the catalog, then one event a line. Written and read; the form for tests, for
// scripts and for hands. docs/formats/jsonl.md
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "base/begin_anew.h"
#include "base/text/text.h"
#include "formats/format.h"
#include "formats/jsonl/event_read.h"
#include "formats/jsonl/gap.h"
#include "formats/jsonl/lines.h"
#include "formats/jsonl/processes.h"
#include "formats/steps/missing_steps.h"
#include "formats/text_lines.h"
#include "model/process_table.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"jsonl", "ndjson"};
constexpr size_t kLossesHeld = 64;
constexpr size_t kLineBytesMax = 64 << 20;
constexpr size_t kCatalogBytesMax = 256 << 20;
constexpr size_t kBatchEvents = 1024;
constexpr size_t kBatchBytes = 1 << 20;  // of text; an event is a few times as large
constexpr size_t kBadBytes = 4 << 20;  // of text that makes no event: signals are heard between
constexpr uint64_t kBatchValueBytes = 4 << 20;  // of registers: any number of times as large

/// `{ "catalog" :` with blanks anywhere.
bool sniff(Bytes head) {
  std::string_view text = as_text(head);
  auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  };
  skip_blanks();
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip_blanks();
  return text.starts_with("\"catalog\"");
}

class JsonlReader final : public Source {
 public:
  static Result<std::unique_ptr<Source>> open(std::shared_ptr<InputFile> file, const OpenOptions&,
                                              ProblemLog& problems) {
    std::unique_ptr<JsonlReader> reader(new JsonlReader(std::move(file), problems));
    const std::string_view first = reader->lines_.take(kCatalogBytesMax);
    if (reader->lines_.is_long())
      return Error{Errc::Limit, "the catalog, which is the first line, has more than 256 MiB", {}};
    TW_ASSIGN_OR_RETURN(reader->catalog_, catalog_from_json(first, problems));
    if (reader->catalog_.source_path.empty())
      reader->catalog_.source_path = reader->lines_.file().path();
    reader->events_.emplace(reader->catalog_);
    reader->gap_.emplace(reader->catalog_);
    reader->processes_.emplace(reader->catalog_);
    return std::unique_ptr<Source>(std::move(reader));
  }

  const Catalog& catalog() const override { return catalog_; }

  Result<bool> next(Batch& batch) override {
    batch.clear();
    const size_t begin = lines_.offset();
    const uint64_t values = events_->value_bytes();
    while (!lines_.done() && batch.size() < kBatchEvents &&
           (batch.empty() || (lines_.offset() - begin < kBatchBytes &&
                              events_->value_bytes() - values < kBatchValueBytes))) {
      const size_t at = lines_.offset();
      const std::string_view line = lines_.take(kLineBytesMax);
      if (line.empty() && !lines_.is_long()) continue;
      const Status read = lines_.is_long() ? Status(Errc::Limit, "it has more than 64 MiB")
                                           : events_->read(line, next_seq_, batch);
      if (read.ok()) {
        processes_->settle(batch, events_->told_pid());
        const Event& last = batch.events().back();
        next_seq_ = last.seq + (std::holds_alternative<Change>(last.body) ? 0 : 1);
        note_loss(at, batch.events().back());
        gap_->tell(batch, events_->told_before());
        continue;
      }
      gap_->add();
      if (batch.empty()) batch.clear();  // of what the line had put there before it failed
      problems_.add({at, Problem::Severity::Damage, "bad-event",
                     fmt::format("line {}: {}; left out", lines_.number(),
                                 read.error().message)});
      if (batch.empty() && lines_.offset() - begin >= kBadBytes) break;
    }
    if (batch.empty() && !lines_.done()) gap_->flush(batch, next_seq_);
    if (lines_.done()) gap_->finish(batch, next_seq_);
    lines_.forget();
    return !batch.empty();
  }

 private:
  /// In a trace of instructions, which its first one shows it to be, if it is no tracepoint's.
  void note_loss(uint64_t offset, const Event& event) {
    const auto* lost = std::get_if<Lost>(&event.body);
    if (lost && losses_.size() < kLossesHeld)
      losses_.push_back(missing_steps(offset, lost->count, event.seq, lost->why));
    has_steps_ |= std::holds_alternative<Step>(event.body);
    has_others_ |= std::holds_alternative<Frame>(event.body) ||
                   std::holds_alternative<Hook>(event.body);
    if (!has_steps_ && !has_others_) return;
    if (has_others_) losses_.clear();
    for (Problem& one : losses_) problems_.add(std::move(one));
    losses_.clear();
  }

  JsonlReader(std::shared_ptr<InputFile> file, ProblemLog& problems)
      : lines_(std::move(file)), problems_(problems) {}

  TextLines lines_;
  ProblemLog& problems_;
  Catalog catalog_;
  std::optional<EventReader> events_;
  std::optional<JsonlGap> gap_;
  std::optional<JsonlProcesses> processes_;
  std::vector<Problem> losses_;  // that nobody knows yet to be of instructions
  bool has_steps_ = false, has_others_ = false;
  uint64_t next_seq_ = 0;
};

class JsonlWriter final : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> create(OutputFile file, const SaveOptions&) {
    return std::unique_ptr<Sink>(new JsonlWriter(std::move(file)));
  }

  Status begin(const Catalog& catalog) override {
    catalog_ = catalog;
    processes_ = ProcessTable(catalog);
    return file_.write(catalog_to_json(catalog) + "\n");
  }

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      line_.clear();
      processes_.learn(event);
      append_event_json(line_, catalog_, event, needs_before(event),
                        processes_.pid(event.process));
      line_ += '\n';
      TW_RETURN_IF_ERROR(file_.write(line_));
    }
    return {};
  }

  Status finish() override { return file_.commit(); }

 private:
  static constexpr size_t kThreadsMax = 1 << 16;  // of more, each step tells it

  explicit JsonlWriter(OutputFile file) : file_(std::move(file)) {}

  /// Is it the first step of its thread behind a loss? It has to say that all else still holds.
  bool needs_before(const Event& event) {
    if (std::holds_alternative<Lost>(event.body)) {
      begin_anew(since_loss_);
      lost_ = true;
    }
    if (!lost_ || !std::holds_alternative<Step>(event.body)) return false;
    return since_loss_.size() >= kThreadsMax || since_loss_.insert(event.tid).second;
  }

  OutputFile file_;
  Catalog catalog_;
  ProcessTable processes_;
  std::string line_;
  std::unordered_set<uint64_t> since_loss_;  // threads with steps
  bool lost_ = false;                        // something, so far
};

}  // namespace

const Format& jsonl_format() {
  static const Format kFormat{"jsonl", kExtensions,       "JSON lines",       false,
                              sniff,   JsonlReader::open, JsonlWriter::create};
  return kFormat;
}

}  // namespace tracewell::formats
