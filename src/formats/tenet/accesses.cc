#include "formats/tenet/accesses.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "formats/steps/memory_pieces.h"
#include "formats/steps/written_bytes.h"

namespace tracewell::formats {
namespace {

using Access = Step::MemoryAccess;

/// By Access::Kind.
constexpr std::string_view kAccessWords[] = {"mr", "mw", "mrw"};

/// Empty = nobody knows. What is not told to have changed is as it was.
Bytes left_by(const Access& access) {
  return access.new_bytes.empty() ? access.old_bytes : access.new_bytes;
}

/// What a line says of memory, in its order.
class Pieces {
 public:
  /// Cut as readers' cells are. A read and a write of one place beside each other would be taken
  /// for one access that did both, and are told as that.
  void add(Access::Kind kind, uint64_t address, Bytes bytes) {
    while (!bytes.empty()) {
      const size_t size = piece_bytes(address, bytes.size());
      const bool both = kind == Access::Kind::Write && !pieces_.empty() &&
                        pieces_.back().kind == Access::Kind::Read &&
                        pieces_.back().address == address && pieces_.back().bytes.size() == size;
      if (both) pieces_.pop_back();
      const auto part = bytes.first(size);
      pieces_.push_back({both ? Access::Kind::ReadWrite : kind, address,
                         std::vector<uint8_t>(part.begin(), part.end())});
      address += size;
      bytes = bytes.subspan(size);
    }
  }

  void append_to(std::string& line) const {
    for (const Piece& piece : pieces_) {
      fmt::format_to(std::back_inserter(line), ",{}={:#x}:",
                     kAccessWords[static_cast<size_t>(piece.kind)], piece.address);
      append_hex(line, piece.bytes);
    }
  }

 private:
  struct Piece {
    Access::Kind kind;
    uint64_t address;
    std::vector<uint8_t> bytes;
  };
  std::vector<Piece> pieces_;
};

/// A read without bytes of its own is shown from what else the step tells, up to the widest operand
/// of one register. More would let a few words of a trace make much of a log.
constexpr uint32_t kFoundBytesMax = 64;

/// Is this memory in the place of the read in front of it, which has no bytes of its own?
bool is_of(const Access& read, const Access& nearby) {
  if (nearby.kind != Access::Kind::Nearby || read.size > kFoundBytesMax) return false;
  const uint64_t offset = nearby.address - read.address;
  return offset < read.size && left_by(nearby).size() <= read.size - offset;
}

/// What a read found. Of those without bytes of their own, the parts stand right behind them.
using Found = std::vector<std::optional<uint8_t>>;

Found found_by(std::span<const Access>& rest) {
  const Access& read = rest.front();
  rest = rest.subspan(1);
  const Bytes left = left_by(read);
  if (!left.empty()) return {left.begin(), left.end()};
  Found found(read.size <= kFoundBytesMax ? read.size : 0);
  for (; !rest.empty() && is_of(read, rest.front()); rest = rest.subspan(1))
    std::ranges::copy(left_by(rest.front()),
                      found.begin() + static_cast<ptrdiff_t>(rest.front().address - read.address));
  return found;
}

/// False: of some of it nobody knows what is there now.
bool add_read(Pieces& pieces, uint64_t address, const Found& found, const WrittenBytes& written) {
  bool whole = !found.empty();
  std::vector<uint8_t> run;
  uint64_t first = address;
  for (const auto& byte : found) {
    const auto left = written.find(address);
    ++address;
    if ((left || byte) && !written.is_unknown(address - 1)) {
      run.push_back(left ? *left : *byte);
      continue;
    }
    pieces.add(Access::Kind::Read, first, run);
    run.clear();
    first = address;
    whole = false;
  }
  pieces.add(Access::Kind::Read, first, run);
  return whole;
}

/// What reads find in their own instruction's writes.
WrittenBytes written_by(const Step& step) {
  WrittenBytes written;
  for (const Access& access : step.memory) {
    if (access.kind != Access::Kind::Write && access.kind != Access::Kind::ReadWrite) continue;
    if (left_by(access).empty())
      written.add_unknown(access.address, access.size);
    else
      written.add(access.address, left_by(access));
  }
  written.sort();
  return written;
}

}  // namespace

void append_tenet_accesses(std::string& line, const Step& step, StepsOnly& left_out) {
  left_out.count_unsaid(step);
  const WrittenBytes written = written_by(step);
  Pieces pieces;
  for (std::span<const Access> rest = step.memory; !rest.empty();) {
    const Access& access = rest.front();
    bool whole = true;
    if (access.kind == Access::Kind::Read) {
      const Found found = found_by(rest);
      whole = add_read(pieces, access.address, found, written);
    } else {
      rest = rest.subspan(1);
      if (access.kind == Access::Kind::Nearby) {
        left_out.count("piece{|s} of memory beside operands, which no instruction touched, "
                       "{is|are} left out");
        continue;
      }
      whole = !left_by(access).empty();
      pieces.add(access.kind, access.address, left_by(access));
    }
    if (!whole)
      left_out.count("{access is|accesses are} shown in part or not at all, because it is not "
                     "known what {it|they} read or wrote");
  }
  pieces.append_to(line);
}

}  // namespace tracewell::formats
