// Writing the description section: GDB's order of lines, and its limits.
#include <fmt/format.h>

#include "base/text.h"
#include "formats/tfile_description.h"
#include "machine/tdesc.h"
#include "rsp/definitions.h"
#include "rsp/status.h"

namespace tracewell::formats {
namespace {

// "tp Z<8 digits>:<16 digits>:<type>:<8 digits>:<8 digits>:" and two digits a byte within a line.
constexpr size_t kSourceChunk = 460;
constexpr std::string_view kTdescWord = "tdesc ";

class DescriptionWriter {
 public:
  explicit DescriptionWriter(std::vector<std::string>* left_out) : left_out_(left_out) {}

  void line(std::string_view text) {
    if (text.size() <= kTfileLineMax && text.find('\n') == std::string_view::npos) {
      out_ += text;
      out_ += '\n';
    } else if (left_out_) {
      left_out_->push_back(
          fmt::format("a line of {} characters is left out, GDB could not read it: "
                      "{}…",
                      text.size(), printable(text.substr(0, 60))));
    }
  }

  /// The XML, line by line. A long line is broken at a blank, where XML does not mind.
  void target_description(std::string_view xml) {
    constexpr size_t kMax = kTfileLineMax - kTdescWord.size();
    while (!xml.empty()) {
      std::string_view one = take_until(xml, '\n');
      while (one.size() > kMax) {
        const size_t blank = one.rfind(' ', kMax);
        if (blank == std::string_view::npos || blank == 0) break;
        line(fmt::format("{}{}", kTdescWord, one.substr(0, blank)));
        one.remove_prefix(blank + 1);
      }
      line(fmt::format("{}{}", kTdescWord, one));
    }
  }

  std::string take() { return std::move(out_); }

 private:
  std::vector<std::string>* left_out_;
  std::string out_;
};

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
                             : catalog.target_description);
  if (catalog.status) out.line("status " + rsp::format_status_tfile(*catalog.status));
  for (const VariableDef& variable : catalog.variables)
    out.line("tsv " + rsp::format_variable(variable));
  for (const TracepointDef& tracepoint : catalog.tracepoints)
    for (const std::string& piece : rsp::format_pieces(tracepoint, kSourceChunk))
      out.line("tp " + piece);
  for (const auto& [key, value] : catalog.extras)
    if (key == kTfileLine && !value.empty()) out.line(value);
  return out.take();
}

std::string tfile_description_for(const Catalog& catalog) {
  std::string rendered = render_tfile_description(catalog);
  const std::string* raw = find_extra(catalog, kTfileRaw);
  if (!raw || raw->starts_with("\n") || raw->find("\n\n") != std::string::npos ||
      !raw->ends_with("\n"))
    return rendered;
  ProblemLog ignored;
  TfileDescription read = read_tfile_description(*raw, 0, ignored);
  settle_tfile_layout(read, catalog.endian, catalog.registers.size_bytes);
  return render_tfile_description(read.catalog) == rendered ? *raw : rendered;
}

}  // namespace tracewell::formats
