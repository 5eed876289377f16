#include "target/recorded/stand_in.h"

#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"

namespace tracewell::target {
namespace {

/// "PE Format", Microsoft: the header of DOS, which says where the next one is; the file header;
/// the optional header with sixteen empty tables. No section follows.
std::vector<uint8_t> empty_pe(uint32_t address_bytes) {
  constexpr uint32_t kPageBytes = 0x1000, kSectorBytes = 0x200, kTables = 16;
  const bool is_64 = address_bytes == 8;
  std::vector<uint8_t> out = {'M', 'Z'};
  ByteWriter writer(out, Endian::Little);
  out.resize(0x3c);
  writer.uint(0x40, 4);
  for (char c : {'P', 'E', '\0', '\0'}) writer.uint(static_cast<uint8_t>(c), 1);
  writer.uint(is_64 ? 0x8664 : 0x14c, 2);
  out.resize(out.size() + 14);  // sections, time, symbols
  writer.uint((is_64 ? 112 : 96) + 8 * kTables, 2);
  writer.uint(is_64 ? 0x23 : 0x3, 2);  // a program, without relocations; more than 2 GiB
  writer.uint(is_64 ? 0x20b : 0x10b, 2);
  out.resize(out.size() + (is_64 ? 22 : 26));  // versions, sizes, entry
  writer.uint(0, address_bytes);               // where it wants to be
  writer.uint(kPageBytes, 4);
  writer.uint(kSectorBytes, 4);
  for (uint32_t version : {6, 0, 6}) writer.uint(version, 4);
  writer.uint(0, 4);
  writer.uint(kPageBytes, 4);
  writer.uint(kSectorBytes, 4);
  writer.uint(0, 4);
  writer.uint(3, 4);  // for the console
  out.resize(out.size() + 4 * size_t{address_bytes} + 4);  // stack and heap
  writer.uint(kTables, 4);
  out.resize(kSectorBytes);
  return out;
}

}  // namespace

Result<StandIn> StandIn::create(uint32_t address_bytes) {
  UniqueFd fd(::memfd_create("no-program", MFD_CLOEXEC));
  if (!fd.valid()) return errno_error("a file in memory");
  std::vector<uint8_t> bytes = empty_pe(address_bytes);
  if (::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    return errno_error("a file in memory");
  return StandIn(std::move(fd), std::move(bytes));
}

std::string StandIn::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get()); }

ListedFile StandIn::listed() const {
  FileFacts facts;
  facts.kind = FileFacts::Kind::Regular;
  facts.bytes = bytes_->size();
  facts.links = 1;
  facts.owner = ::geteuid();
  facts.mode = 0400;
  return {path(), *bytes_, facts, bytes_};
}

}  // namespace tracewell::target
