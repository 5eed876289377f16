// PeFile: headers and sections of a PE32 or PE32+ file in memory ("PE Format", Microsoft), which is
// what Windows runs. Every section's bytes are inside the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tracewell::symbols {

/// Addresses in a PE file are relative to where it is loaded ("RVA"), and have 32 bits.
class PeFile {
 public:
  /// Section::flags.
  static constexpr uint32_t kCode = 0x20, kExecutable = 0x20000000, kWritable = 0x80000000;

  struct Section {
    std::string_view name;  // long ones too, which stand elsewhere
    uint32_t rva = 0;
    uint32_t size = 0;   // of what was linked
    uint32_t flags = 0;
    Bytes bytes;  // what is mapped of the file: less than `size` (zeros follow), or more

    bool code() const { return (flags & (kCode | kExecutable)) != 0; }
    bool writable() const { return (flags & kWritable) != 0; }
  };
  /// Tables that the header points to.
  enum class Table : uint8_t {
    Exports = 0,
    Imports = 1,
    Relocations = 5,
    Debug = 6,
    LoadConfig = 10,
    ImportAddresses = 12,
    DelayedImports = 13,
  };
  struct Place {
    uint32_t rva = 0;
    uint32_t size = 0;  // 0 = there is no such table
  };

  static bool has_magic(Bytes bytes);
  /// Corrupt (it contradicts itself or is cut), Unsupported (16-bit programs, object files).
  /// `bytes` must outlive it.
  static Result<PeFile> parse(Bytes bytes);

  Bytes file() const { return bytes_; }
  uint32_t address_bytes() const { return address_bytes_; }
  uint16_t machine() const { return machine_; }
  bool library() const { return library_; }
  bool movable() const { return movable_; }  // linked so that it may be loaded anywhere
  uint64_t image_base() const { return image_base_; }
  uint32_t entry() const { return entry_; }  // 0 = none
  uint64_t size_of_image() const { return size_of_image_; }  // in whole pages
  /// The headers are mapped, too.
  Bytes headers() const { return headers_; }
  /// By ascending address, without overlaps, as the loader wants them.
  const std::vector<Section>& sections() const { return sections_; }
  const Section* find(std::string_view name) const;
  const Section* section_of(uint32_t rva) const;
  Place table(Table which) const;

  /// From an address to the end of what is mapped of its section (or of the headers); empty when
  /// nothing is there.
  Bytes from(uint32_t rva) const;
  /// Exactly so many bytes, or nullopt.
  std::optional<Bytes> at(uint32_t rva, uint64_t size) const;

  /// The COFF symbols, 18 bytes each, and the texts that go with them; empty when there are none.
  static constexpr size_t kCoffSymbolBytes = 18;
  Bytes coff_symbols() const { return coff_symbols_; }
  Bytes coff_texts() const { return coff_texts_; }
  /// Hex, of the record that names the debug file: its 16 bytes and its age; "" = none.
  std::string build_id() const;
  /// The name of that debug file (PDB), as the linker wrote it; "" = none.
  std::string debug_file() const;

 private:
  explicit PeFile(Bytes bytes) : bytes_(bytes) {}
  Bytes debug_record() const;
  Status read_headers();
  Status read_optional_header(Bytes header);
  void read_coff_symbols(uint32_t offset, uint32_t count);
  Status read_section(Bytes header);

  Bytes bytes_;
  uint32_t address_bytes_ = 8;
  uint16_t machine_ = 0;
  bool library_ = false;
  bool movable_ = false;
  uint64_t image_base_ = 0;
  uint32_t entry_ = 0;
  uint64_t size_of_image_ = 0;
  uint64_t end_ = 0;  // of the last section, once it is mapped
  uint32_t file_alignment_ = 0;
  Bytes headers_;
  std::vector<Section> sections_;
  std::array<Place, 16> tables_;
  Bytes coff_symbols_;
  Bytes coff_texts_;
};

}  // namespace tracewell::symbols
