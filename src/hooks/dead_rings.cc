#include "hooks/dead_rings.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/file_lock.h"
#include "base/folder.h"
#include "base/owners.h"
#include "base/paths.h"
#include "base/text.h"
#include "hooks/collector.h"
#include "hooks/control.h"
#include "hooks/holes.h"
#include "hooks/log_clock.h"
#include "hooks/log_folder.h"
#include "hooks/log_use.h"
#include "hooks/own_process.h"
#include "hooks/ring_file.h"
#include "hooks/session.h"
#include "ring/hook_packet.h"
#include "ring/ring_name.h"
#include "symbols/core_file.h"

namespace tracewell::hooks {
namespace {

constexpr std::string_view kInRings = "/.rings/";
constexpr char kMetadata[] = "metadata";
constexpr size_t kPieceBytes = 1 << 20;
constexpr size_t kRingsMax = 1 << 15;  // of a folder; each is mapped
constexpr size_t kCutToldMax = 64;     // one by one

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

/// A pipe or a device that is no ring and no core file may have no end.
bool may_have_rings(Bytes bytes) {
  return ring_head(bytes) || as_text(bytes).starts_with("\x7f" "ELF");
}

Instant ring_start(const tracewell_ring& head) {
  return {head.ticks, head.time_ns, head.monotonic_ns};
}

uint64_t bytes_of(const tracewell_ring& head) {
  return TRACEWELL_HOOK_PAGE + uint64_t{head.slots} * head.packet_bytes;
}

std::optional<DeadRing> ring_of(std::shared_ptr<InputFile> file) {
  Bytes bytes = file->bytes();
  auto head = ring_head(bytes);
  if (!head) return std::nullopt;
  bytes = bytes.first(std::min<uint64_t>(bytes_of(*head), bytes.size()));
  std::string path = file->path();
  ring::take_ring_name(file_name_of(path), *head);  // a copy may have any name
  return DeadRing{*head, std::move(file), bytes, std::move(path), std::nullopt, 0, false};
}

Uuid ring_uuid(const tracewell_ring& head) {
  Uuid out;
  std::copy_n(head.uuid, out.size(), out.begin());
  return out;
}

std::string name_of(const tracewell_ring& head) {
  return fmt::format("{}-{}", head.pid, head.number);
}

using Known = std::set<std::pair<std::vector<uint8_t>, std::string>>;

void add(DeadRing ring, Known& known, std::vector<DeadRing>& out,
         std::optional<uint32_t> core_process) {
  ring.of_others = core_process != ring.head.pid;
  const std::vector<uint8_t> uuid(ring.head.uuid, ring.head.uuid + sizeof ring.head.uuid);
  if (known.emplace(uuid, name_of(ring.head)).second) out.push_back(std::move(ring));
}

/// A file with many names, or heads, is one ring.
using Read = std::set<std::pair<uint64_t, uint64_t>>;
bool is_new(const FileFacts& facts, Read& read) {
  return read.emplace(facts.device, facts.inode).second;
}

/// A sentence of an error's own.
std::string left_out(const Error& error) { return error.text() + "; it is left out"; }

Result<DeadRings> rings_of_core(const std::shared_ptr<InputFile>& file) {
  TW_ASSIGN_OR_RETURN(const symbols::CoreFile core,
                      symbols::read_core_file(file->bytes(), kInRings));
  DeadRings out;
  out.of_core = true;
  out.left_out = core.left_out;
  Known known;
  for (const symbols::CoreMemory& memory : core.memory)
    for (Bytes rest = memory.bytes; rest.size() >= sizeof(tracewell_ring);) {
      uint64_t used = TRACEWELL_HOOK_PAGE;
      if (const auto head = ring_head(rest)) {
        used = std::min<uint64_t>(bytes_of(*head), rest.size());
        add({*head, file, rest.first(used), "", std::nullopt, 0, false}, known, out.rings,
            core.process);
      } else if (load_uint(rest.data(), sizeof head->magic, Endian::Little) == 0) {
        // A file may be all holes: nobody looks at their pages.
        const auto at = static_cast<uint64_t>(rest.data() - file->bytes().data());
        const uint64_t hole = file->next_data(at) - at;
        used = std::max(used, hole / TRACEWELL_HOOK_PAGE * TRACEWELL_HOOK_PAGE);
      }
      rest = rest.subspan(std::min<uint64_t>(used, rest.size()));
    }
  std::set<std::string_view> named;
  Read read;
  for (const symbols::CoreMapping& mapping : core.mappings) {
    if (!named.insert(mapping.path).second) continue;
    auto found = InputFile::open_found(mapping.path);
    if (!found.ok() && found.error().code != Errc::NotFound)
      out.left_out.push_back(left_out(found.error()));
    if (!found.ok()) continue;
    if (!is_new((*found)->facts(), read)) continue;
    if (auto ring = ring_of(*std::move(found)))
      add(*std::move(ring), known, out.rings, core.process);
  }
  return out;
}

/// By its name and size; one that nobody has written to yet is all hole.
bool was_ring(const InputFile& file, const std::string& name) {
  tracewell_ring named;
  return ring::take_ring_name(name, named) && file.bytes().size() >= TRACEWELL_HOOK_PAGE &&
         file.next_data(0) < file.bytes().size();
}

Result<DeadRings> rings_of_folder(const Folder& log) {
  DeadRings out;
  const auto rings = log.inside(kRingsName);
  if (!rings.ok() && rings.error().code == Errc::NotFound) return out;
  if (!rings.ok()) return rings.error();
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, rings->names());
  Read read;
  for (const std::string& name : names) {
    if (out.rings.size() >= kRingsMax) {
      out.left_out.push_back(fmt::format("{}/{} has more than {} rings; the others are left out",
                                         printable(log.path()), kRingsName, kRingsMax));
      break;
    }
    auto file = rings->read(name, kRingBytesMax);
    if (!file.ok() && file.error().code != Errc::NotFound)
      out.left_out.push_back(left_out(file.error()));
    if (!file.ok() || !is_new((*file)->facts(), read)) continue;
    if (auto ring = ring_of(*file))
      out.rings.push_back(*std::move(ring));
    else if (was_ring(**file, name))
      out.left_out.push_back(fmt::format("{} is no ring of trace hooks any more; it is left out",
                                         printable(rings->path_of(name))));
  }
  // Those that the log can take, where there are some: others may have come into its folder.
  const auto text = read_metadata(log);
  const auto is_other = [&](const DeadRing& one) {
    return !text.ok() || text->find(uuid_text(ring_uuid(one.head))) == std::string::npos;
  };
  if (!std::ranges::all_of(out.rings, is_other)) std::erase_if(out.rings, is_other);
  const uint64_t began = ticks_of_begin(log);
  for (DeadRing& one : out.rings) {
    if (is_other(one)) continue;
    one.clock = clock_in(*text);
    one.began = began;
  }
  return out;
}

/// Names of files that a process has mapped, as they stand in `maps`.
std::set<std::string_view> mapped_names(std::string_view maps) {
  std::set<std::string_view> out;
  for (size_t at = 0; at < maps.size();) {
    const std::string_view line = maps.substr(at, maps.find('\n', at) - at);
    if (const size_t name = line.find('/'); name != line.npos) out.insert(line.substr(name));
    at += line.size() + 1;
  }
  return out;
}

/// Where nobody may see what its program has mapped (own_process.h): it is alive, that of the
/// ring's owner, and somebody writes to the ring, or may do so. A copy of a log has rings that
/// nobody has.
bool may_be_in_use(const DeadRing& ring) {
  if (!ring.file->has_writer().value_or(true)) return false;
  const auto users = users_of_process(fmt::format("/proc/{}", ring.head.pid));
  if (!users || users->effective != ring.file->facts().owner) return false;
  return process_lives(ring.head.pid, 0);  // whoever has its memory may change what it says
}

/// One that its program, if that is alive, has mapped. Each program is asked once what it has
/// mapped: rings may be many, and their programs large.
const DeadRing* one_in_use(const std::vector<DeadRing>& rings) {
  std::map<uint32_t, std::vector<const DeadRing*>> by_program;
  for (const DeadRing& one : rings)
    if (!one.path.empty()) by_program[one.head.pid].push_back(&one);
  for (const auto& [pid, of_program] : by_program) {
    const auto maps = own_maps(pid);
    if (!maps) {
      for (const DeadRing* one : of_program)
        if (may_be_in_use(*one)) return one;
      continue;
    }
    const std::set<std::string_view> names = mapped_names(as_text(maps->bytes()));
    for (const DeadRing* one : of_program)
      if (const auto path = real_path(one->path); path && names.contains(*path)) return one;
  }
  return nullptr;
}

Status check_not_in_use(const std::vector<DeadRing>& rings) {
  const DeadRing* const one = one_in_use(rings);
  if (one == nullptr) return {};
  return {Errc::InvalidArgument,
          fmt::format("process {} still writes to {} (trcstop ends its trace)", one->head.pid,
                      printable(one->path))};
}

Status check_rings(const std::vector<DeadRing>& rings) {
  if (rings.empty()) return {Errc::NotFound, "there are no rings of trace hooks in it"};
  for (const DeadRing& one : rings)
    if (std::memcmp(one.head.uuid, rings[0].head.uuid, sizeof one.head.uuid) != 0)
      return {Errc::InvalidArgument,
              fmt::format("its rings are of several sessions, of channels {} and {}: choose one "
                          "(-0 to -7, or a ring by its file, such as {})",
                          rings[0].head.channel, one.head.channel,
                          one.path.empty() ? "LOG/.rings/PID-N" : printable(one.path))};
  return check_not_in_use(rings);
}

/// What its log says, which only its user writes to; else what stands in the ring.
LogClock clock_of_ring(const DeadRing& ring) {
  return ring.clock ? *ring.clock : clock_of(ring_start(ring.head), ring.head.hertz);
}

/// What stands between hooks of a session's other programs is what its own rings had.
Status check_may_join(const std::vector<DeadRing>& rings, const std::string& path) {
  for (const DeadRing& one : rings) {
    const std::string file = printable(one.file->path());
    const FileFacts& facts = one.file->facts();
    std::string why;
    if (!is_own_user(facts.owner) && facts.owner != 0)
      why = fmt::format("{} belongs to {}", file, user_name(facts.owner));
    else if (one.of_others)
      why = fmt::format("{} is no core file of process {}, whose ring it has", file, one.head.pid);
    if (!why.empty())
      return {Errc::InvalidArgument,
              fmt::format("{}, and {} is there with hooks of others: -o LOG names a new one, for "
                          "these rings alone",
                          why, printable(path))};
  }
  return {};
}

/// A log that rings go into, and what it says of its session's times. Where it was not there, they
/// are what the ring says.
struct PreparedLog {
  Folder log;
  LogClock clock;
  uint64_t began = 0;
};

/// The folder, and metadata in it, if they are not there already. InvalidArgument when it is
/// somebody else's, another session's, or one that a session writes to.
Result<PreparedLog> prepare_log(const std::vector<DeadRing>& rings, const std::string& path,
                                const std::string& command) {
  const DeadRing& ring = rings[0];
  const tracewell_ring& head = ring.head;
  const Uuid uuid = ring_uuid(head);
  auto log = open_own_log(path);
  if (!log.ok() && log.error().code != Errc::NotFound) return std::move(log).error();
  if (log.ok()) TW_RETURN_IF_ERROR(check_nobody_writes(*log));
  if (log.ok() && log->facts_of_name(kMetadata)) {
    TW_ASSIGN_OR_RETURN(const std::string text, read_metadata(*log));
    if (text.find(uuid_text(uuid)) == std::string::npos)
      return {Errc::InvalidArgument,
              fmt::format("{} is the log of another session; -o LOG says where these rings go",
                          printable(path))};
    TW_RETURN_IF_ERROR(check_may_join(rings, path));
    TW_RETURN_IF_ERROR(log->make_inside(kRingsName));
    const uint64_t began = ticks_of_begin(*log);
    return PreparedLog{*std::move(log), clock_in(text).value_or(clock_of_ring(ring)), began};
  }
  if (!log.ok() || !log->facts_of_name(kRingsName)) log = make_log_folder(path);
  if (!log.ok()) return std::move(log).error();
  const char* mode = head.mode == TRACEWELL_RING_CIRCULAR ? "circular"
                     : head.mode == TRACEWELL_RING_SINGLE ? "single"
                                                          : "alternate";
  const LogFacts facts = {{"command", command},
                          {"mode", mode},
                          {"channel", fmt::format("{}", head.channel)}};
  constexpr bool kCpus = true;  // rings do not say whether their records do
  TW_RETURN_IF_ERROR(
      write_metadata(*log, metadata_text(uuid, clock_of_ring(ring), facts, kCpus)));
  return PreparedLog{*std::move(log), clock_of_ring(ring), ring.began};
}

Status write_at(int fd, uint64_t at, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return errno_error("cannot write " + printable(path));
    at += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

/// Its pages of zeros become holes: a core file has most of them nowhere on the disk, and a small
/// one may tell of more than fits. What is a hole already is not even read.
Status write_ring(const DeadRing& ring, int fd, const std::string& path) {
  const auto begin = static_cast<uint64_t>(ring.bytes.data() - ring.file->bytes().data());
  std::vector<uint8_t> piece;
  uint64_t at = 0;
  for (Bytes rest = ring.bytes; !rest.empty(); rest = ring.bytes.subspan(at)) {
    const uint64_t hole = ring.file->next_data(begin + at) - (begin + at);
    if (hole / kHolePage != 0) {
      at += std::min<uint64_t>(hole / kHolePage * kHolePage, rest.size());
      continue;
    }
    // A copy: what is cut off meanwhile reads as zeros, and cannot be written from where it is.
    const Bytes first = rest.first(std::min(rest.size(), kPieceBytes));
    piece.assign(first.begin(), first.end());
    for (Bytes left = piece; !left.empty();) {
      const ZeroRun zeros = find_zeros(left, 1);
      TW_RETURN_IF_ERROR(write_at(fd, at, left.first(zeros.at), path));
      at += zeros.at + zeros.bytes;
      left = left.subspan(zeros.at + zeros.bytes);
    }
  }
  if (::ftruncate(fd, static_cast<off_t>(bytes_of(ring.head))) != 0)
    return errno_error("cannot write " + printable(path));
  return {};
}

/// A file in the log's folder of rings, as large as the ring was. It has its name when it is whole:
/// whoever fails half-way, or is killed, can be asked again.
Status put_ring(const DeadRing& ring, const Folder& rings) {
  const std::string name = name_of(ring.head);
  if (const auto there = rings.facts_of_name(name)) {
    if (!ring.path.empty() && there->is_same(ring.file->facts())) return {};
    TW_ASSIGN_OR_RETURN(const auto file, rings.read(name, kRingBytesMax));
    const Bytes has = file->bytes();
    if (has.size() == bytes_of(ring.head) && std::ranges::equal(has.first(ring.bytes.size()),
                                                                ring.bytes))
      return {};  // an earlier rescue came so far
    return {Errc::InvalidArgument,
            fmt::format("{} is there already, and holds something else: collect that first "
                        "(trcdead without -o), or name another log",
                        printable(rings.path_of(name)))};
  }
  const std::string partial = name + ".part";
  if (rings.facts_of_name(partial)) TW_RETURN_IF_ERROR(rings.remove(partial));
  TW_ASSIGN_OR_RETURN(const UniqueFd fd, rings.open_own(partial, Folder::Make::New));
  Status status = write_ring(ring, fd.get(), rings.path_of(partial));
  if (status.ok()) status = rings.rename(partial, name);
  if (!status.ok()) static_cast<void>(rings.remove(partial));
  return status;
}

/// All rings of the log's session are collected, and removed, with those that were asked for.
Status check_others_of_log(const Folder& log) {
  TW_ASSIGN_OR_RETURN(const DeadRings there, rings_of_folder(log));
  return check_not_in_use(there.rings);
}

/// The rings may be of a boot before, and so may their log: its clock tells the time of its marks.
Status tell_of_ring(const DeadRing& ring, const PreparedLog& into, std::string_view text) {
  return add_mark(into.log, ring_uuid(ring.head), text, ticks_at(into.clock, now().time_ns));
}

/// What was not there any more when the rings were read. Each mark looks at those before it.
Status tell_cut(const std::vector<DeadRing>& rings, const PreparedLog& into) {
  size_t told = 0, more = 0;
  for (const DeadRing& ring : rings) {
    if (ring.bytes.size() >= bytes_of(ring.head) && !ring.file->lost()) continue;
    if (told == kCutToldMax) {
      ++more;
      continue;
    }
    ++told;
    const std::string text = fmt::format(
        "0 records lost: the end of the buffer {} is missing, with what was in it",
        name_of(ring.head));
    TW_RETURN_IF_ERROR(tell_of_ring(ring, into, text));
  }
  if (more == 0) return {};
  return tell_of_ring(rings.front(), into,
                      fmt::format("0 records lost: the ends of {} more buffers are missing, with "
                                  "what was in them",
                                  more));
}

Status check_no_trace(const Control& control, const std::string& path) {
  for (const unsigned channel : active_channels(control))
    if (is_same_log(log_path_of(control, channel), path))
      return {Errc::InvalidArgument,
              fmt::format("a trace runs into {} (trcstop ends it, and collects its rings)",
                          printable(path))};
  return {};
}

Error somebody_writes(const std::string& path) {
  return {Errc::InvalidArgument,
          fmt::format("somebody is writing to {}: name another log", printable(path)),
          {}};
}

}  // namespace

Result<DeadRings> find_dead_rings(const std::string& path) {
  if (is_folder(path)) {
    const auto log = Folder::named(path);
    if (log.ok()) return rings_of_folder(*log);
    return Error(log.error()).within(
        fmt::format("cannot look for rings in {}/{}", printable(path), kRingsName));
  }
  TW_ASSIGN_OR_RETURN(auto file, InputFile::open(path, may_have_rings));
  DeadRings out;
  const auto head = ring_head(file->bytes());
  if (auto ring = ring_of(file)) {
    if (head && (head->pid != ring->head.pid || head->number != ring->head.number))
      return {Errc::InvalidArgument,
              fmt::format("{} says of itself that it is {}: if it is a copy, give it that name, or "
                          "one that no program gives (such as copy.ring)",
                          printable(path), name_of(*head))};
    out.rings.push_back(*std::move(ring));
    return out;
  }
  auto rings = rings_of_core(file);
  if (!rings.ok())
    return {Errc::Corrupt,
            fmt::format("{} is no log of trace hooks, no ring of theirs, and no core file",
                        printable(path))};
  return rings;
}

Result<Rescue> collect_dead_rings(const std::vector<DeadRing>& rings, const std::string& path,
                                  const std::string& command) {
  TW_RETURN_IF_ERROR(check_rings(rings));
  TW_ASSIGN_OR_RETURN(const Control control, Control::open());
  TW_RETURN_IF_ERROR(check_no_trace(control, path));
  const DeadRing& first = rings[0];
  TW_ASSIGN_OR_RETURN(const PreparedLog prepared, prepare_log(rings, path, command));
  const Folder& log = prepared.log;
  // No trace begins in a log that is locked. What rings hold, and how much there is to look at,
  // whoever made them decides: other commands do not wait for it.
  TW_ASSIGN_OR_RETURN(const UniqueFd own, open_log_lock(log));
  if (!lock_file(own.get()).ok()) return somebody_writes(path);
  TW_RETURN_IF_ERROR(check_others_of_log(log));
  {
    TW_ASSIGN_OR_RETURN(const Folder in, log.inside(kRingsName));
    for (const DeadRing& one : rings) TW_RETURN_IF_ERROR(put_ring(one, in));
  }
  {
    TW_ASSIGN_OR_RETURN(const UniqueFd lock, control.lock());
    TW_RETURN_IF_ERROR(check_no_trace(control, path));
  }
  TW_ASSIGN_OR_RETURN(LogFolder folder, LogFolder::open(log, {}));
  Collector collector(log, folder, ring_uuid(first.head), prepared.began, prepared.clock);
  TW_RETURN_IF_ERROR(collector.finish());
  TW_RETURN_IF_ERROR(tell_cut(rings, prepared));
  TW_RETURN_IF_ERROR(
      tell_of_ring(first, prepared, fmt::format("{} ring{} collected by trcdead", rings.size(),
                                           rings.size() == 1 ? "" : "s")));
  release_log(log);
  return Rescue{path, rings.size(), collector.taken()};
}

}  // namespace tracewell::hooks
