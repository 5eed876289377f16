// The catalog as JSON. Defaults are left out, so that a line stays readable.
#include <iterator>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "formats/json/text.h"
#include "formats/jsonl/layout.h"
#include "formats/jsonl/lines.h"
#include "formats/jsonl/parts.h"

namespace tracewell::formats {
namespace {

/// Writes `"key":value` pairs of one object, with commas.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  void close() { out_ += '}'; }

  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    fmt::format_to(std::back_inserter(out_), "\"{}\":", name);
    return out_;
  }
  void text(std::string_view name, std::string_view value) { append_json_text(key(name), value); }
  void number(std::string_view name, uint64_t value) { key(name) += std::to_string(value); }
  void signed_number(std::string_view name, int64_t value) { key(name) += std::to_string(value); }
  void address(std::string_view name, uint64_t value) {
    fmt::format_to(std::back_inserter(key(name)), "\"{:#x}\"", value);
  }
  void boolean(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  void bytes(std::string_view name, Bytes value) {
    key(name) += '"';
    append_hex(out_, value);
    out_ += '"';
  }
  template <class Items, class Write>
  void array(std::string_view name, const Items& items, Write&& write) {
    key(name) += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      write(out_, item);
    }
    out_ += ']';
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void write_register(std::string& out, const Register& one) {
  ObjectWriter object(out);
  object.text("name", one.name);
  object.number("number", one.number);
  object.number("size", one.size_bytes);
  object.text("type", one.type);
  object.close();
}

void write_texts(ObjectWriter& object, std::string_view key,
                 const std::vector<std::string>& texts) {
  if (!texts.empty())
    object.array(key, texts,
                 [](std::string& out, const std::string& one) { append_json_text(out, one); });
}

void write_tracepoint(std::string& out, const TracepointDef& one) {
  ObjectWriter object(out);
  object.number("number", one.number);
  object.address("address", one.address);
  if (!one.enabled) object.boolean("enabled", false);
  if (one.step_count != 0) object.number("step_count", one.step_count);
  if (one.pass_count != 0) object.number("pass_count", one.pass_count);
  if (one.fast_length) object.number("fast_length", *one.fast_length);
  if (one.is_static) object.boolean("static", true);
  if (!one.condition.empty()) object.bytes("condition", one.condition);
  write_texts(object, "actions", one.actions);
  write_texts(object, "step_actions", one.step_actions);
  if (!one.sources.empty())
    object.array("sources", one.sources, [](std::string& to, const TracepointDef::Source& source) {
      ObjectWriter item(to);
      item.text("type", source.type);
      item.text("text", source.text);
      item.close();
    });
  if (one.usage) {
    ObjectWriter usage(object.key("usage"));
    usage.number("hits", one.usage->hits);
    usage.number("bytes", one.usage->bytes);
    usage.close();
  }
  object.close();
}

void write_variable(std::string& out, const VariableDef& one) {
  ObjectWriter object(out);
  object.number("number", one.number);
  object.text("name", one.name);
  if (one.initial_value != 0) object.signed_number("initial_value", one.initial_value);
  if (one.builtin) object.boolean("builtin", true);
  object.close();
}

void write_status(std::string& out, const RunStatus& status) {
  ObjectWriter object(out);
  object.boolean("running", status.running);
  object.text("stop", stop_name(status.stop));
  if (!status.stop_text.empty()) object.text("stop_text", status.stop_text);
  if (status.stop_tracepoint != 0) object.number("stop_tracepoint", status.stop_tracepoint);
  auto number = [&](std::string_view key, std::optional<uint64_t> value) {
    if (value) object.number(key, *value);
  };
  number("frames", status.frames);
  number("frames_created", status.frames_created);
  number("buffer_free", status.buffer_free);
  number("buffer_size", status.buffer_size);
  if (status.circular) object.boolean("circular", *status.circular);
  if (status.disconnected) object.boolean("disconnected", *status.disconnected);
  number("start_time_us", status.start_time_us);
  number("stop_time_us", status.stop_time_us);
  if (status.user_name) object.text("user_name", *status.user_name);
  if (status.notes) object.text("notes", *status.notes);
  object.close();
}

}  // namespace

void append_module_json(std::string& out, const Module& module) {
  ObjectWriter object(out);
  object.text("path", module.path);
  if (module.is_placed()) {
    object.address("bias", module.bias);
    object.address("start", module.start);
    object.number("size", module.size_bytes);
  }
  if (!module.build_id.empty()) object.text("build_id", module.build_id);
  if (module.hash) object.address("hash", *module.hash);
  object.close();
}

void append_process_json(std::string& out, const Process& process) {
  ObjectWriter object(out);
  if (process.pid != 0) object.number("pid", process.pid);
  if (process.id) object.text("identity", process_id_text(*process.id));
  if (process.start_ns) object.number("start_ns", *process.start_ns);
  if (process.parent != 0) object.number("parent", process.parent);
  if (!process.host.empty()) object.text("host", process.host);
  if (!process.boot.empty()) object.text("boot", process.boot);
  if (!process.image.empty()) object.text("image", process.image);
  object.close();
}

std::string catalog_to_json(const Catalog& catalog) {
  std::string out = "{\"catalog\":";
  ObjectWriter object(out);
  object.text("endian", catalog.endian == Endian::Little ? "little" : "big");
  object.text("machine", catalog.machine);
  object.number("address_bytes", catalog.address_bytes);
  if (catalog.registers.size_bytes != 0)
    object.number("register_block_bytes", catalog.registers.size_bytes);
  if (!same_layout(implied_layout(catalog), catalog.registers))
    object.array("registers", catalog.registers.registers, write_register);
  if (!catalog.target_description.empty())
    object.text("target_description", catalog.target_description);
  if (catalog.status) write_status(object.key("status"), *catalog.status);
  if (!catalog.variables.empty()) object.array("variables", catalog.variables, write_variable);
  if (!catalog.tracepoints.empty())
    object.array("tracepoints", catalog.tracepoints, write_tracepoint);
  if (!catalog.modules.empty()) object.array("modules", catalog.modules, append_module_json);
  if (!catalog.processes.empty())
    object.array("processes", catalog.processes, append_process_json);
  if (!catalog.auxv.empty()) object.bytes("auxv", catalog.auxv);
  if (!catalog.source_path.empty()) object.text("source_path", catalog.source_path);
  if (!catalog.extras.empty())
    object.array("extras", catalog.extras, [](std::string& to, const auto& extra) {
      to += '[';
      append_json_text(to, extra.first);
      to += ',';
      append_json_text(to, extra.second);
      to += ']';
    });
  object.close();
  out += '}';
  return out;
}

}  // namespace tracewell::formats
