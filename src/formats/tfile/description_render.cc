// Writing the description section: GDB's order of lines, and its limits.
#include <fmt/format.h>

#include "base/text/message.h"
#include "base/text/text.h"
#include "base/text/xml.h"
#include "formats/tfile/as_gdb.h"
#include "formats/tfile/description.h"
#include "machine/tdesc.h"
#include "rsp/definitions.h"
#include "rsp/for_gdb.h"
#include "rsp/status.h"

namespace tracewell::formats {
namespace {

// "tp Z<8 digits>:<16 digits>:<type>:<8 digits>:<8 digits>:" and two digits a byte within a line.
constexpr size_t kSourceChunk = 460;
// "tp T<8 digits>:<16 digits>:E:<16 digits>:<16 digits>:X<3 digits>," before it.
constexpr size_t kConditionMax = 460;
constexpr std::string_view kTdescWord = "tdesc ";

class DescriptionWriter {
 public:
  explicit DescriptionWriter(std::vector<std::string>* left_out) : left_out_(left_out) {}

  void line(std::string_view text) {
    if (printable_length(text) == text.size())
      append(text);
    else
      leave_out(text, "it would act on the terminal on which GDB shows it");
  }

  void unknown_line(std::string_view text) {
    if (is_line_that_gdb_only_shows(text) || printable_length(text) != text.size())
      line(text);
    else if (!text.empty())
      leave_out(text, "GDB would do more than show it");
  }

  /// The XML, line by line. A long line is broken at a blank, where XML does not mind.
  void target_description(std::string_view xml) {
    constexpr size_t kMax = kTfileLineMax - kTdescWord.size();
    while (!xml.empty()) {
      std::string_view one = take_until(xml, '\n');
      while (one.size() > kMax) {
        const size_t blank = one.rfind(' ', kMax);
        if (blank == std::string_view::npos || blank == 0) break;
        append(fmt::format("{}{}", kTdescWord, one.substr(0, blank)));
        one.remove_prefix(blank + 1);
      }
      append(fmt::format("{}{}", kTdescWord, one));
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void append(std::string_view text) {
    if (text.size() > kTfileLineMax || text.find('\n') != std::string_view::npos)
      return leave_out(text, "GDB could not read it");
    out_ += text;
    out_ += '\n';
  }

  void leave_out(std::string_view text, std::string_view why) {
    if (left_out_)
      left_out_->push_back(fmt::format("a line of {} characters is left out, {}: {}…", text.size(),
                                       why, printable(text.substr(0, 60))));
  }

  std::vector<std::string>* left_out_;
  std::string out_;
};

/// The line that defines it has to be there, even without its condition: GDB does not survive what
/// else is said of a tracepoint that nothing defines.
TracepointDef as_gdb_reads(const TracepointDef& tracepoint) {
  TracepointDef out = rsp::for_gdb(tracepoint, {.piece_bytes = kSourceChunk});
  if (out.condition.size() > kConditionMax) out.condition.clear();
  return out;
}

const std::string* find_extra(const Catalog& catalog, std::string_view key) {
  for (const auto& [name, value] : catalog.extras)
    if (name == key) return &value;
  return nullptr;
}

}  // namespace

std::string render_tfile_description(const Catalog& catalog, std::vector<std::string>* left_out) {
  DescriptionWriter out(left_out);
  out.line(fmt::format("R {:x}", catalog.registers.size_bytes));
  out.target_description(catalog.target_description.empty()
                             ? machine::render_tdesc(catalog.registers, catalog.machine)
                             : plain_xml(catalog.target_description));
  if (catalog.status)
    out.line("status " + rsp::format_status_tfile(rsp::for_gdb(*catalog.status)));
  for (const VariableDef& variable : catalog.variables)
    out.line("tsv " + rsp::format_variable(rsp::for_gdb(variable)));
  for (const TracepointDef& tracepoint : catalog.tracepoints)
    for (const std::string& piece : rsp::format_pieces(as_gdb_reads(tracepoint), kSourceChunk))
      out.line("tp " + piece);
  for (const auto& [key, value] : catalog.extras)
    if (key == kTfileLine) out.unknown_line(value);
  return out.take();
}

std::string tfile_description_for(const Catalog& catalog) {
  std::string rendered = render_tfile_description(catalog);
  const std::string* raw = find_extra(catalog, kTfileRaw);
  if (!raw || raw->starts_with("\n") || raw->find("\n\n") != std::string::npos ||
      !raw->ends_with("\n"))
    return rendered;
  ProblemLog problems;
  TfileDescription read = read_tfile_description(*raw, 0, problems);
  // Before it is settled to be what the frames have: GDB takes blocks of this size.
  const bool has_its_size = read.register_block_bytes.front() == catalog.registers.size_bytes;
  settle_tfile_layout(read, catalog.endian, catalog.registers.size_bytes);
  // What we do not understand of it GDB may.
  const bool is_understood = read.gdb_reads && read.is_plain && has_its_size;
  const bool is_same = render_tfile_description(read.catalog) == rendered;
  return is_same && is_understood && rsp::is_fit_for_gdb(read.catalog) ? *raw : rendered;
}

}  // namespace tracewell::formats
