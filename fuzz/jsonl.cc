// JSON lines: open, walk, write in every format. What was read and written once reads and writes
// the same ever after.
#include "format_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracewell;
  auto first = fuzz::open({data, size}, "jsonl");
  if (!first) return 0;
  const std::string once = fuzz::written(*first->source, "jsonl");
  auto second = fuzz::open(as_bytes(once), "jsonl");
  fuzz::require(second != nullptr);
  fuzz::require(fuzz::written(*second->source, "jsonl") == once);
  fuzz::write_away_in_all([&]() -> Source& {
    second = fuzz::open(as_bytes(once), "jsonl");
    return *second->source;
  });
  return 0;
}
