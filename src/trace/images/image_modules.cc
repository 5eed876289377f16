#include "trace/images/image_modules.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"
#include "machine/control_flow.h"
#include "model/source_over.h"
#include "symbols/pe/program_hash.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

constexpr size_t kInstructionMax = 15;  // bytes, of x86

std::string_view file_name(std::string_view path) {
  const size_t at = path.find_last_of("/\\");
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

void add_module(Catalog& catalog, const symbols::MappedImage& mapped, const Work& work) {
  const symbols::ImageFacts& facts = mapped.image->facts();
  const std::string_view name = file_name(mapped.image->path());
  const auto same = [&](const Module& one) {
    const bool placed = one.start != 0 || one.size_bytes != 0;
    return placed ? one.start == mapped.start() : file_name(one.path) == name;
  };
  auto& modules = catalog.modules;
  auto found = std::find_if(modules.begin(), modules.end(), same);
  if (found == modules.end()) {
    modules.push_back({mapped.image->path(), 0, 0, 0, ""});
    found = modules.end() - 1;
  }
  found->bias = mapped.bias;
  found->start = mapped.start();
  if (found->size_bytes == 0) found->size_bytes = facts.span_bytes;
  if (found->build_id.empty()) found->build_id = facts.build_id;
  if (!found->hash && facts.program && found == modules.begin()) {
    found->hash = symbols::program_hash(*mapped.image);
    if (!found->hash)
      work.tell(fmt::format("{} has more than 4 GiB: it gets no hash",
                            printable(mapped.image->path())));
  }
}

void add_named(Catalog& catalog, const Module& named) {
  auto& modules = catalog.modules;
  const auto found = std::ranges::find_if(modules, [&](const Module& one) {
    return !one.is_placed() && file_name(one.path) == file_name(named.path);
  });
  if (found == modules.end()) {
    modules.push_back(named);
    return;
  }
  found->start = named.start;
  found->size_bytes = named.size_bytes;
}

/// The program comes first.
std::vector<const symbols::MappedImage*> in_order(const symbols::ImageMap& images) {
  std::vector<const symbols::MappedImage*> out;
  for (const symbols::MappedImage& one : images.images()) out.push_back(&one);
  std::ranges::stable_partition(out, [](const auto* one) { return one->image->facts().program; });
  return out;
}

}  // namespace

void add_image_modules(Catalog& catalog, const symbols::ImageMap& images, const Work& work) {
  for (const symbols::MappedImage* mapped : in_order(images)) add_module(catalog, *mapped, work);
}

namespace {

class ModulesSource final : public SourceOver {
 public:
  ModulesSource(std::unique_ptr<Source> source, const symbols::ImageMap& images,
                std::span<const Module> named, const Work& work)
      : SourceOver(std::move(source)), catalog_(source_->catalog()) {
    add_image_modules(catalog_, images, work);
    for (const Module& one : named) add_named(catalog_, one);
  }

  const Catalog& catalog() const override { return catalog_; }

 private:
  Catalog catalog_;
};

class OpcodesSource final : public SourceOver {
 public:
  OpcodesSource(std::unique_ptr<Source> source, symbols::ImageMap images)
      : SourceOver(std::move(source)),
        images_(std::move(images)),
        decoder_(source_->catalog().machine) {}

  Result<bool> next(Batch& batch) override {
    auto more = source_->next(batch);
    for (Event& event : batch.events())
      if (auto* step = std::get_if<Step>(&event.body); step != nullptr && step->opcode.empty())
        step->opcode = opcode_at(step->pc, batch);
    return more;
  }

 private:
  Bytes opcode_at(uint64_t pc, Batch& batch) const {
    std::array<uint8_t, kInstructionMax> bytes = {};
    const Bytes code(bytes.data(), images_.read(pc, bytes));
    return batch.copy(code.first(decoder_.decode(code).length));
  }

  symbols::ImageMap images_;
  machine::FlowDecoder decoder_;
};

}  // namespace

std::unique_ptr<Source> with_image_opcodes(std::unique_ptr<Source> source,
                                           symbols::ImageMap images) {
  return std::make_unique<OpcodesSource>(std::move(source), std::move(images));
}

std::unique_ptr<Source> with_image_modules(std::unique_ptr<Source> source,
                                           const symbols::ImageMap& images,
                                           std::span<const Module> named, const Work& work) {
  return std::make_unique<ModulesSource>(std::move(source), images, named, work);
}

Result<Module> parse_module(std::string_view text) {
  const size_t at = text.rfind('@');
  std::string_view numbers = at == text.npos ? "" : text.substr(at + 1);
  const std::string_view base = take_until(numbers, ',');
  const auto start = parse_number(base);
  const auto size = parse_number(numbers);
  if (at == text.npos || at == 0 || !start || !size || *size == 0)
    return {Errc::InvalidArgument,
            fmt::format("--module {}: wanted is NAME@BASE,SIZE{}", printable(text),
                        hex_hint(start ? numbers : base))};
  Module out;
  out.path = text.substr(0, at);
  out.start = *start;
  out.size_bytes = *size;
  return out;
}

}  // namespace tracewell::trace
