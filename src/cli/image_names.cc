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
#include "cli/interrupt.h"
#include "symbols/names.h"

namespace tracewell::cli {
namespace {

constexpr size_t kKeptBytesMax = size_t{16} << 20;
constexpr size_t kEntryBytes = 64;  // of a text that is kept, roughly, without what it says

std::string symbol_text(const symbols::SymbolPlace& place) {
  return place.offset == 0 ? place.name : fmt::format("{}+{}", place.name, place.offset);
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

/// By the name of its file, or by what of that stands before ".so" or, of Windows, the last dot.
/// Windows does not tell A from a.
bool is_called(const symbols::Image& image, std::string_view module) {
  const bool windows = image.facts().format == symbols::ImageFacts::Format::Pe;
  const std::string_view path = image.path();
  const std::string_view file = path.substr(path.find_last_of(windows ? "/\\" : "/") + 1);
  const std::string_view stem = file.substr(0, windows ? file.rfind('.') : file.find(".so"));
  if (!windows) return module == file || module == stem;
  const std::string wanted = lower_case(module);
  return wanted == lower_case(file) || wanted == lower_case(stem);
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

  /// A name may hold a ! itself: that of an import, or of an operator.
  std::vector<symbols::NamedPlace> places(std::string_view name) {
    std::vector<symbols::NamedPlace> out = places_in("", name);
    const size_t mark = name.find('!');
    if (out.empty() && mark != name.npos && mark != 0)
      out = places_in(name.substr(0, mark), name.substr(mark + 1));
    return out;
  }

 private:
  /// `module`: of its images alone; "" = of all.
  std::vector<symbols::NamedPlace> places_in(std::string_view module, std::string_view name) {
    std::vector<symbols::NamedPlace> out;
    for (const symbols::MappedImage& mapped : images_.images()) {
      if (!module.empty() && !is_called(*mapped.image, module)) continue;
      for (const symbols::NamedPlace& one : names_of(mapped).find(name))
        out.push_back({mapped.at(one.address), one.size_bytes});
    }
    return out;
  }

  std::string code_text(uint64_t address) {
    std::string text = symbol(address);
    if (const std::string line = source(address); !line.empty())
      text += (text.empty() ? "" : " at ") + line;
    return text;
  }

  const symbols::Names& names_of(const symbols::MappedImage& mapped) {
    auto& names = names_[mapped.image.get()];
    // What an image's author made to take long does not keep a command from ending: the signal that
    // an InterruptGuard has remembered leaves the rest of the names out, and then ends it.
    if (names == nullptr)
      names = symbols::Names::read(mapped.image, symbols::Names::kDebugDirectory,
                                   [] { return interrupted() != 0; });
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

Result<AddressNames> names_of_images(std::unique_ptr<Source>& source, const ImageOptions& options) {
  if (!options.any()) return AddressNames();
  TW_ASSIGN_OR_RETURN(symbols::ImageMap images, place_images(source->catalog(), options));
  source = with_image_code(std::move(source), images);
  return image_names(std::move(images));
}

}  // namespace tracewell::cli
