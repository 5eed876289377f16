// Image: an ELF or PE file as a program sees it once it is mapped: where its segments lie, which of
// them nobody writes to, and the few facts by which a debugger finds its way into a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/files/file.h"
#include "base/result.h"

namespace tracewell::symbols {

/// A run of bytes at the file's own (link-time) address.
struct ImageRange {
  uint64_t address = 0;
  Bytes bytes;  // of the file; lives as long as the Image

  uint64_t end() const { return address + bytes.size(); }
};

/// What the header and the program headers say.
struct ImageFacts {
  enum class Format : uint8_t { Elf, Pe };

  Format format = Format::Elf;
  uint32_t address_bytes = 8;  // 4 or 8: the ELF class, PE32 or PE32+
  Endian endian = Endian::Little;
  uint16_t machine = 0;      // e_machine: 62 = x86-64, 3 = i386; of PE: 0x8664 and 0x14c
  bool relocatable = false;  // ET_DYN, or PE with relocations: it may be mapped anywhere
  bool program = false;      // meant to be run; libc is not, though it has an interpreter
  uint64_t entry = 0;        // link-time address, 0 = none
  uint64_t link_base = 0;    // lowest address of a loadable segment, rounded down to its page
  uint64_t span_bytes = 0;   // from link_base to the end of the highest loadable segment
  std::optional<uint64_t> program_headers;  // where they are mapped, link-time address
  uint32_t program_header_bytes = 0;        // of one
  uint32_t program_header_count = 0;
  std::optional<uint64_t> dynamic;          // address of the dynamic section
  uint64_t first_section = 0;               // of PE: where the headers end, link-time address
  std::string interpreter;                  // "" = none
  std::string build_id;  // hex, "" = none; of PE: the signature and age of its debug file
  /// Of PE: the debug file that has the names and lines which this one lacks; "" = it has its own,
  /// or no such file is named.
  std::string symbols_in;
};

/// A number in the file that the loader of a PE file changes when it maps it elsewhere.
struct ImageRelocation {
  enum class Kind : uint8_t { High16, Low16, Word32, Word64 };

  uint32_t offset = 0;  // of the number, from ImageFacts::link_base
  Kind kind = Kind::Word32;

  uint64_t size_bytes() const { return kind == Kind::Word64 ? 8 : kind == Kind::Word32 ? 4 : 2; }
};

/// Immutable once opened, so threads may share it. Hostile files give errors: every offset is
/// checked against the file, and nothing is allocated that the file's size does not justify.
class Image {
 public:
  static constexpr size_t kHeadersMax = 65536;  // program headers, and sections, each

  /// To judge by its first bytes.
  static bool may_be(Bytes head);
  /// Io, Corrupt (the file contradicts itself), Unsupported (neither ELF nor PE, an object file, or
  /// a file of symbols alone, such as PDB).
  static Result<std::shared_ptr<const Image>> open(const std::string& path);
  /// The same of a name that was found (base/files/open.h), and of a file that is open already.
  static Result<std::shared_ptr<const Image>> open_found(const std::string& path);
  static Result<std::shared_ptr<const Image>> of(std::shared_ptr<InputFile> file, std::string path);
  /// The same of bytes in memory, which `owner` keeps alive.
  static Result<std::shared_ptr<const Image>> parse(Bytes bytes, std::shared_ptr<const void> owner,
                                                    std::string path);

  const std::string& path() const { return path_; }
  /// Of the file as it was opened; nothing of bytes in memory.
  const std::optional<FileFacts>& file_facts() const { return file_facts_; }
  const ImageFacts& facts() const { return facts_; }
  /// The whole file; lives as long as the Image.
  Bytes file() const { return file_; }
  /// What the loader maps without write permission, and read-only sections wherever they are;
  /// without what the loader of a PE file fills in nevertheless. Sorted by address, without
  /// overlaps.
  std::span<const ImageRange> read_only() const { return read_only_; }
  /// Bytes at a link-time address, of read_only() alone: the readable prefix. They are as they
  /// would be with the image moved by `bias`.
  size_t read(uint64_t address, std::span<uint8_t> into, uint64_t bias = 0) const;
  /// Is every byte of the range there to be read()?
  bool covers(uint64_t address, uint64_t size) const;

 private:
  friend class ImageReader;
  friend class PeReader;
  Image() = default;
  static Result<std::shared_ptr<Image>> make(Bytes bytes, std::shared_ptr<const void> owner,
                                             std::string path);
  void relocate(uint64_t address, std::span<uint8_t> bytes, uint64_t bias) const;
  std::string path_;
  std::optional<FileFacts> file_facts_;
  std::shared_ptr<const void> owner_;
  Bytes file_;
  ImageFacts facts_;
  std::vector<ImageRange> read_only_;
  std::vector<ImageRelocation> relocations_;  // sorted, apart, all of read_only()
};

}  // namespace tracewell::symbols
