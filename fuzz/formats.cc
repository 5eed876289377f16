// Every format of the table that can be read: open, walk, write in every format. What a text format
// has written once, it reads and writes the same ever after.
#include <algorithm>

#include "format_fuzz.h"

namespace {

using namespace tracewell;

void try_as(Bytes bytes, const formats::Format& format) {
  auto opened = fuzz::open(bytes, format.name);
  if (!opened) return;
  Batch batch;
  while (true) {
    auto more = opened->source->next(batch);
    fuzz::require(more.ok());
    if (!*more) break;
    fuzz::require(!batch.empty());
    fuzz::touch(batch);
  }
  fuzz::write_away_in_all([&]() -> Source& {
    opened = fuzz::open(bytes, format.name);
    return *opened->source;
  });
  if (format.binary || !format.create) return;
  opened = fuzz::open(bytes, format.name);
  const std::string once = fuzz::written(*opened->source, format.name);
  if (once.empty()) return;
  auto again = fuzz::open(as_bytes(once), format.name);
  fuzz::require(again != nullptr);
  fuzz::require(fuzz::written(*again->source, format.name) == once);
}

}  // namespace

/// As what it looks like; what looks like nothing, as everything.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes(data, size);
  const formats::Format* known =
      formats::sniff_format(bytes.first(std::min(size, formats::kSniffBytes)));
  for (const formats::Format* format : formats::formats())
    if (format->open && (!known || known == format)) try_as(bytes, *format);
  return 0;
}
