// What the fuzz targets of formats share: sources over bytes, sinks whose bytes can be looked at.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "model/catalog.h"

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

inline std::unique_ptr<Opened> open(Bytes bytes, std::string_view format) {
  auto opened = std::make_unique<Opened>();
  auto source = formats::open_source(input_of(bytes), format, {}, opened->problems);
  if (!source.ok()) return nullptr;
  opened->source = *std::move(source);
  return opened;
}

/// Everything the source gives, through a sink of `format`, into a file that is thrown away.
inline Status write_away(Source& source, std::string_view format) {
  auto file = OutputFile::create("/dev/null");
  require(file.ok());
  auto sink = formats::find_format(format)->create(*std::move(file), {});
  require(sink.ok());
  (*sink)->refuses(source.catalog());
  TW_RETURN_IF_ERROR(pump(source, **sink));
  (*sink)->left_out();
  return {};
}

/// The same in each format that can be written. Most of them refuse some traces. `source` is called
/// for each, and gives one that stands at the start.
template <class GiveSource>
void write_away_in_all(GiveSource&& source) {
  for (const formats::Format* format : formats::formats())
    if (format->create) static_cast<void>(write_away(source(), format->name));
}

/// The same, and the bytes; empty when the sink refused.
inline std::string written(Source& source, std::string_view format) {
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

inline uint64_t sum_of(Bytes bytes) {
  uint64_t sum = 0;
  for (const uint8_t byte : bytes) sum += byte;
  return sum;
}

/// Touches every byte that an event lends, so that the sanitizer sees those that are not there.
inline uint64_t touch(const Batch& batch) {
  uint64_t sum = 0;
  for (const Event& event : batch.events()) {
    if (const auto* frame = std::get_if<Frame>(&event.body)) {
      for (const FrameBlock& block : frame->blocks) sum += sum_of(block.bytes);
      sum += sum_of(frame->registers_valid);
    } else if (const auto* step = std::get_if<Step>(&event.body)) {
      sum += sum_of(step->opcode);
      for (const auto& change : step->before) sum += sum_of(change.value);
      for (const auto& change : step->registers) sum += sum_of(change.value);
      for (const auto& access : step->memory)
        sum += sum_of(access.old_bytes) + sum_of(access.new_bytes);
    } else if (const auto* mark = std::get_if<Mark>(&event.body)) {
      sum += sum_of(as_bytes(mark->text));
    } else if (const auto* change = std::get_if<Change>(&event.body)) {
      sum += sum_of(as_bytes(change->text));
      if (change->process) sum += sum_of(as_bytes(change->process->image));
      if (change->module) sum += sum_of(as_bytes(change->module->path));
    }
  }
  return sum;
}

}  // namespace tracewell::fuzz
