// The transports that listen: TCP and Unix sockets.
#pragma once

#include "cli/transport.h"

namespace tracewell::cli {

/// Listens on the first address that the host's name has, IPv4 before IPv6.
Result<std::unique_ptr<Transport>> open_tcp(const Comm& comm);

/// Makes the socket with rights for its owner only. One that nobody owns any more is replaced.
Result<std::unique_ptr<Transport>> open_unix(const std::string& path);

}  // namespace tracewell::cli
