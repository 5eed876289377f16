// An event as the bytes of a stored entry, for `report -r`.
#pragma once

#include <cstddef>

#include "report/entry.h"
#include "report/render/line.h"

namespace tracewell::report {

/// Numbers are in the log's byte order. 64 bit: the hook word (flags, length, hook, subhook, two
/// bytes each), `length` - 16 bytes of data, thread and time (ns since 1970), 8 bytes each: so the
/// length counts all that is behind the hook word. 32 bit: the hook word; by its type no, one or
/// five words (those that were not given are 0), or one word and as many bytes as the hook word
/// says, up to a whole word; thread and time as above.
void put_raw_entry(const Entry& entry, TextBuffer& out);
/// How many bytes that puts.
size_t raw_entry_bytes(const Entry& entry);

}  // namespace tracewell::report
