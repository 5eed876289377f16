#include "hooks/rings/core_rings.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/log/log_clock.h"
#include "hooks/log/log_folder.h"
#include "hooks/rings/chosen_rings.h"
#include "hooks/rings/ring_file.h"
#include "hooks/rings/ring_head.h"
#include "ring/ring_name.h"
#include "symbols/elf/core_file.h"

namespace tracewell::hooks {
namespace {

constexpr std::string_view kInRings = "/.rings/";
constexpr std::string_view kGone = " (deleted)";  // behind the name of a file that was removed
constexpr size_t kRingsToldMax = 64;              // one by one

/// A mapping that is named as a ring's file.
struct NamedRing {
  symbols::CoreMapping mapping;
  std::string path;  // without what the kernel adds
  std::string log;
  bool gone = false;
  uint32_t pid = 0, number = 0;

  uint64_t bytes() const { return mapping.end - mapping.begin; }
};

/// nullopt: no program names its rings so, or the kernel tells no such path.
std::optional<NamedRing> named_ring(const symbols::CoreMapping& mapping) {
  NamedRing out;
  out.mapping = mapping;
  out.path = mapping.path;
  out.gone = out.path.ends_with(kGone);
  if (out.gone) out.path.resize(out.path.size() - kGone.size());
  tracewell_ring named = {};
  const std::string folder = parent_of(out.path);
  if (!out.path.starts_with('/') || has_detours(out.path) ||
      !ring::take_ring_name(file_name_of(out.path), named) ||
      file_name_of(folder) != kRingsName || mapping.begin >= mapping.end)
    return std::nullopt;
  out.log = parent_of(folder);
  out.pid = named.pid;
  out.number = named.number;
  return out;
}

/// What a core file has of memory, by its address.
class CoreBytes {
 public:
  explicit CoreBytes(const std::vector<symbols::CoreMemory>& memory) {
    for (const symbols::CoreMemory& one : memory) pieces_.emplace(one.address, one.bytes);
  }
  Bytes at(uint64_t begin, uint64_t end) const {
    const auto behind = pieces_.upper_bound(begin);
    if (behind == pieces_.begin()) return {};
    const auto& [address, bytes] = *std::prev(behind);
    const uint64_t skipped = begin - address;
    if (skipped >= bytes.size()) return {};
    return bytes.subspan(skipped, std::min<uint64_t>(bytes.size() - skipped, end - begin));
  }

 private:
  std::map<uint64_t, Bytes> pieces_;
};

/// What is there of a log by now, in the place that the core file names. There may be thousands:
/// none is kept open.
struct LogThere {
  std::optional<Uuid> trace;  // nullopt: none, or somebody made it who has no say in this
  std::optional<LogClock> clock;
  uint64_t began = 0;  // in ticks
};

std::optional<Uuid> uuid_in(std::string_view metadata) {
  constexpr std::string_view kBefore = "uuid = \"";
  const size_t at = metadata.substr(0, TRACEWELL_LOG_UUID_WITHIN).find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  metadata.remove_prefix(at + kBefore.size());
  return read_uuid(metadata.substr(0, metadata.find('"')));
}

class CoreRings {
 public:
  CoreRings(const std::shared_ptr<InputFile>& file, const symbols::CoreFile& core)
      : file_(file), core_(core), memory_(core.memory) {}

  DeadRings find();

 private:
  std::vector<NamedRing> named_rings();
  void look_at(const NamedRing& named);
  std::shared_ptr<InputFile> open_ring(const NamedRing& named);
  bool is_readable(const NamedRing& named, const InputFile& ring);
  void add(const NamedRing& named, DeadRing ring);
  std::string contradiction(const NamedRing& named, const tracewell_ring& head);
  const LogThere& log_at(const std::string& path);
  void look_elsewhere(const std::vector<NamedRing>& named);
  void tell(std::string text);
  void tell_left_out(const std::string& text) { tell(text + "; it is left out"); }
  void tell_unknown(const NamedRing& named, std::string_view why);

  const std::shared_ptr<InputFile>& file_;
  const symbols::CoreFile& core_;
  const CoreBytes memory_;
  std::map<std::string, LogThere> logs_;
  std::set<std::pair<uint64_t, uint64_t>> read_;  // files, by device and inode
  std::set<std::string> taken_;                   // names of rings
  size_t told_ = 0;
  DeadRings out_;
};

void CoreRings::tell(std::string text) {
  if (told_++ < kRingsToldMax) out_.left_out.push_back(std::move(text));
}

void CoreRings::tell_unknown(const NamedRing& named, std::string_view why) {
  tell(fmt::format("{} {}: what was in its {} bytes is not known", printable(named.path), why,
                   named.bytes()));
}

/// No two of them have an address in common, or a small file would tell of many large rings. Those
/// whose files have their names still come first: a name may have been given again.
std::vector<NamedRing> CoreRings::named_rings() {
  std::vector<NamedRing> out;
  for (const symbols::CoreMapping& mapping : core_.mappings) {
    if (mapping.offset != 0) continue;  // the rest of one that is in several
    if (auto named = named_ring(mapping))
      out.push_back(*std::move(named));
    else
      tell_left_out(fmt::format("the core file has a mapping of {}, which is no ring's name",
                                printable(mapping.path)));
  }
  std::ranges::stable_sort(out, {}, [](const NamedRing& one) { return one.mapping.begin; });
  uint64_t end = 0;
  std::erase_if(out, [&](const NamedRing& one) {
    const bool overlaps = one.mapping.begin < end;
    if (overlaps)
      tell_left_out(fmt::format("the core file is damaged: its mapping of {} at 0x{:x} begins "
                                "inside another one",
                                printable(one.path), one.mapping.begin));
    else
      end = one.mapping.end;
    return overlaps;
  });
  return out;
}

/// A log of the core file's owner or of the reader's says which trace it is of. Whose processes
/// root's core files are of, they do not say.
const LogThere& CoreRings::log_at(const std::string& path) {
  const auto [at, fresh] = logs_.try_emplace(path);
  LogThere& out = at->second;
  if (!fresh) return out;
  const auto has_a_say = [&](uint32_t owner) {
    const uint32_t of_core = file_->facts().owner;
    return of_core == 0 || owner == 0 || is_own_user(owner) || is_same_user(owner, of_core);
  };
  const auto log = Folder::found(path);
  if (!log.ok()) return out;
  const auto facts = log->facts();
  const auto metadata = log->facts_of_name("metadata");
  if (!facts.ok() || !has_a_say(facts->owner) || !metadata || !has_a_say(metadata->owner))
    return out;
  const auto text = read_metadata(*log);
  if (!text.ok()) return out;
  out.trace = uuid_in(*text);
  out.clock = clock_in(*text);
  out.began = ticks_of_begin(*log);
  return out;
}

/// Why it cannot be what its head says; "" = it can.
std::string CoreRings::contradiction(const NamedRing& named, const tracewell_ring& head) {
  if (head.pid != named.pid || head.number != named.number)
    return fmt::format("that it is {}", ring_name(head));
  if (ring_bytes(head) > named.bytes())
    return fmt::format("that it has {} bytes, of which {} were mapped", ring_bytes(head),
                       named.bytes());
  const LogThere& log = log_at(named.log);
  if (named.gone || !log.trace || *log.trace == ring_uuid(head)) return "";
  const auto rings = Folder::found(parent_of(named.path));
  if (!rings.ok() || !rings->facts_of_name(ring_name(head))) return "";
  return fmt::format("that it is of the trace {}, and {} is of another",
                     uuid_text(ring_uuid(head)), printable(named.log));
}

void CoreRings::add(const NamedRing& named, DeadRing ring) {
  ring.log = named.log;
  ring.gone = named.gone;
  ring.of_others = core_.process != named.pid;
  const LogThere& log = log_at(named.log);
  if (log.trace == ring_uuid(ring.head)) {
    ring.log_says = DeadRing::LogSays::SameTrace;
    ring.clock = log.clock;
    ring.began = log.began;
  } else if (log.trace) {
    ring.log_says = DeadRing::LogSays::OtherTrace;
  }
  out_.rings.push_back(std::move(ring));
}

/// May it be read for whoever owns the core file?
bool CoreRings::is_readable(const NamedRing& named, const InputFile& ring) {
  const uint32_t owner = ring.facts().owner, of_core = file_->facts().owner;
  if (is_same_user(owner, of_core)) return true;
  const std::string whose =
      fmt::format("{} belongs to {}, and the core file to {}", printable(named.path),
                  user_name(owner), user_name(of_core));
  if (of_core == 0) {
    tell(whose);
    return true;
  }
  tell_left_out(whose);
  return false;
}

/// The file that has the name by now; nullptr: there is none, or none that is to be read.
std::shared_ptr<InputFile> CoreRings::open_ring(const NamedRing& named) {
  auto found = InputFile::open_found(named.path);
  if (!found.ok()) {
    if (found.error().code != Errc::NotFound) tell_left_out(found.error().text());
    return nullptr;
  }
  if (!read_.emplace((*found)->facts().device, (*found)->facts().inode).second) {
    tell_left_out(fmt::format("{} is another name of a ring that was read", printable(named.path)));
    return nullptr;
  }
  return is_readable(named, **found) ? *std::move(found) : nullptr;
}

void CoreRings::look_at(const NamedRing& named) {
  if (taken_.contains(named.path)) {
    tell_left_out(fmt::format("the core file has a second ring with the name {} at 0x{:x}",
                              printable(named.path), named.mapping.begin));
    return;
  }
  std::shared_ptr<InputFile> file = file_;
  Bytes bytes = memory_.at(named.mapping.begin, named.mapping.end);
  if (!named.gone && bytes.size() < named.bytes()) {
    const size_t told = told_;
    if (auto ring = open_ring(named)) {
      bytes = ring->bytes().first(std::min<uint64_t>(ring->bytes().size(), named.bytes()));
      file = std::move(ring);
    } else if (bytes.empty() && told != told_) {
      return;
    }
  }
  if (bytes.empty()) {
    tell_unknown(named, "is not there any more, nor in the core file");
    return;
  }
  const auto head = ring_head(bytes);
  if (!head) {
    tell_unknown(named, "has no head of a ring");
    return;
  }
  if (const std::string why = contradiction(named, *head); !why.empty()) {
    tell_left_out(fmt::format("{} says of itself {}", printable(named.path), why));
    return;
  }
  taken_.insert(named.path);
  bytes = bytes.first(std::min<uint64_t>(ring_bytes(*head), bytes.size()));
  const std::string path = file == file_ ? "" : named.path;
  add(named, {.head = *head, .file = std::move(file), .bytes = bytes, .path = path});
}

/// Memory that is no ring's may have anything in it. A file may be all holes: nobody looks at their
/// pages.
void CoreRings::look_elsewhere(const std::vector<NamedRing>& named) {
  uint64_t heads = 0, first = 0;
  for (const symbols::CoreMemory& memory : core_.memory) {
    for (uint64_t at = 0; at < memory.bytes.size();) {
      const uint64_t address = memory.address + at;
      const auto behind = std::ranges::upper_bound(
          named, address, {}, [](const NamedRing& one) { return one.mapping.begin; });
      if (behind != named.begin() && address < std::prev(behind)->mapping.end) {
        const uint64_t left = memory.bytes.size() - at;
        at += std::min<uint64_t>(std::prev(behind)->mapping.end - address, left);
        continue;
      }
      const Bytes rest = memory.bytes.subspan(at);
      uint64_t used = TRACEWELL_HOOK_PAGE;
      if (const auto head = ring_head(rest)) {
        if (heads++ == 0) first = address;
        used = ring_bytes(*head);
      } else if (rest.size() >= sizeof head->magic &&
                 load_uint(rest.data(), sizeof head->magic, Endian::Little) == 0) {
        const auto offset = static_cast<uint64_t>(rest.data() - file_->bytes().data());
        const uint64_t hole = file_->next_data(offset) - offset;
        used = std::max(used, hole / TRACEWELL_HOOK_PAGE * TRACEWELL_HOOK_PAGE);
      }
      at += used;
    }
  }
  if (heads != 0)
    out_.left_out.push_back(fmt::format(
        "the core file has {} head{} of a ring in memory that is no mapping of one, the first at "
        "0x{:x}: nothing says that a program wrote {}",
        heads, heads == 1 ? "" : "s", first, heads == 1 ? "it" : "them"));
}

DeadRings CoreRings::find() {
  out_.of_core = true;
  out_.left_out = core_.left_out;
  const std::vector<NamedRing> named = named_rings();
  for (const bool gone : {false, true})
    for (const NamedRing& one : named)
      if (one.gone == gone) look_at(one);
  look_elsewhere(named);
  if (told_ > kRingsToldMax)
    out_.left_out.push_back(
        fmt::format("the same goes for {} more rings of the core file", told_ - kRingsToldMax));
  return std::move(out_);
}

}  // namespace

Result<DeadRings> rings_of_core(const std::shared_ptr<InputFile>& file) {
  TW_ASSIGN_OR_RETURN(const symbols::CoreFile core,
                      symbols::read_core_file(file->bytes(), kInRings));
  return CoreRings(file, core).find();
}

}  // namespace tracewell::hooks
