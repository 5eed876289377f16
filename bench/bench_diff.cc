// `tracewell diff` of two x64dbg traces of the same run at different image bases that part at the
// last steps: wall time of the whole command, both files in the page cache and without any index,
// against memcpy of as many bytes as the two files have, piece by piece, in between.
//
//   bench_diff BIN_DIR [MILLIONS OF STEPS]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/endian.h"

namespace {

using tracewell::Endian;
constexpr uint64_t kFullDumpEvery = 512;
constexpr size_t kInstructions = 4000;  // of the program, in two modules
constexpr const char* kHeader =
    R"({"ver":1,"arch":"x64","hashAlgorithm":"murmurhash","hash":"0x1","compression":"",)"
    R"("path":"C:\\a.exe"})";

void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

/// A third of the steps touch memory, every one changes the program counter and nearly every one
/// another register or two, as compiled code does. One in seven jumps over its neighbour; after 500
/// instructions the program goes on in the other module, and the last one leads back to one of the
/// first.
class Trace {
 public:
  Trace(uint64_t base, uint64_t library, uint64_t stack) : stack_(stack) {
    uint64_t offset = 0x1000;
    for (size_t i = 0; i < kInstructions; ++i) {
      pcs_.push_back((i / 500 % 2 == 0 ? base : library) + offset);
      offset += length(i);
    }
  }
  void write(std::ofstream& file, uint64_t steps) {
    std::string out = "TRAC";
    put(out, std::strlen(kHeader), 4);
    out += kHeader;
    for (uint64_t i = 0; i < steps; ++i) {
      // Nearly all the way they are the same.
      step(out, i, i + 10 >= steps && stack_ % 2 == 1);
      at_ = behind();
      if (out.size() > (4 << 20)) {
        file.write(out.data(), static_cast<std::streamsize>(out.size()));
        out.clear();
      }
    }
    file.write(out.data(), static_cast<std::streamsize>(out.size()));
  }

 private:
  static bool skips(size_t at) { return at % 7 == 5 && at % 500 < 498; }
  static bool leaves(size_t at) { return at % 500 == 499; }
  static size_t length(size_t at) {
    return at + 1 == kInstructions || skips(at) ? 2 : leaves(at) ? 5 : 2 + at % 5;
  }
  size_t behind() {
    if (at_ + 1 == kInstructions) return ++rounds_ * 7 % 700;  // jmp rax
    return skips(at_) ? at_ + 2 : at_ + 1;
  }
  std::string opcode(size_t at) const {
    static constexpr char kCode[] = "\x48\x8b\x44\x24\x08\x90\x90\x90";
    if (at + 1 == kInstructions) return "\xff\xe0";
    if (skips(at)) return std::string("\xeb") + static_cast<char>(length(at + 1));
    std::string out(kCode, length(at));
    if (!leaves(at)) return out;
    out = "\xe9";
    put(out, pcs_[at + 1] - pcs_[at] - 5, 4);
    return out;
  }
  void step(std::string& out, uint64_t i, bool elsewhere) {
    const size_t at = at_;
    words_[16] = pcs_[elsewhere ? (at + 77) % kInstructions : at];
    const size_t reg = at % 16, other = at * 3 % 16;
    words_[reg] = i;
    words_[other] = stack_ + i % 4096;
    const bool full = i % kFullDumpEvery == 0, memory = at % 3 == 0;
    const std::string code = opcode(at);
    std::vector<size_t>& listed = listed_;
    listed.clear();
    if (full) {
      for (size_t word = 0; word < 172; ++word) listed.push_back(word);
    } else {
      listed = {std::min(reg, other), std::max(reg, other), 16};
      if (reg == other) listed.erase(listed.begin());
    }
    out += '\0';
    out += static_cast<char>(listed.size());
    out += static_cast<char>(memory ? 1 : 0);
    out += static_cast<char>((full ? 0x80 : 0) | code.size());
    if (full) put(out, 1000, 4);
    out += code;
    size_t next = 0;
    for (const size_t word : listed) {
      out += static_cast<char>(word - next);
      next = word + 1;
    }
    for (const size_t word : listed) put(out, words_[word], 8);
    if (!memory) return;
    out += static_cast<char>(1);
    put(out, stack_ + 8 * (i % 512), 8);
    put(out, i, 8);
  }

  uint64_t stack_;
  size_t at_ = 0, rounds_ = 0;  // the instruction that comes next
  uint64_t words_[172] = {};
  std::vector<uint64_t> pcs_;
  std::vector<size_t> listed_;
};

double seconds(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double copy_time(uint64_t bytes) {
  std::vector<char> from(64 << 20, 1), to(64 << 20, 2);
  return seconds([&] {
    for (uint64_t done = 0; done < bytes; done += from.size()) {
      std::memcpy(to.data(), from.data(), from.size());
      from[done % from.size()] = to[1];
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const uint64_t steps = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100) * 1000000;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("bench_diff.{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string a = folder / "a.trace64", b = folder / "b.trace64";
  {
    std::ofstream one(a, std::ios::binary), other(b, std::ios::binary);
    Trace(0x140000000, 0x7ff810000000, 0x14ff00).write(one, steps);
    Trace(0x7ff6aa0f0000, 0x7ffc12340000, 0x23fb01).write(other, steps);
  }
  const uint64_t bytes = std::filesystem::file_size(a) + std::filesystem::file_size(b);
  const std::string command = fmt::format("{}/tracewell diff '{}' '{}' >'{}' 2>&1", argv[1], a, b,
                                          (folder / "out").string());
  double ours = 1e9, peer = 1e9;
  int status = 0;
  for (int round = 0; round < 3; ++round) {
    peer = std::min(peer, copy_time(bytes));
    ours = std::min(ours, seconds([&] { status = std::system(command.c_str()); }));
  }
  std::ifstream out(folder / "out");
  for (std::string line; std::getline(out, line);) fmt::print("{}\n", line);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (status != 256) return 1;  // they differ
  constexpr double kLimit = 20;  // million steps of each a second: nothing else compares such files
  const double speed = static_cast<double>(steps) / 1e6 / ours;
  fmt::print("{} steps each, {:.1f} bytes a step, {:.1f} million steps/s\n", steps,
             static_cast<double>(bytes) / 2 / static_cast<double>(steps), speed);
  fmt::print("bench x64dbg-diff-speed ours={:.1f}M/s limit={:.0f}M/s ratio={:.2f}\n", speed, kLimit,
             speed / kLimit);
  fmt::print("bench x64dbg-diff ours={:.3f}s peer={:.3f}s ratio={:.3f}\n", ours, peer,
             peer / ours);
  return 0;
}
