// SymbolTable: functions and objects of an ELF or PE file, by the link-time addresses that they
// cover.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "symbols/dwarf/variable_sizes.h"
#include "symbols/names/range_index.h"
#include "symbols/work.h"

namespace tracewell::symbols {

class ElfFile;
class PeFile;

/// Where addresses overlap, the innermost symbol; of several at one address the global one, then
/// the local one, then the weak one, and among equals the one that the file has first. A symbol
/// without a size reaches to the next one of its section.
class SymbolTable {
 public:
  struct Found {
    std::string_view name;  // as it stands in the file, without a version; lives as long as that
    uint64_t offset = 0;    // of the address, from where the symbol begins
  };

  /// Of a table, no more entries are read. A file of holes may have any number of them; of real
  /// ones, so many would hardly find room for their names, which stand by offsets of 32 bits.
  static constexpr size_t kEntriesMax = size_t{1} << 25;

  /// Reads .symtab or, if that has nothing, .dynsym. Entries that make no sense are left out.
  /// `sizes`: of variables whose symbols do not say it. Where `stop` says so, there are none.
  void read(const ElfFile& file, std::span<const VariableSize> sizes = {}, const Stop& stop = {});
  /// Reads the exports and the COFF symbols.
  void read(const PeFile& file, std::span<const VariableSize> sizes = {}, const Stop& stop = {});
  bool empty() const { return symbols_.empty(); }
  /// Is it .symtab's, or has it COFF's? The others have only what other files may use.
  bool whole() const { return whole_; }

  /// A function; failing that, a label without a type in code.
  std::optional<Found> find_function(uint64_t address) const;
  std::optional<Found> find_object(uint64_t address) const;
  struct Named {
    std::string_view name;
    uint64_t address = 0, size_bytes = 0;  // 0 bytes: the file does not say
    bool object = false;
  };
  /// Those whose names, as they stand in the file, are wanted. A look at all of them, unless `stop`
  /// says so.
  std::vector<Named> find_named(const std::function<bool(std::string_view)>& wanted,
                                const Stop& stop = {}) const;

 private:
  enum class Kind : uint8_t { Function, Label, Object };
  struct Symbol {
    uint64_t address;
    uint64_t size;
    uint32_t name;  // offset in strings_
    uint8_t rank;   // of the binding, the best is 0
    Kind kind;
    uint8_t name_bytes = 0;  // at most so many; 0 = until a NUL, which must be there
  };
  /// What a program maps at addresses of its own.
  struct Area {
    uint64_t address, end;
    bool code;
  };
  bool read_table(const ElfFile& file, uint32_t type, Work& work);
  static std::optional<Kind> kind_of(unsigned char type, bool is_mark);
  void read_exports(const PeFile& file, Work& work);
  void read_coff(const PeFile& file, Work& work);
  void add_coff(const PeFile& file, Bytes entry);
  void add(const PeFile& file, Symbol symbol, uint32_t rva);
  bool index(std::span<const Area> areas, Work& work);
  void prefer(Work& work);
  void take_sizes(std::span<const VariableSize> sizes, Work& work);
  std::string_view name_of(const Symbol& symbol) const;
  std::optional<Found> found(std::optional<uint32_t> number, uint64_t address) const;

  bool whole_ = false;
  bool versions_ = true;  // what follows an @ in a name is no part of it
  Bytes strings_;
  std::vector<Symbol> symbols_;  // the preferred ones first
  RangeIndex functions_, labels_, objects_;
};

}  // namespace tracewell::symbols
