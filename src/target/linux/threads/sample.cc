#include "target/linux/threads/sample.h"

#include <algorithm>
#include <utility>

#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/register_blocks.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kRedZoneBytes = 128;  // below the stack pointer, and in use (System V ABI)

}  // namespace

std::shared_ptr<Sample> Sample::take(RegisterBlocks& registers, Thread& thread) {
  auto sample = std::make_shared<Sample>();
  const RegisterLayout& layout = registers.map_of(*thread.process).layout();
  sample->block.resize(layout.size_bytes);
  if (!layout.sp_index || !registers.read(thread, sample->block)) return nullptr;
  if (thread.run == Run::Stopped) sample->regs = regs_of(thread);
  const Register& sp = layout.registers[*layout.sp_index];
  const uint64_t at = load_uint(sample->block.data() + sp.offset, sp.size_bytes, Endian::Little);
  sample->stack = at - std::min(at, kRedZoneBytes);
  sample->bytes.resize(std::min<uint64_t>(kStackBytesMax, UINT64_MAX - sample->stack));
  sample->bytes.resize(thread.process->space->read(sample->stack, sample->bytes));
  return sample;
}

void Sample::trim(Tid tid, const std::function<bool()>& gives_up) {
  if (std::exchange(is_trimmed, true)) return;
  const auto holds = [&](const Mapping& map) { return stack >= map.start && stack < map.end; };
  const std::vector<Mapping> maps = mappings(tid, gives_up);
  const auto home = std::ranges::find_if(maps, holds);
  const uint64_t most = home == maps.end() ? 0 : home->end - stack;
  if (bytes.size() > most) bytes.resize(most);
}

bool Sample::meets(uint64_t address, uint64_t size) const {
  return size != 0 && !bytes.empty() && address < stack + bytes.size() &&
         (address >= stack || stack - address < size);
}

size_t Sample::cover(uint64_t address, std::span<uint8_t> into, size_t got) const {
  if (!meets(address, into.size())) return got;
  const uint64_t first = std::max(address, stack);
  const uint64_t last = std::min(address + (into.size() - 1), stack + (bytes.size() - 1));
  const size_t from = first - address, count = last - first + 1;
  if (from > got) return got;
  std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(first - stack), count,
              into.begin() + static_cast<ptrdiff_t>(from));
  return std::max(got, from + count);
}

}  // namespace tracewell::target::live
