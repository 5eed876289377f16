// The register dump of an x64dbg trace (its struct REGDUMP), word by word, and how GDB's registers
// lie in it. Offsets are those of Microsoft's alignment rules: 1376 bytes for x64, 864 for x32.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/trace64/blocks/block.h"
#include "model/registers.h"

namespace tracewell::formats::trace64 {

constexpr uint32_t kDumpBytesMax = 1376;
constexpr uint32_t kWordsMax = 216;
constexpr uint32_t kRegistersMax = 128;  // of WordMap's layouts

/// Parts of the dump that hold what other parts say too, in another form (and padding). A bit each.
enum Group : uint8_t { kFlags = 1, kX87 = 2, kVectors = 4, kMxcsr = 8, kPadding = 16 };
constexpr uint8_t kAllGroups = 31;

/// The registers: those of GDB's x86-64 (or i386) description with AVX, in its order; then dr0-dr3,
/// dr6, dr7, last_error, cr0_npx, and x64dbg_rest. That last one is a whole dump: where bytes only
/// repeat other registers, the difference from what these imply (zero in a consistent file), and
/// the padding; so that nothing of a file is lost.
/// fs_base and fop are not recorded, and gs_base only shows in the addresses of operands.
class WordMap {
 public:
  static const WordMap& of(const Shape& shape);

  const Shape& shape() const { return shape_; }
  const RegisterLayout& layout() const { return layout_; }
  /// GDB's XML of all registers but x64dbg_rest.
  const std::string& target_description() const { return description_; }
  uint32_t rest_index() const { return rest_index_; }
  /// Where a register's value stands in a RegisterState's block.
  struct Extent {
    uint32_t offset = 0, size = 0;
  };
  const Extent& extent(uint32_t index) const { return extents_[index]; }
  /// The first words, up to the program counter's, are one register each.
  uint16_t register_of_first_word(uint32_t word) const { return first_words_[word]; }

  /// Registers (by index, without x64dbg_rest) that may change when `word` does.
  std::span<const uint16_t> registers_of(uint32_t word) const { return registers_of_[word]; }
  /// The words that the register is made of; empty: it is not recorded.
  std::span<const uint16_t> words_of(uint32_t index) const { return words_of_[index]; }
  /// May it be not known although its words stand in a block?
  bool may_be_unknown(uint32_t index) const {
    return index < rest_index_ && index != layout_.pc_index && !words_of_[index].empty();
  }
  uint8_t groups_of_word(uint32_t word) const { return groups_of_word_[word]; }
  uint8_t groups_of_register(uint32_t index) const { return groups_of_register_[index]; }

  /// The register's value from a dump. Not x64dbg_rest.
  void get(const uint8_t* dump, uint32_t index, uint8_t* value) const;
  /// The other way; leaves what is derived to fill(). st0-st7 stand where fstat says, so that goes
  /// in first.
  void put(uint8_t* dump, uint32_t index, const uint8_t* value) const;
  /// x64dbg_rest of these groups from a dump. Is it another one than `rest` held?
  bool rest_of(const uint8_t* dump, uint8_t groups, uint8_t* rest) const;
  /// Derived words and padding of these groups, from the dump's other words and x64dbg_rest.
  void fill(uint8_t* dump, uint8_t groups, const uint8_t* rest) const;

 private:
  struct Field {  // of a register in a dump
    uint16_t at = 0;
    uint16_t size = 0;  // bytes; the register may be wider, and is then zero above
  };
  struct Offsets {
    uint16_t pc, flags, segments, debug, area, control, status, tag, error, error_selector, data,
        data_selector, cr0, mxcsr, xmm, ymm, flag_bytes, records, mm, mxcsr_fields, status_fields,
        control_fields, last_error;
  };
  explicit WordMap(const Shape& shape);
  void add_registers();
  void add_fields();
  void describe();
  void derive_index();
  void set(std::string_view name, uint32_t at, uint32_t size);
  uint32_t top_of(const uint8_t* dump) const;
  uint32_t area_of(const uint8_t* dump, uint32_t st) const;
  /// What the group's bytes are by the rest of the dump; writes them into `out`, a dump.
  void implied(const uint8_t* dump, uint8_t group, uint8_t* out) const;
  void implied_x87(const uint8_t* dump, uint8_t* out) const;

  Shape shape_;
  Offsets at_ = {};
  RegisterLayout layout_;
  std::string description_;
  uint32_t rest_index_ = 0;
  uint32_t st0_index_ = 0;
  std::vector<Field> fields_;  // by register
  std::vector<Extent> extents_;
  std::array<uint16_t, 17> first_words_ = {};
  std::array<std::vector<uint16_t>, kWordsMax> registers_of_;
  std::vector<std::vector<uint16_t>> words_of_;
  std::array<uint8_t, kWordsMax> groups_of_word_ = {};
  std::vector<uint8_t> groups_of_register_;
  std::array<std::vector<uint16_t>, 5> group_bytes_;  // of the dump, by group
};

}  // namespace tracewell::formats::trace64
