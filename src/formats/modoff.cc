// Coverage as Lighthouse reads it from text: a line `module+offset` for each instruction that was
// executed. Written only; docs/formats/modoff.md
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "formats/format.h"
#include "formats/steps/module_map.h"
#include "formats/steps/steps_only.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kExtensions[] = {"modoff"};

class ModoffWriter final : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> create(OutputFile file, const SaveOptions&) {
    return std::unique_ptr<Sink>(new ModoffWriter(std::move(file)));
  }

  std::vector<std::string> refuses(const Catalog& catalog) const override {
    return ModuleMap::refuses(catalog);
  }

  Status begin(const Catalog& catalog) override {
    map_ = ModuleMap(catalog);
    names_ = ModuleMap::short_names(catalog, steps_);
    offsets_.resize(names_.size());
    return {};
  }

  Status write(const Batch& batch) override {
    for (const Event& event : batch.events()) {
      const auto* step = std::get_if<Step>(&event.body);
      if (!step) {
        TW_RETURN_IF_ERROR(steps_.other(event, "modoff"));
      } else if (const auto place = map_.find(step->pc)) {
        steps_.of_process(event.process);
        offsets_[place->module].insert(place->offset);
      } else {
        steps_.count("executed instruction{ is|s are} outside of all modules, and left out");
      }
    }
    return {};
  }

  Status finish() override {
    for (size_t i = 0; i < names_.size(); ++i) {
      std::vector<uint64_t> offsets(offsets_[i].begin(), offsets_[i].end());
      std::sort(offsets.begin(), offsets.end());
      for (const uint64_t offset : offsets)
        TW_RETURN_IF_ERROR(file_.write(fmt::format("{}+{:x}\n", names_[i], offset)));
    }
    return file_.commit();
  }

  std::vector<std::string> left_out() const override { return steps_.left_out(); }

 private:
  explicit ModoffWriter(OutputFile file) : file_(std::move(file)) {}

  OutputFile file_;
  ModuleMap map_;
  StepsOnly steps_;
  std::vector<std::string> names_;
  std::vector<std::unordered_set<uint64_t>> offsets_;  // by module
};

}  // namespace

const Format& modoff_format() {
  static const Format kFormat{.name = "modoff",
                              .extensions = kExtensions,
                              .description = "Lighthouse's coverage, module+offset",
                              .binary = false,
                              .create = ModoffWriter::create};
  return kFormat;
}

}  // namespace tracewell::formats
