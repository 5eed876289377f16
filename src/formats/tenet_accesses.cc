#include "formats/tenet_accesses.h"

#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/hex.h"
#include "formats/memory_pieces.h"
#include "formats/written_bytes.h"

namespace tracewell::formats {
namespace {

using Access = Step::MemoryAccess;

/// By Access::Kind.
constexpr std::string_view kAccessWords[] = {"mr", "mw", "mrw"};

/// Empty = nobody knows. What is not told to have changed is as it was.
Bytes left_by(const Access& access) {
  return access.new_bytes.empty() ? access.old_bytes : access.new_bytes;
}

void append_pieces(std::string& line, Access::Kind kind, uint64_t address, Bytes bytes) {
  while (!bytes.empty()) {
    const size_t size = piece_bytes(address, bytes.size());
    fmt::format_to(std::back_inserter(line), ",{}={:#x}:",
                   kAccessWords[static_cast<size_t>(kind)], address);
    append_hex(line, bytes.first(size));
    address += size;
    bytes = bytes.subspan(size);
  }
}

/// False: of some of it nobody knows what is there now.
bool append_read(std::string& line, const Access& access, const WrittenBytes& written) {
  bool whole = true;
  std::vector<uint8_t> run;
  uint64_t first = access.address;
  const auto end_run = [&](uint64_t next) {
    append_pieces(line, Access::Kind::Read, first, run);
    run.clear();
    first = next;
  };
  const Bytes left = left_by(access);
  for (size_t i = 0; i < left.size(); ++i) {
    const uint64_t address = access.address + i;
    if (written.is_unknown(address)) {
      end_run(address + 1);
      whole = false;
      continue;
    }
    run.push_back(written.find(address).value_or(left[i]));
  }
  end_run(0);
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
  if (step.memory_incomplete)
    left_out.count("instruction{ has|s have} accesses that are not shown; nobody recorded them");
  const WrittenBytes written = written_by(step);
  for (const Access& access : step.memory) {
    if (access.kind == Access::Kind::Nearby) {
      left_out.count("piece{|s} of memory beside operands, which no instruction touched, "
                     "{is|are} left out");
      continue;
    }
    bool whole = !left_by(access).empty();
    if (access.kind == Access::Kind::Read)
      whole &= append_read(line, access, written);
    else
      append_pieces(line, access.kind, access.address, left_by(access));
    if (!whole)
      left_out.count("{access is|accesses are} shown in part or not at all, because it is not "
                     "known what {it|they} read or wrote");
  }
}

}  // namespace tracewell::formats
