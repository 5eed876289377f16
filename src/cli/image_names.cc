#include "cli/image_names.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/image_code.h"
#include "symbols/names.h"

namespace tracewell::cli {
namespace {

constexpr size_t kKeptBytesMax = size_t{16} << 20;
constexpr size_t kEntryBytes = 64;  // of a text that is kept, roughly, without what it says

std::string symbol_text(const symbols::SymbolPlace& place) {
  return place.offset == 0 ? place.name : fmt::format("{}+{}", place.name, place.offset);
}

class ImageNames {
 public:
  explicit ImageNames(symbols::ImageMap images) : images_(std::move(images)) {}

  /// A traced place comes again and again, so texts are kept.
  std::string code(uint64_t address) {
    const auto found = kept_.find(address);
    if (found != kept_.end()) return found->second;
    std::string text = code_text(address);
    kept_bytes_ += kEntryBytes + text.size();
    if (kept_bytes_ > kKeptBytesMax) {
      kept_.clear();
      kept_bytes_ = 0;
    }
    kept_.emplace(address, text);
    return text;
  }

  std::string module(uint64_t address) const {
    const symbols::MappedImage* mapped = images_.find(address);
    if (mapped == nullptr) return "";
    const std::string& path = mapped->image->path();
    return path.substr(path.rfind('/') + 1);
  }

  std::string symbol(uint64_t address) {
    const symbols::MappedImage* mapped = images_.find(address);
    if (mapped == nullptr) return "";
    const auto symbol = names_of(*mapped).function_at(mapped->link_address(address));
    return symbol ? symbol_text(*symbol) : "";
  }

  std::string source(uint64_t address) {
    const symbols::MappedImage* mapped = images_.find(address);
    if (mapped == nullptr) return "";
    const auto line = names_of(*mapped).line_at(mapped->link_address(address));
    return line ? fmt::format("{}:{}", line->file, line->line) : "";
  }

  std::string data(uint64_t address) {
    const symbols::MappedImage* mapped = images_.find(address);
    if (mapped == nullptr) return "";
    const auto symbol = names_of(*mapped).object_at(mapped->link_address(address));
    return symbol ? symbol_text(*symbol) : "";
  }

  std::vector<symbols::NamedPlace> places(std::string_view name) {
    std::vector<symbols::NamedPlace> out;
    for (const symbols::MappedImage& mapped : images_.images())
      for (const symbols::NamedPlace& one : names_of(mapped).find(name))
        out.push_back({mapped.at(one.address), one.size_bytes});
    return out;
  }

 private:
  std::string code_text(uint64_t address) {
    std::string text = symbol(address);
    if (const std::string line = source(address); !line.empty())
      text += (text.empty() ? "" : " at ") + line;
    return text;
  }

  const symbols::Names& names_of(const symbols::MappedImage& mapped) {
    auto& names = names_[mapped.image.get()];
    if (names == nullptr) names = symbols::Names::read(mapped.image);
    return *names;
  }

  symbols::ImageMap images_;
  std::map<const symbols::Image*, std::shared_ptr<const symbols::Names>> names_;
  std::unordered_map<uint64_t, std::string> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace

AddressNames image_names(symbols::ImageMap images) {
  const auto names = std::make_shared<ImageNames>(std::move(images));
  return {[names](uint64_t address) { return names->code(address); },
          [names](uint64_t address) { return names->data(address); },
          [names](uint64_t address) { return names->module(address); },
          [names](uint64_t address) { return names->symbol(address); },
          [names](uint64_t address) { return names->source(address); },
          [names](std::string_view name) { return names->places(name); }};
}

Result<AddressNames> names_of_images(Source& steps, const ImageOptions& options) {
  if (!options.any()) return AddressNames();
  TW_ASSIGN_OR_RETURN(symbols::ImageMap images, place_images(steps.catalog(), options));
  check_code(steps, images);
  return image_names(std::move(images));
}

Result<AddressNames> names_of_images(std::unique_ptr<Source>& source, const ImageOptions& options) {
  if (!options.any()) return AddressNames();
  TW_ASSIGN_OR_RETURN(symbols::ImageMap images, place_images(source->catalog(), options));
  source = with_checked_code(std::move(source), images);
  return image_names(std::move(images));
}

}  // namespace tracewell::cli
