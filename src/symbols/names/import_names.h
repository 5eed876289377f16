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

#include "symbols/elf/elf_file.h"
#include "symbols/names/demangle.h"
#include "symbols/pe/pe_file.h"

namespace tracewell::symbols {

class ImportNames {
 public:
  /// Where a name stands. Any number of entries may name one long text, or parts of it, so it is
  /// neither copied nor looked through before somebody asks.
  class Text {
   public:
    Text() = default;
    static Text of_elf(std::string_view symbol) { return Text({}, symbol, 0, Kind::Elf); }
    static Text of_own(std::string_view symbol) { return Text({}, symbol, 0, Kind::Own); }
    static Text of_pe(std::string_view library, std::string_view name) {
      return Text(library, name, 0, Kind::Pe);
    }
    static Text of_pe(std::string_view library, uint16_t number) {
      return Text(library, {}, number, Kind::PeNumber);
    }
    bool empty() const { return kind_ == Kind::None; }
    /// "snprintf@plt", "KERNEL32!CreateFileW"; a C++ name as people write it. "" = no NUL ends it.
    std::string name(Demangler& demangler) const;
    /// name() == `name`, soon.
    bool is(std::string_view name, Demangler& demangler) const;

   private:
    enum class Kind : uint8_t { None, Elf, Own, Pe, PeNumber };
    Text(std::string_view library, std::string_view name, uint16_t number, Kind kind)
        : library_(library), name_(name), number_(number), kind_(kind) {}

    std::string_view library_, name_;  // until a NUL, which may be missing; all of it if Own
    uint16_t number_ = 0;
    Kind kind_ = Kind::None;
  };
  struct Place {
    uint64_t address = 0, size = 0;
    Text text;
    bool code = false;
  };

  /// What a name is made of for functions of the image's own that it reaches like others' (ifunc):
  /// the function's at exactly this address, "" = there is none. It lives as long as the file.
  using FunctionName = std::function<std::string_view(uint64_t address)>;

  /// x86-64 and i386; what makes no sense is left out. One of the two, once. The file's bytes must
  /// outlive this.
  void read(const ElfFile& file, const FunctionName& function_name);
  void read(const PeFile& file, const Stop& stop = {});

  /// The one that holds the address; nullptr when none does.
  const Place* find(uint64_t address, bool code) const;
  const std::vector<Place>& places() const { return places_; }

 private:
  using Slots = std::map<uint64_t, Text>;  // the word's address, what it leads to
  void read_plt(const ElfFile& file, const ElfFile::Section& section, uint64_t got_address,
                const Slots& slots, const std::vector<Text>& by_number);
  void read_table(const PeFile& file, std::string_view library, uint32_t names, uint32_t words,
                  Slots& slots);
  void read_thunks(const PeFile& file, const PeFile::Section& section, Bytes code,
                   const Slots& slots, Work& work);
  void index();

  size_t left_ = kEntriesMax;  // tables may be stated to overlap
  std::vector<Place> places_;  // by address
  static constexpr size_t kEntriesMax = size_t{1} << 20;
};

}  // namespace tracewell::symbols
