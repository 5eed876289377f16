#include "target/recorded/libraries.h"

#include <fmt/format.h>

namespace tracewell::target {
namespace {

/// False for a name that XML cannot hold; such a library cannot be told.
bool append_attribute(std::string& out, std::string_view text) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) return false;
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return true;
}

}  // namespace

bool is_pe(const symbols::MappedImage& mapped) {
  return mapped.image->facts().format == symbols::ImageFacts::Format::Pe;
}

std::string libraries_svr4(const symbols::ImageMap& images, const symbols::MappedImage* program) {
  std::string out = "<library-list-svr4 version=\"1.0\">";
  for (const symbols::MappedImage& mapped : images.images()) {
    const symbols::ImageFacts& facts = mapped.image->facts();
    std::string name;
    if (&mapped == program || (!facts.dynamic && !is_pe(mapped))) continue;
    if (!append_attribute(name, mapped.image->path())) continue;
    const uint64_t dynamic = facts.dynamic ? mapped.at(*facts.dynamic) : 0;
    // GDB 13 drops a list without `lmid`, the name space: all are in the first one.
    out += fmt::format(
        "<library name=\"{}\" lm=\"0x{:x}\" l_addr=\"0x{:x}\" l_ld=\"0x{:x}\" lmid=\"0x0\"/>",
        name, mapped.start(), mapped.bias, dynamic);
  }
  return out + "</library-list-svr4>";
}

std::string library_list(const symbols::ImageMap& images, const symbols::MappedImage* program) {
  std::string out = "<library-list>";
  for (const symbols::MappedImage& mapped : images.images()) {
    std::string name;
    if (&mapped == program || !is_pe(mapped)) continue;
    if (!append_attribute(name, mapped.image->path())) continue;
    out += fmt::format("<library name=\"{}\"><segment address=\"0x{:x}\"/></library>", name,
                       mapped.at(mapped.image->facts().first_section));
  }
  return out + "</library-list>";
}

}  // namespace tracewell::target
