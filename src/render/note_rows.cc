#include "render/note_rows.h"

#include <fmt/format.h>

#include "base/text/text.h"
#include "formats/json/text.h"

namespace tracewell::render {

std::string note_row(const trace::NotedStep& noted, bool json) {
  const Note& note = noted.note;
  if (!json)
    return fmt::format("step {}  {}  {}", note.step,
                       noted.behind_last ? "behind the last one"
                                         : fmt::format("pc {:#x}", noted.pc),
                       printable(note.text));
  std::string out =
      fmt::format("{{\"step\":{},\"tid\":{},\"pc\":{},\"text\":", note.step,
                  noted.tid != 0 ? fmt::format("{}", noted.tid) : "null",
                  noted.behind_last ? "null" : fmt::format("\"{:#x}\"", noted.pc));
  formats::append_json_text(out, note.text);
  return out + "}";
}

}  // namespace tracewell::render
