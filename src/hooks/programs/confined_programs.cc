#include "hooks/programs/confined_programs.h"

#include <tracewell/hook_layout.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/control/control.h"
#include "hooks/programs/own_process.h"

namespace tracewell::hooks {
namespace {

/// seccomp(2): modes are 0 = none, 1 = four calls alone, 2 = filters.
struct Confinement {
  uint64_t mode = 0, filters = 0;
  bool exceeds(const Confinement& other) const {
    return mode == 1 || (mode == 2 && (other.mode != 2 || filters > other.filters));
  }
};

/// proc(5): `name`, a tab, the number.
uint64_t number_in(std::string_view status, std::string_view name) {
  const size_t at = status.find(fmt::format("\n{}:\t", name));
  if (at == std::string_view::npos) return 0;
  const std::string_view line = status.substr(at + name.size() + 3);
  return parse_number(line.substr(0, line.find('\n'))).value_or(0);
}

/// `thread` is its folder in /proc. One that has ended is not confined.
Confinement confinement_of(const std::string& thread) {
  const auto status = InputFile::open(thread + "/status");
  if (!status.ok()) return {};
  const std::string_view text = as_text((*status)->bytes());
  return {number_in(text, "Seccomp"), number_in(text, "Seccomp_filters")};
}

bool has_confined_thread(const std::string& process, const Confinement& ours) {
  const auto tasks = Folder::named(process + "/task");
  const auto names = tasks.ok() ? tasks->names() : Result<std::vector<std::string>>(tasks.error());
  return names.ok() && std::ranges::any_of(*names, [&](const std::string& name) {
    return confinement_of(tasks->path_of(name)).exceeds(ours);
  });
}

/// Anybody may read it; the program says what it is.
std::string name_of(const std::string& process) {
  const auto comm = InputFile::open(process + "/comm");
  const std::string_view text = comm.ok() ? as_text((*comm)->bytes()) : std::string_view();
  return std::string(text.substr(0, text.find('\n')));
}

/// proc(5): a line ends with the inode of what is mapped, and its path.
bool maps_control(std::string_view maps, uint64_t inode) {
  const std::string end = fmt::format("/{}", TRACEWELL_CONTROL_NAME);
  const std::string number = fmt::format(" {} ", inode);
  return std::ranges::any_of(split(maps, '\n'), [&](std::string_view line) {
    return line.ends_with(end) && line.find(number) < line.find('/');
  });
}

}  // namespace

std::vector<ConfinedProgram> confined_programs() {
  std::vector<ConfinedProgram> out;
  const auto control = facts_at(control_folder() + "/" + TRACEWELL_CONTROL_NAME);
  const auto proc = Folder::named("/proc");
  const auto names = proc.ok() ? proc->names() : Result<std::vector<std::string>>(proc.error());
  if (!control || !names.ok()) return out;
  const Confinement ours = confinement_of("/proc/self");
  for (const std::string& name : *names) {
    const auto pid = parse_number(name);
    if (!pid || *pid > INT32_MAX) continue;
    const std::string process = proc->path_of(name);
    const auto maps = own_maps(static_cast<uint32_t>(*pid));
    const bool may_have_hooks =
        maps ? maps_control(as_text(maps->bytes()), control->inode) : is_own_process(process);
    if (!may_have_hooks || !has_confined_thread(process, ours)) continue;
    ConfinedProgram one = {static_cast<uint32_t>(*pid), link_text(process + "/exe").value_or("")};
    one.may_have_none = !maps;
    if (one.path.empty()) one.path = name_of(process);
    out.push_back(std::move(one));
  }
  std::ranges::sort(out, {}, [](const ConfinedProgram& one) {
    return std::pair(one.may_have_none, one.pid);
  });
  return out;
}

Status kills_nobody() {
  const std::vector<ConfinedProgram> all = confined_programs();
  if (all.empty()) return {};
  const ConfinedProgram& first = all.front();
  const std::string more =
      all.size() == 1 ? "" : fmt::format(" ({} more do)", all.size() - 1);
  const std::string_view whether =
      first.may_have_none ? ". It lets nobody see whether it has trace hooks: then" : ", and";
  return {Errc::Unsupported,
          fmt::format("{} (process {}) restricts its system calls (seccomp){}{} its filter may "
                      "kill it for those of its first hook in a trace. End it first, or say "
                      "--confined if its filter allows them (tracewell/hooks.h lists them){}",
                      printable(first.path), first.pid, more, whether,
                      first.may_have_none ? ", or if it has none" : "")};
}

}  // namespace tracewell::hooks
