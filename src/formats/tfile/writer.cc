// GDB wants: R in hex, a status with tframes, lines of at most 999 characters, registers as whole
// blocks, and a zero tracepoint number at the end. The number of frames is known for certain only
// when all were written, so its digits are corrected in place then.
#include "formats/tfile/writer.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "formats/tfile/description.h"

namespace tracewell::formats {
namespace {

constexpr size_t kNamesMax = 8;  // of registers, in one message
constexpr std::string_view kCountField = ";tframes:";
constexpr uint64_t kCountPlaceholder = 0xffffffff;  // holds eight digits free

}  // namespace

Result<std::unique_ptr<Sink>> TfileWriter::create(OutputFile file, const SaveOptions&) {
  return std::unique_ptr<Sink>(new TfileWriter(std::move(file)));
}

std::vector<std::string> TfileWriter::refuses(const Catalog& catalog) const {
  std::vector<std::string> out;
  render_tfile_description(catalog, &out);
  bool static_data = false;
  for (const TracepointDef& one : catalog.tracepoints) {
    if (one.number == 0 || one.number > INT16_MAX)
      out.push_back(fmt::format("tracepoint number {} does not fit a trace file", one.number));
    for (const std::string& action : one.actions) static_data |= action.starts_with("L");
  }
  StepsOnly::refuse_processes(catalog, out);
  if (static_data)
    out.push_back("GDB cannot look at frames that hold static data; they are written all the same");
  if (catalog.registers.size_bytes == 0)
    out.push_back("GDB does not open a trace file without registers");
  return out;
}

Status TfileWriter::begin(const Catalog& catalog) {
  endian_ = catalog.endian;
  registers_ = catalog.registers;
  zeroed_.assign(registers_.registers.size(), 0);
  known_pcs_ = TfileKnownPcs(catalog.tracepoints);
  tail_ = std::string(2, '\0');
  for (const auto& [key, value] : catalog.extras)
    if (key == kTfileTail) tail_ = value;
  TW_RETURN_IF_ERROR(file_.write(kTfileMagic));
  TW_RETURN_IF_ERROR(write_description(catalog));
  return file_.write("\n");
}

Status TfileWriter::write_description(const Catalog& catalog) {
  std::string text = tfile_description_for(catalog);
  const std::string line = text.starts_with("status ") ? "status " : "\nstatus ";
  if (text.find(line) == std::string::npos || text.find(kCountField) == std::string::npos) {
    // GDB believes that a file without a count is empty, so there is always one when it can be made
    // right at the end.
    const bool raw =
        std::any_of(catalog.extras.begin(), catalog.extras.end(),
                    [&](const auto& one) { return one.first == kTfileRaw && one.second == text; });
    if (!raw && file_.can_rewrite()) {
      Catalog counted = catalog;
      if (!counted.status) {
        counted.status.emplace();
        counted.status->stop = RunStatus::Stop::Unknown;
      }
      counted.status->frames = kCountPlaceholder;
      text = render_tfile_description(counted);
    }
  }
  trailer_.begin(catalog, text);
  find_frame_count(text);
  return file_.write(text);
}

/// Where the digits of tframes are, in the status that counts (the last) and there in the field
/// that counts (the last one with a number).
void TfileWriter::find_frame_count(const std::string& text) {
  size_t status = text.rfind("\nstatus ");
  if (status == std::string::npos && text.starts_with("status ")) status = 0;
  if (status == std::string::npos) return;
  const size_t line_end = std::min(text.find('\n', status + 1), text.size());
  size_t before = line_end;
  while (true) {
    const size_t field = text.rfind(kCountField, before);
    if (field == std::string::npos || field <= status) return;
    const size_t digits = field + kCountField.size();
    const size_t end = std::min(text.find_first_of(";:\n", digits), text.size());
    const auto promised = parse_hex(std::string_view(text).substr(digits, end - digits));
    before = field - 1;
    if (!promised) continue;
    count_offset_ = file_.size() + digits;
    count_digits_ = end - digits;
    count_promised_ = *promised;
    return;
  }
}

Status TfileWriter::write(const Batch& batch) {
  for (const Event& event : batch.events()) {
    if (const auto* frame = std::get_if<Frame>(&event.body)) {
      others_.of_process(event.process);
      TW_RETURN_IF_ERROR(write_frame(event, *frame));
    } else if (std::holds_alternative<Step>(event.body) ||
               std::holds_alternative<Hook>(event.body)) {
      return Error{Errc::Unsupported,
                   fmt::format("event {} is not a tracepoint frame; a GDB trace file holds nothing "
                               "else",
                               event.seq),
                   {}};
    } else {
      trailer_.learn(event);
      TW_RETURN_IF_ERROR(others_.other(event, "tfile"));
    }
  }
  return {};
}

Status TfileWriter::write_frame(const Event& event, const Frame& frame) {
  const std::string what = fmt::format("event {}", event.seq);
  auto blocks = gdb_blocks(frame);
  if (!blocks.ok()) return std::move(blocks).error().within(what);
  encoded_.clear();
  Status encoded = rsp::encode_frame(encoded_, frame.tracepoint, *blocks, endian_);
  if (!encoded.ok()) return std::move(encoded).error().within(what);
  TW_RETURN_IF_ERROR(trailer_.add(event, frame, derived_pc(frame)));
  ++frame_count_;
  return file_.write(encoded_);
}

/// The frame's blocks as GDB needs them: registers that were not collected are zero, except for a
/// program counter that we know without them.
Result<std::span<const FrameBlock>> TfileWriter::gdb_blocks(const Frame& frame) {
  for (const FrameBlock& block : frame.blocks)
    if (block.kind == FrameBlock::Kind::Registers && block.bytes.size() != registers_.size_bytes)
      return Error{Errc::InvalidArgument,
                   fmt::format("a register block of {} bytes, but the layout has {}",
                               block.bytes.size(), registers_.size_bytes),
                   {}};
  const FrameBlock* registers = find_block(frame, FrameBlock::Kind::Registers);
  register_frames_ += registers != nullptr;
  if (!registers || frame.registers_valid.empty()) return frame.blocks;
  register_block_.assign(registers->bytes.begin(), registers->bytes.end());
  for (uint32_t i = 0; i < registers_.registers.size(); ++i) {
    const Register& one = registers_.registers[i];
    if (register_valid(frame, i)) continue;
    std::fill_n(register_block_.begin() + one.offset, one.size_bytes, uint8_t{0});
    const bool is_pc = i == registers_.pc_index && frame.pc && one.size_bytes <= 8;
    zeroed_[i] += !is_pc;
    if (is_pc)
      store_uint(register_block_.data() + one.offset, *frame.pc, one.size_bytes, endian_);
  }
  blocks_.assign(frame.blocks.begin(), frame.blocks.end());
  blocks_[static_cast<size_t>(registers - frame.blocks.data())].bytes = register_block_;
  return std::span<const FrameBlock>(blocks_);
}

std::optional<uint64_t> TfileWriter::derived_pc(const Frame& frame) const {
  const FrameBlock* registers = find_block(frame, FrameBlock::Kind::Registers);
  const Register* pc = registers_.pc();
  if (registers && !registers->bytes.empty() && pc && pc->size_bytes <= 8 &&
      register_valid(frame, *registers_.pc_index))
    return load_uint(registers->bytes.data() + pc->offset, pc->size_bytes, endian_);
  return known_pcs_.find(frame.tracepoint);
}

/// GDB shows a register that nobody knows like one that is zero. Those of which no frame tells
/// anything, and the others.
std::vector<std::string> TfileWriter::zeroed() const {
  std::vector<std::string> out;
  for (const bool never : {true, false}) {
    std::string names;
    size_t count = 0;
    for (size_t i = 0; i < zeroed_.size(); ++i) {
      if (zeroed_[i] == 0 || (zeroed_[i] == register_frames_) != never) continue;
      if (++count <= kNamesMax) names += (names.empty() ? "" : ", ") + registers_.registers[i].name;
    }
    if (count > kNamesMax) names += fmt::format(" and {} more", count - kNamesMax);
    if (count != 0)
      out.push_back(fmt::format("{} {} not known in {}, and GDB shows 0 there", names,
                                count == 1 ? "is" : "are", never ? "any frame" : "some frames"));
  }
  return out;
}

std::vector<std::string> TfileWriter::left_out() const {
  std::vector<std::string> out = others_.left_out();
  if (std::string text = trailer_.whose().left_out(); !text.empty()) out.push_back(text);
  std::ranges::move(zeroed(), std::back_inserter(out));
  return out;
}

Status TfileWriter::correct_frame_count() {
  if (count_digits_ == 0 || count_promised_ == frame_count_ || !file_.can_rewrite()) return {};
  const std::string digits = fmt::format("{:0{}x}", frame_count_, count_digits_);
  if (digits.size() > count_digits_) return {};  // it promised less than there is; GDB minds not
  return file_.rewrite_at(count_offset_, as_bytes(digits));
}

Status TfileWriter::finish() {
  TW_RETURN_IF_ERROR(file_.write(std::string_view("\0\0", 2)));
  TW_RETURN_IF_ERROR(file_.write(tail_));
  TW_RETURN_IF_ERROR(file_.write(trailer_.render()));
  TW_RETURN_IF_ERROR(correct_frame_count());
  return file_.commit();
}

}  // namespace tracewell::formats
