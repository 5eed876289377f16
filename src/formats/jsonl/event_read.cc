#include "formats/jsonl/event_read.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/json/jsonl_value.h"
#include "formats/json/text.h"
#include "model/change_text.h"

namespace tracewell::formats {

using json::Json;
using Kind = FrameBlock::Kind;

namespace {

Error bad(std::string_view key) {
  return Error{
      Errc::Corrupt, fmt::format("the value of \"{}\" makes no sense", printable(key)), {}};
}

/// "0x…" of any length into `to`, in `endian` order. false: no number, or too large.
bool number_into(const Json& value, std::span<uint8_t> to, Endian endian) {
  std::fill(to.begin(), to.end(), uint8_t{0});
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (to.size() < 8 && number >> (8 * to.size()) != 0) return false;
    const size_t size = std::min<size_t>(to.size(), 8);
    const size_t at = endian == Endian::Little ? 0 : to.size() - size;
    store_uint(to.data() + at, number, size, endian);
    return true;
  }
  if (!value.is_string()) return false;
  std::string_view digits = value.get_ref<const std::string&>();
  if (!digits.starts_with("0x") || digits.size() == 2) return false;
  digits.remove_prefix(2);
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  if (digits.size() > 2 * to.size()) return false;
  for (size_t i = 0; i < digits.size(); ++i) {  // from the least significant digit up
    const int digit = hex_digit(digits[digits.size() - 1 - i]);
    if (digit < 0) return false;
    const size_t byte = endian == Endian::Little ? i / 2 : to.size() - 1 - i / 2;
    to[byte] |= static_cast<uint8_t>(digit << (4 * (i % 2)));
  }
  return true;
}

}  // namespace

/// Reads one event's members into a batch.
class EventBodyReader {
 public:
  EventBodyReader(EventReader& reader, const Json& line, Batch& batch)
      : reader_(reader), catalog_(reader.catalog_), line_(line), batch_(batch) {}

  Result<Frame> frame() {
    Frame frame;
    if (const Json* number = json::member(line_, "tracepoint")) {
      const auto value = json::signed_number(*number);
      if (!value || *value < INT32_MIN || *value > INT32_MAX) return bad("tracepoint");
      frame.tracepoint = static_cast<int32_t>(*value);
    }
    std::vector<FrameBlock> blocks;
    std::vector<uint8_t> mask;
    TW_RETURN_IF_ERROR(read_registers(blocks, mask));
    if (const Json* exact = json::member(line_, "blocks")) {
      blocks.clear();
      TW_RETURN_IF_ERROR(read_blocks(*exact, blocks));
    } else {
      TW_RETURN_IF_ERROR(read_memory(blocks));
      TW_RETURN_IF_ERROR(read_variables(blocks));
      TW_RETURN_IF_ERROR(read_static(blocks));
    }
    frame.registers_valid = batch_.copy(Bytes(mask));
    frame.blocks = batch_.copy_array(std::span<const FrameBlock>(blocks));
    TW_RETURN_IF_ERROR(read_pc(frame));
    return frame;
  }

  Result<Step> step() {
    Step step;
    TW_ASSIGN_OR_RETURN(step.opcode, bytes_of(line_, "opcode"));
    TW_ASSIGN_OR_RETURN(step.before, changes("before"));
    TW_ASSIGN_OR_RETURN(step.pc, pc_of(step));
    TW_ASSIGN_OR_RETURN(step.registers, changes("registers"));
    TW_ASSIGN_OR_RETURN(step.after_known, flag("after_known", true));
    TW_ASSIGN_OR_RETURN(step.memory_incomplete, flag("memory_incomplete", false));
    TW_ASSIGN_OR_RETURN(step.gap_before, flag("gap_before", false));
    TW_ASSIGN_OR_RETURN(step.memory, accesses());
    TW_ASSIGN_OR_RETURN(step.stored, bytes_of(line_, "stored"));
    return step;
  }

  Result<Hook> hook() {
    Hook hook;
    if (const Json* id = json::member(line_, "id")) {
      const auto value =
          id->is_string() ? parse_hex(id->get_ref<const std::string&>()) : std::nullopt;
      if (!value || *value > UINT16_MAX) return bad("id");
      hook.id = static_cast<uint16_t>(*value);
    }
    TW_ASSIGN_OR_RETURN(const uint64_t subhook, number("subhook", 0));
    TW_ASSIGN_OR_RETURN(const uint64_t bits, number("env", 64));
    if (subhook > UINT16_MAX) return bad("subhook");
    if (bits != 32 && bits != 64) return bad("env");
    hook.subhook = static_cast<uint16_t>(subhook);
    hook.environment_bits = static_cast<uint8_t>(bits);
    if (const Json* type = json::member(line_, "type")) {
      const auto value = json::unsigned_number(*type);
      if (!value || *value > UINT32_MAX) return bad("type");
      hook.type = static_cast<uint32_t>(*value);
    }
    if (const Json* generic = json::member(line_, "generic"))
      hook.generic = json::boolean(*generic).value_or(false);
    std::vector<uint64_t> words;
    if (const Json* list = json::member(line_, "words")) {
      if (!list->is_array()) return bad("words");
      for (const Json& item : *list) {
        const auto word = json::unsigned_number(item);
        if (!word) return bad("words");
        words.push_back(*word);
      }
    }
    hook.words = batch_.copy_array(std::span<const uint64_t>(words));
    TW_ASSIGN_OR_RETURN(hook.data, bytes_of(line_, "data"));
    return hook;
  }

  Result<Mark> mark() {
    Mark mark;
    TW_ASSIGN_OR_RETURN(mark.text, text_of("text"));
    TW_ASSIGN_OR_RETURN(mark.session, flag("session", false));
    return mark;
  }

  Result<Lost> lost() {
    TW_ASSIGN_OR_RETURN(const uint64_t count, number("count", 0));
    TW_ASSIGN_OR_RETURN(const std::string_view why, text_of("why"));
    return Lost{count, why};
  }

  Result<Change> change() {
    using ChangeKind = Change::Kind;
    Change change;
    const Json* name = json::member(line_, "change");
    const auto kind = name ? change_kind(json::text(*name).value_or("")) : std::nullopt;
    if (!kind) return bad("change");
    change.kind = *kind;
    const bool of_process = change.kind == ChangeKind::ProcessKnown ||
                            change.kind == ChangeKind::ProcessBegan ||
                            change.kind == ChangeKind::ProcessRuns;
    const bool of_module = change.kind == ChangeKind::ModuleLoaded ||
                           change.kind == ChangeKind::ModuleUnloaded;
    if (of_process) {
      TW_ASSIGN_OR_RETURN(Process process, part("who", json::process_of));
      if (process.pid == 0) process.pid = reader_.told_pid_;
      change.process = batch_.keep(std::move(process));
    }
    if (of_module) {
      TW_ASSIGN_OR_RETURN(Module module, part("module", json::module_of));
      change.module = batch_.keep(std::move(module));
    }
    TW_ASSIGN_OR_RETURN(change.text, text_of("name"));
    return change;
  }

 private:
  /// An object that `read` reads; one that is not there has nothing in it.
  template <class Part>
  Result<Part> part(const char* key, Part (*read)(const Json&, const json::Complain&)) {
    const Json* value = json::member(line_, key);
    if (!value) return Part();
    if (!value->is_object()) return bad(key);
    const char* wrong = nullptr;
    Part out = read(*value, [&](const char* member) { wrong = member; });
    if (wrong != nullptr) return bad(wrong);
    return out;
  }
  Result<uint64_t> number(const char* key, uint64_t otherwise) {
    const Json* value = json::member(line_, key);
    if (!value) return otherwise;
    const auto number = json::unsigned_number(*value);
    if (!number) return bad(key);
    return *number;
  }
  Result<bool> flag(const char* key, bool otherwise) {
    const Json* value = json::member(line_, key);
    if (!value) return otherwise;
    const auto flag = json::boolean(*value);
    if (!flag) return bad(key);
    return *flag;
  }
  Result<Bytes> bytes_of(const Json& object, const char* key) {
    const Json* value = json::member(object, key);
    if (!value) return Bytes();
    const auto bytes = json::bytes(*value);
    if (!bytes) return bad(key);
    return batch_.copy(Bytes(*bytes));
  }
  Result<std::string_view> text_of(const char* key) {
    const Json* value = json::member(line_, key);
    if (!value) return std::string_view();
    const auto text = json::text(*value);
    if (!text) return bad(key);
    return batch_.copy(std::string_view(*text));
  }

  /// The block that the names make, with the mask of those that are there.
  Status read_registers(std::vector<FrameBlock>& blocks, std::vector<uint8_t>& mask) {
    const Json* registers = json::member(line_, "registers");
    if (!registers) return {};
    if (!registers->is_object()) return bad("registers");
    const RegisterLayout& layout = catalog_.registers;
    std::vector<uint8_t> block(layout.size_bytes);
    mask.assign((layout.registers.size() + 7) / 8, 0);
    size_t count = 0;
    for (const auto& [name, value] : registers->items()) {
      const auto found = reader_.register_names_.index(name);
      if (!found)
        return Error{
            Errc::Corrupt, fmt::format("there is no register \"{}\"", printable(name)), {}};
      const uint32_t index = *found;
      const Register& one = layout.registers[index];
      if (!number_into(value, std::span(block).subspan(one.offset, one.size_bytes),
                       catalog_.endian))
        return bad(name);
      mask[index / 8] |= static_cast<uint8_t>(1u << (index % 8));
      ++count;
    }
    if (count == layout.registers.size()) mask.clear();  // all of them
    FrameBlock out;
    out.kind = Kind::Registers;
    out.bytes = keep(block);
    blocks.push_back(out);
    return {};
  }

  Bytes keep(Bytes bytes) {
    reader_.value_bytes_ += bytes.size();
    return batch_.copy(bytes);
  }

  Result<FrameBlock> memory_block(const Json& item) {
    FrameBlock block;
    block.kind = Kind::Memory;
    const Json* address = json::member(item, "addr");
    const auto value = address ? json::unsigned_number(*address) : std::nullopt;
    if (!value) return bad("addr");
    block.address = *value;
    TW_ASSIGN_OR_RETURN(block.bytes, bytes_of(item, "bytes"));
    return block;
  }

  Status read_memory(std::vector<FrameBlock>& blocks) {
    const Json* memory = json::member(line_, "memory");
    if (!memory) return {};
    if (!memory->is_array()) return bad("memory");
    for (const Json& item : *memory) {
      TW_ASSIGN_OR_RETURN(FrameBlock block, memory_block(item));
      blocks.push_back(block);
    }
    return {};
  }

  static Result<FrameBlock> variable_block(uint64_t number, const Json* value) {
    const auto signed_value = value ? json::signed_number(*value) : std::nullopt;
    if (!signed_value) return bad("variables");
    FrameBlock block;
    block.kind = Kind::Variable;
    block.number = static_cast<int32_t>(number);
    block.value = *signed_value;
    return block;
  }

  Status read_variables(std::vector<FrameBlock>& blocks) {
    const Json* variables = json::member(line_, "variables");
    if (!variables) return {};
    if (!variables->is_object()) return bad("variables");
    for (const auto& [name, value] : variables->items()) {
      const auto number = parse_number(name);
      if (!number || *number > INT32_MAX) return bad("variables");
      TW_ASSIGN_OR_RETURN(FrameBlock block, variable_block(*number, &value));
      blocks.push_back(block);
    }
    return {};
  }

  Status read_static(std::vector<FrameBlock>& blocks) {
    const Json* list = json::member(line_, "static");
    if (!list) return {};
    if (!list->is_array()) return bad("static");
    for (const Json& item : *list) {
      const auto bytes = json::bytes(item);
      if (!bytes) return bad("static");
      FrameBlock block;
      block.kind = Kind::Static;
      block.bytes = batch_.copy(Bytes(*bytes));
      blocks.push_back(block);
    }
    return {};
  }

  Status read_blocks(const Json& list, std::vector<FrameBlock>& blocks) {
    if (!list.is_array()) return bad("blocks");
    for (const Json& item : list) {
      const Json* type_value = json::member(item, "type");
      const std::string type = type_value ? json::text(*type_value).value_or("") : "";
      FrameBlock block;
      if (type == "M") {
        TW_ASSIGN_OR_RETURN(block, memory_block(item));
      } else if (type == "V") {
        const Json* number = json::member(item, "number");
        const auto value = number ? json::signed_number(*number) : std::nullopt;
        if (!value || *value < INT32_MIN || *value > INT32_MAX) return bad("number");
        TW_ASSIGN_OR_RETURN(block, variable_block(0, json::member(item, "value")));
        block.number = static_cast<int32_t>(*value);
      } else if (type == "R" || type == "S") {
        block.kind = type == "R" ? Kind::Registers : Kind::Static;
        TW_ASSIGN_OR_RETURN(block.bytes, bytes_of(item, "bytes"));
        if (type == "R" && block.bytes.size() != catalog_.registers.size_bytes)
          return bad("blocks");
      } else {
        return bad("blocks");
      }
      blocks.push_back(block);
    }
    return {};
  }

  /// null says that it is not known; without the key the registers may tell.
  Status read_pc(Frame& frame) {
    if (line_.contains("pc")) {
      const Json* value = json::member(line_, "pc");
      if (!value) return {};
      frame.pc = json::unsigned_number(*value);
      return frame.pc ? Status() : bad("pc");
    }
    const FrameBlock* block = find_block(frame, Kind::Registers);
    const Register* pc = catalog_.registers.pc();
    if (block && pc && pc->size_bytes <= 8 && register_valid(frame, *catalog_.registers.pc_index))
      frame.pc = load_uint(block->bytes.data() + pc->offset, pc->size_bytes, catalog_.endian);
    return {};
  }

  /// Of a step it has to be known: all that is asked of steps begins there.
  Result<uint64_t> pc_of(const Step& step) {
    if (json::member(line_, "pc")) return number("pc", 0);
    const auto index = catalog_.registers.pc_index;
    for (const Step::RegisterChange& one : step.before)
      if (one.index == index && !one.value.empty() && one.value.size() <= 8)
        return load_uint(one.value.data(), one.value.size(), catalog_.endian);
    return Error{Errc::Corrupt, "a step has to say its \"pc\"", {}};
  }

  /// {name: value}; null is a value that is not known.
  Result<std::span<const Step::RegisterChange>> changes(const char* key) {
    std::vector<Step::RegisterChange> out;
    if (const Json* registers = json::member(line_, key)) {
      if (!registers->is_object()) return bad(key);
      for (const auto& [name, value] : registers->items()) {
        const auto index = reader_.register_names_.index(name);
        if (!index) return bad(name);
        const uint32_t size = catalog_.registers.registers[*index].size_bytes;
        if (value.is_null()) {
          out.push_back({*index, {}});
          continue;
        }
        std::vector<uint8_t> raw(size);
        if (!number_into(value, raw, catalog_.endian)) return bad(name);
        out.push_back({*index, keep(raw)});
      }
    }
    return batch_.copy_array(std::span<const Step::RegisterChange>(out));
  }

  /// Without a size, that of the bytes; those that are there must have it.
  Status read_contents(const Json& item, Step::MemoryAccess& access) {
    TW_ASSIGN_OR_RETURN(access.old_bytes, bytes_of(item, "old"));
    TW_ASSIGN_OR_RETURN(access.new_bytes, bytes_of(item, "new"));
    const size_t stored = std::max(access.old_bytes.size(), access.new_bytes.size());
    const Json* size = json::member(item, "size");
    const auto bytes = size ? json::unsigned_number(*size) : stored;
    if (!bytes || *bytes > UINT32_MAX) return bad("size");
    access.size = static_cast<uint32_t>(*bytes);
    if (!access.old_bytes.empty() && access.old_bytes.size() != access.size) return bad("old");
    if (!access.new_bytes.empty() && access.new_bytes.size() != access.size) return bad("new");
    return {};
  }

  Result<std::span<const Step::MemoryAccess>> accesses() {
    std::vector<Step::MemoryAccess> out;
    if (const Json* memory = json::member(line_, "memory")) {
      if (!memory->is_array()) return bad("memory");
      for (const Json& item : *memory) {
        Step::MemoryAccess access = {};
        const Json* address = json::member(item, "addr");
        const auto value = address ? json::unsigned_number(*address) : std::nullopt;
        if (!value) return bad("addr");
        access.address = *value;
        const Json* kind = json::member(item, "access");
        const std::string word = kind ? json::text(*kind).value_or("") : "read";
        const auto* name = std::find(std::begin(kAccessNames), std::end(kAccessNames), word);
        if (name == std::end(kAccessNames)) return bad("access");
        access.kind = static_cast<Step::MemoryAccess::Kind>(name - std::begin(kAccessNames));
        TW_RETURN_IF_ERROR(read_contents(item, access));
        out.push_back(access);
      }
    }
    return batch_.copy_array(std::span<const Step::MemoryAccess>(out));
  }

  EventReader& reader_;
  const Catalog& catalog_;
  const Json& line_;
  Batch& batch_;
};

namespace {

/// 0: it has none.
Result<uint32_t> pid_of(const Json& line) {
  const Json* value = json::member(line, "pid");
  if (!value) return uint32_t{0};
  const auto number = json::unsigned_number(*value);
  if (!number || *number > UINT32_MAX) return bad("pid");
  return static_cast<uint32_t>(*number);
}

Result<Event> read_event(const Json& line, uint64_t seq, EventBodyReader& body) {
  Event event;
  event.seq = seq;
  if (const Json* value = json::member(line, "seq")) {
    const auto number = json::unsigned_number(*value);
    if (!number) return bad("seq");
    event.seq = *number;
  }
  if (const Json* value = json::member(line, "tid")) {
    const auto number = json::unsigned_number(*value);
    if (!number) return bad("tid");
    event.tid = *number;
  }
  if (const Json* value = json::member(line, "time_ns")) {
    event.time_ns = json::signed_number(*value);
    if (!event.time_ns) return bad("time_ns");
  }
  if (const Json* value = json::member(line, "cpu")) {
    const auto number = json::signed_number(*value);
    if (!number || *number < -1 || *number > INT32_MAX) return bad("cpu");
    event.cpu = static_cast<int32_t>(*number);
  }
  if (const Json* value = json::member(line, "process")) {
    const auto number = json::unsigned_number(*value);
    if (!number || *number > kProcessesMax) return bad("process");
    event.process = static_cast<uint32_t>(*number);
  }
  const Json* kind_value = json::member(line, "kind");
  const std::string kind = kind_value ? json::text(*kind_value).value_or("") : "";
  if (kind == "frame") {
    TW_ASSIGN_OR_RETURN(event.body, body.frame());
  } else if (kind == "step") {
    TW_ASSIGN_OR_RETURN(event.body, body.step());
  } else if (kind == "hook") {
    TW_ASSIGN_OR_RETURN(event.body, body.hook());
  } else if (kind == "mark") {
    TW_ASSIGN_OR_RETURN(event.body, body.mark());
  } else if (kind == "lost") {
    TW_ASSIGN_OR_RETURN(event.body, body.lost());
  } else if (kind == "change") {
    TW_ASSIGN_OR_RETURN(event.body, body.change());
  } else {
    return Error{Errc::Corrupt, fmt::format("there is no kind \"{}\"", printable(kind)), {}};
  }
  return event;
}

}  // namespace

EventReader::EventReader(const Catalog& catalog)
    : catalog_(catalog), register_names_(catalog.registers) {}

Status EventReader::read(std::string_view line, uint64_t seq, Batch& batch) {
  const auto document = json::parse_line(line);
  if (!document.ok() && document.error().code == Errc::Limit) return document.error();
  if (!document.ok() || !document->is_object())
    return Error{Errc::Corrupt, "not a JSON object", {}};
  told_before_ = json::member(*document, "before") != nullptr;
  TW_ASSIGN_OR_RETURN(told_pid_, pid_of(*document));
  EventBodyReader body(*this, *document, batch);
  auto event = read_event(*document, seq, body);
  if (!event.ok()) return std::move(event).error();
  batch.add() = *std::move(event);
  return {};
}

}  // namespace tracewell::formats
