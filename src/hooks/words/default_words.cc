#include "hooks/words/default_words.h"

#include <unistd.h>

#include <cstdint>

#include "base/files/paths.h"
#include "hooks/components/components.h"
#include "hooks/session/session.h"
#include "hooks/words/sizes.h"

namespace tracewell::hooks {
namespace {

Status set_size(const std::string& text, const char* option, const SizeLimits& limits,
                std::optional<uint64_t>& to) {
  if (text.empty()) return {};
  TW_ASSIGN_OR_RETURN(to, size_within(text, option, limits));
  return {};
}

void set_path(const std::string& text, std::optional<std::string>& to) {
  if (!text.empty()) to = absolute_path(text);
}

std::optional<std::string> path_or_none(const Result<std::string>& path) {
  return path.ok() ? std::optional(*path) : std::nullopt;
}

}  // namespace

bool DefaultWords::any() const {
  return restore || !component_folder.empty() || !log_size.empty() || !buffer_size.empty() ||
         !buffer_max.empty() || !log.empty();
}

Status change_defaults(const DefaultWords& words) {
  if (!words.buffer_max.empty() && ::geteuid() != 0)
    return {Errc::InvalidArgument, "-N: only root says how much others may have"};
  return change_defaults([&](Defaults& own) -> Status {
    if (words.restore) own = {};
    TW_RETURN_IF_ERROR(set_size(words.log_size, "-L", log_limits(1), own.log_bytes));
    TW_RETURN_IF_ERROR(set_size(words.buffer_size, "-T", kBufferLimits, own.buffer_bytes));
    TW_RETURN_IF_ERROR(set_size(words.buffer_max, "-N", kBufferLimits, own.user_buffer_max));
    set_path(words.log, own.log);
    set_path(words.component_folder, own.component_folder);
    return {};
  });
}

Result<UsualDefaults> usual_defaults(BelievedFiles& files) {
  files.path(defaults_path());  // says so where it is not
  TW_ASSIGN_OR_RETURN(const Defaults all, read_defaults());
  UsualDefaults out;
  out.log = path_or_none(default_log());
  out.component_folder = path_or_none(default_component_folder());
  out.log_bytes = all.log_bytes;
  out.user_buffer_max = all.user_buffer_max;
  out.buffer_bytes = all.buffer_bytes.value_or(SessionOptions{}.buffer_bytes);
  return out;
}

}  // namespace tracewell::hooks
