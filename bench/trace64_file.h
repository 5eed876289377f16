// A trace as x64dbg writes them, of any length: a model of a small program whose mix of
// instructions (loads, stores, pushes, calls, branches, arithmetic) and bytes a step (about 45) are
// those of real ones. Written here without any help of the library that is measured.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::bench {

constexpr uint64_t kOnceWritten = 0x30000000;  // by the first step alone
constexpr uint64_t kImage = 0x140001000;       // where the program's code is, and begins

class Trace64File {
 public:
  /// Writes `steps` steps to `path`, without waiting for the disk. `image` is where the program's
  /// code is.
  static Status write(const std::string& path, uint64_t steps, uint64_t image = kImage) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
    if (file == nullptr) return errno_error("cannot write " + path);
    Trace64File trace(image);
    const std::string json = R"({"ver":1,"arch":"x64","hashAlgorithm":"murmurhash","hash":"0x1",)"
                             R"("compression":"","path":"C:\\bench.exe"})";
    for (const char one : std::string_view("TRAC")) trace.byte(static_cast<uint8_t>(one));
    trace.raw(static_cast<uint32_t>(json.size()));
    trace.out_.insert(trace.out_.end(), json.begin(), json.end());
    for (uint64_t i = 0; i < steps; ++i) {
      trace.step();
      if (trace.out_.size() < (1 << 20) && i + 1 < steps) continue;
      if (std::fwrite(trace.out_.data(), 1, trace.out_.size(), file.get()) != trace.out_.size())
        return errno_error("cannot write " + path);
      trace.out_.clear();
    }
    return {};
  }

 private:
  // Words of x64dbg's register dump.
  enum Word : uint8_t { Rax, Rcx, Rdx, Rbx, Rsp, Rbp, Rsi, Rdi, Rip = 16, Rflags = 17 };
  static constexpr int kWords = 172;
  static constexpr uint64_t kMask = 0xffff8;  // of the data that loads and stores go over

  struct Access {
    uint64_t address, old_value, new_value;
  };
  /// What an instruction leaves, and what it touched.
  struct Effect {
    std::string_view opcode;
    bool touches = false;
    Access access = {};
  };

  explicit Trace64File(uint64_t image) : image_(image), data_((kMask + 8) / 8) {
    now_[Rsp] = 0x14ff00;
    now_[Rbx] = 0x20000000;
    now_[Rip] = image;
    will_change_.fill(true);
  }

  uint64_t& cell(uint64_t address) { return data_[(address & kMask) / 8]; }

  Effect store(std::string_view opcode, uint64_t address, uint64_t value) {
    uint64_t& at = cell(address);
    const Effect effect = {opcode, true, {address, at, value}};
    at = value;
    return effect;
  }

  Effect load(std::string_view opcode, uint64_t address, Word into) {
    now_[into] = cell(address);
    return {opcode, true, {address, now_[into], now_[into]}};
  }

  Effect plain(std::string_view opcode, Word into, uint64_t value) {
    now_[into] = value;
    return {opcode, false, {}};
  }

  /// One of the program's instructions; its loop has sixteen.
  Effect execute() {
    using namespace std::string_view_literals;
    if (count_ == 0)  // mov [abs 0x30000000], al: never touched again
      return {"\x88\x04\x25\x00\x00\x00\x30"sv, true, {kOnceWritten, 1, 2}};
    const uint64_t seed = (now_[Rax] ^ count_) * 0x9e3779b97f4a7c15u;
    switch (place_) {
      case 1: return load("\x48\x8b\x04\x0b"sv, now_[Rbx] + now_[Rcx], Rax);  // mov rax,[rbx+rcx]
      case 2: now_[Rflags] = 0x202 | (seed >> 60 & 1); return plain("\x48\x01\xd0"sv, Rax, seed);
      case 3: return plain("\x48\x89\xc2"sv, Rdx, now_[Rax]);
      case 4: return store("\x48\x89\x14\x0b"sv, now_[Rbx] + now_[Rcx], now_[Rdx]);
      case 5: now_[Rsp] -= 8; return store("\x50"sv, now_[Rsp], now_[Rax]);  // push rax
      case 6: now_[Rsp] -= 8; return store("\xe8\x0b\x00\x00\x00"sv, now_[Rsp], now_[Rip] + 5);
      case 7: return plain("\x48\x83\xc1\x08"sv, Rcx, (now_[Rcx] + 8) & kMask);
      case 8: return plain("\x48\x8d\x76\x01"sv, Rsi, now_[Rsi] + 1);
      case 9: return plain("\x48\x31\xff"sv, Rdi, 0);
      case 10: now_[Rsp] += 8; return {"\xc3"sv, true, same(now_[Rsp] - 8)};  // ret
      case 11: now_[Rsp] += 8; now_[Rdx] = cell(now_[Rsp] - 8);
        return {"\x5a"sv, true, same(now_[Rsp] - 8)};  // pop rdx
      case 12: return plain("\x48\x85\xc0"sv, Rflags, 0x202 | (seed >> 59 & 0x44));
      case 13: return {"\x74\x02"sv, false, {}};  // jz
      case 14: return plain("\x48\xff\xc5"sv, Rbp, now_[Rbp] + 1);
      default: return {"\xeb\xe1"sv, false, {}};  // jmp, to the loop's start
    }
  }

  Access same(uint64_t address) { return {address, cell(address), cell(address)}; }

  void step() {
    const auto before = now_;
    const Effect effect = execute();
    place_ = place_ == 15 ? 1 : place_ + 1;
    // By their lengths, with the function that 6 calls (7 to 10) behind the loop: a program counter
    // that does not follow is looked at more closely.
    static constexpr uint8_t kOffsets[] = {0,  7,  11, 14, 17, 21, 22, 38,
                                           42, 46, 49, 27, 28, 31, 33, 36};
    now_[Rip] = image_ + kOffsets[place_];
    ++count_;
    put(before, effect);
  }

  /// A block: words that will change or have just changed, with the values before.
  void put(const std::array<uint64_t, kWords>& before, const Effect& effect) {
    std::array<uint8_t, kWords> listed;
    int words = 0;
    const bool full = (count_ - 1) % 512 == 0;
    for (int i = 0; i < kWords; ++i) {
      const bool changes = i <= Rflags && now_[i] != before[i];
      if (full || will_change_[i] || changes) listed[words++] = static_cast<uint8_t>(i);
      will_change_[i] = changes;
    }
    const bool wrote = effect.access.old_value != effect.access.new_value;
    byte(0);
    byte(static_cast<uint8_t>(words));
    byte(effect.touches ? 1 : 0);
    byte(static_cast<uint8_t>((full ? 0x80 : 0) | effect.opcode.size()));
    if (full) raw(uint32_t{4000});
    for (const char one : effect.opcode) byte(static_cast<uint8_t>(one));
    for (int i = 0, last = -1; i < words; last = listed[i++])
      byte(static_cast<uint8_t>(listed[i] - last - 1));
    for (int i = 0; i < words; ++i) raw(before[listed[i]]);
    if (!effect.touches) return;
    byte(wrote ? 0 : 1);
    raw(effect.access.address);
    raw(effect.access.old_value);
    if (wrote) raw(effect.access.new_value);
  }

  void byte(uint8_t one) { out_.push_back(one); }
  template <class Value>
  void raw(Value value) {
    const size_t at = out_.size();
    out_.resize(at + sizeof value);
    std::memcpy(out_.data() + at, &value, sizeof value);
  }

  uint64_t image_, count_ = 0, place_ = 0;
  std::array<uint64_t, kWords> now_ = {};
  std::array<bool, kWords> will_change_ = {};
  std::vector<uint64_t> data_;
  std::vector<uint8_t> out_;
};

}  // namespace tracewell::bench
