// What listens: TCP and Unix sockets. Who may stay is the Door's business.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/connection/transport.h"

namespace tracewell::server {

/// Somebody who has connected. The descriptor is non-blocking.
struct Caller {
  UniqueFd fd;
  std::string name;  // "Remote debugging from host 127.0.0.1, port 51324"
  Result<uint32_t> user = Error{};  // whose process it is, where the system can know
};

class Listener {
 public:
  /// Removes the socket that it made in the file system.
  virtual ~Listener() = default;
  virtual std::string announcement() const = 0;
  virtual int fd() const = 0;
  /// Does everybody who can connect belong to a user of this machine? Then Caller::user counts.
  virtual bool is_local() const = 0;
  /// Io, with errno as it was: nobody is there any more, or the system cannot.
  virtual Result<Caller> accept() = 0;
  /// Says of those who were accepted who they are, where accept() has not: of all at once, since to
  /// look for one may take as long as to look for many.
  virtual void identify(std::vector<Caller>& callers) const { static_cast<void>(callers); }
};

/// Listens at 127.0.0.1 and ::1 without a host and for a name that means loopback, otherwise at the
/// first address that the name has, IPv4 before IPv6. Io when somebody else has the port at one of
/// the name's addresses.
Result<std::unique_ptr<Listener>> listen_tcp(const Comm& comm);

/// Makes the socket, for its owner only or `for_others`, too. One of this user's that nobody
/// listens at any more is replaced.
Result<std::unique_ptr<Listener>> listen_unix(const std::string& path, bool for_others);

}  // namespace tracewell::server
