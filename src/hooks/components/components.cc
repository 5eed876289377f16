#include "hooks/components/components.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/mapping.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/control/defaults.h"
#include "hooks/log/log_folder.h"
#include "hooks/programs/nested_processes.h"
#include "hooks/programs/own_process.h"
#include "hooks/rings/ring_file.h"
#include "hooks/session/losses.h"

namespace tracewell::hooks {
namespace {

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

/// That of components, which is the user's own; none where there are no components.
std::optional<Folder> open_components_folder() {
  auto folder = Folder::found(components_folder());
  if (!folder.ok()) return std::nullopt;
  const auto facts = folder->facts();
  if (!facts.ok() || !is_own_user(facts->owner)) return std::nullopt;
  return *std::move(folder);
}

std::vector<std::string> all_names(const Folder& folder) {
  auto names = folder.names();
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

/// Names of processes' files of blocks. One may have left what it registered alone.
std::set<std::string> processes_in(const Folder& folder) {
  std::set<std::string> out;
  for (std::string& name : all_names(folder)) {
    const auto facts = pid_of(name) ? folder.facts_of_name(name) : std::nullopt;
    if (!facts || facts->kind != FileFacts::Kind::Regular) continue;
    if (name.ends_with(TRACEWELL_REGISTERED_SUFFIX))
      name.resize(name.size() - std::strlen(TRACEWELL_REGISTERED_SUFFIX));
    out.insert(std::move(name));
  }
  return out;
}

bool has_number(uint32_t pid, uint64_t start) {
  const auto users = users_of_process(fmt::format("/proc/{}", pid));
  // There is no /proc here, or it has ended.
  if (!users) return !is_there("/proc/self") && process_lives(pid, 0);
  const uint64_t now = start == 0 ? 0 : start_of_process(pid);
  // Who began as this user may be another one by now, as a daemon is.
  if (now != 0) return static_cast<uint32_t>(now) == static_cast<uint32_t>(start);
  return users->effective == ::geteuid();
}

/// The process whose number is in its file's name, unless another one has that by now. `start` is 0
/// where it is not known; a block has its low bits. In a time namespace (time_namespaces(7)) the
/// program was told another start than is told here.
bool lives(const std::string& process, uint64_t start, std::optional<NestedProcesses>& nested) {
  const uint32_t pid = pid_of(process).value_or(0);
  const std::string mapped = fmt::format("/{}/{}", TRACEWELL_COMPONENTS_NAME, process);
  if (has_number(pid, start) || has_mapped(pid, mapped).value_or(false)) return true;
  if (!nested) nested = NestedProcesses::look();
  return nested->find(pid, mapped) != 0;
}

/// Where it cannot be mapped, zeros of our own: its program may have cut the file.
std::shared_ptr<uint8_t> map_page(int fd, size_t page) {
  auto map = Mapping::map(fd, TRACEWELL_HOOK_PAGE, Mapping::Access::Shared, "a component",
                          page * TRACEWELL_HOOK_PAGE);
  if (!map.ok()) return std::shared_ptr<uint8_t>(new uint8_t[TRACEWELL_HOOK_PAGE](),
                                                 std::default_delete<uint8_t[]>());
  const auto owner = std::make_shared<Mapping>(*std::move(map));
  return {owner, owner->data()};
}

/// The blocks of a process, by slot.
std::vector<std::shared_ptr<uint8_t>> map_pages(const Folder& folder, const std::string& process,
                                                size_t least) {
  std::vector<std::shared_ptr<uint8_t>> out;
  const auto fd = folder.open_own(process, Folder::Make::No);
  const auto facts = fd.ok() ? facts_of(fd->get(), process) : Result<FileFacts>(fd.error());
  const size_t pages = facts.ok() ? facts->bytes / TRACEWELL_HOOK_PAGE : 0;
  if (!facts.ok()) return out;
  for (size_t i = 0; i < std::clamp<size_t>(pages, least, TRACEWELL_COMPONENTS_MAX); ++i)
    out.push_back(map_page(fd->get(), i));
  return out;
}

/// What a process has registered, as it is now. nullptr: there is no such file, as programs of
/// releases before have none.
std::unique_ptr<tracewell_registered> read_registered(const Folder& folder,
                                                      const std::string& process) {
  auto out = std::make_unique<tracewell_registered>();
  const auto fd = folder.open_own(process + TRACEWELL_REGISTERED_SUFFIX, Folder::Make::No);
  if (!fd.ok()) return nullptr;
  // A copy: the program may change it meanwhile.
  const ssize_t got = ::pread(fd->get(), out.get(), sizeof *out, 0);
  // It is being made: no block says anything yet.
  if (got != ssize_t{sizeof *out} || out->magic != TRACEWELL_REGISTERED_MAGIC)
    *out = tracewell_registered{};
  return out;
}

/// A component as its block has it.
struct Told {
  bool used = false;
  uint32_t start = 0;
  tracewell_registration what{};
};

Told told_by(const uint8_t* page) {
  tracewell_component block;
  Told out;
  auto* const used = reinterpret_cast<uint32_t*>(const_cast<uint8_t*>(page));
  out.used = std::atomic_ref(*used).load() == TRACEWELL_COMPONENT_USED;  // the rest is whole then
  std::memcpy(&block, page, sizeof block);
  out.start = block.start;
  std::memcpy(out.what.name, block.name, sizeof block.name);
  std::memcpy(out.what.alias, block.alias, sizeof block.alias);
  std::memcpy(out.what.type, block.type, sizeof block.type);
  std::memcpy(out.what.uuid, block.channel.uuid, sizeof block.channel.uuid);
  return out;
}

bool is_same(const tracewell_registration& one, const tracewell_registration& other) {
  return std::memcmp(&one, &other, offsetof(tracewell_registration, state)) == 0;
}

struct Judged {
  bool there = false;    // it is a component
  bool changed = false;  // its block has something else
};
/// `before` and `after` the block was looked at: what the process has registered.
Judged judge(const tracewell_registration& before, const tracewell_registration& after,
             const Told& told, uint64_t start) {
  const bool same = told.used && is_same(after, told.what) &&
                    told.start == static_cast<uint32_t>(start);
  const bool settled = is_same(before, after) && before.state == after.state;
  if (settled && after.state == TRACEWELL_REGISTERED_DONE) return {true, !same};
  if (settled && after.state == TRACEWELL_REGISTERED_NOT) return {false, told.used};
  // The program is at it.
  return {after.state != TRACEWELL_REGISTERED_NOT && same, false};
}

/// Those of a process. true: its blocks do not have what it registered.
bool add_components(const Folder& folder, const std::string& process,
                    const ComponentLosses& losses, std::vector<Component>& out) {
  const auto before = read_registered(folder, process);
  size_t least = 0;
  for (size_t i = 0; before && i < TRACEWELL_COMPONENTS_MAX; ++i)
    if (before->component[i].state == TRACEWELL_REGISTERED_DONE) least = i + 1;
  const auto pages = map_pages(folder, process, least);
  std::vector<Told> told;
  for (const auto& page : pages) told.push_back(told_by(page.get()));
  const auto after = before ? read_registered(folder, process) : nullptr;
  bool changed = false;
  if (before && !after) return false;  // it has left
  const auto lost = losses.find({pid_of(process).value_or(0), after ? after->start : 0});
  for (size_t i = 0; i < pages.size(); ++i) {
    const Told& one = told[i];
    const Judged what =
        !after ? Judged{one.used, false}
               : judge(before->component[i], after->component[i], one, after->start);
    changed |= what.changed;
    if (what.there)
      out.emplace_back(pages[i], process, i, after ? after->component[i] : one.what,
                       after ? after->start : one.start,
                       after && lost != losses.end() ? lost->second[i] : 0);
  }
  return changed;
}

/// Of the process that made the file. Without what it has registered: each of its components has
/// it. A child that was forked has none in its parent's slots.
uint64_t start_in(const Folder& folder, const std::string& process) {
  if (const auto registered = read_registered(folder, process)) return registered->start;
  for (const auto& page : map_pages(folder, process, 0))
    if (const Told one = told_by(page.get()); one.used && one.start != 0) return one.start;
  return 0;
}

/// The component's folder, with that of its rings; or a file. Nothing lies deeper.
Status remove_all(const Folder& folder, const std::string& name) {
  const auto facts = folder.facts_of_name(name);
  if (!facts) return {};
  if (facts->kind != FileFacts::Kind::Folder) return folder.remove(name);
  TW_ASSIGN_OR_RETURN(const Folder one, folder.inside(name));
  for (const std::string& in : all_names(one)) {
    if (in == kRingsName) {
      TW_ASSIGN_OR_RETURN(const Folder rings, one.inside(in));
      for (const std::string& ring : all_names(rings)) TW_RETURN_IF_ERROR(rings.remove(ring));
      TW_RETURN_IF_ERROR(one.remove_folder(in));
    } else {
      TW_RETURN_IF_ERROR(one.remove(in));
    }
  }
  return folder.remove_folder(name);
}

/// nullopt: it has made none.
std::optional<Folder> rings_folder(const Component& component) {
  const auto folder = open_components_folder();
  if (!folder) return std::nullopt;
  const auto one = folder->inside(file_name_of(component.folder()));
  if (!one.ok()) return std::nullopt;
  auto rings = one->inside(kRingsName);
  if (!rings.ok()) return std::nullopt;
  return *std::move(rings);
}

std::vector<std::string> ring_names(const Component& component) {
  const auto rings = rings_folder(component);
  return rings ? all_names(*rings) : std::vector<std::string>();
}

/// A component in its place may have left others.
bool has_own_rings(const Component& component) {
  const auto rings = rings_folder(component);
  return rings && std::ranges::any_of(all_names(*rings), [&](const std::string& name) {
    const auto ring = RingFile::open(*rings, name);
    return ring.ok() && (*ring)->is_of(component.uuid());
  });
}

/// Copies of the ring's packets as they are now, under the log's name.
Status dump_ring(const Folder& rings, const std::string& name, const Component& component,
                 const Folder& folder, const Uuid& uuid, LogFolder& log) {
  auto ring = RingFile::open(rings, name);
  // Whoever spoiled it has lost what was in it, and nobody else anything. One that is not there yet
  // may be in the making, or may have been changed to say so.
  if (!ring.ok())
    return add_mark(folder, uuid,
                    fmt::format("0 records lost: those of process {} are in a buffer that cannot "
                                "be read ({})",
                                name.substr(0, name.find('-')), printable(ring.error().text())));
  // Of a component that was in its place before; or its head was changed.
  if (!(*ring)->is_of(component.uuid()))
    return add_mark(folder, uuid,
                    fmt::format("0 records lost: a buffer of process {} is not of this component",
                                (*ring)->pid()));
  keep_apart(**ring, log);
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

tracewell_shape shape_of(uint64_t buffer_bytes) {
  const uint64_t page = TRACEWELL_HOOK_PAGE;
  const uint64_t packet =
      std::clamp<uint64_t>(buffer_bytes / kComponentSlots / page * page,
                           TRACEWELL_PACKET_BYTES_MIN, TRACEWELL_PACKET_BYTES_MAX);
  return {static_cast<uint32_t>(packet), kComponentSlots};
}

/// nullopt: it has the size that it began with.
std::optional<tracewell_shape> read_shape(const Folder& all, const std::string& component) {
  const auto folder = all.inside(component);
  if (!folder.ok()) return std::nullopt;
  const auto file = folder->read(TRACEWELL_SHAPE_NAME, sizeof(tracewell_shape));
  if (!file.ok() || (*file)->bytes().size() != sizeof(tracewell_shape)) return std::nullopt;
  tracewell_shape out;
  std::memcpy(&out, (*file)->bytes().data(), sizeof out);
  return out;
}

/// Before there are rings: programs look for it when they make them.
Status write_shape(const Folder& component, const tracewell_shape& shape) {
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create_in(component, TRACEWELL_SHAPE_NAME));
  TW_RETURN_IF_ERROR(file.write({reinterpret_cast<const uint8_t*>(&shape), sizeof shape}));
  return file.commit();
}

/// The first name of that kind that nothing has.
std::string free_old_name(const Folder& folder, const std::string& name) {
  for (uint64_t number = 1;; ++number) {
    std::string old = fmt::format("{}.~{}~", name, number);
    if (!folder.facts_of_name(old)) return old;
  }
}

/// What a log that was there is called now.
Result<std::string> dump_to(const std::string& path,
                            const std::vector<const Component*>& components,
                            const std::string& command) {
  std::string old;
  {
    TW_ASSIGN_OR_RETURN(const Folder::Entry place, Folder::around(path));
    if (place.folder.facts_of_name(place.name)) old = free_old_name(place.folder, place.name);
  }
  TW_ASSIGN_OR_RETURN(const Folder folder, make_log_folder(path, old));
  // Nothing of a block: who can write to one would decide over all of them.
  Uuid uuid;
  if (::getrandom(uuid.data(), uuid.size(), 0) != static_cast<ssize_t>(uuid.size()))
    return errno_error("random numbers");
  const LogFacts facts = {
      {"command", command}, {"mode", "circular"}, {"component", components[0]->name()}};
  TW_RETURN_IF_ERROR(
      write_metadata(folder, metadata_text(uuid, measure_clock(), facts)));
  TW_ASSIGN_OR_RETURN(LogFolder log, LogFolder::open(folder, {}));
  for (const Component* one : components)
    if (const uint64_t lost = one->lost(); lost != 0)
      TW_RETURN_IF_ERROR(add_mark(folder, uuid,
                                  fmt::format("{} records lost: threads of process {} could not "
                                              "make a buffer",
                                              lost, one->pid())));
  for (const Component* one : components)
    if (const auto rings = rings_folder(*one))
      for (const std::string& ring : all_names(*rings))
        TW_RETURN_IF_ERROR(dump_ring(*rings, ring, *one, folder, uuid, log));
  TW_RETURN_IF_ERROR(folder.remove_folder(kRingsName));
  TW_RETURN_IF_ERROR(give_back_room(folder));
  TW_RETURN_IF_ERROR(log.sync());
  return old.empty() ? old : parent_of(path) + "/" + old;
}

}  // namespace

Result<std::string> default_component_folder(StateUse use) {
  const auto defaults = read_defaults();
  if (defaults.ok() && defaults->component_folder) return *defaults->component_folder;
  return state_path("TRACEWELL_COMPONENT_LOGS", "/var/adm/ras/trc_ct", "trc_ct", use);
}

Result<std::string> component_rules_path(bool for_good, StateUse use) {
  if (!for_good) return components_folder() + "/rules";
  return state_path("TRACEWELL_COMPONENTS", "/etc/tracewell/components", "components", use);
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

std::string Component::name() const { return text_of(registered_.name); }
std::string Component::alias() const { return text_of(registered_.alias); }
std::string Component::type() const { return text_of(registered_.type); }
std::string Component::folder() const {
  return fmt::format("{}/{}.{}", components_folder(), process_, slot_);
}
uint32_t Component::pid() const { return pid_of(process_).value_or(0); }
bool Component::process_lives() const {
  std::optional<NestedProcesses> nested;
  return lives(process_, start_, nested);
}

/// Threads make rings of their own again. Its state says that it is off.
void Component::begin_rings() {
  tracewell_channel& channel = at()->channel;
  const tracewell_shape shape = shape_of(at()->buffer_bytes);
  channel.packet_bytes = shape.packet_bytes;  // for programs of a release before
  channel.slots = shape.slots;
  channel.session = (channel.session + 1) & TRACEWELL_SESSION_MASK;
  if (channel.session == 0) channel.session = 1;
}

Status Component::change(const ComponentChange& change) {
  using Memory = ComponentChange::Memory;
  tracewell_component& block = *at();
  uint32_t mode = block.memory_mode;
  // Else what is in buffers would go when somebody switches on what is on.
  if (mode == TRACEWELL_MEMORY_OFF && has_own_rings(*this)) mode = TRACEWELL_MEMORY_ON;
  const bool was_off = mode == TRACEWELL_MEMORY_OFF;
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
  if (resized || (mode == TRACEWELL_MEMORY_OFF) != was_off) {
    store(block.state, 0u);
    if (change.buffer_bytes) block.buffer_bytes = *change.buffer_bytes;
    begin_rings();
    TW_ASSIGN_OR_RETURN(const Folder all, Folder::found(components_folder()));
    const std::string own = file_name_of(folder());
    const auto shape = change.buffer_bytes ? shape_of(*change.buffer_bytes) : read_shape(all, own);
    TW_RETURN_IF_ERROR(remove_all(all, own));
    if (mode != TRACEWELL_MEMORY_OFF || shape) {
      TW_ASSIGN_OR_RETURN(const Folder made, all.make_inside(own));
      if (shape) TW_RETURN_IF_ERROR(write_shape(made, *shape));
      if (mode != TRACEWELL_MEMORY_OFF) TW_RETURN_IF_ERROR(made.make_inside(kRingsName));
    }
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

Result<std::vector<Component>> all_components(std::set<uint32_t>* changed) {
  std::vector<Component> out;
  if (const auto folder = open_components_folder()) {
    const ComponentLosses losses = component_losses();
    for (const std::string& one : processes_in(*folder))
      if (add_components(*folder, one, losses, out) && changed)
        changed->insert(pid_of(one).value_or(0));
  }
  std::ranges::stable_sort(out, {},
                           [](const Component& one) { return std::tuple(one.name(), one.pid()); });
  return out;
}

bool is_component_name(std::string_view name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string_view::npos;
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
    if (is_component_name(one.name()) && !ring_names(one).empty())
      by_name[one.name()].push_back(&one);
  if (by_name.empty()) return std::vector<DumpedLog>();  // and no folder is made
  TW_RETURN_IF_ERROR(make_folders(folder));
  std::vector<DumpedLog> out;
  for (const auto& [name, all] : by_name) {
    const std::string path = folder + "/" + name;
    TW_ASSIGN_OR_RETURN(std::string old, dump_to(path, all, command));
    out.push_back({path, std::move(old)});
  }
  return out;
}

Result<uint64_t> forget_dead_components() {
  const auto folder = open_components_folder();
  if (!folder) return uint64_t{0};
  const std::set<std::string> processes = processes_in(*folder);
  std::optional<NestedProcesses> nested;
  std::set<std::string> dead;
  for (const std::string& one : processes)
    if (!lives(one, start_in(*folder, one), nested)) dead.insert(one);
  for (const std::string& name : all_names(*folder))
    if (dead.contains(name.substr(0, name.find('.'))))
      TW_RETURN_IF_ERROR(remove_all(*folder, name));
  return dead.size();
}

}  // namespace tracewell::hooks
