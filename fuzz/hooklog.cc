// Stream files of trace hooks: walk, write as something else; the same bytes as a ring, and as
// metadata.
#include "format_fuzz.h"
#include "formats/hooklog/metadata.h"
#include "formats/hooklog/packets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracewell;
  const Bytes bytes(data, size);
  ProblemLog problems;
  formats::HooklogPackets rings;
  rings.add_ring_file(fuzz::input_of(bytes), "1234-0", problems);
  rings.settle(problems);
  if (const auto clock = formats::read_hooklog_clock(as_text(bytes)))
    fuzz::require(clock->time_ns(0) <= clock->time_ns(UINT64_MAX));
  formats::read_hooklog_fact(as_text(bytes), "command");

  auto opened = fuzz::open(bytes, "hooklog");
  if (!opened) return 0;
  Batch batch;
  uint64_t seq = 0;
  while (true) {
    auto more = opened->source->next(batch);
    fuzz::require(more.ok());
    if (!*more) break;
    fuzz::touch(batch);
    for (const Event& event : batch.events()) fuzz::require(event.seq == seq++);
  }
  // No event without bytes of its own: two losses for each packet, one for each four bytes.
  fuzz::require(seq <= size / 4 + 2);
  fuzz::write_away_in_all([&]() -> Source& {
    opened = fuzz::open(bytes, "hooklog");
    return *opened->source;
  });
  return 0;
}
