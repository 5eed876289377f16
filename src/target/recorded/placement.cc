#include "target/recorded/placement.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "target/recorded/auxv.h"

namespace tracewell::target {
namespace {

using symbols::Image;

constexpr uint64_t kPageBytes = 4096;

// Of what the trace names. Programs have some hundred libraries, seldom a thousand; and the names
// of an image take a multiple of what its file has.
constexpr size_t kFoundFilesMax = 1024, kFoundPlacesMax = 4096;
constexpr uint64_t kFoundBytesMax = uint64_t{4} << 30;

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

class Placer {
 public:
  Placer(const Catalog& catalog, ImagePlacement& out) : catalog_(catalog), out_(out) {}

  Status place_named(const symbols::ImageSpec& spec);
  void place_modules();

 private:
  void place_module(const Module& module);
  std::shared_ptr<const Image> open_module(const Module& module);
  Result<std::shared_ptr<const Image>> found_image(std::shared_ptr<InputFile> file,
                                                   const std::string& path);
  void remember_last();

  const Catalog& catalog_;
  ImagePlacement& out_;
  std::set<std::pair<std::string, uint64_t>> placed_;  // build-ids and paths, each with its bias
  // By device and inode: a trace may name one file again and again, and in many spellings.
  std::map<std::pair<uint64_t, uint64_t>, Result<std::shared_ptr<const Image>>> found_;
  uint64_t found_bytes_ = 0;
  size_t found_places_ = 0, left_out_ = 0;
};

void Placer::remember_last() {
  const symbols::MappedImage& last = out_.images.images().back();
  placed_.emplace(last.image->facts().build_id, last.bias);
  placed_.emplace(last.image->path(), last.bias);
}

Status Placer::place_named(const symbols::ImageSpec& spec) {
  TW_ASSIGN_OR_RETURN(auto file, InputFile::open(spec.path, Image::may_be));
  TW_ASSIGN_OR_RETURN(auto image, Image::of(std::move(file), absolute_name(spec.path)));
  if (!spec.base && image->facts().relocatable) {
    if (const auto bias = recorded_bias(catalog_, *image)) {
      out_.images.add_at_bias(std::move(image), *bias);
      remember_last();
      return {};
    }
    out_.notes.push_back(fmt::format(
        "{} could have been anywhere, and the trace does not say where; its symbols stay at the "
        "file's own addresses. {}@BASE gives its load address.",
        printable(spec.path), printable(spec.path)));
  }
  TW_RETURN_IF_ERROR(out_.images.add(std::move(image), spec.base));
  remember_last();
  return {};
}

/// nullptr = there is no more room for it.
Result<std::shared_ptr<const Image>> Placer::found_image(std::shared_ptr<InputFile> file,
                                                         const std::string& path) {
  const std::pair key(file->facts().device, file->facts().inode);
  const auto known = found_.find(key);
  if (known != found_.end()) return known->second;
  const uint64_t size = file->bytes().size();
  if (found_.size() >= kFoundFilesMax || size > kFoundBytesMax - found_bytes_)
    return std::shared_ptr<const Image>();
  found_bytes_ += size;
  // GDB is told the name, and goes by how it begins: see Facts::libraries_svr4().
  const auto shown = has_detours(path) ? real_path(path) : path;
  if (!shown) return {Errc::NotFound, "it has just gone"};
  return found_.emplace(key, Image::of(std::move(file), *shown)).first->second;
}

/// nullptr = nothing to do or not usable; a note then says why.
std::shared_ptr<const Image> Placer::open_module(const Module& module) {
  auto refuse = [&](std::string_view why) {
    out_.notes.push_back(
        fmt::format("{} of the trace is not used: {}.", printable(module.path), why));
    return nullptr;
  };
  if (module.build_id.empty()) return refuse("it has no recorded build-id to compare");
  auto file = InputFile::open_found(module.path);
  if (!file && file.error().code == Errc::NotFound) return refuse("no such file here");
  if (!file) return refuse(printable(file.error().text()));
  auto image = found_image(*std::move(file), module.path);
  if (!image) return refuse(printable(image.error().text()));
  if (*image == nullptr) {
    ++left_out_;
    return nullptr;
  }
  if ((*image)->facts().build_id != module.build_id) return refuse("the file here is another");
  return *image;
}

void Placer::place_module(const Module& module) {
  // The vdso has no file, and what the user named is there already.
  if (!module.path.starts_with('/')) return;
  if (placed_.contains({module.build_id, module.bias}) ||
      placed_.contains({module.path, module.bias}))
    return;
  if (found_places_ >= kFoundPlacesMax) {
    ++left_out_;
    return;
  }
  auto image = open_module(module);
  if (image == nullptr) return;
  out_.images.add_at_bias(std::move(image), module.bias);
  remember_last();
  ++found_places_;
}

void Placer::place_modules() {
  for (const Module& module : catalog_.modules) place_module(module);
  if (left_out_ != 0)
    out_.notes.push_back(fmt::format(
        "{} of the trace's modules {} not used: no more than {} files, of {} GiB together and at "
        "{} places, are opened for a trace. --image FILE@BASE names the ones that matter.",
        left_out_, left_out_ == 1 ? "is" : "are", kFoundFilesMax, kFoundBytesMax >> 30,
        kFoundPlacesMax));
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
  Placer placer(catalog, out);
  for (const symbols::ImageSpec& spec : named) TW_RETURN_IF_ERROR(placer.place_named(spec));
  if (from_trace) placer.place_modules();
  note_if_no_tracepoint_is_covered(catalog, out);
  return out;
}

}  // namespace tracewell::target
