#include "formats/trace64/blocks/words.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "machine/tdesc.h"
#include "machine/x86.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr uint32_t kRecordBytes = 20;  // of an x87 register: 10 data, 2 padding, place, tag
constexpr std::string_view kGpr64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                       "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr std::string_view kGpr32[] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"};
constexpr std::string_view kSegments[] = {"gs", "fs", "es", "ds", "cs", "ss"};
constexpr std::string_view kDebug[] = {"dr0", "dr1", "dr2", "dr3", "dr6", "dr7"};

// Which bits of a register the dump spells out, a byte each.
constexpr uint8_t kFlagBits[] = {0, 2, 4, 6, 7, 8, 9, 10, 11};  // c p a z s t i d o
// FZ PM UM OM ZM IM DM DAZ PE UE OE ZE DE IE
constexpr uint8_t kMxcsrBits[] = {15, 12, 11, 10, 9, 7, 8, 6, 5, 4, 3, 2, 1, 0};
constexpr uint8_t kStatusBits[] = {15, 14, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};  // B C3 C2 … D I
constexpr uint8_t kControlBits[] = {12, 7, 5, 4, 3, 2, 1, 0};  // IC IEM PM UM OM ZM DM IM

void spell(std::span<const uint8_t> bits, uint32_t value, uint8_t* out) {
  for (const uint8_t bit : bits) *out++ = value >> bit & 1;
}

uint16_t load16(const uint8_t* at) {
  return static_cast<uint16_t>(load_uint(at, 2, Endian::Little));
}

}  // namespace

const WordMap& WordMap::of(const Shape& shape) {
  static const WordMap kWide(kX64);
  static const WordMap kNarrow(kX32);
  return shape.wide ? kWide : kNarrow;
}

WordMap::WordMap(const Shape& shape) : shape_(shape) {
  // One after the other as the struct has them; what the two differ in is the size of a word, and
  // that Microsoft's compiler aligns to it.
  const uint32_t w = shape.word;
  auto at = [](uint32_t offset) { return static_cast<uint16_t>(offset); };
  const uint32_t gprs = shape.wide ? 16 : 8;
  at_.pc = at(gprs * w);
  at_.flags = at(at_.pc + w);
  at_.segments = at(at_.flags + w);
  at_.debug = at(shape.wide ? 160 : 52);
  at_.area = at(at_.debug + 6 * w);
  at_.control = at(at_.area + 80);
  at_.status = at(at_.control + 2);
  at_.tag = at(at_.control + 4);
  at_.error = at(at_.control + 8);
  at_.error_selector = at(at_.control + 12);
  at_.data = at(at_.control + 16);
  at_.data_selector = at(at_.control + 20);
  at_.cr0 = at(at_.control + 24);
  at_.mxcsr = at(at_.control + 28);
  at_.xmm = at(shape.wide ? 320 : 192);
  at_.ymm = at(at_.xmm + gprs * 16);
  at_.flag_bytes = at(at_.ymm + gprs * 32);
  at_.records = at(at_.flag_bytes + 12);
  at_.mm = at(at_.records + 8 * kRecordBytes + 4);
  at_.mxcsr_fields = at(at_.mm + 64);
  at_.status_fields = at(at_.mxcsr_fields + 16);
  at_.control_fields = at(at_.status_fields + 16);
  at_.last_error = at(at_.control_fields + 12);
  TW_CHECK(at_.last_error + 4u == shape.dump_bytes());
  add_registers();
  describe();
  add_fields();
  derive_index();
  for (uint32_t word = 0; word <= shape_.pc_word; ++word)
    first_words_[word] = registers_of_[word].front();
}

void WordMap::add_registers() {
  machine::X86Features features;
  features.linux_abi = false;
  features.avx = true;
  layout_ = shape_.wide ? machine::x86_64_layout(features) : machine::i386_layout(features);
  description_ = shape_.wide ? machine::x86_64_tdesc(features) : machine::i386_tdesc(features);
  auto add = [this](std::string_view name, uint32_t size, std::string_view type) {
    layout_.registers.push_back({std::string(name),
                                 static_cast<uint32_t>(layout_.registers.size()),
                                 layout_.size_bytes, size, std::string(type)});
    layout_.size_bytes += size;
  };
  const std::string_view word = shape_.wide ? "int64" : "int32";
  for (const std::string_view name : kDebug) add(name, shape_.word, word);
  add("last_error", 4, "int32");
  add("cr0_npx", 4, "int32");
  rest_index_ = static_cast<uint32_t>(layout_.registers.size());
  add("x64dbg_rest", shape_.dump_bytes(), "uint8");
  fields_.resize(layout_.registers.size());
  for (const Register& one : layout_.registers)
    extents_.push_back({one.offset, one.size_bytes});
}

/// GDB's description, without the system (these are Windows programs, and GDB would look for
/// Linux's), with our registers as a feature of their own.
void WordMap::describe() {
  const std::string osabi = "  <osabi>GNU/Linux</osabi>\n";
  if (const size_t at = description_.find(osabi); at != std::string::npos)
    description_.erase(at, osabi.size());
  std::string more = "  <feature name=\"org.tracewell.x64dbg\">\n";
  for (uint32_t i = rest_index_ - 8; i < rest_index_; ++i) {
    const Register& one = layout_.registers[i];
    more += fmt::format("    <reg name=\"{}\" bitsize=\"{}\" type=\"{}\" regnum=\"{}\"/>\n",
                        one.name, one.size_bytes * 8, one.type, one.number);
  }
  more += "  </feature>\n";
  description_.insert(description_.rfind("</target>"), more);
}

void WordMap::set(std::string_view name, uint32_t at, uint32_t size) {
  const Register* one = layout_.find(name);
  TW_CHECK(one != nullptr);
  fields_[static_cast<size_t>(one - layout_.registers.data())] = {static_cast<uint16_t>(at),
                                                                  static_cast<uint16_t>(size)};
}

void WordMap::add_fields() {
  const std::span<const std::string_view> gprs =
      shape_.wide ? std::span<const std::string_view>(kGpr64) : kGpr32;
  for (uint32_t i = 0; i < gprs.size(); ++i) set(gprs[i], i * shape_.word, shape_.word);
  set(shape_.wide ? "rip" : "eip", at_.pc, shape_.word);
  set("eflags", at_.flags, 4);
  for (uint32_t i = 0; i < 6; ++i) set(kSegments[i], at_.segments + 2 * i, 2);
  for (uint32_t i = 0; i < 6; ++i) set(kDebug[i], at_.debug + i * shape_.word, shape_.word);
  set("fctrl", at_.control, 2);
  set("fstat", at_.status, 2);
  set("ftag", at_.tag, 2);
  set("fioff", at_.error, 4);
  set("fiseg", at_.error_selector, 4);
  set("fooff", at_.data, 4);
  set("foseg", at_.data_selector, 4);
  set("cr0_npx", at_.cr0, 4);
  set("mxcsr", at_.mxcsr, 4);
  for (uint32_t i = 0; i < gprs.size(); ++i) {
    set(fmt::format("xmm{}", i), at_.xmm + 16 * i, 16);
    set(fmt::format("ymm{}h", i), at_.ymm + 32 * i + 16, 16);
  }
  set("last_error", at_.last_error, 4);
  st0_index_ = static_cast<uint32_t>(layout_.find("st0") - layout_.registers.data());
}

void WordMap::derive_index() {
  std::vector<bool> primary(shape_.dump_bytes());
  words_of_.resize(layout_.registers.size());
  groups_of_register_.resize(layout_.registers.size());
  auto group_of_byte = [this](uint32_t byte) -> uint8_t {
    auto in = [byte](uint32_t from, uint32_t size) { return byte >= from && byte < from + size; };
    if (in(at_.flags, shape_.word) || in(at_.flag_bytes, 9)) return kFlags;
    if (in(at_.mxcsr, 4) || in(at_.mxcsr_fields, 16)) return kMxcsr;
    if (in(at_.xmm, at_.flag_bytes - at_.xmm)) return kVectors;
    if (in(at_.area, 88) || in(at_.records, at_.mxcsr_fields - at_.records) ||
        in(at_.status_fields, 28))
      return kX87;
    return kPadding;
  };
  auto use = [&](uint32_t index, uint32_t from, uint32_t size) {
    for (uint32_t word = from / shape_.word; word <= (from + size - 1) / shape_.word; ++word) {
      words_of_[index].push_back(static_cast<uint16_t>(word));
      registers_of_[word].push_back(static_cast<uint16_t>(index));
    }
    groups_of_register_[index] |= group_of_byte(from) & ~kPadding;
    std::fill_n(primary.begin() + from, size, true);
  };
  for (uint32_t i = 0; i < fields_.size(); ++i)
    if (fields_[i].size != 0) use(i, fields_[i].at, fields_[i].size);
  for (uint32_t st = 0; st < 8; ++st) {
    use(st0_index_ + st, at_.area, 80);
    const auto status = static_cast<uint16_t>(at_.status / shape_.word);
    words_of_[st0_index_ + st].push_back(status);
    registers_of_[status].push_back(static_cast<uint16_t>(st0_index_ + st));
  }
  for (uint32_t word = 0; word <= shape_.pc_word; ++word)
    TW_CHECK(registers_of_[word].size() == 1);
  for (uint32_t byte = 0; byte < shape_.dump_bytes(); ++byte) {
    const uint8_t group = group_of_byte(byte);
    if (group != kPadding || !primary[byte]) groups_of_word_[byte / shape_.word] |= group;
    if (!primary[byte])
      group_bytes_[std::countr_zero(group)].push_back(static_cast<uint16_t>(byte));
  }
}

uint32_t WordMap::top_of(const uint8_t* dump) const { return load16(dump + at_.status) >> 11 & 7; }

/// Where st(`st`) is among the physical registers, which the dump holds.
uint32_t WordMap::area_of(const uint8_t* dump, uint32_t st) const {
  return at_.area + 10 * ((top_of(dump) + st) & 7);
}

void WordMap::get(const uint8_t* dump, uint32_t index, uint8_t* value) const {
  if (index >= st0_index_ && index < st0_index_ + 8) {
    std::memcpy(value, dump + area_of(dump, index - st0_index_), 10);
    return;
  }
  const Field& field = fields_[index];
  const uint32_t size = layout_.registers[index].size_bytes;
  std::memcpy(value, dump + field.at, field.size);
  std::memset(value + field.size, 0, size - field.size);
}

void WordMap::put(uint8_t* dump, uint32_t index, const uint8_t* value) const {
  if (index >= st0_index_ && index < st0_index_ + 8)
    std::memcpy(dump + area_of(dump, index - st0_index_), value, 10);
  else
    std::memcpy(dump + fields_[index].at, value, fields_[index].size);
}

void WordMap::implied_x87(const uint8_t* dump, uint8_t* out) const {
  const uint32_t top = top_of(dump);
  const uint32_t tags = load16(dump + at_.tag);
  for (uint32_t st = 0; st < 8; ++st) {
    const uint32_t physical = (top + st) & 7;
    uint8_t* const record = out + at_.records + kRecordBytes * st;
    std::memcpy(record, dump + at_.area + 10 * physical, 10);
    store_uint(record + 12, st, 4, Endian::Little);
    store_uint(record + 16, tags >> (2 * physical) & 3, 4, Endian::Little);
    std::memcpy(out + at_.mm + 8 * st, dump + at_.area + 10 * st, 8);
  }
  const uint32_t status = load16(dump + at_.status);
  spell(kStatusBits, status, out + at_.status_fields);
  store_uint(out + at_.status_fields + 14, top, 2, Endian::Little);
  const uint32_t control = load16(dump + at_.control);
  spell(kControlBits, control, out + at_.control_fields);
  store_uint(out + at_.control_fields + 8, control >> 10 & 3, 2, Endian::Little);
  store_uint(out + at_.control_fields + 10, control >> 8 & 3, 2, Endian::Little);
}

void WordMap::implied(const uint8_t* dump, uint8_t group, uint8_t* out) const {
  for (const uint16_t byte : group_bytes_[std::countr_zero(group)]) out[byte] = 0;
  if (group == kFlags) {
    spell(kFlagBits, load16(dump + at_.flags), out + at_.flag_bytes);
  } else if (group == kX87) {
    implied_x87(dump, out);
  } else if (group == kVectors) {
    for (uint32_t i = 0; i < (shape_.wide ? 16u : 8u); ++i)
      std::memcpy(out + at_.ymm + 32 * i, dump + at_.xmm + 16 * i, 16);
  } else if (group == kMxcsr) {
    const uint32_t mxcsr = load16(dump + at_.mxcsr);
    spell(kMxcsrBits, mxcsr, out + at_.mxcsr_fields);
    store_uint(out + at_.mxcsr_fields + 14, mxcsr >> 13 & 3, 2, Endian::Little);
  }
}

bool WordMap::rest_of(const uint8_t* dump, uint8_t groups, uint8_t* rest) const {
  std::array<uint8_t, kDumpBytesMax> out;
  uint8_t news = 0;
  for (uint8_t group = 1; group <= kPadding; group <<= 1) {
    if ((groups & group) == 0) continue;
    implied(dump, group, out.data());
    for (const uint16_t byte : group_bytes_[std::countr_zero(group)]) {
      const auto difference = static_cast<uint8_t>(dump[byte] ^ out[byte]);
      news |= rest[byte] ^ difference;
      rest[byte] = difference;
    }
  }
  return news != 0;
}

void WordMap::fill(uint8_t* dump, uint8_t groups, const uint8_t* rest) const {
  std::array<uint8_t, kDumpBytesMax> out;
  for (uint8_t group = 1; group <= kPadding; group <<= 1) {
    if ((groups & group) == 0) continue;
    implied(dump, group, out.data());
    for (const uint16_t byte : group_bytes_[std::countr_zero(group)])
      dump[byte] = out[byte] ^ rest[byte];
  }
}

}  // namespace tracewell::formats::trace64
