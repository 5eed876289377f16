#include "hooks/components.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/mapping.h"
#include "base/text.h"
#include "hooks/defaults.h"
#include "hooks/log_folder.h"
#include "hooks/ring_file.h"

namespace tracewell::hooks {
namespace {

namespace fs = std::filesystem;


std::string components_folder() { return control_folder() + "/" + TRACEWELL_COMPONENTS_NAME; }

template <size_t kSize>
std::string text_of(const char (&text)[kSize]) {
  return {text, ::strnlen(text, kSize)};
}

template <class Number>
void store(Number& number, Number value) {
  std::atomic_ref(number).store(value, std::memory_order_release);
}

/// Of `PID-NUMBER`, or `PID` as programs of releases before have it, whatever is behind a dot.
std::optional<uint32_t> pid_of(std::string_view name) {
  const auto pid = parse_number(name.substr(0, name.find_first_of("-.")));
  if (!pid || *pid > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*pid);
}

/// Names of processes' files.
std::vector<std::string> processes_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (pid_of(name) && entry.is_regular_file(error)) out.push_back(std::move(name));
  }
  std::ranges::sort(out);
  return out;
}

bool lives(uint32_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH; }

std::shared_ptr<uint8_t> map_page(int fd, size_t page) {
  // Its program may cut the file.
  auto map = Mapping::map(fd, TRACEWELL_HOOK_PAGE, Mapping::Access::Shared, "a component",
                          page * TRACEWELL_HOOK_PAGE);
  if (!map.ok()) return nullptr;
  const auto owner = std::make_shared<Mapping>(*std::move(map));
  return {owner, owner->data()};
}

void add_components(const std::string& folder, const std::string& process,
                    std::vector<Component>& out) {
  const std::string path = fmt::format("{}/{}", folder, process);
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about {};
  if (!fd.valid() || ::fstat(fd.get(), &about) != 0 || about.st_uid != ::geteuid() ||
      !S_ISREG(about.st_mode))
    return;
  const size_t pages = std::min<size_t>(static_cast<size_t>(about.st_size) / TRACEWELL_HOOK_PAGE,
                                        TRACEWELL_COMPONENTS_MAX);
  for (size_t i = 0; i < pages; ++i) {
    auto page = map_page(fd.get(), i);
    if (!page) continue;
    Component one(std::move(page), process);
    if (std::atomic_ref(const_cast<uint32_t&>(one.block().used)).load() ==
        TRACEWELL_COMPONENT_USED)
      out.push_back(std::move(one));
  }
}

Status remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return {Errc::Io, fmt::format("cannot remove {}: {}", path, error.message())};
  return {};
}

std::vector<std::string> ring_files(const Component& component) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(component.folder() + "/.rings", error))
    out.push_back(entry.path().string());
  std::ranges::sort(out);
  return out;
}

/// Copies of the ring's packets as they are now, under the log's name.
Status dump_ring(const std::string& path, const tracewell_channel& component, const Uuid& uuid,
                 LogFolder& log) {
  auto ring = RingFile::open(path);
  if (!ring.ok()) {
    if (ring.error().code == Errc::Truncated) return {};  // its maker is at it
    return std::move(ring).error();
  }
  if (!(*ring)->is_of(component.uuid)) return {};  // of an earlier process that had its id
  std::vector<uint8_t> bytes;
  for (const RingFile::Waiting& packet : (*ring)->waiting()) {
    if ((*ring)->copy(packet, false, bytes).changed) continue;
    tracewell_packet head;
    std::memcpy(&head, bytes.data(), sizeof head);
    std::memcpy(head.uuid, uuid.data(), uuid.size());
    TW_RETURN_IF_ERROR(log.append(head, Bytes(bytes).subspan(sizeof head)));
  }
  return {};
}

/// The first name of that kind that nothing has.
std::string free_old_name(const std::string& path) {
  for (uint64_t number = 1;; ++number) {
    std::string name = fmt::format("{}.~{}~", path, number);
    struct stat about {};
    if (::lstat(name.c_str(), &about) != 0) return name;
  }
}

/// What a log that was there is called now.
Result<std::string> dump_to(const std::string& path,
                            const std::vector<const Component*>& components,
                            const std::string& command) {
  struct stat about {};
  const std::string old =
      ::lstat(path.c_str(), &about) == 0 ? free_old_name(path) : std::string();
  TW_RETURN_IF_ERROR(make_log_folder(path, old));
  const tracewell_channel& first = components[0]->block().channel;
  Uuid uuid;
  std::copy_n(first.uuid, uuid.size(), uuid.begin());
  const Instant start{first.ticks, first.time_ns, first.monotonic_ns};
  const LogFacts facts = {
      {"command", command}, {"mode", "circular"}, {"component", components[0]->name()}};
  TW_RETURN_IF_ERROR(
      write_metadata(path, metadata_text(uuid, measure_clock(start, now()), facts)));
  TW_ASSIGN_OR_RETURN(LogFolder log, LogFolder::open(path, {}));
  for (const Component* one : components)
    for (const std::string& ring : ring_files(*one))
      TW_RETURN_IF_ERROR(dump_ring(ring, one->block().channel, uuid, log));
  if (::rmdir((path + "/.rings").c_str()) != 0) return errno_error(path + "/.rings");
  return old;
}

}  // namespace

std::string default_component_folder() {
  const auto defaults = read_defaults();
  if (defaults.ok() && defaults->component_folder) return *defaults->component_folder;
  return state_path("TRACEWELL_COMPONENT_LOGS", "/var/adm/ras/trc_ct", "trc_ct");
}

std::string component_rules_path(bool for_good) {
  if (!for_good) return components_folder() + "/rules";
  return state_path("TRACEWELL_COMPONENTS", "/etc/tracewell/components", "components");
}

std::string ComponentChange::rule() const {
  std::string out;
  if (memory)
    out += fmt::format(" memory={}", *memory == Memory::Off       ? TRACEWELL_MEMORY_OFF
                                     : *memory == Memory::Suspend ? TRACEWELL_MEMORY_SUSPENDED
                                                                  : TRACEWELL_MEMORY_ON);
  if (system) out += fmt::format(" system={}", *system ? 1 : 0);
  if (memory_level) out += fmt::format(" memory_level={}", *memory_level);
  if (system_level) out += fmt::format(" system_level={}", *system_level);
  if (buffer_bytes) out += fmt::format(" buffer={}", *buffer_bytes);
  return out;
}

std::string Component::name() const { return text_of(at()->name); }
std::string Component::alias() const { return text_of(at()->alias); }
std::string Component::type() const { return text_of(at()->type); }
std::string Component::folder() const {
  return fmt::format("{}/{}.{}", components_folder(), process_, at()->slot);
}
uint32_t Component::pid() const { return pid_of(process_).value_or(0); }
bool Component::process_lives() const { return lives(pid()); }

/// Threads make rings of their own again. Its state says that it is off.
void Component::begin_rings() {
  tracewell_channel& channel = at()->channel;
  const uint64_t page = TRACEWELL_HOOK_PAGE;
  channel.packet_bytes = static_cast<uint32_t>(
      std::clamp<uint64_t>(at()->buffer_bytes / kComponentSlots / page * page,
                           TRACEWELL_PACKET_BYTES_MIN, TRACEWELL_PACKET_BYTES_MAX));
  channel.slots = kComponentSlots;
  channel.session = (channel.session + 1) & TRACEWELL_SESSION_MASK;
  if (channel.session == 0) channel.session = 1;
}

Status Component::change(const ComponentChange& change) {
  using Memory = ComponentChange::Memory;
  tracewell_component& block = *at();
  uint32_t mode = block.memory_mode;
  if (change.memory) {
    const Memory wanted = *change.memory;
    if (wanted == Memory::Off) mode = TRACEWELL_MEMORY_OFF;
    if (wanted == Memory::On) mode = TRACEWELL_MEMORY_ON;
    const bool there = mode != TRACEWELL_MEMORY_OFF;
    if (wanted == Memory::Suspend && there) mode = TRACEWELL_MEMORY_SUSPENDED;
    if (wanted == Memory::Resume && there) mode = TRACEWELL_MEMORY_ON;
  }
  const bool resized = change.buffer_bytes && *change.buffer_bytes != block.buffer_bytes;
  if (change.memory_level) block.memory_level = *change.memory_level;
  if (change.system_level) block.system_level = *change.system_level;
  if (change.system) block.system_mode = *change.system;
  if (resized || (mode == TRACEWELL_MEMORY_OFF) != (block.memory_mode == TRACEWELL_MEMORY_OFF)) {
    store(block.state, 0u);
    if (change.buffer_bytes) block.buffer_bytes = *change.buffer_bytes;
    begin_rings();
    TW_RETURN_IF_ERROR(remove_all(folder()));
    if (mode != TRACEWELL_MEMORY_OFF)
      for (const std::string& path : {folder(), folder() + "/.rings"})
        if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
          return errno_error("cannot make " + path);
  }
  block.memory_mode = mode;
  const bool on = mode == TRACEWELL_MEMORY_ON;
  block.memory = on ? block.memory_level + 1 : 0;
  block.system = block.system_mode ? block.system_level + 1 : 0;
  block.channel.active = mode != TRACEWELL_MEMORY_OFF;
  store(block.state, block.channel.session << TRACEWELL_STATE_SESSION_SHIFT |
                         (on ? TRACEWELL_STATE_ON : 0));
  store(block.limit, std::max(block.memory, block.system));
  return {};
}

Result<std::vector<Component>> all_components() {
  const std::string folder = components_folder();
  std::vector<Component> out;
  for (const std::string& one : processes_in(folder)) add_components(folder, one, out);
  std::ranges::stable_sort(out, {},
                           [](const Component& one) { return std::tuple(one.name(), one.pid()); });
  return out;
}

bool is_old_dump(std::string_view name) {
  if (!name.ends_with('~')) return false;
  name.remove_suffix(1);
  const size_t at = name.rfind(".~");
  return at != std::string_view::npos && parse_number(name.substr(at + 2));
}

Result<std::vector<DumpedLog>> dump_components(const std::vector<Component>& components,
                                               const std::string& folder,
                                               const std::string& command) {
  std::map<std::string, std::vector<const Component*>> by_name;
  for (const Component& one : components)
    if (!ring_files(one).empty()) by_name[one.name()].push_back(&one);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return {Errc::Io, fmt::format("cannot make {}: {}", folder, error.message())};
  std::vector<DumpedLog> out;
  for (const auto& [name, all] : by_name) {
    if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos) continue;
    const std::string path = folder + "/" + name;
    TW_ASSIGN_OR_RETURN(std::string old, dump_to(path, all, command));
    out.push_back({path, std::move(old)});
  }
  return out;
}

Result<uint64_t> forget_dead_components() {
  const std::string folder = components_folder();
  std::set<std::string> dead;
  for (std::string& one : processes_in(folder))
    if (!lives(*pid_of(one))) dead.insert(std::move(one));
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (dead.contains(name.substr(0, name.find('.')))) paths.push_back(entry.path());
  }
  for (const fs::path& path : paths) TW_RETURN_IF_ERROR(remove_all(path.string()));
  return dead.size();
}

}  // namespace tracewell::hooks
