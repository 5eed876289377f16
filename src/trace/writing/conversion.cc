#include "trace/writing/conversion.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "filter/step_frames.h"
#include "filter/step_notes.h"
#include "filter/step_numbers.h"
#include "formats/trace64/blocks/stored.h"
#include "trace/images/image_code.h"
#include "trace/images/image_modules.h"
#include "trace/images/image_names.h"
#include "trace/note_count.h"
#include "trace/notes_file.h"
#include "trace/place.h"
#include "trace/told_problems.h"
#include "trace/writing/output.h"
#include "trace/writing/wanted_events.h"

namespace tracewell::trace {
namespace {

/// Of formats that say no more than which places of modules were executed.
bool is_coverage(const formats::Format& format) {
  return format.name == "drcov" || format.name == "modoff";
}

/// Of formats whose steps begin with the instruction's bytes.
bool needs_opcodes(const formats::Format& format) { return format.name == "trace64"; }

/// Of formats that mark a gap by a full dump, so that a part would be larger than the whole.
bool marks_dearly(const formats::Format& format) { return format.name == "trace64"; }

Status check_opcode(const Event& event, const Conversion& conversion) {
  const auto* step = std::get_if<Step>(&event.body);
  if (step == nullptr || !step->opcode.empty() || formats::is_stored_without_opcode(*step))
    return {};
  const std::string what =
      fmt::format("{} does not tell the opcode of step {} at {:#x}, and a trace64 has all opcodes",
                  conversion.input.path, event.seq, step->pc);
  return {Errc::Unsupported,
          what + (conversion.images.any()
                      ? "; none of the images has it: give another --image FILE@BASE, or leave "
                        "such steps out by --where disassembly"
                      : "; --image FILE@BASE, the program that was traced, has it")};
}

/// Of options that only one format has. (The others mark gaps anyway.)
void tell_ignored(const Conversion& conversion, const formats::Format& format, const Work& work) {
  std::string names;
  const auto add = [&](bool given, std::string_view name) {
    if (given) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  add(!conversion.save.style.empty(), "--style");
  add(conversion.save.compat, "--compat");
  add(conversion.mark_gaps, "--mark-gaps");
  if (!names.empty())
    work.tell(fmt::format("{}: {} changes nothing: that is of trace64, and this is {}",
                          printable(conversion.output), names, format.name));
}

void tell_gaps(const std::string& output, const SelectionOptions& selection, const Work& work) {
  if (selection.tells_gaps || *selection.gaps == 0) return;
  work.tell(fmt::format(
      "{}: {} between steps {} not marked: each step seems to go on to the next one that is left; "
      "--mark-gaps marks them, by a full dump each",
      printable(output), counted(*selection.gaps, "gap"), *selection.gaps == 1 ? "is" : "are"));
}

/// Why the output is better left as it is; "" when it is to be written.
std::string why_not(const Conversion& conversion, const formats::Format& format,
                    const WantedEvents& events) {
  std::string why;
  const SelectionOptions& selection = conversion.selection;
  const bool selects = selection.selects();
  if (conversion.at && events.frame_count() != 0 && !selection.asked->steps)
    why = "--at chooses among steps, and this trace has none";
  else if (conversion.at && events.frame_count() == 0)
    why = (selects ? why_nothing(selection, " --at " + *conversion.at)
                   : "no step is at " + *conversion.at) +
          hex_hint(*conversion.at);
  else if (selects && events.events() == 0)
    why = why_nothing(selection);
  else if (is_coverage(format) && !events.any_in_module())
    return "no executed instruction is in a module whose place is known; say where they were: "
           "--image FILE@BASE, or --module NAME@BASE,SIZE";
  if (why.empty() || conversion.output == "-") return why;
  return fmt::format("{}; {} is not written", why, conversion.output);
}

Result<std::vector<uint64_t>> parse_addresses(const std::string& text, const AddressNames& names,
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
                          one.empty() ? "(nothing)" : printable(one), hex_hint(one))};
    TW_ASSIGN_OR_RETURN(const GivenPlace place, parse_place("--at", one, names, address_bytes));
    out.push_back(place.address);
  }
  return out;
}

/// The trace learns of its modules and instructions what images and `modules` say of them.
Result<AddressNames> add_images(OpenTrace& trace, const ImageOptions& options,
                                std::span<const Module> modules, const Work& work) {
  if (!options.any() && modules.empty()) return AddressNames();
  TW_ASSIGN_OR_RETURN(const symbols::ImageMap images,
                      place_images(trace.source->catalog(), options, work));
  trace.source = with_checked_code(std::move(trace.source), images, work);
  trace.source = with_image_modules(std::move(trace.source), images, modules, work);
  if (options.any()) trace.source = with_image_opcodes(std::move(trace.source), images);
  return image_names(images, work);
}

/// What is to be written, and what is known of it when it was.
struct ChosenEvents {
  OpenTrace trace;
  SelectionOptions selection;  // with what was found out about gaps
  NoteCount notes;
  std::unique_ptr<Source> source;
};

Result<ChosenEvents> choose(const Conversion& conversion, const formats::Format& format,
                            const Work& work) {
  std::vector<Module> modules;
  for (const std::string& text : conversion.modules) {
    TW_ASSIGN_OR_RETURN(Module module, parse_module(text));
    modules.push_back(std::move(module));
  }
  ChosenEvents out;
  TW_ASSIGN_OR_RETURN(out.trace, open_trace(conversion.input, work, {.anew = true}));
  OpenTrace& trace = out.trace;
  TW_ASSIGN_OR_RETURN(const AddressNames names,
                      add_images(trace, conversion.images, modules, work));
  std::vector<uint64_t> at;
  if (conversion.at) {
    TW_ASSIGN_OR_RETURN(at, parse_addresses(*conversion.at, names,
                                            trace.source->catalog().address_bytes));
  }
  const TraceNotes notes = notes_of(trace, conversion.input.path, work);
  trace.source = filter::with_step_numbers(std::move(trace.source));
  trace.source = out.notes.of_all(
      filter::with_notes(std::move(trace.source), notes.notes, notes.beside), notes.notes);
  if (!marks_dearly(format)) tell_ignored(conversion, format, work);
  out.selection = conversion.selection;
  out.selection.tells_gaps = conversion.mark_gaps || !marks_dearly(format);
  out.selection.gaps = std::make_shared<uint64_t>(0);
  TW_ASSIGN_OR_RETURN(out.source,
                      select_events(std::move(trace.source), out.selection, *trace.problems,
                                    conversion.input.strict, "converting", work,
                                    {names.module, names.symbol}));
  out.source = out.notes.of_selected(std::move(out.source));
  if (conversion.at && !out.selection.selects())
    out.source = observed(std::move(out.source), out.selection.asked);
  if (conversion.at || format.name == "tfile") {
    TW_ASSIGN_OR_RETURN(out.source, filter::frames_of_steps(std::move(out.source), std::move(at),
                                                            tells_forgotten(work)));
  }
  return out;
}

}  // namespace

Status convert(const Conversion& conversion, const formats::Format& format, const Work& work) {
  const std::string& output = conversion.output;
  if (output != "-" && is_same_file(conversion.input.path, output))
    return {Errc::InvalidArgument,
            fmt::format("{} and {} are the same file; give another one to write",
                        printable(conversion.input.path), printable(output))};
  TW_ASSIGN_OR_RETURN(ChosenEvents chosen, choose(conversion, format, work));
  const Catalog& catalog = chosen.source->catalog();
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink,
                      create_sink(format, output, conversion.save));
  for (const std::string& refused : sink->refuses(catalog))
    work.tell(fmt::format("{}: {}", printable(output), printable(refused)));
  tell_other_name(output, format, catalog.machine, work);
  WantedEvents::Check check;
  if (needs_opcodes(format))
    check = [&](const Event& event) { return check_opcode(event, conversion); };
  WantedEvents wanted(std::move(chosen.source), std::move(check), [&](const WantedEvents& events) {
    return why_not(conversion, format, events);
  });
  const Status done = pump(wanted, *sink);
  tell_problems(chosen.trace, conversion.input.path, work);
  tell_losses(chosen.trace, chosen.selection, conversion.input.path, work);
  TW_RETURN_IF_ERROR(done);
  tell_left_out(*sink, output, work);
  if (chosen.selection.asked->steps) chosen.notes.tell(output, work);
  tell_gaps(output, chosen.selection, work);
  return {};
}

}  // namespace tracewell::trace
