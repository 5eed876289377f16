#include "target/recorded/libraries.h"

#include <fmt/format.h>

#include "base/text/xml.h"

namespace tracewell::target {

bool is_pe(const symbols::MappedImage& mapped) {
  return mapped.image->facts().format == symbols::ImageFacts::Format::Pe;
}

std::string libraries_svr4(const symbols::ImageMap& images, const symbols::MappedImage* program) {
  std::string out = "<library-list-svr4 version=\"1.0\">";
  for (const symbols::MappedImage& mapped : images.images()) {
    const symbols::ImageFacts& facts = mapped.image->facts();
    if (&mapped == program || (!facts.dynamic && !is_pe(mapped))) continue;
    const uint64_t dynamic = facts.dynamic ? mapped.at(*facts.dynamic) : 0;
    // GDB 13 drops a list without `lmid`, the name space: all are in the first one.
    out += fmt::format(
        "<library name=\"{}\" lm=\"0x{:x}\" l_addr=\"0x{:x}\" l_ld=\"0x{:x}\" lmid=\"0x0\"/>",
        escape_xml(mapped.image->path()), mapped.start(), mapped.bias, dynamic);
  }
  return out + "</library-list-svr4>";
}

std::string library_list(const symbols::ImageMap& images, const symbols::MappedImage* program) {
  std::string out = "<library-list>";
  for (const symbols::MappedImage& mapped : images.images()) {
    if (&mapped == program || !is_pe(mapped)) continue;
    out += fmt::format("<library name=\"{}\"><segment address=\"0x{:x}\"/></library>",
                       escape_xml(mapped.image->path()),
                       mapped.at(mapped.image->facts().first_section));
  }
  return out + "</library-list>";
}

}  // namespace tracewell::target
