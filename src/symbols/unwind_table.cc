// Linux Standard Base, "Exception Frames" (.eh_frame, .eh_frame_hdr). The table of handlers has no
// standard; GCC and clang have written the same one for twenty years.
#include "symbols/unwind_table.h"

#include <map>
#include <optional>
#include <string>

#include "base/varint.h"

namespace tracewell::symbols {
namespace {

constexpr uint8_t kOmitted = 0xff;
constexpr uint8_t kIndirect = 0x80;
enum Pointer : uint8_t { Absolute, Uleb, Udata2, Udata4, Udata8, Sleb = 9, Sdata2, Sdata4, Sdata8 };
enum Base : uint8_t { Zero = 0x00, Place = 0x10, Data = 0x30 };
constexpr uint8_t kFormMask = 0x0f, kBaseMask = 0x70;

/// Numbers in the forms of these tables, with the addresses that they stand at.
class Reader {
 public:
  Reader(Bytes bytes, uint64_t address)
      : cursor_(bytes), start_(bytes.data()), address_(address) {}

  uint64_t address() const {
    return address_ + static_cast<uint64_t>(cursor_.position() - start_);
  }
  Cursor& raw() { return cursor_; }
  uint64_t uleb() { return cursor_.varint(); }
  std::string text() {
    std::string out;
    while (const uint8_t byte = cursor_.byte()) out += static_cast<char>(byte);
    return out;
  }
  /// nullopt for forms that cannot be read without the program's memory, or that nobody knows.
  std::optional<uint64_t> pointer(uint8_t encoding, uint64_t data_base = 0) {
    const uint64_t place = address();
    const auto value = number(encoding & kFormMask);
    if (!value || cursor_.bad() || (encoding & kIndirect) != 0) return std::nullopt;
    switch (encoding & kBaseMask) {
      case Base::Zero:
        return value;
      case Base::Place:
        return place + *value;
      case Base::Data:
        return data_base + *value;
      default:
        return std::nullopt;
    }
  }
  std::optional<uint64_t> number(uint8_t form) {
    switch (form) {
      case Pointer::Absolute:
      case Pointer::Udata8:
      case Pointer::Sdata8:
        return cursor_.uint(8);
      case Pointer::Uleb:
        return cursor_.varint();
      case Pointer::Udata2:
        return cursor_.uint(2);
      case Pointer::Udata4:
        return cursor_.uint(4);
      case Pointer::Sdata2:
        return static_cast<uint64_t>(int64_t{static_cast<int16_t>(cursor_.uint(2))});
      case Pointer::Sdata4:
        return static_cast<uint64_t>(int64_t{static_cast<int32_t>(cursor_.uint(4))});
      default:
        return std::nullopt;
    }
  }

 private:
  Cursor cursor_;
  const uint8_t* start_;
  uint64_t address_;
};

/// What a common entry says of those that refer to it.
struct Common {
  bool augmented = false;
  uint8_t code_encoding = Pointer::Absolute;
  uint8_t handlers_encoding = kOmitted;
};

std::optional<Common> read_common(Reader& reader) {
  Common common;
  const uint8_t version = reader.raw().byte();
  if (version != 1 && version != 3) return std::nullopt;
  const std::string augmentation = reader.text();
  reader.uleb();  // code alignment
  reader.uleb();  // data alignment, signed, just as long
  if (version == 1)
    reader.raw().byte();
  else
    reader.uleb();
  if (augmentation.empty()) return common;
  if (augmentation[0] != 'z') return std::nullopt;
  common.augmented = true;
  reader.uleb();
  for (const char letter : augmentation.substr(1)) {
    if (letter == 'R') {
      common.code_encoding = reader.raw().byte();
    } else if (letter == 'L') {
      common.handlers_encoding = reader.raw().byte();
    } else if (letter == 'P') {
      const uint8_t encoding = reader.raw().byte();
      if (!reader.number(encoding & kFormMask)) return std::nullopt;
    } else if (letter != 'S' && letter != 'B') {
      return std::nullopt;
    }
  }
  if (reader.raw().bad()) return std::nullopt;
  return common;
}

std::optional<UnwindRange> read_range(Reader& reader, const Common& common) {
  const auto start = reader.pointer(common.code_encoding);
  const auto length = reader.number(common.code_encoding & kFormMask);
  if (!start || !length || *length == 0 || *start + *length < *start) return std::nullopt;
  UnwindRange range{*start, *start + *length, 0};
  if (!common.augmented) return range;
  reader.uleb();
  if (common.handlers_encoding == kOmitted) return range;
  const uint64_t place = reader.address();
  const auto handlers = reader.pointer(common.handlers_encoding);
  // A distance of 0 says that there are none.
  const bool none = (common.handlers_encoding & kBaseMask) == Base::Place ? handlers == place
                                                                            : handlers == 0u;
  if (handlers && !none) range.handlers = *handlers;
  return range;
}

}  // namespace

std::vector<UnwindRange> read_unwind_table(Bytes section, uint64_t address) {
  std::vector<UnwindRange> ranges;
  std::map<size_t, Common> commons;
  for (size_t at = 0; at < section.size();) {
    Cursor head(section.subspan(at));
    uint64_t length = head.uint(4);
    size_t head_bytes = 4;
    if (length == 0xffffffff) {
      length = head.uint(8);
      head_bytes += 8;
    }
    if (head.bad() || length < 4 || length > head.left()) break;
    const size_t id_at = at + head_bytes;
    const uint64_t id = head.uint(4);
    Reader reader(section.subspan(id_at + 4, length - 4), address + id_at + 4);
    if (id == 0) {
      if (const auto common = read_common(reader)) commons[at] = *common;
    } else if (const auto common = commons.find(id_at - id); common != commons.end()) {
      if (const auto range = read_range(reader, common->second)) ranges.push_back(*range);
    }
    at = id_at + length;
  }
  return ranges;
}

uint64_t unwind_table_of(Bytes header, uint64_t address) {
  Reader reader(header, address);
  if (reader.raw().byte() != 1) return 0;
  const uint8_t encoding = reader.raw().byte();
  reader.raw().take(2);  // how its count and its entries are written
  return reader.pointer(encoding, address).value_or(0);
}

std::vector<uint64_t> read_handlers(Bytes table, uint64_t address, uint64_t start, Work& work) {
  std::vector<uint64_t> handlers;
  Reader reader(table, address);
  uint64_t base = start;
  if (const uint8_t encoding = reader.raw().byte(); encoding != kOmitted)
    base = reader.pointer(encoding).value_or(start);
  if (reader.raw().byte() != kOmitted) reader.uleb();  // where its list of types is
  const uint8_t form = reader.raw().byte() & kFormMask;
  const uint64_t length = reader.uleb();
  const uint64_t end = reader.address() + length;
  if (reader.raw().bad() || length > reader.raw().left()) return handlers;
  while (reader.address() < end && work.take()) {
    reader.number(form);  // the calls: from where, how many bytes
    reader.number(form);
    const auto handler = reader.number(form);
    reader.uleb();  // what is done there
    if (!handler || reader.raw().bad()) break;
    if (*handler != 0) handlers.push_back(base + *handler);
  }
  return handlers;
}

}  // namespace tracewell::symbols
