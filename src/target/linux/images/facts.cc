#include "target/linux/images/facts.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/kernel_files.h"
#include "base/files/open.h"
#include "base/files/paths.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "base/text/xml.h"
#include "target/linux/images/build_id.h"
#include "target/linux/images/link_map.h"
#include "target/linux/images/mapped_files.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/stops/patience.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kPieceBytes = 16 << 20;  // of a file, at a time

/// What a link of /proc shows. The kernel marks a name that went, or that another file has by now.
std::optional<std::string> name_behind(const std::string& link) {
  constexpr std::string_view kWent = " (deleted)";
  auto path = link_text(link);
  if (path && path->ends_with(kWent) && !is_same_file(*path, link))
    path->resize(path->size() - kWent.size());
  return path;
}

Error no_process(Pid pid) {
  return {Errc::NotFound, fmt::format("no process {}", pid), {}};
}

/// What is mapped where, for many questions.
class Extents {
 public:
  explicit Extents(std::vector<Mapping> maps) : maps_(std::move(maps)) {
    for (const Mapping& map : maps_) {
      if (map.path.empty()) continue;
      Extent& all = by_path_.try_emplace(map.path, Extent{map.start, map.end}).first->second;
      all.start = std::min(all.start, map.start);
      all.end = std::max(all.end, map.end);
    }
  }

  const Mapping* find(uint64_t address) const {
    const auto next = std::ranges::upper_bound(maps_, address, {}, &Mapping::start);
    if (next == maps_.begin() || address >= std::prev(next)->end) return nullptr;
    return &*std::prev(next);
  }

  /// The range of the file that `inside` is mapped from, as far as its mappings reach. False:
  /// nothing is mapped there.
  bool place(uint64_t inside, Module& module) const {
    const Mapping* const home = find(inside);
    if (home == nullptr) return false;
    Extent all{home->start, home->end};
    if (!home->path.empty()) all = by_path_.at(home->path);
    module.start = all.start;
    module.size_bytes = all.end - all.start;
    return true;
  }

 private:
  struct Extent {
    uint64_t start = 0, end = 0;
  };
  std::vector<Mapping> maps_;  // by address, as the kernel shows them
  std::unordered_map<std::string, Extent> by_path_;
};

/// Something is there, and it is no regular file, or the kernel's.
bool leads_to_no_file(const std::string& name) {
  const auto held = hold_behind(name);
  if (!held) return false;
  const auto facts = facts_of(held->get(), name);
  const auto kernels = is_of_kernel(held->get(), name);
  return !facts || facts->kind != FileFacts::Kind::Regular || !kernels || *kernels;
}

/// The first 64 bits of the boot id, as the packets of trace hooks have them. "" = not known.
std::string boot_text() {
  constexpr size_t kDigits = 16;
  const auto file = InputFile::open("/proc/sys/kernel/random/boot_id");
  if (!file.ok()) return {};
  std::string out;
  for (const char c : as_text((*file)->bytes()))
    if (out.size() < kDigits && c != '-') out += c;
  return out.size() == kDigits && parse_hex(out) ? out : std::string();
}

/// Each name leads through as many links and folders as the program likes.
constexpr int64_t kNamesNs = 2 * kSecond;

/// "" = it has none that a debugger may open. GDB loads scripts that a library asks for where the
/// library's name begins like a folder it trusts (auto-load safe-path), wherever ".." leads to.
std::string_view shown_name(const LoadedObject& object, const Mapping* home, bool may_look) {
  if (home == nullptr) return {};
  if (may_look && !has_detours(object.name) && !leads_to_no_file(object.name)) return object.name;
  const bool is_file = home->path.starts_with('/') && !has_kernels_name(home->path);
  return is_file ? std::string_view(home->path) : std::string_view();
}

}  // namespace

struct Facts::Loaded {
  AuxValues aux;
  std::string exe;
  MainProgram program;
  bool has_list = false;  // may be empty still
  std::vector<LoadedObject> objects;
};

tracewell::Process Facts::identity(Pid pid) {
  tracewell::Process out;
  out.pid = static_cast<uint32_t>(std::max<Pid>(number_for_itself(pid), 0));
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (const auto start = start_ticks(pid);
      start && ticks > 0 && *start <= UINT64_MAX / static_cast<uint64_t>(kSecond))
    out.start_ns = *start * (static_cast<uint64_t>(kSecond) / static_cast<uint64_t>(ticks));
  utsname system{};
  if (::uname(&system) == 0) out.host = system.nodename;
  out.boot = boot_text();
  if (auto image = program_name(pid)) out.image = *std::move(image);
  return out;
}

Result<std::vector<uint8_t>> Facts::auxv(Pid pid) {
  const Thread* thread = threads_.first_thread(pid);
  const auto text = thread != nullptr ? read_proc(thread->tid, "auxv") : std::nullopt;
  if (!text) return no_process(pid);
  return std::vector<uint8_t>(text->begin(), text->end());
}

Result<std::string> Facts::program_name(Pid pid) {
  const Thread* thread = threads_.first_thread(pid);
  if (thread == nullptr) return no_process(pid);
  const std::string link = fmt::format("/proc/{}/exe", thread->tid);
  auto path = name_behind(link);
  if (!path) return {Errc::Target, link + " cannot be read"};
  return *std::move(path);
}

/// Held first: the program may run another one at any time, and that has a name of its own.
Result<UniqueFd> Facts::open_exec_file(Pid pid, const std::string& name, bool its_view) {
  const Thread* thread = threads_.first_thread(pid);
  if (thread == nullptr) return no_process(pid);
  const std::string place = fmt::format("/proc/{}", thread->tid), link = place + "/exe";
  TW_ASSIGN_OR_RETURN(const UniqueFd held, hold_behind(link));
  const bool is_named = name_behind(fmt::format("/proc/self/fd/{}", held.get())) == name;
  if (!is_named || (!its_view && !is_same_file(place + "/ns/mnt", "/proc/self/ns/mnt")))
    return {Errc::NotFound, "the process has another name"};
  return open_held(held.get(), HeldUse::Read, link);
}

Result<std::string> Facts::exec_file(Pid pid) {
  TW_ASSIGN_OR_RETURN(std::string path, program_name(pid));
  if (has_kernels_name(path))
    return {Errc::Target,
            fmt::format("process {} runs a file with a name of the kernel's, {}", pid,
                        printable(path))};
  return path;
}

Result<Facts::Loaded> Facts::loaded(Pid pid) {
  Process* process = threads_.find_process(pid);
  if (process == nullptr) return no_process(pid);
  Loaded result;
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, auxv(pid));
  result.aux = parse_auxv(bytes, process->space->is_32_bit);
  TW_ASSIGN_OR_RETURN(result.exe, program_name(pid));
  const Thread* thread = threads_.first_thread(pid);
  const Tid tid = thread != nullptr ? thread->tid : pid;
  result.program = find_main_program(*process->space, result.aux, tid);
  result.has_list = loaders_list(*process->space, result.program).has_value();
  result.objects = loaded_objects(*process->space, result.program);
  return result;
}

/// The list of libraries is the program's to write. What is nowhere in memory is no library, and
/// one place has one.
Result<std::vector<Module>> Facts::modules(Pid pid) {
  TW_ASSIGN_OR_RETURN(const Loaded all, loaded(pid));
  const Thread* thread = threads_.first_thread(pid);
  const Extents extents(mappings(thread != nullptr ? thread->tid : pid, gives_up_));
  const AddressSpace& space = *threads_.find_process(pid)->space;
  std::vector<Module> result(1);
  result[0].path = all.exe;
  result[0].bias = all.program.bias;
  if (extents.place(all.aux.phdr, result[0]))
    result[0].build_id = build_id_in_memory(space, result[0].start, result[0].bias);
  std::unordered_set<uint64_t> known;
  for (const LoadedObject& object : all.objects) {
    if (gives_up()) return {Errc::Target, "the server is to end"};
    if (object.name.empty() || object.dynamic == all.program.dynamic) continue;
    Module module;
    module.path = object.name;
    module.bias = object.bias;
    if (!extents.place(object.dynamic, module) || !known.insert(module.start).second) continue;
    module.build_id = build_id_in_memory(space, module.start, module.bias);
    result.push_back(std::move(module));
  }
  return result;
}

namespace {

/// The loader's name of a library leads nowhere here: the process may have written any there.
class LiveModuleFiles final : public ModuleFiles {
 public:
  LiveModuleFiles(const Facts& facts, Tid tid)
      : facts_(facts), tid_(tid), extents_(mappings(tid, [&facts] { return facts.gives_up(); })) {}
  Result<std::vector<uint8_t>> read(const Module& module, uint64_t bytes_max) override;

 private:
  const Facts& facts_;
  Tid tid_;
  Extents extents_;
};

Result<std::vector<uint8_t>> LiveModuleFiles::read(const Module& module, uint64_t bytes_max) {
  const Mapping* const map = module.size_bytes == 0 ? nullptr : extents_.find(module.start);
  if (map == nullptr) return {Errc::NotFound, printable(module.path) + " is nowhere in memory"};
  TW_ASSIGN_OR_RETURN(const UniqueFd file, open_mapped(tid_, *map));
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(file.get(), map->path));
  if (facts.bytes > bytes_max)
    return {Errc::Limit, fmt::format("{} has {} bytes, {} are read at most", printable(map->path),
                                     facts.bytes, bytes_max)};
  std::vector<uint8_t> out(facts.bytes);
  size_t got = 0;
  while (got < out.size() && !facts_.gives_up()) {
    const size_t piece = std::min<size_t>(out.size() - got, kPieceBytes);
    const ssize_t some = ::pread(file.get(), out.data() + got, piece, static_cast<off_t>(got));
    if (some <= 0) break;  // it has become shorter
    got += static_cast<size_t>(some);
  }
  out.resize(got);
  return out;
}

}  // namespace

std::unique_ptr<ModuleFiles> Facts::module_files(Pid pid) {
  const Thread* thread = threads_.first_thread(pid);
  if (thread == nullptr) return nullptr;
  return std::make_unique<LiveModuleFiles>(*this, thread->tid);
}

/// As with modules(): what is nowhere in memory is no library. GDB opens what the list names, so a
/// name that leads to no file that somebody stored, or there by detours, gives way to that of the
/// file that is mapped.
Result<std::string> Facts::libraries_svr4(Pid pid) {
  TW_ASSIGN_OR_RETURN(const Loaded all, loaded(pid));
  const Thread* thread = threads_.first_thread(pid);
  const Extents extents(mappings(thread != nullptr ? thread->tid : pid, gives_up_));
  // An empty list would be believed; told of an error, GDB looks for itself.
  if (!all.has_list) return {Errc::NotFound, "the program has no list of its libraries"};
  std::string libraries, main;
  Patience patience(kNamesNs, gives_up_, 0);
  for (const LoadedObject& object : all.objects) {
    if (gives_up()) return {Errc::Target, "the server is to end"};
    if (object.dynamic == all.program.dynamic) {
      main = fmt::format(" main-lm=\"0x{:x}\"", object.at);
    } else if (const auto name = shown_name(object, extents.find(object.dynamic),
                                          !patience.over());
               !name.empty()) {
      libraries += fmt::format(
          "<library name=\"{}\" lm=\"0x{:x}\" l_addr=\"0x{:x}\" l_ld=\"0x{:x}\" lmid=\"0x{:x}\"/>",
          escape_xml(name), object.at, object.bias, object.dynamic, object.name_space);
    }
  }
  const std::string head = "<library-list-svr4 version=\"1.0\"" + main;
  if (libraries.empty()) return head + "/>";
  return head + ">" + libraries + "</library-list-svr4>";
}

bool Facts::read_only(Pid pid, uint64_t address, uint64_t size) {
  const Thread* thread = threads_.first_thread(pid);
  if (thread == nullptr || address + size < address) return false;
  const uint64_t end = address + size;
  for (const Mapping& map : mappings(thread->tid, gives_up_)) {
    if (address >= end) break;
    if (map.end <= address) continue;
    if (map.start > address || map.writable) return false;
    address = map.end;
  }
  return address >= end;
}

void describe_thread(ThreadInfo& info, bool stands) {
  if (auto name = read_proc(info.tid, "comm")) {
    info.name = *std::move(name);
    if (!info.name.empty() && info.name.back() == '\n') info.name.pop_back();
  }
  if (!stands && code_kib(info.tid) == 0) return;
  if (const auto processor = last_processor(info.tid)) info.core = static_cast<int>(*processor);
}

}  // namespace tracewell::target::live
