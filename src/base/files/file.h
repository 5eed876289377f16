// Files: mapped input, atomic output.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/files/mapping.h"
#include "base/files/unique_fd.h"
#include "base/result.h"

namespace tracewell {

class Folder;     // base/files/folder.h
struct Original;  // base/files/beside.h
struct Place;     // base/files/open.h

/// What fstat(2) says of an open file.
struct FileFacts {
  enum class Kind : uint8_t { Regular, Folder, Other };
  Kind kind = Kind::Other;
  uint64_t device = 0, inode = 0;
  uint64_t bytes = 0;
  uint64_t room = 0;   // bytes of the disk that it takes: less, where it has holes
  uint64_t links = 0;  // names that it has
  uint32_t owner = 0, group = 0;
  uint32_t mode = 0;       // the permission bits, 07777
  int64_t changed_ns = 0;  // st_mtim, since the epoch
  bool has_acl = false;  // of facts_of() alone: more is said of who may read it than by `mode`
  /// When it was made: inodes are used again. Of facts_of() alone; 0 = its system does not say.
  int64_t born_ns = 0;

  bool is_same(const FileFacts& other) const {
    return device == other.device && inode == other.inode;
  }
};

/// What a file lacks that it had when it was opened: it was cut, or could not be read.
struct LostBytes {
  uint64_t first = 0;  // offset of the first; what is there reads as zeros
  uint64_t bytes = 0;  // at least so many
};

/// One that is in memory, or was.
struct LostFile {
  uint64_t id = 0;  // InputFile::id()
  std::string path;
  LostBytes lost;
};

/// A whole input in memory, read-only: a private mapping of a regular file, a heap copy of a pipe.
/// Beside 40 000 that are mapped, small files are copied, and others an error (Limit). What cannot
/// be read, since it was cut meanwhile or its disk fails, reads as zeros, and lost() says so of
/// what is mapped. Shared, so that spans may outlive the reader that made them.
class InputFile {
 public:
  static constexpr size_t kHeadBytes = 4096;
  /// Is it worth reading on, to judge by the first kHeadBytes (or all, if there are fewer)?
  using Wanted = std::function<bool(Bytes head)>;

  /// What somebody named (base/files/open.h): `path` "-" is standard input. A pipe or device that
  /// is not `wanted`, or has more than `bytes_max`, is not read to its end, which it may not have;
  /// the file then holds what was read.
  static Result<std::shared_ptr<InputFile>> open(const std::string& path, const Wanted& wanted = {},
                                                 uint64_t bytes_max = UINT64_MAX);
  /// What was found (base/files/open.h): a regular file.
  static Result<std::shared_ptr<InputFile>> open_found(const std::string& path);
  /// What is kept beside a file (base/files/open.h, open_beside()).
  static Result<std::shared_ptr<InputFile>> open_beside(const std::string& path,
                                                        const FileFacts& other);
  /// Of what open_beside() has opened: may others put files into the folder that it was found in?
  bool others_put_there() const { return others_put_there_; }
  /// What is open already; `path` is for messages. A regular file is read from its begin, unless
  /// `here`: then from where the descriptor stands.
  static Result<std::shared_ptr<InputFile>> of(UniqueFd fd, const std::string& path,
                                               const Wanted& wanted = {}, bool here = false,
                                               uint64_t bytes_max = UINT64_MAX);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  Bytes bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  /// What fstat(2) said of it when it was opened.
  const FileFacts& facts() const { return facts_; }
  /// Any thread, at any time: nullopt as long as nothing is missing.
  std::optional<LostBytes> lost() const;
  /// All files of this process that lack something, also those that are closed by now.
  static std::vector<LostFile> all_lost();
  /// No other file that this process opens has it.
  uint64_t id() const { return id_; }
  /// Has another process locked it, and does any process write to it? (base/files/file_lock.h)
  bool is_locked() const;
  std::optional<bool> has_writer() const;
  /// From `offset` on, the first byte of no hole; the size when there is none. Holes read as zeros.
  uint64_t next_data(uint64_t offset) const;
  /// The same file as it is now, once more: it may have grown.
  Result<std::shared_ptr<InputFile>> again() const;
  /// Tells the kernel that the pages of this range are not needed for now, so that walking a file
  /// larger than memory keeps a small footprint.
  void forget(size_t offset, size_t size) const { mapping_.forget(offset, size); }

 private:
  InputFile();
  Result<UniqueFd> reopened() const;
  Status copy_small(int fd);
  std::string path_;
  uint64_t id_;
  FileFacts facts_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  Mapping mapping_;
  UniqueFd fd_;  // of a mapped file, where not too many are open already: to see that it was cut
  std::vector<uint8_t> copy_;
  int64_t copied_bytes_ = 0;  // of a file that could be mapped
  bool others_put_there_ = false;
};

/// Output that appears under its name whole or not at all: a file without a name that commit()
/// gives one, or, where the file system has no such files, a temporary one beside it that commit()
/// renames. Neither is left behind by the destructor, nor by SIGINT, SIGTERM and SIGHUP (a shell's
/// Ctrl-C). "-" writes to standard output at once or, where much is written, in pieces.
///
/// Links are followed if they are this user's or root's (base/files/open.h, write_place()); the
/// folder that they lead to is held, so that no name that changes meanwhile leads elsewhere.
class OutputFile {
 public:
  enum class Existing : uint8_t { Replace, Keep };
  enum class Meanwhile : uint8_t { Nameless, Named };
  /// Keep: commit() fails with InvalidArgument when there is a file of that name by then. Named: as
  /// where there are no files without a name.
  static Result<OutputFile> create(const std::string& path, Existing existing = Existing::Replace,
                                   Meanwhile meanwhile = Meanwhile::Nameless);
  /// A file that is kept beside another one, and holds what that holds: it can be read by whom that
  /// can be read by, and is written by its owner alone; where root writes it, it has the owner of
  /// the other one. Nothing but a regular file is replaced. place_to_keep() may refuse it.
  static Result<OutputFile> create_beside(const std::string& path, const Original& other,
                                          Existing existing = Existing::Replace);
  /// A file in a folder that is held. No link is followed, and nothing but a regular file replaced.
  static Result<OutputFile> create_in(const Folder& folder, const std::string& name,
                                      Existing existing = Existing::Replace);
  /// In place of the regular file that was read at `place`, or of none. commit() fails with
  /// InvalidArgument when the name has another one by then. Another user's is refused, but for
  /// root's (base/files/planted.h). With `source`, whose text is in it: nobody else may read it who
  /// may not read that.
  static Result<OutputFile> create_instead(Place place, const std::string& path,
                                           const FileFacts* source = nullptr);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Status write(Bytes bytes);
  Status write(std::string_view text) { return write(as_bytes(text)); }
  /// Overwrites bytes that were written before. Only when can_rewrite(): not standard output, not
  /// a device or pipe.
  Status rewrite_at(uint64_t offset, Bytes bytes);
  bool can_rewrite() const { return regular_; }
  /// Flushes, gives the file its name, and syncs it and its folder. Nothing may be written
  /// afterwards.
  Status commit();
  /// What was written until now goes out, for those who read while we write.
  Status flush();
  uint64_t size() const { return written_ + buffer_.size(); }  // bytes written so far
  /// Of the file that is written, which is the one that gets the name.
  Result<FileFacts> facts() const;
  /// Makes it a file without a name, which reads what was written; it never gets one. Only when
  /// can_rewrite().
  Result<std::shared_ptr<InputFile>> read_back();

 private:
  OutputFile() = default;
  static Result<OutputFile> create_at(Place place, const std::string& path, Existing existing,
                                      Meanwhile meanwhile, const FileFacts* beside);
  int name_it();
  std::string shown_name() const;
  Status check_instead_of() const;
  UniqueFd fd_, folder_;
  std::string path_;       // as it was named, for messages
  std::string name_;       // in the folder
  Existing existing_ = Existing::Replace;
  std::optional<FileFacts> instead_of_;  // what is to have the name still
  bool regular_ = false;   // not standard output, nor a special file (device, fifo)
  std::string temporary_;  // its name meanwhile, if it has one
  std::vector<uint8_t> buffer_;
  uint64_t written_ = 0;
  std::chrono::steady_clock::time_point flushed_ = {};  // of standard output
};

}  // namespace tracewell
