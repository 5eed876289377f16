#include "cli/trace_files.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/folder.h"
#include "base/open.h"
#include "base/owners.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/spool.h"
#include "cli/terminal.h"
#include "filter/select.h"
#include "formats/hooklog.h"
#include "timeline/timeline.h"

namespace tracewell::cli {
namespace {

/// Passes events on and looks after the user.
class WatchedSource final : public Source {
 public:
  WatchedSource(std::unique_ptr<Source> source, const ProblemLog& problems, bool strict,
                std::string_view what)
      : source_(std::move(source)), problems_(problems), strict_(strict), progress_(what) {}

  const Catalog& catalog() const override { return source_->catalog(); }

  Result<bool> next(Batch& batch) override {
    if (interrupted() != 0) return {Errc::Io, "interrupted"};
    auto more = source_->next(batch);
    if (strict_) TW_RETURN_IF_ERROR(problems_.strict());
    if (strict_ && more.ok() && !*more) TW_RETURN_IF_ERROR(no_lost_files());
    if (more.ok()) progress_.at(done_ += batch.size());
    return more;
  }

 private:
  std::unique_ptr<Source> source_;
  const ProblemLog& problems_;
  bool strict_;
  Progress progress_;
  uint64_t done_ = 0;
};

std::string readable_formats() {
  std::string out;
  for (const formats::Format* format : formats::formats())
    if (format->open) out += (out.empty() ? "" : ", ") + std::string(format->name);
  return out;
}

CLI::Option* number_option(CLI::App& app, const std::string& name, const std::string& description,
                           std::function<void(uint64_t)> take) {
  return app
      .add_option_function<std::string>(
          name,
          [take = std::move(take), name](const std::string& text) {
            const auto number = parse_number(text);
            if (!number)
              throw CLI::ValidationError(name, fmt::format("not a number: {}{}", printable(text),
                                                           hex_hint(text)));
            take(*number);
          },
          description)
      ->type_name("N");
}

}  // namespace

CLI::Option* add_number_option(CLI::App& app, const std::string& name, uint64_t& value,
                               const std::string& description) {
  return number_option(app, name, description, [&value](uint64_t number) { value = number; });
}

CLI::Option* add_number_option(CLI::App& app, const std::string& name,
                               std::optional<uint64_t>& value, const std::string& description) {
  return number_option(app, name, description, [&value](uint64_t number) { value = number; });
}

void add_input_options(CLI::App& app, InputOptions& options) {
  app.add_option("FILE", options.path, "the trace; - is standard input")->required();
  add_reading_options(app, options);
}

void add_reading_options(CLI::App& app, InputOptions& options) {
  app.add_option("--input-format", options.format,
                 "what FILE is, when its content does not say: " + readable_formats())
      ->type_name("NAME");
  app.add_option("--endian", options.endian,
                 "byte order of the trace, when nothing in it says: little or big")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"little", "big"}));
  app.add_flag("--strict", options.strict, "fail at the first sign of damage");
}

void add_selection_options(CLI::App& app, SelectionOptions& options) {
  add_number_option(app, "--from", options.from, "begin with event (or step) N");
  add_number_option(app, "--to", options.to, "end with event (or step) N");
  app.add_option(
         "--where", options.where,
         "only events for which this holds, such as 'tracepoint == 2 && $rax != 0' or 'mnemonic =~ "
         "\"^j\" && pc in 0x401000..0x401fff'; fields: step (or seq), tid, cpu, time_ns, "
         "tracepoint, pc, kind, id, subhook, mnemonic, disassembly, module, symbol, text, "
         "$REGISTER, $REGISTER.before, read, write, access (of memory), such as "
         "write[0x7000..0x7fff] == 1")
      ->type_name("EXPR")
      ->check([](const std::string& text) {
        const bool blank = text.find_first_not_of(" \t\r\n") == text.npos;
        return std::string(blank ? "nothing is asked; wanted is such as 'pc == 0x401000'" : "");
      });
}

std::optional<Sidecar> sidecar_of(const InputFile& trace) {
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
  fmt::print(stderr, "tracewell: {}; it is {}\n", printable(there.error().message),
             own ? "made anew" : "not used");
  if (!own) return std::nullopt;
  return out;
}

namespace {

/// Says the first time that a text was not searched to its end.
std::function<void(size_t, size_t)> tells_cut_searches() {
  return [told = false](size_t bytes, size_t searched) mutable {
    if (std::exchange(told, true)) return;
    fmt::print(stderr,
               "tracewell: --where: a text has {} bytes, and a pattern as large as this one is "
               "looked for in the first {}; what stands behind those is not found, nor in other "
               "such texts\n",
               bytes, searched);
  };
}

/// Says the first time that names were not searched to their end because of all those before.
std::function<void(size_t, size_t)> tells_spent_searches() {
  return [told = false](size_t bytes, size_t searched) mutable {
    if (std::exchange(told, true)) return;
    fmt::print(stderr,
               "tracewell: --where: a pattern is so hard to search, and the names of addresses are "
               "so long, that searches have used up the time that they have for so short a trace; "
               "of a name of {} bytes the first {} are searched, and so of others from here on; a "
               "simpler pattern finds more\n",
               bytes, searched);
  };
}

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

Result<OpenTrace> open_trace(const InputOptions& options, const OpenWatch& watch) {
  OpenTrace trace;
  trace.problems = std::make_unique<ProblemLog>();
  const auto is_trace = [&](Bytes head) {
    return !options.format.empty() || formats::sniff_format(head) != nullptr;
  };
  Spool spool;
  if (watch.spool && options.path == "-") {
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
  Progress progress("reading", trace.file->bytes().size(), watch.lines);
  open_options.progress = [&progress](uint64_t done) { progress.at(done); };
  open_options.stop = [] { return interrupted() != 0; };
  std::optional<timeline::KeptNotes> kept;
  if (options.path != "-" && !folder) trace.sidecar = sidecar_of(*trace.file);
  const auto& sidecar = trace.sidecar;
  if (sidecar && !watch.anew)
    kept = timeline::read_notes(sidecar->path, trace.file->bytes(), sidecar->trace.facts.changed_ns,
                                sidecar->trace.facts);
  if (kept && !kept->notes.empty()) open_options.notes = {kept->notes, kept->trace_bytes};
  open_options.notes_refused = [sidecar] {
    fmt::print(stderr, "tracewell: {}: not what was noted of this trace; it is read anew\n",
               printable(sidecar->path));
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

Result<std::unique_ptr<Source>> select_events(std::unique_ptr<Source> source,
                                              const SelectionOptions& selection,
                                              const ProblemLog& problems, bool strict,
                                              std::string_view what,
                                              filter::AddressWords words) {
  TW_RETURN_IF_ERROR(check_range(selection.from, selection.to));
  filter::Selection wanted{selection.from, selection.to, std::nullopt, selection.tells_gaps,
                           selection.gaps, tells_forgotten(), [] { return interrupted() != 0; }};
  if (!selection.where.empty()) {
    TW_ASSIGN_OR_RETURN(wanted.where,
                        filter::Expression::parse(selection.where, source->catalog(),
                                                  std::move(words)));
    wanted.where->watch({.stop = wanted.stop,
                         .cut = tells_cut_searches(),
                         .spent = tells_spent_searches(),
                         .untold = [asked = selection.asked] { ++asked->untold; }});
    selection.asked->numbers = wanted.where->spelled_numbers();
    selection.asked->symbols = wanted.where->wanted_symbols();
    note_words(*wanted.where, *selection.asked);
    if (wanted.where->names("module"))
      for (const Module& one : source->catalog().modules)
        if (!one.is_placed()) selection.asked->unplaced.push_back(one.path);
  }
  selection.asked->from = selection.from;
  selection.asked->to = selection.to;
  if (selection.selects()) source = observed(std::move(source), selection.asked);
  return std::unique_ptr<Source>(std::make_unique<WatchedSource>(
      filter::select(std::move(source), std::move(wanted)), problems, strict, what));
}

std::function<void()> tells_forgotten() {
  return [told = false]() mutable {
    if (std::exchange(told, true)) return;
    fmt::print(stderr,
               "tracewell: more threads than registers are kept of: from time to time those of "
               "all threads are taken as not known until steps tell them again\n");
  };
}

Result<bool> CountingSource::next(Batch& batch) {
  auto more = source_->next(batch);
  count_ += static_cast<uint64_t>(std::ranges::count_if(batch.events(), [](const Event& event) {
    const auto* mark = std::get_if<Mark>(&event.body);
    return mark == nullptr || !mark->session;
  }));
  return more;
}

void tell_other_name(const std::string& output, const formats::Format& format,
                     std::string_view machine) {
  if (format.name != "trace64") return;
  const bool wide = machine == "x86-64";
  if (!wide && machine != "i386") return;
  if (!output.ends_with(wide ? ".trace32" : ".trace64")) return;
  fmt::print(stderr,
             "tracewell: {}: this is {} code in spite of the name; x64dbg looks for it in {} "
             "files\n",
             printable(output), wide ? "64-bit" : "32-bit", wide ? ".trace64" : ".trace32");
}

void tell_left_out(const Sink& sink, const std::string& name) {
  for (const std::string& line : sink.left_out())
    fmt::print(stderr, "tracewell: {}: {}\n", printable(name), printable(line));
}

void add_csv_safe(CLI::App& app, bool& safe) {
  app.add_flag("--csv-safe", safe,
               "csv: a ' before texts that a spreadsheet would take for formulas");
}

Status check_csv_safe(bool safe, std::string_view format) {
  if (!safe || format == "csv") return {};
  return {Errc::InvalidArgument,
          fmt::format("--csv-safe is of csv, and this is {}", printable(format))};
}

Result<std::unique_ptr<Sink>> create_sink(const formats::Format& format, const std::string& path,
                                          const formats::SaveOptions& options) {
  if (!format.create)
    return Error{Errc::Unsupported, fmt::format("format {} cannot be written", format.name), {}};
  if (format.binary && is_output(path) && output_is_terminal())
    return Error{Errc::InvalidArgument,
                 fmt::format("{} is binary; not written to a terminal", format.description),
                 {}};
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path));
  return format.create(std::move(file), options);
}

}  // namespace tracewell::cli
