// Names of files as text, and what is there at this moment: for messages and for choices that
// nothing depends on. What is done to a file is done to an open one (base/files/open.h,
// base/files/folder.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracewell {

/// From the root, without "." and ".."; links stay as they are.
std::string absolute_path(const std::string& path);
/// At the end of all links; nullopt when that is not there.
std::optional<std::string> real_path(const std::string& path);
/// Is it more than a file's name, and not from the root, or goes through "", "." or ".."? Who looks
/// at how such a name begins does not know where it leads.
bool has_detours(std::string_view path);
/// What stands before the last slash: "/" for "/a", "." for "a".
std::string parent_of(const std::string& path);
/// What stands behind it.
std::string file_name_of(const std::string& path);

/// What the path leads to, links followed. False also where it is hidden.
bool is_there(const std::string& path);
bool is_regular_file(const std::string& path);
bool is_folder(const std::string& path);
/// Nothing is there; false where that is hidden, since a folder on the way may not be searched.
bool is_surely_missing(const std::string& path);
/// Do both lead to one file?
bool is_same_file(const std::string& one, const std::string& other);
/// What a link says; nullopt when it is none.
std::optional<std::string> link_text(const std::string& path);

/// $TMPDIR, or /tmp. A set-uid program does not look at $TMPDIR.
std::string temporary_folder();

}  // namespace tracewell
