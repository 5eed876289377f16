// Linux Standard Base, "Exception Frames" (.eh_frame, .eh_frame_hdr). The table of handlers has no
// standard; GCC and clang have written the same one for twenty years.
#include "symbols/elf/unwind_table.h"

#include <optional>
#include <string>

#include "base/varint.h"

namespace tracewell::symbols {
namespace {

constexpr uint8_t kOmitted = 0xff;
constexpr uint8_t kIndirect = 0x80;
constexpr size_t kAugmentationMax = 16;  // letters; "zPLR" is what is seen
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
  /// nullopt when it is longer than `max`.
  std::optional<std::string> text(size_t max) {
    std::string out;
    while (const uint8_t byte = cursor_.byte()) {
      if (out.size() == max) return std::nullopt;
      out += static_cast<char>(byte);
    }
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
  const auto augmentation = reader.text(kAugmentationMax);
  if (!augmentation) return std::nullopt;
  reader.uleb();  // code alignment
  reader.uleb();  // data alignment, signed, just as long
  if (version == 1)
    reader.raw().byte();
  else
    reader.uleb();
  if (augmentation->empty()) return common;
  if (augmentation->front() != 'z') return std::nullopt;
  common.augmented = true;
  reader.uleb();
  for (const char letter : augmentation->substr(1)) {
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

struct FrameEntry {
  size_t id_at = 0;     // in the section
  uint64_t length = 0;  // from there
  uint64_t id = 0;      // 0: what others have in common; else how far in front of it that is
};

/// nullopt when it is cut, or the end.
std::optional<FrameEntry> entry_at(Bytes section, size_t at) {
  if (at >= section.size()) return std::nullopt;
  Cursor head(section.subspan(at));
  uint64_t length = head.uint(4);
  size_t head_bytes = 4;
  if (length == 0xffffffff) {
    length = head.uint(8);
    head_bytes += 8;
  }
  if (head.bad() || length < 4 || length > head.left()) return std::nullopt;
  return FrameEntry{at + head_bytes, length, head.uint(4)};
}

}  // namespace

void each_unwind_range(Bytes section, uint64_t address,
                       const std::function<bool(const UnwindRange&)>& take) {
  const auto behind_id = [&](const FrameEntry& entry) {
    return Reader(section.subspan(entry.id_at + 4, entry.length - 4), address + entry.id_at + 4);
  };
  // The last one is kept: most images have one, and those behind it refer to it.
  size_t common_at = section.size();
  std::optional<Common> common;
  for (auto entry = entry_at(section, 0); entry;
       entry = entry_at(section, entry->id_at + entry->length)) {
    if (entry->id == 0 || entry->id > entry->id_at) continue;
    if (const size_t at = entry->id_at - entry->id; at != common_at) {
      common_at = at;
      common.reset();
      if (const auto found = entry_at(section, at); found && found->id == 0) {
        Reader reader = behind_id(*found);
        common = read_common(reader);
      }
    }
    if (!common) continue;
    Reader reader = behind_id(*entry);
    if (const auto range = read_range(reader, *common); range && !take(*range)) return;
  }
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
