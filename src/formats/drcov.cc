// DynamoRIO's coverage files, version 2: which basic blocks of which modules were executed. A head
// of text, then 8 bytes a block. Written only; docs/formats/drcov.md
//
// Readers differ in which columns of the module table they know; all know the five of version 2 on
// Linux. They look for the columns by splitting at ", ".
#include <algorithm>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "base/endian.h"
#include "base/text/text.h"
#include "formats/format.h"
#include "formats/steps/basic_blocks.h"
#include "formats/steps/module_map.h"
#include "formats/steps/steps_only.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"drcov"};
constexpr uint32_t kBlockBytesMax = UINT16_MAX;
constexpr uint32_t kModulesMax = UINT16_MAX + 1;
constexpr size_t kRecordBytes = 8;

/// A module's path as one field of the table.
std::string path_field(const Module& module) {
  std::string path = printable(module.path);
  for (size_t at = path.find(", "); at != std::string::npos; at = path.find(", ", at))
    path[at + 1] = '_';
  return path;
}

class DrcovWriter final : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> create(OutputFile file, const SaveOptions&) {
    return std::unique_ptr<Sink>(new DrcovWriter(std::move(file)));
  }

  std::vector<std::string> refuses(const Catalog& catalog) const override {
    std::vector<std::string> out = ModuleMap::refuses(catalog);
    if (catalog.modules.size() > kModulesMax)
      out.push_back(fmt::format("{} of {} modules do not fit its table",
                                catalog.modules.size() - kModulesMax, catalog.modules.size()));
    return out;
  }

  Status begin(const Catalog& catalog) override {
    // Readers take base and end for facts, so that a module of an unknown place has no line.
    for (const Module& one : catalog.modules) {
      numbers_.push_back(static_cast<uint32_t>(modules_.size()));
      if (one.is_placed() && modules_.size() < kModulesMax) modules_.push_back(one);
    }
    map_ = ModuleMap(catalog);
    blocks_.emplace(catalog.machine, kBlockBytesMax,
                    [this](uint64_t address, uint32_t size) { add(address, size); });
    return {};
  }

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      if (const auto* step = std::get_if<Step>(&event.body)) {
        steps_.of_process(event.process);
        if (map_.find(step->pc))
          blocks_->step(event.tid, *step);
        else
          steps_.count("executed instruction{ is|s are} outside of all modules, and left out");
        continue;
      }
      if (!std::holds_alternative<Change>(event.body)) blocks_->gap();
      TW_RETURN_IF_ERROR(steps_.other(event, "drcov"));
    }
    return {};
  }

  Status finish() override {
    blocks_->gap();
    steps_.count("instruction{|s} cannot be decoded; each is a block of the bytes that the trace "
                 "has of it, 1 if it has none",
                 blocks_->undecoded());
    TW_RETURN_IF_ERROR(write_head());
    std::vector<uint64_t> records(records_.begin(), records_.end());
    std::sort(records.begin(), records.end());
    for (const uint64_t one : records) {
      uint8_t record[kRecordBytes];
      store_uint(record, one >> 16, 4, Endian::Little);
      store_uint(record + 4, one, 2, Endian::Little);
      store_uint(record + 6, one >> 48, 2, Endian::Little);
      TW_RETURN_IF_ERROR(file_.write(Bytes(record)));
    }
    return file_.commit();
  }

  std::vector<std::string> left_out() const override { return steps_.left_out(); }

 private:
  explicit DrcovWriter(OutputFile file) : file_(std::move(file)) {}

  /// A block that begins in a module and ends behind it is cut to the module.
  void add(uint64_t address, uint32_t size) {
    const auto place = map_.find(address);
    const uint32_t number = numbers_[place->module];
    if (number >= modules_.size() || place->offset > UINT32_MAX) {
      steps_.count("executed block{ does not fit its fields, and is|s do not fit its "
                   "fields, and are} left out");
      return;
    }
    const uint64_t cut = std::min<uint64_t>(size, place->left);
    records_.insert(uint64_t{number} << 48 | place->offset << 16 | cut);
  }

  Status write_head() {
    TW_RETURN_IF_ERROR(file_.write(fmt::format(
        "DRCOV VERSION: 2\nDRCOV FLAVOR: tracewell\nModule Table: version 2, count {}\n"
        "Columns: id, base, end, entry, path\n",
        modules_.size())));
    for (size_t i = 0; i < modules_.size(); ++i) {
      const Module& one = modules_[i];
      TW_RETURN_IF_ERROR(file_.write(fmt::format("{:3}, {:#018x}, {:#018x}, {:#018x}, {}\n", i,
                                                 one.start, one.start + one.size_bytes, 0,
                                                 path_field(one))));
    }
    return file_.write(fmt::format("BB Table: {} bbs\n", records_.size()));
  }

  OutputFile file_;
  std::vector<Module> modules_;     // of the table
  std::vector<uint32_t> numbers_;   // in it, by the catalog's index
  ModuleMap map_;
  std::optional<BasicBlocks> blocks_;
  StepsOnly steps_;
  std::unordered_set<uint64_t> records_;  // module, offset, size: sorts as it should stand there
};

}  // namespace

const Format& drcov_format() {
  static const Format kFormat{.name = "drcov",
                              .extensions = kExtensions,
                              .description = "DynamoRIO's coverage of basic blocks",
                              .binary = true,
                              .create = DrcovWriter::create};
  return kFormat;
}

}  // namespace tracewell::formats
