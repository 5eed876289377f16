#include "trace/images/image_names.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"
#include "symbols/names.h"
#include "trace/images/image_code.h"

namespace tracewell::trace {
namespace {

constexpr size_t kKeptBytesMax = size_t{16} << 20;
constexpr size_t kEntryBytes = 64;  // of a text that is kept, roughly, without what it says
/// A trace may come to a name at each step, and print it: no real one is as long as this.
constexpr size_t kShownMax = size_t{16} << 10;

bool is_within_letter(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

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

/// A traced place comes again and again, so what is said of it is kept.
class KeptTexts {
 public:
  template <class Make>
  std::string of(uint64_t address, const Make& make) {
    const auto found = kept_.find(address);
    if (found != kept_.end()) return found->second;
    std::string text = make(address);
    const size_t more = kEntryBytes + text.size();
    if (bytes_ + more > kKeptBytesMax) {
      kept_.clear();
      bytes_ = 0;
    }
    bytes_ += more;
    kept_.emplace(address, text);
    return text;
  }

 private:
  std::unordered_map<uint64_t, std::string> kept_;
  size_t bytes_ = 0;
};

class ImageNames {
 public:
  /// What an image's author made to take long keeps nobody from ending: work that is stopped leaves
  /// the rest of the names out.
  ImageNames(symbols::ImageMap images, Work work)
      : images_(std::move(images)), work_(std::move(work)) {}

  std::string code(uint64_t address) {
    return codes_.of(address, [this](uint64_t one) { return code_text(one); });
  }

  std::string module(uint64_t address) {
    const symbols::MappedImage* mapped = images_.find(address);
    if (mapped == nullptr) return "";
    const std::string& path = mapped->image->path();
    return path.substr(path.rfind('/') + 1);
  }

  std::string symbol(uint64_t address) {
    const symbols::MappedImage* mapped = images_.find(address);
    if (mapped == nullptr) return "";
    Known& known = known_of(*mapped);
    const auto symbol = known.names->function_at(mapped->link_address(address), known.demangler);
    return symbol ? symbol_text(*mapped->image, *symbol, known) : "";
  }

  std::string source(uint64_t address) {
    return sources_.of(address, [this](uint64_t one) { return source_text(one); });
  }

  std::string data(uint64_t address) {
    const symbols::MappedImage* mapped = images_.find(address);
    if (mapped == nullptr) return "";
    Known& known = known_of(*mapped);
    const auto symbol = known.names->object_at(mapped->link_address(address), known.demangler);
    return symbol ? symbol_text(*mapped->image, *symbol, known) : "";
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
  struct Known {
    std::shared_ptr<const symbols::Names> names;
    symbols::Demangler demangler;
    bool told_of_cut = false, told_of_end = false;
  };

  /// `module`: of its images alone; "" = of all.
  std::vector<symbols::NamedPlace> places_in(std::string_view module, std::string_view name) {
    std::vector<symbols::NamedPlace> out;
    for (const symbols::MappedImage& mapped : images_.images()) {
      if (!module.empty() && !is_called(*mapped.image, module)) continue;
      Known& known = known_of(mapped);
      for (const symbols::NamedPlace& one : known.names->find(name, known.demangler, work_.stop))
        out.push_back({mapped.at(one.address), one.size_bytes});
      tell_when_over(*mapped.image, known);
    }
    return out;
  }

  std::string symbol_text(const symbols::Image& image, symbols::SymbolPlace place, Known& known) {
    tell_when_over(image, known);
    const std::string name = shown(image, std::move(place.name), known);
    return place.offset == 0 ? name : fmt::format("{}+{}", name, place.offset);
  }

  std::string shown(const symbols::Image& image, std::string name, Known& known) const {
    if (name.size() <= kShownMax) return name;
    if (!std::exchange(known.told_of_cut, true))
      work_.tell(fmt::format("{}: names longer than {} characters are shown up to there",
                             printable(image.path()), kShownMax));
    size_t end = kShownMax;
    while (end > kShownMax - 4 && is_within_letter(name[end])) --end;
    name.resize(end);
    return name + "…";
  }

  /// A symbol's name is always there, but it may not be what is searched for.
  void tell_when_over(const symbols::Image& image, Known& known) const {
    if (!known.demangler.over() || work_.is_stopped() || std::exchange(known.told_of_end, true))
      return;
    work_.tell(fmt::format(
        "{}: its C++ names unfold to far more text than such a file has; further ones are shown, "
        "and found, as the file spells them",
        printable(image.path())));
  }

  std::string source_text(uint64_t address) {
    const symbols::MappedImage* mapped = images_.find(address);
    if (mapped == nullptr) return "";
    Known& known = known_of(*mapped);
    auto line = known.names->line_at(mapped->link_address(address));
    if (!line) return "";
    return fmt::format("{}:{}", shown(*mapped->image, std::move(line->file), known), line->line);
  }

  std::string code_text(uint64_t address) {
    std::string text = symbol(address);
    if (const std::string line = source_text(address); !line.empty())
      text += (text.empty() ? "" : " at ") + line;
    return text;
  }

  Known& known_of(const symbols::MappedImage& mapped) {
    const auto found = known_.find(mapped.image.get());
    if (found != known_.end()) return found->second;
    auto names = symbols::Names::read(mapped.image, symbols::Names::kDebugDirectory, work_.stop);
    symbols::Demangler demangler = names->demangler(work_.stop);
    if (!names->left_out().empty())
      work_.tell(fmt::format(
          "{}: no lines, or no names of their files: its compressed section {} is damaged, or "
          "unfolds to more than such a file may have",
          printable(mapped.image->path()), fmt::join(names->left_out(), ", ")));
    return known_.emplace(mapped.image.get(), Known{std::move(names), std::move(demangler)})
        .first->second;
  }

  symbols::ImageMap images_;
  const Work work_;
  std::map<const symbols::Image*, Known> known_;
  KeptTexts codes_, sources_;
};

}  // namespace

AddressNames image_names(symbols::ImageMap images, const Work& work) {
  struct Shared {
    Shared(symbols::ImageMap images, const Work& work) : names(std::move(images), work) {}
    std::mutex mutex;  // names are read from their images when they are asked for
    ImageNames names;
  };
  const auto shared = std::make_shared<Shared>(std::move(images), work);
  const auto text = [&](std::string (ImageNames::*what)(uint64_t)) {
    return [shared, what](uint64_t address) {
      const std::lock_guard lock(shared->mutex);
      return (shared->names.*what)(address);
    };
  };
  return {text(&ImageNames::code),   text(&ImageNames::data),   text(&ImageNames::module),
          text(&ImageNames::symbol), text(&ImageNames::source), [shared](std::string_view name) {
            const std::lock_guard lock(shared->mutex);
            return shared->names.places(name);
          }};
}

Result<AddressNames> names_of_images(std::unique_ptr<Source>& source, const ImageOptions& options,
                                     const Work& work) {
  if (!options.any()) return AddressNames();
  TW_ASSIGN_OR_RETURN(symbols::ImageMap images, place_images(source->catalog(), options, work));
  source = with_image_code(std::move(source), images, work);
  return image_names(std::move(images), work);
}

}  // namespace tracewell::trace
