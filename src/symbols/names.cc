// Symbols and lines by readers of our own and not by libdw, which trusts its input: it opens
// whatever file .gnu_debugaltlink or a skeleton unit names (and waits for ever if that is a pipe),
// it unpacks sections into the caller's read-only memory, and without .debug_aranges, which clang
// does not write, it finds no line.
#include "symbols/names.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "base/files/file.h"
#include "symbols/dwarf/variable_sizes.h"
#include "symbols/elf/elf_file.h"
#include "symbols/names/range_index.h"
#include "symbols/own_bytes.h"
#include "symbols/pe/pe_file.h"

namespace tracewell::symbols {
namespace {

/// More than any name of a file has.
constexpr size_t kSourceNameMax = 65536;

/// The separate debug file's bytes, and what keeps them; nullptr = there is none.
std::pair<Bytes, std::shared_ptr<const void>> open_debug_file(const std::string& directory,
                                                              const std::string& id) {
  if (directory.empty() || id.size() < 4) return {};
  const std::string path =
      directory + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  auto file = InputFile::open_found(path);
  if (!file) return {};
  auto own = own_bytes(*std::move(file));
  if (ElfFile(own.first).build_id() != id) return {};
  return own;
}

RangeIndex code_of(const ElfFile& file) {
  RangeIndex code;
  for (const ElfFile::Section& section : file.sections())
    if ((section.flags & SHF_EXECINSTR) != 0 && section.size <= UINT64_MAX - section.address)
      code.add(section.address, section.address + section.size, 0);
  code.build();
  return code;
}

}  // namespace

std::shared_ptr<const Names> Names::read(std::shared_ptr<const Image> image,
                                         const std::string& debug_directory,
                                         const Stop& stop) {
  std::shared_ptr<Names> names(new Names);
  names->image_ = std::move(image);
  if (names->image_->facts().format == ImageFacts::Format::Pe) {
    names->read_pe(names->image_->file(), stop);
    return names;
  }
  names->read_all(debug_directory, stop);
  if (stop && stop()) return names;
  // Debug files have no code, and their relocations are not those of the program.
  names->imports_.read(ElfFile(names->image_->file()), [&](uint64_t address) {
    const auto found = names->symbols_.find_function(address);
    return found && found->offset == 0 ? found->name : std::string_view();
  });
  return names;
}

void Names::read_all(const std::string& debug_directory, const Stop& stop) {
  read_from(image_->file(), stop);
  if ((symbols_.whole() && !lines_.empty()) || (stop && stop())) return;
  const auto [bytes, owner] = open_debug_file(debug_directory, image_->facts().build_id);
  if (owner == nullptr) return;
  debug_file_ = owner;
  debug_file_bytes_ = bytes.size();
  read_from(bytes, stop);
}

/// Takes what is not there yet.
void Names::read_from(Bytes bytes, const Stop& stop) {
  ElfFile file(bytes);
  if (!symbols_.whole()) {
    SymbolTable found;
    found.read(file, {}, stop);
    if (!found.empty()) symbols_ = std::move(found);
  }
  if (!lines_.empty() || (stop && stop())) return;
  LineSections sections;
  sections.endian = file.endian();
  sections.address_bytes = file.address_bytes();
  std::shared_ptr<const void>* owner = unfolded_;
  left_out_.clear();
  for (const auto& [name, into] : {std::pair(".debug_line", &sections.line),
                                   std::pair(".debug_line_str", &sections.line_texts),
                                   std::pair(".debug_str", &sections.texts)}) {
    if (stop && stop()) return;
    const ElfFile::Section* const section = file.find(name);
    if (section == nullptr) continue;
    *into = file.contents(*section, *owner++);
    if (into->empty() && !section->bytes.empty()) left_out_.emplace_back(name);
  }
  lines_ = {};
  Work work(LineTable::kWorkMax, stop);
  lines_.read(sections, code_of(file), work);
  if (lines_.empty()) std::ranges::fill(unfolded_, nullptr);
}

void Names::read_pe(Bytes bytes, const Stop& stop) {
  const auto file = PeFile::parse(bytes);
  if (!file) return;
  const auto contents = [&](std::string_view name) {
    const PeFile::Section* const section = file->find(name);
    if (section == nullptr) return Bytes();
    return section->bytes.first(std::min<size_t>(section->size, section->bytes.size()));
  };
  const DebugSections debug = {contents(".debug_info"), contents(".debug_abbrev"),
                               contents(".debug_addr"), Endian::Little};
  Work of_sizes(kVariableWorkMax, stop);
  symbols_.read(*file, variable_sizes(debug, of_sizes), stop);
  if (stop && stop()) return;
  imports_.read(*file, stop);
  RangeIndex code;
  for (const PeFile::Section& section : file->sections()) {
    const uint64_t start = file->image_base() + section.rva;
    if (section.code()) code.add(start, start + section.size, 0);
  }
  code.build();
  LineSections sections;
  sections.address_bytes = file->address_bytes();
  for (const auto& [name, into] : {std::pair(".debug_line", &sections.line),
                                   std::pair(".debug_line_str", &sections.line_texts),
                                   std::pair(".debug_str", &sections.texts)})
    *into = contents(name);
  Work of_lines(LineTable::kWorkMax, stop);
  lines_.read(sections, code, of_lines);
}

Demangler Names::demangler(const Stop& stop) const {
  return Demangler(image_->file().size() + debug_file_bytes_, stop);
}

std::optional<SymbolPlace> Names::import_at(uint64_t address, bool code,
                                            Demangler& demangler) const {
  const ImportNames::Place* const found = imports_.find(address, code);
  std::string name = found != nullptr ? found->text.name(demangler) : "";
  if (name.empty()) return std::nullopt;
  return SymbolPlace{std::move(name), address - found->address};
}

std::optional<SymbolPlace> Names::function_at(uint64_t address, Demangler& demangler) const {
  if (auto import = import_at(address, true, demangler)) return import;
  const auto found = symbols_.find_function(address);
  if (!found) return std::nullopt;
  return SymbolPlace{demangler.written(found->name), found->offset};
}

std::optional<SymbolPlace> Names::function_at(uint64_t address) const {
  Demangler own = demangler();
  return function_at(address, own);
}

std::optional<SymbolPlace> Names::object_at(uint64_t address, Demangler& demangler) const {
  if (auto import = import_at(address, false, demangler)) return import;
  const auto found = symbols_.find_object(address);
  if (!found) return std::nullopt;
  return SymbolPlace{demangler.written(found->name), found->offset};
}

std::optional<SymbolPlace> Names::object_at(uint64_t address) const {
  Demangler own = demangler();
  return object_at(address, own);
}

std::vector<NamedPlace> Names::find(std::string_view name) const {
  Demangler own = demangler();
  return find(name, own);
}

std::vector<NamedPlace> Names::find(std::string_view name, Demangler& demangler,
                                    const Stop& stop) const {
  std::vector<NamedPlace> out;
  const auto is_it = [&](std::string_view one) {
    if (one == name) return true;
    const std::string written = demangler.written_once(one);
    if (!written.starts_with(name) || name.empty()) return false;
    return written.size() == name.size() || written[name.size()] == '(';
  };
  for (const SymbolTable::Named& one : symbols_.find_named(is_it, stop))
    out.push_back({one.address, one.size_bytes});
  for (const ImportNames::Place& one : imports_.places())
    if (one.text.is(name, demangler)) out.push_back({one.address, one.size});
  // The largest of those that begin together.
  std::ranges::sort(out, [](const NamedPlace& a, const NamedPlace& b) {
    return a.address != b.address ? a.address < b.address : a.size_bytes > b.size_bytes;
  });
  const auto rest = std::ranges::unique(out, {}, &NamedPlace::address);
  out.erase(rest.begin(), rest.end());
  return out;
}

std::optional<SourcePlace> Names::line_at(uint64_t address) const {
  const auto found = lines_.find(address);
  if (!found) return std::nullopt;
  return SourcePlace{std::string(found->file.substr(0, kSourceNameMax)), found->line};
}

}  // namespace tracewell::symbols
