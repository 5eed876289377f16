// ImportNames: the pieces of code, and the words, through which an image reaches what others have.
// They have no symbols of their own: an ELF file's procedure linkage table, whose entries jump to
// where the loader wrote an address, and the addresses that Windows writes for a PE file, with the
// jumps that lead there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf_file.h"
#include "symbols/pe_file.h"

namespace tracewell::symbols {

class ImportNames {
 public:
  struct Place {
    uint64_t address = 0, size = 0;
    std::string name;  // "snprintf@plt", "KERNEL32!CreateFileW"; a C++ name as people write it
    bool code = false;
  };

  /// What a name is made of for functions of the image's own that it reaches like others' (ifunc):
  /// the function's at exactly this address, "" = there is none.
  using FunctionName = std::function<std::string(uint64_t address)>;

  /// x86-64 and i386; what makes no sense is left out. One of the two, once.
  void read(const ElfFile& file, const FunctionName& function_name);
  void read(const PeFile& file);

  /// The one that holds the address; nullptr when none does.
  const Place* find(uint64_t address, bool code) const;
  const std::vector<Place>& places() const { return places_; }

 private:
  using Slots = std::map<uint64_t, std::string>;  // the word's address, what it leads to
  void read_plt(const ElfFile& file, const ElfFile::Section& section, const Slots& slots,
                const std::vector<std::string>& by_number);
  void read_table(const PeFile& file, std::string_view library, uint32_t names, uint32_t words,
                  Slots& slots);
  void read_thunks(const PeFile& file, const PeFile::Section& section, const Slots& slots);
  void index();

  size_t left_ = kEntriesMax;  // tables may be stated to overlap
  std::vector<Place> places_;  // by address
  static constexpr size_t kEntriesMax = size_t{1} << 20;
};

}  // namespace tracewell::symbols
