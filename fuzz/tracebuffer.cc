// Files of trace buffers: open, walk, search, write as something else.
#include "format_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracewell;
  auto opened = fuzz::open({data, size}, "tracebuffer");
  if (!opened) return 0;
  Source& source = *opened->source;
  FrameIndex& index = *source.frames();
  Batch batch;
  uint64_t frames = 0;
  while (true) {
    auto more = source.next(batch);
    fuzz::require(more.ok());
    if (!*more) break;
    fuzz::touch(batch);
    for (const Event& event : batch.events()) {
      fuzz::require(event.seq == frames++);
      fuzz::require(std::holds_alternative<Frame>(event.body));
    }
  }
  fuzz::require(frames == index.count());
  for (const uint64_t from : {uint64_t{0}, frames / 2, frames}) {
    index.find_tracepoint(from, 3);
    if (const auto found = index.find_pc_inside(from, 0x1000, 0x500000)) {
      fuzz::require(*found >= from && *found < frames && index.seek(*found).ok());
      fuzz::require(*source.next(batch) && batch.events()[0].seq == *found);
    }
    index.find_pc_outside(from, 0x1000, 0x500000);
  }
  fuzz::write_away_in_all([&]() -> Source& {
    fuzz::require(index.seek(0).ok());
    return source;
  });
  return 0;
}
