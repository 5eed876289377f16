#include "target/linux/facts.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "target/linux/build_id.h"
#include "target/linux/link_map.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kModuleBytesMax = 512 << 20;

Error no_process(Pid pid) {
  return {Errc::NotFound, fmt::format("no process {}", pid), {}};
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      default: out += c;
    }
  }
  return out;
}

/// The range of the file that `inside` is mapped from, as far as its mappings reach.
void find_extent(const std::vector<Mapping>& maps, uint64_t inside, Module& module) {
  const auto home = std::find_if(maps.begin(), maps.end(), [&](const Mapping& map) {
    return inside >= map.start && inside < map.end;
  });
  if (home == maps.end()) return;
  module.start = home->start;
  uint64_t end = home->end;
  if (!home->path.empty()) {
    for (const Mapping& map : maps) {
      if (map.path != home->path) continue;
      module.start = std::min(module.start, map.start);
      end = std::max(end, map.end);
    }
  }
  module.size_bytes = end - module.start;
}

}  // namespace

struct Facts::Loaded {
  AuxValues aux;
  std::string exe;
  MainProgram program;
  bool has_list = false;  // may be empty still
  std::vector<LoadedObject> objects;
};

Result<std::vector<uint8_t>> Facts::auxv(Pid pid) {
  const Thread* thread = tracer_.first_thread(pid);
  const auto text = thread != nullptr ? read_proc(thread->tid, "auxv") : std::nullopt;
  if (!text) return no_process(pid);
  return std::vector<uint8_t>(text->begin(), text->end());
}

Result<std::string> Facts::exec_file(Pid pid) {
  const Thread* thread = tracer_.first_thread(pid);
  if (thread == nullptr) return no_process(pid);
  char path[PATH_MAX];
  const std::string link = fmt::format("/proc/{}/exe", thread->tid);
  const ssize_t size = readlink(link.c_str(), path, sizeof path);
  if (size < 0) return errno_error(link, Errc::Target);
  return std::string(path, static_cast<size_t>(size));
}

Result<Facts::Loaded> Facts::loaded(Pid pid) {
  Process* process = tracer_.find_process(pid);
  if (process == nullptr) return no_process(pid);
  Loaded result;
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, auxv(pid));
  result.aux = parse_auxv(bytes, process->space->is_32_bit);
  TW_ASSIGN_OR_RETURN(result.exe, exec_file(pid));
  const Thread* thread = tracer_.first_thread(pid);
  const Tid tid = thread != nullptr ? thread->tid : pid;
  result.program =
      find_main_program(*process->space, result.aux, fmt::format("/proc/{}/exe", tid));
  result.has_list = loaders_list(*process->space, result.program).has_value();
  result.objects = loaded_objects(*process->space, result.program);
  return result;
}

Result<std::vector<Module>> Facts::modules(Pid pid) {
  TW_ASSIGN_OR_RETURN(const Loaded all, loaded(pid));
  const Thread* thread = tracer_.first_thread(pid);
  const std::vector<Mapping> maps = mappings(thread != nullptr ? thread->tid : pid);
  std::vector<Module> result(1);
  result[0].path = all.exe;
  result[0].bias = all.program.bias;
  find_extent(maps, all.aux.phdr, result[0]);
  for (const LoadedObject& object : all.objects) {
    if (object.name.empty() || object.dynamic == all.program.dynamic) continue;
    Module module;
    module.path = object.name;
    module.bias = object.bias;
    find_extent(maps, object.dynamic, module);
    result.push_back(std::move(module));
  }
  const AddressSpace& space = *tracer_.find_process(pid)->space;
  for (Module& module : result)
    if (module.size_bytes != 0)
      module.build_id = build_id_in_memory(space, module.start, module.bias);
  return result;
}

Result<std::vector<uint8_t>> Facts::read_module(Pid pid, const std::string& path) {
  const Thread* thread = tracer_.first_thread(pid);
  if (thread == nullptr) return no_process(pid);
  // The process says where its libraries are, and may say anything: a pipe, a device.
  if (!path.empty() && !path.starts_with('/'))
    return {Errc::NotFound, fmt::format("{} is no path", path)};
  const std::string name = path.empty() ? fmt::format("/proc/{}/exe", thread->tid)
                                        : fmt::format("/proc/{}/root{}", thread->tid, path);
  const UniqueFd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return {Errc::NotFound, fmt::format("{} is no file", name)};
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > kModuleBytesMax)
    return {Errc::Limit, fmt::format("{} has {} bytes, {} are read at most", name, size,
                                     kModuleBytesMax)};
  std::vector<uint8_t> out(size);
  size_t got = 0;
  while (got < size) {
    const ssize_t some =
        ::pread(file.get(), out.data() + got, size - got, static_cast<off_t>(got));
    if (some <= 0) break;  // it has become shorter
    got += static_cast<size_t>(some);
  }
  out.resize(got);
  return out;
}

Result<std::string> Facts::libraries_svr4(Pid pid) {
  TW_ASSIGN_OR_RETURN(const Loaded all, loaded(pid));
  // An empty list would be believed; told of an error, GDB looks for itself.
  if (!all.has_list) return {Errc::NotFound, "the program has no list of its libraries"};
  std::string libraries, main;
  for (const LoadedObject& object : all.objects) {
    if (object.dynamic == all.program.dynamic) {
      main = fmt::format(" main-lm=\"0x{:x}\"", object.at);
    } else if (!object.name.empty()) {
      libraries += fmt::format(
          "<library name=\"{}\" lm=\"0x{:x}\" l_addr=\"0x{:x}\" l_ld=\"0x{:x}\" lmid=\"0x{:x}\"/>",
          escaped(object.name), object.at, object.bias, object.dynamic, object.name_space);
    }
  }
  const std::string head = "<library-list-svr4 version=\"1.0\"" + main;
  if (libraries.empty()) return head + "/>";
  return head + ">" + libraries + "</library-list-svr4>";
}

bool Facts::read_only(Pid pid, uint64_t address, uint64_t size) {
  const Thread* thread = tracer_.first_thread(pid);
  if (thread == nullptr || address + size < address) return false;
  const uint64_t end = address + size;
  for (const Mapping& map : mappings(thread->tid)) {
    if (address >= end) break;
    if (map.end <= address) continue;
    if (map.start > address || map.writable) return false;
    address = map.end;
  }
  return address >= end;
}

void describe_thread(ThreadInfo& info) {
  if (auto name = read_proc(info.tid, "comm")) {
    info.name = *std::move(name);
    if (!info.name.empty() && info.name.back() == '\n') info.name.pop_back();
  }
  // The fields of `stat` are counted behind the name, which may hold anything.
  constexpr size_t kProcessorField = 37;
  const auto stat = read_proc(info.tid, "stat");
  const size_t from = stat ? stat->rfind(')') : std::string::npos;
  if (from == std::string::npos) return;
  const char* at = stat->c_str() + from + 1;
  for (size_t field = 0; field < kProcessorField && at != nullptr; ++field)
    if (at = std::strchr(at, ' '); at != nullptr) ++at;
  if (at != nullptr) info.core = std::atoi(at);
}

}  // namespace tracewell::target::live
