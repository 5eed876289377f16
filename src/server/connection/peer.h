// Who is at the other end of a connection of this machine: the user whose process holds it.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::server {

/// Over TCP: the owner of the other end's socket, which must be one of this machine (this network
/// namespace), established, and held by a process. One that was closed already reads as root's.
/// NotFound when there is none such, as for a peer elsewhere.
Result<uint32_t> tcp_peer_user(int fd);
/// The same of many. Where /proc's tables stand in for the system call, which others may make long,
/// they are read once for all of them.
std::vector<Result<uint32_t>> tcp_peer_users(const std::vector<int>& fds);

/// Over TCP, of a peer of this machine that has ended its side: no process holds that any more, so
/// that nobody reads what is sent. false where this cannot be told.
bool tcp_peer_is_gone(int fd);

/// Over a Unix socket: who connected.
Result<uint32_t> unix_peer_user(int fd);

/// The owner of the established connection from `from` to `to`, by /proc's table `text`, of the
/// first line on: what stands in for the system call where that is not there. NotFound if it has no
/// such entry that a process holds.
Result<uint32_t> user_in_table(std::string_view text, const sockaddr_storage& from,
                               const sockaddr_storage& to);

}  // namespace tracewell::server
