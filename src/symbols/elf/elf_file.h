// ElfFile: the sections of an ELF file in memory, for those who read names from it. What is damaged
// is not there; every section's bytes are inside the file. Others may write to it meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"

namespace tracewell::symbols {

class ElfHeaders;

/// The text at `offset` of a string table, which a NUL ends; nullopt when none does, or only behind
/// `length_max` characters.
std::optional<std::string_view> text_at(Bytes strings, uint64_t offset, size_t length_max);

class ElfFile {
 public:
  /// What all compressed sections of a file may unfold to: kUnfoldedEach bytes for each of its own
  /// and kUnfoldedFree more, but no more than kUnfoldedMax. Debug information shrinks to a half or
  /// a fifth, zeros to a thousandth; and headers may name the same bytes again and again.
  static constexpr uint64_t kUnfoldedFree = uint64_t{32} << 20, kUnfoldedEach = 16,
                            kUnfoldedMax = uint64_t{1} << 30;

  struct Section {
    std::string_view name;
    uint32_t type = 0;
    uint32_t link = 0;
    uint64_t flags = 0;
    uint64_t address = 0;
    uint64_t size = 0;
    uint64_t offset = 0;
    uint64_t entry_bytes = 0;
    Bytes bytes;  // as they stand in the file; empty when not all of them do
  };

  /// `bytes` must outlive it.
  explicit ElfFile(Bytes bytes);
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  /// The first is the empty one, as in the file. Empty when this is no ELF file.
  const std::vector<Section>& sections() const { return sections_; }
  const Section* find(std::string_view name) const;
  const Section* find(uint32_t type) const;
  /// What the section holds: its bytes or, when they are compressed, what they unfold to, which
  /// lives as long as `owner`. Empty when there is no more room for it.
  Bytes contents(const Section& section, std::shared_ptr<const void>& owner);

  Endian endian() const { return endian_; }
  uint32_t address_bytes() const { return address_bytes_; }
  uint16_t machine() const { return machine_; }
  std::string build_id() const;  // hex, "" = none

 private:
  void read_sections(const ElfHeaders& headers);

  Bytes bytes_;
  uint64_t room_;  // for what is unfolded
  Endian endian_ = Endian::Little;
  uint32_t address_bytes_ = 8;
  uint16_t machine_ = 0;
  std::vector<Section> sections_;
};

}  // namespace tracewell::symbols
