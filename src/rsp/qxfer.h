// qXfer: reading and writing special data of the target in windows (manual, "General Query
// Packets").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tracewell::rsp {

struct QxferRequest {
  bool write = false;
  std::string object;
  std::string annex;
  uint64_t offset = 0;
  uint64_t length = 0;        // read: bytes wanted
  std::vector<uint8_t> data;  // write
};

/// Behind `qXfer:`: `<object>:read:<annex>:<offset>,<length>` or
/// `<object>:write:<annex>:<offset>:<escaped data>`.
Result<QxferRequest> parse_qxfer(std::string_view body);

/// The reply to a read of `length` bytes at `offset` of a document: `l` + data when this is the end
/// of it, `m` + data when there is more, in at most `packet_size` characters, escapes included
/// (at least 3). `E01` when the offset lies beyond the end.
std::string qxfer_reply(Bytes document, uint64_t offset, uint64_t length, size_t packet_size);
inline std::string qxfer_reply(std::string_view document, uint64_t offset, uint64_t length,
                               size_t packet_size) {
  return qxfer_reply(as_bytes(document), offset, length, packet_size);
}

}  // namespace tracewell::rsp
