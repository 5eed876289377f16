// A unit at a time: its entries are walked once, in the order of the file; what may be somebody's
// type is kept, and asked when the unit is over (DWARF 5, 7.5).
#include "symbols/dwarf/variable_sizes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "symbols/dwarf/leb128.h"

namespace tracewell::symbols {
namespace debug_info {
namespace {

enum Tag : uint64_t {
  kArray = 0x01, kSubrange = 0x21, kVariable = 0x34, kMember = 0x0d,
};
enum Attribute : uint64_t {
  kLocation = 0x02, kByteSize = 0x0b, kUpperBound = 0x2f, kLowerBound = 0x22, kCount = 0x37,
  kType = 0x49, kSpecification = 0x47, kOrigin = 0x31, kAddressBase = 0x73,
  kGnuAddressBase = 0x2133,
};
enum DataForm : uint64_t {
  kAddr = 0x01, kBlock2 = 0x03, kBlock4, kData2, kData4, kData8, kString, kBlock, kBlock1, kData1,
  kFlag, kSdata, kStrp, kUdata, kRefAddr, kRef1, kRef2, kRef4, kRef8, kRefUdata, kIndirect,
  kSecOffset, kExprloc, kFlagPresent, kStrx, kAddrx, kRefSup4, kStrpSup, kData16, kLineStrp,
  kRefSig8, kImplicitConst, kLoclistx, kRnglistx, kRefSup8, kStrx1, kStrx2, kStrx3, kStrx4,
  kAddrx1, kAddrx2, kAddrx3, kAddrx4,
  kGnuAddrIndex = 0x1f01, kGnuStrIndex = 0x1f02, kGnuRefAlt = 0x1f20, kGnuStrpAlt = 0x1f21,
};
constexpr uint8_t kOpAddr = 0x03, kOpAddrx = 0xa1, kOpGnuAddrIndex = 0xfb;
constexpr size_t kTypesDeep = 64;  // a typedef of a const array of …
constexpr uint64_t kSizeMax = uint64_t{1} << 47;
/// Abbreviations and their forms that are kept at once: tables may begin anywhere in each other.
constexpr uint64_t kKeptMax = uint64_t{1} << 20;
constexpr size_t kFormsMax = 256, kEntriesOfUnitMax = size_t{1} << 20,
                 kVariablesMax = size_t{1} << 22;

struct AbbreviationForm {
  uint64_t attribute = 0, form = 0, constant = 0;
};
struct Abbreviation {
  uint64_t tag = 0;
  bool children = false;
  std::vector<AbbreviationForm> forms;
};
using Abbreviations = std::unordered_map<uint64_t, Abbreviation>;

/// The table that begins at the head of `in`; it and each of its forms takes from `work`.
Abbreviations read_abbreviations(ByteReader in, Work& work) {
  Abbreviations out;
  while (work.take()) {
    const auto code = leb128(in);
    if (!code || *code == 0) return out;
    Abbreviation one;
    const auto tag = leb128(in), children = in.uint(1);
    if (!tag || !children) return out;
    one.tag = *tag;
    one.children = *children != 0;
    while (true) {
      const auto attribute = leb128(in), form = leb128(in);
      if (!attribute || !form) return out;
      if (*attribute == 0 && *form == 0) break;
      if (!work.take() || one.forms.size() == kFormsMax) return out;
      const auto constant = *form == kImplicitConst ? leb128(in, true) : 0;
      if (!constant) return out;
      one.forms.push_back({*attribute, *form, *constant});
    }
    out.try_emplace(*code, std::move(one));
  }
  return out;
}

/// What an attribute says, as far as it matters here.
struct Value {
  std::optional<uint64_t> number;     // a constant, or an offset in a section
  std::optional<uint64_t> reference;  // of an entry, from the unit's begin
  std::optional<Bytes> block;
};

struct Entry {
  uint64_t tag = 0;
  std::optional<uint64_t> size, type, origin, place;
  uint64_t count = 1;  // of an array's elements
  bool counted = false;
};

class UnitReader {
 public:
  UnitReader(const DebugSections& sections, Work& work, std::vector<VariableSize>& out)
      : sections_(sections), work_(work), out_(out) {}

  /// `unit`: all of it, its length included; `in` stands behind that.
  void read(Bytes unit, ByteReader in, size_t offset_bytes) {
    offset_bytes_ = offset_bytes;
    const auto version = in.uint(2);
    if (!version || *version < 2 || *version > 5) return;
    version_ = *version;
    uint64_t kind = 1;  // a unit with code, or a part of one
    if (version_ >= 5) {
      const auto stated = in.uint(1), bytes = in.uint(1);
      if (!bytes) return;
      kind = *stated;
      address_bytes_ = *bytes;
    }
    const auto table = in.uint(offset_bytes_);
    if (version_ < 5) {
      const auto bytes = in.uint(1);
      if (!bytes) return;
      address_bytes_ = *bytes;
    }
    constexpr uint64_t kCompile = 1, kPartial = 3, kSkeleton = 4;
    if (kind == kSkeleton && !in.take(8)) return;
    if (kind != kCompile && kind != kPartial && kind != kSkeleton) return;
    if (!table || *table >= sections_.abbreviations.size()) return;
    if (address_bytes_ != 4 && address_bytes_ != 8) return;
    abbreviations_ = &table_at(*table);
    entries_.clear();
    variables_.clear();
    address_base_ = 0;
    walk(unit, in);
    for (const uint64_t one : variables_)
      if (const Entry* found = entry_at(one); found != nullptr) tell(*found);
  }

 private:
  const Abbreviations& table_at(uint64_t offset) {
    // Many units share one; who makes them small and many shall not have them all kept.
    constexpr size_t kTablesMax = 64;
    const auto known = tables_.find(offset);
    if (known != tables_.end()) return known->second;
    if (tables_.size() >= kTablesMax || kept_ > kKeptMax) {
      tables_.clear();
      kept_ = 0;
    }
    const uint64_t before = work_.done();
    const ByteReader in(sections_.abbreviations.subspan(offset), sections_.endian);
    const Abbreviations& out = tables_[offset] = read_abbreviations(in, work_);
    kept_ += work_.done() - before;
    return out;
  }

  /// nullptr: there is none that was kept.
  Entry* entry_at(uint64_t offset) {
    const auto found = std::ranges::lower_bound(entries_, offset, {}, &Placed::first);
    return found != entries_.end() && found->first == offset ? &found->second : nullptr;
  }

  void walk(Bytes unit, ByteReader in) {
    std::vector<uint64_t> parents;  // of open entries; 0 = one that does not matter
    bool first = true;
    while (in.left() > 0 && entries_.size() < kEntriesOfUnitMax && out_.size() < kVariablesMax &&
           work_.take()) {
      const uint64_t at = unit.size() - in.left();
      const auto code = leb128(in);
      if (!code) return;
      if (*code == 0) {
        if (parents.empty()) return;
        parents.pop_back();
        continue;
      }
      const auto found = abbreviations_->find(*code);
      if (found == abbreviations_->end()) return;
      Entry entry;
      if (!read_entry(in, found->second, entry, first)) return;
      first = false;
      if (entry.tag == kSubrange && !parents.empty()) count(parents.back(), entry);
      if (entry.place) variables_.push_back(at);
      if (entry.size || entry.type || entry.origin || entry.tag == kArray)
        entries_.emplace_back(at, entry);
      if (found->second.children) parents.push_back(entry.tag == kArray ? at : 0);
    }
  }

  void count(uint64_t array, const Entry& subrange) {
    Entry* const found = array == 0 ? nullptr : entry_at(array);
    if (found == nullptr) return;
    Entry& whole = *found;
    const bool sound = subrange.counted && subrange.count <= kSizeMax &&
                       (subrange.count == 0 || whole.count <= kSizeMax / subrange.count);
    whole.count = sound ? whole.count * subrange.count : 0;
  }

  bool read_entry(ByteReader& in, const Abbreviation& abbreviation, Entry& entry, bool first) {
    entry.tag = abbreviation.tag;
    uint64_t lower = 0;
    std::optional<uint64_t> upper, count;
    for (const AbbreviationForm& one : abbreviation.forms) {
      Value value;
      if (!work_.take() || !read_value(in, one, value)) return false;
      switch (one.attribute) {
        case kByteSize: entry.size = value.number; break;
        case kType: entry.type = value.reference; break;
        case kSpecification: case kOrigin: entry.origin = value.reference; break;
        case kLowerBound: lower = value.number.value_or(0); break;
        case kUpperBound: upper = value.number; break;
        case kCount: count = value.number; break;
        case kLocation:
          if (value.block && abbreviation.tag == kVariable) entry.place = place(*value.block);
          break;
        case kAddressBase: case kGnuAddressBase:
          if (first) address_base_ = value.number.value_or(0);
          break;
        default: break;
      }
    }
    if (abbreviation.tag != kSubrange) return true;
    if (!count && upper) count = *upper - lower + 1;
    entry.counted = count.has_value();
    entry.count = count.value_or(0);
    return true;
  }

  /// Of an expression that is an address and nothing else.
  std::optional<uint64_t> place(Bytes expression) const {
    ByteReader in(expression, sections_.endian);
    const auto operation = in.uint(1);
    if (operation == kOpAddr) {
      const auto address = in.uint(address_bytes_);
      return in.left() == 0 ? address : std::nullopt;
    }
    if (operation != kOpAddrx && operation != kOpGnuAddrIndex) return std::nullopt;
    const auto number = leb128(in);
    if (!number || in.left() != 0 || *number > UINT32_MAX) return std::nullopt;
    const uint64_t at = address_base_ + *number * address_bytes_;
    if (at > sections_.addresses.size() || sections_.addresses.size() - at < address_bytes_)
      return std::nullopt;
    return load_uint(sections_.addresses.data() + at, address_bytes_, sections_.endian);
  }

  bool take_block(ByteReader& in, std::optional<uint64_t> size, Value& value) const {
    if (!size || *size > in.left()) return false;
    value.block = in.take(*size);
    return value.block.has_value();
  }

  static bool take_number(ByteReader& in, size_t size, std::optional<uint64_t>& number) {
    number = in.uint(size);
    return number.has_value();
  }

  bool read_value(ByteReader& in, const AbbreviationForm& one, Value& value) const {
    uint64_t form = one.form;
    for (int turns = 0; form == kIndirect; ++turns) {
      const auto stated = leb128(in);
      if (!stated || turns > 4 || *stated == kImplicitConst) return false;
      form = *stated;
    }
    switch (form) {
      case kAddr: return in.take(address_bytes_).has_value();
      case kBlock1: return take_block(in, in.uint(1), value);
      case kBlock2: return take_block(in, in.uint(2), value);
      case kBlock4: return take_block(in, in.uint(4), value);
      case kBlock: case kExprloc: return take_block(in, leb128(in), value);
      case kData1: return take_number(in, 1, value.number);
      case kData2: return take_number(in, 2, value.number);
      case kData4: return take_number(in, 4, value.number);
      case kData8: return take_number(in, 8, value.number);
      case kSdata: case kUdata:
        value.number = leb128(in, form == kSdata);
        return value.number.has_value();
      case kImplicitConst: value.number = one.constant; return true;
      case kSecOffset: return take_number(in, offset_bytes_, value.number);
      case kRef1: return take_number(in, 1, value.reference);
      case kRef2: return take_number(in, 2, value.reference);
      case kRef4: return take_number(in, 4, value.reference);
      case kRef8: return take_number(in, 8, value.reference);
      case kRefUdata:
        value.reference = leb128(in);
        return value.reference.has_value();
      default: return skip(in, form);
    }
  }

  bool skip(ByteReader& in, uint64_t form) const {
    const auto bytes = [&](size_t size) { return in.take(size).has_value(); };
    switch (form) {
      case kString:
        for (auto byte = in.uint(1); byte != 0; byte = in.uint(1))
          if (!byte) return false;
        return true;
      case kFlagPresent: return true;
      case kFlag: case kStrx1: case kAddrx1: return bytes(1);
      case kStrx2: case kAddrx2: return bytes(2);
      case kStrx3: case kAddrx3: return bytes(3);
      case kStrx4: case kAddrx4: case kRefSup4: return bytes(4);
      case kRefSig8: case kRefSup8: return bytes(8);
      case kData16: return bytes(16);
      case kRefAddr: return bytes(version_ == 2 ? address_bytes_ : offset_bytes_);
      case kStrp: case kStrpSup: case kLineStrp: case kGnuRefAlt: case kGnuStrpAlt:
        return bytes(offset_bytes_);
      case kStrx: case kAddrx: case kLoclistx: case kRnglistx: case kGnuAddrIndex:
      case kGnuStrIndex:
        return leb128(in).has_value();
      default: return false;
    }
  }

  /// A declaration elsewhere may have the type of a definition, typedefs and const another's size.
  void tell(const Entry& variable) {
    const Entry* at = &variable;
    uint64_t times = 1;
    for (size_t deep = 0; deep < kTypesDeep && work_.take(); ++deep) {
      if (at->tag != kVariable && at->tag != kMember && at->size) {
        if (*at->size == 0 || *at->size > kSizeMax / times) return;
        out_.push_back({*variable.place, *at->size * times});
        return;
      }
      if (at->tag == kArray) {
        if (at->count == 0 || at->count > kSizeMax / times) return;
        times *= at->count;
      }
      const auto next = at->type ? at->type : at->origin;
      at = next ? entry_at(*next) : nullptr;
      if (at == nullptr) return;
    }
  }

  using Placed = std::pair<uint64_t, Entry>;  // by offset in the unit
  // A unit's entries are forgotten at no cost, however many there were in the one before it.
  static_assert(std::is_trivially_destructible_v<Placed>);

  const DebugSections& sections_;
  Work& work_;
  std::vector<VariableSize>& out_;
  std::map<uint64_t, Abbreviations> tables_;
  uint64_t kept_ = 0;  // abbreviations and forms in them
  const Abbreviations* abbreviations_ = nullptr;
  size_t offset_bytes_ = 4;
  uint64_t version_ = 4, address_bytes_ = 8, address_base_ = 0;
  std::vector<Placed> entries_;  // as they stand in the unit, so ascending
  std::vector<uint64_t> variables_;
};

}  // namespace
}  // namespace debug_info

std::vector<VariableSize> variable_sizes(const DebugSections& sections, Work& work) {
  std::vector<VariableSize> out;
  debug_info::UnitReader reader(sections, work, out);
  Bytes rest = sections.info;
  while (!rest.empty() && work.take()) {
    ByteReader in(rest, sections.endian);
    constexpr uint64_t kWide = 0xffffffff, kReserved = 0xfffffff0;
    auto length = in.uint(4);
    size_t offset_bytes = 4;
    if (length == kWide) {
      length = in.uint(8);
      offset_bytes = 8;
    } else if (length && *length >= kReserved) {
      break;
    }
    if (!length || *length > in.left()) break;
    const size_t head = rest.size() - in.left();
    const Bytes unit = rest.first(head + *length);
    reader.read(unit, ByteReader(unit.subspan(head), sections.endian), offset_bytes);
    rest = rest.subspan(unit.size());
  }
  const auto less = [](const VariableSize& a, const VariableSize& b) {
    return a.address != b.address ? a.address < b.address : a.size > b.size;
  };
  if (!sort_unless(work.stop(), out, less)) return {};
  const auto same = std::ranges::unique(out, {}, &VariableSize::address);
  out.erase(same.begin(), same.end());
  return out;
}

}  // namespace tracewell::symbols
