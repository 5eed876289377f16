// GDB trace files: open, walk, search, write again. One that was read without a complaint must
// rewrite to its own bytes, and ever after if it has a trailer of somebody else's making.
#include "format_fuzz.h"
#include "formats/tfile/description.h"
#include "rsp/for_gdb.h"

namespace {

/// Does GDB read all of the description, as we do? Then it may be written again as it is.
bool reads_alike(tracewell::Bytes bytes) {
  using namespace tracewell;
  const std::string_view text = as_text(bytes).substr(formats::kTfileMagic.size());
  ProblemLog problems;
  const auto read =
      formats::read_tfile_description(text.substr(0, text.find("\n\n") + 1), 0, problems);
  return read.is_plain && read.gdb_reads;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracewell;
  const Bytes bytes(data, size);
  auto opened = fuzz::open(bytes, "tfile");
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
    for (const Event& event : batch.events()) fuzz::require(event.seq == frames++);
  }
  fuzz::require(frames == index.count());
  for (const uint64_t from : {uint64_t{0}, frames / 2, frames}) {
    index.find_tracepoint(from, 3);
    if (const auto found = index.find_pc_inside(from, 0x1000, 0x500000)) {
      fuzz::require(*found >= from && *found < frames && index.seek(*found).ok());
      fuzz::require(*source.next(batch) && batch.events()[0].seq == *found);
      fuzz::require(std::get<Frame>(batch.events()[0].body).pc.has_value());
    }
    index.find_pc_outside(from, 0x1000, 0x500000);
  }
  fuzz::require(index.seek(0).ok());
  if (!opened->problems.empty()) {
    static_cast<void>(fuzz::write_away(source, "tfile"));
  } else {
    const std::string again = fuzz::written(source, "tfile");
    // A negative or large number in a definition is no damage, but has no room in a frame.
    if (again.empty()) return 0;
    // A trailer may say the same in many ways, and our writer chooses one. What GDB is not to get
    // of a description, or reads otherwise, is not written again.
    if (!as_text(bytes).ends_with("TWtrail1") && reads_alike(bytes) &&
        rsp::is_fit_for_gdb(source.catalog()))
      fuzz::require(again == as_text(bytes));
    auto reopened = fuzz::open(as_bytes(again), "tfile");
    fuzz::require(reopened && reopened->problems.empty());
    fuzz::require(fuzz::written(*reopened->source, "tfile") == again);
  }
  fuzz::require(index.seek(0).ok());
  fuzz::require(fuzz::write_away(source, "jsonl").ok());
  return 0;
}
