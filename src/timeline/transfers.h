// Calls and returns in the order in which they arrive.
//
//   entries: varint distance from the step before << 2 | another thread than before << 1 | return ·
//   varint number of the thread if it is another one · varint address of arrival, as a signed
//   distance from the last one · for calls: varint address behind the call, as a signed distance
//   from that of arrival
//   The threads are numbered as they stand in the segment's table, which is by id. The first one is
//   the one before.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/varint.h"

namespace tracewell::timeline {

struct Transfer {
  uint32_t step = 0;  // that arrives; from where the segment begins
  uint32_t thread = 0;
  bool is_return = false;
  uint64_t to = 0;
  uint64_t back = 0;  // of a call: where a return from it goes
};

class TransferWriter {
 public:
  explicit TransferWriter(std::vector<uint8_t>& out) : out_(out) {}
  void add(const Transfer& transfer);

 private:
  std::vector<uint8_t>& out_;
  Transfer last_;
};

class TransferReader {
 public:
  explicit TransferReader(Bytes bytes) : in_(bytes) {}
  /// False at the end, or at damage.
  bool next(Transfer& transfer);

 private:
  Cursor in_;
  Transfer last_;
};

}  // namespace tracewell::timeline
