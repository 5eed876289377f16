// A trace whose author writes to it while it is read.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "formats/support.h"

namespace tracewell::formats::test {

/// A file, and a second mapping of it: what is stored here, whoever reads the file sees at once.
class ChangedFile {
 public:
  explicit ChangedFile(const std::string& bytes) : bytes_(bytes), size_(bytes.size()) {
    write_file(path(), bytes);
    const int fd = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
    void* const memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    EXPECT_NE(memory, MAP_FAILED);
    memory_ = static_cast<volatile uint8_t*>(memory);
  }
  ~ChangedFile() { ::munmap(const_cast<uint8_t*>(memory_), size_); }
  ChangedFile(const ChangedFile&) = delete;
  ChangedFile& operator=(const ChangedFile&) = delete;

  std::string path() const { return folder_.file("input"); }
  size_t size() const { return size_; }
  volatile uint8_t& operator[](size_t at) { return memory_[at]; }
  void restore() {
    for (size_t at = 0; at < size_; ++at) memory_[at] = static_cast<uint8_t>(bytes_[at]);
  }

 private:
  TempFolder folder_;
  std::string bytes_;  // as they were
  size_t size_;
  volatile uint8_t* memory_ = nullptr;
};

/// Another process, which stores something else into a byte of the file, and what was there, again
/// and again, until this is destroyed. The file is then what it was.
class Flipping {
 public:
  explicit Flipping(ChangedFile& file) : file_(file), process_(::fork()) {
    EXPECT_GE(process_, 0);
    if (process_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::mt19937_64 random(1);
    while (true) {
      const size_t at = random() % file.size();
      const uint8_t good = file[at];
      // A byte for so long that a reader comes by, and sees both.
      for (int i = 0; i < 64; ++i) {
        file[at] = static_cast<uint8_t>(random());
        file[at] = good;
      }
    }
  }
  ~Flipping() {
    if (process_ > 0) ::kill(process_, SIGKILL);
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
    file_.restore();
  }
  Flipping(const Flipping&) = delete;
  Flipping& operator=(const Flipping&) = delete;

 private:
  ChangedFile& file_;
  pid_t process_;
};

/// All that the source goes on to tell, each byte of it; how many events that were.
inline uint64_t tell_rest(Source& source) {
  uint64_t events = 0;
  Batch batch;
  for (auto more = source.next(batch); more.ok() && *more; more = source.next(batch))
    for (const Event& event : batch.events()) {
      std::string line;
      append_event_json(line, source.catalog(), event);
      ++events;
    }
  return events;
}

}  // namespace tracewell::formats::test
