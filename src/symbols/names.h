// Names: what the addresses of an image are called in its source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/dwarf/line_table.h"
#include "symbols/image.h"
#include "symbols/names/demangle.h"
#include "symbols/names/import_names.h"
#include "symbols/names/symbol_table.h"
#include "symbols/work.h"

namespace tracewell::symbols {

struct SymbolPlace {
  std::string name;     // C++ names as people write them
  uint64_t offset = 0;  // of the address, from where the symbol begins
};

struct SourcePlace {
  std::string file;  // without its folder
  uint32_t line = 0;
};

/// Where something is that has a name.
struct NamedPlace {
  uint64_t address = 0;
  uint64_t size_bytes = 0;  // 0 = not known

  bool operator==(const NamedPlace&) const = default;
};

/// Immutable once read, so threads may share it. Addresses are link-time ones. Names come from
/// outside: print them with printable().
///
/// What the image itself lacks is taken from a separate debug file, if one with the same build-id
/// is installed: DIRECTORY/.build-id/xx/yyyy.debug. Others (.gnu_debuglink, .gnu_debugdata, .dwo,
/// and PDB, for PE files) are not looked for. A PE file has lines if its compiler wrote DWARF.
class Names {
 public:
  static constexpr const char* kDebugDirectory = "/usr/lib/debug";

  /// What is damaged is not there: this has no errors, only less to tell. "" = no debug files.
  /// Where `stop` says so, what has not been read by then is not there either. Debug information
  /// is read up to a bound, for its author may have made it so that it never ends
  /// (LineTable::kWorkMax, kVariableWorkMax).
  static std::shared_ptr<const Names> read(std::shared_ptr<const Image> image,
                                           const std::string& debug_directory = kDebugDirectory,
                                           const Stop& stop = {});

  /// What writes this image's names, for whoever asks for many: each thread has its own.
  Demangler demangler(const Stop& stop = {}) const;

  /// The function that holds the address.
  std::optional<SymbolPlace> function_at(uint64_t address, Demangler& demangler) const;
  std::optional<SymbolPlace> function_at(uint64_t address) const;
  /// The variable or constant that holds it.
  std::optional<SymbolPlace> object_at(uint64_t address, Demangler& demangler) const;
  std::optional<SymbolPlace> object_at(uint64_t address) const;
  /// The functions and variables of this name, as the file spells it or as people write it, with or
  /// without a function's parameters, and what leads to others' ("snprintf@plt"); each place once,
  /// by address. Not those of whose names the demangler, when it is over, has not said how people
  /// write them.
  /// Where `stop` says so, what has not been looked at by then is not found.
  std::vector<NamedPlace> find(std::string_view name, Demangler& demangler,
                               const Stop& stop = {}) const;
  std::vector<NamedPlace> find(std::string_view name) const;
  /// The line that the instruction is from.
  std::optional<SourcePlace> line_at(uint64_t address) const;
  /// Compressed sections that the lines lack: they are damaged, or there was no room for them.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  Names() = default;
  void read_from(Bytes file, const Stop& stop);
  void read_all(const std::string& debug_directory, const Stop& stop);
  void read_pe(Bytes file, const Stop& stop);
  std::optional<SymbolPlace> import_at(uint64_t address, bool code, Demangler& demangler) const;

  std::shared_ptr<const Image> image_;
  std::shared_ptr<const void> debug_file_;
  size_t debug_file_bytes_ = 0;
  std::shared_ptr<const void> unfolded_[3];  // sections that are compressed in their file
  SymbolTable symbols_;
  ImportNames imports_;
  LineTable lines_;
  std::vector<std::string> left_out_;
};

}  // namespace tracewell::symbols
