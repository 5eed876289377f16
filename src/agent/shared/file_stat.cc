#include "agent/shared/file_stat.h"

namespace tracewell::agent {

std::vector<uint8_t> encode_stat(const struct stat& from) {
  std::vector<uint8_t> bytes;
  ByteWriter out(bytes, Endian::Big);
  out.uint(from.st_dev, 4);
  out.uint(from.st_ino, 4);
  out.uint(from.st_mode, 4);
  out.uint(from.st_nlink, 4);
  out.uint(from.st_uid, 4);
  out.uint(from.st_gid, 4);
  out.uint(from.st_rdev, 4);
  out.uint(static_cast<uint64_t>(from.st_size), 8);
  out.uint(static_cast<uint64_t>(from.st_blksize), 8);
  out.uint(static_cast<uint64_t>(from.st_blocks), 8);
  out.uint(static_cast<uint64_t>(from.st_atime), 4);
  out.uint(static_cast<uint64_t>(from.st_mtime), 4);
  out.uint(static_cast<uint64_t>(from.st_ctime), 4);
  return bytes;
}

}  // namespace tracewell::agent
