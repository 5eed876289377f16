// tracewell convert IN OUT: any format that can be read to any that can be written.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "filter/step_frames.h"
#include "filter/step_notes.h"
#include "filter/step_numbers.h"
#include "formats/steps/module_map.h"
#include "formats/trace64/blocks/stored.h"
#include "trace/images/image_code.h"
#include "trace/images/image_modules.h"
#include "trace/images/image_names.h"
#include "trace/note_count.h"
#include "trace/notes_file.h"
#include "trace/place.h"

namespace tracewell::cli {
namespace {

struct ConvertOptions {
  trace::InputOptions input;
  trace::SelectionOptions selection;
  trace::ImageOptions images;
  std::string output;
  std::string format;
  formats::SaveOptions save;
  std::optional<std::vector<std::string>> at;  // lists of addresses
  std::vector<std::string> modules;
  bool mark_gaps = false;

  /// As one list.
  std::string all_at() const {
    std::string out;
    for (const std::string& list : *at) out += (out.empty() ? "" : ",") + list;
    return out;
  }
};

/// Of formats that say no more than which places of modules were executed.
bool is_coverage(const formats::Format& format) {
  return format.name == "drcov" || format.name == "modoff";
}

/// Of formats whose steps begin with the instruction's bytes.
bool needs_opcodes(const formats::Format& format) { return format.name == "trace64"; }

Status check_opcode(const Event& event, const ConvertOptions& options) {
  const auto* step = std::get_if<Step>(&event.body);
  if (step == nullptr || !step->opcode.empty() || formats::is_stored_without_opcode(*step))
    return {};
  const std::string what =
      fmt::format("{} does not tell the opcode of step {} at {:#x}, and a trace64 has all opcodes",
                  options.input.path, event.seq, step->pc);
  return {Errc::Unsupported,
          what + (options.images.any()
                      ? "; none of the images has it: give another --image FILE@BASE, or leave "
                        "such steps out by --where disassembly"
                      : "; --image FILE@BASE, the program that was traced, has it")};
}

/// Ends with an error, before anything is written over, where nothing has come that is worth it.
class WantedEvents final : public Source {
 public:
  /// Why nothing has come, and what to write then: "" = it is written nevertheless.
  using Why = std::function<std::string(const WantedEvents&)>;
  using Check = std::function<Status(const Event&)>;
  WantedEvents(std::unique_ptr<Source> source, Check check, Why why)
      : source_(std::move(source)),
        check_(std::move(check)),
        why_(std::move(why)),
        modules_(source_->catalog()) {}
  const Catalog& catalog() const override { return source_->catalog(); }
  Result<bool> next(Batch& batch) override {
    auto more = source_->next(batch);
    for (const Event& event : batch.events()) {
      if (check_) TW_RETURN_IF_ERROR(check_(event));
      const auto* mark = std::get_if<Mark>(&event.body);
      if (mark == nullptr || !mark->session) ++events_;
      if (std::holds_alternative<Frame>(event.body)) ++frames_;
      if (const auto* step = std::get_if<Step>(&event.body); step && !in_module_)
        in_module_ = modules_.find(step->pc).has_value();
    }
    if (!more.ok() || *more) return more;
    if (std::string why = why_(*this); !why.empty()) return {Errc::NotFound, std::move(why)};
    return more;
  }
  uint64_t events() const { return events_; }  // without the marks of sessions
  uint64_t frame_count() const { return frames_; }
  bool any_in_module() const { return in_module_; }

 private:
  std::unique_ptr<Source> source_;
  Check check_;
  Why why_;
  formats::ModuleMap modules_;
  uint64_t events_ = 0, frames_ = 0;
  bool in_module_ = false;
};

std::vector<std::string> writable_formats() {
  std::vector<std::string> out;
  for (const formats::Format* format : formats::formats())
    if (format->create) out.emplace_back(format->name);
  return out;
}

Result<const formats::Format*> output_format(const ConvertOptions& options) {
  const formats::Format* format = options.format.empty()
                                      ? formats::find_format_for_path(options.output)
                                      : formats::find_format(options.format);
  if (!format)
    return Error{
        Errc::InvalidArgument,
        options.format.empty()
            ? fmt::format("the name {} does not say in which format to write; use --format "
                          "with one of {}",
                          options.output, fmt::join(writable_formats(), ", "))
            : fmt::format("there is no format {}; use one of {}", options.format,
                          fmt::join(writable_formats(), ", ")),
        {}};
  return format;
}

/// Of options that only one format has. (The others mark gaps anyway.)
void tell_ignored(const ConvertOptions& options, const formats::Format& format) {
  std::string names;
  const auto add = [&](bool given, std::string_view name) {
    if (given) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  add(!options.save.style.empty(), "--style");
  add(options.save.compat, "--compat");
  add(options.mark_gaps, "--mark-gaps");
  if (!names.empty())
    fmt::print(stderr, "tracewell: {}: {} changes nothing: that is of trace64, and this is {}\n",
               printable(options.output), names, format.name);
}

void tell_gaps(const ConvertOptions& options, const trace::SelectionOptions& selection) {
  if (selection.tells_gaps || *selection.gaps == 0) return;
  fmt::print(stderr,
             "tracewell: {}: {} between steps {} not marked: each step seems to go on to the "
             "next one that is left; --mark-gaps marks them, by a full dump each\n",
             printable(options.output), counted(*selection.gaps, "gap"),
             *selection.gaps == 1 ? "is" : "are");
}

/// Why OUT is better left as it is; "" when it is to be written.
std::string why_not(const ConvertOptions& options, const formats::Format& format,
                    const WantedEvents& events) {
  std::string why;
  const bool selects = options.selection.selects();
  if (options.at && events.frame_count() != 0 && !options.selection.asked->steps)
    why = "--at chooses among steps, and this trace has none";
  else if (options.at && events.frame_count() == 0)
    why = (selects ? trace::why_nothing(options.selection, " --at " + options.all_at())
                   : "no step is at " + options.all_at()) +
          trace::hex_hint(options.all_at());
  else if (selects && events.events() == 0)
    why = trace::why_nothing(options.selection);
  else if (is_coverage(format) && !events.any_in_module())
    return "no executed instruction is in a module whose place is known; say where they were: "
           "--image FILE@BASE, or --module NAME@BASE,SIZE";
  if (why.empty() || options.output == "-") return why;
  return fmt::format("{}; {} is not written", why, options.output);
}

Result<std::vector<uint64_t>> parse_addresses(const std::string& text,
                                              const trace::AddressNames& names,
                                              uint32_t address_bytes) {
  std::vector<uint64_t> out;
  for (std::string_view one : split(text, ',')) {
    if (const auto number = parse_number(one)) {
      out.push_back(*number);
      continue;
    }
    if (one.empty() || !names.places)
      return {Errc::InvalidArgument,
              fmt::format("--at: not an address: {}; give numbers, decimal or 0x…, with commas "
                          "between, or with --image names{}",
                          one.empty() ? "(nothing)" : printable(one), trace::hex_hint(one))};
    TW_ASSIGN_OR_RETURN(const trace::GivenPlace place,
                        trace::parse_place("--at", one, names, address_bytes));
    out.push_back(place.address);
  }
  return out;
}

/// The trace learns of its modules and instructions what images and --module say of them.
Result<trace::AddressNames> add_images(trace::OpenTrace& trace, const trace::ImageOptions& options,
                                       std::span<const Module> modules, const Work& work) {
  if (!options.any() && modules.empty()) return trace::AddressNames();
  TW_ASSIGN_OR_RETURN(const symbols::ImageMap images,
                      trace::place_images(trace.source->catalog(), options, work));
  trace.source = trace::with_checked_code(std::move(trace.source), images, work);
  trace.source = trace::with_image_modules(std::move(trace.source), images, modules, work);
  if (options.any()) trace.source = trace::with_image_opcodes(std::move(trace.source), images);
  return trace::image_names(images, work);
}

Result<int> convert(const ConvertOptions& options) {
  TW_ASSIGN_OR_RETURN(const formats::Format* format, output_format(options));
  TW_RETURN_IF_ERROR(check_csv_safe(options.save.csv_safe, format->name));
  if (options.output != "-" && is_same_file(options.input.path, options.output))
    return {Errc::InvalidArgument,
            fmt::format("{} and {} are the same file; give another one to write",
                        printable(options.input.path), printable(options.output))};
  std::vector<Module> modules;
  for (const std::string& text : options.modules) {
    TW_ASSIGN_OR_RETURN(Module module, trace::parse_module(text));
    modules.push_back(std::move(module));
  }
  const Work work = command_work();
  TW_ASSIGN_OR_RETURN(trace::OpenTrace trace,
                      trace::open_trace(options.input, work, {.anew = true}));
  TW_ASSIGN_OR_RETURN(const trace::AddressNames names,
                      add_images(trace, options.images, modules, work));
  std::vector<uint64_t> at;
  if (options.at) {
    TW_ASSIGN_OR_RETURN(at, parse_addresses(options.all_at(), names,
                                            trace.source->catalog().address_bytes));
  }
  const trace::TraceNotes notes = trace::notes_of(trace, options.input.path, work);
  trace::NoteCount note_count;
  trace.source = filter::with_step_numbers(std::move(trace.source));
  trace.source = note_count.of_all(
      filter::with_notes(std::move(trace.source), notes.notes, notes.beside), notes.notes);
  // Of a trace64 each costs a full dump, so that a part would be larger than the whole.
  const bool dear = format->name == "trace64";
  if (!dear) tell_ignored(options, *format);
  trace::SelectionOptions selection = options.selection;
  selection.tells_gaps = options.mark_gaps || !dear;
  selection.gaps = std::make_shared<uint64_t>(0);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source,
                      trace::select_events(std::move(trace.source), selection, *trace.problems,
                                           options.input.strict, "converting", work,
                                           {names.module, names.symbol}));
  source = note_count.of_selected(std::move(source));
  if (options.at && !selection.selects())
    source = trace::observed(std::move(source), selection.asked);
  if (options.at || format->name == "tfile") {
    TW_ASSIGN_OR_RETURN(source, filter::frames_of_steps(std::move(source), std::move(at),
                                                      trace::tells_forgotten(work)));
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink,
                      create_sink(*format, options.output, options.save));
  for (const std::string& refused : sink->refuses(source->catalog()))
    fmt::print(stderr, "tracewell: {}: {}\n", printable(options.output), printable(refused));
  tell_other_name(options.output, *format, source->catalog().machine);
  WantedEvents::Check check;
  if (needs_opcodes(*format))
    check = [&](const Event& event) { return check_opcode(event, options); };
  WantedEvents wanted(std::move(source), std::move(check), [&](const WantedEvents& events) {
    return why_not(options, *format, events);
  });
  const Status done = pump(wanted, *sink);
  tell_problems(trace, options.input.path);
  tell_losses(trace, options.selection, options.input.path);
  if (!done.ok()) return done.error();
  tell_left_out(*sink, options.output);
  if (selection.asked->steps) note_count.tell(options.output, work);
  tell_gaps(options, selection);
  return static_cast<int>(kOk);
}

}  // namespace

Run convert_command(OptionTable& table) {
  auto options = std::make_shared<ConvertOptions>();
  add_input_options(table, options->input);
  const std::vector<std::string> formats = writable_formats();
  table.add({
      {.names = "OUT",
       .to = &options->output,
       .what = "where to write; - is standard output",
       .completes = Completes::File,
       .required = true},
      {.names = "--format",
       .to = &options->format,
       .value = "NAME",
       .what = fmt::format("format of OUT, when its name does not say: {}",
                           fmt::join(formats, ", ")),
       .choices = formats,
       .open = true},
  });
  add_image_options(table, options->images,
                    "where the trace's modules were, how large they are, and instructions that the "
                    "trace does not tell");
  table.add({{.names = "--module",
              .to = &options->modules,
              .value = "NAME@BASE,SIZE",
              .what = "where a module was whose file is not at hand, and its size in bytes"}});
  add_selection_options(table, options->selection);
  table.footer =
      "Exit status: 1 when nothing fits --from, --to, --where or --at, or no instruction is "
      "in a module (drcov, modoff); 3 also when steps lack what OUT's format cannot do "
      "without (trace64: opcodes). OUT is left as it was then.";
  table.add({
      {.names = "--at",
       .to = &options->at,
       .value = "ADDR,...",
       .what = "steps become trace frames: those at these addresses (into a tfile, all do "
               "without)"},
      {.names = "--mark-gaps",
       .to = &options->mark_gaps,
       .what = "trace64: say where --where has left out steps (other formats always do)"},
  });
  add_csv_safe(table, options->save.csv_safe);
  table.add({
      {.names = "--compat",
       .to = &options->save.compat,
       .what = "write so that older readers open it (trace64: no user blocks, a small header)"},
      {.names = "--style",
       .to = &options->save.style,
       .value = "NAME",
       .what = "trace64: minimal, or x64dbg (words listed twice, as x64dbg does it; the default "
               "for what comes from it)",
       .choices = {"minimal", "x64dbg"},
       .open = true},
  });
  return [options](const Invocation&) {
    const auto status = convert(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
