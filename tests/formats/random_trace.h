// Random traces for property tests: everything that a trace file can hold, seeded.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/text/text.h"
#include "machine/tdesc.h"
#include "machine/x86.h"
#include "model/batch.h"
#include "model/catalog.h"

namespace tracewell::formats::test {

class RandomTrace {
 public:
  explicit RandomTrace(uint32_t seed) : random_(seed) {
    make_layout();
    make_definitions();
    const size_t frames = below(300);
    for (size_t i = 0; i < frames; ++i) make_frame(i);
  }

  Catalog catalog;
  const Batch& events() const { return batch_; }

  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }
  std::string text(size_t most) {
    std::string out(below(most + 1), '\0');
    for (char& c : out) c = static_cast<char>(chance(5) ? below(256) : 32 + below(95));
    return out;
  }
  /// Files have texts that GDB prints as it would print them without harm.
  std::string shown(size_t most) { return printable(text(most)); }
  std::vector<uint8_t> bytes(size_t most) {
    std::vector<uint8_t> out(below(most + 1));
    for (uint8_t& byte : out) byte = static_cast<uint8_t>(below(256));
    return out;
  }

 private:
  /// GDB is told of no name that has one.
  static std::string without_equals(std::string text) {
    std::erase(text, '=');
    return text;
  }
  void make_layout() {
    switch (below(3)) {
      case 0: {
        const machine::X86Features has{chance(50), chance(50), chance(50), chance(30), chance(30)};
        catalog.machine = "x86-64";
        catalog.registers = machine::x86_64_layout(has);
        catalog.target_description = machine::x86_64_tdesc(has);
        return;
      }
      case 1:
        catalog.machine = "powerpc";
        catalog.endian = chance(70) ? Endian::Big : Endian::Little;
        catalog.address_bytes = 4;
        catalog.target_description =
            "<target><architecture>powerpc:common</architecture><feature name=\"f\">"
            "<reg name=\"r0\" bitsize=\"32\"/>\n<reg name=\"v\" bitsize=\"128\"/>"
            "<reg name=\"pc\" bitsize=\"32\" regnum=\"64\"/></feature></target>\n";
        break;
      default:
        return;  // no registers at all
    }
    ProblemLog problems;
    catalog.registers = machine::parse_tdesc(catalog.target_description, problems).registers;
  }

  void make_definitions() {
    for (uint32_t n = 1; n <= below(6); ++n) {
      TracepointDef one;
      one.number = n;
      one.address = below(4) == 0 ? 0x1000 : random_();
      one.enabled = chance(80);
      one.step_count = chance(20) ? below(9) : 0;
      one.pass_count = chance(20) ? below(9) : 0;
      if (chance(20)) one.fast_length = below(15);
      one.condition = chance(30) ? bytes(40) : std::vector<uint8_t>();
      if (chance(50)) one.actions = {"R03", "M-1,404010,4"};
      if (one.step_count != 0) one.step_actions = {"X00000002,2227"};
      if (chance(70)) one.sources.push_back({"at", text(30)});
      if (chance(30)) one.sources.push_back({"cmd", text(2000)});
      if (chance(50)) one.usage = TracepointDef::Usage{below(100), random_()};
      catalog.tracepoints.push_back(std::move(one));
    }
    for (uint32_t n = 1; n <= below(4); ++n)
      catalog.variables.push_back(
          {n, static_cast<int64_t>(random_()), chance(30), without_equals(shown(12))});
    RunStatus status;
    status.stop = static_cast<RunStatus::Stop>(below(7));
    if (status.stop == RunStatus::Stop::Requested || status.stop == RunStatus::Stop::Failed)
      status.stop_text = shown(30);
    if (chance(50)) status.frames_created = below(1000);
    if (chance(50)) status.buffer_size = below(1 << 30);
    if (chance(30)) status.notes = shown(20);
    if (chance(30)) status.user_name = shown(20);
    catalog.status = status;  // frames: filled in by who knows
    if (chance(30)) catalog.auxv = bytes(100);
    for (uint64_t n = below(3); n > 0; --n)
      catalog.modules.push_back(
          {text(40), random_(), random_(), random_(), chance(50) ? "ab12" : ""});
    told_times_ = chance(50);
    partial_ = chance(50);
    if (chance(50)) return;
    Process& whose = catalog.processes.emplace_back();
    whose.pid = static_cast<uint32_t>(below(3) * 1000);
    if (chance(50)) whose.id = ProcessId{random_(), random_()};
    if (chance(50)) whose.start_ns = random_();
    for (std::string* one : {&whose.image, &whose.host, &whose.boot}) *one = text(20 * below(2));
  }

  void make_frame(size_t seq) {
    std::vector<FrameBlock> blocks;
    Frame frame;
    frame.tracepoint = static_cast<int32_t>(chance(90) ? 1 + below(5) : 1 + below(32767));
    if (chance(5)) frame.tracepoint = -frame.tracepoint;
    const bool canonical = chance(60);
    if (!catalog.registers.empty() && chance(50)) add_registers(frame, blocks);
    for (uint64_t n = below(4); n > 0; --n) add_block(blocks, canonical ? 0 : below(3), n);
    if (canonical)
      for (uint64_t n = below(3); n > 0; --n) add_block(blocks, 1, n);
    frame.blocks = batch_.copy_array(std::span<const FrameBlock>(blocks));
    frame.pc = derived_pc(frame);
    if (chance(5)) frame.pc = random_();
    Event& event = batch_.add();
    event.seq = seq;
    event.process = catalog.processes.empty() ? 0 : 1;
    if (told_times_ && chance(80)) {
      event.time_ns = static_cast<int64_t>(random_() >> 1);
      event.tid = below(5) * 1000;
      event.cpu = static_cast<int32_t>(below(4)) - 1;
    }
    event.body = frame;
  }

  void add_registers(Frame& frame, std::vector<FrameBlock>& blocks) {
    std::vector<uint8_t> block(catalog.registers.size_bytes);
    for (uint8_t& byte : block) byte = static_cast<uint8_t>(below(256));
    const size_t count = catalog.registers.registers.size();
    if (partial_ && chance(50)) {
      std::vector<uint8_t> mask((count + 7) / 8);
      for (size_t i = 0; i < count; ++i) {
        const Register& one = catalog.registers.registers[i];
        if (chance(70))
          mask[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
        else
          std::fill_n(block.begin() + one.offset, one.size_bytes, uint8_t{0});
      }
      frame.registers_valid = batch_.copy(Bytes(mask));
    }
    FrameBlock out;
    out.kind = FrameBlock::Kind::Registers;
    out.bytes = batch_.copy(Bytes(block));
    blocks.push_back(out);
  }

  void add_block(std::vector<FrameBlock>& blocks, uint64_t kind, uint64_t n) {
    FrameBlock block;
    if (kind == 0) {
      block.kind = FrameBlock::Kind::Memory;
      block.address = random_();
      block.bytes = batch_.copy(Bytes(bytes(40)));
    } else if (kind == 1) {
      block.kind = FrameBlock::Kind::Variable;
      block.number = static_cast<int32_t>(n);
      block.value = static_cast<int64_t>(random_());
    } else {
      block.kind = FrameBlock::Kind::Static;
      block.bytes = batch_.copy(Bytes(bytes(10)));
    }
    blocks.push_back(block);
  }

  /// What a reader finds by itself: the register, or the only place of a tracepoint without steps.
  std::optional<uint64_t> derived_pc(const Frame& frame) const {
    const FrameBlock* block = find_block(frame, FrameBlock::Kind::Registers);
    const Register* pc = catalog.registers.pc();
    if (block && pc && register_valid(frame, *catalog.registers.pc_index))
      return load_uint(block->bytes.data() + pc->offset, pc->size_bytes, catalog.endian);
    for (const TracepointDef& one : catalog.tracepoints)
      if (static_cast<int32_t>(one.number) == frame.tracepoint && one.step_count == 0)
        return one.address;
    return std::nullopt;
  }

  std::mt19937_64 random_;
  Batch batch_;
  bool told_times_ = false;
  bool partial_ = false;
};

}  // namespace tracewell::formats::test
