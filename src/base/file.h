// Files: owned descriptors, mapped input, atomic output.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace tracewell {

/// Owns a file descriptor; -1 is none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

/// A whole input in memory, read-only: a private mapping of a regular file, a heap copy of a pipe.
/// A file that shrinks while mapped reads as zeros instead of killing us (SIGBUS is caught for
/// these mappings only; other SIGBUSes keep their meaning). Shared, so that spans may outlive the
/// reader that made them.
class InputFile {
 public:
  static constexpr size_t kHeadBytes = 4096;
  /// Is it worth reading on, to judge by the first kHeadBytes (or all, if there are fewer)?
  using Wanted = std::function<bool(Bytes head)>;

  /// `path` "-" is standard input. A pipe or device that is not `wanted` is not read to its end,
  /// which it may not have; the file then holds what was read.
  static Result<std::shared_ptr<InputFile>> open(const std::string& path,
                                                 const Wanted& wanted = {});
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  Bytes bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  /// Tells the kernel that the pages of this range are not needed for now, so that walking a file
  /// larger than memory keeps a small footprint.
  void forget(size_t offset, size_t size) const;

 private:
  InputFile() = default;
  std::string path_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  std::vector<uint8_t> copy_;
};

/// Output that appears under its name whole or not at all: a file without a name that commit()
/// gives one, or, where the file system has no such files, a temporary one beside it that commit()
/// renames. Neither is left behind by the destructor, nor by SIGINT, SIGTERM and SIGHUP (a shell's
/// Ctrl-C). "-" writes to standard output at once or, where much is written, in pieces.
class OutputFile {
 public:
  enum class Existing : uint8_t { Replace, Keep };
  enum class Meanwhile : uint8_t { Nameless, Named };
  /// Keep: commit() fails with InvalidArgument when there is a file of that name by then. Named: as
  /// where there are no files without a name.
  static Result<OutputFile> create(const std::string& path, Existing existing = Existing::Replace,
                                   Meanwhile meanwhile = Meanwhile::Nameless);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Status write(Bytes bytes);
  Status write(std::string_view text) { return write(as_bytes(text)); }
  /// Overwrites bytes that were written before. Only when can_rewrite(): not standard output, not
  /// a device or pipe.
  Status rewrite_at(uint64_t offset, Bytes bytes);
  bool can_rewrite() const { return regular_; }
  /// Flushes, syncs and renames. Nothing may be written afterwards.
  Status commit();
  /// What was written until now goes out, for those who read while we write.
  Status flush();
  /// Bytes written so far.
  uint64_t size() const { return written_ + buffer_.size(); }

 private:
  OutputFile() = default;
  int name_it();
  UniqueFd fd_;
  std::string path_;
  Existing existing_ = Existing::Replace;
  bool regular_ = false;   // not standard output, nor a special file (device, fifo)
  std::string temporary_;  // its name meanwhile, if it has one
  std::vector<uint8_t> buffer_;
  uint64_t written_ = 0;
  std::chrono::steady_clock::time_point flushed_ = {};  // of standard output
};

}  // namespace tracewell
