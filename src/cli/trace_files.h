// What the commands that read a trace file have in common: its options, opening it, telling what is
// wrong with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/beside.h"
#include "base/file.h"
#include "cli/lost_events.h"
#include "filter/expression.h"
#include "formats/format.h"
#include "model/problem.h"
#include "model/stream.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tracewell::cli {

struct InputOptions {
  std::string path;
  std::string format;  // empty = by content
  std::string endian;  // "", "little", "big"
  bool strict = false;
  /// The folder that `path` was found in, which is then a trace's folder; nullptr = `path` is the
  /// operator's.
  std::shared_ptr<const Folder> found_in = {};
};
/// FILE, --input-format, --endian, --strict.
void add_input_options(CLI::App& app, InputOptions& options);
/// The same without FILE.
void add_reading_options(CLI::App& app, InputOptions& options);

/// What a selection was made from: to say why it left nothing.
struct AskedEvents {
  std::optional<uint64_t> last;  // the largest number; none = there are no events
  bool steps = false;            // the events are executed instructions
  std::vector<filter::Expression::Spelled> numbers;  // of --where
  std::vector<std::string> symbols;   // that --where compares by ==
  std::vector<std::string> unplaced;  // modules, if --where asks for some
  std::vector<std::string> words;     // of --where, that not all events have
  bool frames = false, hooks = false;              // there are some
  bool tid = false, cpu = false, time_ns = false;  // some event has it
  uint64_t untold = 0;  // times that a step did not tell what it left in a register of --where
  uint64_t from = 0, to = UINT64_MAX;
  LostEvents lost;  // between these
};

struct SelectionOptions {
  uint64_t from = 0;
  uint64_t to = UINT64_MAX;
  std::string where;
  bool tells_gaps = false;         // by events, as filter::Selection has it
  std::shared_ptr<uint64_t> gaps;  // their number
  std::shared_ptr<AskedEvents> asked = std::make_shared<AskedEvents>();  // is filled on the way
  /// Was anything asked for? Then nothing left is told by the exit status.
  bool selects() const { return from != 0 || to != UINT64_MAX || !where.empty(); }
};
/// Of one that left nothing, and why: "no step fits --where 'pc == 401010'; is 401010 hexadecimal?
/// …". Once the selected events have been read (no_answer.cc). `more`: what else was
/// asked, " --at 1".
std::string why_nothing(const SelectionOptions& selection, std::string_view more = {});
/// What to say to somebody who may have meant a hexadecimal number: "; is 401000 hexadecimal? Then
/// it is 0x401000". "" when it cannot be one.
std::string hex_hint(std::string_view text);
/// InvalidArgument when nothing can be between them: "--from 9 is behind --to 5".
Status check_range(uint64_t from, uint64_t to);
/// --from, --to, --where.
void add_selection_options(CLI::App& app, SelectionOptions& options);

/// An option that takes a number, decimal or 0x….
CLI::Option* add_number_option(CLI::App& app, const std::string& name, uint64_t& value,
                               const std::string& description);

CLI::Option* add_number_option(CLI::App& app, const std::string& name,
                               std::optional<uint64_t>& value, const std::string& description);

/// The index of a trace of steps is in a file beside it, FILE.tidx.
struct Sidecar {
  std::string path;
  Original trace;  // the trace's own file
};
/// None of what is not a file, and none where one is that is not believed (base/open.h); that is
/// told on standard error.
std::optional<Sidecar> sidecar_of(const InputFile& trace);

/// For whoever opens a trace while somebody else waits.
struct OpenWatch {
  bool lines = false;  // progress as whole lines, where standard error is no terminal
  bool spool = false;  // what comes from a pipe is put into a file without a name, and mapped
  bool anew = false;   // what an index beside it tells of the file is not believed
  const std::atomic<bool>* stop = nullptr;  // becomes true: nobody waits any more
  /// Becomes true before a file is begun that an end in the middle would leave behind.
  std::atomic<bool>* writes = nullptr;
};

struct OpenTrace {
  std::unique_ptr<ProblemLog> problems;  // the source writes to it
  std::shared_ptr<InputFile> file;
  const formats::Format* format = nullptr;
  std::unique_ptr<Source> source;
  std::optional<Sidecar> sidecar;
};
Result<OpenTrace> open_trace(const InputOptions& options, const OpenWatch& watch = {});
/// What open_trace() would say at once of a file that is not there, or is no trace: for whoever
/// opens it later. What may be read only once is not looked at: then there is no format.
Result<const formats::Format*> is_openable(const InputOptions& options);
/// Cuts and selects, watches for problems (`strict`: the first one ends the stream with an error)
/// and shows progress under the name `what`. `problems` must outlive the result. What an
/// InterruptGuard saw ends the stream with an error. `words`: what --where may ask of addresses.
Result<std::unique_ptr<Source>> select_events(std::unique_ptr<Source> source,
                                              const SelectionOptions& selection,
                                              const ProblemLog& problems, bool strict,
                                              std::string_view what,
                                              filter::AddressWords words = {});

/// Which words --where has that not all events have.
void note_words(const filter::Expression& where, AskedEvents& asked);
/// The same events; what goes by is noted (no_answer.cc).
std::unique_ptr<Source> observed(std::unique_ptr<Source> source,
                                 std::shared_ptr<AskedEvents> asked);

/// For whoever keeps registers of threads: says the first time that there are too many.
std::function<void()> tells_forgotten();

/// Counts the events that go through, but for the marks of sessions, which answer nothing.
class CountingSource final : public Source {
 public:
  explicit CountingSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  const Catalog& catalog() const override { return source_->catalog(); }
  Result<bool> next(Batch& batch) override;
  uint64_t count() const { return count_; }

 private:
  std::unique_ptr<Source> source_;
  uint64_t count_ = 0;
};

/// To standard error: the first few of each kind, and how many there are of it (tell_problems.cc).
void tell_problems(const OpenTrace& trace, const std::string& path);
/// Also those notes that say that steps are missing: an answer may be among these.
void tell_missing_steps(const OpenTrace& trace, const std::string& path);
/// What a trace has lost of events that might have been chosen: the first few places.
void tell_lost_events(const LostEvents& lost, const std::string& path);
/// Both, where --where chooses.
void tell_losses(const OpenTrace& trace, const SelectionOptions& selection,
                 const std::string& path);
/// Adds to the problems what files lack that they had when they were opened (InputFile::lost()):
/// the trace, its index, images. For when all was read; tell_problems() does it, too.
void note_lost_bytes(const OpenTrace& trace);
/// It is a trace, and its loss that trace's problem; open_trace() says so.
void note_trace_file(const InputFile& file);
/// At the end of a command: what was not told by then, to standard error. Since the answer may be
/// wrong then, the result is no good status if a trace was asked; else it is `status`.
int tell_lost_files(int status);
/// Corrupt when anything was lost, told or not: for --strict.
Status no_lost_files();
/// That x64dbg looks for code of this machine in files of another name than this one.
void tell_other_name(const std::string& output, const formats::Format& format,
                     std::string_view machine);
/// What the sink left out indeed, to standard error, under the name of its output.
void tell_left_out(const Sink& sink, const std::string& name);
/// "warning frame-cut at 0x12: text", for people and scripts.
std::string problem_line(const Problem& problem);

/// --csv-safe, and whether it fits the format that is written.
void add_csv_safe(CLI::App& app, bool& safe);
Status check_csv_safe(bool safe, std::string_view format);
/// Opens `path` ("-": standard output) for `format`. Refuses binary on a terminal.
Result<std::unique_ptr<Sink>> create_sink(const formats::Format& format, const std::string& path,
                                          const formats::SaveOptions& options = {});

}  // namespace tracewell::cli
