#include "trace/images/images.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/text/text.h"
#include "symbols/image.h"
#include "symbols/pe/program_hash.h"
#include "target/recorded/placement.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

constexpr uint64_t kPageBytes = 4096;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

std::string lower_file_name(std::string_view path) {
  return lower(path.substr(path.find_last_of("/\\") + 1));  // npos + 1 = 0
}

/// The image that is to be this module; nullptr when nobody says so.
const symbols::MappedImage* image_of(const Module& module, const symbols::ImageMap& images) {
  const symbols::MappedImage* program = nullptr;
  size_t programs = 0;
  for (const symbols::MappedImage& one : images.images()) {
    if (lower_file_name(one.image->path()) == lower_file_name(module.path)) return &one;
    if (!one.image->facts().program) continue;
    program = &one;
    ++programs;
  }
  return programs == 1 ? program : nullptr;
}

/// Traces of x64dbg name the program that they are of by a hash.
void tell_of_other_programs(const Catalog& catalog, const symbols::ImageMap& images,
                            const Work& work) {
  for (const Module& module : catalog.modules) {
    const symbols::MappedImage* mapped = module.hash ? image_of(module, images) : nullptr;
    if (mapped == nullptr) continue;
    const auto hash = symbols::program_hash(*mapped->image);
    if (!hash)
      work.tell(fmt::format(
          "{} has more than 4 GiB, and is not hashed: nobody knows whether it is the file that was "
          "traced, {} with the hash 0x{:X}",
          printable(mapped->image->path()), printable(module.path), *module.hash));
    else if (*hash != *module.hash)
      work.tell(fmt::format(
          "{} is not the file that was traced: its hash is 0x{:X}, and the trace is of {} with "
          "0x{:X}",
          printable(mapped->image->path()), *hash, printable(module.path), *module.hash));
  }
}

/// A module whose size is not known has its first address alone; without that, it is where it was
/// moved to.
bool is_at(const Module& module, const symbols::MappedImage& mapped) {
  if (module.start == 0 && module.size_bytes == 0)
    return module.bias != 0 && module.bias == mapped.bias;
  const uint64_t into_image = module.start - mapped.start();
  return into_image < std::max<uint64_t>(mapped.image->facts().span_bytes, 1) ||
         0 - into_image < module.size_bytes;
}

/// The module of another build in whose place, or under whose name, this image is; nullptr when
/// there is none, or nobody knows.
const Module* other_build(const Catalog& catalog, const symbols::MappedImage& mapped) {
  const std::string id = lower(mapped.image->facts().build_id);
  if (id.empty()) return nullptr;
  const std::string name = lower_file_name(mapped.image->path());
  const Module *at_its_place = nullptr, *of_its_name = nullptr;
  bool is_of_trace = false;
  for (const Module& module : catalog.modules) {
    const bool same = lower(module.build_id) == id, at = is_at(module, mapped);
    if (same && at) return nullptr;
    is_of_trace |= same;
    if (same || module.build_id.empty()) continue;
    if (at && at_its_place == nullptr) at_its_place = &module;
    if (of_its_name == nullptr && lower_file_name(module.path) == name) of_its_name = &module;
  }
  return at_its_place != nullptr || is_of_trace ? at_its_place : of_its_name;
}

/// What stands behind an @ and is no number belongs to the file's name; but there must be one.
Status check_base(const symbols::ImageSpec& spec) {
  const size_t at = spec.path.rfind('@');
  if (spec.base || at == spec.path.npos || at == 0 || spec.path.find('/', at) != spec.path.npos ||
      is_there(spec.path))
    return {};
  const std::string base = spec.path.substr(at + 1);
  return {Errc::InvalidArgument,
          fmt::format("--image {}: '{}' is no address; BASE is a number, decimal or 0x…{}",
                      printable(spec.path), printable(base), hex_hint(base))};
}

/// Digits alone are a number in either spelling; but as a decimal one it is seldom where a page is.
Error with_hint(Error error, const std::vector<symbols::ImageSpec>& specs,
                const std::vector<std::string>& texts) {
  if (error.code != Errc::InvalidArgument) return error;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i].base || *specs[i].base % kPageBytes == 0) continue;
    error.message += hex_hint(std::string_view(texts[i]).substr(texts[i].rfind('@') + 1));
    break;
  }
  return error;
}

void tell_of_missing_symbols(const symbols::ImageMap& images, const Work& work) {
  for (const symbols::MappedImage& mapped : images.images())
    if (const std::string& file = mapped.image->facts().symbols_in; !file.empty())
      work.tell(fmt::format(
          "{} has no symbols but its exports; the others are in {}, and PDB files are not read",
          printable(mapped.image->path()), printable(file)));
}

}  // namespace

std::vector<std::string> other_builds(const Catalog& catalog, const symbols::ImageMap& images,
                                      const ImageOptions& options) {
  std::vector<std::string> out;
  // Those that the user named come first; the others have the build-ids of the trace.
  const std::span all(images.images());
  for (const symbols::MappedImage& one : all.first(std::min(all.size(), options.images.size())))
    if (const Module* module = other_build(catalog, one))
      out.push_back(fmt::format(
          "{} is another build than {} of the trace: its build-id is {}, and the trace has {}",
          printable(one.image->path()), printable(module->path), one.image->facts().build_id,
          printable(module->build_id)));
  return out;
}

Status are_openable(const ImageOptions& options) {
  symbols::ImageMap tried;
  for (const std::string& text : options.images) {
    const symbols::ImageSpec spec = symbols::parse_image_spec(text);
    TW_RETURN_IF_ERROR(check_base(spec));
    TW_ASSIGN_OR_RETURN(auto image, symbols::Image::open(spec.path));
    const Status added = tried.add(std::move(image), spec.base);
    if (!added.ok()) return with_hint(added.error(), {spec}, {text});
  }
  return {};
}

Result<symbols::ImageMap> place_images(const Catalog& catalog, const ImageOptions& options,
                                       const Work& work) {
  std::vector<symbols::ImageSpec> named;
  for (const std::string& text : options.images) {
    named.push_back(symbols::parse_image_spec(text));
    TW_RETURN_IF_ERROR(check_base(named.back()));
  }
  auto placed = target::place_images(catalog, named, options.from_trace);
  if (!placed.ok()) return with_hint(placed.error(), named, options.images);
  for (const std::string& note : placed->notes) work.tell(note);
  for (const std::string& one : other_builds(catalog, placed->images, options)) work.tell(one);
  tell_of_other_programs(catalog, placed->images, work);
  tell_of_missing_symbols(placed->images, work);
  return std::move(placed->images);
}

}  // namespace tracewell::trace
