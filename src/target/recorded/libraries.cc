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

std::string libraries_svr4(const symbols::ImageMap& images, const symbols::MappedImage* program) {
  std::string out = "<library-list-svr4 version=\"1.0\">";
  for (const symbols::MappedImage& mapped : images.images()) {
    const symbols::ImageFacts& facts = mapped.image->facts();
    std::string name;
    if (&mapped == program || !facts.dynamic) continue;
    if (!append_attribute(name, mapped.image->path())) continue;
    out += fmt::format("<library name=\"{}\" lm=\"0x{:x}\" l_addr=\"0x{:x}\" l_ld=\"0x{:x}\"/>",
                       name, mapped.start(), mapped.bias, mapped.at(*facts.dynamic));
  }
  return out + "</library-list-svr4>";
}

}  // namespace tracewell::target
