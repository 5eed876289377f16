#include "formats/tfile/trailer.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include <fmt/format.h>

#include "formats/tfile/trailer_format.h"

namespace tracewell::formats {

using namespace trailer;

namespace {

uint64_t number_at(Bytes bytes, size_t offset, size_t size = 8) {
  return load_uint(bytes.data() + offset, size, Endian::Little);
}

Error broken(std::string text) {
  return Error{Errc::Corrupt, "trailer: " + std::move(text), {}};
}

/// Its length stands in front of it.
std::optional<std::string> take_trailer_text(ByteReader& in) {
  const auto length = in.uint(4);
  const auto bytes = length ? in.take(*length) : std::nullopt;
  if (!bytes) return std::nullopt;
  return std::string(as_text(*bytes));
}

}  // namespace

Result<std::optional<TfileTrailer>> TfileTrailer::find(Bytes file) {
  if (file.size() < kFooterBytes) return std::optional<TfileTrailer>();
  const Bytes footer = file.subspan(file.size() - kFooterBytes);
  if (std::memcmp(footer.data() + kFooterBytes - 8, kMagic.data(), 8) != 0)
    return std::optional<TfileTrailer>();
  if (const uint64_t version = number_at(footer, 0, 4); version != kVersion)
    return broken(fmt::format("it is of version {}, and this release reads {}; it is not used",
                              version, kVersion));
  const uint64_t sections = number_at(footer, 4, 4);
  const uint64_t length = number_at(footer, 8);
  if (length > file.size() || length < kFooterBytes) return broken("its length is wrong");
  const Bytes all = file.subspan(file.size() - length);
  if (sections > (length - kFooterBytes) / kEntryBytes) return broken("its sections are too many");
  const size_t table = length - kFooterBytes - sections * kEntryBytes;
  if (checksum(all.subspan(0, length - 16)) != number_at(footer, 16))
    return broken("its checksum is wrong");

  TfileTrailer trailer;
  trailer.offset_ = file.size() - length;
  for (size_t i = 0; i < sections; ++i) {
    const Bytes entry = all.subspan(table + i * kEntryBytes, kEntryBytes);
    const uint64_t offset = number_at(entry, 8);
    const uint64_t size = number_at(entry, 16);
    if (offset > table || size > table - offset) return broken("a section lies outside of it");
    TW_RETURN_IF_ERROR(
        trailer.read_section(as_text(entry.subspan(0, 8)), all.subspan(offset, size)));
  }
  return std::optional<TfileTrailer>(std::move(trailer));
}

Status TfileTrailer::read_section(std::string_view tag, Bytes section) {
  if (tag == kAuxv) {
    auxv_ = section;
  } else if (tag == kModules) {
    return read_modules(section);
  } else if (tag == kProcess) {
    return read_process(section);
  } else if (tag == kFrames) {
    if (section.size() % kFrameBytes != 0) return broken("its table of frames is cut");
    frames_ = section;
  } else if (tag == kPoints) {
    points_ = section;
  } else if (tag == kPcs) {
    if (section.size() % kPcBytes != 0) return broken("its table of program counters is cut");
    pcs_ = section;
  } else if (tag == kMasks) {
    if (section.size() < 4) return broken("its register masks are cut");
    mask_bytes_ = static_cast<uint32_t>(number_at(section, 0, 4));
    masks_ = section.subspan(4);
    if (mask_bytes_ == 0 || masks_.size() % mask_bytes_ != 0)
      return broken("its register masks are cut");
  }
  return {};  // later versions may have more
}

Status TfileTrailer::read_modules(Bytes section) {
  ByteReader in(section, Endian::Little);
  while (!in.at_end()) {
    Module module;
    const auto bias = in.uint(8);
    const auto start = in.uint(8);
    const auto size = in.uint(8);
    auto path = take_trailer_text(in);
    auto build_id = take_trailer_text(in);
    if (!size || !path || !build_id) return broken("its list of modules is cut");
    module.bias = *bias;
    module.start = *start;
    module.size_bytes = *size;
    module.path = *std::move(path);
    module.build_id = *std::move(build_id);
    modules_.push_back(std::move(module));
  }
  return {};
}

/// Later versions may have more behind it.
Status TfileTrailer::read_process(Bytes section) {
  ByteReader in(section, Endian::Little);
  const auto known = in.uint(4), pid = in.uint(4), start = in.uint(8);
  const auto high = in.uint(8), low = in.uint(8), parent = in.uint(4);
  auto host = take_trailer_text(in), boot = take_trailer_text(in), image = take_trailer_text(in);
  if (!start || !high || !low || !parent || !host || !boot || !image)
    return broken("what it says of the process is cut");
  Process process;
  process.pid = static_cast<uint32_t>(*pid);
  process.parent = static_cast<uint32_t>(*parent);
  if ((*known & kStartKnown) != 0) process.start_ns = *start;
  if ((*known & kIdKnown) != 0) process.id = ProcessId{*high, *low};
  process.host = *std::move(host);
  process.boot = *std::move(boot);
  process.image = *std::move(image);
  processes_ = {std::move(process)};
  return {};
}

TfileTrailer::Frame TfileTrailer::frame(uint64_t seq) const {
  Frame frame;
  if (seq >= frame_count()) return frame;
  const Bytes record = frames_.subspan(seq * kFrameBytes, kFrameBytes);
  const auto time = static_cast<int64_t>(number_at(record, 0));
  if (time != kNoTime) frame.time_ns = time;
  frame.tid = number_at(record, 8);
  frame.cpu = static_cast<int32_t>(number_at(record, 16, 4));
  const uint64_t mask = number_at(record, 20, 4);
  if (mask != 0 && mask_bytes_ != 0 && mask <= masks_.size() / mask_bytes_)
    frame.registers_valid = masks_.subspan((mask - 1) * mask_bytes_, mask_bytes_);
  return frame;
}

std::optional<uint64_t> TfileTrailer::pc(uint64_t seq) const {
  size_t low = 0;
  size_t high = pcs_.size() / kPcBytes;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const uint64_t at = number_at(pcs_, middle * kPcBytes);
    if (at == seq) return number_at(pcs_, middle * kPcBytes + 8);
    if (at < seq)
      low = middle + 1;
    else
      high = middle;
  }
  return std::nullopt;
}

uint64_t TfileTrailer::thread_count() const {
  std::unordered_set<uint64_t> threads;
  for (size_t at = 0; at < frames_.size(); at += kFrameBytes)
    if (const uint64_t tid = number_at(frames_, at + 8); tid != 0) threads.insert(tid);
  return threads.size();
}

}  // namespace tracewell::formats
