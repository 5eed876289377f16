#include "target/linux/memory/code_facts.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/endian.h"
#include "machine/code_instruction.h"
#include "pads/restartable.h"
#include "symbols/elf/unwind_table.h"
#include "target/linux/images/image_data.h"
#include "target/linux/memory/small_stacks.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kStackGrowth = uint64_t{16} << 20, kHeapGrowth = uint64_t{256} << 20;
// Bytes of one image that are looked at: a program maps what it likes.
constexpr uint64_t kCodeMax = uint64_t{512} << 20, kDataMax = uint64_t{256} << 20;
constexpr size_t kFunctionsPerLook = 1 << 12;
constexpr uint64_t kPiece = 1 << 20;  // at a time: whole pages

const Error kServerEnds{Errc::Target, "the server is to end", {}};

class ImageFacts {
 public:
  ImageFacts(const PatchedMemory& memory, const std::vector<Mapping>& maps, const Mapping& code,
             const CodeBounds& bounds)
      : memory_(memory), code_(code), bounds_(bounds), data_(memory, maps, code, bounds.stop) {}

  /// Code that a program makes as it runs (Erlang's, for one) may run on stacks within a heap.
  Result<CodeFacts> take() {
    if (data_.start() == 0)
      return {Errc::Unsupported,
              "it is no code of an ELF file, and may have been made for stacks without room for a "
              "hit"};
    facts_.input.stop = bounds_.stop;
    read_code();
    if (facts_.code_bytes > bounds_.code_max)
      return {Errc::Unsupported, "there is more code than can be looked at for fast tracepoints"};
    for (const pads::Range& part : data_.parts()) {
      facts_.data.push_back(read_data(part));
      facts_.input.data.push_back({part.start, facts_.data.back()});
    }
    if (stops()) return kServerEnds;
    take_sequences();
    facts_.small_stacks = language_of_small_stacks();
    TW_RETURN_IF_ERROR(take_functions(data_.unwind_index()));
    return std::move(facts_);
  }

 private:
  std::string_view language_of_small_stacks() const {
    if (made_by_go(memory_, data_.start(), data_.bias())) return "Go";
    return made_by_ocaml(facts_.input.code.bytes, bounds_.stop) ? "OCaml" : "";
  }
  bool stops() const { return bounds_.stop && bounds_.stop(); }
  /// As far as it can be read.
  void read_code() {
    facts_.code = ZeroedBytes(code_.end - code_.start);
    std::vector<uint8_t> piece;
    size_t have = 0;
    while (have < facts_.code.size() && facts_.code_bytes <= bounds_.code_max && !stops()) {
      piece.resize(std::min<uint64_t>(facts_.code.size() - have, kPiece));
      const size_t got = memory_.read(code_.start + have, piece);
      facts_.code_bytes += facts_.code.put(have, Bytes(piece).first(got));
      have += got;
      if (got < piece.size()) break;
    }
    facts_.input.code = {code_.start, facts_.code.bytes().first(have)};
  }
  /// Takes no more memory than there are bytes that can be read.
  std::vector<uint8_t> read_data(pads::Range part) {
    std::vector<uint8_t> data;
    for (bool more = true; more;) {
      const uint64_t at = part.start + data.size();
      const size_t old = data.size(), wanted = std::min({part.end - at, kPiece, left_});
      data.resize(old + wanted);
      const size_t got = data_.read(at, std::span(data).subspan(old));
      data.resize(old + got);
      left_ -= got;
      more = wanted != 0 && got == wanted && !stops();
    }
    return data;
  }
  /// What stands at the address, to the end of what was read there.
  Bytes at(uint64_t address) const {
    for (const pads::Area& area : facts_.input.data)
      if (address >= area.address && address - area.address < area.bytes.size())
        return area.bytes.subspan(address - area.address);
    return {};
  }
  void take_sequences() {
    const pads::Area& code = facts_.input.code;
    const auto read = [&](uint64_t address) {
      return static_cast<uint32_t>(
          load_uint(code.bytes.data() + (address - code.address), 4, Endian::Little));
    };
    pads::RestartableSequences found({code.address, code.address + code.bytes.size()}, read);
    for (const pads::Area& data : facts_.input.data) found.look_at(data);
    facts_.input.kept = found.ranges();
    facts_.input.kept_ends = found.starts();
  }
  /// Each function has its own handlers, so there are no more of them than bytes; an image that
  /// says otherwise wants this to last. Where handlers are missing, nobody knows what is entered.
  Status take_functions(pads::Range index) {
    const Bytes header = at(index.start);
    if (header.empty()) return {};
    symbols::Work work(kDataMax);
    const uint64_t table = symbols::unwind_table_of(
        header.first(std::min<size_t>(header.size(), index.end - index.start)), index.start);
    Status status;
    symbols::each_unwind_range(at(table), table, [&](const symbols::UnwindRange& one) {
      status = take_function(one, work);
      return status.ok();
    });
    return status;
  }
  Status take_function(const symbols::UnwindRange& one, symbols::Work& work) {
    if (++looks_ % kFunctionsPerLook == 0 && stops()) return kServerEnds;
    if (one.start < code_.start || one.end > code_.end) return {};
    facts_.input.functions.push_back({one.start, one.end});
    if (one.handlers == 0) return {};
    const auto handlers = symbols::read_handlers(at(one.handlers), one.handlers, one.start, work);
    if (work.over() || work.done() > kDataMax - left_)
      return {Errc::Unsupported, "the unwind table of the image names more handlers than it has"};
    facts_.input.entries.insert(facts_.input.entries.end(), handlers.begin(), handlers.end());
    return {};
  }

  const PatchedMemory& memory_;
  const Mapping& code_;
  const CodeBounds& bounds_;
  const ImageData data_;
  uint64_t left_ = kDataMax;
  size_t looks_ = 0;
  CodeFacts facts_;
};

/// A program may have stacks of its own, which grow as the first thread's does (MAP_GROWSDOWN). Of
/// those the kernel tells in smaps alone, for which it looks at all pages; no file is mapped so.
bool may_grow_down(const Mapping& map) {
  return map.path.starts_with("[stack") ||
         (map.inode == 0 && !map.shared && (map.path.empty() || map.path.starts_with("[anon:")));
}

}  // namespace

Result<CodeFacts> code_around(const PatchedMemory& memory, const std::vector<Mapping>& maps,
                              uint64_t address, const CodeBounds& bounds) {
  const auto code = std::ranges::find_if(maps, [&](const Mapping& map) {
    return map.executable && address >= map.start && address < map.end;
  });
  if (code == maps.end() || code->end - code->start > kCodeMax)
    return {Errc::Unsupported, fmt::format("no code of an image is at 0x{:x}", address)};
  return ImageFacts(memory, maps, *code, bounds).take();
}

namespace {

Result<Sequences> sequences_of(const PatchedMemory& memory, const ImageData& image,
                               pads::Range code, const std::function<bool()>& stop) {
  pads::RestartableSequences found(
      code, [&](uint64_t at) { return memory.read_value<uint32_t>(at).value_or(0); });
  uint64_t left = kDataMax;
  std::vector<uint8_t> bytes;
  for (const pads::Range& part : image.parts()) {
    for (uint64_t at = part.start; at < part.end && left > 0; at += kPiece) {
      if (stop && stop()) return kServerEnds;
      bytes.resize(std::min({part.end - at, kPiece, left}));
      left -= bytes.size();
      bytes.resize(image.read(at, bytes));
      found.look_at({at, bytes});
    }
  }
  return Sequences{{}, found.ranges(), found.starts()};
}

bool holds(const PatchedMemory& memory, const Sequences& known, uint64_t address) {
  const auto next = std::ranges::upper_bound(known.ranges, address, {}, &pads::Range::start);
  if (next != known.ranges.begin() && std::prev(next)->holds(address)) return true;
  const auto start = std::ranges::upper_bound(known.starts, address);
  if (start == known.starts.end() || *start - address > PatchedMemory::kInstructionMax)
    return false;
  std::vector<uint8_t> code(PatchedMemory::kInstructionMax);
  code.resize(memory.read(address, code));
  return machine::decode_code(code, address).length == *start - address;
}

}  // namespace

Result<bool> in_restartable_sequence(const PatchedMemory& memory, KnownSequences& known,
                                     const std::vector<Mapping>& maps, uint64_t address,
                                     const std::function<bool()>& stop) {
  const auto code = std::ranges::find_if(maps, [&](const Mapping& map) {
    return map.executable && address >= map.start && address < map.end;
  });
  if (code == maps.end() || code->path.empty()) return false;
  std::vector<Mapping> image;
  std::ranges::copy_if(maps, std::back_inserter(image),
                       [&](const Mapping& map) { return map.path == code->path; });
  Sequences& of_image = known[code->start];
  if (const MappingsPrint print = print_of(image); of_image.image != print) {
    TW_ASSIGN_OR_RETURN(of_image, sequences_of(memory, ImageData(memory, maps, *code, stop),
                                               {code->start, code->end}, stop));
    of_image.image = print;
  }
  return holds(memory, of_image, address);
}

AddressLayout layout_of(Tid tid, const std::function<bool()>& gives_up) {
  return {mappings(tid, gives_up), heap_start(tid)};
}

/// The first thread's stack may grow as far down as what is mapped below it: a program may allow
/// itself more of it at any time (RLIMIT_STACK).
std::vector<pads::Range> taken_in(const AddressLayout& layout) {
  std::vector<pads::Range> out;
  uint64_t below = 0;
  for (const Mapping& map : layout.maps) {
    if (map.path == "[vsyscall]") continue;  // the kernel's part of the address space
    pads::Range range{map.start, map.end};
    if (map.path == "[stack]") range.start = below;
    else if (may_grow_down(map)) range.start -= std::min(range.start, kStackGrowth);
    if (map.path == "[heap]") range.end += kHeapGrowth;
    below = map.end;
    out.push_back(range);
  }
  if (layout.heap != 0) out.push_back({layout.heap, layout.heap + kHeapGrowth});
  std::ranges::sort(out, {}, &pads::Range::start);
  return out;
}

}  // namespace tracewell::target::live
