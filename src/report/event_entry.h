// Any event as an Entry, so that templates apply to it. What stands where is ours:
//
//   Hook    as it was given; the hook word's half-words are in the log's byte order
//   Frame   hook: the tracepoint's number (tracepoint 10 is hook 000A); words of 8 bytes: memory,
//           variables and static data in the order of their blocks, then the registers that were
//           collected; what is longer than 8 bytes takes several, as it stands in memory
//   Step    hook 00B; subhook: the opcode's length, and 100 read, 200 write, 300 both, 400 that
//           value is not known, 800 nor is the register's; words: pc, address and value of the
//           first access, value of the first register that changed, the step's number, the opcode's
//           bytes
//   Mark    001 and 002, trace on and off: the subhook is the channel; generic when it says why.
//           005, the log has dropped its oldest part: word 1: how many records. 006: as Lost. Any
//           other: hook 00C, generic: word 1 is 1 at the beginning of a session; the text
//   Change  as a mark with the change in words
//   Lost    hook 006; word 1: how many; generic when it says why
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "model/catalog.h"
#include "model/event.h"
#include "report/entry.h"

namespace tracewell::report {

class EventEntry {
 public:
  /// Borrows the catalog.
  explicit EventEntry(const Catalog& catalog) : catalog_(catalog) {}

  /// Of the log's events in order: an entry's offset is that in the file that `report -r` makes of
  /// all of them; a log may be of many files, and the formats differ in what an event is there.
  /// Lives until the next call, and no longer than the event. Allocates nothing once it is warm.
  /// `pid`: of the event's process; 0 = not known.
  Entry& make(const Event& event, uint32_t pid = 0);

 private:
  void begin(uint16_t hook, uint16_t subhook, bool generic);
  void word(uint64_t value);
  void raw(Bytes bytes);
  void bytes_as_they_are(Bytes bytes);
  void text(std::string_view text);
  void value(Bytes bytes);
  void finish();

  void fill(const Hook& hook);
  void fill(const Frame& frame);
  void fill(const Step& step);
  void fill(const Mark& mark);
  void fill(const Lost& lost);
  void fill(const tracewell::Change& change);
  void registers(const Frame& frame, const FrameBlock& block);

  const Catalog& catalog_;
  /// Room for `size` bytes more, which count at once.
  uint8_t* more(size_t size) {
    if (buffer_.size() - size_ < size) buffer_.resize(2 * (size_ + size));
    size_ += size;
    return buffer_.data() + size_ - size;
  }

  std::vector<uint8_t> buffer_;  // of which size_ bytes are the entry
  size_t size_ = 0;
  Entry entry_;
  uint64_t seq_ = 0;
  std::string change_;  // in words
  uint64_t offset_ = 0;  // behind the last entry, were all stored
};

}  // namespace tracewell::report
