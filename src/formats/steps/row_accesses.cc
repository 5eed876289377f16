#include "formats/steps/row_accesses.h"

#include <vector>

#include "formats/steps/written_bytes.h"

namespace tracewell::formats {
namespace {

using Access = Step::MemoryAccess;
using Kind = Access::Kind;

Bytes shown_bytes(const ShownRow& row, const ShownRow::Piece& piece) {
  return Bytes(row.bytes).subspan(piece.at, piece.size);
}

bool same_place(const ShownRow::Piece& a, const ShownRow::Piece& b) {
  return a.address == b.address && a.size == b.size;
}

/// What the instruction wrote, where it also read.
WrittenBytes written_by(const ShownRow& row) {
  WrittenBytes written;
  bool reads = false;
  for (const ShownRow::Piece& piece : row.pieces) reads |= piece.kind == Kind::Read;
  if (!reads) return written;
  for (const ShownRow::Piece& piece : row.pieces)
    if (piece.kind == Kind::Write || piece.kind == Kind::ReadWrite)
      written.add(piece.address, shown_bytes(row, piece));
  written.sort();
  return written;
}

/// Did the tracer look before the instruction? Known only where that makes a difference.
bool read_before(const ShownRow::Piece& piece, Bytes bytes, const WrittenBytes& written) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto left = written.find(piece.address + i);
    if (left && *left != bytes[i]) return true;
  }
  return false;
}

Access access_of(const ShownRow::Piece& piece) {
  Access access;
  access.address = piece.address;
  access.kind = piece.kind;
  access.size = piece.size;
  return access;
}

/// What the instruction wrote may have been something else before; the rest of the read tells what
/// memory held.
void add_read(const ShownRow::Piece& piece, Bytes bytes, const WrittenBytes& written,
              std::vector<Access>& out) {
  const size_t read = out.size();
  out.push_back(access_of(piece));
  for (size_t at = 0; at < bytes.size();) {
    size_t end = at;
    while (end < bytes.size() && !written.find(piece.address + end)) ++end;
    if (end == bytes.size() && at == 0) {
      out[read].old_bytes = bytes;
      return;
    }
    Access kept;
    kept.address = piece.address + at;
    kept.kind = Kind::Nearby;
    kept.size = static_cast<uint32_t>(end - at);
    kept.old_bytes = bytes.subspan(at, end - at);
    if (kept.size != 0) out.push_back(kept);
    at = end + 1;
  }
}

}  // namespace

std::span<const Access> accesses_as_touched(const ShownRow& row, Batch& batch) {
  std::vector<Access> out;
  out.reserve(row.pieces.size());
  for (size_t i = 0; i < row.pieces.size(); ++i) {
    const ShownRow::Piece& piece = row.pieces[i];
    const Bytes bytes = batch.copy(shown_bytes(row, piece));
    const bool both = piece.kind == Kind::Write && i > 0 && !out.empty() &&
                      out.back().kind == Kind::Read && same_place(row.pieces[i - 1], piece);
    if (both) {
      out.back().kind = Kind::ReadWrite;
      out.back().new_bytes = bytes;
      continue;
    }
    Access access = access_of(piece);
    (piece.kind == Kind::Read ? access.old_bytes : access.new_bytes) = bytes;
    out.push_back(access);
  }
  return batch.copy_array(std::span<const Access>(out));
}

std::span<const Access> accesses_as_left(const ShownRow& row, Batch& batch) {
  const WrittenBytes written = written_by(row);
  std::vector<Access> out;
  out.reserve(row.pieces.size());
  for (size_t i = 0; i < row.pieces.size(); ++i) {
    const ShownRow::Piece& piece = row.pieces[i];
    const Bytes bytes = batch.copy(shown_bytes(row, piece));
    Access access = access_of(piece);
    if (piece.kind == Kind::Nearby) {
      access.old_bytes = bytes;
    } else if (piece.kind != Kind::Read) {
      access.new_bytes = bytes;
    } else {
      const bool early = read_before(piece, bytes, written);
      const bool both = i + 1 < row.pieces.size() && row.pieces[i + 1].kind == Kind::Write &&
                        same_place(piece, row.pieces[i + 1]);
      if (early) access.old_bytes = bytes;
      if (both) {
        access.kind = Kind::ReadWrite;
        access.new_bytes = batch.copy(shown_bytes(row, row.pieces[++i]));
      } else if (!early) {
        add_read(piece, bytes, written, out);
        continue;
      }
    }
    out.push_back(access);
  }
  return batch.copy_array(std::span<const Access>(out));
}

}  // namespace tracewell::formats
