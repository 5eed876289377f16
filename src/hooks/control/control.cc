#include "hooks/control/control.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/files/paths.h"
#include "base/text/text.h"

namespace tracewell::hooks {
namespace {

// Bytes behind the file's end, which are there to be locked.
constexpr uint64_t kCommandByte = TRACEWELL_CONTROL_BYTES;
constexpr uint64_t kCollectorBytes = kCommandByte + 1;

Status check_ours(const std::string& path, const FileFacts& facts) {
  if (!is_own_user(facts.owner))
    return {Errc::Io, printable(path) + " belongs to somebody else"};
  if ((facts.mode & 0077) != 0)
    return {Errc::Io, printable(path) + " is open to others (chmod go= it)"};
  return {};
}

std::atomic_ref<uint32_t> state_word(uint8_t* data, unsigned channel) {
  return std::atomic_ref(reinterpret_cast<tracewell_control*>(data)->state[channel]);
}

}  // namespace

Result<Control> Control::open() {
  TW_ASSIGN_OR_RETURN(const Folder folder, make_control_folder());
  TW_ASSIGN_OR_RETURN(const FileFacts about, folder.facts());
  TW_RETURN_IF_ERROR(check_ours(folder.path(), about));

  Control control;
  control.path_ = folder.path_of(TRACEWELL_CONTROL_NAME);
  TW_ASSIGN_OR_RETURN(UniqueFd fd,
                      folder.open_own(TRACEWELL_CONTROL_NAME, Folder::Make::IfMissing));
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd.get(), control.path_));
  TW_RETURN_IF_ERROR(check_ours(control.path_, facts));
  if (const int wrong = ::posix_fallocate(fd.get(), 0, TRACEWELL_CONTROL_BYTES); wrong != 0)
    return errno_error(wrong, "no room for " + control.path_);
  // Any program of this user may cut it.
  TW_ASSIGN_OR_RETURN(control.map_, Mapping::map(fd.get(), TRACEWELL_CONTROL_BYTES,
                                                 Mapping::Access::Shared, control.path_));
  control.data_ = control.map_.data();
  control.fd_ = std::move(fd);
  control.inode_ = facts.inode;
  TW_RETURN_IF_ERROR(control.map_failures(folder));
  return control;
}

Status Control::map_failures(const Folder& folder) {
  const std::string name = fmt::format("{}-{:x}", TRACEWELL_FAILURES_NAME, inode_);
  const std::string path = folder.path_of(name);
  TW_ASSIGN_OR_RETURN(const UniqueFd fd, folder.open_own(name, Folder::Make::IfMissing));
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(fd.get(), path));
  TW_RETURN_IF_ERROR(check_ours(path, facts));
  if (const int wrong = ::posix_fallocate(fd.get(), 0, TRACEWELL_HOOK_PAGE); wrong != 0)
    return errno_error(wrong, "no room for " + path);
  TW_ASSIGN_OR_RETURN(failures_, Mapping::map(fd.get(), TRACEWELL_HOOK_PAGE,
                                              Mapping::Access::Shared, path));
  return {};
}

Control::Control(Control&& other) noexcept
    : fd_(std::move(other.fd_)),
      map_(std::move(other.map_)),
      failures_(std::move(other.failures_)),
      data_(std::exchange(other.data_, nullptr)),
      path_(std::move(other.path_)),
      inode_(other.inode_) {}

Result<UniqueFd> Control::reopen() const {
  auto fd = open_named_to_write(fmt::format("/proc/self/fd/{}", fd_.get()));
  if (fd.ok()) return fd;
  // There is no /proc here.
  TW_ASSIGN_OR_RETURN(const Folder folder, Folder::named(parent_of(path_)));
  return folder.open_own(file_name_of(path_), Folder::Make::No);
}

Result<UniqueFd> Control::lock() const {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, reopen());
  TW_RETURN_IF_ERROR(wait_and_lock_byte(fd.get(), kCommandByte));
  return fd;
}

Result<UniqueFd> Control::try_lock() const {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, reopen());
  TW_RETURN_IF_ERROR(lock_byte(fd.get(), kCommandByte));
  return fd;
}

bool Control::is_locked() const { return byte_is_locked(fd_.get(), kCommandByte); }

Result<UniqueFd> Control::lock_collector(unsigned channel) const {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, reopen());
  TW_RETURN_IF_ERROR(lock_byte(fd.get(), kCollectorBytes + channel));
  return fd;
}

bool Control::has_collector(unsigned channel) const {
  return byte_is_locked(fd_.get(), kCollectorBytes + channel);
}

Status Control::wait_for_collector(unsigned channel) const {
  TW_ASSIGN_OR_RETURN(const UniqueFd fd, reopen());
  return wait_and_lock_byte(fd.get(), kCollectorBytes + channel);
}

bool Control::is_removed() const {
  const auto ours = facts_of(fd_.get(), path_);
  const auto named = facts_at(path_);
  if (!ours.ok()) return false;
  return named ? !named->is_same(*ours) : is_surely_missing(path_);
}

uint32_t Control::state(unsigned channel) const { return state_word(data_, channel).load(); }

void Control::set_state(unsigned channel, uint32_t state) {
  state_word(data_, channel).store(state);
}

tracewell_channel& Control::channel(unsigned channel) const {
  return *reinterpret_cast<tracewell_channel*>(data_ + TRACEWELL_CONTROL_CHANNELS +
                                               channel * TRACEWELL_HOOK_PAGE);
}

std::span<uint8_t> Control::filter(unsigned channel) const {
  return {data_ + TRACEWELL_CONTROL_FILTERS + channel * TRACEWELL_FILTER_BYTES,
          TRACEWELL_FILTER_BYTES};
}

tracewell_failures& Control::page_of_failures() const {
  return *reinterpret_cast<tracewell_failures*>(data_ + TRACEWELL_CONTROL_FAILURES);
}

uint64_t Control::failures(unsigned channel) const {
  auto& page = *reinterpret_cast<tracewell_failures*>(failures_.data());
  return std::atomic_ref(page.lost[channel]).load() +
         std::atomic_ref(page_of_failures().lost[channel]).load();
}

void Control::set_failures(unsigned channel, uint64_t records) {
  auto& page = *reinterpret_cast<tracewell_failures*>(failures_.data());
  std::atomic_ref(page.lost[channel]).store(records);
  std::atomic_ref(page_of_failures().lost[channel]).store(0);
}

tracewell_watch& Control::watch(unsigned channel) const {
  return *reinterpret_cast<tracewell_watch*>(data_ + TRACEWELL_CONTROL_CHANNELS +
                                             channel * TRACEWELL_HOOK_PAGE +
                                             TRACEWELL_CHANNEL_WATCH);
}

/// Commands of releases before look at the page of failures, and write there alone.
bool Control::is_watched(unsigned number) const {
  return watch(number).session == channel(number).session;
}

void Control::forget_collector(unsigned channel) {
  for (uint32_t* word : {&watch(channel).collected, &page_of_failures().collected[channel]})
    std::atomic_ref(*word).store(0);
  for (char* text : {watch(channel).why, page_of_failures().why[channel]})
    std::fill_n(text, TRACEWELL_WHY_BYTES, '\0');
}

void Control::note_collector(unsigned channel) {
  forget_collector(channel);
  for (uint32_t* word : {&watch(channel).collected, &page_of_failures().collected[channel]})
    std::atomic_ref(*word).store(1);
}

bool Control::had_collector(unsigned channel) const {
  uint32_t& word = is_watched(channel) ? watch(channel).collected
                                       : page_of_failures().collected[channel];
  return std::atomic_ref(word).load() != 0;
}

void Control::note_why(unsigned channel, std::string_view text) {
  for (char* to : {watch(channel).why, page_of_failures().why[channel]})
    text.copy(to, TRACEWELL_WHY_BYTES - 1);
}

std::string Control::why(unsigned channel) const {
  const char* text = is_watched(channel) ? watch(channel).why : page_of_failures().why[channel];
  const std::string copy(text, ::strnlen(text, TRACEWELL_WHY_BYTES));
  return printable(copy);
}

}  // namespace tracewell::hooks
