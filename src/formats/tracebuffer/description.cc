#include "formats/tracebuffer/description.h"

#include <string>

#include "formats/tfile/description.h"
#include "formats/tfile/trailer.h"

namespace tracewell::formats {

std::vector<uint8_t> tracebuffer_description(const Catalog& catalog) {
  const std::string text = render_tfile_description(catalog);
  std::vector<uint8_t> out(text.begin(), text.end());
  TfileTrailerWriter trailer;
  trailer.begin(catalog, text);
  const std::vector<uint8_t> more = trailer.render();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace tracewell::formats
