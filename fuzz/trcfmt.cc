// Template files, and entries rendered by them. The input's first byte chooses environment, byte
// order and shape of the entry; text up to the first NUL is the template file, what follows is the
// entry's buffer. Whatever is said of the templates must be printable, compiling twice must give
// the same, and rendering must stay within the entry and within bounds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "report/render/render.h"

using namespace tracewell;
using namespace tracewell::report;

namespace {

void require(bool good) {
  if (!good) std::abort();
}

Entry make_entry(uint8_t mode, Bytes bytes) {
  Entry entry;
  entry.buffer = bytes;
  entry.environment_bits = (mode & 1) != 0 ? 32 : 64;
  entry.endian = (mode & 2) != 0 ? Endian::Big : Endian::Little;
  entry.generic = (mode & 4) != 0;
  entry.type = static_cast<uint16_t>(entry.number_at(0, 2));
  entry.subhook = static_cast<uint16_t>(entry.number_at(2, 2));
  entry.data_bytes = static_cast<uint32_t>(entry.number_at(4, 4));
  entry.time_ns = static_cast<int64_t>(entry.number_at(8, 8));
  entry.process_path = "/bin/fuzz";
  return entry;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<uint8_t>(c) >= 0x20 || c == '\n';
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string_view source = input.substr(0, input.find('\0'));
  // An exact copy, so that the sanitizer sees a read of one byte too many.
  const std::vector<uint8_t> bytes(data + 1 + std::min(source.size() + 1, input.size()),
                                   data + size);

  static const Templates ours;  // compiled once: most inputs are small
  Templates templates = ours;
  const auto said = templates.add("fuzz", source);
  templates.link();
  for (const Diagnostic& one : said) require(is_printable(one.show()));

  const Entry entry = make_entry(data[0], bytes);
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(templates, facts, out);
  for (const TemplateInfo* info : templates.list()) {
    out.clear();
    const Outcome outcome = renderer.render(entry, data[0] >> 4, *info);
    require(outcome != Outcome::Skipped || out.size() == 0);
    require(out.size() <= Renderer::kTextMax + (size_t{1} << 20) + 40 * source.size());
  }
  return 0;
}
