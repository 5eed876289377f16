// tracewell buffers: what killed servers have left, and what living ones have.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/text/time_text.h"
#include "cli/command.h"
#include "cli/options/option.h"
#include "render/event_text.h"
#include "render/json_document.h"
#include "server/buffers/buffer_files.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BuffersOptions {
  std::vector<std::string> doomed;
  bool all = false;
  bool json = false;
};

std::string as_json(const std::vector<server::FoundBuffer>& buffers) {
  Json out = Json::array();
  for (const server::FoundBuffer& one : buffers)
    out.push_back({{"name", printable(one.name)},
                   {"path", printable(one.path)},
                   {"in_use", one.in_use},
                   {"agent_pid", one.agent_pid},
                   {"program", printable(one.program)},
                   {"frames", one.frames},
                   {"bytes", one.bytes},
                   {"start_time_us", one.start_time_us},
                   {"problem", printable(one.problem)}});
  return render::json_document(out, 2) + "\n";
}

std::string text_of(const server::FoundBuffer& one) {
  const std::string state = one.in_use ? "in use" : "left behind";
  if (!one.problem.empty())
    return fmt::format("{}\n  {}, but cannot be read\n", printable(one.problem), state);
  std::string out =
      fmt::format("{}\n  {}, server {}\n", printable(one.path), state, one.agent_pid);
  out += fmt::format("  {}, {}\n", counted(one.frames, "frame"), counted(one.bytes, "byte"));
  if (!one.program.empty()) out += fmt::format("  of {}\n", printable(one.program));
  if (one.start_time_us != 0 && one.start_time_us < INT64_MAX / 1000)
    out += fmt::format("  started {}\n",
                       time_text(static_cast<int64_t>(one.start_time_us) * 1000));
  return out;
}

Status delete_all(bool quiet) {
  TW_ASSIGN_OR_RETURN(const auto buffers, server::delete_left_buffers());
  for (const server::DeletedBuffer& one : buffers) {
    const std::string text = one.status ? "deleted " + printable(one.path)
                                        : "not deleted: " + one.status.error().text();
    if (!quiet) fmt::print("{}\n", text);
  }
  if (buffers.empty() && !quiet)
    fmt::print("no trace buffers in {}\n", printable(server::buffer_folder()));
  return {};
}

Status buffers(const BuffersOptions& options) {
  if (options.all) TW_RETURN_IF_ERROR(delete_all(options.json));
  for (const std::string& name : options.doomed) TW_RETURN_IF_ERROR(server::delete_buffer(name));
  if ((options.all || !options.doomed.empty()) && !options.json) return {};
  TW_ASSIGN_OR_RETURN(const auto found, server::find_buffers());
  if (options.json) {
    fmt::print("{}", as_json(found));
  } else if (found.empty()) {
    fmt::print("no trace buffers in {}\n", printable(server::buffer_folder()));
  }
  if (!options.json)
    for (const server::FoundBuffer& one : found) fmt::print("{}", text_of(one));
  return {};
}

}  // namespace

Run buffers_command(OptionTable& table) {
  auto options = std::make_shared<BuffersOptions>();
  table.add({
      {.names = "--delete",
       .to = &options->doomed,
       .value = "NAME",
       .what = "delete this one (its path, name or number), which no server uses any more; may be "
               "given more than once",
       .completes = Completes::File,
       .shows_list = true},
      {.names = "--delete-all",
       .to = &options->all,
       .what = "delete all that no server uses, and say which",
       .excludes = "--delete"},
      {.names = "--json", .to = &options->json, .what = "as JSON"},
  });
  table.footer =
      "A server that is killed leaves the frames it has collected in a file that `info`,\n"
      "`print`, `convert`, `check` and `replay` read; a clean end removes it. Listed is what is\n"
      "in $XDG_RUNTIME_DIR/tracewell, /run/user/UID/tracewell or /tmp/tracewell-UID, where trace\n"
      "hooks meet, too; not what `serve --buffer FILE` has put elsewhere.\n\n"
      "When a server's first run begins, it removes what others have left but for the 32 newest,\n"
      "those that take 2 GiB together and those of the last 30 days, and says which; not what is\n"
      "in use, nor files with names of your own: rename one to keep it.\n\n"
      "Exit status: 1 if there is no buffer NAME, 2 if it is in use.";
  return [options](const Invocation&) {
    const Status status = buffers(*options);
    return status.ok() ? static_cast<int>(kOk) : fail(status.error());
  };
}

}  // namespace tracewell::cli
