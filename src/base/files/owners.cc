#include "base/files/owners.h"

#include <unistd.h>

#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/text/text.h"

namespace tracewell {

/// Read anew each time: who makes a namespace writes its map after a process is in it.
bool some_users_are_unmapped() {
  const auto map = InputFile::open("/proc/self/uid_map");
  if (!map) return true;
  std::string_view text = as_text((*map)->bytes());
  std::vector<std::string_view> words;
  for (const std::string_view word : split(take_until(text, '\n'), ' '))
    if (!word.empty()) words.push_back(word);
  return words.size() != 3 || words[0] != "0" || words[1] != "0" || words[2] != "4294967295";
}

bool is_own_user(uint32_t owner) { return is_same_user(owner, ::geteuid()); }

bool is_same_user(uint32_t one, uint32_t other) {
  return one == other && !(one == kUnmappedUser && some_users_are_unmapped());
}

bool others_may_put(const FileFacts& folder) {
  return (folder.mode & 0022) != 0 || !(is_own_user(folder.owner) || folder.owner == 0);
}

}  // namespace tracewell
