#include "symbols/own_bytes.h"
#include "base/files/owners.h"

#include <unistd.h>

#include <atomic>
#include <vector>

namespace tracewell::symbols {
namespace {

std::atomic<uint64_t> g_copied{0};

/// A copy that counts as long as it is there.
class Copy {
 public:
  explicit Copy(Bytes bytes) : bytes_(bytes.begin(), bytes.end()) {}
  ~Copy() { g_copied -= bytes_.size(); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

bool others_write(const FileFacts& facts) {
  constexpr uint32_t kOthersWrite = 0022;
  const bool trusted = facts.owner == 0 || is_own_user(facts.owner);
  return facts.kind == FileFacts::Kind::Regular &&
         (!trusted || (facts.mode & kOthersWrite) != 0);
}

/// Counted before it is made.
bool has_room(uint64_t size) {
  if (size > kCopyBytesMax) return false;
  if (g_copied.fetch_add(size) + size <= kCopiesBytesMax) return true;
  g_copied -= size;
  return false;
}

}  // namespace

std::pair<Bytes, std::shared_ptr<const void>> own_bytes(std::shared_ptr<InputFile> file) {
  const Bytes bytes = file->bytes();
  if (!others_write(file->facts()) || !has_room(bytes.size())) return {bytes, std::move(file)};
  const auto copy = std::make_shared<const Copy>(bytes);
  return {copy->bytes(), copy};
}

}  // namespace tracewell::symbols
