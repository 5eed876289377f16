// Which module an address is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/steps/steps_only.h"
#include "model/catalog.h"

namespace tracewell::formats {

/// No file system has longer names.
constexpr size_t kShortNameBytesMax = 1024;

/// Of modules whose size is known. Where two overlap, the one that begins later counts.
class ModuleMap {
 public:
  struct Place {
    uint32_t module = 0;  // index into Catalog::modules
    uint64_t offset = 0;  // from its lowest mapped address, in bytes
    uint64_t left = 0;    // bytes of the module from there on, at least 1
  };

  ModuleMap() = default;
  explicit ModuleMap(const Catalog& catalog);
  std::optional<Place> find(uint64_t address) const;

  /// The file's name without its folders, Windows ones too, as one line of plain text. Formats
  /// repeat it in each line, so that what is behind kShortNameBytesMax bytes becomes "…".
  static std::string short_name(const Module& module);
  /// Of all modules, in their order; how many names were cut is counted in `steps`.
  static std::vector<std::string> short_names(const Catalog& catalog, StepsOnly& steps);
  /// What a format of modules and offsets cannot carry of such a trace.
  static std::vector<std::string> refuses(const Catalog& catalog);

 private:
  struct Range {
    uint64_t start, size;
    uint32_t module;
  };
  std::vector<Range> ranges_;  // ascending
  mutable size_t last_ = 0;    // the range that the last address was in
};

}  // namespace tracewell::formats
