#include "target/linux/programs/program_here.h"

#include <unistd.h>

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"

namespace tracewell::target::live {
namespace {

/// The kernel starts its interpreter, which opens it once more, by its name.
bool is_script(int fd) {
  std::array<char, 2> head;
  return ::pread(fd, head.data(), head.size(), 0) == 2 && head[0] == '#' && head[1] == '!';
}

/// Why it is not taken; "" = it is.
std::string refusal(int file, const FileFacts& facts, bool shared, bool exchangeable) {
  if (facts.owner != 0 && !is_own_user(facts.owner))
    return fmt::format("belongs to {}", user_name(facts.owner));
  // A second name of a program of root's, or what others wrote and this user only owns.
  if (shared && (facts.links != 1 || (facts.mode & 0002) != 0))
    return "is in a folder where others may put files, and may be theirs";
  if (exchangeable && is_script(file))
    return "is a script, and may be another one by the time that it is read";
  return "";
}

/// As an absolute path; "" when it has none that leads there.
std::string name_of_folder(const Folder& folder) {
  std::array<char, 4096> text;
  if (::getcwd(text.data(), text.size()) == nullptr || text[0] != '/') return "";
  const auto there = facts_at(text.data());
  const auto facts = folder.facts();
  return there && facts.ok() && there->is_same(*facts) ? text.data() : "";
}

}  // namespace

ProgramHere program_here(const std::string& name, bool moves) {
  ProgramHere out;
  const auto folder = Folder::named(".");
  if (!folder.ok() || is_folder("./" + name) || !folder->facts_of_name(name)) return out;
  const auto facts = folder->facts();
  const bool shared = !facts.ok() || others_may_put(*facts);
  const bool exchangeable = shared || moves;  // a folder on the way may be, by its absolute path
  const auto file = folder->open(name);
  const auto opened = file.ok() ? facts_of(file->get(), name) : file.error();
  if (!opened.ok()) {
    out.passed_over = opened.error().message;
    return out;
  }
  if (::access(fmt::format("/proc/self/fd/{}", file->get()).c_str(), X_OK) != 0) return out;
  std::string why = refusal(file->get(), *opened, shared, exchangeable);
  const std::string at = moves ? name_of_folder(*folder) : ".";
  if (at.empty()) why = "is in a folder that no path leads to";
  if (why.empty()) {
    out.path = at + "/" + name;
    if (exchangeable) out.only = *opened;
  } else {
    out.passed_over = "./" + printable(name) + " " + why;
  }
  return out;
}

bool runs_file(Pid pid, const FileFacts& file) {
  const auto held = hold_behind(fmt::format("/proc/{}/exe", pid));
  if (!held.ok()) return false;
  const auto facts = facts_of(held->get(), "");
  return facts.ok() && facts->is_same(file);
}

}  // namespace tracewell::target::live
