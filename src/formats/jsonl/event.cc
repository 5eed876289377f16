// Events as JSON lines.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "formats/json/text.h"
#include "formats/jsonl/lines.h"
#include "formats/jsonl/parts.h"
#include "model/change_text.h"

namespace tracewell::formats {
namespace {

using Kind = FrameBlock::Kind;

class EventWriter {
 public:
  EventWriter(std::string& out, const Catalog& catalog, bool with_before, uint32_t pid)
      : out_(out), catalog_(catalog), with_before_(with_before), pid_(pid) {}

  void write(const Event& event) {
    put("{{\"seq\":{}", event.seq);
    put(",\"kind\":\"{}\"", kEventKinds[event.body.index()]);
    if (event.tid != 0)
      put(",\"tid\":{}", event.tid);
    else
      out_ += ",\"tid\":null";
    if (event.time_ns)
      put(",\"time_ns\":{}", *event.time_ns);
    else
      out_ += ",\"time_ns\":null";
    if (event.cpu >= 0) put(",\"cpu\":{}", event.cpu);
    if (pid_ != 0) put(",\"pid\":{}", pid_);
    if (event.process != 0) put(",\"process\":{}", event.process);
    std::visit([this](const auto& body) { write_body(body); }, event.body);
    out_ += '}';
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void put_bytes(std::string_view key, Bytes bytes) {
    put(",\"{}\":\"", key);
    append_hex(out_, bytes);
    out_ += '"';
  }
  void put_text(std::string_view key, std::string_view text) {
    put(",\"{}\":", key);
    append_json_text(out_, text);
  }
  /// `,` between items: call before each.
  void separate(bool& first) {
    if (!first) out_ += ',';
    first = false;
  }

  void write_register(const Register& one, Bytes value) {
    append_json_text(out_, one.name);
    put(":\"{}\"", register_value_hex(value, catalog_.endian));
  }

  void write_body(const Frame& frame) {
    put(",\"tracepoint\":{}", frame.tracepoint);
    if (frame.pc)
      put(",\"pc\":\"{:#x}\"", *frame.pc);
    else
      out_ += ",\"pc\":null";
    if (const FrameBlock* block = find_block(frame, Kind::Registers))
      write_registers(frame, *block);
    write_memory(frame);
    write_variables(frame);
    write_static(frame);
    if (!is_plain(frame)) write_blocks(frame);
  }

  void write_registers(const Frame& frame, const FrameBlock& block) {
    out_ += ",\"registers\":{";
    bool first = true;
    each_collected(catalog_.registers, frame, block, [&](const Register& one, Bytes value) {
      separate(first);
      write_register(one, value);
    });
    out_ += '}';
  }

  void write_memory(const Frame& frame) {
    if (!find_block(frame, Kind::Memory)) return;
    out_ += ",\"memory\":[";
    bool first = true;
    for (const FrameBlock& block : frame.blocks) {
      if (block.kind != Kind::Memory) continue;
      separate(first);
      put("{{\"addr\":\"{:#x}\"", block.address);
      put_bytes("bytes", block.bytes);
      out_ += '}';
    }
    out_ += ']';
  }

  /// Of one number, the last value: as GDB reads a frame.
  void write_variables(const Frame& frame) {
    if (!find_block(frame, Kind::Variable)) return;
    out_ += ",\"variables\":{";
    bool first = true;
    for (size_t i = 0; i < frame.blocks.size(); ++i) {
      const FrameBlock& block = frame.blocks[i];
      if (block.kind != Kind::Variable || variable_again(frame, i)) continue;
      separate(first);
      put("\"{}\":{}", block.number, block.value);
    }
    out_ += '}';
  }

  /// Is the variable of block `i` recorded once more behind it? Looks a short way only: the human
  /// form of a frame that repeats itself a thousand times need not be perfect, `blocks` is.
  static bool variable_again(const Frame& frame, size_t i) {
    const size_t end = std::min(frame.blocks.size(), i + 64);
    for (size_t k = i + 1; k < end; ++k)
      if (frame.blocks[k].kind == Kind::Variable &&
          frame.blocks[k].number == frame.blocks[i].number)
        return true;
    return false;
  }

  void write_static(const Frame& frame) {
    if (!find_block(frame, Kind::Static)) return;
    out_ += ",\"static\":[";
    bool first = true;
    for (const FrameBlock& block : frame.blocks) {
      if (block.kind != Kind::Static) continue;
      separate(first);
      out_ += '"';
      append_hex(out_, block.bytes);
      out_ += '"';
    }
    out_ += ']';
  }

  /// Do the keys above say everything? They do for registers (once, each byte of the block in some
  /// register), then memory, then each variable once, then static data.
  bool is_plain(const Frame& frame) const {
    const FrameBlock* before = nullptr;
    for (size_t i = 0; i < frame.blocks.size(); ++i) {
      const FrameBlock& block = frame.blocks[i];
      if (before && block.kind < before->kind) return false;
      if (block.kind == Kind::Registers && (before || !covers(block))) return false;
      if (block.kind == Kind::Variable && block.number < 0) return false;
      before = &block;
    }
    return variables_differ(frame);
  }

  bool covers(const FrameBlock& block) const {
    uint64_t covered = 0;
    for (const Register& one : catalog_.registers.registers) covered += one.size_bytes;
    return covered == block.bytes.size() && covered == catalog_.registers.size_bytes;
  }

  static bool variables_differ(const Frame& frame) {
    std::vector<int32_t> numbers;
    for (const FrameBlock& block : frame.blocks)
      if (block.kind == Kind::Variable) numbers.push_back(block.number);
    std::sort(numbers.begin(), numbers.end());
    return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
  }

  /// The block with zeros for what was not collected, whatever stands there.
  Bytes collected(const Frame& frame, Bytes block) {
    if (frame.registers_valid.empty()) return block;
    scratch_.assign(block.begin(), block.end());
    const auto& registers = catalog_.registers.registers;
    for (uint32_t i = 0; i < registers.size(); ++i) {
      const Register& one = registers[i];
      if (!register_valid(frame, i) && one.offset <= block.size() &&
          one.size_bytes <= block.size() - one.offset)
        std::fill_n(scratch_.begin() + one.offset, one.size_bytes, uint8_t{0});
    }
    return scratch_;
  }

  void write_blocks(const Frame& frame) {
    out_ += ",\"blocks\":[";
    bool first = true;
    for (const FrameBlock& block : frame.blocks) {
      separate(first);
      switch (block.kind) {
        case Kind::Registers:
          out_ += "{\"type\":\"R\"";
          put_bytes("bytes", collected(frame, block.bytes));
          out_ += '}';
          continue;
        case Kind::Memory:
          put("{{\"type\":\"M\",\"addr\":\"{:#x}\"", block.address);
          break;
        case Kind::Static:
          out_ += "{\"type\":\"S\"";
          break;
        case Kind::Variable:
          put("{{\"type\":\"V\",\"number\":{},\"value\":{}}}", block.number, block.value);
          continue;
      }
      put_bytes("bytes", block.bytes);
      out_ += '}';
    }
    out_ += ']';
  }

  void write_body(const Step& step) {
    put(",\"pc\":\"{:#x}\"", step.pc);
    put_bytes("opcode", step.opcode);
    if (with_before_ || !step.before.empty()) write_changes("before", step.before);
    write_changes("registers", step.registers);
    if (!step.after_known) out_ += ",\"after_known\":false";
    out_ += ",\"memory\":[";
    bool first = true;
    for (const Step::MemoryAccess& access : step.memory) {
      separate(first);
      put("{{\"addr\":\"{:#x}\",\"size\":{},\"access\":\"{}\"", access.address, access.size,
          kAccessNames[static_cast<size_t>(access.kind)]);
      if (!access.old_bytes.empty()) put_bytes("old", access.old_bytes);
      if (!access.new_bytes.empty()) put_bytes("new", access.new_bytes);
      out_ += '}';
    }
    out_ += ']';
    if (step.memory_incomplete) out_ += ",\"memory_incomplete\":true";
    if (step.gap_before) out_ += ",\"gap_before\":true";
    if (!step.stored.empty()) put_bytes("stored", step.stored);
  }

  void write_changes(std::string_view key, std::span<const Step::RegisterChange> changes) {
    put(",\"{}\":{{", key);
    bool first = true;
    for (const Step::RegisterChange& change : changes) {
      if (change.index >= catalog_.registers.registers.size()) continue;
      const Register& one = catalog_.registers.registers[change.index];
      separate(first);
      if (!change.value.empty()) {
        write_register(one, change.value);
        continue;
      }
      append_json_text(out_, one.name);
      out_ += ":null";
    }
    out_ += '}';
  }

  void write_body(const Hook& hook) {
    put(",\"id\":\"{:04x}\",\"subhook\":{},\"env\":{}", hook.id, hook.subhook,
        hook.environment_bits);
    if (hook.type) put(",\"type\":{}", *hook.type);
    put(",\"generic\":{},\"words\":[", hook.generic);
    bool first = true;
    for (const uint64_t word : hook.words) {
      separate(first);
      put("\"{:#x}\"", word);
    }
    out_ += ']';
    if (hook.generic || !hook.data.empty()) put_bytes("data", hook.data);
  }

  void write_body(const Mark& mark) {
    put_text("text", mark.text);
    if (mark.session) out_ += ",\"session\":true";
  }

  void write_body(const Lost& lost) {
    put(",\"count\":{}", lost.count);
    put_text("why", lost.why);
  }

  void write_body(const Change& change) {
    put(",\"change\":\"{}\"", change_name(change.kind));
    if (!change.text.empty()) put_text("name", change.text);
    if (change.process != nullptr) {
      out_ += ",\"who\":";
      append_process_json(out_, *change.process);
    }
    if (change.module != nullptr) {
      out_ += ",\"module\":";
      append_module_json(out_, *change.module);
    }
  }

  std::string& out_;
  const Catalog& catalog_;
  bool with_before_ = false;
  uint32_t pid_ = 0;
  std::vector<uint8_t> scratch_;
};

}  // namespace

void append_event_json(std::string& out, const Catalog& catalog, const Event& event,
                       bool with_before, uint32_t pid) {
  EventWriter(out, catalog, with_before, pid).write(event);
}

}  // namespace tracewell::formats
