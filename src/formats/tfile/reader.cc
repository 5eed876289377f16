#include "formats/tfile/reader.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "formats/tfile/as_gdb.h"
#include "formats/tfile/description.h"
#include "formats/tfile/points.h"

namespace tracewell::formats {
namespace {

// A description is some kilobytes of text; a hostile one costs about thirty times its size.
constexpr size_t kDescriptionBytesMax = 16 << 20;
constexpr size_t kTailBytesKept = 16 << 20;
constexpr size_t kBatchFramesMax = 1024;
constexpr size_t kBatchFramesFirst = 16;  // after a jump, which may be for one frame only
constexpr uint64_t kBatchBytes = 4 << 20;
constexpr uint64_t kForgetBytes = 32 << 20;

/// Where the description's last line ends (the empty line is next). nullopt: it has no end.
std::optional<size_t> description_end(std::string_view text) {
  if (text.starts_with("\n")) return 0;
  const size_t at = text.substr(0, kDescriptionBytesMax).find("\n\n");
  if (at == std::string_view::npos) return std::nullopt;
  return at + 1;
}

}  // namespace

Result<std::unique_ptr<Source>> TfileReader::open(std::shared_ptr<InputFile> file,
                                                  const OpenOptions& options,
                                                  ProblemLog& problems) {
  std::unique_ptr<TfileReader> reader(new TfileReader(std::move(file), problems));
  TW_RETURN_IF_ERROR(reader->read_description(options));
  const auto stage = options.work.stage("reading", reader->file_->bytes().size());
  reader->index_.build(reader->frames_, *reader->file_, problems,
                       [&](uint64_t done) { stage->at(done); });
  reader->look_behind_the_end();
  const auto& status = reader->catalog_.status;
  if (status && status->frames && *status->frames != reader->count())
    problems.add({std::nullopt, Problem::Severity::Warning, "frame-count",
                  fmt::format("the status promises {} frames, the file holds {}", *status->frames,
                              reader->count())});
  return std::unique_ptr<Source>(std::move(reader));
}

Status TfileReader::read_description(const OpenOptions& options) {
  const std::string_view text = as_text(file_->bytes());
  if (!text.starts_with(kTfileMagic)) {
    if (text.starts_with(kTfileMagic.substr(0, 6)))
      return Error{Errc::Unsupported, "a trace file of a version that is not known", 6};
    return Error{Errc::Corrupt, "not a GDB trace file", 0};
  }
  const std::string_view behind = text.substr(kTfileMagic.size());
  const auto end = description_end(behind);
  if (!end && behind.size() > kDescriptionBytesMax)
    return Error{Errc::Limit, "the description has no end", kTfileMagic.size()};
  const size_t length = end.value_or(behind.size());
  const std::string_view section = behind.substr(0, length);
  TfileDescription description = read_tfile_description(section, kTfileMagic.size(), problems_);
  if (!end)
    problems_.add({text.size(), Problem::Severity::Damage, "description-cut",
                   "the file ends inside its description"});

  frames_.file = file_->bytes();
  frames_.begin = std::min(text.size(), kTfileMagic.size() + length + 1);
  settle(description, options);
  if (const auto stumble = tracepoint_fault_as_gdb(description.catalog)) {
    description.gdb_reads = false;
    problems_.add({std::nullopt, Problem::Severity::Warning, "gdb-tracepoint", *stumble});
  }
  catalog_ = std::move(description.catalog);
  catalog_.source_path = file_->path();
  take_trailer();
  // Without a count of frames the writer would add one.
  const bool counted = catalog_.status && catalog_.status->frames;
  if (end && description.gdb_reads && (!counted || render_tfile_description(catalog_) != section))
    catalog_.extras.emplace_back(kTfileRaw, std::string(section));
  return {};
}

/// Chooses block size and byte order, by the description where it says, else by trying them on the
/// first frames: with the wrong ones the sizes make no sense very soon.
void TfileReader::settle(TfileDescription& description, const OpenOptions& options) {
  std::vector<Endian> orders = {description.catalog.endian};
  if (options.endian) {
    orders = {*options.endian};
  } else if (!description.endian_known) {
    orders.push_back(orders[0] == Endian::Little ? Endian::Big : Endian::Little);
  }
  const std::vector<uint32_t> sizes = description.register_block_bytes;
  uint64_t best = 0;
  std::pair<Endian, uint32_t> chosen{orders[0], sizes[0]};
  for (const Endian order : orders) {
    for (const uint32_t size : sizes) {
      frames_.endian = order;
      frames_.register_block_bytes = size;
      const uint64_t plausibility = tfile_plausibility(frames_);
      if (plausibility <= best) continue;
      best = plausibility;
      chosen = {order, size};
    }
  }
  std::tie(frames_.endian, frames_.register_block_bytes) = chosen;
  if (chosen.second != sizes[0]) {
    description.gdb_reads = false;
    problems_.add({std::nullopt, Problem::Severity::Warning, "decimal-R",
                   "the size of the register block makes sense as a decimal number only; GDB will "
                   "take it for hex"});
  }
  settle_tfile_layout(description, chosen.first, chosen.second);
  tell_cut_block(description.block_size_offset, chosen.second, problems_);
  // Frames are then handed out with smaller blocks than it says.
  if (chosen.second != description.catalog.registers.size_bytes) description.gdb_reads = false;
  const RegisterLayout& layout = description.catalog.registers;
  if (const Register* pc = layout.pc(); pc && pc->size_bytes <= 8) {
    frames_.pc_index = layout.pc_index;
    frames_.pc_offset = pc->offset;
    frames_.pc_bytes = pc->size_bytes;
  }
  frames_.known_pcs = TfileKnownPcs(description.catalog.tracepoints);
}

void TfileReader::take_trailer() {
  auto trailer = TfileTrailer::find(file_->bytes());
  if (!trailer.ok()) {
    problems_.add({std::nullopt, Problem::Severity::Damage, "trailer", trailer.error().message});
    return;
  }
  if (!*trailer || (*trailer)->offset() < frames_.begin) return;
  frames_.trailer = *std::move(trailer);
  const Bytes auxv = frames_.trailer->auxv();
  catalog_.auxv.assign(auxv.begin(), auxv.end());
  catalog_.modules = frames_.trailer->modules();
  catalog_.processes = frames_.trailer->processes();
  take_tfile_points(frames_.trailer->tracepoints(), catalog_, problems_);
}

void TfileReader::look_behind_the_end() {
  const Bytes bytes = file_->bytes();
  const auto header = rsp::read_frame_header(bytes.subspan(index_.end()), frames_.endian);
  if (!header || header->tracepoint != 0) return;
  uint64_t at = index_.end() + 2;
  const uint64_t end = frames_.trailer ? frames_.trailer->offset() : bytes.size();
  if (at > end) {
    problems_.add({end, Problem::Severity::Damage, "trailer",
                   "the trailer begins before the frames end; it is not used"});
    frames_.trailer.reset();
    return;
  }
  const Bytes tail = bytes.subspan(at, end - at);
  const bool zeros = std::all_of(tail.begin(), tail.end(), [](uint8_t b) { return b == 0; });
  if (zeros && tail.size() == 2) return;  // as GDB writes it
  if (!zeros || tail.size() > 4)
    problems_.add({at, Problem::Severity::Note, "after-end",
                   fmt::format("{} bytes behind the end of the frames are not known; kept as they "
                               "are",
                               tail.size())});
  if (tail.size() <= kTailBytesKept)
    catalog_.extras.emplace_back(kTfileTail, std::string(as_text(tail)));
}

Status TfileReader::seek(uint64_t seq) {
  if (seq > count()) return Error{Errc::NotFound, fmt::format("there is no frame {}", seq), {}};
  if (seq == next_seq_) return {};
  next_offset_.reset();
  next_seq_ = seq;
  batch_frames_ = kBatchFramesFirst;
  return {};
}

Result<bool> TfileReader::next(Batch& batch) {
  batch.clear();
  if (next_seq_ >= count()) return false;
  auto place = next_offset_ ? frames_.place_at(*next_offset_) : index_.place(frames_, next_seq_);
  const uint64_t begin = place ? place->offset : 0;
  while (place) {
    add_frame(batch, *place);
    next_offset_ = place->end();
    if (++next_seq_ >= count() || batch.size() >= batch_frames_ ||
        *next_offset_ - begin > kBatchBytes)
      break;
    place = frames_.place_at(*next_offset_);
  }
  if (batch.empty())
    return Error{Errc::Io, fmt::format("{} changed while it was read", file_->path()), {}};
  batch.hold(file_);
  batch_frames_ = std::min(2 * batch_frames_, kBatchFramesMax);
  if (*next_offset_ - std::min(forgotten_, *next_offset_) > kForgetBytes || begin < forgotten_) {
    file_->forget(std::min(forgotten_, begin), begin - std::min(forgotten_, begin));
    forgotten_ = begin;
  }
  return true;
}

void TfileReader::add_frame(Batch& batch, const TfileFrames::Place& place) {
  blocks_.clear();
  Bytes registers;
  rsp::BlockWalker walker = frames_.walk(place);
  while (auto block = walker.next()) {
    if (block->kind == FrameBlock::Kind::Registers)
      block->bytes = block->bytes.first(catalog_.registers.size_bytes);
    if (block->kind == FrameBlock::Kind::Registers && registers.empty()) registers = block->bytes;
    blocks_.push_back(*block);
  }
  Event& event = batch.add();
  event.seq = next_seq_;
  event.process = catalog_.processes.empty() ? 0 : 1;
  Frame frame;
  frame.tracepoint = place.tracepoint;
  frame.pc = frames_.pc(next_seq_, place.tracepoint, registers);
  frame.blocks = batch.copy_array(std::span<const FrameBlock>(blocks_));
  if (frames_.trailer) {
    const TfileTrailer::Frame more = frames_.trailer->frame(next_seq_);
    event.time_ns = more.time_ns;
    event.tid = more.tid;
    event.cpu = more.cpu;
    frame.registers_valid = more.registers_valid;
  }
  event.body = frame;
}

std::optional<uint64_t> TfileReader::find_tracepoint(uint64_t from, int32_t tracepoint) const {
  return index_.find_tracepoint(frames_, from, tracepoint);
}

std::optional<uint64_t> TfileReader::find_pc_inside(uint64_t from, uint64_t lo, uint64_t hi) const {
  return index_.find_pc(frames_, from, lo, hi, false);
}

std::optional<uint64_t> TfileReader::find_pc_outside(uint64_t from, uint64_t lo,
                                                     uint64_t hi) const {
  return index_.find_pc(frames_, from, lo, hi, true);
}

uint64_t TfileReader::thread_count() const {
  return frames_.trailer ? frames_.trailer->thread_count() : 0;
}

}  // namespace tracewell::formats
