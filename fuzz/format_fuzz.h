// What the fuzz targets of formats share: sources over bytes, sinks whose bytes can be looked at.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "formats/format.h"

namespace tracewell::fuzz {

inline void require(bool good) {
  if (!good) std::abort();
}

/// The bytes as a mapped file without a name.
inline std::shared_ptr<InputFile> input_of(Bytes bytes) {
  const UniqueFd fd(memfd_create("input", MFD_CLOEXEC));
  require(fd.valid());
  require(write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  auto file = InputFile::open("/proc/self/fd/" + std::to_string(fd.get()));
  require(file.ok());
  return *std::move(file);
}

struct Opened {
  ProblemLog problems;
  std::unique_ptr<Source> source;
};

inline std::unique_ptr<Opened> open(Bytes bytes, const char* format) {
  auto opened = std::make_unique<Opened>();
  auto source = formats::open_source(input_of(bytes), format, {}, opened->problems);
  if (!source.ok()) return nullptr;
  opened->source = *std::move(source);
  return opened;
}

/// Everything the source gives, through a sink of `format`, into a file that is thrown away.
inline Status write_away(Source& source, const char* format) {
  auto file = OutputFile::create("/dev/null");
  require(file.ok());
  auto sink = formats::find_format(format)->create(*std::move(file), {});
  require(sink.ok());
  (*sink)->refuses(source.catalog());
  return pump(source, **sink);
}

/// The same, and the bytes; empty when the sink refused.
inline std::string written(Source& source, const char* format) {
  static const std::string path = "/dev/shm/format_fuzz." + std::to_string(getpid());
  auto file = OutputFile::create(path);
  require(file.ok());
  auto sink = formats::find_format(format)->create(*std::move(file), {});
  require(sink.ok());
  if (!pump(source, **sink).ok()) return "";
  auto back = InputFile::open(path);
  require(back.ok());
  std::string out(as_text((*back)->bytes()));
  unlink(path.c_str());
  return out;
}

/// Touches every byte that an event lends, so that the sanitizer sees those that are not there.
inline uint64_t touch(const Batch& batch) {
  uint64_t sum = 0;
  for (const Event& event : batch.events()) {
    const auto* frame = std::get_if<Frame>(&event.body);
    if (!frame) continue;
    for (const FrameBlock& block : frame->blocks)
      for (const uint8_t byte : block.bytes) sum += byte;
    for (const uint8_t byte : frame->registers_valid) sum += byte;
  }
  return sum;
}

}  // namespace tracewell::fuzz
