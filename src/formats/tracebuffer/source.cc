#include "formats/tracebuffer/source.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "formats/tfile/description.h"
#include "formats/tfile/points.h"
#include "formats/tfile/trailer.h"
#include "formats/tracebuffer/description.h"
#include "machine/tdesc.h"
#include "rsp/frames.h"

namespace tracewell::formats {
namespace {

using Severity = Problem::Severity;

constexpr size_t kDescriptionBytesMax = 16 << 20;

}  // namespace

void TracebufferSource::tell_cut(const TracebufferParts& parts) {
  const uint64_t whole = parts.whole_bytes(), there = file_->bytes().size();
  // Its server may have made it longer since it was opened, and makes it shorter never.
  if (whole == 0 || in_use_) return;
  problems_.add({there, Severity::Damage, "file-cut",
                 fmt::format("the file was cut: {} of {} bytes are there", there, whole)});
}

void TracebufferSource::read_description(const TracebufferParts& parts, bool has_frames) {
  Bytes text = parts.text();
  if (text.empty() && has_frames && !in_use_)  // in use: it is being emptied
    problems_.add({offsetof(ring::Header, texts), Severity::Damage, "no-description",
                   "nothing says what the frames mean; registers have no names"});
  std::string_view points;
  auto trailer = TfileTrailer::find(text);
  if (!trailer.ok()) {
    problems_.add({parts.text_offset(), Severity::Damage, "trailer", trailer.error().message});
  } else if (*trailer) {
    text = text.subspan(0, (*trailer)->offset());
    const Bytes auxv = (*trailer)->auxv();
    catalog_.auxv.assign(auxv.begin(), auxv.end());
    catalog_.modules = (*trailer)->modules();
    catalog_.processes = (*trailer)->processes();
    points = (*trailer)->tracepoints();
  }
  if (text.size() > kDescriptionBytesMax) {
    problems_.add({parts.text_offset() + kDescriptionBytesMax, Severity::Damage,
                   "description-cut", "the description is too long; the rest is not read"});
    text = text.subspan(0, kDescriptionBytesMax);
  }
  if (!text.empty()) {
    TfileDescription read = read_tfile_description(as_text(text), parts.text_offset(), problems_);
    read.catalog.auxv = std::move(catalog_.auxv);
    read.catalog.modules = std::move(catalog_.modules);
    read.catalog.processes = std::move(catalog_.processes);
    settle_tfile_layout(read, parts.endian(), parts.header().register_block_bytes);
    take_tfile_points(points, read.catalog, problems_);
    catalog_ = std::move(read.catalog);
  }
  catalog_.endian = parts.endian();
  const uint32_t block_bytes = parts.header().register_block_bytes;
  catalog_.registers.size_bytes = std::min(block_bytes, machine::kRegisterBlockBytesMax);
  tell_cut_block(offsetof(ring::Header, register_block_bytes), block_bytes, problems_);
  catalog_.source_path = file_->path();
}

/// What the description said of the frames was true when it was written; the rings know better.
void TracebufferSource::finish_status(const ring::Header& header, uint64_t next) {
  RunStatus status = catalog_.status.value_or(RunStatus{});
  if (status.running)  // the counts are those of its beginning
    for (TracepointDef& one : catalog_.tracepoints) one.usage.reset();
  const bool cut_off = !in_use_ && (status.running || header.abandoned != 0);
  if (cut_off && status.running) status.stop = RunStatus::Stop::Unknown;
  if (cut_off) {
    status.running = false;
    if (status.stop == RunStatus::Stop::Unknown) status.stop_text = "its server was killed";
    problems_.add({std::nullopt, Severity::Note, "agent-killed",
                   fmt::format("server {} was killed, or failed; the {} frames that it had "
                               "committed are here",
                               header.agent_pid, count_)});
  }
  status.frames = count_;
  const uint64_t lost = header.lost;
  status.frames_created = next + std::min(lost, UINT64_MAX - next);
  status.buffer_size = header.data_bytes;
  status.buffer_free = header.data_bytes - std::min(kept_bytes_, header.data_bytes);
  catalog_.status = std::move(status);
  catalog_.extras.emplace_back(kTracebufferAgent, fmt::format("{}", header.agent_pid));
  catalog_.extras.emplace_back(kTracebufferInUse, in_use_ ? "yes" : "no");
}

std::vector<std::pair<std::string, std::string>> TracebufferSource::facts() const {
  if (saved_bytes_ <= kept_bytes_) return {};
  return {{"saved", fmt::format("the frames take {} bytes when they are saved, and {} here",
                                saved_bytes_, kept_bytes_)}};
}

Status TracebufferSource::seek(uint64_t seq) {
  if (seq > count_) return Error{Errc::NotFound, fmt::format("there is no frame {}", seq), {}};
  next_ = seq;
  return {};
}

Frame TracebufferSource::frame_of(Batch& batch, Bytes data, const ring::FrameShape& shape,
                                  uint64_t pc, const TracebufferParts& parts) {
  blocks_.clear();
  rsp::BlockWalker walker(batch.copy(data), parts.header().register_block_bytes, parts.endian());
  while (auto block = walker.next()) {
    if (block->kind == FrameBlock::Kind::Registers)
      block->bytes = block->bytes.first(catalog_.registers.size_bytes);
    blocks_.push_back(*block);
  }
  Frame frame;
  frame.tracepoint = shape.tracepoint;
  frame.pc = pc;
  frame.blocks = batch.copy_array(std::span<const FrameBlock>(blocks_));
  if (shape.masked != 0 && find_block(frame, FrameBlock::Kind::Registers) != nullptr)
    frame.registers_valid = batch.copy(Bytes(shape.mask));
  return frame;
}

}  // namespace tracewell::formats
