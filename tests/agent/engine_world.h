// A world for the engine's tests: one process with a handful of registers, memory made up by the
// test, and sites that are only a set. Hits are made by calling it.
#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/engine/engine.h"
#include "base/text/hex.h"

namespace tracewell::agent::test {

constexpr target::Pid kPid = 7;

/// r0 r1 (8 bytes), v2 (16), pc (8).
inline RegisterLayout small_layout() {
  RegisterLayout layout;
  layout.registers = {{"r0", 0, 0, 8, "int64"},
                      {"r1", 1, 8, 8, "int64"},
                      {"v2", 2, 16, 16, "uint128"},
                      {"pc", 3, 32, 8, "code_ptr"}};
  layout.size_bytes = 40;
  layout.pc_index = 3;
  return layout;
}

class World final : public target::Target, private target::TraceSites {
 public:
  std::vector<target::ProcessInfo> processes() const override {
    std::vector<target::ProcessInfo> all = others;
    if (alive) all.insert(all.begin(), {kPid, false});
    return all;
  }
  std::vector<target::ThreadInfo> threads(target::Pid) const override { return {}; }
  const RegisterLayout& layout(target::Pid) const override { return layout_; }
  const std::string& target_description(target::Pid) const override { return description_; }
  Status read_registers(target::Tid, std::span<uint8_t>) override { return {}; }
  Status write_registers(target::Tid, Bytes) override { return {}; }
  size_t read_memory(target::Pid, uint64_t address, std::span<uint8_t> into) override {
    size_t got = 0;
    for (; got < into.size(); ++got) {
      const auto byte = memory.find(address + got);
      if (byte == memory.end()) break;
      into[got] = byte->second;
    }
    return got;
  }
  Status write_memory(target::Pid, uint64_t address, Bytes bytes) override {
    for (const uint8_t byte : bytes) memory[address++] = byte;
    return {};
  }
  Status resume(std::span<const target::ResumeAction>) override { return {}; }
  Result<std::optional<target::StopEvent>> wait() override { return {std::nullopt}; }
  Status interrupt() override { return {}; }
  target::TraceSites* trace_sites() override { return this; }
  target::ProcessFacts* facts() override { return known; }

  /// Its pc has four bytes.
  void become_32_bit() {
    layout_.registers[3].size_bytes = 4;
    layout_.size_bytes = 36;
  }
  uint64_t last_address() const { return layout_.size_bytes == 36 ? UINT32_MAX : UINT64_MAX; }

  void fill(uint64_t address, std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i)
      memory[(address + i) & last_address()] = static_cast<uint8_t>(text[i]);
  }

  bool alive = true;
  std::vector<target::ProcessInfo> others;
  std::map<uint64_t, uint8_t> memory;
  std::set<uint64_t> sites;
  std::map<std::pair<target::Pid, uint64_t>, int64_t> counts;  // what was raised, and not lowered
  std::optional<uint64_t> refused_site;
  target::ProcessFacts* known = nullptr;

 private:
  void set_handler(target::HitHandler*) override {}
  Status insert(target::Pid, uint64_t address) override {
    if (refused_site == address) return {Errc::Target, "no memory there"};
    sites.insert(address);
    return {};
  }
  Status remove(target::Pid, uint64_t address) override {
    sites.erase(address);
    return {};
  }
  void raise_count(target::Pid pid, uint64_t address) override { change(pid, address, 1); }
  void lower_count(target::Pid pid, uint64_t address) override { change(pid, address, -1); }
  void change(target::Pid pid, uint64_t address, int64_t by) {
    counts[{pid, address}] += by;
    const auto low = static_cast<int64_t>(memory[address] | memory[address + 1] << 8) + by;
    memory[address] = static_cast<uint8_t>(low);
    memory[address + 1] = static_cast<uint8_t>(low >> 8);
  }
  RegisterLayout layout_ = small_layout();
  std::string description_ = "<target><architecture>i386:x86-64</architecture></target>";
};

class Hit final : public target::HitContext {
 public:
  Hit(World& world, uint64_t pc, target::Tid tid = kPid) : world_(world), pc_(pc), tid_(tid) {
    store_uint(block_, 0x1111, 8, Endian::Little);
    store_uint(block_ + 8, 0x2000, 8, Endian::Little);
    store_uint(block_ + 32, pc, 8, Endian::Little);
  }
  target::Pid pid() const override { return of; }
  target::Tid tid() const override { return tid_; }
  uint64_t pc() const override { return pc_; }
  bool read_register(uint32_t number, uint64_t& value) override {
    const Register* reg = world_.layout(kPid).by_number(number);
    if (reg == nullptr || reg->size_bytes > 8) return false;
    value = load_uint(block_ + reg->offset, reg->size_bytes, Endian::Little);
    return true;
  }
  Bytes registers() override {
    ++register_reads;
    return Bytes(block_).first(world_.layout(kPid).size_bytes);
  }
  void read_memory(std::span<Range> ranges) override {
    ++memory_reads;
    for (Range& range : ranges) {
      range.address &= world_.last_address();
      range.got = world_.read_memory(kPid, range.address, range.into);
    }
  }

  target::Pid of = kPid;
  int register_reads = 0, memory_reads = 0;

 private:
  World& world_;
  uint64_t pc_;
  target::Tid tid_;
  uint8_t block_[40] = {};
};

/// An engine in a world, spoken to in packets' bodies.
class EngineTest : public ::testing::Test {
 protected:
  using Stop = RunStatus::Stop;
  using Next = target::HitHandler::Next;

  Status define(std::string_view body) {
    if (rsp::is_qtdp_actions(body)) {
      TW_ASSIGN_OR_RETURN(const auto actions, rsp::parse_qtdp_actions(body));
      return engine.add_actions(actions);
    }
    TW_ASSIGN_OR_RETURN(auto definition, rsp::parse_qtdp_definition(body));
    return engine.define(std::move(definition));
  }
  /// Defines tracepoint 1 at 1000 with these actions, and starts.
  void trace(std::string_view actions) {
    ASSERT_TRUE(define("1:1000:E:0:0-").ok());
    ASSERT_TRUE(define("-1:1000:" + std::string(actions)).ok());
    ASSERT_TRUE(engine.start(kPid).ok());
  }
  Next hit(uint64_t pc = 0x1000, target::Tid tid = kPid) {
    Hit context(world, pc, tid);
    return engine.on_hit(context);
  }
  Next step(uint64_t pc, target::Tid tid = kPid) {
    Hit context(world, pc, tid);
    return engine.on_step(context);
  }
  /// "R", "M1000:61626300", "V2=5" …, of one frame, separated by blanks.
  std::string blocks(uint64_t number) {
    auto frame = engine.frames().frame(number);
    if (!frame) return frame.error().text();
    std::string out;
    for (const FrameBlock& block : frame->blocks) {
      if (!out.empty()) out += ' ';
      if (block.kind == FrameBlock::Kind::Registers) out += "R";
      if (block.kind == FrameBlock::Kind::Memory)
        out += fmt::format("M{:x}:{}", block.address, to_hex(block.bytes));
      if (block.kind == FrameBlock::Kind::Variable)
        out += fmt::format("V{}={}", block.number, block.value);
      if (block.kind == FrameBlock::Kind::Static) out += fmt::format("S({})", as_text(block.bytes));
    }
    return out;
  }

  World world;
  int64_t now_ns = 1'600'000'000'123'456'789;
  Engine engine{world, [this] { return now_ns; }};
};

/// `X` action text of bytecode given in hex.
inline std::string expression(std::string_view code) {
  return fmt::format("X{:08X},{}", code.size() / 2, code);
}

}  // namespace tracewell::agent::test
