// The data: u64 bias · u64 start · u64 size · u8 bit 0: the hash is known · u64 hash · varint size
// of the build-id · build-id, hex digits · varint size of the path · path.
#include "formats/trace64/state/modules.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/varint.h"
#include "formats/trace64/blocks/header.h"
#include "formats/trace64/blocks/user.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr uint8_t kHashKnown = 1;

bool same(const Module& a, const Module& b) {
  return a.path == b.path && a.bias == b.bias && a.start == b.start &&
         a.size_bytes == b.size_bytes && a.build_id == b.build_id && a.hash == b.hash;
}

std::vector<uint8_t> render(const Module& module) {
  std::vector<uint8_t> out;
  ByteWriter writer(out, Endian::Little);
  writer.uint(module.bias, 8);
  writer.uint(module.start, 8);
  writer.uint(module.size_bytes, 8);
  writer.uint(module.hash ? kHashKnown : 0, 1);
  writer.uint(module.hash.value_or(0), 8);
  uint8_t size[kVarintMax];
  writer.bytes({size, put_varint(size, module.build_id.size())});
  writer.bytes(as_bytes(module.build_id));
  writer.bytes({size, put_varint(size, module.path.size())});
  writer.bytes(as_bytes(module.path));
  return out;
}

}  // namespace

std::vector<Module> modules_of(std::string_view path, std::optional<uint64_t> hash) {
  std::vector<Module> out;
  if (path.empty()) return out;
  out.emplace_back().path = path;
  out.back().hash = hash;
  return out;
}

uint64_t append_modules(std::vector<uint8_t>& out, const std::vector<Module>& modules,
                        std::string_view header) {
  ProblemLog ignored;
  const auto read = read_header(as_bytes(header), ignored);
  const std::vector<Module> said =
      read.ok() ? modules_of(read->path, read->hash) : std::vector<Module>();
  if (modules.empty() || (modules.size() == said.size() && same(modules[0], said[0]))) return 0;
  uint64_t count = 0;
  for (const Module& one : modules) {
    if (one.path.empty()) continue;  // would read as a block that was cut
    append_own_block(out, OwnKind::Module, render(one));
    ++count;
  }
  return count;
}

std::optional<Module> read_module(Bytes data) {
  Cursor in(data);
  Module out;
  out.bias = in.uint(8);
  out.start = in.uint(8);
  out.size_bytes = in.uint(8);
  const bool hashed = (in.byte() & kHashKnown) != 0;
  const uint64_t hash = in.uint(8);
  if (hashed) out.hash = hash;
  out.build_id = as_text(in.take(in.varint()));
  out.path = as_text(in.take(in.varint()));
  if (in.bad() || out.path.empty()) return std::nullopt;
  return out;
}

std::vector<Module> find_modules(const Contents& contents, ProblemLog* problems) {
  const Bytes file = contents.file->bytes();
  const std::string& path = contents.header.path;
  std::vector<Module> out;
  uint64_t cut = 0, cut_at = 0;
  for (const UserBlock& one : contents.scan.user_blocks()) {
    const auto own = read_own_block(one.type, file.subspan(one.offset + 5, one.size));
    if (!own || own->kind != OwnKind::Module) continue;
    auto module = read_module(own->data);
    if (module) {
      out.push_back(*std::move(module));
      continue;
    }
    if (cut++ == 0) cut_at = one.offset;
  }
  if (cut != 0 && problems != nullptr)
    problems->add({cut_at, Problem::Severity::Damage, "module-cut",
                   fmt::format("{} of the user blocks with the trace's modules {} cut, the first "
                               "here; left out",
                               cut, cut == 1 ? "is" : "are")});
  // They stand for what the header says, unless the one that did is gone.
  const bool said = std::ranges::find(out, path, &Module::path) != out.end();
  if (!out.empty() && (cut == 0 || said)) return out;
  std::vector<Module> all = modules_of(path, contents.header.hash);
  std::ranges::move(out, std::back_inserter(all));
  return all;
}

}  // namespace tracewell::formats::trace64
