// Symbols, lines and names from outside: whatever the bytes are, asking what addresses are called
// gives an answer, and soon. They are taken as a whole ELF file, as a section of line numbers, and
// as a C++ name.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "symbols/dwarf/line_table.h"
#include "symbols/image.h"
#include "symbols/names.h"
#include "symbols/names/demangle.h"
#include "symbols/names/range_index.h"

namespace {

using namespace tracewell;

constexpr uint64_t kProbes = 64;

void ask_image(const uint8_t* data, size_t size) {
  auto owner = std::make_shared<std::vector<uint8_t>>(data, data + size);
  auto image = symbols::Image::parse(*owner, owner, "fuzz");
  if (!image) return;
  const auto names = symbols::Names::read(*image, "");
  const symbols::ImageFacts& facts = (*image)->facts();
  for (uint64_t i = 0; i < kProbes; ++i) {
    const uint64_t address = facts.link_base + facts.span_bytes / kProbes * i;
    names->function_at(address);
    names->object_at(address);
    names->line_at(address);
  }
}

void ask_lines(const uint8_t* data, size_t size) {
  symbols::RangeIndex code;
  code.add(0, UINT64_MAX, 0);
  code.build();
  symbols::LineSections sections;
  sections.line = sections.texts = sections.line_texts = {data, size};
  sections.endian = size % 2 == 0 ? Endian::Little : Endian::Big;
  symbols::LineTable lines;
  symbols::Work work(symbols::LineTable::kWorkMax);
  lines.read(sections, code, work);
  for (uint64_t i = 0; i < kProbes; ++i) lines.find(i * i * i);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ask_image(data, size);
  ask_lines(data, size);
  symbols::demangled(as_text({data, size}));
  return 0;
}
