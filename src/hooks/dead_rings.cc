#include "hooks/dead_rings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file_lock.h"
#include "base/text.h"
#include "hooks/collector.h"
#include "hooks/control.h"
#include "hooks/log_folder.h"
#include "hooks/log_use.h"
#include "hooks/session.h"
#include "ring/hook_packet.h"
#include "symbols/core_file.h"

namespace tracewell::hooks {
namespace {

constexpr std::string_view kRings = "/.rings/";

/// nullopt: no ring begins here.
std::optional<tracewell_ring> ring_head(Bytes bytes) {
  tracewell_ring head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const bool sound = ring::is_known_ring(head) && head.slots >= 1 &&
                     head.slots <= TRACEWELL_RING_SLOTS_MAX &&
                     head.packet_bytes >= TRACEWELL_PACKET_BYTES_MIN &&
                     head.packet_bytes <= TRACEWELL_PACKET_BYTES_MAX &&
                     head.packet_bytes % TRACEWELL_HOOK_PAGE == 0;
  return sound ? std::optional(head) : std::nullopt;
}

uint64_t bytes_of(const tracewell_ring& head) {
  return TRACEWELL_HOOK_PAGE + uint64_t{head.slots} * head.packet_bytes;
}

std::optional<DeadRing> ring_file(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file.ok()) return std::nullopt;
  const auto head = ring_head((*file)->bytes());
  if (!head) return std::nullopt;
  const Bytes bytes = (*file)->bytes();
  return DeadRing{*head, *std::move(file), bytes, path};
}

std::string name_of(const tracewell_ring& head) {
  return fmt::format("{}-{}", head.pid, head.number);
}

using Known = std::set<std::pair<std::vector<uint8_t>, std::string>>;

void add(DeadRing ring, Known& known, std::vector<DeadRing>& out) {
  const std::vector<uint8_t> uuid(ring.head.uuid, ring.head.uuid + sizeof ring.head.uuid);
  if (known.emplace(uuid, name_of(ring.head)).second) out.push_back(std::move(ring));
}

Result<std::vector<DeadRing>> rings_of_core(const std::shared_ptr<InputFile>& file) {
  TW_ASSIGN_OR_RETURN(const symbols::CoreFile core, symbols::read_core_file(file->bytes()));
  std::vector<DeadRing> out;
  Known known;
  for (const symbols::CoreMemory& memory : core.memory)
    for (Bytes rest = memory.bytes; rest.size() >= sizeof(tracewell_ring);) {
      uint64_t used = TRACEWELL_HOOK_PAGE;
      if (const auto head = ring_head(rest)) {
        used = std::min<uint64_t>(bytes_of(*head), rest.size());
        add({*head, file, rest.first(used), ""}, known, out);
      }
      rest = rest.subspan(std::min<uint64_t>(used, rest.size()));
    }
  for (const symbols::CoreMapping& mapping : core.mappings)
    if (mapping.path.find(kRings) != std::string_view::npos)
      if (auto ring = ring_file(std::string(mapping.path))) add(*std::move(ring), known, out);
  return out;
}

Result<std::vector<DeadRing>> rings_of_folder(const std::string& path) {
  std::vector<DeadRing> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path + "/.rings", error))
    if (auto ring = ring_file(entry.path().string())) out.push_back(*std::move(ring));
  if (error == std::errc::permission_denied)
    return {Errc::Io, fmt::format("cannot look for rings in {}/.rings: {}", printable(path),
                                  error.message())};
  std::ranges::sort(out, {}, &DeadRing::path);
  // Those that the log can take, where there are some: others may have come into its folder.
  const auto is_other = [&](const DeadRing& one) { return !is_log_of(path, one.head.uuid); };
  if (!std::ranges::all_of(out, is_other)) std::erase_if(out, is_other);
  return out;
}

/// Does its program, if that is alive, have it mapped?
bool in_use(const DeadRing& ring) {
  if (ring.path.empty()) return false;
  auto maps = InputFile::open(fmt::format("/proc/{}/maps", ring.head.pid));
  std::error_code error;
  const auto path = std::filesystem::canonical(ring.path, error).string();
  return maps.ok() && as_text((*maps)->bytes()).find(path + "\n") != std::string_view::npos;
}

Status check_rings(const std::vector<DeadRing>& rings) {
  if (rings.empty()) return {Errc::NotFound, "there are no rings of trace hooks in it"};
  for (const DeadRing& one : rings) {
    if (std::memcmp(one.head.uuid, rings[0].head.uuid, sizeof one.head.uuid) != 0)
      return {Errc::InvalidArgument,
              fmt::format("its rings are of several sessions, of channels {} and {}: choose one "
                          "(-0 to -7, or a ring by its file, such as {})",
                          rings[0].head.channel, one.head.channel,
                          one.path.empty() ? "LOG/.rings/PID-N" : printable(one.path))};
    if (in_use(one))
      return {Errc::InvalidArgument,
              fmt::format("process {} still writes to {} (trcstop ends its trace)", one.head.pid,
                          one.path)};
  }
  return {};
}

Uuid ring_uuid(const tracewell_ring& head) {
  Uuid out;
  std::copy_n(head.uuid, out.size(), out.begin());
  return out;
}

/// The folder, and metadata in it, if they are not there already.
Status prepare_log(const tracewell_ring& head, const std::string& log,
                   const std::string& command) {
  const Uuid uuid = ring_uuid(head);
  std::error_code error;
  if (const auto metadata = InputFile::open(log + "/metadata"); metadata.ok()) {
    if (as_text((*metadata)->bytes()).find(uuid_text(uuid)) == std::string_view::npos)
      return {Errc::InvalidArgument,
              fmt::format("{} is the log of another session: name another one", printable(log))};
    std::filesystem::create_directory(log + "/.rings", error);
    return {};
  }
  if (!std::filesystem::exists(log + "/.rings", error))
    TW_RETURN_IF_ERROR(make_log_folder(log));
  const Instant start{head.ticks, head.time_ns, head.monotonic_ns};
  const char* mode = head.mode == TRACEWELL_RING_CIRCULAR ? "circular"
                     : head.mode == TRACEWELL_RING_SINGLE ? "single"
                                                          : "alternate";
  const LogFacts facts = {{"command", command},
                          {"mode", mode},
                          {"channel", fmt::format("{}", head.channel)}};
  constexpr bool kCpus = true;  // rings do not say whether their records do
  return write_metadata(log, metadata_text(uuid, clock_of(start, head.hertz), facts, kCpus));
}

/// A file in the log's folder of rings, as large as the ring was.
Status put_ring(const DeadRing& ring, const std::string& log) {
  const std::string path = fmt::format("{}{}{}", log, kRings, name_of(ring.head));
  std::error_code error;
  if (!ring.path.empty() && std::filesystem::equivalent(ring.path, path, error)) return {};
  const UniqueFd fd(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return errno_error(path);
  for (Bytes rest = ring.bytes; !rest.empty();) {
    const ssize_t done = ::write(fd.get(), rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return errno_error("cannot write " + path);
    rest = rest.subspan(static_cast<size_t>(done));
  }
  if (ring.bytes.size() < bytes_of(ring.head) &&
      ::ftruncate(fd.get(), static_cast<off_t>(bytes_of(ring.head))) != 0)
    return errno_error(path);
  return {};
}

}  // namespace

Result<std::vector<DeadRing>> find_dead_rings(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return rings_of_folder(path);
  TW_ASSIGN_OR_RETURN(auto file, InputFile::open(path));
  if (auto ring = ring_file(path)) return std::vector<DeadRing>{*std::move(ring)};
  auto rings = rings_of_core(file);
  if (!rings.ok())
    return {Errc::Corrupt,
            fmt::format("{} is no log of trace hooks, no ring of theirs, and no core file",
                        printable(path))};
  return rings;
}

Result<Rescue> collect_dead_rings(const std::vector<DeadRing>& rings, const std::string& log,
                                  const std::string& command) {
  TW_RETURN_IF_ERROR(check_rings(rings));
  TW_ASSIGN_OR_RETURN(const Control control, Control::open());
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, control.lock());
  for (const unsigned channel : active_channels(control))
    if (log_path_of(control, channel) == log)
      return {Errc::InvalidArgument,
              fmt::format("a trace runs into {} (trcstop ends it, and collects its rings)",
                          printable(log))};
  TW_RETURN_IF_ERROR(check_nobody_writes(log));
  const tracewell_ring& head = rings[0].head;
  TW_RETURN_IF_ERROR(prepare_log(head, log, command));
  for (const DeadRing& one : rings) TW_RETURN_IF_ERROR(put_ring(one, log));
  TW_ASSIGN_OR_RETURN(LogFolder folder, LogFolder::open(log, {}));
  Collector collector(log, folder, ring_uuid(head));
  TW_RETURN_IF_ERROR(collector.finish());
  TW_RETURN_IF_ERROR(
      add_mark(log, ring_uuid(head), fmt::format("{} rings collected by trcdead", rings.size())));
  release_log(log);
  return Rescue{log, rings.size(), collector.taken()};
}

}  // namespace tracewell::hooks
