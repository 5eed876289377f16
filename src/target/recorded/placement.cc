#include "target/recorded/placement.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "target/recorded/auxv.h"

namespace tracewell::target {
namespace {

using symbols::Image;

constexpr uint64_t kPageBytes = 4096;

/// Windows separates by backslashes, which are ordinary characters here.
std::string_view file_name(std::string_view path, bool windows) {
  return path.substr(path.find_last_of(windows ? "/\\" : "/") + 1);  // npos + 1 = 0
}

/// To Windows, A and a in ASCII are one letter.
bool same_file_name(std::string_view a, std::string_view b, bool windows) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) {
    return windows ? lower(x) == lower(y) : x == y;
  });
}

const Module* find_module(const Catalog& catalog, const Image& image) {
  const std::string& id = image.facts().build_id;
  const std::string_view name = file_name(image.path(), false);
  for (const Module& module : catalog.modules)
    if (!id.empty() && module.build_id == id) return &module;
  const bool windows = image.facts().format == symbols::ImageFacts::Format::Pe;
  for (const Module& module : catalog.modules)
    if ((module.build_id.empty() || id.empty()) &&
        same_file_name(file_name(module.path, windows), name, windows))
      return &module;
  return nullptr;
}

/// The bias at which the trace says that this image was.
std::optional<uint64_t> recorded_bias(const Catalog& catalog, const Image& image) {
  if (const Module* module = find_module(catalog, image)) return module->bias;
  if (!image.facts().program) return std::nullopt;
  const auto entry = find_auxv(catalog.auxv, AT_ENTRY, catalog.address_bytes, catalog.endian);
  if (!entry || (*entry - image.facts().entry) % kPageBytes != 0) return std::nullopt;
  return *entry - image.facts().entry;
}

/// What a debugger is told, which stands somewhere else. Not tidied: behind a link, ".." is another
/// folder than it looks.
std::string absolute_name(const std::string& path) {
  const auto here = path.starts_with('/') ? std::nullopt : real_path(".");
  return here ? *here + "/" + path : path;
}

Status place_named(const Catalog& catalog, const symbols::ImageSpec& spec, ImagePlacement& out) {
  TW_ASSIGN_OR_RETURN(auto file, InputFile::open(spec.path));
  TW_ASSIGN_OR_RETURN(auto image, Image::of(std::move(file), absolute_name(spec.path)));
  if (!spec.base && image->facts().relocatable) {
    if (const auto bias = recorded_bias(catalog, *image)) {
      out.images.add_at_bias(std::move(image), *bias);
      return {};
    }
    out.notes.push_back(fmt::format(
        "{} could have been anywhere, and the trace does not say where; its symbols stay at the "
        "file's own addresses. {}@BASE gives its load address.",
        printable(spec.path), printable(spec.path)));
  }
  return out.images.add(std::move(image), spec.base);
}

/// nullptr = nothing to do or not usable; a note then says why.
std::shared_ptr<const Image> open_module(const Module& module, ImagePlacement& out) {
  auto refuse = [&](std::string_view why) {
    out.notes.push_back(
        fmt::format("{} of the trace is not used: {}.", printable(module.path), why));
    return nullptr;
  };
  if (module.build_id.empty()) return refuse("it has no recorded build-id to compare");
  auto image = Image::open_found(module.path);
  if (!image && image.error().code == Errc::NotFound) return refuse("no such file here");
  if (!image) return refuse(printable(image.error().text()));
  if ((*image)->facts().build_id != module.build_id) return refuse("the file here is another");
  return *image;
}

void place_module(const Module& module, ImagePlacement& out) {
  // The vdso has no file, and what the user named is there already.
  if (!module.path.starts_with('/')) return;
  for (const symbols::MappedImage& mapped : out.images.images()) {
    const symbols::Image& image = *mapped.image;
    const bool same =
        image.facts().build_id == module.build_id || image.path() == module.path;
    if (same && mapped.bias == module.bias) return;
  }
  if (auto image = open_module(module, out)) out.images.add_at_bias(std::move(image), module.bias);
}

/// Catches the usual mistake: a base that is not the recorded one.
void note_if_no_tracepoint_is_covered(const Catalog& catalog, ImagePlacement& out) {
  if (out.images.images().empty() || catalog.tracepoints.empty() || !out.notes.empty()) return;
  const bool any = std::any_of(
      catalog.tracepoints.begin(), catalog.tracepoints.end(),
      [&](const TracepointDef& tracepoint) { return out.images.find(tracepoint.address); });
  if (!any)
    out.notes.push_back("None of the trace's tracepoints lies in any of these images; are their "
                        "load addresses right?");
}

}  // namespace

Result<ImagePlacement> place_images(const Catalog& catalog,
                                    std::span<const symbols::ImageSpec> named, bool from_trace) {
  ImagePlacement out;
  for (const symbols::ImageSpec& spec : named)
    TW_RETURN_IF_ERROR(place_named(catalog, spec, out));
  if (from_trace)
    for (const Module& module : catalog.modules) place_module(module, out);
  note_if_no_tracepoint_is_covered(catalog, out);
  return out;
}

}  // namespace tracewell::target
