// The file that a live trace buffer is in, as its agent left it or as it is just now.
//
// What is odd about it: whoever wrote it may have been killed between any two instructions, and may
// also be writing still. Frames are published one by one (ring/layout.h), so those that are counted
// are whole; in a circular buffer that is in use, they may be gone by the time they are read.
#include "base/text/text.h"
#include "formats/format.h"
#include "formats/tracebuffer/reader.h"
#include "formats/tracebuffer/walker.h"
#include "ring/layout.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"twb"};

bool sniff(Bytes head) {
  return as_text(head).starts_with({ring::kMagic, sizeof ring::kMagic});
}

Result<std::unique_ptr<Source>> open_tracebuffer(std::shared_ptr<InputFile> file,
                                                 const OpenOptions& options,
                                                 ProblemLog& problems) {
  const bool in_use = file->is_locked();
  const auto version = tracebuffer_version(file->bytes());
  if (version == ring::version_1::kVersion)
    return TracebufferReader::open(std::move(file), in_use, options, problems);
  return TracebufferWalker::open(std::move(file), in_use, options, problems);
}

}  // namespace

const Format& tracebuffer_format() {
  static const Format kFormat{.name = "tracebuffer",
                              .extensions = kExtensions,
                              .description = "the file of a live trace buffer",
                              .sniff = sniff,
                              .open = open_tracebuffer};
  return kFormat;
}

}  // namespace tracewell::formats
