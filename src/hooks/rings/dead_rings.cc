#include "hooks/rings/dead_rings.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/files/folder.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/control/control.h"
#include "hooks/log/holes.h"
#include "hooks/log/log_clock.h"
#include "hooks/log/log_folder.h"
#include "hooks/log/log_use.h"
#include "hooks/programs/nested_processes.h"
#include "hooks/programs/own_process.h"
#include "hooks/rings/chosen_rings.h"
#include "hooks/rings/core_rings.h"
#include "hooks/rings/ring_file.h"
#include "hooks/rings/ring_head.h"
#include "hooks/session/collector.h"
#include "hooks/session/session.h"
#include "ring/ring_name.h"

namespace tracewell::hooks {
namespace {

constexpr char kMetadata[] = "metadata";
constexpr char kOrigin[] = "rings_of";  // the log that rings out of a core file were in
constexpr size_t kPieceBytes = 1 << 20;
constexpr size_t kRingsMax = 1 << 15;  // of a folder; each is mapped
constexpr size_t kCutToldMax = 64;     // one by one

/// A pipe or a device that is no ring and no core file may have no end.
bool may_have_rings(Bytes bytes) {
  return ring_head(bytes) || as_text(bytes).starts_with("\x7f" "ELF");
}

Instant ring_start(const tracewell_ring& head) {
  return {head.ticks, head.time_ns, head.monotonic_ns};
}

std::optional<DeadRing> ring_of(std::shared_ptr<InputFile> file) {
  Bytes bytes = file->bytes();
  auto head = ring_head(bytes);
  if (!head) return std::nullopt;
  bytes = bytes.first(std::min<uint64_t>(ring_bytes(*head), bytes.size()));
  std::string path = file->path();
  ring::take_ring_name(file_name_of(path), *head);  // a copy may have any name
  return DeadRing{.head = *head, .file = std::move(file), .bytes = bytes, .path = std::move(path)};
}

/// A file with many names is one ring.
using Read = std::set<std::pair<uint64_t, uint64_t>>;
bool is_new(const FileFacts& facts, Read& read) {
  return read.emplace(facts.device, facts.inode).second;
}

/// A sentence of an error's own.
std::string left_out(const Error& error) { return error.text() + "; it is left out"; }

/// By its name and size; one that nobody has written to yet is all hole.
bool was_ring(const InputFile& file, const std::string& name) {
  tracewell_ring named;
  return ring::take_ring_name(name, named) && file.bytes().size() >= TRACEWELL_HOOK_PAGE &&
         file.next_data(0) < file.bytes().size();
}

/// Those that the log can take, where there are some: others may have come into its folder.
void leave_out_others(const Folder& log, const std::optional<Uuid>& trace, DeadRings& found) {
  const auto text = read_metadata(log);
  const auto is_of_log = [&](const DeadRing& one) {
    return text.ok() && text->find(uuid_text(ring_uuid(one.head))) != std::string::npos;
  };
  std::vector<DeadRing>& rings = found.rings;
  if (!trace && std::ranges::any_of(rings, is_of_log)) {
    const auto others = std::ranges::stable_partition(rings, is_of_log);
    if (!others.empty())
      found.left_out.push_back(fmt::format(
          "{} ring{} in {}/{} say{} that {} of {}, such as {} of {}: left out (--from UUID takes "
          "those of a trace)",
          others.size(), others.size() == 1 ? "" : "s", printable(log.path()), kRingsName,
          others.size() == 1 ? "s" : "", others.size() == 1 ? "it is" : "they are",
          others.size() == 1 ? "another trace" : "other traces", ring_name(others.front().head),
          uuid_text(ring_uuid(others.front().head))));
    rings.erase(others.begin(), others.end());
  }
  const uint64_t began = ticks_of_begin(log);
  for (DeadRing& one : rings) {
    if (!is_of_log(one)) continue;
    one.clock = clock_in(*text);
    one.began = began;
  }
}

Result<DeadRings> rings_of_folder(const Folder& log, const std::optional<Uuid>& trace = {}) {
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
  leave_out_others(log, trace, out);
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

/// The same of a program in a PID namespace below, as in a container, where paths are others, too.
const DeadRing* one_in_use_below(const std::vector<DeadRing>& rings) {
  const auto nested = NestedProcesses::look();
  for (const DeadRing& one : rings)
    if (!one.path.empty() &&
        nested.find(one.head.pid, fmt::format("/{}/{}", kRingsName, file_name_of(one.path)),
                    one.file->facts().inode) != 0)
      return &one;
  return nullptr;
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
  return one_in_use_below(rings);
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
              fmt::format("its rings are of several traces, {} of channel {} and {} of channel {}: "
                          "choose one (--from UUID or LOG, -0 to -7, or a ring by its file, such "
                          "as {})",
                          uuid_text(ring_uuid(rings[0].head)), rings[0].head.channel,
                          uuid_text(ring_uuid(one.head)), one.head.channel,
                          one.path.empty() ? "LOG/.rings/PID-N" : printable(one.path))};
  return check_not_in_use(rings);
}

/// What its log says, which only its user writes to; else what stands in the ring.
LogClock clock_of_ring(const DeadRing& ring) {
  return ring.clock ? *ring.clock : clock_of(ring_start(ring.head), ring.head.hertz);
}

/// Why a ring of a core file does not belong into a log of its trace that is there; "" = it does.
/// A trace that goes on, or was left, has the files of its rings.
std::string why_not_into(const DeadRing& ring, const std::string& path,
                         const std::string& metadata) {
  const std::string name = fmt::format("{}/{}/{}", printable(ring.log), kRingsName,
                                       ring_name(ring.head));
  if (ring.of_others)
    return fmt::format("{} is no core file of process {}, whose ring it has",
                       printable(ring.file->path()), ring.head.pid);
  if (metadata.find(metadata_fact({kOrigin, ring.log})) != std::string::npos) return "";
  if (!is_same_log(ring.log, path))
    return fmt::format("{} was in {}, as the core file says", name, printable(ring.log));
  if (ring.gone) return fmt::format("{} has what was in it when {} went", printable(path), name);
  return "";
}

/// What stands between hooks of a session's other programs is what its own rings had.
Status check_may_join(const std::vector<DeadRing>& rings, const std::string& path,
                      const std::string& metadata) {
  for (const DeadRing& one : rings) {
    const FileFacts& facts = one.file->facts();
    std::string why;
    if (!is_own_user(facts.owner) && facts.owner != 0)
      why = fmt::format("{} belongs to {}", printable(one.file->path()), user_name(facts.owner));
    else if (!one.log.empty())
      why = why_not_into(one, path, metadata);
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
    TW_RETURN_IF_ERROR(check_may_join(rings, path, text));
    TW_RETURN_IF_ERROR(log->make_inside(kRingsName));
    const uint64_t began = ticks_of_begin(*log);
    return PreparedLog{*std::move(log), clock_in(text).value_or(clock_of_ring(ring)), began};
  }
  if (!log.ok() || !log->facts_of_name(kRingsName)) log = make_log_folder(path);
  if (!log.ok()) return std::move(log).error();
  const char* mode = head.mode == TRACEWELL_RING_CIRCULAR ? "circular"
                     : head.mode == TRACEWELL_RING_SINGLE ? "single"
                                                          : "alternate";
  LogFacts facts = {{"command", command},
                    {"mode", mode},
                    {"channel", fmt::format("{}", head.channel)}};
  if (!ring.log.empty()) facts.emplace_back(kOrigin, ring.log);
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
  if (::ftruncate(fd, static_cast<off_t>(ring_bytes(ring.head))) != 0)
    return errno_error("cannot write " + printable(path));
  return {};
}

/// A file in the log's folder of rings, as large as the ring was. It has its name when it is whole:
/// whoever fails half-way, or is killed, can be asked again.
Status put_ring(const DeadRing& ring, const Folder& rings) {
  const std::string name = ring_name(ring.head);
  if (const auto there = rings.facts_of_name(name)) {
    if (!ring.path.empty() && there->is_same(ring.file->facts())) return {};
    TW_ASSIGN_OR_RETURN(const auto file, rings.read(name, kRingBytesMax));
    const Bytes has = file->bytes();
    if (has.size() == ring_bytes(ring.head) && std::ranges::equal(has.first(ring.bytes.size()),
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
  if (!status.ok()) best_effort(rings.remove(partial));
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
    if (ring.bytes.size() >= ring_bytes(ring.head) && !ring.file->lost()) continue;
    if (told == kCutToldMax) {
      ++more;
      continue;
    }
    ++told;
    const std::string text = fmt::format(
        "0 records lost: the end of the buffer {} is missing, with what was in it",
        ring_name(ring.head));
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

Result<DeadRings> all_dead_rings(const std::string& path, const std::optional<Uuid>& trace) {
  if (is_folder(path)) {
    const auto log = Folder::named(path);
    if (log.ok()) return rings_of_folder(*log, trace);
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
                          printable(path), ring_name(*head))};
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

}  // namespace

Result<DeadRings> find_dead_rings(const std::string& path, const RingChoice& choice) {
  auto out = all_dead_rings(path, choice.trace);
  if (!out.ok()) return out;
  if (!choice.log.empty() && !out->of_core)
    return {Errc::InvalidArgument,
            fmt::format("--from LOG is for core files, and {} is none (--from UUID chooses a "
                        "trace)",
                        printable(path))};
  choose_rings(*out, choice);
  return out;
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
  TW_RETURN_IF_ERROR(give_back_room(log));
  release_log(log);
  return Rescue{path, rings.size(), collector.taken()};
}

}  // namespace tracewell::hooks
