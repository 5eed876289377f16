#include <algorithm>
#include <bit>

#include "formats/tfile/points.h"
#include "formats/tfile/trailer.h"
#include "formats/tfile/trailer_format.h"

namespace tracewell::formats {

using namespace trailer;

namespace {

void put_trailer_text(ByteWriter& out, std::string_view text) {
  out.uint(text.size(), 4);
  out.bytes(as_bytes(text));
}

}  // namespace

void TfileTrailerWriter::begin(const Catalog& catalog, std::string_view description) {
  auxv_ = catalog.auxv;
  const std::string points = tfile_points_beside(catalog, description);
  points_.assign(points.begin(), points.end());
  register_count_ = catalog.registers.registers.size();
  mask_bytes_ = (register_count_ + 7) / 8;
  ByteWriter out(modules_, Endian::Little);
  for (const Module& module : catalog.modules) {
    out.uint(module.bias, 8);
    out.uint(module.start, 8);
    out.uint(module.size_bytes, 8);
    put_trailer_text(out, module.path);
    put_trailer_text(out, module.build_id);
  }
  whose_.begin(catalog);
}

/// The section has room for one, and no frame has any for whose it is.
std::vector<uint8_t> TfileTrailerWriter::process() const {
  std::vector<uint8_t> out;
  const Process* const one = whose_.find();
  if (one == nullptr) return out;
  ByteWriter to(out, Endian::Little);
  to.uint((one->start_ns ? kStartKnown : 0) | (one->id ? kIdKnown : 0), 4);
  to.uint(one->pid, 4);
  to.uint(one->start_ns.value_or(0), 8);
  const ProcessId id = one->id.value_or(ProcessId{});
  to.uint(id.high, 8);
  to.uint(id.low, 8);
  to.uint(one->parent, 4);
  for (const std::string& text : {one->host, one->boot, one->image}) put_trailer_text(to, text);
  return out;
}

Result<uint32_t> TfileTrailerWriter::mask_index(Bytes mask) {
  if (mask.empty() || mask_bytes_ == 0) return 0u;
  std::string padded(as_text(mask.subspan(0, std::min(mask.size(), mask_bytes_))));
  padded.resize(mask_bytes_, '\0');  // what a mask does not mention was not collected
  size_t collected = 0;
  for (const char byte : padded) collected += std::popcount(static_cast<uint8_t>(byte));
  if (collected >= register_count_) return 0u;  // all of them: the same as no mask
  const auto found = mask_table_.find(padded);
  if (found != mask_table_.end()) return found->second;
  if (mask_table_.size() >= UINT32_MAX - 1 || masks_.size() + mask_bytes_ > kMaskBytesMax)
    return Error{Errc::Limit, "too many different register masks", {}};
  masks_.insert(masks_.end(), padded.begin(), padded.end());
  const auto index = static_cast<uint32_t>(mask_table_.size() + 1);
  mask_table_.emplace(std::move(padded), index);
  return index;
}

void TfileTrailerWriter::append_frame(const TfileTrailer::Frame& frame, uint32_t mask) {
  ByteWriter out(frames_, Endian::Little);
  out.uint(static_cast<uint64_t>(frame.time_ns.value_or(kNoTime)), 8);
  out.uint(frame.tid, 8);
  out.uint(static_cast<uint32_t>(frame.cpu), 4);
  out.uint(mask, 4);
}

Status TfileTrailerWriter::add(const Event& event, const Frame& frame,
                               std::optional<uint64_t> derived_pc) {
  const uint64_t seq = plain_frames_ + frames_.size() / TfileTrailer::kFrameBytes;
  whose_.take(event.process);
  if (frame.pc && frame.pc != derived_pc) {
    ByteWriter out(pcs_, Endian::Little);
    out.uint(seq, 8);
    out.uint(*frame.pc, 8);
  }
  const bool has_registers = find_block(frame, FrameBlock::Kind::Registers) != nullptr;
  TW_ASSIGN_OR_RETURN(const uint32_t mask,
                      mask_index(has_registers ? frame.registers_valid : Bytes()));
  const bool plain = !event.time_ns && event.tid == 0 && event.cpu == -1 && mask == 0;
  if (plain && frames_.empty()) {
    ++plain_frames_;
    return {};
  }
  // The first frame with something to say brings those before it along.
  for (; plain_frames_ > 0; --plain_frames_) append_frame({}, 0);
  append_frame({event.time_ns, event.tid, event.cpu, {}}, mask);
  return {};
}

std::vector<uint8_t> TfileTrailerWriter::render() const {
  std::vector<uint8_t> masks;
  if (!masks_.empty()) {
    ByteWriter(masks, Endian::Little).uint(mask_bytes_, 4);
    masks.insert(masks.end(), masks_.begin(), masks_.end());
  }
  const std::vector<uint8_t> whose = process();
  const std::pair<std::string_view, const std::vector<uint8_t>*> sections[] = {
      {kAuxv, &auxv_}, {kModules, &modules_}, {kFrames, &frames_}, {kMasks, &masks},
      {kPcs, &pcs_},   {kPoints, &points_},   {kProcess, &whose}};
  std::vector<uint8_t> out;
  std::vector<uint8_t> table;
  ByteWriter entries(table, Endian::Little);
  uint32_t count = 0;
  for (const auto& [tag, content] : sections) {
    if (content->empty()) continue;
    entries.bytes(as_bytes(tag));
    entries.uint(out.size(), 8);
    entries.uint(content->size(), 8);
    out.insert(out.end(), content->begin(), content->end());
    ++count;
  }
  if (count == 0) return {};
  out.insert(out.end(), table.begin(), table.end());
  const uint64_t length = out.size() + kFooterBytes;
  ByteWriter footer(out, Endian::Little);
  footer.uint(kVersion, 4);
  footer.uint(count, 4);
  footer.uint(length, 8);
  footer.uint(checksum(out), 8);
  footer.bytes(as_bytes(kMagic));
  return out;
}

}  // namespace tracewell::formats
