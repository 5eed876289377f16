// The data: u8 bit 0: the start is known, bit 1: the id is · u32 pid · u64 start · u64 and u64 id ·
// u32 parent · of host, boot and image each: varint size · text. More may follow.
#include "formats/trace64/state/process.h"

#include "base/varint.h"
#include "formats/trace64/blocks/user.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr uint8_t kHasStart = 1, kHasId = 2;

std::optional<Process> process_in(const Contents& contents, const UserBlock& block) {
  if (block.seq != contents.scan.count()) return std::nullopt;
  const auto own =
      read_own_block(block.type, contents.file->bytes().subspan(block.offset + 5, block.size));
  if (!own || own->kind != OwnKind::Process) return std::nullopt;
  return read_process(own->data);
}

}  // namespace

std::vector<uint8_t> render_process(const Process& process) {
  std::vector<uint8_t> out;
  ByteWriter to(out, Endian::Little);
  to.uint((process.start_ns ? kHasStart : 0) | (process.id ? kHasId : 0), 1);
  to.uint(process.pid, 4);
  to.uint(process.start_ns.value_or(0), 8);
  const ProcessId id = process.id.value_or(ProcessId{});
  to.uint(id.high, 8);
  to.uint(id.low, 8);
  to.uint(process.parent, 4);
  for (const std::string& text : {process.host, process.boot, process.image}) {
    append_varint(out, text.size());
    to.bytes(as_bytes(text));
  }
  return out;
}

std::optional<Process> read_process(Bytes data) {
  Cursor in(data);
  Process out;
  const uint8_t known = in.byte();
  out.pid = static_cast<uint32_t>(in.uint(4));
  const uint64_t start = in.uint(8), high = in.uint(8), low = in.uint(8);
  out.parent = static_cast<uint32_t>(in.uint(4));
  for (std::string* const text : {&out.host, &out.boot, &out.image})
    *text = as_text(in.take(in.varint()));
  if (in.bad()) return std::nullopt;
  if ((known & kHasStart) != 0) out.start_ns = start;
  if ((known & kHasId) != 0) out.id = ProcessId{high, low};
  return out;
}

bool is_of_process(const Contents& contents, const UserBlock& block) {
  return process_in(contents, block).has_value();
}

std::vector<Process> find_process(const Contents& contents) {
  std::vector<Process> out;
  for (const UserBlock& one : contents.scan.user_blocks())
    if (auto process = process_in(contents, one)) out = {*std::move(process)};
  return out;
}

}  // namespace tracewell::formats::trace64
